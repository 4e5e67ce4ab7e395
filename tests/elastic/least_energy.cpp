#include "drystone/elastic/least_energy.hpp"

#include "drystone/elastic/elastic_face.hpp"
#include "drystone/solve/solve.hpp"
#include "solve/sample_problems.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace drystone;
using namespace drystone::testing;

namespace {

/// A rigid beam in the plane (velocities x, y, spin), unit mass, of weight 10 over a step of 1 s, on frictionless
/// supports at `places`.
ConeProblem beam(const std::vector<double>& places) {
    ConeProblem p;
    p.only().dim = 3;
    p.only().count = 1;
    p.only().mass = BlockInverseMass{{1, 0, 0, 0, 1, 0, 0, 0, 3}};
    p.f = vector_of({0, -10, 0});
    for (double x : places) {
        p.add_block(Cone::ray());
        p.add_entry(0, std::array{0.0, 1.0, x});
    }
    p.w = Vector::Zero(p.rows());
    return p;
}

Elasticity hooke(const ConeProblem& p, double compliance = 1) {
    return {Vector::Constant(p.rows(), compliance), false};
}

LeastEnergyOptions to(double tolerance) {
    LeastEnergyOptions o;
    o.tolerance = tolerance;
    return o;
}

ConeSolution solved(const Delassus& W, Law law, double tolerance, Vector start = {}) {
    SolveSettings s;
    s.law = law;
    s.goal.tolerance = tolerance;
    s.goal.time_limit = 30;
    ConeSolution solution;
    solution.r = std::move(start);
    const SolveReport report = solve(W, s, solution);
    EXPECT_EQ(report.status, Status::solved)
        << report.message << " mean " << report.residual.law.mean << " local " << report.residual.law.local
        << " worst " << report.residual.law.worst << " momentum " << report.residual.momentum;
    return solution;
}

/// The H of a problem, dense.
Eigen::MatrixXd dense_rows(const ConeProblem& p) {
    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(p.rows(), p.dofs());
    for (Index i = 0; i < p.blocks(); ++i) {
        const double* A = p.H.value.data() + p.H.value_start[i];
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            for (int a = 0; a < p.cones[i].dim; ++a) {
                for (int c = 0; c < p.only().dim; ++c)
                    H(p.offset[i] + a, p.H.body[k] * p.only().dim + c) = *A++;
            }
        }
    }
    return H;
}

/// Largest violation of the conditions that make f a minimum, by code of its own: there is a displacement q of the
/// bodies that move such that slip_i = C f_i + H_i q is in the dual cone and perpendicular to f_i, for blocks at rest
/// (their face is the whole cone). q is found by least squares from the blocks that neither slip nor open.
struct Optimality {
    double cone = 0, balance = 0, dual = 0, work = 0;
};

Optimality optimality(const ConeProblem& p, const Vector& C, const Vector& r, const Vector& f,
                      const Vector& q) {
    Optimality out;
    const Eigen::MatrixXd H = dense_rows(p);
    const Vector slip = C.cwiseProduct(f) + H * q, y = H.transpose() * r, defect = H.transpose() * f - y;
    const double size = C.cwiseProduct(f).norm();
    for (Index j = 0; j + 1 < p.only().count; ++j)  // the last body is fixed
        out.balance += defect.segment(j * p.only().dim, p.only().dim).squaredNorm();
    out.balance = std::sqrt(out.balance) / y.head((p.only().count - 1) * p.only().dim).norm();
    for (Index i = 0; i < p.blocks(); ++i) {
        const auto fi = f.segment(p.offset[i], p.cones[i].dim),
                   si = slip.segment(p.offset[i], p.cones[i].dim);
        double least = -si[0];
        for (const ConeGroup& g : groups_of(p.cones[i])) {
            const double length = fi.segment(g.start, g.size).norm();
            out.cone = std::max(out.cone, (length - g.mu * fi[0]) / f.norm());
            least += g.mu * si.segment(g.start, g.size).norm();
        }
        out.cone = std::max(out.cone, -fi[0] / f.norm());
        out.dual = std::max(out.dual, least / size);
        out.work += std::abs(fi.dot(si)) / (size * f.norm());
    }
    return out;
}

/// Displacements of the bodies from the whitened ones that least_energy hands back: q = G z with M^-1 = G G^T, and G
/// the symmetric root or any other. H q = Hw z settles it without G: least squares.
Vector displacement_of(const Delassus& W, const Vector& z) {
    Vector x;
    W.spread(z, x);
    return dense_rows(W.problem()).completeOrthogonalDecomposition().solve(x);
}

}  // namespace

