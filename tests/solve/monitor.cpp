// The rule by which all solvers stop.
#include "drystone/solve/monitor.hpp"

#include "solve/sample_problems.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace drystone::testing {
namespace {

class MonitorTest : public ::testing::Test {
protected:
    [[nodiscard]] Monitor monitor(int most = 1'000'000, int patience = 1000, int horizon = 0) const {
        return {W, Law::coulomb, goal, most, patience, horizon};
    }
    /// Shows it residuals until it stops; how it ended.
    template <class Residual>
    SolveReport watch(Monitor watching, Residual&& residual) {
        for (int k = 1; !watching.check(k, residual(k), [&](auto& to) { to = Vector::Constant(3, k); });
             ++k) {
        }
        r = Vector::Zero(3);
        return watching.finish("a solver", r);
    }

    ConeProblem problem = random_bodies({.seed = 1}, [](int) { return Cone::second_order(3, 0.5); });
    Delassus W{problem};
    Goal goal;  // to 1e-6
    Vector r;
};

TEST_F(MonitorTest, EndsWhereTheGoalIsReached) {
    const SolveReport report = watch(monitor(), [](int k) { return std::pow(0.5, k); });
    EXPECT_EQ(report.status, Status::solved);
    EXPECT_EQ(report.iterations, 20);  // 2^-20 is the first below 1e-6
    EXPECT_EQ(report.reached, std::pow(0.5, 20));
    EXPECT_EQ(r[0], 20);
}

TEST_F(MonitorTest, KeepsTheBestOfAllIterates) {
    const SolveReport report = watch(monitor(50), [](int k) { return 1 + std::abs(k - 7); });
    EXPECT_EQ(report.status, Status::iteration_limit);
    EXPECT_EQ(report.iterations, 50);
    EXPECT_EQ(report.reached, 1);
    EXPECT_EQ(r[0], 7);
}

TEST_F(MonitorTest, StallsWhereDoublingTheIterationsGainsLessThanATwentieth) {
    // Falls as 1/sqrt(k) to 400, then no more: 0.95 of what it was at half the iterations is passed at 2 * 361.
    const auto residual = [](int k) { return 1 / std::sqrt(std::min(k, 400)); };
    const SolveReport report = watch(monitor(1'000'000, 100), residual);
    EXPECT_EQ(report.status, Status::stalled);
    EXPECT_NEAR(report.iterations, 2 * 400 * 0.95 * 0.95, 3);
    // Not before its patience is at an end.
    EXPECT_EQ(watch(monitor(1'000'000, 5000), residual).iterations, 5000);
}

TEST_F(MonitorTest, AHorizonEndsWhatWouldTakeLonger) {
    // 1/k reaches 1e-6 after a million.
    const auto residual = [](int k) { return 1.0 / k; };
    const SolveReport near = watch(monitor(2'000'000, 1000, 60'000), residual);
    EXPECT_EQ(near.status, Status::stalled);
    EXPECT_NEAR(near.iterations, 10'000, 1);
    EXPECT_EQ(watch(monitor(2'000'000, 1000, 1'500'000), residual).status, Status::solved);
}

TEST_F(MonitorTest, WhatIsNoNumberHasDiverged) {
    const SolveReport report = watch(monitor(), [](int k) { return k < 5 ? 1.0 / k : std::nan(""); });
    EXPECT_EQ(report.status, Status::diverged);
    EXPECT_EQ(r[0], 4);
}

TEST_F(MonitorTest, TimeIsLimitedAndEachPointIsTold) {
    int told = 0;
    goal.time_limit = 1e-9;
    goal.progress = [&](const HistoryPoint&) { ++told; };
    const SolveReport report = watch(monitor(), [](int) { return 1; });
    EXPECT_EQ(report.status, Status::time_limit);
    EXPECT_EQ(told, report.iterations);
}

}  // namespace
}  // namespace drystone::testing
