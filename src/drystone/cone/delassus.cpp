#include "drystone/cone/delassus.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <array>
#include <cmath>

namespace drystone {

namespace {

using RowMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block>;
using ConstRows = Eigen::Map<const RowMatrix>;
using Rows = Eigen::Map<RowMatrix>;

/// G with G G^T = A for a symmetric positive semi-definite A: Cholesky where A is diagonal or definite, else by eigenvectors.
RowMatrix square_root(const RowMatrix& A) {
    if (A.isDiagonal(0.0)) return A.diagonal().cwiseMax(0.0).cwiseSqrt().asDiagonal();
    const Eigen::LLT<RowMatrix> llt(A);
    if (llt.info() == Eigen::Success) return llt.matrixL();
    const Eigen::SelfAdjointEigenSolver<RowMatrix> eigen(A);
    return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

}  // namespace

Delassus::Delassus(const ConeProblem& problem, int threads, const Exchange* exchange)
    : problem_(&problem),
      threads_(resolve_threads(threads)),
      exchange_(exchange),
      data_(std::make_shared<Data>()) {
    prepare_bodies();
    if (std::holds_alternative<BlockInverseMass>(problem.mass)) {
        whiten();
    } else if (const auto* sparse = std::get_if<SparseMass>(&problem.mass)) {
        data_->factor.emplace(Symmetry::positive_definite);
        if (!data_->factor->factorise(sparse->M)) {
            fail("mass", "the matrix is not positive definite", "check the masses and the time step");
        }
    }
    data_->v_free = impulse_to_velocity(problem.f);
    b_.resize(problem.rows());
    apply_H(data_->v_free, b_);
    b_ += problem.w;
    data_->diagonal_start.resize(problem.blocks() + 1);
    data_->diagonal_start[0] = 0;
    for (Index i = 0; i < problem.blocks(); ++i) {
        data_->diagonal_start[i + 1] = data_->diagonal_start[i] + problem.cones[i].dim * problem.cones[i].dim;
    }
    data_->diagonal.assign(static_cast<std::size_t>(data_->diagonal_start.back()), 0.0);
    const int m = problem.body_dim;
    if (whitened()) {
        parallel_for(threads_, problem.blocks(), [&](Index i) {
            const int d = problem.cones[i].dim;
            Eigen::Map<Eigen::MatrixXd> D(data_->diagonal.data() + data_->diagonal_start[i], d, d);
            for (Index k = problem.H.start[i]; k < problem.H.start[i + 1]; ++k) {
                const ConstRows A(data_->Hw.data() + problem.H.value_start[i] +
                                      static_cast<std::int64_t>(k - problem.H.start[i]) * d * m,
                                  d, m);
                D.noalias() += A.lazyProduct(A.transpose());
            }
        });
        if (compliant()) add_compliance();
    } else {
        const BlockSparse& W = matrix();
        for (Index i = 0; i < problem.blocks(); ++i) {
            const int d = problem.cones[i].dim;
            for (Index k = W.start[i]; k < W.start[i + 1]; ++k) {
                if (W.column[k] != i) continue;
                std::copy_n(W.value.data() + W.value_start[k], d * d,
                            data_->diagonal.data() + data_->diagonal_start[i]);
            }
        }
    }
    compute_scales();
    if (problem.pull.size() > 0) {
        data_->pull = problem.pull_impulse();
        apply(data_->pull, data_->pulled);
    }
    compute_rounding();
}

Delassus Delassus::with_frozen_shift(const Vector& s) const {
    Delassus shifted = *this;
    for (Index i = 0; i < problem_->blocks(); ++i) shifted.b_[problem_->offset[i]] += s[i];
    shifted.shift_ = shift_.size() == 0 ? s : Vector(shift_ + s);
    return shifted;
}

void Delassus::prepare_bodies() {
    const ConeProblem& p = *problem_;
    data_->body_start.assign(p.bodies + 1, 0);
    for (Index body : p.H.body) data_->body_start[body + 1] += 1;
    for (Index j = 0; j < p.bodies; ++j) data_->body_start[j + 1] += data_->body_start[j];
    data_->body_block.resize(p.H.body.size());
    data_->body_entry.resize(p.H.body.size());
    std::vector<Index> next(data_->body_start.begin(), data_->body_start.end() - 1);
    for (Index i = 0; i < p.blocks(); ++i) {
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            const Index place = next[p.H.body[k]]++;
            data_->body_block[place] = i;
            data_->body_entry[place] = k - p.H.start[i];
        }
    }
}

void Delassus::whiten() {
    const ConeProblem& p = *problem_;
    const int m = p.body_dim;
    const auto& inverse = std::get<BlockInverseMass>(p.mass).blocks;
    data_->G.resize(inverse.size());
    parallel_for(threads_, p.bodies, [&](Index j) {
        const std::size_t at = static_cast<std::size_t>(j) * m * m;
        Rows(data_->G.data() + at, m, m) = square_root(ConstRows(inverse.data() + at, m, m));
    });
    data_->Hw.resize(p.H.value.size());
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            const std::int64_t at = p.H.value_start[i] + static_cast<std::int64_t>(k - p.H.start[i]) * d * m;
            const std::size_t body = static_cast<std::size_t>(p.H.body[k]) * m * m;
            Rows(data_->Hw.data() + at, d, m).noalias() =
                ConstRows(p.H.value.data() + at, d, m).lazyProduct(ConstRows(data_->G.data() + body, m, m));
        }
    });
}

