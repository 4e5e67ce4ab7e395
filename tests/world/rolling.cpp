// Rolling and spinning friction against closed forms, with the exact law and the associated one.
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_rolling {
namespace {

using sample::g;

template <int d>
Scene<d> plane(double friction, double rolling, double spinning = 0) {
    Scene<d> scene;
    PairLaw law;
    law.friction = friction;
    law.rolling = rolling;
    law.spinning = spinning;
    scene.materials.add({"stone", 2500}, law);
    scene.gravity[d - 1] = -g;
    sample::add_wall<d>(scene, Vec<d>::Zero(), Vec<d>::Unit(d - 1));
    return scene;
}

template <int d>
Index add_ball(Scene<d>& scene, double radius, double height) {
    BodyPlan<d> ball;
    ball.shape = scene.add_shape(Ball<d>{radius});
    ball.pose.position[d - 1] = height;
    return scene.add_body(ball);
}

StepOptions options(double h, Law law) {
    StepOptions o = sample::options(h, 1e-11);
    o.solve.law = law;
    return o;
}

/// Each step's energy must change by the work of the contacts, torques included.
template <int d>
Observer<d> balanced(double& last, double scale) {
    return [&last, scale](const Scene<d>&, const StepMemory<d>&, const StepRecord& record) {
        EXPECT_EQ(record.solve.status, Status::solved);
        EXPECT_NEAR(record.energy.total() - last, record.work.contacts + record.work.scheme, 1e-11 * scale);
        last = record.energy.total();
        return true;
    };
}

/// The associated law is exact up to the gap that it opens, of order h.
double near(Law law) { return law == Law::coulomb ? 1e-8 : 5e-5; }

class Rolling : public ::testing::TestWithParam<Law> {};

TEST_P(Rolling, ADiskSlowsAtAConstantRateAndStays) {
    // R = 1, m = 10, J = 4, v0 = 1, rho = 0.02, g = 9.8: deceleration m g rho R / (J + m R^2) = 0.14 (Tasora & Anitescu
    // 2013, section 6.1).
    const double h = 1e-3;
    Scene<2> scene = plane<2>(0.9, 0.02);
    scene.gravity = {0, -9.8};
    BodyPlan<2> disk;
    disk.shape = scene.add_shape(Ball<2>{1});
    disk.mass = 10;
    disk.inertia = Spin<2>(4);
    disk.pose.position = {0, 1};
    disk.velocity = {1, 0};
    disk.spin[0] = -1;
    scene.add_body(disk);
    StepMemory<2> memory;
    double last = energy_of(scene).total();
    simulate<2>(scene, {options(h, GetParam()), 1}, memory, balanced<2>(last, 10));
    const double begin = scene.bodies.velocity[1][0];
    EXPECT_NEAR(begin, 1 - 0.14,
                1e-5);  // the associated law lifts the disk in the first step, at the price of a little speed
    simulate<2>(scene, {options(h, GetParam()), 3}, memory, balanced<2>(last, 10));
    EXPECT_NEAR(scene.bodies.velocity[1][0], begin - 0.14 * 2, near(GetParam()));
    EXPECT_NEAR(scene.bodies.spin[1][0], -scene.bodies.velocity[1][0], 1e-5);
    double stopped = 0;
    simulate<2>(scene, {options(h, GetParam()), 10}, memory,
                [&](const Scene<2>& now, const StepMemory<2>&, const StepRecord& record) {
                    if (stopped == 0 && std::abs(now.bodies.velocity[1][0]) < 1e-9) stopped = record.time;
                    // With the associated law the disk comes down on its plane first.
                    if (stopped > 0 && record.time > stopped + (GetParam() == Law::coulomb ? 0 : 0.01)) {
                        EXPECT_LT(now.bodies.velocity[1].norm(), 1e-9);
                        EXPECT_LT(std::abs(now.bodies.spin[1][0]), 1e-9);
                    }
                    return true;
                });
    EXPECT_NEAR(stopped, 1 / 0.14, 1e-3 / 0.14);
    EXPECT_NEAR(scene.bodies.position[1][0], 0.5 / 0.14, 1e-3 * 0.5 / 0.14);
}

TEST_P(Rolling, ASphereSlowsWithAndWithoutASpinningLaw) {
    for (const double spinning : {0.0, 0.01}) {
        Scene<3> scene = plane<3>(0.5, 0.004, spinning);
        const Index ball = add_ball<3>(scene, 0.1, 0.1);
        scene.bodies.velocity[ball] = {0.6, -0.8, 0};  // rolls without slip
        scene.bodies.spin[ball] = {8, 6, 0};
        StepMemory<3> memory;
        double last = energy_of(scene).total();
        const double slows = g * (0.004 / 0.1) / (1 + 0.4);
        simulate<3>(scene, {options(1e-3, GetParam()), 0.1}, memory, balanced<3>(last, 10));
        const double begin = scene.bodies.velocity[ball].norm();
        EXPECT_NEAR(begin, 1 - 0.1 * slows, GetParam() == Law::coulomb ? 1e-8 : 1e-4) << spinning;
        simulate<3>(scene, {options(1e-3, GetParam()), 0.5}, memory, balanced<3>(last, 10));
        EXPECT_NEAR(scene.bodies.velocity[ball].norm(), begin - 0.4 * slows, near(GetParam())) << spinning;
        EXPECT_NEAR(scene.bodies.velocity[ball].normalized().dot(Vec<3>(0.6, -0.8, 0)), 1, 1e-9);
    }
}

TEST_P(Rolling, ATopOfFrictionSlowsAndStops) {
    // I omega' = -sigma m g.
    const double sigma = 0.002, R = 0.05;
    Scene<3> scene = plane<3>(0.4, 0, sigma);
    const Index top = add_ball<3>(scene, R, R);
    scene.bodies.spin[top] = {0, 0, 20};
    const double slows = sigma * g / (0.4 * R * R);
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-3, GetParam()), 0.1}, memory);
    const double begin = scene.bodies.spin[top][2];
    EXPECT_NEAR(begin, 20 - 0.1 * slows, GetParam() == Law::coulomb ? 1e-7 : 1e-4);
    simulate<3>(scene, {options(1e-3, GetParam()), 0.5}, memory);
    EXPECT_NEAR(scene.bodies.spin[top][2], begin - 0.4 * slows, 10 * near(GetParam()));
    simulate<3>(scene, {options(1e-3, GetParam()), 20 / slows + 0.1}, memory);
    EXPECT_LT(scene.bodies.spin[top].norm(), 1e-9);
    EXPECT_LT(scene.bodies.velocity[top].norm(), 1e-9);
}

