// Random grains in scene files: fills, sources, sinks, laws of sizes, mixtures, stop rules.

#include "scenes/text.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace drystone::testing {
namespace {

const char* const filled = R"(
    dimension = 3
    seed = 3
    [[material]]
    name = "stone"
    [[material]]
    name = "wood"
    density = 700
    [[shape]]
    name = "cube"
    type = "box"
    sides = [0.02, 0.02, 0.02]
    [[body]]
    shape = "cube"
    material = "stone"
    position = [5, 5, 5]
    [[fill]]
    region = { type = "box", lower = [0, 0, 0], upper = [0.3, 0.3, 0.3] }
    fraction = 0.1
    velocity = [0, 0, -1]
    mix = [{ shape = "cube", material = "wood", weight = 3 },
           { shape = { type = "sphere", radius = 0.01 }, material = "stone", size = [0.8, 1.2] }]
)";

TEST(SceneGrains, FillsHaveTheirFractionAndMixture) {
    const Scratch scratch;
    const auto plan = read<3>(scratch, filled);
    const Bodies<3>& bodies = plan.world.scene.bodies;
    double volume = 0;
    int cubes = 0, spheres = 0;
    for (Index i = 1; i < bodies.count(); ++i) {
        const bool cube = bodies.shape[i] == 0;
        ++(cube ? cubes : spheres);
        EXPECT_EQ(bodies.material[i], cube ? 1 : 0);
        volume += bodies.mass[i] / (cube ? 700 : 2500);
        EXPECT_EQ(bodies.velocity[i], Vec<3>(0, 0, -1));
        if (cube) {
            EXPECT_EQ(bodies.size[i], 1);
        } else {
            EXPECT_GE(bodies.size[i], 0.008);
            EXPECT_LE(bodies.size[i], 0.012);
        }
    }
    EXPECT_NEAR(volume, 0.1 * 0.027, 4e-6) << "to half a grain";
    // About 370 grains: binomial deviation 8.
    EXPECT_NEAR(static_cast<double>(cubes) / (cubes + spheres), 0.75, 4 * 8.0 / (cubes + spheres));
    EXPECT_NE(bodies.rotation[1].q.w(), 1) << "turned at random by default";
    EXPECT_EQ(name_of_body(plan, 1).substr(0, 7), "body 1 ");
}

TEST(SceneGrains, AResumedRunPlacesNothing) {
    const Scratch scratch;
    const auto plan = read<3>(scratch, filled, false);
    EXPECT_EQ(plan.world.scene.bodies.count(), 1);
    EXPECT_EQ(plan.world.scene.shapes.size(), 2U) << "the shapes are there";
}

TEST(SceneGrains, SizesKeepTheirNumbersWhateverIsAddedBehind) {
    const Scratch scratch;
    const auto once = read<3>(scratch, filled);
    const auto more = read<3>(scratch, std::string(filled) + R"(
        [[fill]]
        region = { type = "cylinder", centre = [1, 1, 0], radius = 0.1, length = 0.2 }
        count = 7
        shape = "cube"
        material = "wood"
    )");
    const Index n = once.world.scene.bodies.count();
    ASSERT_EQ(more.world.scene.bodies.count(), n + 7);
    for (Index i = 0; i < n; ++i)
        EXPECT_EQ(once.world.scene.bodies.position[i], more.world.scene.bodies.position[i]);
}

TEST(SceneGrains, LawsOfSizes) {
    const Scratch scratch;
    std::ofstream(scratch.file("grading.csv")) << "size, share\n# sieves\n0.5, 0\n1; 40\n2\t100\n";
    const std::string text = R"(
        dimension = 2
        [[lattice]]
        shape = { type = "disk", radius = 1 }
        count = [1000, 1]
        origin = [0, 0]
        spacing = 10
        size = )";
    auto mean = [&](const std::string& law) {
        double sum = 0;
        for (const double size : read<2>(scratch, text + law).world.scene.bodies.size) sum += size / 1000;
        return sum;
    };
    // Four deviations of a mean of 1000.
    EXPECT_NEAR(mean(R"({ law = "normal", mean = 2, deviation = 0.2, min = 1, max = 3 })"), 2, 0.026);
    EXPECT_NEAR(mean(R"({ law = "log-normal", median = 2, spread = 1.1, min = 1, max = 4 })"), 2 * 1.00455,
                0.026);
    EXPECT_NEAR(mean(R"({ law = "table", size = [1, 2, 3], share = [0, 0.5, 1] })"), 2, 0.075);
    // By number: 0.4 of mean 0.75 and 0.6 of mean 1.5.
    EXPECT_NEAR(mean(R"({ law = "table", file = "grading.csv" })"), 1.2, 0.06);
    // By mass in the plane, class by class: grains 0.4 / (0.5 * 1) and 0.6 / (1 * 2), means 2 a b / (a + b) of 1 / s^2
    // weights.
    const double small = 0.8, large = 0.3, mean_small = std::log(2.0) / (1 / 0.5 - 1),
                 mean_large = std::log(2.0) / 0.5;
    EXPECT_NEAR(mean(R"({ law = "table", file = "grading.csv", by = "mass" })"),
                (small * mean_small + large * mean_large) / (small + large), 0.05);
}