void Delassus::compute_scales() {
    const ConeProblem& p = *problem_;
    data_->stiffness.resize(p.blocks());
    data_->length.setOnes(p.blocks());
    double largest = 0;
    for (Index i = 0; i < p.blocks(); ++i) {
        const Cone& cone = p.cones[i];
        const BlockMatrix D = diagonal(i);
        double force = 0, torque = 0;
        int forces = 0, torques = 0;
        for (int c = 0; c < cone.dim; ++c) {
            (is_torque(cone, c) ? torque : force) += D(c, c);
            (is_torque(cone, c) ? torques : forces) += 1;
        }
        if (torques > 0 && torque > 0 && force > 0)
            data_->length[i] = std::sqrt((force / forces) / (torque / torques));
        data_->stiffness[i] = force / forces;
        largest = std::max(largest, data_->stiffness[i]);
    }
    largest = this->largest(largest);
    // A block between bodies that cannot move has no scale of its own: it takes the largest there is (or 1).
    for (Index i = 0; i < p.blocks(); ++i) {
        if (!(data_->stiffness[i] > 1e-30 * largest)) data_->stiffness[i] = largest > 0 ? largest : 1.0;
    }
}

void Delassus::gather(const Vector& r, Vector& z) const {
    const ConeProblem& p = *problem_;
    const int m = p.body_dim;
    z.resize(p.dofs());
    parallel_for(threads_, p.bodies, [&](Index j) {
        std::array<double, max_block> sum{};
        for (Index q = data_->body_start[j]; q < data_->body_start[j + 1]; ++q) {
            const Index i = data_->body_block[q];
            const int d = p.cones[i].dim;
            const double* A = data_->Hw.data() + p.H.value_start[i] +
                              static_cast<std::int64_t>(data_->body_entry[q]) * d * m;
            const double* ri = r.data() + p.offset[i];
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < m; ++c) sum[c] += A[a * m + c] * ri[a];
            }
        }
        for (int c = 0; c < m; ++c) z[static_cast<Eigen::Index>(j) * m + c] = sum[c];
    });
    if (exchange_ != nullptr) exchange_->share_bodies(z.data(), m);
}

void Delassus::spread(const Vector& z, Vector& out) const {
    const ConeProblem& p = *problem_;
    const int m = p.body_dim;
    out.resize(p.rows());
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        std::array<double, max_block> sum{};
        const double* A = data_->Hw.data() + p.H.value_start[i];
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k, A += d * m) {
            const double* zj = z.data() + static_cast<std::ptrdiff_t>(p.H.body[k]) * m;
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < m; ++c) sum[a] += A[a * m + c] * zj[c];
            }
        }
        for (int a = 0; a < d; ++a) out[p.offset[i] + a] = sum[a];
    });
}