// Olsen and Kamrin 2018, section 2: 10/3 each, whatever the solver and the order of contacts; 2, 6, 2 with the middle
// three times stiffer.
TEST(LeastEnergy, BeamOnThreeSupportsFromEverySolverInEveryOrder) {
    std::vector<double> places = {-1, 0, 1};
    do {
        const ConeProblem p = beam(places);
        const Delassus W(p);
        for (const NamedSolver& solver : named_solvers()) {
            for (Law law : {Law::coulomb, Law::associated}) {
                if (!(law == Law::coulomb ? solver.coulomb : solver.associated)) continue;
                SolveSettings settings;
                settings.solver = solver.options;
                settings.law = law;
                settings.goal.tolerance = 1e-12;
                settings.goal.time_limit = 10;
                ConeSolution rigid;
                solve(W, settings, rigid);
                ConeSolution s = rigid;
                SolveReport report = least_energy(W, law, hooke(p), to(1e-13), s);
                EXPECT_EQ(report.status, Status::solved) << solver.name << " " << report.residual.momentum;
                EXPECT_LT((s.r - Vector::Constant(3, 10.0 / 3)).norm(), 1e-10) << solver.name;
                EXPECT_EQ(s.v, rigid.v);
                s = rigid;
                Elasticity e = hooke(p);
                for (int i = 0; i < 3; ++i) e.compliance[i] = places[i] == 0 ? 1.0 / 3 : 1.0;
                report = least_energy(W, law, e, to(1e-13), s);
                for (int i = 0; i < 3; ++i) EXPECT_NEAR(s.r[i], places[i] == 0 ? 6 : 2, 1e-10) << solver.name;
            }
        }
    } while (std::next_permutation(places.begin(), places.end()));
}

TEST(LeastEnergy, BeamFromAnyPointOfTheSolutionSet) {
    const ConeProblem p = beam({-1, 0, 1});
    const Delassus W(p);
    for (double middle : {0.0, 1.0, 5.0, 10.0}) {
        ConeSolution s = W.complete(vector_of({5 - middle / 2, middle, 5 - middle / 2}));
        EXPECT_EQ(least_energy(W, Law::coulomb, hooke(p), to(1e-13), s).status, Status::solved);
        EXPECT_LT((s.r - Vector::Constant(3, 10.0 / 3)).norm(), 1e-12) << middle;
    }
}

namespace {

/// The beam on three rigid supports, held up by a spring at x = 0.5 as well, which pushes with 4 at rest: u = H v + w +
/// C r = 0. Of what is left, 6 with the torque -2, the three bear 3, 2, 1.
ConeProblem beam_with_spring(double compliance, double weight = 10) {
    ConeProblem p = beam({-1, 0, 1});
    p.f[1] = -weight;
    p.add_block(Cone::free(1));
    p.add_entry(0, std::array{0.0, 1.0, 0.5});
    p.w = vector_of({0, 0, 0, -4 * compliance});
    p.compliance = vector_of({0, 0, 0, compliance});
    return p;
}

}  // namespace

// One block that yields says nothing about the others: its own impulse is known, theirs are not.
TEST(LeastEnergy, BeamOnThreeSupportsBesideASpring) {
    // Stiff, and so soft that what it takes from W drowns the masses.
    for (double compliance : {1e-3, 2.0, 1e8}) {
        for (bool separate : {true, false}) {
            ConeProblem p = beam_with_spring(compliance);
            if (!separate) {
                const Eigen::Vector3d inverse(1, 1, 3);
                p.only().mass = SparseInverseMass{Eigen::MatrixXd(inverse.asDiagonal()).sparseView()};
            }
            const Delassus W(p);
            // What is out of balance is the root of a product with W if masses are coupled: half of the digits are
            // lost.
            const double tolerance = separate ? 1e-13 : 1e-8;
            for (double other : {-1.0, 0.0, 0.5, 1.0}) {
                ConeSolution s = W.complete(vector_of({3 + other, 2 - 2 * other, 1 + other, 4}));
                ASSERT_LT(s.v.norm(), 1e-14);
                const SolveReport report = least_energy(W, Law::coulomb, hooke(p), to(tolerance), s);
                EXPECT_EQ(report.status, Status::solved) << report.message;
                EXPECT_LT((s.r - vector_of({3, 2, 1, 4})).norm(), 100 * tolerance)
                    << compliance << " " << separate << " " << other << ": " << s.r.transpose();
                EXPECT_EQ(s.r[3], 4);
            }
        }
    }
}

