// Sand in a world: at rest, in free flight, with bodies in it.
#include "drystone/continuum/fill.hpp"
#include "drystone/continuum/rows.hpp"
#include "drystone/continuum/sites.hpp"
#include "drystone/run/simulate.hpp"
#include "grains/sample_scenes.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

constexpr double g = 9.81;

/// A box that is open at the top, from 0 to `width` across.
template <int d>
World<d> box(double width, double cell, double friction = 0.5) {
    World<d> world;
    Scene<d>& scene = world.scene;
    scene.gravity[d - 1] = -g;
    PairLaw law;
    law.friction = friction;
    scene.materials.add({"sand", 2500}, law);
    sample::add_box(scene, width);
    world.sand.cell.setConstant(cell);
    world.sand.options.particles = 2;  // enough for these, and quicker
    world.sand.material.density = 2500;
    world.sand.material.friction = friction;
    return world;
}

template <int d>
void fill_up_to(World<d>& world, const Vec<d>& lower, const Vec<d>& upper) {
    SandFill<d> plan;
    plan.region = BoxRegion<d>{lower, upper};
    fill(plan, world.sand);
}

/// A ball of a radius above the middle of what fills the corner up to `upper`, its centre at `height`.
template <int d>
void add_ball(World<d>& world, const Vec<d>& upper, double radius, double height) {
    BodyPlan<d> ball;
    ball.shape = world.scene.add_shape(Ball<d>{radius});
    ball.pose.position = 0.5 * upper;
    ball.pose.position[d - 1] = height;
    world.scene.add_body(ball);
}

StepOptions options_of(double h, double tolerance) {
    StepOptions options;
    options.h = h;
    options.solve.goal.tolerance = tolerance;
    return options;
}

template <int d>
double fastest(const Sand<d>& sand) {
    double v = 0;
    for (const Vec<d>& x : sand.particles.velocity) v = std::max(v, x.norm());
    return v;
}

template <class T>
class SandInAWorld : public ::testing::Test {};
TYPED_TEST_SUITE(SandInAWorld, testing::PlaneAndSpace);

/// Without friction the stress of the grains is density times g times depth, in all directions. With friction it is not
/// unique, but what rests, rests.
TYPED_TEST(SandInAWorld, AtRestBearsItsWeight) {
    constexpr int d = TypeParam::value;
    constexpr double cell = 0.05, height = 0.5;
    for (int run = 0; run < 6; ++run) {
        const double friction = run < 3 ? 0.0 : 0.5;
        Vec<d> size = Vec<d>::Constant(4 * cell);
        World<d> world = box<d>(size[0], cell);
        const StressSpace space =
            std::array{StressSpace::nodes, StressSpace::cells, StressSpace::particles}[run % 3];
        world.sand.options.stress = space;
        world.sand.material.friction = friction;
        PairLaw smooth;
        smooth.friction = 0;
        world.scene.materials.set(0, 0, smooth);
        size[d - 1] = height;
        fill_up_to<d>(world, Vec<d>::Zero(), size);
        WorldMemory<d> memory;
        // Of particles there are more stresses than velocities, and sweeps are slow. Of cells each follows the noise of
        // its own density: without friction nothing else holds what is at rest, and a column begins to move after
        // some steps (docs/limits.md).
        const bool slow = space == StressSpace::particles;
        const bool restless = space == StressSpace::cells && friction == 0;
        const StepOptions options = options_of(2e-3, slow ? 1e-5 : 1e-7);
        for (int k = 0; k < (slow || restless ? 2 : 10); ++k) {
            const StepRecord record = step(world, options, memory);
            EXPECT_TRUE(is_met(record.solve.status));
        }
        EXPECT_LT(fastest(world.sand), slow ? 1e-4 : 1e-6);
        if (friction > 0) continue;
        const SandMemory<d>& m = memory.sand;
        const double most = 2500 * g * height;
        // Layer by layer: stresses of cells or particles side by side may share the weight in any way.
        const std::vector<double> pressure = pressures(world.sand, m.warm);
        std::array<ExactSum, 10> sum, count;
        for (Index i = 0; i < world.sand.particles.count(); ++i) {
            const auto layer =
                static_cast<std::size_t>(world.sand.particles.position[i][d - 1] / cell + 1e-9);
            sum.at(layer).add(pressure[i]);
            count.at(layer).add(1);
        }
        for (int layer = 1; layer < 9; ++layer)
            EXPECT_NEAR(sum[layer].value() / count[layer].value(), 2500 * g * (height - (layer + 0.5) * cell),
                        0.03 * most)
                << layer << ' ' << run;
        if (space != StressSpace::nodes) continue;
        for (const int level : {2, 4, 6, 8}) {
            StressKey<d> key{Lattice<d>::Constant(2), 0};
            key.at[d - 1] = level;
            const Index node = find(m.warm, key);
            ASSERT_GE(node, 0);
            const Mat<d> stress = 2 * half_matrix<d>(m.warm.stress[node].data());
            EXPECT_NEAR(stress(d - 1, d - 1), 2500 * g * (height - level * cell), 0.02 * most) << level;
        }
    }
}