void Delassus::apply_H(const Vector& v, Vector& u) const {
    const ConeProblem& p = *problem_;
    const int m = p.body_dim;
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        u.segment(p.offset[i], d).setZero();
        const double* A = p.H.value.data() + p.H.value_start[i];
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k, A += d * m) {
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < m; ++c)
                    u[p.offset[i] + a] += A[a * m + c] * v[static_cast<Eigen::Index>(p.H.body[k]) * m + c];
            }
        }
    });
}

void Delassus::compute_rounding() {
    const ConeProblem& p = *problem_;
    const int m = p.body_dim;
    data_->rounding.resize(p.blocks());
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        const double* A = p.H.value.data() + p.H.value_start[i];
        std::array<double, max_block> terms{};
        for (int a = 0; a < d; ++a) terms[a] = std::abs(p.w[p.offset[i] + a]);
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            const double* v = data_->v_free.data() + static_cast<Eigen::Index>(p.H.body[k]) * m;
            for (int a = 0; a < d; ++a)
                for (int c = 0; c < m; ++c, ++A) terms[a] += std::abs(*A * v[c]);
        }
        double largest = p.pull.size() > 0 ? stiffness(i) * p.pull[i] : 0.0;
        for (int a = 0; a < d; ++a)
            largest = std::max(largest, terms[a] * (is_torque(p.cones[i], a) ? length(i) : 1.0));
        data_->rounding[i] = unit_of_rounding * largest + (p.w_rounding.size() > 0 ? p.w_rounding[i] : 0.0);
    });
}

Vector Delassus::body_impulse(const Vector& r) const {
    const ConeProblem& p = *problem_;
    const int m = p.body_dim;
    Vector impulse = Vector::Zero(p.dofs());
    parallel_for(threads_, p.bodies, [&](Index j) {
        for (Index q = data_->body_start[j]; q < data_->body_start[j + 1]; ++q) {
            const Index i = data_->body_block[q];
            const int d = p.cones[i].dim;
            const ConstRows A(p.H.value.data() + p.H.value_start[i] +
                                  static_cast<std::int64_t>(data_->body_entry[q]) * d * m,
                              d, m);
            impulse.segment(static_cast<Eigen::Index>(j) * m, m).noalias() +=
                A.transpose().lazyProduct(r.segment(p.offset[i], d));
        }
    });
    if (exchange_ != nullptr) exchange_->share_bodies(impulse.data(), m);
    return impulse;
}

Vector Delassus::impulse_to_velocity(Vector impulse) const {
    const ConeProblem& p = *problem_;
    if (const auto* block = std::get_if<BlockInverseMass>(&p.mass)) {
        const int m = p.body_dim;
        Vector v(impulse.size());
        for (Index j = 0; j < p.bodies; ++j) {
            const ConstRows B(block->blocks.data() + static_cast<std::size_t>(j) * m * m, m, m);
            v.segment(static_cast<Eigen::Index>(j) * m, m).noalias() =
                B.lazyProduct(impulse.segment(static_cast<Eigen::Index>(j) * m, m));
        }
        return v;
    }
    if (data_->factor) {
        data_->factor->solve(impulse);
        return impulse;
    }
    return std::get<SparseInverseMass>(p.mass).W * impulse;
}

void Delassus::apply(const Vector& r, Vector& out) const {
    if (whitened()) {
        gather(r, z_);
        spread(z_, out);
        if (compliant()) out += problem_->compliance.cwiseProduct(r);
        return;
    }
    const ConeProblem& p = *problem_;
    const BlockSparse& W = matrix();
    out.resize(p.rows());
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        std::array<double, max_block> sum{};
        for (Index k = W.start[i]; k < W.start[i + 1]; ++k) {
            const int e = p.cones[W.column[k]].dim;
            const double* A = W.value.data() + W.value_start[k];
            const double* rj = r.data() + p.offset[W.column[k]];
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < e; ++c) sum[a] += A[a * e + c] * rj[c];
            }
        }
        for (int a = 0; a < d; ++a) out[p.offset[i] + a] = sum[a];
    });
}

