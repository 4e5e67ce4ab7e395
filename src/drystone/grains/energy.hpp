// Energies, momenta, and what changed them in a step.
#pragma once

#include "drystone/contact/assemble.hpp"

namespace drystone {

/// Of the free bodies, J.
struct Energy {
    double kinetic = 0;    ///< translation and rotation
    double potential = 0;  ///< -m g . x, of unwrapped positions
    [[nodiscard]] double total() const { return kinetic + potential; }
};

template <int d>
Energy energy_of(const Scene<d>& scene);

template <int d>
struct Momentum {
    Vec<d> linear = Vec<d>::Zero();     ///< kg m/s
    Spin<d> angular = Spin<d>::Zero();  ///< about the origin, kg m^2/s
};
template <int d>
Momentum<d> momentum_of(const Scene<d>& scene);

/// Work done on the free bodies, and on sand, in one step, J. The end energy minus the begin energy is the sum of all
/// but `held`, to rounding.
struct StepWork {
    /// By contact impulses, with the mean of the velocities at begin and end: what impact and sliding take (negative),
    /// and what held bodies that move put in.
    double contacts = 0;
    /// By joints, springs and motors, with the same velocities.
    double joints = 0;
    double held = 0;  ///< the part of `contacts` that held bodies put in by their motion
    /// By the scheme itself: (1/2 - theta) h m g . (v_end - v_begin).
    double scheme = 0;
    double stress = 0;  ///< by the stresses of sand: what its yielding takes (negative)
    double transfer =
        0;  ///< of motion between particles and the grid, which is finer than the grid (negative)
    [[nodiscard]] double dissipated() const { return held - contacts - stress; }
};

}  // namespace drystone
