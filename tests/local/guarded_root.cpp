// One block by a guarded root, every cone with an axis, both laws: the law holds, and the active set is that of the
// answer. (The last digits are polished by who calls it: local/local.cpp.)
#include "drystone/local/guarded_root.hpp"

#include "drystone/cone/complementarity.hpp"

#include <gtest/gtest.h>

#include <random>

namespace drystone::testing {
namespace {

struct Block {
    BlockMatrix W;
    BlockVector b;
};

Block random_block(int dim, std::mt19937& engine) {
    std::normal_distribution<double> normal;
    BlockMatrix A(dim, dim);
    BlockVector b(dim);
    for (int i = 0; i < dim; ++i) {
        b[i] = normal(engine);
        for (int j = 0; j < dim; ++j) A(i, j) = normal(engine);
    }
    b[0] = -std::abs(b[0]);  // it closes
    return {A * A.transpose() + 0.1 * BlockMatrix::Identity(dim, dim), b};
}

TEST(GuardedRoot, TheLawHolds) {
    std::mt19937 engine(5);
    const Cone cones[] = {Cone::second_order(2, 0.4),     Cone::second_order(3, 0.8),
                          Cone::second_order(3, 0),       Cone::truncated(3, 0.3, 0.2),
                          Cone::wrench(3, 0.5, 0.1, 0),   Cone::wrench(5, 0.5, 0.1, 0),
                          Cone::wrench(6, 0.5, 0.05, 0.1)};
    for (const Cone& cone : cones) {
        for (const Law law : {Law::coulomb, Law::associated}) {
            for (int k = 0; k < 200; ++k) {
                const auto [W, b] = random_block(cone.dim, engine);
                for (const bool in_long : {false, true}) {
                    BlockVector r = BlockVector::Zero(cone.dim);
                    const ActiveSet active =
                        (in_long ? solve_guarded_long : solve_guarded)(cone, W, b, law, 1e-12, r);
                    const BlockVector u = W * r + b;
                    const double xi = cone.dim / W.trace();
                    const double scale = std::max(r.norm(), xi * b.norm());
                    // Several discs are found by an interior point, which knows x to the root of its gap.
                    const double allowed = cone.dim <= 3 ? 1e-11 : in_long ? 1e-7 : 1e-6;
                    EXPECT_LT(natural_map(cone, u, r, xi, law).norm(), allowed * scale);
                    EXPECT_FALSE(active.open && r[0] > allowed * scale);
                }
            }
        }
    }
}

TEST(GuardedRoot, WhatOpensHasNoImpulse) {
    const Cone cone = Cone::second_order(3, 0.5);
    const BlockMatrix W = BlockMatrix::Identity(3, 3);
    BlockVector b(3), r = BlockVector::Zero(3);
    b << 0.5, 1, 0;
    const ActiveSet active = solve_guarded(cone, W, b, Law::coulomb, 1e-12, r);
    EXPECT_TRUE(active.open);
    EXPECT_EQ(r.norm(), 0);
}

}  // namespace
}  // namespace drystone::testing
