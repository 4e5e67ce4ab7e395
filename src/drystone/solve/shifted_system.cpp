#include "drystone/solve/shifted_system.hpp"

#include "drystone/base/parallel.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

using RowBlock = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block>;
using ConstRows = Eigen::Map<const RowBlock>;

/// Builds the pattern of a symmetric matrix of blocks from the sorted neighbours of each block column.
SparseMatrix block_pattern(const std::vector<std::vector<Index>>& neighbours,
                           const std::vector<Index>& offset) {
    const Index n = offset.back();
    SparseMatrix A(n, n);
    std::vector<int> sizes(n);
    for (std::size_t j = 0; j < neighbours.size(); ++j) {
        int size = 0;
        for (Index i : neighbours[j]) size += offset[i + 1] - offset[i];
        std::fill(sizes.begin() + offset[j], sizes.begin() + offset[j + 1], size);
    }
    A.reserve(sizes);
    for (std::size_t j = 0; j < neighbours.size(); ++j) {
        for (Index c = offset[j]; c < offset[j + 1]; ++c) {
            for (Index i : neighbours[j]) {
                for (Index r = offset[i]; r < offset[i + 1]; ++r) A.insert(r, c) = 0;
            }
        }
    }
    if (n > 0) A.makeCompressed();  // of no columns it would read the second
    return A;
}

void sort_unique(std::vector<Index>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

BlockDiagonal::BlockDiagonal(const ConeProblem& problem) {
    std::int64_t size = 0;
    for (const Cone& cone : problem.cones) {
        start_.push_back(size);
        dim_.push_back(cone.dim);
        size += cone.dim * cone.dim;
    }
    value_ = Vector::Zero(size);
}

ShiftedSystem::ShiftedSystem(const Delassus& W)
    : F(W.problem()),
      unit(Vector::Ones(W.problem().rows())),
      W_(&W),
      factor_(Symmetry::positive_definite, W.arithmetic()) {
    const ConeProblem& p = W.problem();
    for (Vector* v : {&g_, &p_, &residual_, &z_, &direction_, &image_, &t_, &t2_}) v->setZero(p.rows());
    if (W.whitened()) {
        body_.setZero(p.dofs());
        if (W.compliant()) L_.emplace(p);
        analyse_bodies();
    } else {
        analyse_blocks();
    }
}

void ShiftedSystem::analyse_bodies() {
    const ConeProblem& p = W_->problem();
    const Index bodies = p.bodies();
    const int m = p.common_dim();
    const BlockRows& white = W_->dense_rows();
    rows_ = white;
    // A body that does not move has rows of zeros; left in, a floor would couple all that rests on it.
    std::vector<char> moves(bodies, 0);
    for (Index i = 0; i < p.blocks(); ++i) {
        for_each_entry(p, white, i, [&](Index body, auto, const BodyRowsOf& A) {
            if (!A.isZero(0.0)) moves[body] = 1;
        });
    }
    std::vector<std::vector<Index>> neighbours(bodies);
    for (Index j = 0; j < bodies; ++j) neighbours[j].push_back(j);
    for (Index i = 0; i < p.blocks(); ++i) {
        for (Index k = white.start[i]; k < white.start[i + 1]; ++k) {
            for (Index l = white.start[i]; l < white.start[i + 1]; ++l) {
                const Index a = white.body[k], b = white.body[l];
                if (moves[a] != 0 && moves[b] != 0) neighbours[a].push_back(b);
            }
        }
    }
    std::vector<Index> offset(bodies + 1);
    for (Index j = 0; j < bodies; ++j) {
        sort_unique(neighbours[j]);
        offset[j + 1] = offset[j] + p.place_of(j).dim;
    }
    A_ = block_pattern(neighbours, offset);
    for (Index i = 0; i < p.blocks(); ++i) {
        for (Index k = white.start[i]; k < white.start[i + 1]; ++k) {
            for (Index l = white.start[i]; l < white.start[i + 1]; ++l) {
                const Index a = white.body[k], b = white.body[l];
                const auto& list = neighbours[a];
                const auto end = std::lower_bound(list.begin(), list.end(), b);
                Index before =
                    m * static_cast<Index>(end - list.begin());  // velocities of the neighbours before b
                if (m == 0)
                    for (auto j = list.begin(); j != end; ++j) before += p.place_of(*j).dim;
                pair_.push_back(moves[a] != 0 && moves[b] != 0 ? before : -1);
            }
        }
    }
}

void ShiftedSystem::analyse_blocks() {
    const ConeProblem& p = W_->problem();
    const BlockSparse& W = W_->matrix();
    std::vector<std::vector<Index>> neighbours(p.blocks());
    for (Index i = 0; i < p.blocks(); ++i) {
        neighbours[i].assign(W.column.begin() + W.start[i], W.column.begin() + W.start[i + 1]);
        neighbours[i].push_back(i);
        sort_unique(neighbours[i]);
    }
    A_ = block_pattern(neighbours, p.offset);
}

void ShiftedSystem::factorise_compliance() {
    const ConeProblem& p = W_->problem();
    parallel_for(W_->threads(), p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        const BlockMatrix half =
            p.compliance.segment(p.offset[i], d).cwiseSqrt().asDiagonal() * BlockMatrix(F.block(i));
        const BlockMatrix N = BlockMatrix::Identity(d, d) + half.transpose() * half;
        L_->block(i) = Eigen::LLT<BlockMatrix>(N).matrixL();
    });
}