void Delassus::velocity(const Vector& r, Vector& u) const {
    apply(r, u);
    u += b_;
}

ConeSolution Delassus::complete(const Vector& r) const {
    ConeSolution solution;
    solution.r = r;
    if (whitened()) {
        // v = v_free + G z, so that the exchange of ranks stays the one of the body vector z.
        const int m = problem_->body_dim;
        Vector z;
        gather(r, z);
        solution.v = data_->v_free;
        for (Index j = 0; j < problem_->bodies; ++j) {
            solution.v.segment(static_cast<Eigen::Index>(j) * m, m).noalias() +=
                ConstRows(data_->G.data() + static_cast<std::size_t>(j) * m * m, m, m)
                    .lazyProduct(z.segment(static_cast<Eigen::Index>(j) * m, m));
        }
    } else {
        solution.v = velocity_by_momentum(r);
    }
    solution.u.resize(problem_->rows());
    apply_H(solution.v, solution.u);
    solution.u += problem_->w;
    if (compliant()) solution.u += problem_->compliance.cwiseProduct(r);
    if (shift_.size() > 0) {
        for (Index i = 0; i < problem_->blocks(); ++i) solution.u[problem_->offset[i]] += shift_[i];
    }
    return solution;
}

const BlockSparse& Delassus::matrix() const {
    if (!data_->matrix) {
        data_->matrix = whitened() ? whitened_matrix() : coupled_matrix();
        if (compliant()) add_compliance(*data_->matrix);
    }
    return *data_->matrix;
}

void Delassus::add_compliance() {
    const ConeProblem& p = *problem_;
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        double* D = data_->diagonal.data() + data_->diagonal_start[i];
        for (int c = 0; c < d; ++c) D[c * d + c] += p.compliance[p.offset[i] + c];
    }
}

void Delassus::add_compliance(BlockSparse& W) const {
    const ConeProblem& p = *problem_;
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        for (Index k = W.start[i]; k < W.start[i + 1]; ++k) {
            if (W.column[k] != i) continue;
            for (int c = 0; c < d; ++c)
                W.value[W.value_start[k] + c * d + c] += p.compliance[p.offset[i] + c];
        }
    }
}

BlockSparse Delassus::whitened_matrix() const {
    const ConeProblem& p = *problem_;
    const int m = p.body_dim;
    BlockSparse W;
    std::vector<Index> neighbours;
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        neighbours.assign(1, i);
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            const Index body = p.H.body[k];
            const ConstRows G(data_->G.data() + static_cast<std::size_t>(body) * m * m, m, m);
            if (G.isZero(0.0)) continue;  // a body that does not move couples nothing
            neighbours.insert(neighbours.end(), data_->body_block.begin() + data_->body_start[body],
                              data_->body_block.begin() + data_->body_start[body + 1]);
        }
        std::sort(neighbours.begin(), neighbours.end());
        neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
        for (Index j : neighbours) {
            const int e = p.cones[j].dim;
            W.column.push_back(j);
            W.value_start.push_back(static_cast<std::int64_t>(W.value.size()));
            RowMatrix block = RowMatrix::Zero(d, e);
            for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
                for (Index l = p.H.start[j]; l < p.H.start[j + 1]; ++l) {
                    if (p.H.body[k] != p.H.body[l]) continue;
                    const ConstRows A(data_->Hw.data() + p.H.value_start[i] +
                                          static_cast<std::int64_t>(k - p.H.start[i]) * d * m,
                                      d, m);
                    const ConstRows B(data_->Hw.data() + p.H.value_start[j] +
                                          static_cast<std::int64_t>(l - p.H.start[j]) * e * m,
                                      e, m);
                    block.noalias() += A.lazyProduct(B.transpose());
                }
            }
            W.value.insert(W.value.end(), block.data(), block.data() + d * e);
        }
        W.start.push_back(static_cast<Index>(W.column.size()));
    }
    return W;
}