// Nothing but the spring loads the supports: H^T r* = 0, and is no measure of what they bear.
TEST(LeastEnergy, SupportsPressedByASpringAlone) {
    ConeProblem p = beam_with_spring(0.5, 0);
    p.H.value.back() = 0;  // the spring in the middle, pressing with 6
    p.w[3] = 3;
    const Delassus W(p);
    for (double middle : {0.0, 5.0, 6.0}) {
        ConeSolution s = W.complete(vector_of({3 - middle / 2, middle, 3 - middle / 2, -6}));
        const SolveReport report = least_energy(W, Law::associated, hooke(p), to(1e-13), s);
        EXPECT_EQ(report.status, Status::solved) << report.message;
        EXPECT_LT((s.r - vector_of({2, 2, 2, -6})).norm(), 1e-11) << s.r.transpose();
    }
}

// A contact that yields, in all its rows, beside rigid ones: sweeps and Newton's method both leave it alone.
TEST(LeastEnergy, PackingsWithContactsThatYieldHaveOneAnswer) {
    int other_starts = 0;
    for (unsigned seed = 1; seed <= 4; ++seed) {
        ConeProblem p = random_bodies({.bodies = 8, .contacts = 60, .seed = seed}, [](int k) {
            return k % 5 == 0   ? Cone::wrench(6, 0.7, 0.2, 0.1)
                   : k % 5 == 1 ? Cone::ray()
                                : Cone::second_order(3, 0.9);
        });
        p.compliance = Vector::Zero(p.rows());
        for (Index i = 0; i < p.blocks(); i += 7) {
            p.compliance.segment(p.offset[i], p.cones[i].dim).setConstant(i % 2 == 0 ? 0.1 : 1.0);
        }
        const Delassus W(p);
        Vector first, first_rigid;
        for (int start = 0; start < 3; ++start) {
            ConeSolution s = solved(W, Law::associated, 1e-11, Vector::Constant(p.rows(), 4.0 * start));
            const Vector given = s.r;
            const SolveReport report = least_energy(W, Law::associated, hooke(p), to(1e-11), s);
            EXPECT_EQ(report.status, Status::solved) << seed << " " << report.message;
            EXPECT_LT(report.residual.law.mean, 1e-8) << seed;
            for (Index i = 0; i < p.blocks(); i += 7) {
                const auto rows = [&](const Vector& r) { return r.segment(p.offset[i], p.cones[i].dim); };
                EXPECT_EQ(rows(s.r), rows(given)) << i;
            }
            if (start == 0) {
                first = s.r;
                first_rigid = given;
            }
            other_starts += (given - first_rigid).norm() > 1e-2 * given.norm() ? 1 : 0;
            EXPECT_LT((s.r - first).norm(), 1e-6 * first.norm()) << seed << ": " << report.message;
        }
    }
    EXPECT_GE(other_starts, 4);  // or there would have been nothing to find
}

TEST(LeastEnergy, BlocksThatYieldInAllRowsOrInSome) {
    ConeProblem p = beam({-1, 0, 1});
    p.compliance = vector_of({0.1, 0.2, 0.3});
    ConeSolution s = solved(Delassus(p), Law::coulomb, 1e-12);
    const Vector unique = s.r;
    SolveReport report = least_energy(Delassus(p), Law::coulomb, hooke(p), to(1e-13), s);
    EXPECT_EQ(report.status, Status::solved);
    EXPECT_EQ(s.r, unique);

    p.add_block(Cone::second_order(2, 0.5));
    p.add_entry(0, std::array{0.0, 1.0, 0.5, 1.0, 0.0, 0.0});
    p.w = Vector::Zero(5);
    p.compliance = vector_of({0, 0, 0, 0.1, 0});
    s = solved(Delassus(p), Law::coulomb, 1e-12);
    const Vector before = s.r;
    report = least_energy(Delassus(p), Law::coulomb, hooke(p), to(1e-13), s);
    EXPECT_EQ(report.status, Status::invalid);
    EXPECT_NE(report.message.find("block 3 yields in some of its rows"), std::string::npos) << report.message;
    EXPECT_EQ(s.r, before);
}

