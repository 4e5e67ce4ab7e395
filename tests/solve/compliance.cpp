// Compliance: u = H v + w + C r. A row's compliance is the same as a body of its own with inverse mass C, and every
// solver must find the impulses of that problem.
#include "drystone/solve/infeasible.hpp"
#include "drystone/solve/solve.hpp"
#include "solve/compliant_problems.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace drystone;
using namespace drystone::testing;

namespace {

bool takes(const NamedSolver& solver, Law law) {
    return law == Law::coulomb ? solver.coulomb : solver.associated;
}

const char* name_of_law(Law law) { return law == Law::coulomb ? "coulomb" : "associated"; }

bool has_wrench(const ConeProblem& p) {
    return std::any_of(p.cones.begin(), p.cones.end(),
                       [](const Cone& c) { return c.kind == ConeKind::wrench; });
}

/// Solves and compares with the impulses and velocities known.
void expect_solution(const ConeProblem& p, const SolverOptions& solver, std::string_view name, Law law,
                     const Vector& r, const Vector& v) {
    ConeSolution s;
    const SolveReport report = solve(p, settings_of(solver, law, 1e-10), s);
    EXPECT_EQ(report.status, Status::solved)
        << name << " " << name_of_law(law) << ": " << name_of(report.status) << " " << report.residual.value;
    EXPECT_LT((s.r - r).norm(), 1e-8 * r.norm()) << name << " " << name_of_law(law);
    EXPECT_LT((s.v - v.head(p.dofs())).norm(), 1e-8 * v.head(p.dofs()).norm())
        << name << " " << name_of_law(law);
}

/// Every named solver, both laws, against the problem of private bodies.
void expect_equivalent(const ConeProblem& p) {
    ASSERT_TRUE(find_faults(p).empty());
    const ConeProblem same = with_private_bodies(p);
    for (Law law : {Law::coulomb, Law::associated}) {
        ConeSolution reference;
        const SolveReport report = solve(same, settings_of(AutoOptions{}, law, 1e-12), reference);
        ASSERT_EQ(report.status, Status::solved) << report.message;
        for (const NamedSolver& solver : named_solvers()) {
            if (!takes(solver, law) || (solver.name.starts_with("haslinger") && has_wrench(p))) continue;
            expect_solution(p, solver.options, solver.name, law, reference.r, reference.v);
        }
    }
}

Cone coulomb_3d(int) { return Cone::second_order(3, 0.3); }
Cone coulomb_2d(int) { return Cone::second_order(2, 0.3); }

/// A beam in the plane, of mass m and inertia I, on supports at x = -1, 0, 1 that hold it vertically, and one that
/// holds it horizontally; load P downwards and turning impulse T.
ConeProblem beam(double m, double I, double P, double T, const Cone& centre) {
    ConeProblem p;
    p.only().dim = 3;
    p.only().count = 1;
    p.only().mass = BlockInverseMass{{1 / m, 0, 0, 0, 1 / m, 0, 0, 0, 1 / I}};
    p.f = vector_of({0.7, -P, T});
    for (double x : {-1.0, 0.0, 1.0}) {
        p.add_block(x == 0 ? centre : Cone::free(1));
        p.add_entry(0, std::array{0.0, 1.0, x});
    }
    p.add_block(Cone::free(1));
    p.add_entry(0, std::array{1.0, 0.0, 0.0});
    p.w = Vector::Zero(4);
    return p;
}

}  // namespace

TEST(SolveCompliance, OneFrictionlessContact) {
    for (const double inverse_mass : {0.5, 0.0}) {
        for (const double C : {1e-6, 0.1, 10.0}) {
            for (const double w : {-3.0, 2.0}) {
                for (const Cone& cone : {Cone::ray(), Cone::second_order(3, 0.0)}) {
                    ConeProblem p;
                    p.only().dim = 6;
                    p.only().count = 1;
                    std::vector<double> inverse(36, 0.0);
                    for (int c = 0; c < 6; ++c) inverse[7 * c] = inverse_mass;
                    p.only().mass = BlockInverseMass{inverse};
                    p.f = Vector::Zero(6);
                    p.f[0] = 1;
                    p.add_block(cone);
                    const auto rows =
                        contact_rows(Eigen::Matrix3d::Identity(), Eigen::Vector3d(-1, 0, 0), cone.dim, 1);
                    p.add_entry(0, std::span(rows.data(), static_cast<std::size_t>(rows.size())));
                    p.w = Vector::Zero(p.rows());
                    p.w[0] = w;
                    p.compliance = Vector::Constant(p.rows(), C);
                    const double b = inverse_mass + w, r = std::max(0.0, -b / (inverse_mass + C));
                    for (const NamedSolver& solver : named_solvers()) {
                        for (Law law : {Law::coulomb, Law::associated}) {
                            if (!takes(solver, law)) continue;
                            ConeSolution s;
                            const SolveReport report = solve(p, settings_of(solver.options, law, 1e-12), s);
                            EXPECT_EQ(report.status, Status::solved)
                                << solver.name << " C " << C << " w " << w;
                            EXPECT_NEAR(s.r[0], r, 1e-11 * std::max(r, 1.0))
                                << solver.name << " C " << C << " w " << w;
                            EXPECT_NEAR(s.u[0], b + (inverse_mass + C) * r, 1e-11) << solver.name;
                        }
                    }
                }
            }
        }
    }
}

