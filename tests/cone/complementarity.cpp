#include "drystone/cone/complementarity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace drystone;

namespace {

BlockVector random_vector(int d, std::mt19937& random) {
    std::normal_distribution<double> normal;
    BlockVector x(d);
    for (int c = 0; c < d; ++c) x[c] = normal(random);
    return x;
}

}  // namespace

// Validation 6: on pairs that obey Coulomb's law all functions vanish; on others none does.
TEST(Complementarity, AllFormsOfTheLawVanishTogether) {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> unit;
    for (int k = 0; k < 3000; ++k) {
        const int d = 2 + k % 2;
        const double mu = 0.05 + 2 * unit(random);
        const Cone cone = Cone::second_order(d, mu);
        BlockVector u = BlockVector::Zero(d), r = BlockVector::Zero(d);
        const BlockVector direction = random_vector(d - 1, random).normalized();
        ContactState expected = ContactState::open;
        switch (k % 3) {
            case 0:
                u = random_vector(d, random);
                u[0] = std::abs(u[0]) + 0.1;
                break;
            case 1:
                r[0] = 0.1 + unit(random);
                r.tail(d - 1) = 0.9 * unit(random) * mu * r[0] * direction;
                expected = ContactState::sticking;
                break;
            default:
                r[0] = 0.1 + unit(random);
                r.tail(d - 1) = mu * r[0] * direction;
                u.tail(d - 1) = -(0.1 + unit(random)) * direction;
                expected = ContactState::sliding;
        }
        EXPECT_EQ(classify(cone, u, r, 1e-12), expected);
        const double xi = 0.1 + unit(random);
        EXPECT_LT(alart_curnier(cone, u, r, xi).norm(), 1e-13);
        EXPECT_LT(natural_map(cone, u, r, xi, Law::coulomb).norm(), 1e-13);
        EXPECT_LT(fischer_burmeister(cone, u, r, xi, Law::coulomb).norm(), 1e-13);
        EXPECT_LT(std::abs(bipotential_gap(cone, u, r)), 1e-13);
        // A push away from the law is seen by all.
        BlockVector wrong = u;
        wrong[0] = expected == ContactState::open ? -0.5 : 0.01;
        EXPECT_EQ(classify(cone, wrong, r, 1e-12), ContactState::impossible);
        EXPECT_GT(alart_curnier(cone, wrong, r, xi).norm(), 1e-4);
        EXPECT_GT(natural_map(cone, wrong, r, xi, Law::coulomb).norm(), 1e-4);
        EXPECT_GT(fischer_burmeister(cone, wrong, r, xi, Law::coulomb).norm(), 1e-4);
    }
}

// Validation 7, second half: the bipotential gap is not negative on feasible pairs.
TEST(Complementarity, BipotentialGapIsAnEnergy) {
    std::mt19937 random(8);
    for (int k = 0; k < 5000; ++k) {
        const Cone cone = Cone::second_order(3, 0.6);
        BlockVector u = random_vector(3, random), r = random_vector(3, random);
        u[0] = std::abs(u[0]);
        project(cone, {r.data(), 3});
        EXPECT_GE(bipotential_gap(cone, u, r), -1e-14);
    }
}

// Derivatives against central differences, for both laws and several dimensions.
TEST(Complementarity, DerivativesMatchFiniteDifferences) {
    std::mt19937 random(4);
    const double h = 1e-6;
    auto check = [&](const Complementarity& exact, auto&& value, const BlockVector& u, const BlockVector& r) {
        for (int c = 0; c < u.size(); ++c) {
            const BlockVector e = h * BlockVector::Unit(u.size(), c);
            const BlockVector by_u = (value(u + e, r) - value(u - e, r)) / (2 * h);
            const BlockVector by_r = (value(u, r + e) - value(u, r - e)) / (2 * h);
            EXPECT_LT((by_u - exact.by_u.col(c)).norm(), 1e-7 * (1 + by_u.norm()));
            EXPECT_LT((by_r - exact.by_r.col(c)).norm(), 1e-7 * (1 + by_r.norm()));
        }
    };
    for (int k = 0; k < 500; ++k) {
        const int d = 2 + k % 5;
        const Cone cone = k % 7 == 0 ? Cone::second_order(d, 0) : Cone::second_order(d, 0.2 + 0.1 * (k % 9));
        const BlockVector u = random_vector(d, random), r = random_vector(d, random);
        for (Law law : {Law::coulomb, Law::associated}) {
            check(
                fischer_burmeister_derivatives(cone, u, r, 0.7, law),
                [&](const BlockVector& a, const BlockVector& b) {
                    return fischer_burmeister(cone, a, b, 0.7, law);
                },
                u, r);
        }
        check(
            alart_curnier_derivatives(cone, u, r, 0.7),
            [&](const BlockVector& a, const BlockVector& b) { return alart_curnier(cone, a, b, 0.7); }, u, r);
    }
}