// Supports off the middle: some lift off in the elastic limit (f >= 0 binds). Against the best of all subsets of
// supports, each a dense KKT system.
TEST(LeastEnergy, BeamOnFiveSupportsAgainstDenseSystems) {
    const std::vector<double> places = {-0.2, 0.3, 0.9, 1.6, 2.5};
    const ConeProblem p = beam(places);
    const Delassus W(p);
    const Vector C = vector_of({1, 0.5, 2, 0.1, 0.3});
    // Rest: sum f = 10, sum x f = 0.
    double best = INFINITY;
    Vector expected;
    for (unsigned set = 1; set < 32; ++set) {
        std::vector<int> on;
        for (int i = 0; i < 5; ++i) {
            if ((set >> i & 1U) != 0) on.push_back(i);
        }
        const auto n = static_cast<Eigen::Index>(on.size());
        Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n + 2, n + 2);
        Vector rhs = Vector::Zero(n + 2);
        for (Eigen::Index a = 0; a < n; ++a) {
            K(a, a) = C[on[a]];
            K(a, n) = K(n, a) = 1;
            K(a, n + 1) = K(n + 1, a) = places[on[a]];
        }
        rhs[n] = 10;
        const Vector x = K.fullPivLu().solve(rhs);
        if ((K * x - rhs).norm() > 1e-9 || x.head(n).minCoeff() < 0) continue;
        Vector f = Vector::Zero(5);
        for (Eigen::Index a = 0; a < n; ++a) f[on[a]] = x[a];
        const double energy = f.dot(C.cwiseProduct(f));
        if (energy < best) {
            best = energy;
            expected = f;
        }
    }
    ASSERT_EQ(expected.size(), 5);
    EXPECT_EQ(expected.minCoeff(), 0);  // the case is worth its name
    for (Law law : {Law::coulomb, Law::associated}) {
        ConeSolution s = solved(W, law, 1e-12);
        EXPECT_EQ(least_energy(W, law, {C, false}, to(1e-13), s).status, Status::solved);
        EXPECT_LT((s.r - expected).norm(), 1e-10);
    }
}

// A contact that opens carries nothing, one that slides pulls with mu f_N, also where the others could use it.
TEST(LeastEnergy, KeepsWhatTheVelocitiesSay) {
    // A beam with friction pushed along its two supports; a third rises away from it.
    ConeProblem p;
    p.only().dim = 3;
    p.only().count = 1;
    p.only().mass = BlockInverseMass{{1, 0, 0, 0, 1, 0, 0, 0, 3}};
    p.f = vector_of({20, -10, 0});
    const std::vector<double> places = {-1, 0.25, 1};
    for (double x : places) {
        p.add_block(Cone::second_order(2, 0.5));
        p.add_entry(0, std::array{0.0, 1.0, x, 1.0, 0.0, 0.0});
    }
    p.w = Vector::Zero(p.rows());
    p.w[2] = 1;  // the middle one sinks
    const Delassus W(p);
    ConeSolution s = solved(W, Law::coulomb, 1e-12);
    Elasticity e = hooke(p);
    e.compliance[2] = e.compliance[3] = 1e-3;
    EXPECT_EQ(least_energy(W, Law::coulomb, e, to(1e-13), s).status, Status::solved);
    EXPECT_EQ(s.r[2], 0);
    EXPECT_EQ(s.r[3], 0);
    EXPECT_NEAR(s.r[0], 5, 1e-10);
    EXPECT_NEAR(s.r[1], -2.5, 1e-10);
    EXPECT_NEAR(s.r[4], 5, 1e-10);
    EXPECT_NEAR(s.r[5], -2.5, 1e-10);
    EXPECT_LT(judge(W, s, Law::coulomb).value, 1e-10);
}