/// Sand that has not moved yet, a little above a floor that lies between nodes.
TYPED_TEST(SandInAWorld, IsCaughtInItsFirstStep) {
    constexpr int d = TypeParam::value;
    constexpr double cell = 0.05, top = 0.98 * cell;
    Vec<d> size = Vec<d>::Constant(4 * cell);
    World<d> world = box<d>(size[0], cell);
    Vec<d> floor = Vec<d>::Zero();
    floor[d - 1] = top;
    sample::add_wall<d>(world.scene, floor, Vec<d>::Unit(d - 1));
    Vec<d> lower = Vec<d>::Zero();
    lower[d - 1] = cell;
    fill_up_to<d>(world, lower, size);
    WorldMemory<d> memory;
    EXPECT_TRUE(is_met(step(world, options_of(0.05, 1e-4), memory).solve.status));
    for (const Vec<d>& x : world.sand.particles.position) EXPECT_GT(x[d - 1], top);
}

/// The nodes below a particle that has slipped through the floor would be as light as its slip is small: 100,000 sweeps
/// in vain in the plane.
TYPED_TEST(SandInAWorld, IsSolvedAsQuicklyWhereSomeHasSlippedThroughTheFloor) {
    constexpr int d = TypeParam::value;
    constexpr double cell = 0.05;
    const auto sweeps = [](double height) {
        Vec<d> size = Vec<d>::Constant(4 * cell);
        World<d> world = box<d>(size[0], cell);
        size[d - 1] = 8 * cell;
        fill_up_to<d>(world, Vec<d>::Zero(), size);
        for (std::size_t i = 0; i < world.sand.particles.id.size(); i += 3) {
            double& z = world.sand.particles.position[i][d - 1];
            if (z < 0.5 * cell) z = height;
        }
        WorldMemory<d> memory;
        const SolveReport solve = step(world, options_of(5e-3, 1e-3), memory).solve;
        EXPECT_TRUE(is_met(solve.status));
        return solve.iterations;
    };
    EXPECT_LE(sweeps(-1e-6 * cell), 1.5 * sweeps(1e-6 * cell));
}

/// What has slipped through the floor has no stress in its own cell, but bears what lies on it as its neighbours do.
TYPED_TEST(SandInAWorld, TellsThePressureOfWhatHasSlippedThroughTheFloor) {
    constexpr int d = TypeParam::value;
    constexpr double cell = 0.05, height = 8 * cell;
    for (const StressSpace space : {StressSpace::nodes, StressSpace::cells}) {
        Vec<d> size = Vec<d>::Constant(4 * cell);
        World<d> world = box<d>(size[0], cell);
        world.sand.options.stress = space;
        size[d - 1] = height;
        fill_up_to<d>(world, Vec<d>::Zero(), size);
        Particles<d>& p = world.sand.particles;
        std::vector<std::size_t> slipped, beside;
        for (std::size_t i = 0; i < p.id.size(); ++i) {
            if (p.position[i][d - 1] > 0.3 * cell) continue;
            if (i % 3 == 0) p.position[i][d - 1] = -1e-6 * cell;
            (i % 3 == 0 ? slipped : beside).push_back(i);
        }
        ASSERT_FALSE(slipped.empty() || beside.empty());
        WorldMemory<d> memory;
        EXPECT_TRUE(is_met(step(world, options_of(1e-3, 1e-4), memory).solve.status));
        const std::vector<double> pressure = pressures(world.sand, memory.sand.warm);
        double mean = 0;
        for (const std::size_t i : beside) mean += pressure[i] / static_cast<double>(beside.size());
        EXPECT_GT(mean, 0.1 * 2500 * g * height);  // walls bear some
        for (const std::size_t i : slipped) {
            EXPECT_LT(p.position[i][d - 1], 0);
            EXPECT_GT(pressure[i], 0.5 * mean);
        }
    }
}