TEST_P(Rolling, OnAnInclineABallStaysBelowTheAngleAndRollsAbove) {
    const double R = 0.1, rho = 0.01;  // tan = 0.1
    for (const double slope : {0.095, 0.15}) {
        Scene<3> scene = plane<3>(0.5, rho);
        const double angle = std::atan(slope);
        scene.gravity = {g * std::sin(angle), 0, -g * std::cos(angle)};
        const Index ball = add_ball<3>(scene, R, R);
        StepMemory<3> memory;
        simulate<3>(scene, {options(1e-3, GetParam()), 0.1}, memory);
        const double begin = scene.bodies.velocity[ball][0];
        simulate<3>(scene, {options(1e-3, GetParam()), 0.5}, memory);
        const double pull = std::max(0.0, g * std::cos(angle) * (slope - rho / R) / 1.4);
        EXPECT_NEAR(scene.bodies.velocity[ball][0], begin + 0.4 * pull, near(GetParam())) << slope;
        EXPECT_NEAR(scene.bodies.velocity[ball][0], 0.5 * pull, GetParam() == Law::coulomb ? 1e-8 : 1e-4);
    }
}

INSTANTIATE_TEST_SUITE_P(Laws, Rolling, ::testing::Values(Law::coulomb, Law::associated),
                         [](const auto& law) { return law.param == Law::coulomb ? "exact" : "associated"; });

TEST(RollingContacts, TheAssociatedLawLiftsARollingDiskAndTheExactOneDoesNot) {
    // The relaxation opens the gap at rho |spin| + mu |sliding|: what Tasora & Anitescu warn of. It settles where gap =
    // h rho |spin|.
    for (const Law law : {Law::coulomb, Law::associated}) {
        const double h = 1e-3, rho = 0.02;
        Scene<2> scene = plane<2>(0.9, rho);
        const Index disk = add_ball<2>(scene, 1, 1);
        scene.bodies.velocity[disk] = {1, 0};
        scene.bodies.spin[disk][0] = -1;
        StepMemory<2> memory;
        simulate<2>(scene, {options(h, law), 0.2}, memory);
        const double gap = scene.bodies.position[disk][1] - 1;
        const double expected = law == Law::coulomb ? 0 : h * rho * std::abs(scene.bodies.spin[disk][0]);
        EXPECT_NEAR(gap, expected, 0.01 * h * rho);
    }
}

}  // namespace
}  // namespace drystone::testing_rolling