// The derivative of the springs against finite differences, for every kind of face.
TEST(LeastEnergy, SpringsHaveTheDerivativeTheySay) {
    std::mt19937 engine(5);
    std::normal_distribution<double> normal;
    const std::vector<Cone> cones = {Cone::ray(),
                                     Cone::second_order(2, 0.4),
                                     Cone::second_order(3, 0.7),
                                     Cone::second_order(3, INFINITY),
                                     Cone::second_order(3, 0),
                                     Cone::truncated(3, 0.3, 0.5),
                                     Cone::wrench(3, 0.5, 0.2, 0),
                                     Cone::wrench(6, 0.5, 0.2, 0.1),
                                     Cone::free(4),
                                     Cone::interval(-0.5, 0.8)};
    for (const Cone& cone : cones) {
        const int d = cone.dim;
        for (int trial = 0; trial < 200; ++trial) {
            std::array<double, 6> r{}, u{}, x{}, C{}, f{}, up{}, down{};
            std::array<double, 36> D{};
            for (int c = 0; c < d; ++c) {
                x[c] = normal(engine);
                C[c] = 0.5 + std::abs(normal(engine));
            }
            for (const ConeGroup& g : groups_of(cone)) {
                for (int c = g.start; c < g.start + g.size; ++c) {
                    C[c] = C[g.start];
                    if (trial % 3 == 0 && g.start == 1) u[c] = normal(engine);  // slides
                }
            }
            if (trial % 7 == 0) u[0] = 5;  // opens
            const double shift = trial % 2;
            const Law law = trial % 5 == 0 ? Law::associated : Law::coulomb;
            ElasticFace face = face_of(cone, {r.data(), u.data(), 1, 1, 1e-9}, law);
            set_compliance(face, C.data());
            respond(face, x.data(), shift, f.data(), D.data());
            // The forces lie in the cone, up to rounding.
            EXPECT_LT(distance(cone, std::span<const double>(f).first(d)), 1e-14);
            for (int b = 0; b < d; ++b) {
                const double h = 1e-7;
                std::array<double, 6> moved = x;
                moved[b] = x[b] + h;
                respond(face, moved.data(), shift, up.data());
                moved[b] = x[b] - h;
                respond(face, moved.data(), shift, down.data());
                for (int a = 0; a < d; ++a)
                    EXPECT_NEAR(D[a * d + b], -(up[a] - down[a]) / (2 * h), 1e-6)
                        << int(cone.kind) << " " << trial;
            }
        }
    }
}

TEST(LeastEnergy, PackingsAtRestHaveOneAnswerWhateverTheStart) {
    const std::vector<std::pair<const char*, std::function<Cone(int)>>> kinds = {
        {"ray", [](int) { return Cone::ray(); }},
        {"second order", [](int) { return Cone::second_order(3, 0.7); }},
        {"mixed", [](int k) { return k % 4 == 0 ? Cone::ray() : Cone::second_order(3, 0.9); }},
        {"wrench", [](int) { return Cone::wrench(6, 0.7, 0.2, 0.1); }},
    };
    int at_rest = 0, other_starts = 0;
    for (const auto& [name, cone] : kinds) {
        for (unsigned seed = 1; seed <= 4; ++seed) {
            const ConeProblem p = random_bodies({.bodies = 8, .contacts = 60, .seed = seed}, cone);
            const Delassus W(p);
            std::mt19937 engine(seed);
            std::uniform_real_distribution<double> uniform(0.5, 2);
            Elasticity e = hooke(p);
            for (Index i = 0; i < p.blocks(); ++i) {
                e.compliance[p.offset[i]] = uniform(engine);
                for (const ConeGroup& g : groups_of(p.cones[i]))
                    e.compliance.segment(p.offset[i] + g.start, g.size).setConstant(uniform(engine));
            }
            for (Law law : {Law::associated, Law::coulomb}) {
                Vector first, first_rigid;
                for (int start = 0; start < 3; ++start) {
                    Vector r = Vector::Zero(p.rows());
                    for (Index c = 0; c < p.rows() && start > 0; ++c) r[c] = 3 * start * uniform(engine);
                    ConeSolution s = solved(W, law, 1e-11, r);
                    // Under the exact law velocities need not be unique: only rest is compared.
                    const bool rest = s.u.norm() < 1e-8 * W.b().norm();
                    if (law == Law::coulomb && !rest) break;
                    const Vector rigid = s.r;
                    Vector z;
                    const SolveReport report = least_energy(W, law, e, to(1e-11), s, &z);
                    EXPECT_EQ(report.status, Status::solved)
                        << name << " " << seed << " " << report.message << " " << report.residual.momentum;
                    EXPECT_LT(report.residual.law.mean, 1e-8) << name << " " << seed;
                    EXPECT_LE(s.r.dot(e.compliance.cwiseProduct(s.r)),
                              rigid.dot(e.compliance.cwiseProduct(rigid)) * (1 + 1e-9));
                    if (start == 0) {
                        first = s.r;
                        first_rigid = rigid;
                    }
                    other_starts += (rigid - first_rigid).norm() > 1e-2 * rigid.norm() ? 1 : 0;
                    at_rest += rest && law == Law::coulomb ? 1 : 0;
                    EXPECT_LT((s.r - first).norm(), 1e-6 * first.norm())
                        << name << " " << seed << " law " << int(law) << " start " << start << ": "
                        << report.message;
                    if (rest) {
                        const Optimality k = optimality(p, e.compliance, rigid, s.r, displacement_of(W, z));
                        EXPECT_LT(k.cone, 1e-14) << name;
                        EXPECT_LT(k.balance, 1e-9) << name;
                        EXPECT_LT(k.dual, 1e-9) << name;
                        EXPECT_LT(k.work, 1e-9) << name;
                    }
                }
            }
        }
    }
    // The test is about something: starts led to other impulses, and rest under the exact law occurred.
    EXPECT_GE(other_starts, 30);
    EXPECT_GE(at_rest, 10);
}

