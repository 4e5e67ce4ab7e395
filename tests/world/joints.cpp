// Joints, springs and motors against closed forms.
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_joints {
namespace {

using sample::g;

StepOptions options(double h, double tolerance = 1e-11) { return sample::options(h, tolerance); }

/// A free box of 0.2 m sides (half sides in the plane) at a place; no gravity yet.
template <int d>
Index add_block(Scene<d>& scene, const Vec<d>& at, double mass = 2) {
    BodyPlan<d> block;
    if constexpr (d == 2) {
        block.shape = scene.add_shape(make_rectangle({0.1, 0.1}));
    } else {
        block.shape = scene.add_shape(make_box({0.1, 0.1, 0.1}));
    }
    block.mass = mass;
    block.pose.position = at;
    return scene.add_body(block);
}

/// The joint of bodies a and b (-1: the world) at a place of the present scene.
template <int d>
Joint<d>& join(Scene<d>& scene, JointKind kind, Index a, Index b, const Vec<d>& at,
               const Vec<d>& axis = Vec<d>::Unit(0)) {
    Joint<d> joint;
    joint.kind = kind;
    joint.a = scene.bodies.id[a];
    if (b >= 0) joint.b = scene.bodies.id[b];
    const Mat<d> R_a = matrix(scene.bodies.rotation[a]);
    const Mat<d> R_b = b >= 0 ? matrix(scene.bodies.rotation[b]) : Mat<d>::Identity();
    joint.point_a = R_a.transpose() * (at - scene.bodies.position[a]);
    joint.point_b = b >= 0 ? Vec<d>(R_b.transpose() * (at - scene.bodies.position[b])) : at;
    joint.axes_a = frame_of(axis) * R_a;
    joint.axes_b = frame_of(axis) * R_b;
    scene.joints.push_back(joint);
    return scene.joints.back();
}

/// Force on the first body of joint j, and its axial part, N.
template <int d>
JointImpulse<d> force_of(const StepMemory<d>& memory, std::size_t j, double h) {
    Index offset = memory.assembled.joint_offset();
    for (std::size_t k = 0;; ++k) {
        const JointBlocks<d>& joint = memory.assembled.joints[k];
        Index rows = 0;
        for (int b = 0; b < joint.count; ++b) rows += joint.block[b].cone.dim;
        if (k < j) {
            offset += rows;
            continue;
        }
        JointImpulse<d> impulse = impulse_of(joint, memory.solution.r.segment(offset, rows));
        impulse.force /= h;
        impulse.torque /= h;
        impulse.axial /= h;
        return impulse;
    }
}

template <int d>
Scene<d> falling() {
    Scene<d> scene = sample::empty_scene<d>(0.5);
    scene.gravity[d - 1] = -g;
    return scene;
}

template <int d>
void pendulum_swings(JointKind kind) {
    Scene<d> scene = falling<d>();
    Vec<d> at = Vec<d>::Zero();
    const double arm = 1, amplitude = 0.05;
    at[0] = arm * std::sin(amplitude);
    at[d - 1] = -arm * std::cos(amplitude);
    const Index bob = add_block<d>(scene, at);
    join<d>(scene, kind, bob, -1, Vec<d>::Zero(), Vec<d>::Unit(d - 2));
    const double inertia = scene.bodies.inertia[bob][0], mass = scene.bodies.mass[bob];
    const double period = 2 * std::numbers::pi * std::sqrt((inertia + mass * arm * arm) / (mass * g * arm)) *
                          (1 + amplitude * amplitude / 16);
    StepMemory<d> memory;
    double crossed = 0, last = at[0];
    std::vector<double> times;
    double energy = energy_of(scene).total();
    simulate<d>(scene, {options(5e-4), 2.2 * period}, memory,
                [&](const Scene<d>& now, const StepMemory<d>& m, const StepRecord& record) {
                    const double x = now.bodies.position[bob][0];
                    if (last < 0 && x >= 0) {
                        crossed = record.time - record.h * x / (x - last);
                        times.push_back(crossed);
                    }
                    last = x;
                    // The joint holds, and its work is accounted for.
                    EXPECT_LT((m.assembled.joints[0].arm_b).norm(), 1e-5);
                    EXPECT_NEAR(record.energy.total() - energy,
                                record.work.contacts + record.work.joints + record.work.scheme, 1e-11);
                    energy = record.energy.total();
                    return true;
                });
    ASSERT_GE(times.size(), 2U);
    EXPECT_NEAR(times[1] - times[0], period, 1e-3 * period);
}

TEST(Joints, APendulumSwingsInThePlane) { pendulum_swings<2>(JointKind::hinge); }
TEST(Joints, APendulumSwingsInSpace) { pendulum_swings<3>(JointKind::hinge); }
TEST(Joints, APendulumOnABallSwingsInSpace) { pendulum_swings<3>(JointKind::ball); }

TEST(Joints, AHingedBodyAtRestPullsWithItsWeight) {
    Scene<3> scene = falling<3>();
    const Index block = add_block<3>(scene, {0.5, 0, 0});
    join<3>(scene, JointKind::weld, block, -1, {0, 0, 0});
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-2), 0.5}, memory);
    const auto force = force_of(memory, 0, 1e-2);
    EXPECT_NEAR((force.force - Vec<3>(0, 0, 2 * g)).norm(), 0, 1e-8);
    EXPECT_NEAR((force.torque - Vec<3>(0, -2 * g * 0.5, 0)).norm(), 0, 1e-8);  // about the joint's point
    EXPECT_NEAR((scene.bodies.position[block] - Vec<3>(0.5, 0, 0)).norm(), 0, 1e-11);
}

