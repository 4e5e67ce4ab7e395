// The blocks of the cone problem that a joint makes (docs/theory.md, section 13, eq. 31).
//
// Bilateral constraints are blocks of the free cone with the present error over the step as stabilisation; dry friction
// and motors with a limit are intervals; a spring is a free block with a compliance. Rows about an axis are multiplied
// by a length of the bodies, so that all rows of a block are velocities in m/s and their multipliers impulses in N s.
#pragma once

#include "drystone/bodies/scene.hpp"
#include "drystone/cone/contact_row.hpp"

#include <array>

namespace drystone {

/// Relative velocity of a block: rows_a V_a + rows_b V_b + w + compliance r, V = (velocity, spin).
template <int d>
struct JointBlock {
    Cone cone;
    BodyRows<d> rows_a, rows_b;
    BlockVector w;
    double compliance = 0;
    /// From the impulse of a row to that which it stands for: 1, or the length of a row about an axis.
    double lever = 1;
};

template <int d>
struct JointBlocks {
    Index a = 0, b = -1;  ///< local indices; b = -1: the world
    Vec<d> arm_a, arm_b;  ///< from the centres to the joint; arm_b is a place in the world if there is no b
    std::array<JointBlock<d>, 3> block;  ///< the constraint, friction, motor: as many as there are
    int count = 0;
    double rounding = 0;  ///< of the places, over the step: what it may do to w of the first block, m/s
};

/// Nothing (count 0) if a body of the joint is gone.
template <int d>
JointBlocks<d> blocks_of(const Scene<d>& scene, const Joint<d>& joint, double h);

/// What a joint does to body a, N s and N m s about the joint's point; and the part along (slider, distance, spring) or
/// about (hinge) its axis, without that which holds the joint together.
template <int d>
struct JointImpulse {
    Vec<d> force = Vec<d>::Zero();
    Spin<d> torque = Spin<d>::Zero();
    double axial = 0;
};
/// `r`: the impulses of the joint's blocks, one after the other.
template <int d>
JointImpulse<d> impulse_of(const JointBlocks<d>& joint, Eigen::Ref<const Eigen::VectorXd> r);

}  // namespace drystone
