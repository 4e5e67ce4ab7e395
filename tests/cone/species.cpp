// Problems with several kinds of bodies: a chain whose mass couples its nodes beside rigid bodies of the plane and of
// space.
#include "drystone/cone/delassus.hpp"
#include "drystone/solve/solve.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace drystone::testing {
namespace {

/// Nodes on a line, each with one velocity and springs to its neighbours taken at the end of the step: M + h^2 K.
SparseMatrix chain(Index nodes, double mass, double spring) {
    SparseMatrix M(nodes, nodes);
    for (Index k = 0; k < nodes; ++k) {
        M.insert(k, k) = mass + spring * (k == 0 || k + 1 == nodes ? 1 : 2);
        if (k > 0) M.insert(k, k - 1) = -spring;
        if (k + 1 < nodes) M.insert(k, k + 1) = -spring;
    }
    M.makeCompressed();
    return M;
}

SparseMatrix side_by_side(const SparseMatrix& A, const SparseMatrix& B) {
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](const SparseMatrix& M, Eigen::Index first) {
        for (Eigen::Index j = 0; j < M.outerSize(); ++j)
            for (SparseMatrix::InnerIterator it(M, j); it; ++it)
                entries.emplace_back(first + it.row(), first + it.col(), it.value());
    };
    add(A, 0);
    add(B, A.rows());
    SparseMatrix both(A.rows() + B.rows(), A.rows() + B.rows());
    both.setFromTriplets(entries.begin(), entries.end());
    return both;
}

/// Two disks (3 velocities), two chains of 4 and 3 nodes (1 each), two bodies of space (6), the last of which does not
/// move; contacts between any two of them, with random rows.
ConeProblem zoo(unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> number;
    const auto positive = [&](int n) {
        Eigen::MatrixXd A(n, n);
        for (double& x : A.reshaped()) x = number(engine);
        return Eigen::MatrixXd(A * A.transpose() + Eigen::MatrixXd::Identity(n, n));
    };
    ConeProblem p;
    BlockInverseMass disks, solids;
    for (int j = 0; j < 2; ++j) {
        const Eigen::MatrixXd B = positive(3);
        disks.blocks.insert(disks.blocks.end(), B.data(), B.data() + B.size());
    }
    const Eigen::MatrixXd B = positive(6);
    solids.blocks.assign(B.data(), B.data() + B.size());
    solids.blocks.resize(72, 0.0);
    p.species = {
        {3, 2, disks}, {1, 7, SparseMass{side_by_side(chain(4, 1, 2), chain(3, 2, 0.5))}}, {6, 2, solids}};
    p.f.resize(p.dofs());
    for (double& x : p.f) x = number(engine);
    std::uniform_int_distribution<Index> any(0, p.bodies() - 1);
    for (int i = 0; i < 14; ++i) {
        p.add_block(Cone::second_order(3, 0.5));
        Index a = any(engine), b = any(engine);
        while (b == a) b = any(engine);
        for (const Index body : {a, b}) {
            std::vector<double> rows(static_cast<std::size_t>(3 * p.place_of(body).dim));
            for (double& x : rows) x = number(engine);
            p.add_entry(body, rows);
        }
    }
    p.w = Vector::Zero(p.rows());
    for (Index i = 0; i < p.blocks(); ++i) p.w[p.offset[i]] = 0.1;  // all open at rest: there is a solution
    return p;
}

Eigen::MatrixXd dense_inverse_mass(const ConeProblem& p) {
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(p.dofs(), p.dofs());
    Index first = 0;
    for (const Species& s : p.species) {
        if (const auto* block = std::get_if<BlockInverseMass>(&s.mass)) {
            for (Index j = 0; j < s.count; ++j)
                inverse.block(first + j * s.dim, first + j * s.dim, s.dim, s.dim) =
                    Eigen::Map<const Eigen::MatrixXd>(
                        block->blocks.data() + static_cast<std::ptrdiff_t>(j) * s.dim * s.dim, s.dim, s.dim);
        } else {
            inverse.block(first, first, s.velocities(), s.velocities()) =
                Eigen::MatrixXd(std::get<SparseMass>(s.mass).M).inverse();
        }
        first += s.velocities();
    }
    return inverse;
}

Eigen::MatrixXd dense_rows(const ConeProblem& p) {
    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(p.rows(), p.dofs());
    for (Index i = 0; i < p.blocks(); ++i)
        for_each_entry(p, i, [&](Index, auto place, const BodyRowsOf& A) {
            H.block(p.offset[i], place.first, A.rows(), place.dim) = A;
        });
    return H;
}

TEST(Species, BodiesAndVelocitiesAreNumberedThrough) {
    const ConeProblem p = zoo(1);
    EXPECT_TRUE(find_faults(p).empty());
    EXPECT_EQ(p.bodies(), 11);
    EXPECT_EQ(p.dofs(), 2 * 3 + 7 + 2 * 6);
    EXPECT_EQ(p.place_of(1).first, 3);
    EXPECT_EQ(p.place_of(4).first, 8);
    EXPECT_EQ(p.place_of(4).dim, 1);
    EXPECT_EQ(p.place_of(10).first, 19);
    EXPECT_EQ(p.place_of(10).dim, 6);
    EXPECT_EQ(p.common_dim(), 0);
    EXPECT_FALSE(p.separate());
    EXPECT_TRUE(p.moves(9));
    EXPECT_FALSE(p.moves(10));
}