void ShiftedSystem::assemble_bodies() {
    const ConeProblem& p = W_->problem();
    const BlockRows& white = W_->dense_rows();
    if (L_) factorise_compliance();
    parallel_for(W_->threads(), p.blocks(), [&](Index i) {
        for_each_entry(p, white, i, [&](Index, auto, const BodyRowsOf& A) {
            Eigen::Map<RowBlock> rows(rows_.value.data() + (A.data() - white.value.data()), A.rows(),
                                      A.cols());
            rows.noalias() = F.block(i).transpose().lazyProduct(A);
            if (L_) L_->block(i).triangularView<Eigen::Lower>().solveInPlace(rows);
        });
    });
    double* value = A_.valuePtr();
    std::fill(value, value + A_.nonZeros(), 0.0);
    const Index* pair = pair_.data();
    for (Index i = 0; i < p.blocks(); ++i) {
        for_each_entry(p, rows_, i, [&](Index, auto at, const BodyRowsOf& a) {
            for_each_entry(p, rows_, i, [&](Index, auto, const BodyRowsOf& b) {
                const Index place = *pair++;
                if (place < 0) return;
                for (int c = 0; c < at.dim; ++c) {
                    double* column = value + A_.outerIndexPtr()[at.first + c] + place;
                    for (int r = 0; r < b.cols(); ++r) column[r] += b.col(r).dot(a.col(c));
                }
            });
        });
    }
    for (Eigen::Index c = 0; c < A_.cols(); ++c) A_.coeffRef(c, c) += 1.0;
}

void ShiftedSystem::assemble_blocks() {
    const ConeProblem& p = W_->problem();
    const BlockSparse& W = W_->matrix();
    // Column j of the symmetric matrix is row j of W, transposed block by block.
    parallel_for(W_->threads(), p.blocks(), [&](Index j) {
        const int e = p.cones[j].dim;
        for (Index c = p.offset[j]; c < p.offset[j + 1]; ++c) {
            std::fill_n(A_.valuePtr() + A_.outerIndexPtr()[c],
                        A_.outerIndexPtr()[c + 1] - A_.outerIndexPtr()[c], 0.0);
        }
        for (Index k = W.start[j]; k < W.start[j + 1]; ++k) {
            const Index i = W.column[k];
            const int d = p.cones[i].dim;
            const RowBlock half =
                F.block(j).transpose().lazyProduct(ConstRows(W.value.data() + W.value_start[k], e, d));
            const RowBlock block = half.lazyProduct(F.block(i));
            for (int c = 0; c < e; ++c) {
                const int* first = A_.innerIndexPtr() + A_.outerIndexPtr()[p.offset[j] + c];
                const int* last = A_.innerIndexPtr() + A_.outerIndexPtr()[p.offset[j] + c + 1];
                double* column =
                    A_.valuePtr() + (std::lower_bound(first, last, p.offset[i]) - A_.innerIndexPtr());
                for (int r = 0; r < d; ++r) column[r] += block(c, r);
            }
        }
        for (Index c = p.offset[j]; c < p.offset[j + 1]; ++c) A_.coeffRef(c, c) += 1.0;
    });
}

