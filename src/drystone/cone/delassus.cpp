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

/// A symmetric matrix of all rows by blocks.
BlockSparse in_blocks(const ConeProblem& p, const SparseMatrix& full) {
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

}  // namespace

Delassus::Delassus(const ConeProblem& problem, int threads, const Exchange* exchange)
    : problem_(&problem),
      threads_(resolve_threads(threads)),
      exchange_(exchange),
      data_(std::make_shared<Data>()) {
    prepare_bodies();
    data_->separate = problem.separate();
    if (data_->separate) {
        whiten();
    } else {
        factorise();
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
    if (whitened()) {
        parallel_for(threads_, problem.blocks(), [&](Index i) {
            const int d = problem.cones[i].dim;
            Eigen::Map<Eigen::MatrixXd> D(data_->diagonal.data() + data_->diagonal_start[i], d, d);
            for_each_entry(problem, i, data_->Hw.data(), [&](Index, auto, const BodyRowsOf& A) {
                D.noalias() += A.lazyProduct(A.transpose());
            });
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
    const Index bodies = p.bodies();
    data_->body_start.assign(bodies + 1, 0);
    for (Index body : p.H.body) data_->body_start[body + 1] += 1;
    for (Index j = 0; j < bodies; ++j) data_->body_start[j + 1] += data_->body_start[j];
    data_->body_block.resize(p.H.body.size());
    data_->body_value.resize(p.H.body.size());
    std::vector<Index> next(data_->body_start.begin(), data_->body_start.end() - 1);
    for (Index i = 0; i < p.blocks(); ++i) {
        for_each_entry(p, i, p.H.value.data(), [&](Index body, auto, const BodyRowsOf& A) {
            const Index place = next[body]++;
            data_->body_block[place] = i;
            data_->body_value[place] = A.data() - p.H.value.data();
        });
    }
}

BodyRowsOf Delassus::root_of(Index body) const {
    std::size_t s = 0;
    for (; body >= problem_->species[s].count; ++s) body -= problem_->species[s].count;
    const int m = problem_->species[s].dim;
    return {data_->G.data() + data_->G_start[s] + static_cast<std::int64_t>(body) * m * m, m, m};
}

void Delassus::whiten() {
    const ConeProblem& p = *problem_;
    data_->G_start.assign(1, 0);
    for (const Species& s : p.species)
        data_->G_start.push_back(data_->G_start.back() + static_cast<std::int64_t>(s.velocities()) * s.dim);
    data_->G.resize(static_cast<std::size_t>(data_->G_start.back()));
    for (std::size_t k = 0; k < p.species.size(); ++k) {
        const Species& s = p.species[k];
        const auto& inverse = std::get<BlockInverseMass>(s.mass).blocks;
        const int m = s.dim;
        double* G = data_->G.data() + data_->G_start[k];
        parallel_for(threads_, s.count, [&](Index j) {
            const std::size_t at = static_cast<std::size_t>(j) * m * m;
            Rows(G + at, m, m) = square_root(ConstRows(inverse.data() + at, m, m));
        });
    }
    data_->Hw.resize(p.H.value.size());
    parallel_for(threads_, p.blocks(), [&](Index i) {
        for_each_entry(p, i, p.H.value.data(), [&](Index body, auto, const BodyRowsOf& A) {
            Rows(data_->Hw.data() + (A.data() - p.H.value.data()), A.rows(), A.cols()).noalias() =
                A.lazyProduct(root_of(body));
        });
    });
}

/// Pieces of so few velocities (rods) are factorised without MUMPS, which takes a millisecond to begin.
constexpr Eigen::Index small_piece = 1000;

/// Velocities that the mass of a species connects, piece by piece, each piece with its own factor: a rod more costs what a rod costs.
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

void Delassus::compute_scales() {
    const ConeProblem& p = *problem_;
    data_->inverse_mass.resize(p.blocks());
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
        data_->inverse_mass[i] = force / forces;
        largest = std::max(largest, data_->inverse_mass[i]);
    }
    largest = this->largest(largest);
    // A block between bodies that cannot move has no scale of its own: it takes the largest there is (or 1).
    for (Index i = 0; i < p.blocks(); ++i) {
        if (!(data_->inverse_mass[i] > 1e-30 * largest)) data_->inverse_mass[i] = largest > 0 ? largest : 1.0;
    }
}

void Delassus::gather(const Vector& r, Vector& z) const {
    const ConeProblem& p = *problem_;
    z.resize(p.dofs());
    parallel_for(threads_, p.bodies(), [&](Index j) {
        const auto [first, m] = p.place_of(j);
        std::array<double, max_block> sum{};
        for (Index q = data_->body_start[j]; q < data_->body_start[j + 1]; ++q) {
            const Index i = data_->body_block[q];
            const int d = p.cones[i].dim;
            const double* A = data_->Hw.data() + data_->body_value[q];
            const double* ri = r.data() + p.offset[i];
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < m; ++c) sum[c] += A[a * m + c] * ri[a];
            }
        }
        for (int c = 0; c < m; ++c) z[first + c] = sum[c];
    });
    if (exchange_ != nullptr) exchange_->share_bodies(z.data(), p.common_dim());
}

void Delassus::spread(const Vector& z, Vector& out) const {
    const ConeProblem& p = *problem_;
    out.resize(p.rows());
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        std::array<double, max_block> sum{};
        for_each_entry(p, i, data_->Hw.data(), [&](Index, auto place, const BodyRowsOf& A) {
            const double* zj = z.data() + place.first;
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < place.dim; ++c) sum[a] += A(a, c) * zj[c];
            }
        });
        for (int a = 0; a < d; ++a) out[p.offset[i] + a] = sum[a];
    });
}

