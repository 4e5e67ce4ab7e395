#include "drystone/local/local.hpp"

#include "drystone/cone/judge.hpp"
#include "support/slowness.hpp"

#include <Eigen/Dense>
#include <Eigen/QR>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace drystone;

namespace {

struct Reference {
    BlockVector b;
    double mu;
    BlockVector coulomb;
    BlockVector associated;  // empty: not published
};

BlockVector vec(std::initializer_list<double> x) {
    BlockVector v(static_cast<Eigen::Index>(x.size()));
    std::copy(x.begin(), x.end(), v.data());
    return v;
}

BlockMatrix reference_block() {
    BlockMatrix W(3, 3);
    W << 2, .3, -.2, .3, 1.5, .1, -.2, .1, 1;
    return W;
}

/// Residual of a one-block problem by the referee.
double judged(const Cone& cone, const BlockMatrix& W, const BlockVector& b, const BlockVector& r, Law law) {
    ConeProblem p;
    p.only().dim = cone.dim;
    p.only().count = 1;
    p.only().mass = BlockInverseMass{{W.data(), W.data() + W.size()}};
    p.f = Vector::Zero(cone.dim);
    p.add_block(cone);
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(cone.dim, cone.dim);
    p.add_entry(0, {one.data(), static_cast<std::size_t>(one.size())});
    p.w = b;
    const Delassus D(p);
    const Vector impulse = r,
                 u = W * r + b;  // u by plain arithmetic: the block itself is under test, not the operator
    return law_residual(D, impulse, u, law).mean;
}

/// Random block with eigenvalues spread over `condition` decades, in a random frame.
BlockMatrix random_block(int d, double condition, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> unit;
    Eigen::MatrixXd A(d, d);
    for (int i = 0; i < d * d; ++i) A.data()[i] = normal(random);
    const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(A).householderQ();
    Vector eigenvalues(d);
    for (int i = 0; i < d; ++i) eigenvalues[i] = std::pow(10.0, -condition * unit(random));
    const Eigen::MatrixXd W = Q * eigenvalues.asDiagonal() * Q.transpose();
    return 0.5 * (W + W.transpose());
}

}  // namespace

// Fourteen-digit references of the thesis (validation 4).
TEST(Local, SingleContactReferences) {
    const std::vector<Reference> references = {
        {vec({-1, .8, -.4}), .3, vec({0.52852678400592, -0.13724628124819, 0.079398418186952}),
         vec({0.66742380835791, -0.17202017015618, 0.10246935959644})},
        {vec({-1, .2, -.1}), .6, vec({0.55996409617847, -0.25047592241897, 0.22392707815626}),
         vec({0.56590258792128, -0.25282977531741, 0.2266397378191})},
        {vec({-2, -.5, 1.5}), 1, vec({0.88882571980181, 0.15805537554412, -0.87465973866573}), {}},
        {vec({.5, 2, 0}), .5, vec({0, 0, 0}), vec({0.24161753653256, -0.12075439631862, 0.0036241219269805})},
    };
    const BlockMatrix W = reference_block();
    for (const Reference& ref : references) {
        const Cone cone = Cone::second_order(3, ref.mu);
        for (LocalSolver solver :
             {LocalSolver::hybrid, LocalSolver::fischer_burmeister, LocalSolver::damped_alart_curnier}) {
            BlockVector r = BlockVector::Zero(3);
            EXPECT_TRUE(solve_local(cone, W, ref.b, Law::coulomb, {solver}, r));
            EXPECT_LT((r - ref.coulomb).norm(), 2e-14) << "solver " << static_cast<int>(solver);
        }
        if (ref.associated.size() == 0) continue;
        for (LocalSolver solver : {LocalSolver::hybrid, LocalSolver::fischer_burmeister}) {
            BlockVector r = BlockVector::Zero(3);
            EXPECT_TRUE(solve_local(cone, W, ref.b, Law::associated, {solver}, r));
            EXPECT_LT((r - ref.associated).norm(), 2e-14);
        }
    }
}

