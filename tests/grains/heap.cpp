// The form of heaps whose form is known.
#include "drystone/grains/heap.hpp"

#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

constexpr double r = 0.01;

void add_disk(Scene<2>& scene, double x, double y) {
    BodyPlan<2> disk;
    disk.shape = 0;
    disk.pose.position = {x, y};
    scene.add_body(disk);
}

/// Disks on a square lattice under two straight flanks, which fall by one row in so many columns.
Scene<2> triangle(int rows, int columns_per_row) {
    Scene<2> scene = sample::empty_scene<2>(0.5);
    scene.gravity = {0, -sample::g};
    scene.add_shape(Ball<2>{r});
    for (int j = 0; j < rows; ++j) {
        const int half = (rows - 1 - j) * columns_per_row;
        for (int i = -half; i <= half; ++i) add_disk(scene, 2 * r * i, r + 2 * r * j);
    }
    return scene;
}

TEST(Heap, OfTwoFlanksHasTheirSlope) {
    for (const int run : {1, 2}) {
        const Scene<2> scene = triangle(40, run);
        const HeapProfile<2> profile = heap_profile(scene, 2 * r);
        EXPECT_NEAR(profile.base, 0, 1e-12);
        EXPECT_NEAR(profile.height, 80 * r, 1e-12);
        EXPECT_NEAR(profile.centre[0], 0, 1e-12);
        const Repose repose = angle_of_repose(profile);
        const double expected = std::atan(1.0 / run) / sample::degree;
        EXPECT_NEAR(repose.left, expected, 1) << run;
        EXPECT_NEAR(repose.right, expected, 1) << run;
        EXPECT_NEAR(repose.mean, 0.5 * (repose.left + repose.right), 1e-12);
    }
}

TEST(Heap, RunsOutAsFarAsItIsConnected) {
    Scene<2> scene = triangle(10, 1);
    add_disk(scene, 1.0, r);  // that rolled away
    StepMemory<2> memory;     // finds who touches whom
    step(scene, sample::options(1e-6, 1e-3), memory);
    const RunOut<2> out = run_out(scene, memory);
    EXPECT_EQ(out.connected_grains, 100);
    EXPECT_NEAR(out.connected_left, -19 * r, 1e-9);
    EXPECT_NEAR(out.connected_right, 19 * r, 1e-9);
    EXPECT_NEAR(out.right, 1 + r, 1e-9);
    EXPECT_NEAR(out.left, -19 * r, 1e-9);
}

TEST(Heap, WithoutGrainsItHasNoForm) {
    const Scene<2> scene = sample::empty_scene<2>(0.5);
    const HeapProfile<2> profile = heap_profile(scene);
    EXPECT_TRUE(profile.cells.empty());
    EXPECT_TRUE(std::isnan(angle_of_repose(profile).mean));
    EXPECT_EQ(run_out(scene, StepMemory<2>{}).connected_grains, 0);
}

}  // namespace
}  // namespace drystone::testing
