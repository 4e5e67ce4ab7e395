// Room for another ball: among balls, beside walls, in and around what is large.
#include "drystone/grains/free_space.hpp"

#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

const Bounds<3> everywhere{Vec<3>::Constant(-10), Vec<3>::Constant(10)};

Scene<3> scene_with(const Shape<3>& shape, const Vec<3>& position) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    BodyPlan<3> body;
    body.shape = scene.add_shape(shape);
    body.pose.position = position;
    body.motion = Motion::held;
    scene.add_body(body);
    return scene;
}

TEST(FreeSpace, BallsDoNotOverlap) {
    const Scene<3> scene = scene_with(Ball<3>{1}, {0, 0, 0});
    FreeSpace<3> space(scene, everywhere, 0.5);
    EXPECT_FALSE(space.is_free({1.49, 0, 0}, 0.5));
    EXPECT_TRUE(space.is_free({1.51, 0, 0}, 0.5));
    space.add({1.51, 0, 0}, 0.5);
    EXPECT_FALSE(space.is_free({1.51, 0.9, 0}, 0.5));
    EXPECT_TRUE(space.is_free({1.51, 1.1, 0}, 0.5));
}

TEST(FreeSpace, AWallHasOneSide) {
    const Scene<3> scene = scene_with(HalfSpace<3>{}, {0, 0, 0});
    FreeSpace<3> space(scene, everywhere, 0.5);
    const Vec<3> up = Vec<3>::UnitZ();
    EXPECT_TRUE(space.is_free(0.51 * up, 0.5));
    EXPECT_FALSE(space.is_free(0.49 * up, 0.5));
    EXPECT_FALSE(space.is_free(-5 * up, 0.5));
    EXPECT_LT((space.pushed_out(0.2 * up, 0.5) - 0.5 * up).norm(), 1e-9);
}

TEST(FreeSpace, AcrossAPeriodBodiesAreNear) {
    Scene<3> scene = scene_with(Ball<3>{1}, {-4.9, 0, 0});
    scene.domain.lower = {-5, -5, -5};
    scene.domain.period = {10, 0, 0};
    FreeSpace<3> space(scene, everywhere, 0.5);
    EXPECT_FALSE(space.is_free({4, 0, 0}, 0.5));
    EXPECT_TRUE(space.is_free({3.5, 0, 0}, 0.5));
}

}  // namespace
}  // namespace drystone
