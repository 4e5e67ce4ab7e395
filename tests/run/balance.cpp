// The balance of energy: closes where works are right, tells by how much it does not, and survives a restart.
#include "drystone/run/balance.hpp"

#include "drystone/run/simulate.hpp"
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

StepRecord record_of(double kinetic, double potential, double contacts) {
    StepRecord record;
    record.energy = {kinetic, potential};
    record.work.contacts = contacts;
    return record;
}

TEST(Balance, TellsWhatCameFromNowhere) {
    EnergyBalance balance;
    RunSummary summary;
    balance.start({0, 10});
    for (const StepRecord& record : {record_of(4, 6, 0), record_of(0, 6, -4)}) {
        summary.add(record);
        balance.add(record);
    }
    EXPECT_EQ(balance.error(summary, 0), 0);
    // A joule more at the end, where four moved.
    balance.end.kinetic = 1;
    EXPECT_NEAR(balance.error(summary, 0), 0.25, 1e-12);
    // Grains that came in with it.
    summary.fed_energy = 1;
    EXPECT_EQ(balance.error(summary, 0), 0);
}

TEST(Balance, OfAHeapAtRestIsMeasuredByAFall) {
    EnergyBalance balance;
    balance.start({0, 1});
    balance.end.potential = 1 + 1e-9;
    EXPECT_NEAR(balance.error({}, 1e-3), 1e-6, 1e-9);
    balance.end.potential = 1 + 1e-15;  // rounding
    EXPECT_EQ(balance.error({}, 1e-3), 0);
}

TEST(Balance, IsStartedByTheRunAndClosesInIt) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    scene.gravity = {0, 0, -sample::g};
    sample::add_box(scene, 0.3);
    sample::add_balls(scene, 3, 0.3);
    StepMemory<3> memory;
    RunOptions options;
    options.end = 0.05;
    RunProgress progress;
    const Energy before = energy_of(scene);
    simulate(scene, options, Feeds<3>{}, memory, progress);
    EXPECT_TRUE(progress.balance.begun);
    EXPECT_EQ(progress.balance.begin.total(), before.total());
    EXPECT_EQ(progress.balance.end.total(), energy_of(scene).total());
    EXPECT_LT(progress.balance.error(progress.summary, 0), 1e-12);
    // Going on does not start it again.
    options.end = 0.1;
    simulate(scene, options, Feeds<3>{}, memory, progress);
    EXPECT_EQ(progress.balance.begin.total(), before.total());
    EXPECT_LT(progress.balance.error(progress.summary, 0), 1e-12);
}

}  // namespace
}  // namespace drystone::testing
