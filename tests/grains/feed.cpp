// Grains that come and go: rates, room, sinks, balances.

#include "drystone/grains/feed.hpp"

#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

/// As simulate does it before a step of length h, on one rank.
template <int d>
FeedChange feed(Scene<d>& scene, const Feeds<d>& feeds, double h, FeedState& state) {
    FeedChange change;
    std::vector<std::uint8_t> gone;
    std::vector<ExactSum> sums;
    find_drained<d>(scene, feeds, {}, gone, sums);
    drain(scene, gone, sums, state, change);
    pour(scene, feeds, h, state, change);
    return change;
}

template <int d>
Recipe<d> balls_of(Index shape, double low, double high) {
    Recipe<d> recipe;
    recipe.parts.push_back({1, {{shape, 1, {}}}, 0, UniformSize{low, high}});
    return recipe;
}

/// A box of 1 m high above the origin, into which balls of radius 1 cm fall.
struct Rain {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    Feeds<3> feeds;
    FeedState state;

    explicit Rain(double rate, bool by_mass = false) {
        scene.gravity = {0, 0, -9.81};
        Source<3> source;
        source.region = BoxRegion<3>{{-0.5, -0.5, 1}, {0.5, 0.5, 2}};
        source.recipe = balls_of<3>(scene.add_shape(Ball<3>{0.01}), 0.5, 1);
        source.rate = rate;
        source.by_mass = by_mass;
        feeds.sources.push_back(source);
    }
};

double least_gap(const Scene<3>& scene) {
    double least = infinity;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        for (Index j = 0; j < i; ++j)
            least = std::min(least, (scene.bodies.position[i] - scene.bodies.position[j]).norm() -
                                        scene.outer_radius(i) - scene.outer_radius(j));
    }
    return least;
}

TEST(Feed, RatesAreExactOverTime) {
    Rain rain(370);
    for (int n = 1; n <= 2000; ++n) {
        feed(rain.scene, rain.feeds, 1e-3, rain.state);
        rain.scene.time = n * 1e-3;
        ASSERT_EQ(rain.state.fed[0], static_cast<std::int64_t>(0.37 * n + 1e-6)) << n;
    }
    EXPECT_EQ(rain.scene.bodies.count(), 740);
    EXPECT_GE(least_gap(rain.scene), 0);
    for (Index i = 0; i < rain.scene.bodies.count(); ++i)
        EXPECT_TRUE(contains<3>(rain.feeds.sources[0].region, rain.scene.bodies.position[i],
                                rain.scene.outer_radius(i)));
}

TEST(Feed, MassRatesAreExactToOneGrain) {
    Rain rain(1.5, true);
    double mass = 0;
    for (int n = 1; n <= 1000; ++n) {
        feed(rain.scene, rain.feeds, 1e-3, rain.state);
        rain.scene.time = n * 1e-3;
    }
    double largest = 0;
    for (const double m : rain.scene.bodies.mass) {
        mass += m;
        largest = std::max(largest, m);
    }
    EXPECT_NEAR(rain.state.fed_mass[0], mass, 1e-12);
    EXPECT_GE(mass, 1.5 - 1e-9);
    EXPECT_LE(mass, 1.5 + largest);
}

TEST(Feed, SourcesOpenAndCloseAndHaveAnEnd) {
    Rain rain(1000);
    rain.feeds.sources[0].begin = 0.0105;
    rain.feeds.sources[0].end = 0.0525;
    for (int n = 1; n <= 100; ++n) {
        feed(rain.scene, rain.feeds, 1e-3, rain.state);
        rain.scene.time = n * 1e-3;
    }
    EXPECT_EQ(rain.state.fed[0], 42);
    Rain few(1000);
    few.feeds.sources[0].most = 7;
    for (int n = 0; n < 20; ++n) feed(few.scene, few.feeds, 1e-3, few.state);
    EXPECT_EQ(few.state.fed[0], 7);
}

TEST(Feed, ABlockedSourceOwesAtMostASecond) {
    Rain rain(100);
    rain.feeds.sources[0].region = BoxRegion<3>{{0, 0, 0}, {0.03, 0.03, 0.03}};
    for (int n = 0; n < 3000; ++n) feed(rain.scene, rain.feeds, 1e-2, rain.state);
    const std::int64_t inside = rain.state.fed[0];
    EXPECT_GE(inside, 1);
    EXPECT_LT(inside, 20);
    EXPECT_GE(least_gap(rain.scene), 0);
    EXPECT_LE(rain.state.owed[0], 100);
    // The room is opened: what comes at once is what is owed and what this step adds.
    rain.feeds.sources[0].region = BoxRegion<3>{{0, 0, 1}, {1, 1, 2}};
    const FeedChange change = feed(rain.scene, rain.feeds, 1e-2, rain.state);
    EXPECT_EQ(change.came, 101);
}

TEST(Feed, GrainsBelongToTheirIds) {
    Rain one(100), two(100);
    feed(one.scene, one.feeds, 0.5, one.state);
    for (int n = 0; n < 5; ++n) feed(two.scene, two.feeds, 0.1, two.state);
    EXPECT_EQ(one.scene.bodies.size, two.scene.bodies.size);
    EXPECT_EQ(one.scene.bodies.position, two.scene.bodies.position);
}

