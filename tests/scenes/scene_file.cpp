// Scene files: what is in them becomes what is meant.

#include "drystone/scenes/scene_file.hpp"

#include "drystone/base/error.hpp"
#include "drystone/bodies/random.hpp"
#include "scenes/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace drystone::testing {
namespace {

TEST(SceneFile, DefaultsAreThoseOfTheLibrary) {
    const Scratch scratch;
    const auto plan = read<3>(scratch, "dimension = 3\n");
    EXPECT_EQ(plan.title, "scene");
    EXPECT_EQ(plan.world.scene.bodies.count(), 0);
    EXPECT_TRUE(plan.world.scene.gravity.isZero(0));
    EXPECT_EQ(plan.options.step.h, StepOptions{}.h);
    EXPECT_EQ(plan.options.step.scheme, Scheme::look_ahead);
    EXPECT_EQ(plan.options.step.solve.goal.tolerance, StepOptions{}.solve.goal.tolerance);
    EXPECT_EQ(plan.solver, "auto");
    ASSERT_EQ(plan.world.scene.materials.count(), 1);
    EXPECT_EQ(plan.world.scene.materials[0].name, "default");
}

TEST(SceneFile, OptionsArriveWhereTheyBelong) {
    const Scratch scratch;
    const auto plan = read<2>(scratch, R"(
        title = "all options"
        dimension = 2
        gravity = [1, -2]
        [time]
        step = 2e-4
        end = 3
        displacement = 0.25
        [scheme]
        name = "moreau-jean"
        theta = 0.75
        drift = "clamp"
        reach = 0.5
        skin = 0.3
        [solver]
        name = "interior-point"
        law = "associated"
        tolerance = 1e-9
        max_seconds = 4
        max_sweeps = 12
        [domain]
        lower = [-1, 0]
        period = [2, 0]
        [output]
        frames_every = 0.1
        measurements_every = 0.02
    )");
    const StepOptions& step = plan.options.step;
    EXPECT_EQ(plan.title, "all options");
    EXPECT_EQ(plan.world.scene.gravity, Vec<2>(1, -2));
    EXPECT_EQ(step.h, 2e-4);
    EXPECT_EQ(plan.options.end, 3);
    EXPECT_EQ(step.displacement, 0.25);
    EXPECT_EQ(step.scheme, Scheme::moreau_jean);
    EXPECT_EQ(step.theta_or_default(), 0.75);
    EXPECT_EQ(step.drift, Drift::clamp);
    EXPECT_EQ(step.reach, 0.5);
    EXPECT_EQ(step.skin, 0.3);
    EXPECT_TRUE(std::holds_alternative<InteriorPointOptions>(step.solve.solver));
    EXPECT_EQ(std::get<InteriorPointOptions>(step.solve.solver).max_iterations, 12);
    EXPECT_EQ(step.solve.law, Law::associated);
    EXPECT_EQ(step.solve.goal.tolerance, 1e-9);
    EXPECT_EQ(step.solve.goal.time_limit, 4);
    EXPECT_EQ(plan.world.scene.domain.lower, Vec<2>(-1, 0));
    EXPECT_EQ(plan.world.scene.domain.period, Vec<2>(2, 0));
    EXPECT_EQ(plan.output.frames_every, 0.1);
    EXPECT_EQ(plan.output.measurements_every, 0.02);
}

TEST(SceneFile, StagesOfAutoCanBeNamed) {
    const Scratch scratch;
    const auto plan =
        read<3>(scratch, "dimension = 3\n[solver]\nstages = [\"momentum\", \"frozen-shift\"]\n");
    const auto& brief = std::get<BriefOptions>(plan.options.step.solve.solver);
    ASSERT_EQ(brief.stages.count, 2);
    EXPECT_EQ(brief.stages.stage[0], BriefStage::momentum);
    EXPECT_EQ(brief.stages.stage[1], BriefStage::frozen_shift);
    EXPECT_TRUE(brief.guarded());
    const auto strict = read<3>(scratch, "dimension = 3\n[solver]\nlaw = \"coulomb-strict\"\n");
    EXPECT_FALSE(std::get<BriefOptions>(strict.options.step.solve.solver).guarded());
}

TEST(SceneFile, LawOfAMixedPairIsTheSmallerUnlessGiven) {
    const Scratch scratch;
    const auto plan = read<3>(scratch, R"(
        dimension = 3
        [scheme]
        name = "moreau-jean"
        [[material]]
        name = "a"
        friction = 0.7
        restitution = 0.2
        cohesion = 3
        [[material]]
        name = "b"
        friction = 0.4
        restitution = 0.9
        cohesion = 5
        [[material]]
        name = "c"
        density = 100
        [[pair]]
        materials = ["c", "a"]
        friction = 0.05
    )");
    const Materials& m = plan.world.scene.materials;
    EXPECT_EQ(m.law(0, 0).friction, 0.7);
    EXPECT_EQ(m.law(1, 1).restitution, 0.9);
    for (const auto& [x, y] : {std::pair{0, 1}, std::pair{1, 0}}) {
        EXPECT_EQ(m.law(x, y).friction, 0.4);
        EXPECT_EQ(m.law(x, y).restitution, 0.2);
        EXPECT_EQ(m.law(x, y).cohesion, 3);
    }
    EXPECT_EQ(m.law(0, 2).friction, 0.05);
    EXPECT_EQ(m.law(0, 2).cohesion, 0);  // what the pair does not say is still the smaller
    EXPECT_EQ(m.law(1, 2).friction, 0.4);
    EXPECT_EQ(m[2].density, 100);
}

TEST(SceneFile, EveryShapeOfSpaceHasItsVolume) {
    const Scratch scratch;
    std::ofstream(scratch.file("tetrahedron.obj"))
        << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    const auto plan = read<3>(scratch, R"(
        dimension = 3
        [[material]]
        name = "unit"
        density = 1
        [[body]]
        shape = { type = "sphere", radius = 0.5 }
        position = [0, 0, 0]
        [[body]]
        shape = { type = "capsule", radius = 0.5, length = 2 }
        position = [10, 0, 0]
        [[body]]
        shape = { type = "box", sides = [1, 2, 3] }
        position = [20, 0, 0]
        [[body]]
        shape = { type = "ellipsoid", semi = [1, 2, 3] }
        position = [30, 0, 0]
        [[body]]
        shape = { type = "superellipsoid", semi = [1, 2, 3], exponents = [1, 1] }
        position = [40, 0, 0]
        [[body]]
        shape = { type = "polyhedron", file = "tetrahedron.obj", scale = 2 }
        position = [50, 0, 0]
        [[body]]
        shape = { type = "mesh", file = "tetrahedron.obj" }
        position = [60, 0, 0]
        held = true
        [[body]]
        shape = { type = "sphere", radius = 2 }
        position = [70, 0, 0]
    )");
    const double ball = 4 * std::numbers::pi / 3;
    const auto& mass = plan.world.scene.bodies.mass;
    ASSERT_EQ(mass.size(), 8U);
    EXPECT_NEAR(mass[0], ball / 8, 1e-14);
    EXPECT_NEAR(mass[1], ball / 8 + std::numbers::pi / 4 * 2, 1e-13);
    EXPECT_NEAR(mass[2], 6, 1e-13);
    EXPECT_NEAR(mass[3], 6 * ball, 1e-12);
    EXPECT_NEAR(mass[4], 6 * ball, 1e-9);  // by quadrature or by beta functions
    EXPECT_NEAR(mass[5], 8.0 / 6, 1e-13);
    EXPECT_EQ(mass[6], 0);
    EXPECT_EQ(plan.world.scene.bodies.shape[0], plan.world.scene.bodies.shape[7])
        << "balls of any radius share a shape";
}

/// The points of a polyhedron are where the user put them, whatever its centre and principal axes are.
TEST(SceneFile, PolyhedraStandWhereTheirPointsSay) {
    const Scratch scratch;
    const auto plan = read<3>(scratch, R"(
        dimension = 3
        [[shape]]
        name = "wedge"
        type = "polyhedron"
        points = [[0, 0, 0], [2, 0, 0], [0, 1, 0], [0.3, 0.2, 1.5], [1, 1, 0.5]]
        [[body]]
        shape = "wedge"
        position = [5, -1, 2]
        rotation = { axis = [0, 0, 2], angle = 90 }
        size = 3
    )");
    const auto& scene = plan.world.scene;
    const auto& shape = std::get<Polyhedron>(scene.shapes[0]);
    for (const Vec<3>& typed : {Vec<3>(0, 0, 0), Vec<3>(2, 0, 0), Vec<3>(0.3, 0.2, 1.5), Vec<3>(1, 1, 0.5)}) {
        const Vec<3> expected = Vec<3>(5, -1, 2) + 3 * Vec<3>(-typed[1], typed[0], typed[2]);
        double nearest = 1e9;
        for (const Vec<3>& x : shape.vertices) {
            const Vec<3> world =
                scene.bodies.position[0] + matrix(scene.bodies.rotation[0]) * (scene.bodies.size[0] * x);
            nearest = std::min(nearest, (world - expected).norm());
        }
        EXPECT_LT(nearest, 1e-12) << typed.transpose();
    }
}

TEST(SceneFile, PolygonsLikewise) {
    const Scratch scratch;
    const auto plan = read<2>(scratch, R"(
        dimension = 2
        [[body]]
        shape = { type = "polygon", points = [[0, 0], [3, 0], [0, 1]] }
        position = [1, 2]
        angle = -90
        spin = 4
        velocity = [1, 0]
        mass = 7
        name = "sail"
    )");
    const Bodies<2>& bodies = plan.world.scene.bodies;
    // The centre of a triangle is the mean of its corners; (1, 1/3) turned by -90 degrees is (1/3, -1).
    EXPECT_NEAR((bodies.position[0] - Vec<2>(1 + 1.0 / 3, 1)).norm(), 0, 1e-14);
    EXPECT_EQ(bodies.mass[0], 7);
    EXPECT_EQ(bodies.spin[0][0], 4);
    EXPECT_EQ(bodies.velocity[0], Vec<2>(1, 0));
    EXPECT_EQ(name_of_body(plan, 0), "sail");
}

TEST(SceneFile, WallsFaceTheFreeSide) {
    const Scratch scratch;
    const auto plan = read<3>(scratch, R"(
        dimension = 3
        [box]
        lower = [-1, -2, -3]
        upper = [1, 2, 3]
        sides = ["left", "right", "front", "back", "floor", "top"]
        [[wall]]
        point = [0, 0, 9]
        normal = [0, 3, -4]
        velocity = [0, 0, -1]
        name = "lid"
    )");
    const Scene<3>& scene = plan.world.scene;
    ASSERT_EQ(scene.bodies.count(), 7);
    for (Index i = 0; i < 6; ++i) {
        const Vec<3> normal = matrix(scene.bodies.rotation[i]).col(2);
        EXPECT_LT((normal - (i % 2 == 0 ? 1.0 : -1.0) * Vec<3>::Unit(i / 2)).norm(), 1e-15);
        EXPECT_LT(normal.dot(scene.bodies.position[i]), 0) << "the middle of the box is free";
        EXPECT_FALSE(scene.bodies.is_free(i));
    }
    EXPECT_EQ(name_of_body(plan, 4), "floor");
    EXPECT_LT((matrix(scene.bodies.rotation[6]).col(2) - Vec<3>(0, 0.6, -0.8)).norm(), 1e-15);
    EXPECT_EQ(scene.bodies.velocity[6], Vec<3>(0, 0, -1));
    EXPECT_EQ(name_of_body(plan, 6), "lid");
}

TEST(SceneFile, ABoxHasNoWallsAcrossPeriods) {
    const Scratch scratch;
    const auto plan = read<3>(scratch, R"(
        dimension = 3
        [domain]
        period = [1, 0, 0]
        [box]
        lower = [0, 0, 0]
        upper = [1, 1, 1]
    )");
    ASSERT_EQ(plan.world.scene.bodies.count(), 3);
    EXPECT_EQ(name_of_body(plan, 0), "front");
    EXPECT_EQ(name_of_body(plan, 1), "back");
    EXPECT_EQ(name_of_body(plan, 2), "floor");
}

const char* const lattice = R"(
    dimension = 2
    seed = 3
    [[lattice]]
    shape = { type = "disk", radius = 0.1 }
    count = [4, 3]
    origin = [1, 2]
    spacing = [0.5, 0.25]
    rows_shifted = 0.2
    size = [0.5, 1]
    shift = 0.01
    velocity = 3
)";

