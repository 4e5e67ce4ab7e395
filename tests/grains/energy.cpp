// Energies and momenta of what moves.
#include "drystone/grains/energy.hpp"

#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

Scene<3> two_balls() {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    scene.gravity = {0, 0, -10};
    BodyPlan<3> ball;
    ball.shape = scene.add_shape(Ball<3>{0.1});
    ball.pose.position = {1, 0, 2};
    ball.velocity = {0, 3, 0};
    ball.spin = {0, 0, 4};
    scene.add_body(ball);
    ball.velocity = {5, 0, 0};
    ball.motion = Motion::held;
    scene.add_body(ball);
    return scene;
}

TEST(Energy, IsThatOfFreeBodies) {
    const Scene<3> scene = two_balls();
    const double m = scene.bodies.mass[0];
    const Energy energy = energy_of(scene);
    // (m v^2 + 2/5 m r^2 w^2) / 2
    EXPECT_NEAR(energy.kinetic, 0.5 * m * (9 + 0.4 * 0.01 * 16), 1e-12 * m);
    EXPECT_NEAR(energy.potential, m * 10 * 2, 1e-12 * m);
    EXPECT_EQ(energy.total(), energy.kinetic + energy.potential);
}

TEST(Energy, OfAPeriodicDomainIsOfUnwrappedPlaces) {
    Scene<3> scene = two_balls();
    scene.domain.period = {0, 0, 3};
    scene.bodies.image[0] = {0, 0, 2};
    const double m = scene.bodies.mass[0];
    EXPECT_NEAR(energy_of(scene).potential, m * 10 * 8, 1e-12 * m);
}

TEST(Momentum, IsAboutTheOrigin) {
    const Scene<3> scene = two_balls();
    const double m = scene.bodies.mass[0];
    const Momentum<3> momentum = momentum_of(scene);
    EXPECT_LT((momentum.linear - m * Vec<3>(0, 3, 0)).norm(), 1e-12 * m);
    // x cross v, and its own spin.
    EXPECT_LT((momentum.angular - m * Vec<3>(-6, 0, 3 + 0.4 * 0.01 * 4)).norm(), 1e-12 * m);
}

}  // namespace
}  // namespace drystone
