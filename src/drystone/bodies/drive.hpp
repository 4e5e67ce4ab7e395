// How bodies that do not move freely are moved: prescribed motion, conveyors, walls under a force, cells under a
// stress, gravity that turns.
//
// All of it is a function of time and of the state, so that a run that goes on from a checkpoint needs nothing else.
#pragma once

#include "drystone/base/geometry.hpp"
#include "drystone/base/types.hpp"

#include <optional>
#include <vector>

namespace drystone {

/// A body that is free along one axis only and pushed along it by a given force: a servo wall. Part of the contact
/// problem like any free body, so that the force is kept exactly and there is no gain to tune.
template <int d>
struct Guide {
    Vec<d> axis = Vec<d>::Unit(d - 1);  ///< unit
    double mass = 1;                    ///< kg
    double force = 0;                   ///< N along the axis; gravity does not act on it
    double damping = 0;                 ///< kg/s
};

/// Motion of one body that is held or guided:
///     velocity(t) = factor(t) (velocity + swing cos(2 pi frequency t + phase)),  the same for the spin.
template <int d>
struct Drive {
    GlobalId body = 0;
    Vec<d> velocity = Vec<d>::Zero();      ///< m/s
    Spin<d> spin = Spin<d>::Zero();        ///< rad/s
    Vec<d> swing = Vec<d>::Zero();         ///< m/s
    Spin<d> swing_spin = Spin<d>::Zero();  ///< rad/s
    double frequency = 0;                  ///< Hz
    double phase = 0;                      ///< rad
    std::optional<Vec<d>> pivot = {};      ///< turns about this point and not about its centre, m
    std::vector<double> times, factors;    ///< piecewise linear, constant outside; none: 1
    Vec<d> belt = Vec<d>::Zero();          ///< velocity of its surface beside its own (a conveyor), m/s
    std::optional<Guide<d>> guide = {};
};

/// Gravity that turns about an axis (in the plane: counter-clockwise).
template <int d>
struct GravityTurn {
    Vec<d> start = Vec<d>::Zero();  ///< before it turns, m/s^2
    Vec<3> axis = Vec<3>::UnitY();  ///< unit
    double rate = 0;                ///< rad/s
    double begin = 0;               ///< s
    double limit = infinity;        ///< rad: it stays there
};

/// Directions of a periodic cell that follow a stress and not a rate. The cell is part of the contact problem as a body
/// whose velocities are its rates, so that the stress of the contacts balances the given one in every step up to the
/// inertia of the cell.
template <int d>
struct CellControl {
    /// Pa (in the plane N/m), positive in compression; none: the rate is kept
    std::array<std::optional<double>, d> stress;
    std::optional<double> shear_stress = {};  ///< Pa; none: the shear rate is kept
    double mass = 0;                          ///< kg; 0: that of all free bodies

    [[nodiscard]] bool any() const {
        bool found = shear_stress.has_value();
        for (const auto& s : stress) found = found || s.has_value();
        return found;
    }
};

}  // namespace drystone