TEST(Feed, SinksTakeFreeBodiesAndCount) {
    Rain rain(100);
    feed(rain.scene, rain.feeds, 1, rain.state);
    BodyPlan<3> held;
    held.motion = Motion::held;
    held.pose.position = {0.25, 0, 1.5};
    const GlobalId held_id = rain.scene.bodies.id[rain.scene.add_body(held)];
    rain.feeds.sources.clear();
    rain.feeds.sinks.push_back(
        {"right", BoxRegion<3>{{0, -infinity, -infinity}, {infinity, infinity, infinity}}});
    rain.feeds.sinks.push_back({"low", BoxRegion<3>{{-infinity, -infinity, 0}, {infinity, infinity, 1.5}}});
    const Bodies<3> before = rain.scene.bodies;
    std::int64_t right = 0, low = 0;
    double right_mass = 0;
    for (Index i = 0; i < before.count(); ++i) {
        if (!before.is_free(i)) continue;
        if (before.position[i][0] >= 0) {
            ++right;
            right_mass += before.mass[i];
        } else if (before.position[i][2] <= 1.5) {
            ++low;
        }
    }
    const double energy = energy_of(rain.scene).total();
    const FeedChange change = feed(rain.scene, rain.feeds, 1e-3, rain.state);
    EXPECT_EQ(change.went, right + low);
    EXPECT_EQ(rain.state.drained, (std::vector<std::int64_t>{right, low}));
    EXPECT_NEAR(rain.state.drained_mass[0], right_mass, 1e-12);
    EXPECT_EQ(rain.scene.bodies.count(), before.count() - right - low);
    EXPECT_NEAR(energy_of(rain.scene).total(), energy + change.energy, 1e-12);
    EXPECT_GE(rain.scene.bodies.index_of(held_id), 0) << "held bodies stay";
    EXPECT_TRUE(std::is_sorted(rain.scene.bodies.id.begin(), rain.scene.bodies.id.end()));
}

/// Fed at the top, drained at the bottom, over a floor with a gap; all energies accounted for.
TEST(Feed, ARunBalancesGrainsAndEnergy) {
    auto scene = sample::empty_scene<2>(0.3);
    scene.gravity = {0, -9.81};
    const Index disk = scene.add_shape(Ball<2>{0.05}), plank = scene.add_shape(make_rectangle({1, 0.1}));
    for (const double x : {-1.2, 1.2}) {
        BodyPlan<2> plan;
        plan.shape = plank;
        plan.motion = Motion::held;
        plan.pose = {{x, 0}, {x < 0 ? -0.5 : 0.5}};
        scene.add_body(plan);
    }
    Feeds<2> feeds;
    Source<2> source;
    source.region = BoxRegion<2>{{-1, 1.5}, {1, 2}};
    source.recipe = balls_of<2>(disk, 0.6, 1);
    source.recipe.velocity = {0, -1};
    source.rate = 60;
    feeds.sources.push_back(source);
    feeds.sinks.push_back({"below", BoxRegion<2>{{-infinity, -infinity}, {infinity, -1.5}}});
    RunOptions options;
    options.end = 2;
    options.step.h = 2e-3;
    for (const double displacement : {0.0, 0.2}) {
        Scene<2> running = scene;
        options.step.displacement = displacement;
        StepMemory<2> memory;
        RunProgress progress;
        simulate(running, options, feeds, memory, progress);
        EXPECT_NEAR(static_cast<double>(progress.feed.fed[0]), 120, 1) << displacement;
        EXPECT_GT(progress.feed.drained[0], 20);
        EXPECT_EQ(running.bodies.count(), 2 + progress.feed.fed[0] - progress.feed.drained[0]);
        const double change =
            progress.summary.fed_energy + progress.summary.work.contacts + progress.summary.work.scheme;
        EXPECT_NEAR(energy_of(running).total(), change, 1e-9 * std::abs(progress.summary.fed_energy) + 1e-9);
        EXPECT_LT(progress.summary.worst_relative_overlap, 0.02);
    }
}

TEST(Feed, GoingOnIsAsIfTheRunHadNeverEnded) {
    auto run = [](std::vector<double> ends) {
        Rain rain(300);
        rain.feeds.sinks.push_back({"below", BoxRegion<3>{{-1, -1, 0}, {1, 1, 1}}});
        RunOptions options;
        StepMemory<3> memory;
        RunProgress progress;
        for (const double end : ends) {
            options.end = end;
            simulate(rain.scene, options, rain.feeds, memory, progress);
        }
        EXPECT_GT(progress.feed.drained[0], 0);
        return rain.scene.bodies;
    };
    const Bodies<3> once = run({0.5}), twice = run({0.217, 0.5});
    EXPECT_EQ(once.id, twice.id);
    EXPECT_EQ(once.position, twice.position);
}

}  // namespace
}  // namespace drystone
