// The rows of a contact between two bodies, rigid ones or points: they follow from its normal and its arms, 80 bytes in
// space instead of 288.
//
// A body's velocities are (velocity, spin about its centre), 3 numbers in the plane and 6 in space; a point has its
// velocity alone, whatever its arm. The block is the
// relative velocity a minus b at the contact's point in the frame (n, t) or (n, t1, t2) (frame_of), as many components
// as its cone has; a wrench cone adds the relative spin in the same frame.
#pragma once

#include "drystone/base/geometry.hpp"
#include "drystone/base/types.hpp"
#include "drystone/cone/cone.hpp"

#include <algorithm>

namespace drystone {

template <int d>
struct ContactRow {
    Index a = -1, b = -1;  ///< bodies; -1: one that does not move
    Vec<d> normal;         ///< unit, from b to a
    Vec<d> arm_a, arm_b;   ///< from the centre of each body to the contact's point
};

/// Rows of a block on one body.
template <int d>
using BodyRows = Eigen::Matrix<double, Eigen::Dynamic, body_velocities<d>, Eigen::RowMajor,
                               body_velocities<d>, body_velocities<d>>;

/// The spin among the velocities of a body that has so many: none of a point.
template <int d>
Spin<d> spin_of(int velocities, const double* v) {
    if (velocities == d) return Spin<d>::Zero();
    return Eigen::Map<const Spin<d>>(v + d);
}

/// Components of a contact's block that are velocities, or forces.
template <int d>
int forces_of(const Cone& cone) {
    return std::min<int>(d, cone.dim);
}

/// A velocity and a spin, or a force and a torque, world axes.
template <int d>
struct Wrench {
    Vec<d> force = Vec<d>::Zero();
    Spin<d> torque = Spin<d>::Zero();
};

/// The impulse of a block in world axes.
template <int d>
Wrench<d> in_world(const Cone& cone, const Vec<d>& normal, const double* r) {
    const Mat<d> E = frame_of(normal);
    Wrench<d> out;
    const int forces = forces_of<d>(cone);
    for (int k = 0; k < forces; ++k) out.force += r[k] * E.row(k).transpose();
    if (cone.kind != ConeKind::wrench) return out;
    if constexpr (d == 2) {
        out.torque[0] = r[2];
    } else {  // the normal first (spinning), where it has a law
        const int torques = cone.dim - 3;
        for (int k = 0; k < torques; ++k) out.torque += r[3 + k] * E.row(3 - torques + k).transpose();
    }
    return out;
}

/// The transpose of it: a relative velocity and a relative spin in the frame of the block.
template <int d>
void in_frame(const Cone& cone, const Vec<d>& normal, const Wrench<d>& motion, double* u) {
    const Mat<d> E = frame_of(normal);
    const int forces = forces_of<d>(cone);
    for (int k = 0; k < forces; ++k) u[k] = E.row(k).dot(motion.force);
    if (cone.kind != ConeKind::wrench) return;
    if constexpr (d == 2) {
        u[2] = motion.torque[0];
    } else {
        const int torques = cone.dim - 3;
        for (int k = 0; k < torques; ++k) u[3 + k] = E.row(3 - torques + k).dot(motion.torque);
    }
}

/// Orthonormal rows that take (relative velocity, relative spin) to the components of a contact's block, and their
/// transpose an impulse back to (force, torque) in world axes.
template <int d>
BodyRows<d> block_frame(const Cone& cone, const Vec<d>& normal) {
    const Mat<d> E = frame_of(normal);
    BodyRows<d> rows = BodyRows<d>::Zero(cone.dim, body_velocities<d>);
    const int forces = forces_of<d>(cone);
    rows.topRows(forces).template leftCols<d>() = E.topRows(forces);
    if (cone.kind != ConeKind::wrench) return rows;
    if constexpr (d == 2) {
        rows(2, 2) = 1;
    } else {
        const int torques = cone.dim - 3;
        rows.bottomRightCorner(torques, 3) = E.bottomRows(torques);
    }
    return rows;
}

/// A block's rows on one body: e . (velocity + spin x arm) for its forces, e . spin for its torques.
template <int d>
BodyRows<d> rows_at(const BodyRows<d>& frame, const Vec<d>& arm, double sign) {
    BodyRows<d> rows = sign * frame;
    for (Eigen::Index k = 0; k < frame.rows(); ++k) {
        const Vec<d> e = frame.row(k).template head<d>();
        rows.row(k).template tail<spins<d>>() += sign * torque(arm, e).transpose();
    }
    return rows;
}

}  // namespace drystone
