// The loop over steps: where it ends, and that going on is as if it had never ended; what is said instead of a plan.
#include "drystone/run/simulate.hpp"

#include "drystone/base/error.hpp"
#include "drystone/run/beat.hpp"
#include "drystone/run/plan.hpp"
#include "grains/sample_scenes.hpp"
#include "support/message_of.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

/// Balls that fall into a box.
struct Fall {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    StepMemory<3> memory;
    RunOptions options;
    RunProgress progress;

    Fall() {
        scene.gravity = {0, 0, -sample::g};
        sample::add_box(scene, 0.3);
        sample::add_balls(scene, 3, 0.3);
        options.step = sample::options(2e-3, 1e-4);
        options.end = 0.05;
    }
    void run(const Observer<3>& observe = {}) {
        simulate(scene, options, Feeds<3>{}, memory, progress, observe);
    }
};

TEST(Simulate, EndsAtItsEndAtItsStepsOrWhenToldTo) {
    Fall whole;
    whole.run();
    EXPECT_EQ(whole.progress.summary.steps, 25);
    EXPECT_TRUE(whole.progress.at_end(whole.options, whole.scene.time));

    Fall few;
    few.options.most_steps = 7;
    few.run();
    EXPECT_EQ(few.progress.summary.steps, 7);
    few.run();  // they are counted from the beginning
    EXPECT_EQ(few.progress.summary.steps, 7);
    few.options.most_steps = 0;
    few.run();
    EXPECT_EQ(few.progress.summary.steps, 7);

    Fall told;
    told.run(
        [](const Scene<3>& scene, const StepMemory<3>&, const StepRecord&) { return scene.time < 0.0099; });
    EXPECT_EQ(told.progress.summary.steps, 5);
    EXPECT_FALSE(told.progress.at_end(told.options, told.scene.time));
}

TEST(Simulate, GoingOnIsAsIfItHadNeverEnded) {
    Fall whole, parts;
    whole.run();
    for (const int most : {3, 4, 20}) {
        parts.options.most_steps = most;
        parts.run();
    }
    parts.options.most_steps.reset();
    parts.run();
    EXPECT_EQ(parts.scene.time, whole.scene.time);
    EXPECT_EQ(parts.scene.bodies.position, whole.scene.bodies.position);
    EXPECT_EQ(parts.scene.bodies.velocity, whole.scene.bodies.velocity);
    EXPECT_EQ(state_of(parts.progress), state_of(whole.progress));
}

TEST(Simulate, NoStepIsCutShortAtTheEnd) {
    Fall fixed, adapted;
    fixed.options.end = adapted.options.end = 0.0051;
    adapted.options.step.displacement = 100;
    fixed.run();
    adapted.run();
    EXPECT_NEAR(fixed.scene.time, 0.006, 1e-12);
    EXPECT_NEAR(adapted.scene.time, 0.006, 1e-12);
}

TEST(Plan, WhatIsSaidInsteadOfItIsInItsOptions) {
    RunOptions options;
    apply({.until = 3, .steps = 12, .tolerance = 1e-6}, options);
    EXPECT_EQ(options.end, 3);
    EXPECT_EQ(options.most_steps, 12);
    EXPECT_EQ(options.step.solve.goal.tolerance, 1e-6);
    apply({}, options);
    EXPECT_EQ(options.end, 3);
    EXPECT_FALSE(options.most_steps);
    RunOverrides far;
    far.until = 1e300;
    EXPECT_NE(message_of([&] { apply(far, options); }).find("until: 1e+300 s make"), std::string::npos);
}

TEST(Beat, SaysWhenATimeIsReachedOnce) {
    Beat beat{0.1};
    EXPECT_FALSE(beat.reached(0.05, 0));
    EXPECT_FALSE(beat.reached(0.0999999, 0));
    EXPECT_TRUE(beat.reached(0.0999999, 1e-6));
    EXPECT_FALSE(beat.reached(0.1000001, 1e-6));
    // Of several that a long step has passed, one.
    EXPECT_TRUE(beat.reached(0.55, 0));
    EXPECT_FALSE(beat.reached(0.59, 0));
    EXPECT_TRUE(beat.reached(0.6, 1e-9));
    Beat always;
    EXPECT_TRUE(always.reached(0, 0));
    EXPECT_TRUE(always.reached(0, 0));
}

}  // namespace
}  // namespace drystone::testing
