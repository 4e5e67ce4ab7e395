// (W + D) x = y by the bodies or by the blocks, against a dense factorisation.
#include "drystone/solve/shifted_system.hpp"

#include "drystone/solve/solve.hpp"
#include "solve/sample_problems.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <random>

namespace drystone::testing {
namespace {

ConeProblem bodies(unsigned seed) {
    return random_bodies({.seed = seed}, [](int k) { return cone_of_every_kind(k); });
}

Eigen::MatrixXd dense(const Delassus& W) {
    const Index n = W.problem().rows();
    Eigen::MatrixXd matrix(n, n);
    Vector column;
    for (Index k = 0; k < n; ++k) {
        W.apply(Vector::Unit(n, k), column);
        matrix.col(k) = column;
    }
    return matrix;
}

/// Random F, entries of D from 1e-4 to 1e4 in size.
void fill_at_random(ShiftedSystem& system, const ConeProblem& p, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> power(-2, 2);
    for (Index i = 0; i < p.blocks(); ++i) {
        const double size = std::pow(10, power(engine));
        auto F = system.F.block(i);
        for (double& x : F.reshaped()) x = 0.2 * normal(engine) * size;
        F.diagonal().array() += size;
    }
    system.unit.setOnes();
}

/// F (1 + F^T W F)^-1 F^T y.
Vector expected(const ConeProblem& p, const Eigen::MatrixXd& W, const ShiftedSystem& system,
                const Vector& y) {
    Eigen::MatrixXd F = Eigen::MatrixXd::Zero(p.rows(), p.rows());
    for (Index i = 0; i < p.blocks(); ++i) {
        const auto block = system.F.block(i);
        F.block(p.offset[i], p.offset[i], block.rows(), block.cols()) = block;
    }
    const Eigen::MatrixXd A = Eigen::MatrixXd::Identity(p.rows(), p.rows()) + F.transpose() * W * F;
    return F * A.llt().solve(F.transpose() * y);
}

void expect_solved(const ConeProblem& p, unsigned seed) {
    const Delassus W(p);
    ShiftedSystem system(W);
    fill_at_random(system, p, seed);
    ASSERT_TRUE(system.factorise());
    Vector y = Vector::Random(p.rows()), x;
    EXPECT_LT(system.solve(y, x), 1e-12);
    const Vector answer = expected(p, dense(W), system, y);
    EXPECT_LT((x - answer).norm(), 1e-9 * answer.norm());
}

TEST(ShiftedSystem, IsSolvedByTheBodies) {
    for (unsigned seed = 1; seed <= 5; ++seed) expect_solved(bodies(seed), seed);
}

TEST(ShiftedSystem, AndWithCompliance) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        ConeProblem p = bodies(seed);
        p.compliance = 0.1 * (Vector::Random(p.rows()).array() + 1).matrix();
        expect_solved(p, seed);
    }
}

TEST(ShiftedSystem, ARowOfZerosHoldsItsComponent) {
    const ConeProblem p = bodies(3);
    const Delassus W(p);
    ShiftedSystem system(W);
    fill_at_random(system, p, 4);
    system.F.block(0).row(0).setZero();
    system.F.block(0).col(0).setZero();
    ASSERT_TRUE(system.factorise());
    Vector y = Vector::Random(p.rows()), x;
    system.solve(y, x);
    EXPECT_EQ(x[0], 0);
    const Vector answer = expected(p, dense(W), system, y);
    EXPECT_LT((x - answer).norm(), 1e-9 * answer.norm());
}

/// A step in which nothing touches, by a solver that factorises. (Eigen read behind a matrix without columns.)
TEST(ShiftedSystem, OfNothingIsNoTrouble) {
    const ConeProblem p;
    const Delassus W(p);
    const ShiftedSystem system(W);
    SolveSettings settings;
    settings.law = Law::associated;
    settings.solver = InteriorPointOptions{};
    ConeSolution solution;
    EXPECT_EQ(solve(p, settings, solution).status, Status::solved);
}

TEST(ShiftedSystem, RefusesWhatIsNotFinite) {
    const ConeProblem p = bodies(3);
    const Delassus W(p);
    ShiftedSystem system(W);
    fill_at_random(system, p, 4);
    system.F.block(1)(0, 0) = std::nan("");
    EXPECT_FALSE(system.factorise());
}

}  // namespace
}  // namespace drystone::testing