namespace {

/// Blocks side by side between two walls, on a floor with friction, pressed together; every block also stands on two
/// feet. 2D.
ConeProblem row_of_blocks(int n) {
    ConeProblem p;
    p.only().dim = 3;
    p.only().count = n;
    BlockInverseMass mass;
    for (int j = 0; j < n; ++j) mass.blocks.insert(mass.blocks.end(), {1, 0, 0, 0, 1, 0, 0, 0, 6});
    p.only().mass = mass;
    p.f = Vector::Zero(p.dofs());
    const double mu = 0.5;
    for (int j = 0; j < n; ++j) {
        p.f[3 * j + 1] = -1;
        for (double foot : {-0.5, 0.5}) {
            p.add_block(Cone::second_order(2, mu));
            p.add_entry(j, std::array{0.0, 1.0, foot, 1.0, 0.0, 0.5});
        }
    }
    for (int j = 0; j <= n; ++j) {
        for (double height : {-0.5, 0.5}) {
            p.add_block(Cone::second_order(2, mu));
            if (j > 0) p.add_entry(j - 1, std::array{-1.0, 0.0, height, 0.0, -1.0, -0.5});
            if (j < n) p.add_entry(j, std::array{1.0, 0.0, -height, 0.0, 1.0, -0.5});
        }
    }
    p.f[0] = 3;
    p.f[3 * (n - 1)] = -2;
    p.w = Vector::Zero(p.rows());
    return p;
}

/// Root of an increasing function by bisection to the last bit.
double root(const std::function<double(double)>& f, double low, double high) {
    for (int k = 0; k < 200; ++k) (f(0.5 * (low + high)) < 0 ? low : high) = 0.5 * (low + high);
    return 0.5 * (low + high);
}

}  // namespace

// A long row: the load of the first block travels through two hundred springs.
TEST(LeastEnergy, LongRowOfBlocks) {
    const ConeProblem p = row_of_blocks(200);
    Vector first;
    for (int start = 0; start < 2; ++start) {
        const Delassus W(p);
        ConeSolution s = solved(W, Law::associated, 1e-10, Vector::Constant(p.rows(), start));
        ASSERT_LT(s.v.norm(), 1e-6);
        Vector z;
        const Elasticity e = hooke(p);
        const Vector rigid = s.r;
        SolveReport report = least_energy(W, Law::associated, e, to(1e-10), s, &z);
        EXPECT_EQ(report.status, Status::solved) << report.message << " " << report.residual.momentum;
        if (start == 0) first = s.r;
        EXPECT_LT((s.r - first).norm(), 1e-6 * first.norm()) << report.message;
        // Started from its own displacements it has nothing to do.
        ConeSolution again{rigid, s.u, s.v};
        report = least_energy(W, Law::associated, e, to(1e-9), again, &z);
        EXPECT_EQ(report.iterations, 0);
        // The same bits on any number of threads.
        const Delassus W3(p, 3);
        ConeSolution threaded{rigid, s.u, s.v};
        least_energy(W3, Law::associated, e, to(1e-10), threaded);
        EXPECT_EQ(threaded.r, s.r);
    }
}

