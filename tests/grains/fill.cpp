// Random fillings: as full as was asked for, without overlap, everywhere alike.

#include "drystone/grains/fill.hpp"

#include "drystone/base/timer.hpp"
#include "drystone/bodies/ball_grid.hpp"
#include "grains/sample_scenes.hpp"
#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <iostream>

namespace drystone {
namespace {

template <int d>
Recipe<d> balls_of(Scene<d>& scene, double radius, const SizeLaw& law = UniformSize{}) {
    Recipe<d> recipe;
    recipe.parts.push_back({1, {{scene.add_shape(Ball<d>{radius}), 1, {}}}, 0, law});
    return recipe;
}

/// Smallest distance of two bounding balls, or of the nearest images of two.
template <int d>
double least_gap(const Scene<d>& scene) {
    double least = infinity;
    const Domain<d>& domain = scene.domain;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (!std::isfinite(scene.outer_radius(i))) continue;
        for (Index j = 0; j < i; ++j) {
            if (!std::isfinite(scene.outer_radius(j))) continue;
            Vec<d> way = scene.bodies.position[i] - scene.bodies.position[j];
            for (int k = 0; k < d; ++k) {
                if (domain.period[k] > 0) way[k] -= domain.period[k] * std::round(way[k] / domain.period[k]);
            }
            least = std::min(least, way.norm() - scene.outer_radius(i) - scene.outer_radius(j));
        }
    }
    return least;
}

template <int d>
double grain_volume(const Scene<d>& scene) {
    double mass = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (scene.bodies.is_free(i)) mass += scene.bodies.mass[i];
    }
    return mass / 2500;
}

/// Eight counts of the octants (quarters in the plane): chi squared of evenness.
template <int d>
double unevenness(const Scene<d>& scene, const Vec<d>& middle) {
    std::array<double, 1 << d> count{};
    for (const Vec<d>& x : scene.bodies.position) {
        std::size_t octant = 0;
        for (int k = 0; k < d; ++k) octant = 2 * octant + (x[k] > middle[k] ? 1 : 0);
        ++count[octant];
    }
    const double expected = static_cast<double>(scene.bodies.count()) / (1 << d);
    double sum = 0;
    for (const double c : count) sum += (c - expected) * (c - expected) / expected;
    return sum;
}

TEST(Fill, LooseFillingsAreEvenAndAsFullAsAsked) {
    auto scene = sample::empty_scene<3>(0.5);
    const auto recipe = balls_of(scene, 0.02, UniformSize{0.5, 1});
    const Region<3> region = BoxRegion<3>{{0, 0, 0}, {1, 1, 0.5}};
    const FillReport report = fill(scene, region, recipe, FillFraction{0.2}, Random(1));
    EXPECT_EQ(report.passes, 0);
    EXPECT_NEAR(grain_volume(scene), 0.2 * 0.5, 2e-5) << "to half a grain";
    EXPECT_NEAR(report.fraction, grain_volume(scene) / 0.5, 1e-12);
    EXPECT_EQ(report.count, scene.bodies.count());
    EXPECT_GE(least_gap(scene), 0);
    for (Index i = 0; i < scene.bodies.count(); ++i)
        EXPECT_TRUE(contains<3>(region, scene.bodies.position[i], scene.outer_radius(i)));
    // Seven degrees of freedom: above 24 with a chance of 1e-3 for independent points; grains with size are more even.
    EXPECT_LT(unevenness<3>(scene, {0.5, 0.5, 0.25}), 24);
}

template <int d>
void expect_dense(double radius, const Region<d>& region, double fraction, bool periodic) {
    auto scene = sample::empty_scene<d>(0.5);
    if (periodic) scene.domain.period.setOnes();
    const auto recipe = balls_of(scene, radius);
    const Timer timer;
    const FillReport report = fill(scene, region, recipe, FillFraction{fraction}, Random(2));
    std::cout << d << "D, fraction " << fraction << (periodic ? ", periodic: " : ": ") << report.count
              << " grains, " << report.passes << " passes, " << timer.seconds() << " s\n";
    EXPECT_GE(least_gap(scene), 0);
    EXPECT_NEAR(report.fraction, fraction, 1.0 / static_cast<double>(report.count));
    const Region<d> open = without_periodic_sides<d>(region, scene.domain);
    for (Index i = 0; i < scene.bodies.count(); ++i)
        EXPECT_TRUE(contains<d>(open, scene.bodies.position[i], radius));
    EXPECT_LT(unevenness<d>(scene, Vec<d>::Constant(0.5)), 24);
}

TEST(Fill, DenseFillings) {
    const Region<3> cube = BoxRegion<3>{{0, 0, 0}, {1, 1, 1}};
    const Region<2> square = BoxRegion<2>{{0, 0}, {1, 1}};
    expect_dense<3>(0.03, cube, 0.4, false);
    expect_dense<3>(0.03, cube, 0.55, false);
    expect_dense<3>(0.03, cube, 0.55, true);
    expect_dense<2>(0.01, square, 0.75, false);
    expect_dense<2>(0.01, square, 0.75, true);
    expect_dense<3>(0.02, CylinderRegion<3>{{0.5, 0.5, 0}, {0, 0, 1}, 0.4, 1}, 0.5, false);
    expect_dense<2>(0.01, CylinderRegion<2>{{0.5, 0.5}, {0, 1}, 0.4, 1}, 0.7, false);
}