TEST(Species, OperatorOfAllSpeciesIsThatOfTheDenseMatrices) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const ConeProblem p = zoo(seed);
        const Eigen::MatrixXd H = dense_rows(p), inverse = dense_inverse_mass(p),
                              W = H * inverse * H.transpose();
        const Delassus delassus(p);
        const Vector b = H * (inverse * p.f) + p.w;
        EXPECT_LT((delassus.b() - b).norm(), 1e-12 * b.norm());
        const Vector r = Vector::LinSpaced(p.rows(), -1, 2);
        Vector u;
        delassus.velocity(r, u);
        EXPECT_LT((u - (W * r + b)).norm(), 1e-12 * u.norm());
        const ConeSolution s = delassus.complete(r);
        EXPECT_LT((s.v - inverse * (p.f + H.transpose() * r)).norm(), 1e-12 * s.v.norm());
        for (Index i = 0; i < p.blocks(); ++i)
            EXPECT_LT(
                (Eigen::MatrixXd(delassus.diagonal(i)) - W.block(p.offset[i], p.offset[i], 3, 3)).norm(),
                1e-12 * W.norm());
    }
}

/// The same where all bodies are separate: through whitened rows.
TEST(Species, SeparateBodiesOfSeveralKindsAreWhitened) {
    ConeProblem p = zoo(3);
    BlockInverseMass nodes;
    nodes.blocks = {1, 0.5, 2, 1, 3, 0.25, 1};
    p.species[1].mass = nodes;
    ASSERT_TRUE(p.separate());
    const Eigen::MatrixXd H = dense_rows(p), inverse = dense_inverse_mass(p), W = H * inverse * H.transpose();
    const Delassus delassus(p);
    const Vector r = Vector::LinSpaced(p.rows(), -1, 2);
    Vector u;
    delassus.velocity(r, u);
    EXPECT_LT((u - (W * r + H * (inverse * p.f) + p.w)).norm(), 1e-12 * u.norm());
}

TEST(Species, EverySolverFindsTheVelocitiesOfAChainAndWhatLiesOnIt) {
    for (const bool separate : {false, true}) {
        ConeProblem p = zoo(2);
        if (separate) p.species[1].mass = BlockInverseMass{{1, 0.5, 2, 1, 3, 0.25, 1}};
        ConeSolution reference;
        SolveSettings settings;
        settings.law = Law::associated;
        settings.goal.tolerance = 1e-10;
        settings.solver = InteriorPointOptions{};
        ASSERT_EQ(solve(p, settings, reference).status, Status::solved);
        for (const char* name : {"auto", "gauss-seidel", "gauss-seidel-momentum", "gauss-seidel-anderson",
                                 "apgd-asr", "aspg", "admm"}) {
            settings.goal.tolerance = 1e-8;
            settings.solver = find_solver(name)->options;
            ConeSolution s;
            const SolveReport report = solve(p, settings, s);
            EXPECT_EQ(report.status, Status::solved) << name << ": " << report.message;
            EXPECT_LT((s.v - reference.v).norm(), 1e-6 * reference.v.norm()) << name;
        }
    }
}

TEST(Species, RowsThatDoNotFitTheirBodyAreAFault) {
    ConeProblem p = zoo(1);
    p.species[0].dim = 2;
    std::get<BlockInverseMass>(p.species[0].mass).blocks.resize(8, 1.0);
    p.f.resize(p.dofs());
    p.f.setZero();
    const std::vector<std::string> faults = find_faults(p);
    ASSERT_FALSE(faults.empty());
    EXPECT_NE(std::accumulate(faults.begin(), faults.end(), std::string()).find("its bodies need"),
              std::string::npos);
}

/// A chain more costs what a chain costs: W of 400 chains of 10 nodes, two contacts each, has 4 blocks a chain, and is
/// made at once.
TEST(Species, MatrixOfManyChainsHasNoMoreThanWhatTheyCouple) {
    ConeProblem p;
    constexpr Index chains = 400, nodes = 10;
    std::vector<Eigen::Triplet<double>> entries;
    for (Index k = 0; k < chains; ++k) {
        const SparseMatrix M = chain(nodes, 1, 2);
        for (Eigen::Index j = 0; j < M.outerSize(); ++j)
            for (SparseMatrix::InnerIterator it(M, j); it; ++it)
                entries.emplace_back(k * nodes + it.row(), k * nodes + it.col(), it.value());
    }
    SparseMatrix M(chains * nodes, chains * nodes);
    M.setFromTriplets(entries.begin(), entries.end());
    p.species = {{1, chains * nodes, SparseMass{M}}};
    p.f = Vector::Constant(p.dofs(), -1.0);
    const double one = 1;
    for (Index k = 0; k < chains; ++k)
        for (const Index node : {Index{0}, nodes - 1}) {
            p.add_block(Cone::ray());
            p.add_entry(k * nodes + node, {&one, 1});
        }
    p.w = Vector::Zero(p.rows());
    const Delassus W(p);
    EXPECT_EQ(W.matrix().column.size(), static_cast<std::size_t>(4 * chains));
    ConeSolution s;
    EXPECT_EQ(solve(p, {}, s).status, Status::solved);
}

}  // namespace
}  // namespace drystone::testing
