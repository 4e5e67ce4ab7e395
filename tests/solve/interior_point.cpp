#include "drystone/solve/interior_point.hpp"

#include "drystone/solve/infeasible.hpp"
#include "sample_problems.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

using namespace drystone;
using namespace drystone::testing;

namespace {

struct Outcome {
    SolveReport report;
    Vector r;
    ConeSolution solution;
};

Outcome run(const ConeProblem& problem, double tolerance = 1e-10, int threads = 1) {
    const Delassus W(problem, threads);
    Outcome out;
    out.r = Vector::Zero(problem.rows());
    out.report = interior_point(W, Law::associated, {}, goal_of(tolerance), out.r);
    out.solution = W.complete(out.r);
    return out;
}

}  // namespace

TEST(InteriorPoint, ReproducesTheReferencesOfTheConvexLaw) {
    for (const Reference& reference : references()) {
        if (reference.convex.size() == 0) continue;
        const Outcome result = run(reference.problem, 1e-13);
        // Fourteen digits are published; the residual of 1e-13 is multiplied by the condition of W, below 10 here.
        EXPECT_LT((result.r - reference.convex).lpNorm<Eigen::Infinity>(), 1e-12)
            << name_of(result.report.status);
        EXPECT_LE(result.report.iterations, 21);
    }
}

TEST(InteriorPoint, SolvesRandomBodiesOfEveryConeWithinTwentyFiveIterations) {
    const std::vector<std::pair<const char*, std::function<Cone(int)>>> kinds = {
        {"ray", [](int) { return Cone::ray(); }},
        {"second order", [](int) { return Cone::second_order(3, 0.5); }},
        {"friction 0", [](int) { return Cone::second_order(3, 0.0); }},
        {"friction infinite", [](int k) { return Cone::second_order(3, k % 2 == 0 ? infinity : 0.3); }},
        {"wrench", [](int) { return Cone::wrench(6, 0.5, 0.2, 0.1); }},
        {"wrench without spin", [](int) { return Cone::wrench(6, 0.5, 0.2, 0.0); }},
        {"truncated", [](int) { return Cone::truncated(3, 0.3, 0.4); }},
        {"tresca", [](int) { return Cone::truncated(3, 0.0, 0.4); }},
        {"joints", [](int k) { return k % 5 == 0 ? Cone::free(3) : Cone::second_order(3, 0.7); }},
        {"intervals", [](int k) { return k % 2 == 0 ? Cone::interval(-0.3, 0.2) : Cone::ray(); }},
    };
    for (const auto& [name, cone] : kinds) {
        for (unsigned seed = 1; seed <= 5; ++seed) {
            const ConeProblem problem = random_bodies({.seed = seed}, cone);
            ASSERT_TRUE(find_faults(problem).empty()) << find_faults(problem).front();
            const Outcome result = run(problem, 1e-10);
            EXPECT_EQ(result.report.status, Status::solved)
                << name << " seed " << seed << ": " << result.report.message << " best residual "
                << judge(problem, result.solution, Law::associated).value;
            EXPECT_LE(result.report.iterations, 25) << name << " seed " << seed;
            EXPECT_LE(judge(problem, result.solution, Law::associated).value, 1.01e-10) << name;
        }
    }
}

TEST(InteriorPoint, DoesNotDependOnUnits) {
    const auto cone = [](int) { return Cone::second_order(3, 0.6); };
    const Outcome one = run(random_bodies({.seed = 3}, cone));
    const Outcome heavy = run(random_bodies({.seed = 3, .speed = 1e-3, .scale = 1e6}, cone));
    EXPECT_EQ(one.report.iterations, heavy.report.iterations);
    EXPECT_LT((one.solution.v - 1e3 * heavy.solution.v).norm(), 1e-9 * one.solution.v.norm());
}

// p(s) + q(s) = -1/2 f^T M^-1 f (validation item 9), with joints among the contacts.
TEST(InteriorPoint, PrimalAndDualValuesMeet) {
    const ConeProblem problem = random_bodies(
        {.seed = 7}, [](int k) { return k % 6 == 0 ? Cone::free(3) : Cone::second_order(3, 0.4); });
    const Outcome result = run(problem, 1e-12);
    const Delassus W(problem);
    Vector u;
    W.velocity(result.r, u);
    const double q = 0.5 * (result.r.dot(u) + result.r.dot(W.b()));
    double p = 0, free = 0;
    const Vector v_free = W.velocity_by_momentum(Vector::Zero(problem.rows()));
    for (Index j = 0; j + 1 < problem.only().count; ++j) {
        const Eigen::Map<const Eigen::Matrix<double, 6, 6>> inverse(
            std::get<BlockInverseMass>(problem.only().mass).blocks.data() + 36 * j);
        const auto v = result.solution.v.segment<6>(6 * j);
        const auto f = problem.f.segment<6>(6 * j);
        p += 0.5 * v.dot(inverse.inverse() * v) - v.dot(f);
        free -= 0.5 * f.dot(v_free.segment<6>(6 * j));
    }
    EXPECT_NEAR(p + q, free, 1e-10 * std::abs(free));
    for (Index i = 0; i < problem.blocks(); i += 6) {
        // C v = k holds to the rounding of the linear solves, not only to the tolerance of the contacts.
        EXPECT_LT(result.solution.u.segment(problem.offset[i], 3).norm(), 1e-12);
    }
}

