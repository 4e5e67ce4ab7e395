// What moves in scene files without being free: motion, belt, guide, cell, gravity that turns.

#include "scenes/text.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace drystone::testing {
namespace {

TEST(SceneMotion, DrivesAreRead) {
    const auto plan = read<3>(R"(
        dimension = 3
        gravity = { value = [0, 0, -9.81], axis = [0, 2, 0], rate = 90, begin = 1, limit = 45 }
        [[wall]]
        point = [0, 0, 0]
        normal = [0, 0, 1]
        belt = [0.5, 0, 0]
        [[wall]]
        point = [0, 0, 1]
        normal = [0, 0, -1]
        guide = { axis = [0, 0, -2], pressure = 100, area = 0.5, mass = 3, damping = 1 }
        [[body]]
        shape = { type = "box", sides = [1, 1, 1] }
        position = [0, 0, -2]
        held = true
        motion = { swing = [0, 0, 0.2], frequency = 5, phase = 180, pivot = [1, 0, 0], spin = [0, 1, 0], times = [0, 1], factors = [0, 1] }
    )");
    const Scene<3>& scene = plan.world.scene;
    ASSERT_TRUE(scene.gravity_turn.has_value());
    EXPECT_NEAR(scene.gravity_turn->rate, std::numbers::pi / 2, 1e-15);
    EXPECT_NEAR(scene.gravity_turn->limit, std::numbers::pi / 4, 1e-15);
    EXPECT_EQ(scene.gravity_turn->axis, Vec<3>(0, 1, 0));
    ASSERT_EQ(scene.drives.size(), 3U);
    EXPECT_EQ(scene.drives[0].belt, Vec<3>(0.5, 0, 0));
    EXPECT_EQ(scene.bodies.motion[0], Motion::held);
    EXPECT_EQ(scene.drives[1].body, 1);
    EXPECT_EQ(scene.bodies.motion[1], Motion::guided);
    EXPECT_EQ(scene.drives[1].guide->force, 50);
    EXPECT_EQ(scene.drives[1].guide->axis, Vec<3>(0, 0, -1));
    EXPECT_EQ(scene.drives[2].swing, Vec<3>(0, 0, 0.2));
    EXPECT_NEAR(scene.drives[2].phase, std::numbers::pi, 1e-15);
    EXPECT_EQ(*scene.drives[2].pivot, Vec<3>(1, 0, 0));
}

TEST(SceneMotion, CellsAreRead) {
    const auto plan = read<2>(R"(
        dimension = 2
        [domain]
        period = [1, 2]
        [cell]
        rate = [0.1, 0]
        shear_rate = 3
        stress = ["rate", 7]
        mass = 2
    )");
    EXPECT_EQ(plan.world.scene.domain.rate, Vec<2>(0.1, 0));
    EXPECT_EQ(plan.world.scene.domain.shear_rate, 3);
    EXPECT_FALSE(plan.world.scene.cell.stress[0]);
    EXPECT_EQ(plan.world.scene.cell.stress[1], 7);
    EXPECT_EQ(plan.world.scene.cell.mass, 2);
}

TEST(SceneMotion, FaultsAreTold) {
    const std::string body =
        "dimension = 2\n[[body]]\nshape = { type = \"disk\", radius = 1 }\nposition = [0, 0]\n";
    EXPECT_TRUE(has(faults(body + "motion = { velocity = [1, 0] }"), "add held = true"));
    EXPECT_TRUE(has(faults(body + "held = true\nvelocity = [1, 0]\nmotion = { spin = 1 }"),
                    "stands beside 'motion'"));
    EXPECT_TRUE(has(faults(body + "held = true\nmotion = { times = [0, 1], factors = [1] }"),
                    "1 factors for 2 times"));
    EXPECT_TRUE(
        has(faults(body + "held = true\nmotion = { times = [1, 0], factors = [1, 1] }"), "do not rise"));
    EXPECT_TRUE(has(faults(body + "held = true\nmotion = { frequncy = 1 }"), "did you mean 'frequency'?"));
    EXPECT_TRUE(
        has(faults(body + "held = true\nguide = { axis = [0, 0], force = 1, mass = 1 }"), "has no length"));
    EXPECT_TRUE(has(faults(body + "held = true\nguide = { axis = [0, 1], mass = 1 }"), "give either force"));
    EXPECT_TRUE(has(faults(body + "held = true\nmotion = { swing = [1, 0] }"), "give frequency = Hz"));
    EXPECT_TRUE(has(faults("dimension = 2\n[cell]\nshear_rate = 1"), "give [domain] a period"));
    const std::string cell = "dimension = 2\n[domain]\nperiod = [1, 1]\n[cell]\n";
    EXPECT_TRUE(has(faults(cell + "stress = [1, \"free\"]"), "each a stress in Pa or \"rate\""));
    EXPECT_TRUE(has(faults(cell + "stress = [1, 1]\nrate = [1, 0]"), "direction 0 follows a stress"));
    EXPECT_TRUE(has(faults(cell + "shear_rate = 1\nshear_stress = 1"), "stands beside 'shear_rate'"));
    EXPECT_TRUE(has(faults("dimension = 3\ngravity = { value = [0, 0, -1], rate = 3 }"),
                    "about which gravity turns"));
}

}  // namespace
}  // namespace drystone::testing
