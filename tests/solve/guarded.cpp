// The guarded convex law, and the steps that end with it.
#include "drystone/solve/guarded.hpp"

#include "solve/sample_problems.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

ConeProblem sliding_bodies(unsigned seed) {
    return random_bodies({.bodies = 30, .contacts = 60, .seed = seed},
                         [](int) { return Cone::second_order(3, 0.4); });
}

Vector shift_of(const ConeProblem& p, const Vector& u) {
    Vector s(p.blocks());
    for (Index i = 0; i < p.blocks(); ++i) s[i] = shift(p.cones[i], std::span(u.data() + p.offset[i], 3));
    return s;
}

TEST(GuardedLaw, IsTheExactLawWhereTheShiftIsThatOfItsSolution) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const ConeProblem p = sliding_bodies(seed);
        const Delassus W(p);
        ConeSolution exact;
        ASSERT_EQ(solve(p, settings_of(AutoOptions{}, Law::coulomb, 1e-12), exact).status, Status::solved);
        const Vector s = shift_of(p, exact.u);
        ASSERT_GT(s.maxCoeff(), 0.01);
        // The exact solution fulfils the convex law, whose velocity is unique.
        ConeSolution frozen = exact;
        frozen.shift = s;
        EXPECT_LT(judge(W, frozen, Law::coulomb).value, 2e-12);
        const auto error = shift_error(W, frozen, 0.5);
        EXPECT_EQ(error.residual, 0.5);
        EXPECT_EQ(error.opening, 0);
        EXPECT_EQ(error.closing, 0);
        const Delassus convex = W.with_frozen_shift(s);
        Vector r = Vector::Zero(p.rows());
        ASSERT_EQ(gauss_seidel(convex, Law::associated, {}, goal_of(1e-12), r).status, Status::solved);
        EXPECT_LT((W.complete(r).v - exact.v).norm(), 1e-9 * exact.v.norm());
    }
}

TEST(GuardedLaw, TakesTheSmallerShift) {
    ConeProblem p = sliding_bodies(1);
    const Vector r = Vector::Zero(p.rows());
    Vector u;
    Delassus(p).velocity(r, u);
    const Vector now = shift_of(p, u);
    EXPECT_TRUE(guarded_shift(Delassus(p), r) == now) << "the shift of the step before is not known";
    p.shift_before = Vector::Constant(p.blocks(), now.mean());
    EXPECT_TRUE(guarded_shift(Delassus(p), r) == now.cwiseMin(now.mean()));
}

TEST(GuardedLaw, EndsAStepThatSweepsDoNotAndIsNotCalledSolved) {
    ConeProblem p = sliding_bodies(3);
    p.shift_before = Vector::Zero(p.blocks());
    const Delassus W(p);
    BriefOptions few;
    few.exact_sweeps = few.secant_sweeps = 1;
    ConeSolution s;
    const SolveReport report = solve(W, settings_of(few, Law::coulomb, 1e-8), s);
    ASSERT_EQ(report.status, Status::frozen_shift) << report.message;
    EXPECT_LE(report.residual.value, 1e-8);  // of the law with that shift
    ASSERT_EQ(s.shift.size(), p.blocks());
    EXPECT_EQ(s.shift.maxCoeff(), 0);
    // By the exact law it is wrong, and the report says by how much: contacts open as fast as the convex law lets them.
    const double exact = judge(W, W.complete(s.r), Law::coulomb).law.mean;
    EXPECT_GT(exact, 1e-3);
    EXPECT_DOUBLE_EQ(report.shift_error.residual, exact);
    double largest = 0;
    const Vector now = shift_of(p, s.u);
    for (Index i = 0; i < p.blocks(); ++i)
        if (s.r[p.offset[i]] > 0) largest = std::max(largest, now[i]);
    EXPECT_DOUBLE_EQ(report.shift_error.opening, largest);
    EXPECT_EQ(report.shift_error.closing, 0);

    s = {};
    const SolveReport sweeps = solve(W, settings_of(BriefOptions::strict(), Law::coulomb, 1e-8), s);
    EXPECT_EQ(sweeps.status, Status::solved);
    EXPECT_EQ(s.shift.size(), 0);
}

/// Only the stages that are listed are run, and in their order.
TEST(BriefStages, AreThoseOfTheList) {
    using enum BriefStage;
    ConeProblem p = sliding_bodies(3);
    p.shift_before = Vector::Zero(p.blocks());
    const auto story = [&](const StageList& stages, Law law) {
        BriefOptions options;
        options.stages = stages;
        options.exact_sweeps = 1;
        options.least_sweeps = 2;
        options.most_visits = 1;
        ConeSolution s;
        return solve(p, settings_of(options, law, 1e-12), s).message;
    };
    const std::string both = story({momentum, plain}, Law::coulomb), one = story({momentum}, Law::coulomb);
    const auto first = both.find("gauss-seidel-momentum:"), second = both.find("gauss-seidel:");
    EXPECT_LT(first, second) << both;
    EXPECT_NE(second, std::string::npos) << both;
    EXPECT_EQ(one.find("gauss-seidel:"), std::string::npos) << one;
    EXPECT_EQ(both.find("interior-point"), std::string::npos) << both;
    EXPECT_NE(story({frozen_shift_interior_point}, Law::coulomb).find("interior-point"), std::string::npos);
    // Stages for the other law are left out.
    EXPECT_EQ(story({frozen_shift_interior_point, anderson}, Law::associated), "");
    EXPECT_EQ(story({interior_point}, Law::coulomb), "");
    for (std::size_t k = 0; k < brief_stages().size(); ++k)
        EXPECT_EQ(static_cast<std::size_t>(brief_stages()[k].stage), k);
}

TEST(GuardedLaw, IsSolvedByTheInteriorPointWhereSweepsTakeTooLong) {
    ConeProblem p = sliding_bodies(3);
    p.shift_before = Vector::Zero(p.blocks());
    BriefOptions few;
    few.exact_sweeps = few.secant_sweeps = few.least_sweeps = 1;
    few.most_visits = 1;
    ConeSolution s;
    const SolveReport report = solve(p, settings_of(few, Law::coulomb, 1e-8), s);
    EXPECT_EQ(report.status, Status::frozen_shift) << report.message;
    EXPECT_NE(report.message.find("interior-point"), std::string::npos) << report.message;
    EXPECT_LE(report.residual.value, 1e-8);
    s = {};
    EXPECT_EQ(solve(p, settings_of(few, Law::associated, 1e-8), s).status, Status::solved);
    few.largest_factorisation = p.blocks() - 1;
    s = {};
    EXPECT_EQ(solve(p, settings_of(few, Law::coulomb, 1e-8), s).message.find("interior-point"),
              std::string::npos);
}

}  // namespace
}  // namespace drystone::testing
