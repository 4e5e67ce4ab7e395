#include "drystone/bodies/scene.hpp"

#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace drystone {
namespace {

using testing::message_of;

template <int d>
Scene<d> scene_of(Shape<d> shape) {
    Scene<d> scene;
    scene.materials.add({"stone", 2000}, {});
    scene.add_shape(std::move(shape));
    return scene;
}

TEST(Scene, MassAndInertiaOfASphereAndADisk) {
    // Closed forms; a few roundings.
    Scene<3> space = scene_of<3>(Ball<3>{0.5});
    BodyPlan<3> plan;
    plan.size = 3;
    space.add_body(plan);
    const double r = 1.5, mass = 2000 * 4.0 / 3 * std::numbers::pi * r * r * r;
    EXPECT_NEAR(space.bodies.mass[0], mass, 1e-14 * mass);
    for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(space.bodies.inertia[0][k], 0.4 * mass * r * r, 1e-14 * mass * r * r);
    EXPECT_DOUBLE_EQ(space.outer_radius(0), 1.5);
    EXPECT_DOUBLE_EQ(space.inner_radius(0), 1.5);

    Scene<2> plane = scene_of<2>(Ball<2>{0.5});
    BodyPlan<2> disk;
    disk.size = 3;
    disk.mass = 7;
    plane.add_body(disk);
    EXPECT_EQ(plane.bodies.mass[0], 7);
    EXPECT_NEAR(plane.bodies.inertia[0][0], 0.5 * 7 * r * r, 1e-13);
}

TEST(Scene, IdsFollowEachOther) {
    Scene<2> scene = scene_of<2>(Ball<2>{});
    for (Index i = 0; i < 3; ++i) EXPECT_EQ(scene.add_body({}), i);
    EXPECT_EQ(scene.bodies.id, (std::vector<GlobalId>{0, 1, 2}));
    // After a removal no id is used twice.
    scene.bodies.position[1] = {5, 7};
    const std::vector<std::uint8_t> gone = {1, 0, 1};
    scene.bodies.remove(gone);
    ASSERT_EQ(scene.bodies.count(), 1);
    EXPECT_EQ(scene.bodies.position[0], Vec<2>(5, 7));
    scene.add_body({});
    EXPECT_EQ(scene.bodies.id, (std::vector<GlobalId>{1, 3}));
    EXPECT_EQ(scene.bodies.index_of(3), 1);
    EXPECT_EQ(scene.bodies.index_of(2), -1);
}

TEST(Scene, HalfSpacesAreHeldAndHaveNoMass) {
    Scene<3> scene = scene_of<3>(HalfSpace<3>{});
    BodyPlan<3> plan;
    EXPECT_NE(message_of([&] { scene.add_body(plan); }).find("body 0.motion: a"), std::string::npos);
    plan.motion = Motion::held;
    scene.add_body(plan);
    EXPECT_EQ(scene.bodies.mass[0], 0);
    EXPECT_EQ(scene.bodies.inertia[0], (Spin<3>::Zero()));
    EXPECT_TRUE(std::isinf(scene.outer_radius(0)));
}

TEST(Scene, PositionsAreBroughtIntoThePeriod) {
    Scene<2> scene = scene_of<2>(Ball<2>{0.1});
    scene.domain = {{-1, 0}, {2, 0}};
    BodyPlan<2> plan;
    const auto add = [&](double x) {
        plan.pose.position = {x, -50};
        return scene.add_body(plan);
    };
    for (const double x : {0.25, 5.25, -3.5, 1.0, std::nextafter(-1.0, -2.0)}) {
        const Index i = add(x);
        const double wrapped = scene.bodies.position[i][0];
        EXPECT_GE(wrapped, -1);
        EXPECT_LT(wrapped, 1);
        EXPECT_EQ(scene.bodies.position[i][1], -50);
        EXPECT_EQ(scene.bodies.image[i][1], 0);
        EXPECT_NEAR(wrapped + 2 * scene.bodies.image[i][0], x, 1e-15);
    }
    EXPECT_EQ(scene.bodies.image[1][0], 3);
    EXPECT_EQ(scene.bodies.image[2][0], -2);
    EXPECT_EQ(scene.bodies.image[3][0], 1) << "the upper side belongs to the next image";
}

TEST(Scene, HalfSpacesRunAlongThePeriods) {
    Scene<2> scene = scene_of<2>(HalfSpace<2>{});
    scene.domain.period = {1, 0};
    BodyPlan<2> plan;
    plan.motion = Motion::held;
    scene.add_body(plan);
    plan.pose.rotation.angle = 0.1;
    EXPECT_NE(message_of([&] { scene.add_body(plan); }).find("periodic direction 0"), std::string::npos);
}

TEST(Scene, ErrorsNameTheBodyAndTheField) {
    Scene<3> scene = scene_of<3>(Ball<3>{});
    scene.add_body({});
    const auto with = [&](auto&& change) {
        BodyPlan<3> plan;
        change(plan);
        return message_of([&] { scene.add_body(plan); });
    };
    using Plan = BodyPlan<3>;
    const double nan = std::nan("");
    const auto expect = [](const std::string& message, const std::string& start) {
        EXPECT_EQ(message.substr(0, start.size()), start);
        EXPECT_NE(message.find("; "), std::string::npos) << "no cure in: " << message;
    };
    expect(with([](Plan& p) { p.shape = 1; }),
           "body 1.shape: there is no shape number 1; give a number from 0 to 0");
    expect(with([](Plan& p) { p.shape = -1; }), "body 1.shape");
    expect(with([](Plan& p) { p.material = 4; }), "body 1.material: there is no material number 4");
    expect(with([](Plan& p) { p.size = 0; }), "body 1.size: 0");
    expect(with([](Plan& p) { p.size = INFINITY; }), "body 1.size: inf");
    expect(with([](Plan& p) { p.mass = 0; }), "body 1.mass: 0");
    expect(with([](Plan& p) { p.mass = -2; }), "body 1.mass: -2");
    expect(with([&](Plan& p) { p.pose.position[1] = nan; }), "body 1.position: (0, nan, 0)");
    expect(with([&](Plan& p) { p.velocity[0] = nan; }), "body 1.velocity");
    expect(with([&](Plan& p) { p.spin[2] = INFINITY; }), "body 1.spin: (0, 0, inf)");
    expect(with([](Plan& p) { p.pose.rotation.q.coeffs().setZero(); }), "body 1.rotation");
    expect(with([](Plan& p) { p.size = 1e-80; }), "body 1.size: size 1e-80 makes a mass");
    expect(with([](Plan& p) { p.size = 1e-30; }),
           "body 1.size: size 1e-30 makes a mass");  // and 1e-146 kg m^2
    EXPECT_EQ(scene.bodies.count(), 1) << "a refused body leaves nothing behind";
}

TEST(Scene, NearlyUnitQuaternionsAreMadeUnit) {
    Scene<3> scene = scene_of<3>(Ball<3>{});
    BodyPlan<3> plan;
    plan.pose.rotation.q.coeffs() << 0.7071, 0, 0, 0.7071;
    scene.add_body(plan);
    EXPECT_NEAR(scene.bodies.rotation[0].q.norm(), 1, 1e-15);
}

TEST(InertiaInWorld, IsRDRTransposedAndExactlySymmetric) {
    const Rotation<3> rotation = turn(Rotation<3>{}, Spin<3>(0.3, -1.1, 2.0));
    const Spin<3> moments(1, 2.5, 7);
    const Mat<3> I = inertia_in_world<3>(rotation, moments);
    EXPECT_EQ(I, I.transpose());
    const Mat<3> R = matrix(rotation);
    for (int k = 0; k < 3; ++k) {
        // Columns of R are the principal axes; errors are a few roundings of the largest moment.
        EXPECT_LT((I * R.col(k) - moments[k] * R.col(k)).norm(), 1e-14 * 7);
    }
    const Mat<3> inverse = inertia_in_world<3>(rotation, moments.cwiseInverse());
    EXPECT_LT((I * inverse - Mat<3>::Identity()).norm(), 1e-14 * 7);
    EXPECT_EQ((inertia_in_world<2>({0.4}, Spin<2>(3.0))(0, 0)), 3);
}

}  // namespace
}  // namespace drystone
