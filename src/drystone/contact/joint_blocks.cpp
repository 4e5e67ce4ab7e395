#include "drystone/contact/joint_blocks.hpp"

#include <cmath>
#include <limits>

namespace drystone {

namespace {

/// World-frame state of a joint.
template <int d>
struct PlacedJoint {
    Vec<d> apart = Vec<d>::Zero();  // from the point of b to that of a
    Mat<d> axes_a, axes_b;          // rows in world axes
    double lever = 1;
};

double turned_apart(const Mat<2>& axes_a, const Mat<2>& axes_b) {
    const Vec<2> a = axes_a.row(0), b = axes_b.row(0);
    return std::atan2(b[0] * a[1] - b[1] * a[0], a.dot(b));
}

/// Rotation vector that brings the axes of b onto those of a.
Spin<2> rotation_error(const Mat<2>& axes_a, const Mat<2>& axes_b) {
    return Spin<2>(turned_apart(axes_a, axes_b));
}
Spin<3> rotation_error(const Mat<3>& axes_a, const Mat<3>& axes_b) {
    const Mat<3> turn = axes_a.transpose() * axes_b;
    const Eigen::AngleAxisd by(turn);
    return by.angle() * by.axis();
}

/// Appends rows: velocities of the joint's point along e.
template <int d>
void add_linear(JointBlock<d>& block, const JointBlocks<d>& joint, const Vec<d>& e, double w) {
    const Eigen::Index k = block.rows_a.rows();
    block.rows_a.conservativeResize(k + 1, Eigen::NoChange);
    block.rows_b.conservativeResize(k + 1, Eigen::NoChange);
    block.w.conservativeResize(k + 1);
    block.rows_a.row(k) << e.transpose(), torque(joint.arm_a, e).transpose();
    if (joint.b >= 0) {
        block.rows_b.row(k) << -e.transpose(), -torque(joint.arm_b, e).transpose();
    } else {
        block.rows_b.row(k).setZero();
    }
    block.w[k] = w;
}

/// Relative spin about e, times the lever.
template <int d>
void add_angular(JointBlock<d>& block, const Spin<d>& e, double lever, double w) {
    const Eigen::Index k = block.rows_a.rows();
    block.rows_a.conservativeResize(k + 1, Eigen::NoChange);
    block.rows_b.conservativeResize(k + 1, Eigen::NoChange);
    block.w.conservativeResize(k + 1);
    block.rows_a.row(k) << Vec<d>::Zero().transpose(), lever * e.transpose();
    block.rows_b.row(k) = -block.rows_a.row(k);
    block.w[k] = lever * w;
}

template <int d>
JointBlock<d> empty_block() {
    JointBlock<d> block;
    block.rows_a.resize(0, body_velocities<d>);
    block.rows_b.resize(0, body_velocities<d>);
    block.w.resize(0);
    return block;
}

template <int d>
double gyration(const Bodies<d>& bodies, Index i) {
    return std::sqrt(bodies.inertia[i].maxCoeff() / bodies.mass[i]);
}

/// The rows that hold the joint together.
template <int d>
JointBlock<d> constraint_of(const Joint<d>& joint, const JointBlocks<d>& out, const PlacedJoint<d>& at,
                            double h) {
    JointBlock<d> block = empty_block<d>();
    const bool slides = joint.kind == JointKind::slider;
    // The axes of b: what is constrained is where a is as b sees it.
    for (int k = slides ? 1 : 0; k < d; ++k) {
        const Vec<d> e = at.axes_b.row(k);
        add_linear<d>(block, out, e, e.dot(at.apart) / h);
    }
    if (slides || joint.kind == JointKind::weld) {
        const Spin<d> error = rotation_error(at.axes_a, at.axes_b);
        for (int k = 0; k < spins<d>; ++k) add_angular<d>(block, Spin<d>::Unit(k), at.lever, error[k] / h);
    } else if constexpr (d == 3) {
        if (joint.kind == JointKind::hinge) {
            const Vec<3> axis_a = at.axes_a.row(0), axis_b = at.axes_b.row(0);
            const Vec<3> error = axis_b.cross(axis_a);
            for (int k = 1; k < 3; ++k) {
                const Vec<3> e = at.axes_b.row(k);
                add_angular<d>(block, e, at.lever, e.dot(error) / h);
            }
        }
    }
    block.cone = Cone::free(static_cast<int>(block.w.size()));
    return block;
}

/// The row of the free axis, as u = its speed.
template <int d>
JointBlock<d> axis_row(const Joint<d>& joint, const JointBlocks<d>& out, const PlacedJoint<d>& at) {
    JointBlock<d> block = empty_block<d>();
    if (joint.kind == JointKind::slider) {
        add_linear<d>(block, out, at.axes_b.row(0), 0);
    } else {
        block.lever = at.lever;
        Spin<d> e;
        if constexpr (d == 2) {
            e[0] = 1;
        } else {
            e = at.axes_b.row(0);
        }
        add_angular<d>(block, e, at.lever, 0);
    }
    return block;
}

}  // namespace

template <int d>
JointBlocks<d> blocks_of(const Scene<d>& scene, const Joint<d>& joint, double h) {
    const Bodies<d>& bodies = scene.bodies;
    JointBlocks<d> out;
    out.a = bodies.index_of(joint.a);
    if (joint.b) out.b = bodies.index_of(*joint.b);
    if (out.a < 0 || (joint.b && out.b < 0)) return out;

    PlacedJoint<d> at;
    const Mat<d> R_a = matrix(bodies.rotation[out.a]);
    const Mat<d> R_b = out.b >= 0 ? matrix(bodies.rotation[out.b]) : Mat<d>::Identity();
    at.axes_a = joint.axes_a * R_a.transpose();
    at.axes_b = joint.axes_b * R_b.transpose();
    out.arm_a = R_a * joint.point_a;
    const Vec<d> place_a = scene.unwrapped(out.a) + out.arm_a;
    const Vec<d> centre_b = out.b >= 0 ? scene.unwrapped(out.b) : Vec<d>(Vec<d>::Zero());
    at.apart = place_a - centre_b - R_b * joint.point_b;
    // One point for both bodies: that of a. Then rows along axes that turn with b are the exact rates of the errors,
    // and impulses conserve angular momentum.
    out.arm_b = place_a - centre_b;
    constexpr double some_roundings = 16 * std::numeric_limits<double>::epsilon();
    out.rounding = some_roundings *
                   (scene.unwrapped(out.a).norm() + out.arm_a.norm() + centre_b.norm() + out.arm_b.norm()) /
                   h;
    if (bodies.is_free(out.a) || out.b < 0 || !bodies.is_free(out.b)) {
        at.lever = bodies.is_free(out.a) ? gyration(bodies, out.a) : 1;
    } else {
        at.lever = gyration(bodies, out.b);
    }

    if (joint.kind == JointKind::distance || joint.kind == JointKind::spring) {
        const double length = at.apart.norm();
        const Vec<d> e = length > 0 ? Vec<d>(at.apart / length) : Vec<d>(Vec<d>::Unit(0));
        JointBlock<d> block = empty_block<d>();
        // The row at each body's own point: the line between them turns freely.
        add_linear<d>(block, out, e, 0);
        if (out.b >= 0)
            block.rows_b.row(0) << -e.transpose(), -torque(Vec<d>(R_b * joint.point_b), e).transpose();
        block.cone = Cone::free(1);
        const double stretch = length - joint.length;
        if (joint.kind == JointKind::distance) {
            block.w[0] = stretch / h;
        } else {
            // r = -h (k (x + h u) + c u), implicit: u + r / (h (h k + c)) + k x / (h k + c) = 0.
            const double resists = h * joint.stiffness + joint.damping;
            block.compliance = 1 / (h * resists);
            block.w[0] = joint.stiffness * stretch / resists;
        }
        out.block[out.count++] = block;
        return out;
    }

    out.block[out.count++] = constraint_of(joint, out, at, h);
    if (!has_axis(joint.kind)) return out;
    if (joint.friction > 0) {
        JointBlock<d> block = axis_row(joint, out, at);
        const double most = h * joint.friction / block.lever;
        block.cone = Cone::interval(-most, most);
        out.block[out.count++] = block;
    }
    if (joint.speed || joint.effort != 0) {
        JointBlock<d> block = axis_row(joint, out, at);
        if (joint.speed) {
            block.w[0] = -block.lever * *joint.speed;
            const double most = h * joint.limit / block.lever;
            block.cone = std::isinf(most) ? Cone::free(1) : Cone::interval(-most, most);
        } else {
            const double given = h * joint.effort / block.lever;
            block.cone = Cone::interval(given, given);
        }
        out.block[out.count++] = block;
    }
    return out;
}

template <int d>
JointImpulse<d> impulse_of(const JointBlocks<d>& joint, Eigen::Ref<const Eigen::VectorXd> r) {
    JointImpulse<d> out;
    Eigen::Matrix<double, body_velocities<d>, 1> on_a = Eigen::Matrix<double, body_velocities<d>, 1>::Zero();
    Eigen::Index at = 0;
    for (int k = 0; k < joint.count; ++k) {
        const JointBlock<d>& block = joint.block[k];
        const auto part = r.segment(at, block.cone.dim);
        on_a += block.rows_a.transpose() * part;
        if (k > 0 || block.cone.dim == 1) out.axial += block.lever * part[0];
        at += block.cone.dim;
    }
    out.force = on_a.template head<d>();
    out.torque = on_a.template tail<spins<d>>() - torque(joint.arm_a, out.force);
    return out;
}

template JointImpulse<2> impulse_of(const JointBlocks<2>&, Eigen::Ref<const Eigen::VectorXd>);
template JointImpulse<3> impulse_of(const JointBlocks<3>&, Eigen::Ref<const Eigen::VectorXd>);
template JointBlocks<2> blocks_of(const Scene<2>&, const Joint<2>&, double);
template JointBlocks<3> blocks_of(const Scene<3>&, const Joint<3>&, double);

}  // namespace drystone
