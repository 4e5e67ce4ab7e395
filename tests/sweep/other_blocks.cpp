// Blocks of general rows: their closed form against the general solver of one block, and looks at them against the
// referee.
#include "drystone/cone/complementarity.hpp"
#include "drystone/cone/delassus.hpp"
#include "drystone/cone/judge.hpp"
#include "drystone/solve/gauss_seidel.hpp"
#include "drystone/sweep/contact_sweeps.hpp"
#include "drystone/sweep/tiling.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>

namespace drystone {
namespace {

enum class Shape : std::uint8_t { any, strongly_coupled, round, flat, shapes };

struct Random {
    std::mt19937 engine{5};
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform{-1, 1};

    double operator()() { return normal(engine); }
    Eigen::MatrixXd matrix(int rows, int columns) {
        return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(engine); });
    }
};

/// A definite block from T = W_TT - W_TN W_TN^T / W_NN: as it comes, with a normal coupled a thousand times more than
/// T resists, T the same in all directions, or with one in which there is next to nothing of it.
Eigen::MatrixXd block_of(Shape shape, int dim, Random& random) {
    const int D = dim - 1;
    Eigen::MatrixXd A = random.matrix(D, D), T = A * A.transpose() + 0.1 * Eigen::MatrixXd::Identity(D, D);
    if (shape == Shape::strongly_coupled) T *= 1e-3;
    if (shape == Shape::round) T = Eigen::MatrixXd::Identity(D, D);
    if (shape == Shape::flat) {
        const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(A).householderQ();
        Vector t = Vector::Ones(D);
        t[0] = 1e-7;
        T = Q * t.asDiagonal() * Q.transpose();
    }
    const Vector c = random.matrix(D, 1);
    const double w = std::exp(random());
    Eigen::MatrixXd W(dim, dim);
    W(0, 0) = w;
    W.bottomLeftCorner(D, 1) = c;
    W.topRightCorner(1, D) = c.transpose();
    W.bottomRightCorner(D, D) = T + c * c.transpose() / w;
    // Heavy and light bodies.
    return std::pow(10.0, 6 * random.uniform(random.engine)) * W;
}

/// Blocks with a body each, of as many velocities, whose inverse mass is 1.
ConeProblem separate_blocks(const std::vector<Cone>& cones, int velocities, Random& random) {
    ConeProblem p;
    constexpr int repetitions = 50;
    const int shapes = static_cast<int>(Shape::shapes);
    const auto count = static_cast<Index>(cones.size() * shapes * repetitions);
    RigidInverseMass mass;
    mass.mass.assign(count, 1);
    mass.inertia.assign(count, 1);
    p.species.push_back({velocities, count, mass});
    p.f = Vector::Zero(p.dofs());
    for (Index i = 0; i < count; ++i) {
        const Cone& cone = cones[static_cast<std::size_t>(i) % cones.size()];
        const auto shape = static_cast<Shape>(i / static_cast<Index>(cones.size()) % shapes);
        const Eigen::MatrixXd W = block_of(shape, cone.dim, random);
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows =
            Eigen::MatrixXd::Zero(cone.dim, velocities);
        rows.leftCols(cone.dim) = Eigen::LLT<Eigen::MatrixXd>(W).matrixL();
        p.add_block(cone);
        p.add_entry(i, {rows.data(), static_cast<std::size_t>(rows.size())});
    }
    p.w = random.matrix(p.rows(), 1);
    return p;
}

/// The natural map relative to the impulses at stake, as in local.cpp.
double local_error(const Cone& cone, const BlockMatrix& W, const BlockVector& b, const BlockVector& r,
                   Law law) {
    const double xi = static_cast<double>(W.rows()) / W.trace();
    return natural_map(cone, W * r + b, r, xi, law).norm() / std::max(r.norm(), xi * b.norm());
}

std::vector<Cone> cones_of(int dim) {
    std::vector<Cone> cones;
    for (const double mu : {0.0, 0.3, 1.0, 20.0, 1000.0}) cones.push_back(Cone::second_order(dim, mu));
    return cones;
}

class OtherBlocks : public ::testing::TestWithParam<std::tuple<int, int>> {};  // velocities, dimension

