// When a run ends before its time.

#include "drystone/run/stop.hpp"

#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace drystone {
namespace {

/// The time at which the rule ends a run with this kinetic energy; -1 if it does not within 10 s.
double end_of(const StopRule& rule, const std::function<double(double)>& kinetic, StopReason wanted,
              double h = 0.01) {
    StopState state;
    for (int i = 1; i <= static_cast<int>(std::lround(10 / h)); ++i) {
        const StopReason reason = should_stop(rule, i * h, h, kinetic(i * h), state);
        if (reason == StopReason::none) continue;
        EXPECT_EQ(reason, wanted);
        return i * h;
    }
    return -1;
}

TEST(Stop, CalmMustLast) {
    StopRule rule;
    rule.kinetic_below = 1;
    rule.calm = 0.5;
    // Below 1 from 2 s on, but for a jolt at 2.2 s.
    auto kinetic = [](double t) { return t < 1.999 || std::abs(t - 2.2) < 1e-6 ? 2.0 : 0.5; };
    EXPECT_NEAR(end_of(rule, kinetic, StopReason::calm), 2.71, 1e-9);
    rule.earliest = 4;
    EXPECT_NEAR(end_of(rule, kinetic, StopReason::calm), 4, 1e-9);
    rule.kinetic_below = 0.5;
    EXPECT_EQ(end_of(rule, kinetic, StopReason::calm), -1) << "below is not at";
}

TEST(Stop, SteadyComparesWindows) {
    StopRule rule;
    rule.window = 0.5;
    rule.change = 0.02;
    // Means of windows fall by exp(-0.5) each, down to a floor of 1: 1 + 3 q^n, q = exp(-0.5) up to a factor.
    auto kinetic = [](double t) { return 1 + 3 * std::exp(-t); };
    double last = -1, expected = -1;
    for (int n = 1; n <= 20 && expected < 0; ++n) {
        double sum = 0;
        for (int i = 50 * (n - 1) + 1; i <= 50 * n; ++i) sum += kinetic(i * 0.01) / 50;
        if (last > 0 && std::abs(sum - last) <= 0.02 * last) expected = 0.5 * n;
        last = sum;
    }
    EXPECT_GT(expected, 2);
    EXPECT_NEAR(end_of(rule, kinetic, StopReason::steady), expected, 1e-9);
    // A swing whose period is the window is steady; one four times as slow is not.
    EXPECT_NEAR(
        end_of(
            rule, [](double t) { return 2 + std::sin(4 * std::numbers::pi * t); }, StopReason::steady),
        1, 1e-9);
    EXPECT_EQ(
        end_of(
            rule, [](double t) { return 2 + std::sin(std::numbers::pi * (t + 0.25)); }, StopReason::steady),
        -1);
}

TEST(Stop, NoRuleNeverStops) {
    EXPECT_EQ(end_of(
                  {}, [](double) { return 0.0; }, StopReason::none),
              -1);
}

TEST(Stop, ARunEndsWhenItsGrainRests) {
    auto scene = sample::empty_scene<2>(0.5);
    scene.gravity = {0, -9.81};
    const Index ball = scene.add_shape(Ball<2>{0.1}), ground = scene.add_shape(HalfSpace<2>{});
    BodyPlan<2> plan;
    plan.shape = ground;
    plan.motion = Motion::held;
    scene.add_body(plan);
    plan = {};
    plan.shape = ball;
    plan.pose.position = {0, 0.6};
    scene.add_body(plan);
    RunOptions options;
    options.end = 5;
    options.stop.kinetic_below = 1e-6;
    options.stop.calm = 0.1;
    options.stop.earliest = 0.05;
    StepMemory<2> memory;
    RunProgress progress;
    simulate(scene, options, Feeds<2>{}, memory, progress);
    EXPECT_EQ(progress.stopped, StopReason::calm);
    // Falls 0.5 m, lands without rebound, and is calm for 0.1 s.
    EXPECT_NEAR(scene.time, std::sqrt(2 * 0.5 / 9.81) + 0.1, 3e-3);
    EXPECT_EQ(progress.summary.steps, std::lround(scene.time / options.step.h));
}

}  // namespace
}  // namespace drystone