namespace {

/// 500 spheres of unit mass on a lattice shaken a little, in five layers on a floor, friction 0.5: those nearer than a
/// cut touch, which leaves few more contacts than hold them.
ConeProblem shaken_layers(unsigned seed) {
    constexpr int along = 10, layers = 5;
    ConeProblem p;
    p.only().dim = 6;
    p.only().count = along * along * layers;
    BlockInverseMass mass;
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Eigen::Vector3d> centre;
    p.f = Vector::Zero(p.dofs());
    for (int k = 0; k < layers; ++k) {
        for (int i = 0; i < along * along; ++i) {
            const double shift = 0.5 * (k % 2);
            centre.emplace_back(i % along + shift, i / along + shift, 0.5 + k * std::sqrt(0.5));
            for (double& c : centre.back()) c += 0.1 * uniform(engine);
            p.f[6 * (static_cast<Eigen::Index>(centre.size()) - 1) + 2] = -1;
            for (int c = 0; c < 36; ++c) mass.blocks.push_back(c % 7 != 0 ? 0.0 : c < 18 ? 1.0 : 10.0);
        }
    }
    p.only().mass = mass;
    auto frame_of = [](const Eigen::Vector3d& n) {
        Eigen::Matrix3d frame;
        frame.col(0) = n;
        frame.col(1) = n.unitOrthogonal();
        frame.col(2) = n.cross(frame.col(1));
        return frame;
    };
    auto touch = [&](Index a, const Eigen::Vector3d& n, Index b) {
        const Eigen::Matrix3d frame = frame_of(n);
        p.add_block(Cone::second_order(3, 0.5));
        auto entry = [&](Index body, double sign, const Eigen::Vector3d& arm) {
            Eigen::Matrix<double, 3, 6, Eigen::RowMajor> rows;
            for (int c = 0; c < 3; ++c)
                rows.row(c) << sign * frame.col(c).transpose(), sign * arm.cross(frame.col(c)).transpose();
            p.add_entry(body, std::span<const double>(rows.data(), 18));
        };
        entry(a, 1, -0.5 * n);
        if (b >= 0) entry(b, -1, 0.5 * n);
    };
    for (Index a = 0; a < p.only().count; ++a) {
        if (a < along * along) touch(a, Eigen::Vector3d::UnitZ(), -1);
        for (Index b = 0; b < a; ++b) {
            const Eigen::Vector3d apart = centre[a] - centre[b];
            if (apart.norm() < 1.05) touch(a, apart.normalized(), b);
        }
    }
    p.w = Vector::Zero(p.rows());
    return p;
}

}  // namespace

// Packings with few contacts more than they need: springs slip by the hundred, the matrix of Newton's method becomes
// singular, and displacements grow long before forces balance.
TEST(LeastEnergy, NearlyIsostaticPackingWithFriction) {
    const ConeProblem p = shaken_layers(1);
    const Delassus W(p);
    const Elasticity e = hooke(p);
    Vector precise;
    for (double tolerance : {1e-5, 1e-3}) {
        for (double start : {0.0, 3.0}) {
            Vector r = Vector::Zero(p.rows());
            for (Index i = 0; i < p.blocks(); ++i) r[p.offset[i]] = start;
            const ConeSolution rigid = solved(W, Law::associated, 1e-8, r);
            ConeSolution s = rigid;
            const SolveReport report = least_energy(W, Law::associated, e, to(tolerance), s);
            EXPECT_EQ(report.status, Status::solved) << report.message << " " << report.residual.momentum;
            EXPECT_LE(report.residual.momentum, tolerance);
            // Up to what is out of balance.
            EXPECT_LT(s.r.squaredNorm(), (1 + 10 * tolerance) * rigid.r.squaredNorm());
            // Balance by code of its own.
            const Vector out = dense_rows(p).transpose() * (s.r - rigid.r);
            EXPECT_LT(out.norm(), 3 * tolerance * p.f.norm());
            if (precise.size() == 0) precise = s.r;
            // What is out of balance counts several times in the forces of a packing that is this loose.
            EXPECT_LT((s.r - precise).norm(), 50 * tolerance * precise.norm());
            if (tolerance == 1e-5) continue;
            // The same bits on any number of threads.
            const Delassus W3(p, 3);
            ConeSolution threaded = rigid;
            least_energy(W3, Law::associated, e, to(tolerance), threaded);
            EXPECT_EQ(threaded.r, s.r);
        }
    }
}

TEST(LeastEnergy, HertzLeavesDeterminateForcesAlone) {
    const ConeProblem p = beam({-1, 3});
    const Delassus W(p);
    ConeSolution s = solved(W, Law::associated, 1e-13);
    Elasticity e{vector_of({1, 7}), true};
    const SolveReport report = least_energy(W, Law::associated, e, to(1e-12), s);
    EXPECT_EQ(report.status, Status::solved) << report.message;
    EXPECT_NEAR(s.r[0], 7.5, 1e-10);
    EXPECT_NEAR(s.r[1], 2.5, 1e-10);
}