TEST(InteriorPoint, SolvesProblemsGivenByTheirDelassusMatrixAlike) {
    const ConeProblem bodies = random_bodies(
        {.seed = 5}, [](int k) { return k % 4 == 0 ? Cone::free(3) : Cone::second_order(3, 0.5); });
    const Delassus W(bodies);
    Eigen::MatrixXd full(bodies.rows(), bodies.rows());
    for (Index c = 0; c < bodies.rows(); ++c) {
        Vector column;
        W.apply(Vector::Unit(bodies.rows(), c), column);
        full.col(c) = column;
    }
    full = 0.5 * (full + full.transpose()).eval();
    const Outcome by_bodies = run(bodies, 1e-11),
                  by_matrix = run(explicit_problem(full, W.b(), bodies.cones), 1e-11);
    EXPECT_EQ(by_matrix.report.status, Status::solved);
    EXPECT_LT((by_bodies.solution.u - by_matrix.solution.u).norm(), 1e-9 * W.b().norm());
}

// Our own loops and sums give the same bits on any number of threads. The BLAS under the sparse factorisation does not
// quite: its kernels sum in an order that depends on where the allocator put an array (modulo 64 bytes), in one thread
// already. So here the last bits are allowed to differ, and nothing more.
TEST(InteriorPoint, DoesNotDependOnTheNumberOfThreads) {
    const ConeProblem problem = random_bodies({.bodies = 15, .contacts = 30}, [](int k) {
        return k % 3 == 0 ? Cone::wrench(6, 0.5, 0.2, 0.1) : Cone::second_order(3, 0.5);
    });
    const Outcome one = run(problem, 1e-9, 1);
    EXPECT_EQ(one.report.status, Status::solved);
    for (int threads : {2, 3, 8}) {
        const Outcome many = run(problem, 1e-9, threads);
        EXPECT_LT((one.r - many.r).norm(), 1e-12 * one.r.norm()) << threads << " threads";
        EXPECT_EQ(one.report.iterations, many.report.iterations);
    }
}

TEST(InteriorPoint, RefusesTheExactLaw) {
    const ConeProblem problem = references()[0].problem;
    Vector r = Vector::Zero(3);
    EXPECT_EQ(interior_point(Delassus(problem), Law::coulomb, {}, {}, r).status, Status::invalid);
}

// Validation item 12: a body crushed between two approaching walls.
TEST(InteriorPoint, SaysThatASqueezedBodyHasNoSolution) {
    for (double mu : {0.0, 0.3, 1.0, infinity}) {
        const ConeProblem problem = squeezed_body(0.5, mu);
        const Outcome result = run(problem);
        EXPECT_EQ(result.report.status, Status::infeasible)
            << "mu " << mu << " " << name_of(result.report.status);
        EXPECT_NE(result.report.message.find("no velocity"), std::string::npos);
        const Delassus W(problem);
        for (Law law : {Law::associated, Law::coulomb}) {
            Vector certificate;
            ASSERT_TRUE(prove_infeasible(W, law, certificate)) << mu;
            // The two walls press alike: impulses in equilibrium.
            EXPECT_NEAR(certificate[0], certificate[3], 1e-7 * certificate[0]);
            EXPECT_NEAR(certificate.dot(W.b()), -1, 1e-12);
        }
    }
    EXPECT_EQ(run(squeezed_body(-0.5, 0.3)).report.status, Status::solved);  // walls that part
    Vector certificate;
    const ConeProblem parting = squeezed_body(-0.5, 0.3);
    EXPECT_FALSE(prove_infeasible(Delassus(parting), Law::associated, certificate));
}

// Sliding in a wedge that opens downwards: the relaxed law dilates and finds no room, the exact law slides.
TEST(Infeasibility, IsProvedForTheLawThatWasAskedFor) {
    ConeProblem problem = squeezed_body(0.0, 0.5);
    // Both walls move sideways, in opposite directions, and the body cannot spin: each contact slides at speed 1.
    auto& inverse = std::get<BlockInverseMass>(problem.only().mass).blocks;
    for (int a = 3; a < 6; ++a) inverse[7 * a] = 0;
    problem.w[1] = 1;
    problem.w[4] = -1;
    const Delassus W(problem);
    Vector certificate;
    EXPECT_TRUE(prove_infeasible(W, Law::associated, certificate));
    EXPECT_FALSE(prove_infeasible(W, Law::coulomb, certificate));
}