TEST(SceneFile, LatticesKeepWithinWhatTheyWereTold) {
    const Scratch scratch;
    const auto plan = read<2>(scratch, lattice);
    const Bodies<2>& bodies = plan.world.scene.bodies;
    ASSERT_EQ(bodies.count(), 12);
    double farthest = 0;
    for (Index i = 0; i < 12; ++i) {
        const int column = i % 4, row = i / 4;
        const Vec<2> place(1 + 0.5 * column + 0.2 * (row % 2), 2 + 0.25 * row);
        farthest = std::max(farthest, (bodies.position[i] - place).cwiseAbs().maxCoeff());
        EXPECT_GE(bodies.size[i], 0.05);
        EXPECT_LT(bodies.size[i], 0.1);
        EXPECT_NEAR(bodies.velocity[i].norm(), 3, 1e-14);
    }
    EXPECT_LE(farthest, 0.01);
    EXPECT_GT(farthest, 0.005) << "24 uniform numbers are all below a half with a chance of 6e-8";
    EXPECT_NE(bodies.size[0], bodies.size[1]);
}

TEST(SceneFile, RandomNumbersBelongToTheSeedAndTheBody) {
    const Scratch scratch;
    const auto once = read<2>(scratch, lattice), twice = read<2>(scratch, lattice);
    EXPECT_EQ(once.world.scene.bodies.size, twice.world.scene.bodies.size);
    EXPECT_EQ(once.world.scene.bodies.position[5], twice.world.scene.bodies.position[5]);
    std::string other = lattice;
    other.replace(other.find("count = [4, 3]"), 14, "count = [6, 1]");
    const auto fewer = read<2>(scratch, other);
    for (Index i = 0; i < 6; ++i)
        EXPECT_EQ(once.world.scene.bodies.size[i], fewer.world.scene.bodies.size[i]);
    other = lattice;
    other.replace(other.find("seed = 3"), 8, "seed = 4");
    EXPECT_NE(once.world.scene.bodies.size, read<2>(scratch, other).world.scene.bodies.size);
}

