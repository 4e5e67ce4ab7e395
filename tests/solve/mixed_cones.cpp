// Cones of every kind in one problem, for every named solver and both laws: joints, motors and limits beside contacts.
#include "drystone/solve/solve.hpp"
#include "solve/compliant_problems.hpp"

#include <gtest/gtest.h>

using namespace drystone;
using namespace drystone::testing;

namespace {

Cone mixed(int k) {
    switch (k % 8) {
        case 0:
            return Cone::wrench(6, 0.5, 0.2, 0.1);
        case 1:
            return Cone::free(3);
        case 2:
            return Cone::interval(-0.2, 0.1);
        case 3:
            return Cone::second_order(3, 0.4);
        case 4:
            return Cone::free(1);
        case 5:
            return Cone::interval(0, infinity);
        case 6:
            return Cone::wrench(5, 0.3, 0.1, 0);
        default:
            return Cone::interval(-0.15, infinity);
    }
}

/// Rows of dimension 5 are those of dimension 6 without the spin about the normal.
ConeProblem mixed_problem(int bodies, int contacts, unsigned seed) {
    ConeProblem p = random_bodies({.bodies = bodies, .contacts = contacts, .seed = seed},
                                  [](int k) { return k % 8 == 6 ? Cone::wrench(6, 0.3, 0.1, 0) : mixed(k); });
    ConeProblem out = p;
    out.H = {};
    out.cones.clear();
    out.offset = {0};
    for (Index i = 0; i < p.blocks(); ++i) {
        const Cone cone = mixed(i);
        out.add_block(cone);
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            const double* rows =
                p.H.value.data() + p.H.value_start[i] + (k - p.H.start[i]) * p.cones[i].dim * 6;
            std::vector<double> kept(rows, rows + static_cast<std::ptrdiff_t>(p.cones[i].dim) * 6);
            if (cone.dim == 5) kept.erase(kept.begin() + 18, kept.begin() + 24);
            out.add_entry(p.H.body[k], kept);
        }
    }
    out.w = Vector::Zero(out.rows());
    return out;
}

/// Every solver that takes the law solves p and moves the bodies as `auto` does.
void expect_all_solve(const ConeProblem& p, const char* what, double tolerance) {
    ASSERT_TRUE(find_faults(p).empty());
    for (Law law : {Law::coulomb, Law::associated}) {
        SolveSettings settings;
        settings.law = law;
        settings.goal.tolerance = 1e-11;
        settings.goal.time_limit = 20;
        ConeSolution reference;
        const SolveReport first = solve(p, settings, reference);
        ASSERT_EQ(first.status, Status::solved) << what << ": " << first.message;
        for (const NamedSolver& solver : named_solvers()) {
            if (!(law == Law::coulomb ? solver.coulomb : solver.associated)) continue;
            settings.solver = solver.options;
            settings.goal.tolerance =
                solver.name == "pgd" || solver.name == "apgd" ? 1e2 * tolerance : tolerance;
            ConeSolution s;
            const SolveReport report = solve(p, settings, s);
            if (solver.name.starts_with("haslinger")) {  // knows one disc per block, and says so
                EXPECT_EQ(report.status, Status::invalid);
                EXPECT_NE(report.message.find("rolling"), std::string::npos);
                continue;
            }
            const std::string where = std::string(what) + " " + std::string(solver.name) +
                                      (law == Law::coulomb ? " coulomb" : " associated");
            EXPECT_EQ(report.status, Status::solved) << where << ": " << name_of(report.status) << " "
                                                     << report.residual.value << " " << report.message;
            EXPECT_LT((s.v - reference.v).norm(), 1e4 * settings.goal.tolerance * reference.v.norm())
                << where;
        }
    }
}

}  // namespace

TEST(MixedCones, EverySolverBothLaws) { expect_all_solve(mixed_problem(16, 24, 31), "determined", 1e-9); }

TEST(MixedCones, Compliant) {
    ConeProblem p = mixed_problem(10, 24, 32);
    p.compliance = random_compliance(p, 1, 0.05, 1);
    expect_all_solve(p, "compliant", 1e-9);
}

// More rows than velocities, and every joint twice: multipliers are not unique, velocities are.
TEST(MixedCones, RedundantJoints) {
    ConeProblem p = mixed_problem(16, 24, 33);
    const ConeProblem once = p;
    for (Index i = 0; i < once.blocks(); ++i) {
        if (once.cones[i].kind != ConeKind::free) continue;
        const int size = once.cones[i].dim * 6;
        p.add_block(once.cones[i]);
        for (Index k = once.H.start[i]; k < once.H.start[i + 1]; ++k) {
            const double* rows = once.H.value.data() + once.H.value_start[i] + (k - once.H.start[i]) * size;
            p.add_entry(once.H.body[k], {rows, static_cast<std::size_t>(size)});
        }
    }
    p.w = Vector::Zero(p.rows());
    expect_all_solve(p, "redundant", 1e-8);
}
