// Dilatancy, a number of each block (docs/theory.md, eq. 4): what slides opens with u_N = dilatancy mu |u_T|.
#include "drystone/cone/judge.hpp"
#include "drystone/solve/infeasible.hpp"
#include "drystone/solve/solve.hpp"
#include "solve/sample_problems.hpp"
#include "solve/sphere_pile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace drystone;
using namespace drystone::testing;

namespace {

Cone dilating(Cone cone, double dilatancy) {
    cone.dilatancy = dilatancy;
    return cone;
}

/// Contacts by Coulomb's law, by the associated one and between them, and a few joints.
ConeProblem mixture() {
    return random_bodies({.bodies = 16, .contacts = 22, .seed = 5}, [](int k) {
        constexpr std::array<double, 4> dilatancies = {0, 0.3, 1, 0.7};
        if (k % 9 == 8) return Cone::free(3);
        if (k % 5 == 4) return dilating(Cone::wrench(6, 0.5, 0.2, 0.1), dilatancies[k % 4]);
        return dilating(Cone::second_order(3, 0.5), dilatancies[k % 4]);
    });
}

double sum_of_speeds(const Cone& cone, const BlockVector& u) {
    double sum = 0;
    for (const ConeGroup& g : groups_of(cone)) sum += g.mu * u.segment(g.start, g.size).norm();
    return sum;
}

}  // namespace

/// A point mass m: u = r / m + b. It slides with r_N = m (zeta |b_T| - b_N) / (1 + zeta mu), zeta = dilatancy mu.
TEST(Dilatancy, OfAPointMassHasAClosedForm) {
    const double mass = 2, mu = 0.4;
    BlockVector b(3);
    b << -1, 3, -4;
    const BlockMatrix W = BlockMatrix::Identity(3, 3) / mass;
    for (const double dilatancy : {0.0, 0.25, 0.5, 1.0}) {
        BlockVector r = BlockVector::Zero(3);
        ASSERT_TRUE(solve_local(dilating(Cone::second_order(3, mu), dilatancy), W, b, Law::coulomb, {}, r));
        const double zeta = dilatancy * mu, expected = mass * (zeta * 5 + 1) / (1 + zeta * mu);
        EXPECT_NEAR(r[0], expected, 1e-14 * expected);
        const BlockVector u = W * r + b;
        EXPECT_NEAR(u[0], zeta * u.tail(2).norm(), 1e-14);
        EXPECT_NEAR(r.tail(2).norm(), mu * r[0], 1e-14);
    }
}

TEST(Dilatancy, EveryLocalSolverFindsIt) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> unit;
    const std::vector<Cone> cones = {Cone::second_order(2, 0.3),    Cone::second_order(3, 0.8),
                                     Cone::second_order(6, 0.5),    Cone::truncated(3, 0.3, 0.1),
                                     Cone::wrench(3, 0.5, 0.2, 0),  Cone::wrench(5, 0.4, 0.1, 0),
                                     Cone::wrench(6, 0.4, 0.1, 0.2)};
    int sliding = 0;
    for (int k = 0; k < 2000; ++k) {
        const Cone cone = dilating(cones[k % cones.size()], k % 10 == 0 ? 1.0 : unit(random));
        const int d = cone.dim;
        Eigen::MatrixXd A(d, d);
        for (int i = 0; i < d * d; ++i) A.data()[i] = normal(random);
        const BlockMatrix W = A * A.transpose() + 0.1 * Eigen::MatrixXd::Identity(d, d);
        BlockVector b(d);
        for (int i = 0; i < d; ++i) b[i] = normal(random);
        for (const LocalSolver solver :
             {LocalSolver::hybrid, LocalSolver::alart_curnier, LocalSolver::damped_alart_curnier}) {
            BlockVector r = BlockVector::Zero(d);
            LocalOptions options;
            options.solver = solver;
            ASSERT_TRUE(solve_local(cone, W, b, Law::coulomb, options, r)) << k;
            const BlockVector u = W * r + b;
            EXPECT_LT(distance(cone, {r.data(), static_cast<std::size_t>(d)}), 1e-13 * (1 + r.norm())) << k;
            if (!(r[0] > 1e-9)) {
                EXPECT_GE(u[0] - cone.dilatancy * sum_of_speeds(cone, u), -1e-12) << k;
                continue;
            }
            EXPECT_NEAR(u[0], cone.dilatancy * sum_of_speeds(cone, u), 1e-11 * (1 + b.norm())) << k;
            sliding += u.tail(d - 1).norm() > 1e-6 ? 1 : 0;
        }
    }
    EXPECT_GT(sliding, 1000);
}