void Delassus::apply_H(const Vector& v, Vector& u) const {
    const ConeProblem& p = *problem_;
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        u.segment(p.offset[i], d).setZero();
        for_each_entry(p, i, p.H.value.data(), [&](Index, auto place, const BodyRowsOf& A) {
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < place.dim; ++c) u[p.offset[i] + a] += A(a, c) * v[place.first + c];
            }
        });
    });
}

void Delassus::compute_rounding() {
    const ConeProblem& p = *problem_;
    data_->rounding.resize(p.blocks());
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        std::array<double, max_block> terms{};
        for (int a = 0; a < d; ++a) terms[a] = std::abs(p.w[p.offset[i] + a]);
        for_each_entry(p, i, p.H.value.data(), [&](Index, auto place, const BodyRowsOf& A) {
            for (int a = 0; a < d; ++a)
                for (int c = 0; c < place.dim; ++c)
                    terms[a] += std::abs(A(a, c) * data_->v_free[place.first + c]);
        });
        double largest = p.pull.size() > 0 ? inverse_mass(i) * p.pull[i] : 0.0;
        for (int a = 0; a < d; ++a)
            largest = std::max(largest, terms[a] * (is_torque(p.cones[i], a) ? length(i) : 1.0));
        data_->rounding[i] = unit_of_rounding * largest + (p.w_rounding.size() > 0 ? p.w_rounding[i] : 0.0);
    });
}

Vector Delassus::body_impulse(const Vector& r) const {
    const ConeProblem& p = *problem_;
    Vector impulse = Vector::Zero(p.dofs());
    parallel_for(threads_, p.bodies(), [&](Index j) {
        const auto [first, m] = p.place_of(j);
        for (Index q = data_->body_start[j]; q < data_->body_start[j + 1]; ++q) {
            const Index i = data_->body_block[q];
            const int d = p.cones[i].dim;
            const ConstRows A(p.H.value.data() + data_->body_value[q], d, m);
            impulse.segment(first, m).noalias() += A.transpose().lazyProduct(r.segment(p.offset[i], d));
        }
    });
    if (exchange_ != nullptr) exchange_->share_bodies(impulse.data(), p.common_dim());
    return impulse;
}

Vector Delassus::impulse_to_velocity(const Vector& impulse) const {
    const ConeProblem& p = *problem_;
    Vector v(impulse.size());
    Index first = 0;
    for (const Species& s : p.species) {
        const int m = s.dim;
        if (const auto* inverse = std::get_if<BlockInverseMass>(&s.mass)) {
            parallel_for(threads_, s.count, [&](Index j) {
                const ConstRows B(inverse->blocks.data() + static_cast<std::size_t>(j) * m * m, m, m);
                v.segment(first + j * m, m).noalias() = B.lazyProduct(impulse.segment(first + j * m, m));
            });
        } else if (const auto* sparse = std::get_if<SparseInverseMass>(&s.mass)) {
            v.segment(first, s.velocities()) = sparse->inverse * impulse.segment(first, s.velocities());
        }
        first += s.velocities();
    }
    for (const Component& c : data_->components) {
        Vector part(static_cast<Eigen::Index>(c.velocity.size()));
        for (std::size_t k = 0; k < c.velocity.size(); ++k)
            part[static_cast<Eigen::Index>(k)] = impulse[c.velocity[k]];
        c.factor.solve(part);
        for (std::size_t k = 0; k < c.velocity.size(); ++k)
            v[c.velocity[k]] = part[static_cast<Eigen::Index>(k)];
    }
    return v;
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
        Vector z;
        gather(r, z);
        solution.v = data_->v_free;
        parallel_for(threads_, problem_->bodies(), [&](Index j) {
            const auto [first, m] = problem_->place_of(j);
            solution.v.segment(first, m).noalias() += root_of(j).lazyProduct(z.segment(first, m));
        });
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
    BlockSparse W;
    std::vector<Index> neighbours;
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        neighbours.assign(1, i);
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            const Index body = p.H.body[k];
            if (root_of(body).isZero(0.0)) continue;  // a body that does not move couples nothing
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
            for_each_entry(p, i, data_->Hw.data(), [&](Index body, auto, const BodyRowsOf& A) {
                for_each_entry(p, j, data_->Hw.data(), [&](Index other, auto, const BodyRowsOf& B) {
                    if (body == other) block.noalias() += A.lazyProduct(B.transpose());
                });
            });
            W.value.insert(W.value.end(), block.data(), block.data() + d * e);
        }
        W.start.push_back(static_cast<Index>(W.column.size()));
    }
    return W;
}