TEST(Local, SlidingParameterIsTheRootOfThePublishedQuartic) {
    BlockVector r(3);
    const double alpha = solve_sliding_quartic(.3, reference_block(), vec({-1, .8, -.4}), r);
    EXPECT_NEAR(alpha, 5.5420696883778, 1e-12);
    const double quartic[] = {1, 5.64, -39.5138222222, -111.336968889, -72.7494271111};
    double value = 0, size = 0;
    for (double c : quartic) {
        value = value * alpha + c;
        size = size * alpha + std::abs(c);
    }
    EXPECT_LT(std::abs(value), 1e-10 * size);  // the coefficients are printed with ten digits
}

TEST(Local, IsotropicBlockHasClosedForms) {  // validation 3
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 1000; ++k) {
        const double w = std::exp(normal(random)), mu = std::exp(normal(random));
        const BlockVector b = vec({-std::abs(normal(random)), 3 * normal(random), 3 * normal(random)});
        const BlockMatrix W = w * BlockMatrix::Identity(3, 3);
        const Cone cone = Cone::second_order(3, mu);
        BlockVector r = BlockVector::Zero(3);
        solve_local(cone, W, b, Law::coulomb, {}, r);
        BlockVector expected = -b / w;
        const double slip = b.tail(2).norm();
        if (slip / w > mu * expected[0]) expected.tail(2) = -mu * expected[0] * b.tail(2) / slip;
        EXPECT_LT((r - expected).norm(), 1e-13 * expected.norm());
        solve_local(cone, W, b, Law::associated, {}, r);
        expected = -b / w;
        project(cone, {expected.data(), 3});
        EXPECT_LT((r - expected).norm(), 1e-12 * b.norm() / w);
    }
}

// Any start, any method: the same contact, where the solution is unique (the associated law).
TEST(Local, GuardedRootAndNewtonAgree) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 2000; ++k) {
        const BlockMatrix W = random_block(3, 2, random);
        const BlockVector b = vec({normal(random), normal(random), normal(random)});
        const double mu = std::abs(normal(random));
        BlockVector guarded = BlockVector::Zero(3), newton = BlockVector::Zero(3);
        // The wrench cone with one idle group takes the guarded path for the same set.
        solve_local(Cone::truncated(3, mu, 0), W, b, Law::associated, {}, guarded);
        solve_local(Cone::second_order(3, mu), W, b, Law::associated, {}, newton);
        EXPECT_LT((guarded - newton).norm(), 1e-9 * (1 + guarded.norm()));
    }
}

class MillionContacts : public ::testing::TestWithParam<std::tuple<int, Law>> {};

// A million random contacts in all: 2D, 3D and the six-component wrench; condition up to 1e8, friction from 0 to 10.
TEST_P(MillionContacts, NoneIsLeftUnsolved) {
    const auto [dim, law] = GetParam();
    const int count = (dim == 6 ? 100'000 : 200'000) / drystone::testing::slowness;
    std::mt19937_64 random(dim * 10 + static_cast<int>(law));
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> unit;
    int unsolved = 0;
    double worst = 0;
    for (int k = 0; k < count; ++k) {
        const BlockMatrix W = random_block(dim, 8, random);
        BlockVector b(dim);
        for (int c = 0; c < dim; ++c) b[c] = normal(random);
        if (k % 3 != 0) b[0] = -std::abs(b[0]);
        if (k % 17 == 0) b[0] *= 1e-12;  // barely touching
        auto coefficient = [&] { return k % 50 == 0 ? 0.0 : 10 * unit(random) * unit(random); };
        const Cone cone = dim == 6 ? Cone::wrench(6, coefficient(), coefficient(), coefficient())
                                   : Cone::second_order(dim, coefficient());
        BlockVector r = BlockVector::Zero(dim);
        const bool solved = solve_local(cone, W, b, law, {}, r);
        const double residual = judged(cone, W, b, r, law);
        if (!solved || !(residual <= 1e-10)) {
            if (unsolved++ < 3) {
                ADD_FAILURE() << "contact " << k << " residual " << residual << " mu " << cone.coefficient[0]
                              << " " << cone.coefficient[1] << " " << cone.coefficient[2];
            }
        }
        worst = std::max(worst, std::isnan(residual) ? INFINITY : residual);
    }
    EXPECT_EQ(unsolved, 0);
    RecordProperty("worst_residual", std::to_string(worst));
    std::printf("dim %d law %d: %d contacts, worst residual %.2e\n", dim, static_cast<int>(law), count,
                worst);
}