TEST(Fill, ClosedMeshesAreFilledToTheirFaces) {
    const Shape<3> ball = Ball<3>{0.5};
    const Vec<3> middle = Vec<3>::Constant(0.5);
    expect_dense<3>(0.02, make_mesh_region(surface_of<3>(ball, 24), {middle, {}}), 0.45, false);
}

TEST(Fill, WideSizesAreDenseToo) {
    auto scene = sample::empty_scene<3>(0.5);
    const auto recipe = balls_of(scene, 0.1, TableSize{{0.1, 0.3, 1}, {0, 0.5, 1}, true});
    const Timer timer;
    const FillReport report =
        fill(scene, Region<3>(BoxRegion<3>{{0, 0, 0}, {1, 1, 1}}), recipe, FillFraction{0.5}, Random(2));
    std::cout << "sizes 1 to 10: " << report.count << " grains, " << report.passes << " passes, "
              << timer.seconds() << " s\n";
    EXPECT_GE(least_gap(scene), 0);
    EXPECT_NEAR(grain_volume(scene), 0.5, 0.003);
}

TEST(Fill, ObstaclesStayClear) {
    auto scene = sample::empty_scene<3>(0.5);
    const Index beam = scene.add_shape(make_box({0.6, 0.1, 0.1})), ground = scene.add_shape(HalfSpace<3>{}),
                ball = scene.add_shape(Ball<3>{0.2});
    BodyPlan<3> plan;
    plan.motion = Motion::held;
    plan.shape = beam;
    plan.pose.position = {0.5, 0.5, 0.5};
    scene.add_body(plan);
    plan.shape = ground;
    plan.pose.position = {0, 0, 0.1};
    scene.add_body(plan);
    plan.shape = ball;
    plan.pose.position = {0.5, 0.2, 0.8};
    scene.add_body(plan);
    for (const double fraction : {0.15, 0.4}) {
        Scene<3> filled = scene;
        const auto recipe = balls_of(filled, 0.03);
        const FillReport report = fill(filled, Region<3>(BoxRegion<3>{{0, 0, 0}, {1, 1, 1}}), recipe,
                                       FillFraction{fraction}, Random(2));
        EXPECT_EQ(report.passes > 0, fraction > 0.3);
        for (Index i = 3; i < filled.bodies.count(); ++i) {
            const Vec<3>& x = filled.bodies.position[i];
            EXPECT_GE(x[2], 0.13);
            EXPECT_GE((x - Vec<3>(0.5, 0.2, 0.8)).norm(), 0.23);
            const Vec<3> from_beam = (x - Vec<3>(0.5, 0.5, 0.5)).cwiseAbs() - Vec<3>(0.6, 0.1, 0.1);
            EXPECT_GE(from_beam.cwiseMax(0.0).norm(), 0.03 - 1e-9);
        }
    }
}

TEST(Fill, AnOpenMeshIsASheet) {
    auto scene = sample::empty_scene<3>(0.5);
    const Index sheet = scene.add_shape(make_mesh({{0, 0, 0.5}, {1, 0, 0.5}, {0, 1, 0.5}}, {{0, 1, 2}}));
    BodyPlan<3> plan;
    plan.motion = Motion::held;
    plan.shape = sheet;
    scene.add_body(plan);
    const auto recipe = balls_of(scene, 0.03);
    fill(scene, Region<3>(BoxRegion<3>{{0, 0, 0}, {1, 1, 1}}), recipe, FillFraction{0.2}, Random(2));
    int below = 0, above = 0;
    for (Index i = 1; i < scene.bodies.count(); ++i) {
        const Vec<3>& x = scene.bodies.position[i];
        if (x[0] + x[1] < 1) {
            EXPECT_GE(std::abs(x[2] - 0.5), 0.03 - 1e-12);
            ++(x[2] < 0.5 ? below : above);
        }
    }
    EXPECT_GT(below, 100);
    EXPECT_GT(above, 100);
}

TEST(Fill, AClosedMeshIsSolid) {
    auto scene = sample::empty_scene<3>(0.5);
    const Surface<3> cube = surface_of<3>(Shape<3>(make_box(Vec<3>::Constant(0.3))), 8);
    BodyPlan<3> plan;
    plan.motion = Motion::held;
    plan.shape = scene.add_shape(make_mesh(cube.vertices, cube.elements));
    plan.pose.position = Vec<3>::Constant(0.5);
    scene.add_body(plan);
    const auto recipe = balls_of(scene, 0.03);
    fill(scene, Region<3>(BoxRegion<3>{{0, 0, 0}, {1, 1, 1}}), recipe, FillFraction{0.15}, Random(2));
    for (Index i = 1; i < scene.bodies.count(); ++i) {
        const Vec<3> out = (scene.bodies.position[i] - plan.pose.position).cwiseAbs().array() - 0.3;
        EXPECT_GE(out.cwiseMax(0.0).norm(), 0.03 - 1e-12);
    }
}

