// What ties two bodies together, or one to the world: bilateral constraints, springs, motors.
#pragma once

#include "drystone/base/geometry.hpp"
#include "drystone/base/types.hpp"

#include <optional>
#include <string>

namespace drystone {

enum class JointKind : std::uint8_t {
    ball,      ///< the points coincide; in the plane the same as a hinge
    hinge,     ///< and the bodies turn relative to each other about the axis alone
    slider,    ///< the bodies move relative to each other along the axis alone, without turning
    weld,      ///< the bodies do not move relative to each other
    distance,  ///< the points keep their distance
    spring,    ///< force along the line between the points: stiffness x (distance - length) + damping x rate
};

/// Points and axes are kept in the bodies' own axes, so that a joint has no state but the bodies'.
template <int d>
struct Joint {
    std::string name;
    JointKind kind = JointKind::ball;
    GlobalId a = 0;
    std::optional<GlobalId> b = {};      ///< none: the world
    Vec<d> point_a = Vec<d>::Zero();     ///< from the centre of a, in its axes, m
    Vec<d> point_b = Vec<d>::Zero();     ///< likewise of b; a place in the world if there is no b
    Mat<d> axes_a = Mat<d>::Identity();  ///< rows: axis first; in the axes of a
    /// the same directions at the start, in the axes of b (or the world's)
    Mat<d> axes_b = Mat<d>::Identity();
    double length = 0;                  ///< of distance and spring, m
    double stiffness = 0, damping = 0;  ///< of a spring, N/m and kg/s
    // Along the axis of a slider (N, m/s) or about that of a hinge (N m, rad/s); of a relative to b.
    double friction = 0;               ///< dry: holds up to this force
    double effort = 0;                 ///< motor: a force that acts, whatever moves
    std::optional<double> speed = {};  ///< motor: this speed is kept
    double limit = infinity;           ///< largest force of a motor that keeps a speed
    bool collide = false;              ///< whether the two bodies also touch each other as others do
};

/// True if the kind has a free axis that friction and motors may act on.
inline bool has_axis(JointKind kind) { return kind == JointKind::hinge || kind == JointKind::slider; }

}  // namespace drystone
