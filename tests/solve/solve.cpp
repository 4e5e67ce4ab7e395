#include "drystone/solve/solve.hpp"

#include "solve/sample_problems.hpp"

#include <gtest/gtest.h>

using namespace drystone;
using namespace drystone::testing;

// Validation 8: every solver gives the same velocities, with bilateral constraints, under each law it is made for.
TEST(Solve, EverySolverGivesTheSameVelocities) {
    for (Law law : {Law::coulomb, Law::associated}) {
        const ConeProblem p = random_bodies({.bodies = 16, .contacts = 24, .seed = 21}, [](int k) {
            return k % 8 == 3 ? Cone::free(3) : k % 8 == 5 ? Cone::ray() : Cone::second_order(3, 0.3);
        });
        ConeSolution reference;
        ASSERT_EQ(solve(p, settings_of(AutoOptions{}, law, 1e-11), reference).status, Status::solved);
        for (const NamedSolver& solver : named_solvers()) {
            if (!(law == Law::coulomb ? solver.coulomb : solver.associated)) continue;
            // First-order methods pay for each digit: they are held to fewer. Plain projected gradients to fewer still.
            const double tolerance = solver.name == "pgd" || solver.name == "apgd" ? 1e-7 : 1e-9;
            ConeSolution s;
            const SolveReport report = solve(p, settings_of(solver.options, law, tolerance), s);
            EXPECT_EQ(report.status, Status::solved)
                << solver.name << ": " << name_of(report.status) << " " << report.residual.value;
            EXPECT_LT((s.v - reference.v).norm(), 3e3 * tolerance * reference.v.norm()) << solver.name;
            for (Index i = 3; i < p.blocks(); i += 8) {
                EXPECT_LT(s.u.segment(p.offset[i], 3).norm(), 1e2 * tolerance * reference.v.norm())
                    << solver.name;
            }
        }
    }
}

TEST(Solve, AutoReproducesTheReferences) {
    for (const Reference& ref : references()) {
        ConeSolution s;
        SolveReport report = solve(ref.problem, settings_of(AutoOptions{}, Law::coulomb, 1e-14), s);
        EXPECT_EQ(report.status, Status::solved);
        EXPECT_LT((s.r - ref.coulomb).norm(), 3e-14);
        if (ref.convex.size() == 0) continue;
        s = {};
        report = solve(ref.problem, settings_of(AutoOptions{}, Law::associated, 1e-14), s);
        EXPECT_EQ(report.status, Status::solved);
        EXPECT_LT((s.r - ref.convex).norm(), 3e-14);
    }
}

TEST(Solve, AutoRecognisesASqueezedBody) {
    ConeSolution s;
    const SolveReport report =
        solve(squeezed_body(1, 0.5), settings_of(AutoOptions{}, Law::coulomb, 1e-8), s);
    EXPECT_EQ(report.status, Status::infeasible) << report.message;
    EXPECT_FALSE(report.message.empty());
    // Walls that part do not squeeze.
    EXPECT_EQ(solve(squeezed_body(-1, 0.5), settings_of(AutoOptions{}, Law::coulomb, 1e-8), s = {}).status,
              Status::solved);
}

TEST(Solve, BadDataAreInvalidAndSaySo) {
    ConeProblem p = squeezed_body(1, 0.5);
    p.w[0] = std::nan("");
    ConeSolution s;
    const SolveReport report = solve(p, {}, s);
    EXPECT_EQ(report.status, Status::invalid);
    EXPECT_NE(report.message.find("w"), std::string::npos);
}

TEST(Solve, MayStartFromTheImpulsesThatItReplaces) {
    const ConeProblem p = random_bodies({.bodies = 8, .contacts = 14, .seed = 3},
                                        [](int) { return Cone::second_order(3, 0.4); });
    const Delassus W(p);
    for (const SolverOptions& solver :
         {SolverOptions{AutoOptions{}}, SolverOptions{BriefOptions{}}, SolverOptions{GaussSeidelOptions{}}}) {
        const SolveSettings settings = settings_of(solver, Law::coulomb, 1e-8);
        ConeSolution s;
        ASSERT_EQ(solve(W, settings, s).status, Status::solved);
        const Vector r = s.r;
        const SolveReport again = solve(W, settings, s.r, s);
        EXPECT_EQ(again.status, Status::solved);
        EXPECT_EQ(again.iterations, 0);
        EXPECT_LT((s.r - r).norm(), 1e-12 * r.norm());
    }
}

TEST(Solve, EmptyProblemIsSolved) {
    ConeProblem p;
    p.only().count = 1;
    p.only().mass = BlockInverseMass{std::vector<double>(36, 0.0)};
    p.f = Vector::Zero(6);
    p.w = Vector::Zero(0);
    ConeSolution s;
    EXPECT_EQ(solve(p, {}, s).status, Status::solved);
}

TEST(Solve, TimeLimitIsKept) {
    const ConeProblem p = random_bodies({.bodies = 300, .contacts = 1200, .seed = 2},
                                        [](int) { return Cone::second_order(3, 0.8); });
    SolveSettings settings = settings_of(find_solver("pgd")->options, Law::coulomb, 1e-14);
    settings.goal.time_limit = 0.2;
    ConeSolution s;
    const SolveReport report = solve(p, settings, s);
    EXPECT_EQ(report.status, Status::time_limit);
    EXPECT_LT(report.seconds, 2);
    EXPECT_EQ(s.r.size(), p.rows());  // the best iterate is returned all the same
}

TEST(Solve, NamesAreUniqueAndFound) {
    for (const NamedSolver& solver : named_solvers()) EXPECT_EQ(find_solver(solver.name), &solver);
    EXPECT_EQ(find_solver("gauss"), nullptr);
}