TEST(SolveCompliance, RigidBodies) {
    ConeProblem p = random_bodies({.bodies = 10, .contacts = 20, .seed = 5}, coulomb_3d);
    p.compliance = random_compliance(p, 1, 0.03, 1);
    expect_equivalent(p);
}

TEST(SolveCompliance, Spheres) {
    ConeProblem p = random_spheres(10, 20, 6, 0.3);
    p.compliance = random_compliance(p, 2, 0.03, 1, true);
    expect_equivalent(p);
}

TEST(SolveCompliance, PlanarBodies) {
    ConeProblem p = random_planar(10, 20, 7, coulomb_2d);
    p.compliance = random_compliance(p, 3, 0.03, 1);
    expect_equivalent(p);
}

TEST(SolveCompliance, WrenchCones) {
    ConeProblem p = random_bodies({.bodies = 8, .contacts = 14, .seed = 8},
                                  [](int) { return Cone::wrench(6, 0.3, 0.1, 0.05); });
    p.compliance = random_compliance(p, 4, 0.05, 1);
    expect_equivalent(p);
    p = random_planar(8, 14, 9, [](int) { return Cone::wrench(3, 0.3, 0.1, 0); });
    p.compliance = random_compliance(p, 5, 0.05, 1);
    expect_equivalent(p);
}

// Compliance in some rows only, and joints among the contacts: no more rows than velocities, so that all is unique.
TEST(SolveCompliance, InSomeRows) {
    ConeProblem p = random_bodies({.bodies = 16, .contacts = 20, .seed = 10}, [](int k) {
        return k % 5 == 2   ? Cone::free(3)
               : k % 5 == 4 ? Cone::interval(-0.2, 0.1)
                            : Cone::second_order(3, 0.3);
    });
    p.compliance = random_compliance(p, 6, 0.05, 1);
    for (Index k = 0; k < p.rows(); k += 3) p.compliance[k] = 0;
    expect_equivalent(p);
}

// All kernels and accelerations of the sweeps; a contact whose bodies cannot move is held by its compliance alone.
TEST(SolveCompliance, KernelsOfGaussSeidel) {
    using enum SweepKernel;
    for (const bool planar : {false, true}) {
        for (const bool still : {false, true}) {
            ConeProblem p = planar ? random_planar(10, 20, 11, coulomb_2d) : random_spheres(10, 20, 12, 0.3);
            if (still) {
                const int m = p.only().dim;
                auto& blocks = std::get<BlockInverseMass>(p.only().mass).blocks;
                for (Index k = p.H.start[0]; k < p.H.start[1]; ++k)
                    std::fill_n(blocks.begin() + p.H.body[k] * m * m, m * m, 0.0);
                p.w[0] = -0.4;
                p.w[1] = 0.3;
            }
            p.compliance = random_compliance(p, 7, 0.03, 1, !still);
            const ConeProblem same = with_private_bodies(p);
            for (Law law : {Law::coulomb, Law::associated}) {
                ConeSolution reference;
                ASSERT_EQ(solve(same, settings_of(AutoOptions{}, law, 1e-12), reference).status,
                          Status::solved);
                if (still) {
                    EXPECT_GT(reference.r[0], 0.01);
                }
                for (SweepKernel kernel : {automatic, any, explicit_matrix, rigid}) {
                    if (kernel == rigid && law == Law::associated) continue;
                    for (Acceleration acceleration :
                         {Acceleration::none, Acceleration::momentum, Acceleration::conjugate}) {
                        GaussSeidelOptions o;
                        o.kernel = kernel;
                        o.acceleration = acceleration;
                        const std::string name = "kernel " + std::to_string(static_cast<int>(kernel)) +
                                                 " acceleration " +
                                                 std::to_string(static_cast<int>(acceleration));
                        expect_solution(p, o, name, law, reference.r, reference.v);
                    }
                }
            }
        }
    }
}