TEST(SceneGrains, SourcesSinksAndStops) {
    const Scratch scratch;
    const auto plan = read<2>(scratch, R"(
        dimension = 2
        seed = 9
        [[source]]
        name = "hopper"
        region = { type = "disk", centre = [0, 3], radius = 0.5 }
        shape = { type = "disk", radius = 0.05 }
        mass_rate = 12
        begin = 0.5
        end = 2
        most = 100
        [[sink]]
        name = "below"
        region = { type = "box", lower = [-inf, "-inf"], upper = [inf, -1] }
        [stop]
        kinetic_below = 1e-3
        calm = 0.2
        steady_window = 1
        earliest = 0.4
    )");
    EXPECT_EQ(plan.feeds.seed, 9U);
    ASSERT_EQ(plan.feeds.sources.size(), 1U);
    const Source<2>& source = plan.feeds.sources[0];
    EXPECT_EQ(source.name, "hopper");
    EXPECT_TRUE(source.by_mass);
    EXPECT_EQ(source.rate, 12);
    EXPECT_EQ(source.begin, 0.5);
    EXPECT_EQ(source.end, 2);
    EXPECT_EQ(source.most, 100);
    EXPECT_TRUE(contains<2>(source.region, {0, 3.4}, 0));
    EXPECT_FALSE(contains<2>(source.region, {0, 3.6}, 0));
    ASSERT_EQ(plan.feeds.sinks.size(), 1U);
    EXPECT_TRUE(contains<2>(plan.feeds.sinks[0].region, {-1e6, -1e6}, 0));
    EXPECT_FALSE(contains<2>(plan.feeds.sinks[0].region, {0, -0.9}, 0));
    EXPECT_EQ(plan.options.stop.kinetic_below, 1e-3);
    EXPECT_EQ(plan.options.stop.calm, 0.2);
    EXPECT_EQ(plan.options.stop.window, 1);
    EXPECT_EQ(plan.options.stop.earliest, 0.4);
}

TEST(SceneGrains, MeshRegionsAreReadAndChecked) {
    const Scratch scratch;
    const char* const corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n";
    std::ofstream(scratch.file("closed.obj")) << corners << "f 1 4 3\n";
    std::ofstream(scratch.file("open.obj")) << corners;
    const std::string text = R"(
        dimension = 3
        [[fill]]
        shape = { type = "sphere", radius = 0.01 }
        count = 200
        region = { type = "mesh", scale = 0.5, position = [1, 2, 3], file = )";
    const auto plan = read<3>(scratch, text + "\"closed.obj\" }");
    EXPECT_EQ(plan.world.scene.bodies.count(), 200);
    for (const Vec<3>& x : plan.world.scene.bodies.position) {
        const Vec<3> own = x - Vec<3>(1, 2, 3);
        EXPECT_GE(own.minCoeff(), 0.01 - 1e-12);
        EXPECT_LE(own.sum(), 0.5 - 0.01 * std::sqrt(3.0) + 1e-12);
    }
    const std::string message = faults(scratch, text + "\"open.obj\" }");
    EXPECT_TRUE(has(message, "scene.toml:6: fill[0].region.file: ")) << message;
    EXPECT_TRUE(has(message, "give a closed surface")) << message;
}

TEST(SceneGrains, AllFaultsAtOnce) {
    const Scratch scratch;
    const std::string message = faults(scratch, R"(dimension = 3
        [[fill]]
        region = { type = "box", lower = [0, 0, 0], upper = [1, 1, 1] }
        fraction = 0.3
        count = 4
        shape = { type = "sphere", radius = 0.1 }
        [[fill]]
        region = { type = "box", lower = [0, 0, 0], upper = [inf, 1, 1] }
        count = 4
        shape = { type = "sphere", radius = 0.1 }
        [[fill]]
        region = { type = "cylinder", centre = [0, 0, 0], radius = 1, length = 0.1 }
        count = 4
        shape = { type = "sphere", radius = 0.1 }
        [[fill]]
        region = { type = "box", lower = [0, 0, 0], upper = [1, 1, 1] }
        fraction = 0.8
        shape = { type = "sphere", radius = 0.1 }
        [[fill]]
        region = { type = "disk", lower = [0, 0, 0], upper = [1, 1, 1] }
        count = 1
        mix = [{ shape = { type = "sphere", radius = 0.1 }, size = { law = "normal", mean = 1, deviation = 0.1, min = 2, max = 1 } }]
        size = 3
        [[source]]
        region = { type = "box", lower = [0, 0, 0], upper = [1, 1, 1] }
        shape = { type = "sphere", radius = 0.1 }
        begin = 2
        end = 1
        [[sink]]
        region = { type = "box", lower = [0, 0, "inff"], upper = [1, 1, 1] }
        [stop]
        calm = 3
    )");
    for (const char* part : {
             ":4: fill[0].fraction: stands beside 'count'",
             ":8: fill[1].region: has no end",
             ":12: fill[2].region: has no room for a grain of radius 0.1 m: a ball in it has at most 0.05 m",
             "fill[3]: fraction: a packing fraction of 0.8 was wanted and",
             ":20: fill[4].region.type: ",
             ":22: fill[4].mix[0].size: ",
             ":23: fill[4].size: stands beside 'mix'",
             "source[0].rate: is missing; give either rate",
             ":28: source[0].end: 1 s is before 'begin'",
             ":30: sink[0].region.lower: is no corner",
             "stop.kinetic_below: is missing, and so is 'steady_window'",
         })
        EXPECT_TRUE(has(message, part)) << part << "\nnot in\n" << message;
}

}  // namespace
}  // namespace drystone::testing