bool ShiftedSystem::factorise() {
    if (W_->whitened()) {
        assemble_bodies();
    } else {
        assemble_blocks();
    }
    const double* value = A_.valuePtr();
    if (!std::all_of(value, value + A_.nonZeros(), [](double a) { return std::isfinite(a); })) return false;
    return factor_.factorise(A_);
}

void ShiftedSystem::multiply_F(const Vector& p, Vector& out) const {
    const ConeProblem& problem = W_->problem();
    parallel_for(W_->threads(), problem.blocks(), [&](Index i) {
        const int d = problem.cones[i].dim;
        out.segment(problem.offset[i], d).noalias() = F.block(i).lazyProduct(p.segment(problem.offset[i], d));
    });
}

void ShiftedSystem::multiply_F_transposed(const Vector& y, Vector& out) const {
    const ConeProblem& problem = W_->problem();
    parallel_for(W_->threads(), problem.blocks(), [&](Index i) {
        const int d = problem.cones[i].dim;
        out.segment(problem.offset[i], d).noalias() =
            F.block(i).transpose().lazyProduct(y.segment(problem.offset[i], d));
    });
}

/// x <- L^-1 x, or L^-T x.
void ShiftedSystem::divide_by_L(bool transposed, Vector& x) const {
    const ConeProblem& p = W_->problem();
    parallel_for(W_->threads(), p.blocks(), [&](Index i) {
        const auto L = L_->block(i).triangularView<Eigen::Lower>();
        auto part = x.segment(p.offset[i], p.cones[i].dim);
        if (transposed) {
            L.transpose().solveInPlace(part);
        } else {
            L.solveInPlace(part);
        }
    });
}

/// x = (1 + F^T W F)^-1 y with the factor as it is.
void ShiftedSystem::precondition(const Vector& y, Vector& x) {
    if (!W_->whitened()) {
        x = y;
        factor_.solve(x);
        return;
    }
    // By the bodies: x = y - F^T Hw q with (1 + (F^T Hw)^T (F^T Hw)) q = Hw^T F y. With compliance F L^-T takes the
    // place of F, L^-1 y that of y, and L^-T is applied to the result.
    const Vector* right = &y;
    if (L_) {
        right_ = y;
        divide_by_L(false, right_);
        right = &right_;
        back_ = right_;
        divide_by_L(true, back_);
        multiply_F(back_, t_);
    } else {
        multiply_F(y, t_);
    }
    W_->gather(t_, body_);
    factor_.solve(body_);
    W_->spread(body_, t_);
    multiply_F_transposed(t_, x);
    if (L_) divide_by_L(false, x);
    x = *right - x;
    if (L_) divide_by_L(true, x);
}

void ShiftedSystem::apply_operator(const Vector& p, Vector& out) {
    multiply_F(p, t_);
    W_->apply(t_, t2_);
    multiply_F_transposed(t2_, out);
    out.array() += unit.array() * p.array();
}

double ShiftedSystem::solve(const Vector& y, Vector& x, double tolerance, int max_steps) {
    multiply_F_transposed(y, g_);
    const double scale = std::sqrt(W_->dot(g_, g_));
    x.setZero(y.size());
    if (scale == 0) return 0;
    p_.setZero();
    residual_ = g_;
    double best = scale, rho = 0;
    for (int step = 0; step < max_steps; ++step) {
        precondition(residual_, z_);
        const double rho_next = W_->dot(residual_, z_);
        if (!(rho_next > 0)) break;  // rounding has eaten what was left
        if (step == 0) direction_.setZero();
        direction_ = z_ + (step == 0 ? 0.0 : rho_next / rho) * direction_;
        rho = rho_next;
        apply_operator(direction_, image_);
        const double curvature = W_->dot(direction_, image_);
        if (!(curvature > 0)) break;
        p_ += (rho / curvature) * direction_;
        apply_operator(p_, image_);  // the true residual: the recurrence of conjugate gradients drifts
        residual_ = g_ - image_;
        const double norm = std::sqrt(W_->dot(residual_, residual_));
        if (!(norm < 0.5 * best)) {
            best = std::min(best, norm);
            break;
        }
        best = norm;
        if (best <= tolerance * scale) break;
    }
    multiply_F(p_, x);
    return best / scale;
}

}  // namespace drystone