// Compliances of 0 change nothing but the kernel's data: sweeps give the impulses of the rigid problem.
TEST(SolveCompliance, OfZeroGivesTheRigidAnswer) {
    for (const ConeProblem& rigid :
         {random_spheres(10, 12, 13, 0.3), random_planar(10, 12, 14, coulomb_2d)}) {
        ConeProblem zero = rigid;
        zero.compliance = Vector::Zero(rigid.rows());
        GaussSeidelOptions o;
        Vector a = Vector::Zero(rigid.rows()), b = a;
        run_sweeps(Delassus(rigid), Law::coulomb, o, 50, a);
        run_sweeps(Delassus(zero), Law::coulomb, o, 50, b);
        EXPECT_LT((a - b).norm(), 1e-13 * a.norm());
    }
}

// Masses that couple bodies: the Delassus matrix itself, and a sparse mass.
TEST(SolveCompliance, CoupledMasses) {
    ConeProblem bodies = random_planar(8, 14, 15, coulomb_2d);
    bodies.compliance = random_compliance(bodies, 8, 0.05, 1);
    ConeProblem rigid = bodies;
    rigid.compliance.resize(0);
    const Delassus W(rigid);
    ConeProblem given = explicit_problem(dense(W), W.b(), rigid.cones);
    given.compliance = bodies.compliance;
    ConeProblem sparse = bodies;
    const auto& inverse = std::get<BlockInverseMass>(bodies.only().mass).blocks;
    SparseMatrix M(bodies.dofs(), bodies.dofs());
    for (Index j = 0; j < bodies.dofs(); ++j)
        M.insert(j, j) = 1 / inverse[static_cast<std::size_t>(j / 3) * 9 + 4 * (j % 3)];
    sparse.only().mass = SparseMass{M};
    const ConeProblem same = with_private_bodies(bodies);
    for (Law law : {Law::coulomb, Law::associated}) {
        ConeSolution reference;
        ASSERT_EQ(solve(same, settings_of(AutoOptions{}, law, 1e-12), reference).status, Status::solved);
        for (const NamedSolver& solver : named_solvers()) {
            if (!takes(solver, law)) continue;
            const std::string name(solver.name);
            expect_solution(sparse, solver.options, name + ", sparse mass", law, reference.r, reference.v);
            const Vector Wr = dense(W) * reference.r;  // the velocities of H = 1
            expect_solution(given, solver.options, name + ", Delassus matrix", law, reference.r, Wr);
        }
    }
}

// A body between walls that approach has no rigid solution; with compliance, however little, it has one.
TEST(SolveCompliance, ASqueezedBodyHasASolution) {
    for (const double C : {1e-3, 1.0}) {
        ConeProblem p = squeezed_body(1, 0.5);
        p.compliance = Vector::Zero(p.rows());
        p.compliance[0] = p.compliance[3] = C;
        for (const NamedSolver& solver : named_solvers()) {
            for (Law law : {Law::coulomb, Law::associated}) {
                if (!takes(solver, law)) continue;
                ConeSolution s;
                const SolveReport report = solve(p, settings_of(solver.options, law, 1e-8), s);
                EXPECT_NE(report.status, Status::infeasible) << solver.name << " C " << C;
                // The walls against each other are 1000 times softer than the body is heavy: too far for these two.
                if (C < 0.01 && (solver.name == "pgd" || solver.name == "apgd")) continue;
                EXPECT_EQ(report.status, Status::solved)
                    << solver.name << " " << name_of_law(law) << " C " << C << " " << report.residual.value
                    << " " << report.message;
                // Both walls push with 1 / C: the body stays where it is.
                EXPECT_NEAR(s.r[0] * C, 1, 1e-5) << solver.name << " C " << C;
                EXPECT_NEAR(s.r[3] * C, 1, 1e-5) << solver.name << " C " << C;
            }
        }
    }
}

TEST(SolveCompliance, OnlyRigidRowsProveInfeasibility) {
    const Vector squeeze = vector_of({1, 0, 0, 1, 0, 0});
    Vector certificate;
    for (Law law : {Law::coulomb, Law::associated}) {
        ConeProblem p = squeezed_body(1, 0.5);
        EXPECT_TRUE(find_infeasibility(Delassus(p), law, squeeze, certificate));
        p.compliance = Vector::Zero(p.rows());
        p.compliance[1] = p.compliance[5] = 1;  // tangents that yield do not help
        EXPECT_TRUE(find_infeasibility(Delassus(p), law, squeeze, certificate));
        EXPECT_TRUE(prove_infeasible(Delassus(p), law, certificate));
        EXPECT_EQ(certificate[1], 0);
        p.compliance[3] = 1e-30;  // in one of the two normals is enough, however little it is
        EXPECT_FALSE(find_infeasibility(Delassus(p), law, squeeze, certificate));
        EXPECT_FALSE(prove_infeasible(Delassus(p), law, certificate));
    }
}