INSTANTIATE_TEST_SUITE_P(All, MillionContacts,
                         ::testing::Combine(::testing::Values(2, 3, 6),
                                            ::testing::Values(Law::coulomb, Law::associated)));

// The remaining cones, coefficients without limit among them, from random warm starts.
TEST(Local, OtherConesAreSolvedFromAnyStart) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> unit;
    for (int k = 0; k < 20'000; ++k) {
        auto coefficient = [&] {
            const double x = unit(random);
            return x < 0.1 ? 0.0 : x < 0.2 ? INFINITY : 10 * x * unit(random);
        };
        const double offset = unit(random) < 0.2 ? 0.0 : std::exp(3 * normal(random));
        const Cone cones[] = {
            Cone::truncated(2 + k % 5, 10 * unit(random), offset), Cone::truncated(3, 0, offset),
            Cone::second_order(2 + k % 5, coefficient()),
            Cone::wrench(std::array{3, 5, 6}[k % 3], coefficient(), coefficient(), coefficient())};
        const Cone& cone = cones[k / 3 % 4];
        const BlockMatrix W = random_block(cone.dim, 6, random);
        BlockVector b(cone.dim), r(cone.dim);
        for (int c = 0; c < cone.dim; ++c) {
            b[c] = normal(random);
            r[c] = 10 * normal(random);
        }
        for (Law law : {Law::coulomb, Law::associated}) {
            BlockVector answer = r;
            EXPECT_TRUE(solve_local(cone, W, b, law, {}, answer)) << "contact " << k;
            EXPECT_LE(judged(cone, W, b, answer, law), 1e-10)
                << "contact " << k << " kind " << static_cast<int>(cone.kind);
        }
    }
}

TEST(Local, CoefficientsZeroAndInfinite) {
    const BlockMatrix W = reference_block();
    const BlockVector b = vec({-1, .8, -.4});
    for (Law law : {Law::coulomb, Law::associated}) {
        BlockVector r = BlockVector::Zero(3);
        EXPECT_TRUE(solve_local(Cone::second_order(3, 0), W, b, law, {}, r));
        EXPECT_LT((r - vec({.5, 0, 0})).norm(), 1e-15);
        EXPECT_TRUE(solve_local(Cone::second_order(3, INFINITY), W, b, law, {}, r));
        EXPECT_LT((W * r + b).norm(), 1e-14);
        EXPECT_TRUE(solve_local(Cone::second_order(3, INFINITY), W, vec({5, .1, 0}), law, {}, r));
        EXPECT_EQ(r[0], 0);  // lifts off, and slips freely only if nothing holds it: u_T = 0 by r_T alone
        EXPECT_LT((W * r + vec({5, .1, 0})).tail(2).norm(), 1e-14);
    }
}

// The frictionless steps of Barboteu & Dumont: one visit is exact for pdas, eal, ebp; sal and sbp need step = 1.
TEST(Local, FrictionlessSteps) {
    const BlockMatrix W = reference_block();
    for (double bN : {-1.0, 1.0}) {
        for (LocalSolver s :
             {LocalSolver::sal, LocalSolver::eal, LocalSolver::sbp, LocalSolver::ebp, LocalSolver::pdas}) {
            BlockVector r = vec({0.3, 0, 0});
            solve_local(Cone::ray(), W.topLeftCorner(1, 1), vec({bN}), Law::associated, {s}, r = vec({0.3}));
            EXPECT_NEAR(r[0], std::max(0.0, -bN / 2), 1e-15);
        }
        BlockVector r = vec({0.3});
        int visits = 0;
        for (; visits < 1000 && std::abs(r[0] - std::max(0.0, -bN / 2)) > 1e-10; ++visits) {
            solve_local(Cone::ray(), W.topLeftCorner(1, 1), vec({bN}), Law::associated,
                        {LocalSolver::sal, 0.5}, r);
        }
        EXPECT_GT(visits, 0);
        EXPECT_LT(visits, 60);
    }
}