// Every block is solved by its first visit.
TEST_P(OtherBlocks, AreSolvedInClosedFormAsBySolveLocal) {
    const auto [velocities, dim] = GetParam();
    Random random;
    const ConeProblem p = separate_blocks(cones_of(dim), velocities, random);
    ASSERT_EQ(find_faults(p), std::vector<std::string>{});
    const Delassus W(p);
    for (const Law law : {Law::coulomb, Law::associated}) {
        for (const bool warm : {false, true}) {
            Vector start = Vector::Zero(p.rows());
            if (warm)
                for (Index i = 0; i < p.blocks(); ++i) start[p.offset[i]] = 1 / W.inverse_mass(i);
            Vector r = start;
            run_sweeps(W, law, {}, 1, r);
            for (Index i = 0; i < p.blocks(); ++i) {
                const BlockMatrix Wi = W.diagonal(i);
                const BlockVector b = p.w.segment(p.offset[i], dim), mine = r.segment(p.offset[i], dim);
                BlockVector theirs = start.segment(p.offset[i], dim);
                solve_local(p.cones[i], Wi, b, law, {}, theirs);
                // Rounding of blocks whose condition is 10^7 and more.
                EXPECT_LT(local_error(p.cones[i], Wi, b, mine, law), 5e-12) << i;
                // With the exact law and so much friction there may be other solutions.
                if (law == Law::coulomb && p.cones[i].mu() > 100) continue;
                const double scale = std::max(theirs.norm(), dim / Wi.trace() * b.norm());
                EXPECT_LT((mine - theirs).norm(), 1e-7 * scale) << i;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, OtherBlocks,
                         ::testing::Values(std::tuple(6, 2), std::tuple(6, 3), std::tuple(6, 6),
                                           std::tuple(3, 2), std::tuple(3, 3)));

/// Rows on three bodies each: of bodies that turn and points, heavy ones or light ones, one of which does not move.
ConeProblem connected_blocks(const std::vector<Cone>& cones, double scale) {
    constexpr Index bodies = 12, points = 12, blocks = 40;
    Random random;
    ConeProblem p;
    RigidInverseMass mass;
    PointInverseMass light;
    for (Index j = 0; j < bodies; ++j) {
        mass.mass.push_back(j == 0 ? 0 : scale * std::exp(random()));
        const Eigen::Matrix3d A = random.matrix(3, 3), J = scale * (A * A.transpose());
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b <= a; ++b) mass.inertia.push_back(j == 0 ? 0 : J(a, b));
    }
    for (Index j = 0; j < points; ++j) light.mass.push_back(scale * std::exp(random()));
    p.species.push_back({6, bodies, mass});
    p.species.push_back({3, points, light});
    p.f = random.matrix(p.dofs(), 1) / scale;
    for (Index i = 0; i < blocks; ++i) {
        const Cone& cone = cones[static_cast<std::size_t>(i) % cones.size()];
        p.add_block(cone);
        for (const Index body : {i * 5 % bodies, (i * 7 + 1) % bodies, bodies + i * 3 % points}) {
            if (p.H.last(i) > p.H.first(i) && p.H.body.back() == body) continue;
            const Eigen::MatrixXd rows = random.matrix(cone.dim, p.place_of(body).dim);
            p.add_entry(body, {rows.data(), static_cast<std::size_t>(rows.size())});
        }
    }
    p.w = random.matrix(p.rows(), 1);
    return p;
}

std::vector<Cone> many_cones() {
    Cone dilating = Cone::second_order(3, 0.3);
    dilating.dilatancy = 0.5;
    return {Cone::second_order(3, 0.5),      Cone::ray(),   Cone::second_order(2, 0.4),
            Cone::truncated(3, 0.2, 0.1),    dilating,      Cone::second_order(6, 0.7),
            Cone::second_order(3, infinity), Cone::free(2), Cone::wrench(6, 0.5, 0.1, 0.1)};
}

TEST(ConnectedBlocks, AreSweptAsByTheGeneralKernel) {
    const ConeProblem p = connected_blocks(many_cones(), 1);
    ASSERT_EQ(find_faults(p), std::vector<std::string>{});
    const Delassus W(p), W2(p, 2);
    for (const Law law : {Law::coulomb, Law::associated}) {
        for (const Acceleration acceleration : {Acceleration::none, Acceleration::momentum}) {
            GaussSeidelOptions options;
            options.acceleration = acceleration;
            Vector mine = Vector::Zero(p.rows()), again = mine, theirs = mine;
            run_sweeps(W, law, options, 7, mine);
            run_sweeps(W2, law, options, 7, again);
            EXPECT_EQ(mine, again);
            options.kernel = SweepKernel::any;
            run_sweeps(W, law, options, 7, theirs);
            EXPECT_LT((mine - theirs).norm(), 1e-10 * theirs.norm()) << static_cast<int>(law);
        }
    }
}

void expect_looks_of_the_referee(const ConeProblem& p) {
    const Delassus W(p);
    for (const Law law : {Law::coulomb, Law::associated}) {
        for (const int sweeps : {0, 1, 20}) {
            Vector r = Vector::Zero(p.rows()), u;
            run_sweeps(W, law, {}, sweeps, r);
            W.velocity(r, u);
            const LawResidual theirs = law_residual(W, r, u, law);
            ContactSweeps kernel;
            kernel.fill(W, law, {}, tiling_of(W), r);
            const LawResidual mine = kernel.measure(law);
            EXPECT_NEAR(mine.mean, theirs.mean, 1e-10 * theirs.mean);
            EXPECT_NEAR(mine.local, theirs.local, 1e-10 * theirs.local);
            EXPECT_NEAR(mine.worst, theirs.worst, 1e-10 * theirs.worst);
            Vector stored(p.rows());
            kernel.store(stored);
            EXPECT_LT((stored - r).norm(), 1e-15 * r.norm() + 1e-300);
        }
    }
}

TEST(ConnectedBlocks, AreLookedAtAsByTheReferee) {
    ConeProblem p = connected_blocks(many_cones(), 1);
    expect_looks_of_the_referee(p);
    for (Species& s : p.species) s.at_stake = 10;
    expect_looks_of_the_referee(p);
}

// Whatever the masses.
TEST(ConnectedBlocks, AreSolvedToTightGoals) {
    for (const double scale : {1e-8, 1.0, 1e8}) {
        const ConeProblem p =
            connected_blocks({Cone::second_order(3, 0.5), Cone::second_order(6, 0.3)}, scale);
        const Delassus W(p);
        for (const Law law : {Law::coulomb, Law::associated}) {
            Goal goal;
            goal.tolerance = 1e-12;
            Vector r = Vector::Zero(p.rows());
            const SolveReport report = gauss_seidel(W, law, {}, goal, r);
            EXPECT_EQ(report.status, Status::solved) << scale << " " << report.residual.value;
            EXPECT_LT(judge(W, W.complete(r), law).value, 2e-12) << scale;
        }
    }
}

}  // namespace
}  // namespace drystone
