// The Delassus operator: W = H M^-1 H^T + C, by every way there is to apply it.
#include "drystone/cone/delassus.hpp"

#include "solve/sample_problems.hpp"

#include <gtest/gtest.h>

#include <random>

namespace drystone {
namespace {

using testing::random_bodies;

ConeProblem sample(unsigned seed) {
    return random_bodies({.seed = seed}, [](int k) { return testing::cone_of_every_kind(k); });
}

Vector random_rows(Index n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(-1, 1);
    Vector r(n);
    for (Index i = 0; i < n; ++i) r[i] = any(random);
    return r;
}

TEST(Delassus, TheWaysToApplyItAgree) {
    const ConeProblem problem = sample(1);
    const Delassus W(problem);
    const Vector r = random_rows(problem.rows(), 2);
    Vector u, direct, z, spread, v;
    W.velocity(r, u);
    W.apply(r, direct);
    EXPECT_LT((u - W.b() - direct).norm(), 1e-12 * u.norm());
    ASSERT_TRUE(W.whitened());
    W.gather(r, z);
    W.spread(z, spread);
    EXPECT_LT((spread - direct).norm(), 1e-12 * direct.norm());
    // u of the solution that the momentum balance gives.
    const ConeSolution solution = W.complete(r);
    EXPECT_LT((solution.u - u).norm(), 1e-12 * u.norm());
    W.push(r, v);
    EXPECT_LT((solution.v - W.v_free() - v).norm(), 1e-12 * solution.v.norm());
    EXPECT_LT((solution.v - W.velocity_by_momentum(r)).norm(), 1e-12 * solution.v.norm());
}

TEST(Delassus, IsSymmetricAndNotNegative) {
    const ConeProblem problem = sample(3);
    const Delassus W(problem);
    for (unsigned k = 0; k < 5; ++k) {
        const Vector a = random_rows(problem.rows(), 10 + k), b = random_rows(problem.rows(), 20 + k);
        Vector Wa, Wb;
        W.apply(a, Wa);
        W.apply(b, Wb);
        EXPECT_NEAR(a.dot(Wb), b.dot(Wa), 1e-11 * a.norm() * Wb.norm());
        EXPECT_GE(a.dot(Wa), 0);
    }
}

TEST(Delassus, DiagonalBlocksAreThoseOfTheMatrix) {
    const ConeProblem problem = sample(4);
    const Delassus W(problem);
    for (Index i = 0; i < problem.blocks(); ++i) {
        const Index first = problem.offset[i], n = problem.cones[i].dim;
        const BlockMatrix D = W.diagonal(i);
        for (Index c = 0; c < n; ++c) {
            Vector e = Vector::Zero(problem.rows()), column;
            e[first + c] = 1;
            W.apply(e, column);
            for (Index k = 0; k < n; ++k) EXPECT_NEAR(D(k, c), column[first + k], 1e-12 * D.norm());
        }
    }
}

TEST(Delassus, RefilledIsAsNew) {
    const ConeProblem first = sample(5), second = sample(6);
    Delassus W(first);
    W.refill(second, 1);
    const Delassus fresh(second);
    const Vector r = random_rows(second.rows(), 7);
    Vector a, b;
    W.velocity(r, a);
    fresh.velocity(r, b);
    EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace drystone
