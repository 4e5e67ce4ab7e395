#include "drystone/solve/gauss_seidel.hpp"

#include "drystone/sweep/tiling.hpp"
#include "solve/sample_problems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace drystone;
using namespace drystone::testing;

namespace {

ConeProblem coulomb_bodies(unsigned seed, int bodies = 40, int contacts = 90, double mu = 0.5) {
    return random_bodies({.bodies = bodies, .contacts = contacts, .seed = seed},
                         [mu](int) { return Cone::second_order(3, mu); });
}

/// Bodies in the plane that touch each other and the fixed last one.
ConeProblem plane_bodies(unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    constexpr Index bodies = 20;
    ConeProblem p;
    p.only().dim = 3;
    p.only().count = bodies + 1;
    p.f = Vector::Zero(p.dofs());
    std::vector<double> inverse(9 * p.only().count, 0.0);
    for (Index j = 0; j < bodies; ++j) {
        const double mass = 1 + std::abs(normal(engine)), inertia = 0.2 + std::abs(normal(engine));
        for (int a = 0; a < 3; ++a) {
            inverse[9 * j + 4 * a] = 1 / (a < 2 ? mass : inertia);
            p.f[3 * j + a] = normal(engine);
        }
    }
    p.only().mass = BlockInverseMass{inverse};
    for (Index k = 0; k < 40; ++k) {
        const double angle = normal(engine), c = std::cos(angle), s = std::sin(angle);
        p.add_block(Cone::second_order(2, 0.1 + 0.3 * static_cast<double>(k % 4)));
        for (const double sign : {1.0, -1.0}) {
            const double x = normal(engine), y = normal(engine);
            const std::array<double, 6> rows = {sign * c,  sign * s, sign * (x * s - y * c),
                                                -sign * s, sign * c, sign * (x * c + y * s)};
            p.add_entry(sign > 0 ? k % bodies : (k + 1 + k / bodies) % (bodies + 1), rows);
        }
    }
    p.w = Vector::Zero(p.rows());
    return p;
}

}  // namespace

// Validation 5, and the bound of 8 sweeps for two contacts.
TEST(GaussSeidel, TwoContactReferenceInEightSweeps) {
    const Reference two = references().back();
    const Delassus W(two.problem);
    for (auto [law, expected] :
         {std::pair{Law::coulomb, two.coulomb}, std::pair{Law::associated, two.convex}}) {
        Vector r = Vector::Zero(6);
        GaussSeidelOptions options;
        options.check_every = 1;
        const SolveReport report = gauss_seidel(W, law, options, goal_of(1e-14), r);
        EXPECT_EQ(report.status, Status::solved);
        EXPECT_LE(report.iterations, 8);
        EXPECT_LT((r - expected).norm(), 3e-14);
    }
}

class Kernels : public ::testing::TestWithParam<bool> {};

TEST_P(Kernels, Agree) {
    const ConeProblem p = GetParam() ? plane_bodies(4) : coulomb_bodies(4);
    const Delassus W(p);
    // A few sweeps, not a solution: the kernels walk the same way. Validation 15: matrix-free and explicit alike.
    for (const Law law : {Law::coulomb, Law::associated}) {
        std::vector<Vector> results;
        for (SweepKernel kernel : {SweepKernel::any, SweepKernel::explicit_matrix, SweepKernel::rigid}) {
            GaussSeidelOptions options;
            options.kernel = kernel;
            Vector r = Vector::Zero(p.rows());
            run_sweeps(W, law, options, 20, r);
            results.push_back(r);
        }
        EXPECT_LT((results[1] - results[0]).norm(), 1e-11 * results[0].norm());
        EXPECT_LT((results[2] - results[0]).norm(), 1e-11 * results[0].norm());
    }
}

INSTANTIATE_TEST_SUITE_P(GaussSeidel, Kernels, ::testing::Bool(),
                         [](const auto& plane) { return plane.param ? "InThePlane" : "InSpace"; });

TEST(GaussSeidel, EveryAccelerationAndKernelSolves) {
    const ConeProblem p = coulomb_bodies(6);
    const Delassus W(p);
    for (Acceleration a :
         {Acceleration::none, Acceleration::momentum, Acceleration::conjugate, Acceleration::anderson}) {
        for (SweepKernel kernel : {SweepKernel::any, SweepKernel::explicit_matrix, SweepKernel::rigid}) {
            GaussSeidelOptions options;
            options.acceleration = a;
            options.kernel = kernel;
            Vector r = Vector::Zero(p.rows());
            const SolveReport report = gauss_seidel(W, Law::coulomb, options, goal_of(1e-10), r);
            EXPECT_EQ(report.status, Status::solved) << report.solver;
            EXPECT_LE(judge(W, W.complete(r), Law::coulomb).value, 1.01e-10);
        }
    }
}

// The same bits on 1, 2, 3 and 8 threads: plain, accelerated, and through the gradient's sums.
TEST(GaussSeidel, SameBitsOnAnyNumberOfThreads) {
    const ConeProblem p = coulomb_bodies(9, 600, 1500);
    for (Acceleration a :
         {Acceleration::none, Acceleration::momentum, Acceleration::conjugate, Acceleration::anderson}) {
        for (SweepKernel kernel : {SweepKernel::any, SweepKernel::rigid}) {
            Vector first;
            for (int threads : {1, 2, 3, 8}) {
                const Delassus W(p, threads);
                GaussSeidelOptions options;
                options.acceleration = a;
                options.kernel = kernel;
                options.max_iterations = 60;
                Vector r = Vector::Zero(p.rows());
                const SolveReport report = gauss_seidel(W, Law::coulomb, options, goal_of(1e-12), r);
                if (threads == 1) first = r;
                EXPECT_TRUE(r == first) << threads << " threads, " << report.solver;
            }
        }
    }
}

