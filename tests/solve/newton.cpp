// Proximal semismooth Newton: the published references and random bodies, to the last digits; and what it does not
// take.
#include "drystone/solve/newton.hpp"

#include "drystone/cone/judge.hpp"
#include "solve/sample_problems.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

using testing::goal_of;

TEST(Newton, FindsThePublishedImpulses) {
    for (const testing::Reference& reference : testing::references()) {
        if (reference.coulomb.size() == 0) continue;
        const Delassus W(reference.problem);
        Vector r = Vector::Zero(reference.problem.rows());
        const SolveReport report = newton(W, Law::coulomb, {}, goal_of(1e-10), r);
        EXPECT_EQ(report.status, Status::solved);
        for (Index k = 0; k < r.size(); ++k)
            EXPECT_NEAR(r[k], reference.coulomb[k], 2e-4 * (1 + reference.coulomb.norm()));
    }
}

TEST(Newton, RefinesRandomBodiesToTheLastDigits) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const ConeProblem problem =
            testing::random_bodies({.seed = seed}, [](int /*k*/) { return Cone::second_order(3, 0.4); });
        const Delassus W(problem);
        Vector r = Vector::Zero(problem.rows());
        const SolveReport report = newton(W, Law::coulomb, {}, goal_of(1e-10), r);
        EXPECT_EQ(report.status, Status::solved) << seed;
        EXPECT_LT(judge(W, W.complete(r), Law::coulomb).value, 1e-10) << seed;
    }
}

TEST(Newton, SaysWhatItDidNotReach) {
    const ConeProblem problem =
        testing::random_bodies({.seed = 3}, [](int /*k*/) { return Cone::second_order(3, 0.4); });
    const Delassus W(problem);
    NewtonOptions options;
    options.max_iterations = 1;
    options.warm_up_momentum = options.warm_up_plain = options.sweeps_between = 1;
    ConeSolution solution;
    const SolveReport report = solve(problem, testing::settings_of(options, Law::coulomb, 1e-13), solution);
    EXPECT_NE(report.status, Status::solved);
    EXPECT_GT(report.residual.value, 1e-13);
    EXPECT_NEAR(judge(W, solution, Law::coulomb).value, report.residual.value, 1e-16);
}

}  // namespace
}  // namespace drystone