BlockSparse Delassus::coupled_matrix() const {
    const ConeProblem& p = *problem_;
    const int m = p.body_dim;
    std::vector<Eigen::Triplet<double>> triplets;
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        const double* A = p.H.value.data() + p.H.value_start[i];
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < m; ++c, ++A) {
                    if (*A != 0) triplets.emplace_back(p.H.body[k] * m + c, p.offset[i] + a, *A);
                }
            }
        }
    }
    SparseMatrix Ht(p.dofs(), p.rows());
    Ht.setFromTriplets(triplets.begin(), triplets.end());
    SparseMatrix full;
    if (data_->factor) {
        // M^-1 couples everything: W is dense within what the mass connects. Columns are solved for one by one.
        std::vector<Eigen::Triplet<double>> entries;
        Eigen::MatrixXd column(p.dofs(), 1);
        for (Index row = 0; row < p.rows(); ++row) {
            column = Ht.col(row);
            data_->factor->solve(column);
            const Vector w = Ht.transpose() * column.col(0);
            for (Index other = 0; other < p.rows(); ++other) {
                if (w[other] != 0) entries.emplace_back(other, row, w[other]);
            }
        }
        full.resize(p.rows(), p.rows());
        full.setFromTriplets(entries.begin(), entries.end());
        full = SparseMatrix(0.5 * (full + SparseMatrix(full.transpose())));
    } else {
        full = Ht.transpose() * std::get<SparseInverseMass>(p.mass).W * Ht;
    }
    std::vector<Index> block_of(p.rows());
    for (Index i = 0; i < p.blocks(); ++i) {
        for (Index a = p.offset[i]; a < p.offset[i + 1]; ++a) block_of[a] = i;
    }
    BlockSparse W;
    std::vector<Index> neighbours;
    std::vector<Index> place(p.blocks(), -1);
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        neighbours.assign(1, i);
        for (Index a = p.offset[i]; a < p.offset[i + 1]; ++a) {
            for (SparseMatrix::InnerIterator it(full, a); it; ++it) neighbours.push_back(block_of[it.row()]);
        }
        std::sort(neighbours.begin(), neighbours.end());
        neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
        for (Index j : neighbours) {
            place[j] = static_cast<Index>(W.column.size());
            W.column.push_back(j);
            W.value_start.push_back(static_cast<std::int64_t>(W.value.size()));
            W.value.resize(W.value.size() + static_cast<std::size_t>(d) * p.cones[j].dim, 0.0);
        }
        for (Index a = p.offset[i]; a < p.offset[i + 1]; ++a) {
            for (SparseMatrix::InnerIterator it(full, a); it; ++it) {  // column a = row a: W is symmetric
                const Index j = block_of[it.row()];
                W.value[W.value_start[place[j]] +
                        static_cast<std::int64_t>(a - p.offset[i]) * p.cones[j].dim +
                        (it.row() - p.offset[j])] = it.value();
            }
        }
        W.start.push_back(static_cast<Index>(W.column.size()));
    }
    return W;
}

double Delassus::sum(const std::function<double(Index)>& f) const {
    ExactSum total;
    for (Index i = 0; i < problem_->blocks(); ++i)
        if (counts(i)) total.add(f(i));
    add_up({&total, 1});
    return total.value();
}

double Delassus::dot(const Vector& a, const Vector& b) const {
    const ConeProblem& p = *problem_;
    ExactSum total;
    for (Index i = 0; i < p.blocks(); ++i) {
        if (!counts(i)) continue;
        double product = 0;
        for (Index c = p.offset[i]; c < p.offset[i + 1]; ++c) product += a[c] * b[c];
        total.add(product);
    }
    add_up({&total, 1});
    return total.value();
}

}  // namespace drystone