/// Blocks couple where they meet at a velocity, at velocities that a SparseInverseMass couples, or at one piece of what a SparseMass connects, in which
/// M^-1 couples everything with everything.
BlockSparse Delassus::coupled_matrix() const {
    const ConeProblem& p = *problem_;
    // M^-1 of all but the pieces, which are not formed.
    std::vector<Eigen::Triplet<double>> entries;
    Index first = 0;
    for (const Species& s : p.species) {
        const int m = s.dim;
        if (const auto* inverse = std::get_if<BlockInverseMass>(&s.mass)) {
            for (Index j = 0; j < s.count; ++j)
                for (int a = 0; a < m; ++a)
                    for (int b = 0; b < m; ++b) {
                        const double x =
                            inverse
                                ->blocks[(static_cast<std::size_t>(j) * m + static_cast<std::size_t>(a)) * m +
                                         b];
                        if (x != 0) entries.emplace_back(first + j * m + a, first + j * m + b, x);
                    }
        } else if (const auto* sparse = std::get_if<SparseInverseMass>(&s.mass)) {
            for (Eigen::Index j = 0; j < sparse->inverse.outerSize(); ++j)
                for (SparseMatrix::InnerIterator it(sparse->inverse, j); it; ++it)
                    entries.emplace_back(first + it.row(), first + it.col(), it.value());
        }
        first += s.velocities();
    }
    SparseMatrix inverse(p.dofs(), p.dofs());
    inverse.setFromTriplets(entries.begin(), entries.end());
    entries.clear();
    for (Index i = 0; i < p.blocks(); ++i) {
        for_each_entry(p, i, p.H.value.data(), [&](Index, auto place, const BodyRowsOf& A) {
            for (int a = 0; a < A.rows(); ++a)
                for (int c = 0; c < place.dim; ++c)
                    if (A(a, c) != 0) entries.emplace_back(place.first + c, p.offset[i] + a, A(a, c));
        });
    }
    SparseMatrix Ht(p.dofs(), p.rows());
    Ht.setFromTriplets(entries.begin(), entries.end());
    SparseMatrix full = Ht.transpose() * inverse * Ht;
    // Of each piece: the rows that touch it, solved for one by one (many at once would fill memory), meet each other and nothing else.
    entries.clear();
    const Eigen::SparseMatrix<double, Eigen::RowMajor> by_velocity = Ht;
    std::vector<Index> place(p.dofs(), -1);  // in the piece
    for (const Component& c : data_->components) {
        std::vector<Index> rows;
        for (std::size_t k = 0; k < c.velocity.size(); ++k) {
            place[c.velocity[k]] = static_cast<Index>(k);
            for (decltype(by_velocity)::InnerIterator it(by_velocity, c.velocity[k]); it; ++it)
                rows.push_back(static_cast<Index>(it.col()));
        }
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        const auto count = static_cast<Eigen::Index>(rows.size());
        Eigen::MatrixXd part(count, count);
        Vector moved;
        for (Eigen::Index b = 0; b < count; ++b) {
            moved.setZero(static_cast<Eigen::Index>(c.velocity.size()));
            for (SparseMatrix::InnerIterator it(Ht, rows[static_cast<std::size_t>(b)]); it; ++it)
                if (place[it.row()] >= 0) moved[place[it.row()]] = it.value();
            c.factor.solve(moved);
            for (Eigen::Index a = 0; a < count; ++a) {
                double sum = 0;
                for (SparseMatrix::InnerIterator it(Ht, rows[static_cast<std::size_t>(a)]); it; ++it)
                    if (place[it.row()] >= 0) sum += it.value() * moved[place[it.row()]];
                part(a, b) = sum;
            }
        }
        for (Eigen::Index a = 0; a < count; ++a)
            for (Eigen::Index b = 0; b < count; ++b)
                entries.emplace_back(rows[static_cast<std::size_t>(a)], rows[static_cast<std::size_t>(b)],
                                     0.5 * (part(a, b) + part(b, a)));
        for (const Index k : c.velocity) place[k] = -1;
    }
    if (!entries.empty()) {
        SparseMatrix pieces(p.rows(), p.rows());
        pieces.setFromTriplets(entries.begin(), entries.end());
        full = SparseMatrix(full + pieces);
    }
    return in_blocks(p, full);
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