TEST(Tiling, CoversEveryBlockAndSeparatesColours) {
    ConeProblem p = coulomb_bodies(10, 500, 1300);
    const Delassus W(p);
    for (Index size : {1, 8, 64}) {
        p.tiling = tile_contact_graph(W, size);
        EXPECT_TRUE(find_faults(p).empty());
        EXPECT_GT(p.tiling.colours(), 1);
    }
    const ConeProblem dense = references().back().problem;
    EXPECT_EQ(tile_contact_graph(Delassus(dense), 1).colours(), 2);  // W couples both contacts
}

// Validation 10: with the associated law every sweep lowers the energy, sleeping or not.
TEST(GaussSeidel, EnergyFallsMonotonically) {
    const ConeProblem p = coulomb_bodies(12);
    const Delassus W(p);
    for (int sleep : {0, 10}) {
        GaussSeidelOptions options;
        options.sleep_sweeps = sleep;
        Vector r = Vector::Zero(p.rows()), Wr;
        double energy = 0;
        for (int k = 0; k < 60; ++k) {
            run_sweeps(W, Law::associated, options, 1, r);
            W.apply(r, Wr);
            const double next = 0.5 * r.dot(Wr) + r.dot(W.b());
            EXPECT_LE(next, energy + 1e-13 * std::abs(energy));
            energy = next;
        }
    }
}

TEST(GaussSeidel, SleepingAndProximalReachTheSameVelocity) {
    const ConeProblem p = coulomb_bodies(14);
    const Delassus W(p);
    Vector plain = Vector::Zero(p.rows());
    ASSERT_EQ(gauss_seidel(W, Law::associated, {}, goal_of(1e-11), plain).status, Status::solved);
    const Vector v = W.complete(plain).v;
    GaussSeidelOptions sleeping, proximal;
    sleeping.sleep_sweeps = 10;
    proximal.proximal = 0.1;
    for (const GaussSeidelOptions& options : {sleeping, proximal}) {
        Vector r = Vector::Zero(p.rows());
        EXPECT_EQ(gauss_seidel(W, Law::associated, options, goal_of(1e-11), r).status, Status::solved);
        EXPECT_LT((W.complete(r).v - v).norm(), 1e-8 * v.norm());
    }
}

TEST(GaussSeidel, WarmStartAtTheSolutionNeedsNoSweep) {
    const ConeProblem p = coulomb_bodies(15);
    const Delassus W(p);
    Vector r = Vector::Zero(p.rows());
    gauss_seidel(W, Law::coulomb, {}, goal_of(1e-10), r);
    EXPECT_EQ(gauss_seidel(W, Law::coulomb, {}, goal_of(1e-10), r).iterations, 0);
}

TEST(GaussSeidel, BilateralConstraintsAreMet) {
    const ConeProblem p = random_bodies({.bodies = 30, .contacts = 50, .seed = 3}, [](int k) {
        return k % 5 == 0 ? Cone::free(3) : Cone::second_order(3, 0.3);
    });
    const Delassus W(p);
    GaussSeidelOptions options;
    options.acceleration = Acceleration::momentum;
    Vector r = Vector::Zero(p.rows());
    const SolveReport report = gauss_seidel(W, Law::coulomb, options, goal_of(1e-12), r);
    EXPECT_EQ(report.status, Status::solved);
    const ConeSolution s = W.complete(r);
    for (Index i = 0; i < p.blocks(); i += 5)
        EXPECT_LT(s.u.segment(p.offset[i], 3).norm(), 1e-10 * s.v.norm());
}

TEST(GaussSeidel, WrenchConesObeyBothLaws) {
    const ConeProblem p = random_bodies({.bodies = 20, .contacts = 40, .seed = 8},
                                        [](int) { return Cone::wrench(6, 0.5, 0.1, 0.05); });
    const Delassus W(p);
    for (Law law : {Law::coulomb, Law::associated}) {
        Vector r = Vector::Zero(p.rows());
        EXPECT_EQ(gauss_seidel(W, law, {}, goal_of(1e-10), r).status, Status::solved);
    }
}

// Validation 11: a sliding contact of the associated law lifts at u_N = mu |u_T|; under the exact law it does not.
TEST(GaussSeidel, OnlyTheAssociatedLawLiftsASlidingBody) {
    const double mu = 0.4;
    ConeProblem p = unit_body();
    p.f[0] = 5;
    p.f[2] = -1;
    p.add_block(Cone::second_order(3, mu));
    p.add_entry(0, std::vector<double>{0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
    p.w = Vector::Zero(3);
    const Delassus W(p);
    Vector r = Vector::Zero(3);
    gauss_seidel(W, Law::coulomb, {}, goal_of(1e-13), r);
    EXPECT_NEAR(W.complete(r).u[0], 0, 1e-13);
    EXPECT_NEAR(W.complete(r).u[1], 5 - mu, 1e-13);
    gauss_seidel(W, Law::associated, {}, goal_of(1e-13), r = Vector::Zero(3));
    const ConeSolution s = W.complete(r);
    EXPECT_GT(s.u[0], 1);
    EXPECT_NEAR(s.u[0], mu * s.u.tail(2).norm(), 1e-12);
}

// Validation 12: never called solved.
TEST(GaussSeidel, ASqueezedBodyIsNotSolved) {
    const ConeProblem p = squeezed_body(1, 0.5);
    const Delassus W(p);
    GaussSeidelOptions options;
    options.max_iterations = 3000;
    Vector r = Vector::Zero(p.rows());
    EXPECT_NE(gauss_seidel(W, Law::coulomb, options, goal_of(1e-6), r).status, Status::solved);
}