/// Archimedes: a block of half the density of the sand around it, which has no friction, half in it.
TYPED_TEST(SandInAWorld, BearsABlockAtTheDepthThatItsWeightAsksFor) {
    constexpr int d = TypeParam::value;
    constexpr double cell = 0.05, bottom = 3 * cell, top = 4 * cell, low = 2 * cell, high = 6 * cell;
    World<d> world = box<d>(8 * cell, cell, 0);
    Vec<d> all = Vec<d>::Constant(8 * cell), lower = Vec<d>::Zero();
    all[d - 1] = bottom;
    fill_up_to<d>(world, lower, all);
    // Around the block: along each direction what is before and beyond it, among what is beside it along those before.
    Vec<d> upper = Vec<d>::Constant(8 * cell);
    lower[d - 1] = bottom;
    upper[d - 1] = top;
    for (int k = 0; k < d - 1; ++k) {
        Vec<d> before = upper, beyond = lower;
        before[k] = low;
        beyond[k] = high;
        fill_up_to<d>(world, lower, before);
        fill_up_to<d>(world, beyond, upper);
        lower[k] = low;
        upper[k] = high;
    }
    world.scene.materials.add({"wood", 0.5 * 2500 * world.sand.material.max_fraction}, PairLaw{});
    BodyPlan<d> block;
    if constexpr (d == 2) block.shape = world.scene.add_shape(make_rectangle(Vec<2>(2 * cell, cell)));
    if constexpr (d == 3) block.shape = world.scene.add_shape(make_box(Vec<3>(2 * cell, 2 * cell, cell)));
    block.material = 1;
    block.pose.position.setConstant(4 * cell);
    const Index i = world.scene.add_body(block);
    WorldMemory<d> memory;
    for (int s = 0; s < 25; ++s)
        EXPECT_TRUE(is_met(step(world, options_of(4e-3, 1e-5), memory).solve.status));
    // In this time it would have fallen by 5 cm.
    EXPECT_LT((world.scene.bodies.position[i] - block.pose.position).norm(), 1e-5);
    EXPECT_LT(fastest(world.sand), 1e-4);
}

TYPED_TEST(SandInAWorld, FallsFreelyAndKeepsItsMomentum) {
    constexpr int d = TypeParam::value;
    World<d> world = box<d>(1, 0.05);
    Vec<d> lower = Vec<d>::Constant(0.4), upper = Vec<d>::Constant(0.6);
    fill_up_to<d>(world, lower, upper);
    Vec<d> v0 = Vec<d>::Zero();
    v0[0] = 0.3;
    for (Vec<d>& v : world.sand.particles.velocity) v = v0;
    WorldMemory<d> memory;
    const StepOptions options = options_of(1e-3, 1e-6);
    constexpr int steps = 50;
    for (int k = 0; k < steps; ++k) step(world, options, memory);
    v0[d - 1] -= g * steps * 1e-3;
    for (const Vec<d>& v : world.sand.particles.velocity) EXPECT_LT((v - v0).norm(), 1e-10);
}

/// What contacts, stresses, viscosity, cohesion and the scheme do is all that changes energy, and nothing adds to it.
TYPED_TEST(SandInAWorld, CollapsesWithAnEnergyThatBalancesAndNeverGrows) {
    constexpr int d = TypeParam::value;
    for (const bool sticky : {false, true}) {
        World<d> world = box<d>(1, 0.05);
        Vec<d> upper = Vec<d>::Constant(0.2);
        upper[d - 1] = 0.4;
        if (sticky) {
            world.sand.material.viscosity = 20;
            world.sand.material.cohesion = 200;
            world.sand.material.cohesion_decay = 1;
        }
        fill_up_to<d>(world, Vec<d>::Zero(), upper);
        add_ball(world, upper, 0.08, 0.55);
        WorldMemory<d> memory;
        RunProgress progress;
        RunOptions options;
        options.step = options_of(2e-3, 1e-4);
        options.end = 0.25;
        double last = infinity;
        const Observer<d> look = [&](const Scene<d>&, const StepMemory<d>&, const StepRecord& record) {
            EXPECT_LT(record.energy.total(), last + 1e-9);
            last = record.energy.total();
            return true;
        };
        simulate<d>(world, options, Feeds<d>{}, memory, progress, look);
        EXPECT_EQ(progress.summary.unsolved, 0);
        EXPECT_GT(progress.summary.steps, 100);
        EXPECT_LT(progress.balance.error(progress.summary, 0), 1e-10);
        EXPECT_LT(progress.summary.work.stress, 0);
    }
}

