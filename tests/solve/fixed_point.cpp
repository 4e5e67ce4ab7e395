#include "drystone/solve/fixed_point.hpp"

#include "drystone/solve/admm.hpp"
#include "drystone/solve/interior_point.hpp"
#include "drystone/solve/projected_gradient.hpp"
#include "sample_problems.hpp"

#include <gtest/gtest.h>

using namespace drystone;
using namespace drystone::testing;

namespace {

const std::vector<std::pair<const char*, ConvexSolver>>& convex_solvers() {
    static const std::vector<std::pair<const char*, ConvexSolver>> solvers = {
        {"interior point", [](const Delassus& W, const Goal& goal,
                              Vector& r) { return interior_point(W, Law::associated, {}, goal, r); }},
        {"aspg", [](const Delassus& W, const Goal& goal,
                    Vector& r) { return projected_gradient(W, Law::associated, {}, goal, r); }},
        {"admm", [](const Delassus& W, const Goal& goal,
                    Vector& r) { return admm(W, Law::associated, {}, goal, r); }},
    };
    return solvers;
}

}  // namespace

TEST(FixedPoint, ReproducesTheReferencesOfTheExactLaw) {
    for (const Reference& reference : references()) {
        const Delassus W(reference.problem);
        for (FixedPointMap map : {FixedPointMap::cadoux, FixedPointMap::haslinger}) {
            for (const auto& [name, solver] : convex_solvers()) {
                Vector r = Vector::Zero(reference.problem.rows());
                FixedPointOptions options;
                options.map = map;
                const SolveReport report = fixed_point(W, Law::coulomb, options, solver, goal_of(1e-10), r);
                EXPECT_EQ(report.status, Status::solved) << name << ": " << report.message;
                EXPECT_LT((r - reference.coulomb).lpNorm<Eigen::Infinity>(), 1e-9)
                    << name << " " << report.solver;
            }
        }
    }
}

// Validation item 8: the fixed points and the direct gradient give the same velocity, with joints.
TEST(FixedPoint, AgreesOverMapsAndInnerSolversOnRandomBodies) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        const ConeProblem problem = random_bodies({.contacts = 18, .seed = seed}, [](int k) {
            return k % 6 == 0 ? Cone::free(3) : Cone::second_order(3, 0.4);
        });
        const Delassus W(problem);
        Vector direct = Vector::Zero(problem.rows());
        ASSERT_EQ(projected_gradient(W, Law::coulomb, {}, goal_of(1e-9), direct).status, Status::solved)
            << seed;
        const ConeSolution expected = W.complete(direct);
        for (FixedPointMap map : {FixedPointMap::cadoux, FixedPointMap::haslinger}) {
            for (const auto& [name, solver] : convex_solvers()) {
                Vector r = Vector::Zero(problem.rows());
                FixedPointOptions options;
                options.map = map;
                const SolveReport report = fixed_point(W, Law::coulomb, options, solver, goal_of(1e-8), r);
                const ConeSolution found = W.complete(r);
                EXPECT_EQ(report.status, Status::solved)
                    << name << " " << report.solver << " seed " << seed << ": " << report.message;
                EXPECT_LT((found.v - expected.v).norm(), 1e-5 * expected.v.norm())
                    << name << " " << report.solver << " seed " << seed;
            }
        }
    }
}

TEST(FixedPoint, SolvesWrenchConesByCadouxAndRefusesThemByHaslinger) {
    const ConeProblem problem =
        random_bodies({.contacts = 12}, [](int) { return Cone::wrench(6, 0.4, 0.1, 0.05); });
    const Delassus W(problem);
    Vector r = Vector::Zero(problem.rows());
    EXPECT_EQ(fixed_point(W, Law::coulomb, {}, convex_solvers()[0].second, goal_of(1e-8), r).status,
              Status::solved);
    EXPECT_LE(judge(W, W.complete(r), Law::coulomb).value, 1e-8);
    FixedPointOptions options;
    options.map = FixedPointMap::haslinger;
    EXPECT_EQ(fixed_point(W, Law::coulomb, options, convex_solvers()[0].second, goal_of(1e-8), r).status,
              Status::invalid);
}

TEST(FixedPoint, RefusesTheAssociatedLaw) {
    const ConeProblem problem = references()[0].problem;
    Vector r = Vector::Zero(3);
    EXPECT_EQ(fixed_point(Delassus(problem), Law::associated, {}, convex_solvers()[0].second, {}, r).status,
              Status::invalid);
}

TEST(FixedPoint, DoesNotCallASqueezedBodySolved) {
    const ConeProblem problem = squeezed_body(0.5, 0.3);
    Vector r = Vector::Zero(problem.rows());
    const SolveReport report =
        fixed_point(Delassus(problem), Law::coulomb, {}, convex_solvers()[0].second, goal_of(1e-6), r);
    EXPECT_EQ(report.status, Status::infeasible) << report.message;
}

TEST(FixedPoint, GivesTheSameBitsOnAnyNumberOfThreads) {
    const ConeProblem problem =
        random_bodies({.bodies = 15, .contacts = 24}, [](int) { return Cone::second_order(3, 0.3); });
    Vector one = Vector::Zero(problem.rows());
    fixed_point(Delassus(problem, 1), Law::coulomb, {}, convex_solvers()[1].second, goal_of(1e-6), one);
    for (int threads : {2, 3, 8}) {
        Vector many = Vector::Zero(problem.rows());
        fixed_point(Delassus(problem, threads), Law::coulomb, {}, convex_solvers()[1].second, goal_of(1e-6),
                    many);
        EXPECT_TRUE((one.array() == many.array()).all()) << threads;
    }
}
