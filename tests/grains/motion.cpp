// How bodies move by themselves: the length of a step, free velocities, integration, and the periodic domain.
#include "drystone/grains/motion.hpp"

#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

constexpr double g = 9.81;

Scene<3> one_ball(const Vec<3>& velocity) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    scene.gravity = {0, 0, -g};
    BodyPlan<3> ball;
    ball.shape = scene.add_shape(Ball<3>{0.1});
    ball.velocity = velocity;
    scene.add_body(ball);
    return scene;
}

TEST(Motion, AStepIsAsLongAsTheFastestBodyAllows) {
    const Scene<3> slow = one_ball({0, 0, 0}), fast = one_ball({10, 0, 0});
    EXPECT_EQ(choose_step(slow, 0.01, 0), 0.01);
    // No more than 0.05 radii: 5 mm at 10 m/s.
    EXPECT_NEAR(choose_step(fast, 0.01, 0.05), 0.005 / 10, 1e-5);
    EXPECT_LE(choose_step(fast, 0.01, 0.05) * 10, 0.005 * (1 + 1e-9));
}

TEST(Motion, FreeFlightIsThatOfAThrownStone) {
    // theta = 1/2 is exact under constant gravity.
    Scene<3> scene = one_ball({1, 0, 2});
    const double h = 0.01;
    for (int n = 0; n < 100; ++n) {
        Vector v;
        free_velocities(scene, h, 0.5, 1, v);
        integrate(scene, h, 0.5, v, 1);
    }
    EXPECT_NEAR(scene.time, 1, 1e-12);
    EXPECT_NEAR(scene.bodies.position[0][0], 1, 1e-12);
    EXPECT_NEAR(scene.bodies.position[0][2], 2 - g / 2, 1e-12);
    EXPECT_NEAR(scene.bodies.velocity[0][2], 2 - g, 1e-12);
}

TEST(Motion, HeldBodiesGoAsTheyAreTold) {
    Scene<3> scene = one_ball({0, 0, 0});
    scene.bodies.motion[0] = Motion::held;
    scene.bodies.velocity[0] = {0, 0.5, 0};
    Vector v;
    free_velocities(scene, 0.1, 1, 1, v);
    integrate(scene, 0.1, 1, v, 1);
    EXPECT_NEAR((scene.bodies.position[0] - Vec<3>(0, 0.05, 0)).norm(), 0, 1e-15);
    EXPECT_EQ(scene.bodies.velocity[0], Vec<3>(0, 0.5, 0));
}

TEST(Motion, WhatLeavesAPeriodicDomainComesInOnTheOtherSide) {
    Scene<3> scene = one_ball({3, 0, 0});
    scene.gravity.setZero();
    scene.domain.period = {1, 0, 0};
    scene.bodies.position[0] = {0.8, 0, 0};
    Vector v;
    free_velocities(scene, 0.1, 1, 1, v);
    integrate(scene, 0.1, 1, v, 1);
    EXPECT_NEAR(scene.bodies.position[0][0], 0.1, 1e-12);
    EXPECT_EQ(scene.bodies.image[0][0], 1);
    EXPECT_NEAR(scene.unwrapped(0)[0], 1.1, 1e-12);
}

TEST(Motion, ASpinningBoxKeepsItsMomentumAndEnergy) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    BodyPlan<3> box;
    box.shape = scene.add_shape(make_box({0.1, 0.2, 0.3}));
    box.spin = {1, 20, 3};  // about the middle axis: it tumbles
    scene.add_body(box);
    const Momentum<3> before = momentum_of(scene);
    const double energy = energy_of(scene).kinetic;
    for (int n = 0; n < 1000; ++n) {
        Vector v;
        free_velocities(scene, 1e-3, 1, 1, v);
        integrate(scene, 1e-3, 1, v, 1);
    }
    EXPECT_LT((momentum_of(scene).angular - before.angular).norm(), 1e-10 * before.angular.norm());
    EXPECT_NEAR(energy_of(scene).kinetic, energy, 1e-10 * energy);
}

}  // namespace
}  // namespace drystone