// Supports at -1, 0, 2 with f = k d^(3/2) and a beam that stays straight, d_i = a + b x_i: balance leaves one unknown
// f_0, and compatibility says 2 d_0 - 3 d_1 + d_2 = 0.
TEST(LeastEnergy, HertzOnThreeSupportsAgainstAScalarRoot) {
    const ConeProblem p = beam({-1, 0, 2});
    const Delassus W(p);
    const std::array<double, 3> k = {2, 1, 5};
    // f_0 = 2 f_2, f_1 = 10 - 3 f_2
    const double f2 = root(
        [&](double f) {
            return 2 * std::pow(2 * f / k[0], 2.0 / 3) - 3 * std::pow((10 - 3 * f) / k[1], 2.0 / 3) +
                   std::pow(f / k[2], 2.0 / 3);
        },
        0, 10.0 / 3);
    ConeSolution s = solved(W, Law::associated, 1e-13);
    const SolveReport report =
        least_energy(W, Law::associated, {vector_of({1 / k[0], 1 / k[1], 1 / k[2]}), true}, to(1e-12), s);
    EXPECT_EQ(report.status, Status::solved) << report.message;
    EXPECT_LT((s.r - vector_of({2 * f2, 10 - 3 * f2, f2})).norm(), 1e-9) << report.message;
}

// A body wedged between two walls that lean towards each other: the springs slip in the elastic displacement. Without
// dilatation a slipping spring answers to its normal displacement alone, f_N = -x_N / C, f_T = -mu f_N sign(x_T).
TEST(LeastEnergy, SlipWithoutDilatation) {
    ConeProblem p;
    p.only().dim = 3;
    p.only().count = 1;
    p.only().mass = BlockInverseMass{{1, 0, 0, 0, 1, 0, 0, 0, 3}};
    p.f = vector_of({0, -10, 0});
    // Two feet with friction on the floor and one leaning prop, all through the middle: rotation does not matter.
    const std::array<Eigen::Vector2d, 3> normals = {Eigen::Vector2d(0, 1), Eigen::Vector2d(-0.8, 0.6),
                                                    Eigen::Vector2d(0.6, 0.8)};
    for (const auto& n : normals) {
        p.add_block(Cone::second_order(2, 0.3));
        p.add_entry(0, std::array{n[0], n[1], 0.0, n[1], -n[0], 0.0});
    }
    p.w = Vector::Zero(p.rows());
    const Delassus W(p);
    for (Law slip : {Law::associated, Law::coulomb}) {
        ConeSolution s = solved(W, Law::coulomb, 1e-13);
        ASSERT_LT(s.v.norm(), 1e-9);
        LeastEnergyOptions o = to(1e-12);
        o.slip = slip;
        Elasticity e = hooke(p);
        e.compliance << 1, 0.01, 1, 0.01, 1, 0.01;  // stiff tangentially, so that springs slip
        Vector z;
        const SolveReport report = least_energy(W, Law::coulomb, e, o, s, &z);
        EXPECT_EQ(report.status, Status::solved) << report.message;
        Vector x;
        W.spread(z, x);
        int slipping = 0;
        for (int i = 0; i < 3; ++i) {
            const double fN = s.r[2 * i], fT = s.r[2 * i + 1], xN = x[2 * i], xT = x[2 * i + 1];
            const double slid = xT + 0.01 * fT,
                         opening = slip == Law::associated ? 0.3 * std::abs(slid) : 0.0;
            EXPECT_LE(std::abs(fT), 0.3 * fN + 1e-12);
            if (fN > 0) {
                EXPECT_NEAR(xN + fN, opening, 1e-8) << i;
            } else {
                EXPECT_GE(xN, opening - 1e-8) << i;
            }
            if (std::abs(slid) > 1e-6) {
                EXPECT_NEAR(fT, -0.3 * fN * (slid > 0 ? 1 : -1), 1e-9) << i;
            }
            slipping += std::abs(slid) > 1e-6 && fN > 0 ? 1 : 0;
        }
        EXPECT_GE(slipping, 1);
    }
}

TEST(LeastEnergy, SaysWhatItDoesNotAccept) {
    ConeProblem p = row_of_blocks(2);
    ConeSolution s = Delassus(p).complete(Vector::Zero(p.rows()));
    Elasticity e = hooke(p);
    e.compliance[3] = 0;
    SolveReport report = least_energy(Delassus(p), Law::coulomb, e, {}, s);
    EXPECT_EQ(report.status, Status::invalid);
    EXPECT_NE(report.message.find("block 1"), std::string::npos) << report.message;
    e.compliance.resize(2);
    EXPECT_EQ(least_energy(Delassus(p), Law::coulomb, e, {}, s).status, Status::invalid);
    // A problem with springs of its own is left alone.
    p.compliance = Vector::Ones(p.rows());
    s.r.setConstant(0.25);
    report = least_energy(Delassus(p), Law::coulomb, e, {}, s);
    EXPECT_EQ(report.status, Status::solved);
    EXPECT_EQ(s.r, Vector::Constant(p.rows(), 0.25));
}
