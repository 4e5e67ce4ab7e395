// The problem of a step, against what can be written down: rows, free velocities and what is added to the normal.
#include "drystone/contact/assemble.hpp"

#include "drystone/cone/delassus.hpp"
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_assemble {
namespace {

constexpr double radius = 0.1, h = 0.01;

/// Two balls side by side along x, `gap` apart, and the contact between them.
struct Pair {
    Scene<3> scene = sample::empty_scene<3>(0.3);
    ContactSet<3> contacts;
    Vector v_free = Vector::Zero(12);

    explicit Pair(double gap, double cohesion = 0) {
        scene = sample::empty_scene<3>(0.3, 0, cohesion);
        BodyPlan<3> ball;
        ball.shape = scene.add_shape(Ball<3>{radius});
        ball.mass = 2;
        scene.add_body(ball);
        ball.mass = 3;
        ball.pose.position = {2 * radius + gap, 0, 0};
        scene.add_body(ball);
        Neighbours<3> neighbours;
        const std::vector<double> reach(2, 0.05);
        detect<3>(scene, reach, {}, neighbours, contacts);
    }
    Assembled<3> assembled(const AssembleOptions& options) {
        Assembled<3> out;
        assemble(scene, contacts, v_free, options, out);
        return out;
    }
};

TEST(Assemble, RelativeVelocityIsThatOfThePoints) {
    Pair pair(0.001);
    ASSERT_EQ(pair.contacts.size(), 1U);
    // Velocity and spin of both; the point moves with v + spin x arm.
    for (int k = 0; k < 12; ++k) pair.v_free[k] = 0.1 * (k + 1) * (k % 2 == 0 ? 1 : -1);
    const Assembled<3> a = pair.assembled({.h = h});
    const Delassus W(a.problem);
    const Vec<3> v0 = pair.v_free.segment<3>(0), s0 = pair.v_free.segment<3>(3);
    const Vec<3> v1 = pair.v_free.segment<3>(6), s1 = pair.v_free.segment<3>(9);
    const Contact<3>& c = pair.contacts[0];
    const Vec<3> u = v0 + s0.cross(c.arm_a) - v1 - s1.cross(c.arm_b);
    // Normal component: the rate of the gap, and gap / h (eq. 24 with theta = 1). Tangents: their length is that of the
    // part across the normal.
    EXPECT_NEAR(W.b()[0], u.dot(c.normal) + c.gap / h, 1e-12);
    const Vec<3> across = u - u.dot(c.normal) * c.normal;
    EXPECT_NEAR(std::hypot(W.b()[1], W.b()[2]), across.norm(), 1e-12);
}

TEST(Assemble, DiagonalIsTheInverseMassOfThePair) {
    Pair pair(0.001);
    const Assembled<3> a = pair.assembled({.h = h});
    const BlockMatrix W = Delassus(a.problem).diagonal(0);
    // The contact is midway between the surfaces: the arms are half the gap longer than the radii.
    const double arm = radius + 0.0005, moment = 0.4 * radius * radius;
    EXPECT_NEAR(W(0, 0), 1.0 / 2 + 1.0 / 3, 1e-12);
    const double tangential = (1.0 / 2 + 1.0 / 3) * (1 + arm * arm / moment);
    EXPECT_NEAR(W(1, 1), tangential, 1e-12);
    EXPECT_NEAR(W(2, 2), tangential, 1e-12);
}

TEST(Assemble, ShallowOverlapIsPushedOutInOneStepAndADeepOneABitAtATime) {
    const auto normal = [](double gap, Drift drift) {
        Pair pair(gap);
        const Assembled<3> a = pair.assembled({.drift = drift, .h = h});
        return Delassus(a.problem).b()[0];
    };
    EXPECT_NEAR(normal(-0.001, Drift::push_out), -0.001 / h, 1e-12);
    EXPECT_NEAR(normal(-0.02, Drift::push_out), -deepest_push * radius / h, 1e-12);
    EXPECT_EQ(normal(-0.001, Drift::clamp), 0);
    EXPECT_NEAR(normal(0.001, Drift::clamp), 0.001 / h, 1e-12);
}

TEST(Assemble, CohesionPullsTheBodiesTogether) {
    const double cohesion = 5;
    Pair touching(0, cohesion), parted(0.01, cohesion);
    const Assembled<3> a = touching.assembled({.h = h}), b = parted.assembled({.h = h});
    // Momentum along x that the pull gives in a step: of ball 0 towards ball 1, and back.
    EXPECT_NEAR(a.problem.f[0], h * cohesion, 1e-12);
    EXPECT_NEAR(a.problem.f[6], -h * cohesion, 1e-12);
    EXPECT_EQ(b.problem.f[0], 0) << "a contact that has parted pulls";
}

TEST(Assemble, HeldBodiesHaveNoVelocitiesOfTheirOwn) {
    Scene<3> scene = sample::empty_scene<3>(0.3);
    const Index floor = sample::add_wall<3>(scene, {0, 0, 0}, {0, 0, 1});
    scene.bodies.velocity[floor] = {0, 0, 0.5};
    BodyPlan<3> ball;
    ball.shape = scene.add_shape(Ball<3>{radius});
    ball.pose.position = {0, 0, radius + 0.002};
    scene.add_body(ball);
    ContactSet<3> contacts;
    Neighbours<3> neighbours;
    detect<3>(scene, std::vector<double>(2, 0.05), {}, neighbours, contacts);
    ASSERT_EQ(contacts.size(), 1U);
    Assembled<3> a;
    assemble(scene, contacts, Vector::Zero(12), {.h = h}, a);
    EXPECT_EQ(a.rigid, 1);
    EXPECT_EQ(a.place[floor], -1);
    EXPECT_NEAR(Delassus(a.problem).b()[0], -0.5 + 0.002 / h, 1e-12);
}

}  // namespace
}  // namespace drystone::testing_assemble
