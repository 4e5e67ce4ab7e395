#include "drystone/base/symmetric_eigen.hpp"

#include "drystone/base/types.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

TEST(SymmetricEigen, TakesMatricesApartAndPutsThemTogether) {
    for (int n = 1; n <= max_block; ++n) {
        BlockMatrix A(n, n), Q(n, n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) A(i, j) = std::sin(1.0 + i * j) + std::cos(i + j) + (i == j ? 2 : 0);
        BlockVector values(n), alone(n);
        symmetric_eigen(n, A.data(), values.data(), Q.data());
        symmetric_eigen(n, A.data(), alone.data());
        EXPECT_LT((Q * values.asDiagonal() * Q.transpose() - A).norm(), 1e-13 * A.norm()) << n;
        EXPECT_LT((Q.transpose() * Q - BlockMatrix::Identity(n, n)).norm(), 1e-13) << n;
        EXPECT_LT((alone - values).norm(), 1e-13 * A.norm()) << n;
        for (int k = 1; k < n; ++k) EXPECT_LE(values[k - 1], values[k]) << n;
    }
}

}  // namespace
}  // namespace drystone::testing