TEST(Joints, AHangingChainBearsWhatHangsBelow) {
    const int links = 20;
    Scene<3> scene = falling<3>();
    for (int k = 0; k < links; ++k) {
        const Index block = add_block<3>(scene, {0, 0, -0.3 * (k + 0.5)});
        join<3>(scene, k % 2 == 0 ? JointKind::ball : JointKind::hinge, block, k == 0 ? -1 : block - 1,
                {0, 0, -0.3 * k}, {0, 1, 0});
    }
    StepMemory<3> memory;
    const RunSummary summary = simulate<3>(scene, {options(5e-3, 1e-9), 0.1}, memory);
    EXPECT_EQ(summary.unsolved, 0);
    for (int k = 0; k < links; ++k)
        EXPECT_NEAR(force_of(memory, k, 5e-3).force[2], 2 * g * (links - k), 1e-5 * 2 * g * links) << k;
}

TEST(Joints, AMotorKeepsItsSpeedUpAnInclineAndItsForceIsKnown) {
    Scene<2> scene = falling<2>();
    const double slope = 0.3;
    const Vec<2> axis(std::cos(slope), std::sin(slope));
    const Index block = add_block<2>(scene, {0, 0});
    Joint<2>& joint = join<2>(scene, JointKind::slider, block, -1, {0, 0}, axis);
    joint.speed = 0.2;
    joint.friction = 3;
    StepMemory<2> memory;
    simulate<2>(scene, {options(1e-2), 1}, memory);
    EXPECT_NEAR((scene.bodies.position[block] - 0.2 * axis).norm(), 0, 1e-10);
    // Motor and friction together carry the weight along the axis; the motor alone carries the friction too.
    EXPECT_NEAR(force_of(memory, 0, 1e-2).axial, 2 * g * std::sin(slope), 1e-8);
    const JointBlocks<2>& blocks = memory.assembled.joints[0];
    const double motor = memory.solution.r[memory.solution.r.size() - 1] / 1e-2;
    ASSERT_EQ(blocks.count, 3);
    EXPECT_NEAR(motor, 2 * g * std::sin(slope) + 3, 1e-8);
}

TEST(Joints, DryFrictionHoldsUpToItsLimit) {
    for (const double push : {2.9, 3.5}) {
        Scene<3> scene = sample::empty_scene<3>(0.5);
        const Index block = add_block<3>(scene, {0, 0, 0});
        Joint<3>& joint = join<3>(scene, JointKind::slider, block, -1, {0, 0, 0}, {0, 1, 0});
        joint.friction = 3;
        joint.effort = push;
        StepMemory<3> memory;
        simulate<3>(scene, {options(1e-2), 1}, memory);
        EXPECT_NEAR(scene.bodies.velocity[block][1], std::max(0.0, push - 3) / 2, 1e-10);
    }
}