TEST(Dilatancy, OfOneIsTheAssociatedLaw) {
    const auto contacts = [](double dilatancy) {
        return random_bodies({.bodies = 16, .contacts = 20, .seed = 8},
                             [&](int) { return dilating(Cone::second_order(3, 0.6), dilatancy); });
    };
    ConeSolution own, convex;
    const SolverOptions sweeps = find_solver("gauss-seidel")->options;
    ASSERT_EQ(solve(contacts(1), settings_of(sweeps, Law::coulomb, 1e-11), own).status, Status::solved);
    ASSERT_EQ(solve(contacts(0), settings_of(sweeps, Law::associated, 1e-11), convex).status, Status::solved);
    EXPECT_LT((own.v - convex.v).norm(), 1e-9 * convex.v.norm());
    const ConeProblem p = contacts(1);
    EXPECT_EQ(judge(p, own, Law::coulomb).value, judge(p, own, Law::associated).value);
}

TEST(Dilatancy, EverySolverGivesTheSameVelocities) {
    const ConeProblem p = mixture();
    ConeSolution reference;
    ASSERT_EQ(solve(p, settings_of(AutoOptions{}, Law::coulomb, 1e-11), reference).status, Status::solved);
    int opening = 0;
    for (Index i = 0; i < p.blocks(); ++i) {
        const auto r = reference.r.segment(p.offset[i], p.cones[i].dim);
        const BlockVector u = reference.u.segment(p.offset[i], p.cones[i].dim);
        if (!p.cones[i].has_axis() || !(r[0] > 1e-6)) continue;
        EXPECT_NEAR(u[0], p.cones[i].dilatancy * sum_of_speeds(p.cones[i], u), 1e-8) << i;
        opening += u[0] > 1e-3 ? 1 : 0;
    }
    EXPECT_GE(opening, 3);
    for (const NamedSolver& solver : named_solvers()) {
        if (!solver.coulomb) continue;
        ConeSolution s;
        const SolveReport report = solve(p, settings_of(solver.options, Law::coulomb, 1e-9), s);
        const bool refuses = solver.name == "newton" || solver.name == "haslinger-gauss-seidel";
        if (refuses) {
            EXPECT_EQ(report.status, Status::invalid) << solver.name;
            EXPECT_NE(report.message.find("dilat"), std::string::npos) << report.message;
            continue;
        }
        ASSERT_EQ(report.status, Status::solved) << solver.name << ": " << report.message;
        EXPECT_LT((s.v - reference.v).norm(), 1e-6 * reference.v.norm()) << solver.name;
    }
}

/// Balls have visits of their own; blocks that dilate are solved beside them, in the same tiles, and the referee does
/// not care.
TEST(Dilatancy, OfSomeContactsOfBalls) {
    const ConeProblem p = pile<3>({.across = 5, .high = 4, .speed = 0.3, .slope = 25}, [](int k) {
        return dilating(Cone::second_order(3, 0.3), k % 3 == 0 ? 0.4 : 0.0);
    });
    for (const SolverOptions& solver : {SolverOptions{BriefOptions{}}, SolverOptions{GaussSeidelOptions{}}}) {
        for (const int threads : {1, 2}) {
            SolveSettings settings = settings_of(solver, Law::coulomb, 1e-6);
            settings.threads = threads;
            ConeSolution s;
            const SolveReport report = solve(p, settings, s);
            ASSERT_EQ(report.status, Status::solved) << report.message;
            int opening = 0;
            for (Index i = 0; i < p.blocks(); ++i) {
                if (s.r[p.offset[i]] > 0.01 && s.u[p.offset[i]] > 1e-4) ++opening;
            }
            EXPECT_GT(opening, 0);
        }
    }
}

/// A body that is drawn along at 1 m/s between two plates has room by Coulomb's law and none if it dilates: the plates
/// press it, with friction up to zeta, and what draws it works against them.
TEST(Dilatancy, MayLeaveNoRoom) {
    const double mu = 0.5;
    for (const double dilatancy : {0.0, 0.5}) {
        ConeProblem p = squeezed_body(0, mu);
        for (Cone& cone : p.cones) cone.dilatancy = dilatancy;
        p.add_block(Cone::free(1));
        p.add_entry(0, std::array<double, 6>{1, 0, 0, 0, 0, 0});
        p.w.conservativeResize(7);
        p.w[6] = -1;
        ConeSolution s;
        const SolveReport report = solve(p, settings_of(BriefOptions{}, Law::coulomb, 1e-8), s);
        EXPECT_EQ(is_met(report.status), dilatancy == 0) << report.message;
        const double zeta = 0.5 * mu;
        Vector certificate;
        EXPECT_EQ(find_infeasibility(Delassus(p), Law::coulomb,
                                     vector_of({1, -zeta, 0, 1, -zeta, 0, 2 * zeta}), certificate),
                  dilatancy > 0);
    }
}

TEST(Dilatancy, OutsideItsRangeIsAFault) {
    for (const double bad : {-0.1, 1.1, std::nan("")}) {
        ConeProblem p = mixture();
        p.cones[0].dilatancy = bad;
        EXPECT_FALSE(find_faults(p).empty());
    }
}
