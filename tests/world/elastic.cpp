// Contacts that yield: overlaps and shares of load against closed forms.
#include "drystone/contact/elasticity.hpp"
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_elastic {
namespace {

using sample::g;

StepOptions options(double h) {
    StepOptions o = sample::options(h, 1e-11);
    o.elastic = true;
    return o;
}

template <int d>
Scene<d> scene_of(const Material& material, double friction, double stiffness) {
    Scene<d> scene;
    PairLaw law;
    law.friction = friction;
    law.stiffness = stiffness;
    scene.materials.add(material, law);
    scene.gravity[d - 1] = -g;
    sample::add_wall<d>(scene, Vec<d>::Zero(), Vec<d>::Unit(d - 1));
    return scene;
}

template <int d>
Index add_ball(Scene<d>& scene, double radius) {
    BodyPlan<d> ball;
    ball.shape = scene.add_shape(Ball<d>{radius});
    ball.pose.position[d - 1] = radius;
    return scene.add_body(ball);
}

TEST(Elastic, ABallRestsAtTheOverlapOfHooke) {
    const double k = 1e5;
    Scene<3> scene = scene_of<3>({"stone", 2500}, 0.5, k);
    const Index ball = add_ball<3>(scene, 0.1);
    StepMemory<3> memory;
    simulate<3>(scene, {options(2e-3), 2}, memory);
    EXPECT_NEAR((0.1 - scene.bodies.position[ball][2]) * k / (scene.bodies.mass[ball] * g), 1, 1e-8);
}

TEST(Elastic, ABallRestsAtTheOverlapOfHertz) {
    Material steel{"steel", 7800, 2e9, 0.3};
    Scene<3> scene = scene_of<3>(steel, 0.5, 0);
    const Index ball = add_ball<3>(scene, 0.1);
    const double modulus = 2e9 / (2 * (1 - 0.09)), k = 4.0 / 3 * modulus * std::sqrt(0.1);
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-3), 1}, memory);
    const double expected = std::pow(scene.bodies.mass[ball] * g / k, 2.0 / 3);
    EXPECT_NEAR((0.1 - scene.bodies.position[ball][2]) / expected, 1, 1e-6);
}

TEST(Elastic, MindlinsRatio) {
    const Material steel{"steel", 7800, 2e11, 0.3};
    Scene<3> scene = scene_of<3>(steel, 0.5, 0);
    add_ball<3>(scene, 0.1);
    Contact<3> contact;
    contact.a = 0;
    contact.b = 1;
    const auto spring = stiffness_of(scene, contact);
    ASSERT_TRUE(spring);
    EXPECT_TRUE(spring->hertz);
    EXPECT_NEAR(spring->tangential, 2 * (1 - 0.3) / (2 - 0.3), 1e-12);
}

TEST(Elastic, ATangentialSpringHoldsAndReturns) {
    // A block that cannot turn (a ball with a huge inertia) is pulled sideways below slipping: it moves by force / k_T
    // and comes back.
    const double k = 1e5, push = 2;
    Scene<3> scene = scene_of<3>({"stone", 2500}, 0.5, k);
    const Index ball = add_ball<3>(scene, 0.1);
    scene.bodies.inertia[ball].setConstant(1e12);
    StepMemory<3> memory;
    simulate<3>(scene, {options(2e-3), 1}, memory);
    const double before = scene.bodies.position[ball][0];
    scene.gravity[0] = push / scene.bodies.mass[ball];
    simulate<3>(scene, {options(2e-3), 3}, memory);
    const double ratio = 2 * (1 - 0.3) / (2 - 0.3);
    EXPECT_NEAR((scene.bodies.position[ball][0] - before) * ratio * k / push, 1, 1e-4);
    scene.gravity[0] = 0;
    simulate<3>(scene, {options(2e-3), 6}, memory);
    EXPECT_NEAR((scene.bodies.position[ball][0] - before) * ratio * k / push, 0, 1e-4);
}

/// A beam on three disks at -1, 0 and 1; answers the beam.
Index add_beam(Scene<2>& scene, double stiffness) {
    PairLaw law;
    law.friction = 0;
    law.stiffness = stiffness;
    scene.materials.add({"stone", 1000}, law);
    scene.gravity = {0, -g};
    const Index disk = scene.add_shape(Ball<2>{0.1});
    for (const double x : {-1.0, 0.0, 1.0}) {
        BodyPlan<2> support;
        support.shape = disk;
        support.motion = Motion::held;
        support.pose.position = {x, -0.1};
        scene.add_body(support);
    }
    BodyPlan<2> beam;
    beam.shape = scene.add_shape(make_rectangle({1.2, 0.1}));
    beam.pose.position = {0, 0.1};
    return scene.add_body(beam);
}

TEST(Elastic, ABeamOnThreeSupportsSharesItsLoadEvenly) {
    Scene<2> scene;
    const Index bar = add_beam(scene, 1e6);
    StepMemory<2> memory;
    const StepOptions o = options(2e-3);
    simulate<2>(scene, {o, 4}, memory);
    ASSERT_EQ(memory.contacts.size(), 3U);
    for (Index i = 0; i < 3; ++i) {
        const Vec<2> force = impulse_of(memory.assembled, memory.solution.r, memory.contacts[i], i) / o.h;
        EXPECT_NEAR(force.norm() / (scene.bodies.mass[bar] * g / 3), 1, 1e-7);
    }
}

// A joint that yields leaves the rigid supports as undetermined as they were: the elastic limit has to find their
// forces.
TEST(Elastic, TheElasticLimitOfABeamThatHangsOnASpringToo) {
    Scene<2> scene;
    const Index bar = add_beam(scene, 0);
    const double weight = scene.bodies.mass[bar] * g, pull = 0.4 * weight;
    Joint<2> spring;
    spring.kind = JointKind::spring;
    spring.a = scene.bodies.id[bar];
    spring.point_a = {0.5, 0};
    spring.point_b = {0.5, 2.1};
    spring.length = 1;
    spring.stiffness = pull;  // stretched by 1 m
    scene.joints.push_back(spring);
    StepOptions o = sample::options(2e-3, 1e-11);
    o.elastic_limit = true;
    StepMemory<2> memory;
    const StepRecord record = step<2>(scene, o, memory);
    ASSERT_TRUE(record.forces);
    EXPECT_EQ(record.forces->status, Status::solved) << record.forces->message;
    ASSERT_EQ(memory.contacts.size(), 3U);
    for (Index i = 0; i < 3; ++i) {
        const double x = scene.bodies.position[memory.contacts[i].a][0];
        const Vec<2> force = impulse_of(memory.assembled, memory.solution.r, memory.contacts[i], i) / o.h;
        EXPECT_NEAR(force.norm() / ((weight - pull) / 3 - 0.25 * pull * x), 1, 1e-6) << x;
    }
}

}  // namespace
}  // namespace drystone::testing_elastic