TEST(Joints, ATorqueSpeedsAHingeUpAndALimitStallsAMotor) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    const Index wheel = add_block<3>(scene, {0, 0, 0});
    const double inertia = scene.bodies.inertia[wheel][2];
    join<3>(scene, JointKind::hinge, wheel, -1, {0, 0, 0}, {0, 0, 1}).effort = 0.02;
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-2), 1}, memory);
    EXPECT_NEAR(scene.bodies.spin[wheel][2], 0.02 / inertia, 1e-9);

    scene.joints[0].effort = 0;
    scene.joints[0].speed = 100.0;
    scene.joints[0].limit = 0.01;
    simulate<3>(scene, {options(1e-2), 2}, memory);
    EXPECT_NEAR(scene.bodies.spin[wheel][2], 0.03 / inertia, 1e-9);
}

TEST(Joints, ASpringHangsAtItsStretchAndADamperFallsAtItsSpeed) {
    Scene<2> scene = falling<2>();
    const Index hung = add_block<2>(scene, {0, -1});
    const Index falls = add_block<2>(scene, {3, -1});
    for (const Index block : {hung, falls}) {
        Joint<2>& joint = join<2>(scene, JointKind::spring, block, -1, scene.bodies.position[block]);
        joint.point_b = {scene.bodies.position[block][0], 0};
        joint.length = 1;
    }
    scene.joints[0].stiffness = 500;
    scene.joints[0].damping = 30;
    scene.joints[1].damping = 40;
    StepMemory<2> memory;
    simulate<2>(scene, {options(2e-3), 4}, memory);
    EXPECT_NEAR(scene.bodies.position[hung][1], -1 - 2 * g / 500, 1e-9);
    EXPECT_NEAR(scene.bodies.velocity[falls][1], -2 * g / 40, 1e-9);
    EXPECT_NEAR(force_of(memory, 0, 2e-3).axial, -2 * g, 1e-7);  // the line points up from a to b: a pull
}

TEST(Joints, ADistanceIsKeptAndTheBallsGoAroundEachOther) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    const Index a = add_block<3>(scene, {-0.5, 0, 0}), b = add_block<3>(scene, {0.5, 0, 0});
    Joint<3>& joint = join<3>(scene, JointKind::distance, a, b, {0, 0, 0});
    joint.point_a.setZero();
    joint.point_b.setZero();
    joint.length = 1;
    scene.bodies.velocity[a] = {0, -1, 0};
    scene.bodies.velocity[b] = {0, 1, 0};
    StepMemory<3> memory;
    const double h = 1e-3;
    simulate<3>(scene, {options(h), 0.05}, memory);
    EXPECT_NEAR((scene.bodies.position[a] - scene.bodies.position[b]).norm(), 1, 1e-5);
    EXPECT_NEAR(force_of(memory, 0, h).axial, -2 * 1 * 1 / 0.5, 0.05);  // m v^2 / r, inward
}

TEST(Joints, WeldedBodiesFlyAndTurnAsOne) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    const Index a = add_block<3>(scene, {-0.3, 0, 0}), b = add_block<3>(scene, {0.3, 0, 0}, 4);
    join<3>(scene, JointKind::weld, a, b, {0, 0, 0});
    const Vec<3> spin(0.3, 0.5, 2);
    for (const Index i : {a, b}) {
        scene.bodies.spin[i] = spin;
        scene.bodies.velocity[i] = spin.cross(scene.bodies.position[i]);
    }
    const Momentum<3> before = momentum_of(scene);
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-3), 1}, memory);
    const Momentum<3> after = momentum_of(scene);
    EXPECT_NEAR((after.linear - before.linear).norm(), 0, 1e-9);
    // Impulses act at one point, so what is lost is lost by the drift of the points in a step alone.
    EXPECT_NEAR((after.angular - before.angular).norm() / before.angular.norm(), 0, 1e-4);
    EXPECT_NEAR((scene.bodies.position[a] - scene.bodies.position[b]).norm(), 0.6, 1e-4);
    EXPECT_NEAR((scene.bodies.spin[a] - scene.bodies.spin[b]).norm(), 0, 5e-3);
}

