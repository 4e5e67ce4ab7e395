// Blocks that stand by contact and friction alone, and blocks that must fall.
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_masonry {
namespace {

using sample::degree;
using sample::noise;

using sample::g;

StepOptions options(double h, double tolerance = 1e-8) { return sample::options(h, tolerance); }

/// A block 1 wide and 2 high on a rough slope: it tips over its lower corner if tan(slope) > 1/2.
double turned_after(double slope, int dimension) {
    StepMemory<2> plane_memory;
    StepMemory<3> space_memory;
    if (dimension == 2) {
        Scene<2> scene = sample::empty_scene<2>(2);
        scene.gravity = {0, -g};
        const Vec<2> normal(std::sin(slope), std::cos(slope));
        sample::add_wall<2>(scene, Vec<2>::Zero(), normal);
        BodyPlan<2> block;
        block.shape = scene.add_shape(make_rectangle({0.5, 1}));
        block.pose.position = normal;
        block.pose.rotation.angle = -slope;
        scene.add_body(block);
        simulate<2>(scene, {options(5e-3), 1}, plane_memory);
        return std::abs(scene.bodies.rotation[1].angle + slope);
    }
    Scene<3> scene = sample::empty_scene<3>(2);
    scene.gravity = {0, 0, -g};
    const Vec<3> normal(std::sin(slope), 0, std::cos(slope));
    sample::add_wall<3>(scene, Vec<3>::Zero(), normal);
    BodyPlan<3> block;
    block.shape = scene.add_shape(make_box({0.5, 0.7, 1}));
    block.pose.position = normal;
    block.pose.rotation = turn({}, Spin<3>(0, slope, 0));
    scene.add_body(block);
    const Mat<3> before = matrix(block.pose.rotation);
    simulate<3>(scene, {options(5e-3), 1}, space_memory);
    return (matrix(scene.bodies.rotation[1]) - before).norm();
}

TEST(Tipping, BlockTipsWhereTheLineOfGravityLeavesTheBase) {
    const double critical = std::atan(0.5);
    for (const int dimension : {2, 3}) {
        EXPECT_LT(turned_after(critical - 0.2 * degree, dimension), 1e-8) << dimension;
        EXPECT_GT(turned_after(critical + 0.2 * degree, dimension), 1e-2) << dimension;
    }
}

/// Semicircular arch of equal voussoirs of mean radius 1 on the ground.
Scene<2> arch(double thickness, int voussoirs) {
    Scene<2> scene = sample::empty_scene<2>(0.8);
    scene.gravity = {0, -g};
    sample::add_wall<2>(scene, Vec<2>::Zero(), Vec<2>::UnitY());
    const double inner = 1 - thickness / 2, outer = 1 + thickness / 2, angle = std::numbers::pi / voussoirs;
    for (int k = 0; k < voussoirs; ++k) {
        auto corner = [&](double radius, double at) {
            return Vec<2>(radius * std::cos(at), radius * std::sin(at));
        };
        const double from = k * angle, to = (k + 1) * angle;
        const auto stone =
            make_polygon({corner(inner, from), corner(outer, from), corner(outer, to), corner(inner, to)});
        BodyPlan<2> plan;
        plan.shape = scene.add_shape(stone.shape);
        plan.pose = stone.pose;
        scene.add_body(plan);
    }
    return scene;
}

double crown_drop(double thickness) {
    const int voussoirs = 17;
    Scene<2> scene = arch(thickness, voussoirs);
    const Index crown = 1 + voussoirs / 2;
    const double before = scene.bodies.position[crown][1];
    StepMemory<2> memory;
    const RunSummary run = simulate<2>(scene, {options(2e-3), 1}, memory);
    EXPECT_LT(run.worst_relative_overlap, 1e-2);
    return before - scene.bodies.position[crown][1];
}

TEST(Arch, StandsIfThickAndFallsIfThin) {
    // Milankovitch (1907), Heyman (1969): a semicircular arch of radius 1 stands under its own weight if it is thicker
    // than 0.107.
    EXPECT_LT(std::abs(crown_drop(0.13)), 1e-6);
    EXPECT_GT(crown_drop(0.085), 0.05);
}

/// Ten courses of ten stones, every other one shifted by 0.3 of a stone: boxes, and irregular ones whose ends and faces
/// lean. A stone is about 1 x 0.5 x 0.4.
Scene<3> wall_of_stones() {
    Scene<3> scene = sample::empty_scene<3>(0.6);
    scene.gravity = {0, 0, -g};
    sample::add_wall<3>(scene, Vec<3>::Zero(), Vec<3>::UnitZ());
    const double height = 0.4;
    std::uint64_t stone = 0;
    for (int course = 0; course < 10; ++course) {
        const double offset = course % 2 == 0 ? 0 : 0.3;
        for (int k = 0; k < 10; ++k, ++stone) {
            const bool irregular = noise(stone, 0) < 0.5;
            std::vector<Vec<3>> corners;
            for (int c = 0; c < 8; ++c) {
                // Inwards by up to 8 %: neighbours do not touch, the beds stay level.
                const double lean_x = irregular ? 0.08 * noise(stone, 1 + c) : 0.0,
                             lean_y = irregular ? 0.08 * noise(stone, 9 + c) : 0.0;
                corners.emplace_back(offset + k + 0.005 + (c & 1 ? 0.99 - lean_x : lean_x),
                                     (c & 2 ? 0.5 - lean_y : lean_y), height * (course + (c & 4 ? 1 : 0)));
            }
            const auto shape = make_polyhedron(corners);
            BodyPlan<3> plan;
            plan.shape = scene.add_shape(shape.shape);
            plan.pose = shape.pose;
            scene.add_body(plan);
        }
    }
    return scene;
}

TEST(Wall, HundredStonesStandForTenSecondsWithoutCreep) {
    Scene<3> scene = wall_of_stones();
    const auto start = scene.bodies.position;
    const auto turned = scene.bodies.rotation;
    StepMemory<3> memory;
    const RunSummary run = simulate<3>(scene, {options(1e-2), 10}, memory);
    EXPECT_EQ(run.steps, 1000);
    EXPECT_EQ(run.unsolved, 0);
    double creep = 0, turning = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        creep = std::max(creep, (scene.bodies.position[i] - start[i]).norm());
        turning = std::max(turning, (matrix(scene.bodies.rotation[i]) - matrix(turned[i])).norm());
    }
    printf("creep %.2g m, turning %.2g, overlap %.2g, contacts %d, sweeps per step %.1f, %.1f s\n", creep,
           turning, run.worst_overlap, static_cast<int>(memory.contacts.size()),
           static_cast<double>(run.iterations) / static_cast<double>(run.steps), run.seconds.total());
    EXPECT_LT(creep, 1e-6 * 0.4);
    EXPECT_LT(turning, 1e-6);
}

}  // namespace
}  // namespace drystone::testing_masonry