/// A sink takes what falls into it, and the balance knows; when all is gone, steps go on.
TYPED_TEST(SandInAWorld, RunsOutThroughASink) {
    constexpr int d = TypeParam::value;
    World<d> world = box<d>(1, 0.05);
    fill_up_to<d>(world, Vec<d>::Constant(0.4), Vec<d>::Constant(0.6));
    Vec<d> upper = Vec<d>::Ones();
    upper[d - 1] = 0.2;
    Feeds<d> feeds;
    feeds.sinks.push_back({"floor", BoxRegion<d>{Vec<d>::Zero(), upper}});
    WorldMemory<d> memory;
    RunProgress progress;
    RunOptions options;
    options.step = options_of(5e-3, 1e-4);
    options.end = 0.4;
    const double mass = 2500 * 0.6 * std::pow(0.2, d);
    simulate<d>(world, options, feeds, memory, progress, {});
    EXPECT_TRUE(world.sand.empty());
    EXPECT_NEAR(progress.feed.drained_mass.at(0), mass, 1e-12 * mass);
    EXPECT_EQ(progress.feed.drained.at(0), 0);
    EXPECT_LT(progress.balance.error(progress.summary, 0), 1e-10);
}

/// Sand and a ball at rest in empty space that stir each other: momentum is kept to rounding.
TYPED_TEST(SandInAWorld, AndABodyKeepTheirMomentum) {
    constexpr int d = TypeParam::value;
    World<d> world = box<d>(10, 0.05);
    world.scene.gravity.setZero();
    for (Vec<d>& x : world.scene.bodies.position) x.array() -= 5;  // walls are far
    for (Index i = 0; i < world.scene.bodies.count(); ++i) world.scene.bodies.position[i][d - 1] -= 5;
    fill_up_to<d>(world, Vec<d>::Constant(1), Vec<d>::Constant(1.3));
    BodyPlan<d> ball;
    ball.shape = world.scene.add_shape(Ball<d>{0.1});
    ball.pose.position = Vec<d>::Constant(1.15);
    ball.pose.position[0] = 0.85;
    ball.velocity[0] = 2;
    ball.spin.setConstant(3);
    const Index i = world.scene.add_body(ball);
    WorldMemory<d> memory;
    const auto momentum = [&] {
        Vec<d> sum = world.scene.bodies.mass[i] * world.scene.bodies.velocity[i];
        for (Index k = 0; k < world.sand.particles.count(); ++k)
            sum += world.sand.mass(k) * world.sand.particles.velocity[k];
        return sum;
    };
    const Vec<d> before = momentum();
    for (int k = 0; k < 60; ++k) step(world, options_of(1e-3, 1e-4), memory);
    EXPECT_LT(world.scene.bodies.velocity[i][0], 1.9);
    EXPECT_LT((momentum() - before).norm(), 1e-11 * before.norm());
}

TYPED_TEST(SandInAWorld, IsTheSameBitsOnAnyThreads) {
    constexpr int d = TypeParam::value;
    const auto run = [&](int threads) {
        World<d> world = box<d>(1, 0.04);
        world.sand.material.friction_fast = 0.8;
        Vec<d> upper = Vec<d>::Constant(0.3);
        fill_up_to<d>(world, Vec<d>::Zero(), upper);
        add_ball(world, upper, 0.07, 0.38);
        WorldMemory<d> memory;
        StepOptions options = options_of(2e-3, 1e-3);
        options.solve.threads = threads;
        options.bodies_per_thread = 1;
        for (int k = 0; k < 5; ++k) step(world, options, memory);
        return world;
    };
    const World<d> one = run(1);
    for (const int threads : {2, 3}) {
        const World<d> many = run(threads);
        EXPECT_EQ(many.sand.particles.position, one.sand.particles.position);
        EXPECT_EQ(many.sand.particles.velocity, one.sand.particles.velocity);
        EXPECT_EQ(many.scene.bodies.position, one.scene.bodies.position);
        EXPECT_EQ(many.scene.bodies.spin, one.scene.bodies.spin);
    }
}

/// A light ball stays on a bed, a heavy one sinks in.
TEST(SandAndABall, SinksByItsWeight) {
    std::array<double, 2> depth{};
    for (int k = 0; k < 2; ++k) {
        World<3> world = box<3>(0.4, 0.04);
        fill_up_to<3>(world, Vec<3>::Zero(), {0.4, 0.4, 0.2});
        world.scene.materials.add({"ball", k == 0 ? 200.0 : 20000.0}, PairLaw{});
        BodyPlan<3> ball;
        ball.shape = world.scene.add_shape(Ball<3>{0.06});
        ball.material = 1;
        ball.pose.position = {0.2, 0.2, 0.27};
        const Index i = world.scene.add_body(ball);
        WorldMemory<3> memory;
        for (int s = 0; s < 60; ++s) step(world, options_of(5e-3, 1e-3), memory);
        depth[static_cast<std::size_t>(k)] = 0.2 - (world.scene.bodies.position[i][2] - 0.06);
        EXPECT_LT(world.scene.bodies.velocity[i].norm(), 0.05);
    }
    EXPECT_LT(depth[0], 0.03);
    EXPECT_GT(depth[1], depth[0] + 0.02);
}

}  // namespace
}  // namespace drystone
