// Vectors and rotations of the plane and of space, under one set of names.
//
// d is 2 or 3. The plane is a real plane: a position has 2 numbers, a spin 1, a body 3 velocities.
#pragma once

#include "drystone/base/types.hpp"

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <cmath>

namespace drystone {

template <int d>
using Vec = Eigen::Matrix<double, d, 1>;
template <int d>
using Mat = Eigen::Matrix<double, d, d>;

/// Components of an angular velocity: 1 in the plane, 3 in space.
template <int d>
inline constexpr int spins = d == 2 ? 1 : 3;
/// Velocities of a rigid body: 3 in the plane, 6 in space.
template <int d>
inline constexpr int body_velocities = d + spins<d>;

/// How many of a rigid body's velocities are spins: 1 of 3 in the plane, 3 of 6 in space.
constexpr int spins_of(int velocities) { return velocities == 3 ? 1 : 3; }

/// Angular velocity (rad/s), rotation vector (rad), torque or principal moments of inertia.
template <int d>
using Spin = Eigen::Matrix<double, spins<d>, 1>;

/// How a body is turned: from its own axes to those of the world.
template <int d>
struct Rotation;

template <>
struct Rotation<2> {
    double angle = 0;  ///< rad, counter-clockwise; not reduced to a turn
};

template <>
struct Rotation<3> {
    /// unit
    Eigen::Quaternion<double, Eigen::DontAlign> q = Eigen::Quaternion<double, Eigen::DontAlign>(1, 0, 0, 0);
};

inline Mat<2> matrix(const Rotation<2>& rotation) {
    const double c = std::cos(rotation.angle), s = std::sin(rotation.angle);
    Mat<2> R;
    R << c, -s, s, c;
    return R;
}
inline Mat<3> matrix(const Rotation<3>& rotation) { return rotation.q.toRotationMatrix(); }

/// The rotation after a turn by a rotation vector of the world's axes: the exponential map, exact for a spin that keeps
/// its direction. The quaternion is brought back to unit length.
inline Rotation<2> turn(const Rotation<2>& rotation, const Spin<2>& by) { return {rotation.angle + by[0]}; }
inline Rotation<3> turn(const Rotation<3>& rotation, const Spin<3>& by) {
    const double angle = by.norm();
    // sin(a/2)/a by its series where the quotient would lose digits or divide by zero.
    const double half = angle < 1e-4 ? 0.5 - angle * angle / 48 : std::sin(0.5 * angle) / angle;
    Eigen::Quaterniond step;
    step.w() = std::cos(0.5 * angle);
    step.vec() = half * by;
    Rotation<3> turned;
    turned.q = (step * Eigen::Quaterniond(rotation.q)).normalized();
    return turned;
}

/// Where a body is and how it is turned: x = position + R x_body.
template <int d>
struct Pose {
    Vec<d> position = Vec<d>::Zero();
    Rotation<d> rotation = {};
};

/// spin x arm: the velocity that a spin gives to a point at `arm` from the centre.
inline Vec<2> cross(const Spin<2>& spin, const Vec<2>& arm) { return {-spin[0] * arm[1], spin[0] * arm[0]}; }
inline Vec<3> cross(const Spin<3>& spin, const Vec<3>& arm) { return spin.cross(arm); }

/// arm x force: the torque of a force (or impulse) at `arm` from the centre.
inline Spin<2> torque(const Vec<2>& arm, const Vec<2>& force) {
    return Spin<2>(arm[0] * force[1] - arm[1] * force[0]);
}
inline Spin<3> torque(const Vec<3>& arm, const Vec<3>& force) { return arm.cross(force); }

/// Orthonormal rows (n, t) or (n, t1, t2), right-handed; depends on n alone.
inline Mat<2> frame_of(const Vec<2>& n) {
    Mat<2> E;
    E << n[0], n[1], -n[1], n[0];
    return E;
}
inline Mat<3> frame_of(const Vec<3>& n) {
    // Without a root or a branch (Duff et al. 2017, Building an Orthonormal Basis, Revisited).
    const double s = std::copysign(1.0, n[2]), a = -1 / (s + n[2]), b = n[0] * n[1] * a;
    Mat<3> E;
    E << n[0], n[1], n[2], 1 + s * n[0] * n[0] * a, s * b, -s * n[0], b, s + n[1] * n[1] * a, -n[1];
    return E;
}

/// A box with sides along the axes.
template <int d>
struct Bounds {
    Vec<d> lower = Vec<d>::Constant(infinity);
    Vec<d> upper = Vec<d>::Constant(-infinity);

    void include(const Vec<d>& x) {
        lower = lower.cwiseMin(x);
        upper = upper.cwiseMax(x);
    }
    [[nodiscard]] Bounds widened(double by) const { return {lower.array() - by, upper.array() + by}; }
    [[nodiscard]] bool overlaps(const Bounds& other) const {
        return (lower.array() <= other.upper.array()).all() && (other.lower.array() <= upper.array()).all();
    }
};

}  // namespace drystone