TEST(SceneFile, HexagonalNeighboursTouch) {
    const Scratch scratch;
    const auto plan = read<3>(scratch, R"(
        dimension = 3
        [[lattice]]
        shape = { type = "sphere", radius = 0.5 }
        count = [4, 4, 4]
        origin = [0, 0, 0]
        spacing = 1
        arrangement = "hexagonal"
    )");
    const auto& x = plan.world.scene.bodies.position;
    std::vector<int> touching(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < x.size(); ++j) {
            if (i == j) continue;
            const double distance = (x[i] - x[j]).norm();
            EXPECT_GT(distance, 1 - 1e-14);
            if (distance < 1 + 1e-12) ++touching[i];
        }
    }
    EXPECT_EQ(*std::max_element(touching.begin(), touching.end()), 12)
        << "close packing has 12 neighbours inside";
}

TEST(SceneFile, RandomPolyhedraDifferAndFitTheirRadius) {
    const Scratch scratch;
    const auto plan = read<3>(scratch, R"(
        dimension = 3
        [[shape]]
        name = "rock"
        type = "random-polyhedron"
        vertices = 16
        radius = 0.2
        roundness = 0.5
        count = 5
        [[lattice]]
        shape = "rock"
        count = [40, 1, 1]
        origin = [0, 0, 0]
        spacing = 1
        rotation = "random"
        [[body]]
        shape = "rock/3"
        position = [0, 0, 5]
    )");
    const Scene<3>& scene = plan.world.scene;
    ASSERT_EQ(scene.shapes.size(), 5U);
    std::vector<int> used(5);
    EXPECT_EQ(scene.bodies.shape[0], 3);  // bodies come before lattices
    for (Index i = 1; i <= 40; ++i) {
        ++used[static_cast<std::size_t>(scene.bodies.shape[i])];
        EXPECT_NEAR(scene.outer_radius(i), 0.2, 1e-12);
        EXPECT_NEAR(scene.bodies.rotation[i].q.norm(), 1, 1e-14);
    }
    EXPECT_GT(*std::min_element(used.begin(), used.end()), 0);
    const auto& first = std::get<Polyhedron>(scene.shapes[0]);
    const auto& second = std::get<Polyhedron>(scene.shapes[1]);
    EXPECT_NE(first.vertices[0], second.vertices[0]);
    EXPECT_LE(first.vertices.size(), 16U);
    EXPECT_GE(first.vertices.size(), 6U);
}

TEST(Random, IsPhilox) {
    // Known answer of Philox 4x64 in 10 rounds for a zero key and a zero counter (the authors' kat_vectors).
    EXPECT_EQ(Random(0)(0, 0), static_cast<double>(0x16554d9eca36314cULL >> 11U) * 0x1p-53);
}

TEST(Random, IsUniformAndUncorrelated) {
    const Random random(5);
    constexpr int n = 100'000;
    double sum = 0, squares = 0, along = 0, across = 0;
    for (int i = 0; i < n; ++i) {
        const auto id = static_cast<std::uint64_t>(i);
        const double x = random(id, 0) - 0.5;
        ASSERT_TRUE(x >= -0.5 && x < 0.5);
        sum += x;
        squares += x * x;
        along += x * (random(id + 1, 0) - 0.5);
        across += x * (random(id, 1) - 0.5);
    }
    // Five standard deviations of each mean.
    EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(1.0 / 12 / n));
    EXPECT_NEAR(squares / n, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / n));
    EXPECT_NEAR(along / n, 0, 5.0 / 12 / std::sqrt(n));
    EXPECT_NEAR(across / n, 0, 5.0 / 12 / std::sqrt(n));
}

}  // namespace
}  // namespace drystone::testing