TEST(Fill, SlenderGrainsKeepTheirBoundingBallsApart) {
    auto scene = sample::empty_scene<3>(0.5);
    Recipe<3> recipe;
    recipe.parts.push_back({1, {{scene.add_shape(Capsule{0.02, 0.02}), 1, {}}}, 0, UniformSize{}});
    recipe.parts.push_back({1, {{scene.add_shape(make_box({0.03, 0.02, 0.02})), 1, {}}}, 0, UniformSize{}});
    const FillReport report =
        fill(scene, Region<3>(BoxRegion<3>{{0, 0, 0}, {1, 1, 1}}), recipe, FillFraction{0.15}, Random(2));
    EXPECT_NEAR(report.fraction, 0.15, 1e-3);
    EXPECT_GE(least_gap(scene), 0);
}

TEST(Fill, WhatAGrainIsDoesNotDependOnOthers) {
    auto one = sample::empty_scene<2>(0.5), two = sample::empty_scene<2>(0.5);
    const auto recipe = balls_of(one, 0.05, UniformSize{0.5, 1});
    balls_of(two, 0.05);
    const Region<2> region = BoxRegion<2>{{0, 0}, {1, 1}};
    fill(one, region, recipe, FillCount{20}, Random(4));
    fill(two, region, recipe, FillCount{10}, Random(4));
    fill(two, region, recipe, FillCount{10}, Random(4));
    EXPECT_EQ(one.bodies.size, two.bodies.size);
    EXPECT_EQ(one.bodies.count(), 20);
    EXPECT_GE(least_gap(two), 0);
    auto again = sample::empty_scene<2>(0.5);
    balls_of(again, 0.05);
    fill(again, region, recipe, FillCount{20}, Random(4));
    EXPECT_EQ(one.bodies.position, again.bodies.position);
}

TEST(Fill, TooMuchIsAFaultThatSaysWhatWasReached) {
    auto scene = sample::empty_scene<3>(0.5);
    const auto recipe = balls_of(scene, 0.06);
    const Region<3> cube = BoxRegion<3>{{0, 0, 0}, {1, 1, 1}};
    const std::string message =
        testing::message_of([&] { fill(scene, cube, recipe, FillFraction{0.7}, Random(2)); });
    EXPECT_NE(message.find("fraction: a packing fraction of 0.7 was wanted and 0."), std::string::npos)
        << message;
    EXPECT_EQ(scene.bodies.count(), 0);
    const std::string many =
        testing::message_of([&] { fill(scene, cube, recipe, FillCount{100000}, Random(2)); });
    EXPECT_NE(many.find("count: the bounding balls of the grains would take 90.5 times"), std::string::npos)
        << many;
}

TEST(Fill, ATiltedCellIsSeen) {
    auto scene = sample::empty_scene<2>(0.5);
    scene.domain.period.setOnes();
    scene.domain.tilt = 0.37;
    const auto recipe = balls_of(scene, 0.02);
    fill(scene, Region<2>(BoxRegion<2>{{0, 0}, {1, 1}}), recipe, FillFraction{0.6}, Random(2));
    double least = 1;
    const auto& x = scene.bodies.position;
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            for (const int a : {-2, -1, 0, 1, 2}) {
                for (const int b : {-1, 0, 1})
                    least = std::min(least, (x[i] - x[j] - scene.domain.translation({a, b})).norm());
            }
        }
    }
    EXPECT_GE(least, 0.04);
}

TEST(Fill, AHundredThousandSpheresTakeSeconds) {
    for (const double fraction : {0.25, 0.5}) {
        auto scene = sample::empty_scene<3>(0.5);
        const double radius = std::cbrt(fraction / 1e5 * 3 / (4 * std::numbers::pi));
        const auto recipe = balls_of(scene, radius);
        const Timer timer;
        const FillReport report =
            fill(scene, Region<3>(BoxRegion<3>{{0, 0, 0}, {1, 1, 1}}), recipe, FillCount{100000}, Random(1));
        std::cout << report.count << " spheres at " << report.fraction << ": " << report.passes << " passes, "
                  << timer.seconds() << " s\n";
        EXPECT_EQ(scene.bodies.count(), 100000);
        BallGrid<3> grid(scene.domain);
        bool overlap = false;
        for (Index i = 0; i < scene.bodies.count(); ++i) {
            overlap = overlap || grid.any_near(scene.bodies.position[i], radius, 0,
                                               [](Index, const Vec<3>&) { return true; });
            grid.add(scene.bodies.position[i], radius);
        }
        EXPECT_FALSE(overlap);
        EXPECT_LT(timer.seconds(), 120) << "a shared machine; alone it is a tenth of this";
    }
}

}  // namespace
}  // namespace drystone
