// Sparse factorisations: right answers for each symmetry, singular matrices told, the same bits where that is asked
// for.
#include "drystone/cone/factor.hpp"

#include <gtest/gtest.h>

#include <random>

namespace drystone::testing {
namespace {

/// A band matrix: definite, of both signs, or not symmetric.
SparseMatrix band(Symmetry symmetry, Eigen::Index n) {
    std::mt19937 engine(8);
    std::uniform_real_distribution<double> any(-1, 1);
    std::vector<Eigen::Triplet<double>> entries;
    for (Eigen::Index i = 0; i < n; ++i) {
        entries.emplace_back(i, i, symmetry == Symmetry::symmetric && i % 2 == 1 ? -4 : 4);
        for (const Eigen::Index j : {i + 1, i + 5}) {
            if (j >= n) continue;
            const double x = any(engine);
            entries.emplace_back(i, j, x);
            entries.emplace_back(j, i, symmetry == Symmetry::general ? any(engine) : x);
        }
    }
    SparseMatrix A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    return A;
}

TEST(Factor, SolvesSystemsOfEachSymmetry) {
    for (const Symmetry symmetry : {Symmetry::positive_definite, Symmetry::symmetric, Symmetry::general}) {
        for (const Arithmetic arithmetic : {Arithmetic::fast, Arithmetic::repeatable}) {
            const SparseMatrix A = band(symmetry, 60);
            Factor factor(symmetry, arithmetic);
            ASSERT_TRUE(factor.factorise(A));
            Eigen::MatrixXd y = Eigen::MatrixXd::Random(60, 3), x = y;
            factor.solve(x);
            EXPECT_LT((A * x - y).norm(), 1e-12 * y.norm());
            // The same pattern with other numbers.
            ASSERT_TRUE(factor.factorise(2 * A));
            Eigen::MatrixXd half = y;
            factor.solve(half);
            EXPECT_LT((2 * half - x).norm(), 1e-12 * x.norm());
        }
    }
}

TEST(Factor, SaysThatAMatrixIsSingular) {
    SparseMatrix A = band(Symmetry::positive_definite, 20);
    for (Eigen::Index k = 0; k < A.outerSize(); ++k)
        for (SparseMatrix::InnerIterator it(A, k); it; ++it)
            if (it.row() == 7 || it.col() == 7) it.valueRef() = 0;
    for (const Arithmetic arithmetic : {Arithmetic::fast, Arithmetic::repeatable})
        EXPECT_FALSE(Factor(Symmetry::positive_definite, arithmetic).factorise(A));
}

TEST(Factor, IsTheSameBitsWhereThatIsAskedFor) {
    const SparseMatrix A = band(Symmetry::positive_definite, 200);
    const Eigen::MatrixXd y = Eigen::MatrixXd::Ones(200, 1);
    Eigen::MatrixXd first;
    for (int k = 0; k < 5; ++k) {
        const std::vector<double> shifts_memory(static_cast<std::size_t>(k) * 13 + 1);
        Factor factor(Symmetry::positive_definite, Arithmetic::repeatable);
        ASSERT_TRUE(factor.factorise(A));
        Eigen::MatrixXd x = y;
        factor.solve(x);
        if (k == 0) first = x;
        EXPECT_TRUE(x == first);
    }
}

}  // namespace
}  // namespace drystone::testing