// An operator with a frozen shift is solved as what it is: the referee confirms.
TEST(SolveCompliance, AFrozenShiftIsJudgedWithTheShift) {
    for (const bool compliant : {false, true}) {
        ConeProblem p = random_bodies({.bodies = 10, .contacts = 14, .seed = 16}, coulomb_3d);
        if (compliant) p.compliance = random_compliance(p, 9, 0.03, 1);
        const Delassus W(p);
        const Delassus shifted = W.with_frozen_shift(Vector::LinSpaced(p.blocks(), 0.1, 0.5));
        ConeSolution s;
        const SolveReport report =
            solve(shifted, settings_of(InteriorPointOptions{}, Law::associated, 1e-9), s);
        EXPECT_EQ(report.status, Status::solved) << report.message << " " << report.residual.value;
    }
}

// Supports at x = -1, 0, 1 with compliances c, c0, c: r_i = -(v + x_i omega) / C_i, so
//     v = -P / (m + 2 / c + 1 / c0),    omega = T / (I + 2 / c).
TEST(SolveCompliance, BeamOnThreeSupports) {
    const double m = 2, I = 0.5, P = 6, T = 0.8, c = 0.01, c0 = 0.04;
    const double omega = T / (I + 2 / c);
    for (const double cap : {infinity, 100.0, 1.0}) {
        for (const Cone& centre : {Cone::free(1), Cone::interval(-cap, cap)}) {
            if (centre.kind == ConeKind::free && !std::isinf(cap)) continue;
            ConeProblem p = beam(m, I, P, T, centre);
            p.compliance = vector_of({c, c0, c, 0});
            double v = -P / (m + 2 / c + 1 / c0), r0 = -v / c0;
            if (r0 > cap) {  // the middle gives no more than the cap
                r0 = cap;
                v = (-P + cap) / (m + 2 / c);
            }
            const Vector exact = vector_of({-(v - omega) / c, r0, -(v + omega) / c, -0.7});
            for (const NamedSolver& solver : named_solvers()) {
                for (Law law : {Law::coulomb, Law::associated}) {
                    if (!takes(solver, law)) continue;
                    ConeSolution s;
                    const SolveReport report = solve(p, settings_of(solver.options, law, 1e-11), s);
                    EXPECT_EQ(report.status, Status::solved) << solver.name << " " << report.residual.value;
                    EXPECT_LT((s.r - exact).norm(), 1e-8 * exact.norm()) << solver.name << " cap " << cap;
                }
            }
        }
    }
}

// Rigid supports: the multipliers are not unique, the motion is (none), and so are the sums.
TEST(SolveCompliance, RedundantRigidSupports) {
    for (const double cap : {infinity, 100.0}) {
        for (const Cone& centre : {Cone::free(1), Cone::interval(-cap, cap)}) {
            const ConeProblem p = beam(2, 0.5, 6, 0.8, centre);
            for (const NamedSolver& solver : named_solvers()) {
                for (Law law : {Law::coulomb, Law::associated}) {
                    if (!takes(solver, law)) continue;
                    ConeSolution s;
                    const SolveReport report = solve(p, settings_of(solver.options, law, 1e-10), s);
                    EXPECT_EQ(report.status, Status::solved)
                        << solver.name << " " << name_of_law(law) << " " << report.residual.value << " "
                        << report.message;
                    EXPECT_LT(s.v.norm(), 1e-8) << solver.name;
                    EXPECT_NEAR(s.r[0] + s.r[1] + s.r[2], 6, 1e-7) << solver.name;
                    EXPECT_NEAR(s.r[2] - s.r[0], -0.8, 1e-7) << solver.name;
                }
            }
        }
    }
}

// The same in blocks that are singular by themselves: the three supports as one block of three rows of rank two.
TEST(SolveCompliance, RedundantRowsInOneBlock) {
    ConeProblem p;
    p.only().dim = 3;
    p.only().count = 1;
    p.only().mass = BlockInverseMass{{0.5, 0, 0, 0, 0.5, 0, 0, 0, 2}};
    p.f = vector_of({0.7, -6, 0.8});
    p.add_block(Cone::free(3));
    p.add_entry(0, std::array{0.0, 1.0, -1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0});
    p.w = Vector::Zero(3);
    for (const NamedSolver& solver : named_solvers()) {
        for (Law law : {Law::coulomb, Law::associated}) {
            if (!takes(solver, law)) continue;
            ConeSolution s;
            const SolveReport report = solve(p, settings_of(solver.options, law, 1e-10), s);
            EXPECT_EQ(report.status, Status::solved) << solver.name << " " << name_of_law(law) << " "
                                                     << report.residual.value << " " << report.message;
            EXPECT_LT(s.v.tail(2).norm(), 1e-8) << solver.name;
        }
    }
}
