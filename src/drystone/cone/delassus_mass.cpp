// What the Delassus operator makes of the masses: their square roots, or factors where they connect bodies.
#include "drystone/base/error.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/base/symmetric_eigen.hpp"
#include "drystone/cone/delassus.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

using RowMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block>;
using ConstRows = Eigen::Map<const RowMatrix>;
using Rows = Eigen::Map<RowMatrix>;

/// G with G G^T = A for a symmetric positive semi-definite A: Cholesky where A is diagonal or definite, else by
/// eigenvectors.
RowMatrix square_root(const RowMatrix& A) {
    if (A.isDiagonal(0.0)) return A.diagonal().cwiseMax(0.0).cwiseSqrt().asDiagonal();
    const Eigen::LLT<RowMatrix> llt(A);
    if (llt.info() == Eigen::Success) return llt.matrixL();
    const auto n = static_cast<int>(A.rows());
    BlockVector values(n);
    BlockMatrix vectors(n, n);
    symmetric_eigen(n, A.data(), values.data(), vectors.data());
    return vectors * values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// The lower triangle of L with L L^T = A, both row by row; of a matrix that is not definite the part that is left is
/// 0.
void root_of_inertia(const double* A, double* L) {
    const auto root = [](double x) { return x > 0 ? std::sqrt(x) : 0.0; };
    const auto over = [](double x, double pivot) { return pivot > 0 ? x / pivot : 0.0; };
    L[0] = root(A[0]);
    L[1] = over(A[1], L[0]);
    L[2] = root(A[2] - L[1] * L[1]);
    L[3] = over(A[3], L[0]);
    L[4] = over(A[4] - L[3] * L[1], L[2]);
    L[5] = root(A[5] - L[3] * L[3] - L[4] * L[4]);
}

}  // namespace

void Delassus::find_roots() {
    const ConeProblem& p = *problem_;
    data_->roots.resize(p.species.size());
    Index first = 0;
    for (std::size_t k = 0; k < p.species.size(); ++k) {
        const Species& s = p.species[k];
        Roots& to = data_->roots[k];
        const int m = s.dim;
        to.first = first;
        to.dim = m;
        first += s.count;
        to.dense.clear();
        to.mass.clear();
        to.moments = 1;
        if (const auto* points = std::get_if<PointInverseMass>(&s.mass)) {
            to.moments = 0;
            to.mass.resize(points->mass.size());
            parallel_for(threads_, s.count, [&](Index j) { to.mass[j] = std::sqrt(points->mass[j]); });
            continue;
        }
        if (const auto* rigid = std::get_if<RigidInverseMass>(&s.mass)) {
            to.moments = rigid->moments();
            to.mass.resize(rigid->mass.size());
            to.inertia.resize(rigid->inertia.size());
            parallel_for(threads_, s.count, [&](Index j) {
                to.mass[j] = std::sqrt(rigid->mass[j]);
                if (to.moments == 1) {
                    to.inertia[j] = std::sqrt(rigid->inertia[j]);
                } else {
                    root_of_inertia(rigid->inertia.data() + static_cast<std::ptrdiff_t>(j) * 6,
                                    to.inertia.data() + static_cast<std::ptrdiff_t>(j) * 6);
                }
            });
            continue;
        }
        const auto& inverse = std::get<BlockInverseMass>(s.mass).blocks;
        to.dense.resize(static_cast<std::size_t>(s.velocities()) * m);
        parallel_for(threads_, s.count, [&](Index j) {
            const std::size_t at = static_cast<std::size_t>(j) * m * m;
            Rows(to.dense.data() + at, m, m) = square_root(ConstRows(inverse.data() + at, m, m));
        });
    }
}

/// Pieces of so few velocities (rods) are factorised without MUMPS, which takes a millisecond to begin.
constexpr Eigen::Index small_piece = 1000;

/// Velocities that the mass of a species connects, piece by piece, each piece with its own factor: a rod more costs
/// what a rod costs.
void Delassus::factorise() {
    Index first = 0;
    for (const Species& s : problem_->species) {
        const Index begin = first;
        first += s.velocities();
        const auto* sparse = std::get_if<SparseMass>(&s.mass);
        if (sparse == nullptr) continue;
        const SparseMatrix& M = sparse->M;
        std::vector<Index> place(s.velocities(), -1), queue;
        for (Index seed = 0; seed < s.velocities(); ++seed) {
            if (place[seed] >= 0) continue;
            queue.assign(1, seed);
            place[seed] = 0;
            for (std::size_t head = 0; head < queue.size(); ++head) {
                for (SparseMatrix::InnerIterator it(M, queue[head]); it; ++it) {
                    if (place[it.row()] >= 0) continue;
                    place[it.row()] = 0;
                    queue.push_back(static_cast<Index>(it.row()));
                }
            }
            std::sort(queue.begin(), queue.end());
            for (std::size_t k = 0; k < queue.size(); ++k) place[queue[k]] = static_cast<Index>(k);
            std::vector<Eigen::Triplet<double>> entries;
            for (std::size_t k = 0; k < queue.size(); ++k)
                for (SparseMatrix::InnerIterator it(M, queue[k]); it; ++it)
                    entries.emplace_back(place[it.row()], static_cast<Index>(k), it.value());
            const auto size = static_cast<Eigen::Index>(queue.size());
            SparseMatrix piece(size, size);
            piece.setFromTriplets(entries.begin(), entries.end());
            Component component{queue,
                                Factor(Symmetry::positive_definite,
                                       size <= small_piece ? Arithmetic::repeatable : Arithmetic::fast)};
            for (Index& k : component.velocity) k += begin;
            if (!component.factor.factorise(piece))
                fail("mass", "the matrix is not positive definite", "check the masses and the time step");
            data_->components.push_back(std::move(component));
        }
    }
}

}  // namespace drystone
