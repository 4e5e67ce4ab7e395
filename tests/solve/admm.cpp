#include "drystone/solve/admm.hpp"

#include "drystone/solve/interior_point.hpp"
#include "sample_problems.hpp"

#include <gtest/gtest.h>

using namespace drystone;
using namespace drystone::testing;

TEST(Admm, ReproducesTheReferencesOfBothLaws) {
    for (const Reference& reference : references()) {
        const Delassus W(reference.problem);
        Vector r = Vector::Zero(reference.problem.rows());
        if (reference.convex.size() > 0) {
            EXPECT_EQ(admm(W, Law::associated, {}, goal_of(1e-13), r).status, Status::solved);
            EXPECT_LT((r - reference.convex).lpNorm<Eigen::Infinity>(), 1e-12);
        }
        r.setZero();
        EXPECT_EQ(admm(W, Law::coulomb, {}, goal_of(1e-13), r).status, Status::solved);
        EXPECT_LT((r - reference.coulomb).lpNorm<Eigen::Infinity>(), 1e-12);
    }
}

TEST(Admm, AgreesWithTheInteriorPointOnRandomBodies) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        const ConeProblem problem = random_bodies({.contacts = 20, .seed = seed}, cone_of_every_kind);
        const Delassus W(problem);
        Vector exact = Vector::Zero(problem.rows()), r = exact;
        ASSERT_EQ(interior_point(W, Law::associated, {}, goal_of(1e-11), exact).status, Status::solved);
        const SolveReport report = admm(W, Law::associated, {}, goal_of(1e-9), r);
        EXPECT_EQ(report.status, Status::solved) << report.message;
        const ConeSolution best = W.complete(exact), solution = W.complete(r);
        EXPECT_LT((solution.v - best.v).norm(), 1e-6 * best.v.norm()) << report.iterations;
        EXPECT_LT((solution.u - best.u).norm(), 1e-6 * best.u.norm());
        Vector again = r;  // a warm start at the solution has nothing to do
        EXPECT_EQ(admm(W, Law::associated, {}, goal_of(2e-9), again).iterations, 0);
    }
}

TEST(Admm, SolvesTheExactLawOnRandomBodies) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        const ConeProblem problem = random_bodies({.contacts = 18, .seed = seed}, [](int k) {
            return k % 6 == 0 ? Cone::free(3) : Cone::second_order(3, 0.4);
        });
        const Delassus W(problem);
        Vector r = Vector::Zero(problem.rows());
        EXPECT_EQ(admm(W, Law::coulomb, {}, goal_of(1e-8), r).status, Status::solved);
        EXPECT_LE(judge(W, W.complete(r), Law::coulomb).value, 1.01e-8);
    }
}

// Our own loops and sums give the same bits on any number of threads. The BLAS under the sparse factorisation does not
// quite: its kernels sum in an order that depends on where the allocator put an array (modulo 64 bytes), in one thread
// already. So here the last bits are allowed to differ, and nothing more.
TEST(Admm, DoesNotDependOnTheNumberOfThreads) {
    const ConeProblem problem = random_bodies({.bodies = 15, .contacts = 28}, [](int k) {
        return k % 3 == 0 ? Cone::wrench(6, 0.5, 0.2, 0.1) : Cone::second_order(3, 0.5);
    });
    Vector one = Vector::Zero(problem.rows());
    const SolveReport first = admm(Delassus(problem, 1), Law::associated, {}, goal_of(1e-6), one);
    for (int threads : {2, 3, 8}) {
        Vector many = Vector::Zero(problem.rows());
        const SolveReport report = admm(Delassus(problem, threads), Law::associated, {}, goal_of(1e-6), many);
        EXPECT_LT((one - many).norm(), 1e-12 * one.norm()) << threads;
        EXPECT_EQ(first.iterations, report.iterations);
    }
}

TEST(Admm, SaysThatASqueezedBodyHasNoSolution) {
    const ConeProblem problem = squeezed_body(0.5, 0.3);
    for (Law law : {Law::associated, Law::coulomb}) {
        Vector r = Vector::Zero(problem.rows());
        EXPECT_EQ(admm(Delassus(problem), law, {}, goal_of(1e-8), r).status, Status::infeasible);
    }
}