TEST(Joints, AFourBarOfHingesInSpaceIsRedundantAndSolvedAllTheSame) {
    // A parallelogram of three moving bars in the plane y = 0 with four hinges along y: 18 velocities, 20 equations,
    // one freedom.
    Scene<3> space = falling<3>();
    Scene<2> flat = falling<2>();
    auto build = [](auto& scene, auto place, auto axis) {
        const Index left = add_block(scene, place(0.0, 0.5)), top = add_block(scene, place(0.5, 1.0)),
                    right = add_block(scene, place(1.0, 0.5));
        join(scene, JointKind::hinge, left, -1, place(0.0, 0.0), axis);
        join(scene, JointKind::hinge, left, top, place(0.0, 1.0), axis);
        join(scene, JointKind::hinge, right, top, place(1.0, 1.0), axis);
        join(scene, JointKind::hinge, right, -1, place(1.0, 0.0), axis);
        scene.bodies.velocity[top][0] = 0.4;
        scene.bodies.velocity[left][0] = scene.bodies.velocity[right][0] = 0.2;
    };
    build(
        space, [](double x, double z) { return Vec<3>(x, 0, z); }, Vec<3>(0, 1, 0));
    build(
        flat, [](double x, double z) { return Vec<2>(x, z); }, Vec<2>(0, 1));
    for (const Index bar : {0, 2}) {
        space.bodies.spin[bar] = {0, 0.4, 0};
        flat.bodies.spin[bar][0] = -0.4;
    }
    // The same moments in both.
    for (Index i = 0; i < 3; ++i) flat.bodies.inertia[i][0] = space.bodies.inertia[i][1];
    StepMemory<3> in_space;
    StepMemory<2> in_plane;
    const RunSummary sum = simulate<3>(space, {options(2e-3, 1e-9), 0.3}, in_space);
    simulate<2>(flat, {options(2e-3, 1e-10), 0.3}, in_plane);
    EXPECT_EQ(sum.unsolved, 0);
    for (Index i = 0; i < 3; ++i) {
        EXPECT_NEAR(space.bodies.position[i][0], flat.bodies.position[i][0], 1e-6);
        EXPECT_NEAR(space.bodies.position[i][2], flat.bodies.position[i][1], 1e-6);
        EXPECT_NEAR(space.bodies.position[i][1], 0, 1e-9);
    }
    for (std::size_t j = 0; j < 4; ++j) {
        const Vec<3> force = force_of(in_space, j, 2e-3).force;
        const Vec<2> expected = force_of(in_plane, j, 2e-3).force;
        EXPECT_NEAR(force[0], expected[0], 1e-3);
        EXPECT_NEAR(force[2], expected[1], 1e-3);
    }
}

TEST(Joints, BodiesOfAJointDoNotTouchUnlessAsked) {
    for (const bool collide : {false, true}) {
        Scene<3> scene = sample::empty_scene<3>(0.5);
        const Index a = add_block<3>(scene, {0, 0, 0}), b = add_block<3>(scene, {0.15, 0, 0});
        join<3>(scene, JointKind::weld, a, b, {0, 0, 0}).collide = collide;
        StepMemory<3> memory;
        simulate<3>(scene, {options(1e-3, 1e-3), 1e-3}, memory);
        EXPECT_EQ(memory.contacts.empty(), !collide);
    }
}

TEST(Joints, AJointWhoseBodyIsGoneDoesNothing) {
    Scene<3> scene = falling<3>();
    const Index a = add_block<3>(scene, {0, 0, 0}), b = add_block<3>(scene, {1, 0, 0});
    join<3>(scene, JointKind::weld, b, a, {0.5, 0, 0});
    const std::uint8_t gone[] = {1, 0};
    scene.bodies.remove(gone);
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-2), 1}, memory);
    EXPECT_NEAR(scene.bodies.velocity[0][2], -g, 1e-9);
}

}  // namespace
}  // namespace drystone::testing_joints
