// Gauss-Seidel kernel for any cone and any local solver: through body vectors (whitened) or through the formed matrix
// W. Compliance, of which body vectors know nothing, is a second form of each kernel, so that rigid contacts do not pay
// for it.
#pragma once

#include "drystone/sweep/sweep.hpp"
#include "drystone/sweep/sweep_options.hpp"

#include <Eigen/Eigenvalues>

#include <array>

namespace drystone {

template <bool Compliant>
class AnyKernelOf {
public:
    AnyKernelOf(const Delassus& W, Law law, const SweepOptions& options, const Tiling& tiling)
        : W_(W),
          p_(W.problem()),
          law_(law),
          local_(options.local),
          tiling_(tiling),
          explicit_(options.kernel == SweepKernel::explicit_matrix || !W.whitened()) {
        if (explicit_) {
            matrix_ = &W.matrix();
        } else {
            rows_ = &W.dense_rows();
        }
        offset_.assign(1, 0);
        block_.resize(p_.blocks());
        for (Index q = 0; q < p_.blocks(); ++q) {
            const Index i = tiling.order[q];
            offset_.push_back(offset_.back() + p_.cones[i].dim);
            block_[q] = explicit_ ? W.diagonal(i) : split_diagonal(W, i);
            block_[q].diagonal().array() += proximal_term(block_[q], W.inverse_mass(i), options.proximal);
        }
        place_.resize(p_.blocks());
        for (Index q = 0; q < p_.blocks(); ++q) place_[tiling.order[q]] = q;
        r.setZero(p_.rows());
    }

    /// A block that is not definite, such as a contact of bodies that cannot turn, needs a little to be solvable.
    static double proximal_term(const BlockMatrix& D, double stiffness, double asked) {
        const double smallest = D.rows() == 1 ? D(0, 0) : D.selfadjointView<Eigen::Lower>().eigenvalues()[0];
        return proximal_term(smallest, stiffness, asked);
    }
    /// The same where the smallest eigenvalue is known.
    static double proximal_term(double smallest, double stiffness, double asked) {
        return stiffness * std::max(asked, smallest > 1e-12 * stiffness ? 0.0 : 1e-8);
    }

    void load(const Vector& from) {
        for (Index q = 0; q < p_.blocks(); ++q) {
            const Index i = tiling_.order[q];
            r.segment(offset_[q], p_.cones[i].dim) = from.segment(p_.offset[i], p_.cones[i].dim);
        }
        if (!explicit_) W_.gather(from, z);
    }

    void store(Vector& to) const {
        for (Index q = 0; q < p_.blocks(); ++q) {
            const Index i = tiling_.order[q];
            to.segment(p_.offset[i], p_.cones[i].dim) = r.segment(offset_[q], p_.cones[i].dim);
        }
    }

    template <bool Uphill>
    double visit(Index q, const double* previous, double& uphill) {
        const Index i = tiling_.order[q];
        const Cone& cone = p_.cones[i];
        const int d = cone.dim;
        std::array<double, max_block> u{};
        velocity(i, d, u.data());
        BlockVector old = r.segment(offset_[q], d), x = old;
        const BlockVector b = Eigen::Map<const BlockVector>(u.data(), d) - block_[q] * old;
        if (!solve_local(cone, block_[q], b, law_, local_, x)) x = 0.5 * (x + old);
        if (!x.allFinite()) x = old;
        const BlockVector change = x - old;
        r.segment(offset_[q], d) = x;
        if (!explicit_) {
            for_each_entry(p_, *rows_, i, [&](Index body, auto place, const BodyRowsOf& A) {
                if (A.isZero(0.0)) return;  // a body that does not move is shared by tiles: do not touch it
                double* zj = z.data() + place.first;
                // Here z is not divided by sqrt(n), nor are rows multiplied: what one copy feels counts n times.
                const double n = copies_of(W_, body);
                for (int a = 0; a < d; ++a) {
                    for (int c = 0; c < place.dim; ++c) zj[c] += n * A(a, c) * change[a];
                }
            });
        }
        const double stiffness = W_.inverse_mass(i);
        // Torques count by the block's length, as in the referee.
        BlockVector weighted = stiffness * change;
        if (cone.kind == ConeKind::wrench) {
            const double length = W_.length(i);
            for (int c = 0; c < d; ++c)
                if (is_torque(cone, c)) weighted[c] /= length * length;
        }
        if constexpr (Uphill) {
            uphill -= weighted.dot(x - Eigen::Map<const BlockVector>(previous + offset_[q], d));
        }
        return weighted.dot(change);
    }

    static constexpr bool pushes = false;
    SweepSums visit_tile(Index tile, const double* before, const double* /*push*/, Sleep& sleep) {
        return visit_blocks(*this, tiling_, tile, before, sleep);
    }
    [[nodiscard]] double* bodies() { return z.data(); }
    [[nodiscard]] int body_stride() const { return p_.common_dim(); }
    [[nodiscard]] Index tile_row(Index t) const { return offset_[tiling_.tile_start[t]]; }
    void weights(Vector& out) const {
        out.resize(r.size());
        for (Index q = 0; q < p_.blocks(); ++q) {
            const Index i = tiling_.order[q];
            for (int c = 0; c < p_.cones[i].dim; ++c) {
                const double length = is_torque(p_.cones[i], c) ? W_.length(i) : 1.0;
                out[offset_[q] + c] = W_.inverse_mass(i) / (length * length);
            }
        }
    }

    Vector r, z;

private:
    void velocity(Index i, int d, double* u) const {
        for (int a = 0; a < d; ++a) u[a] = W_.b()[p_.offset[i] + a];
        if (explicit_) {
            const BlockSparse& M = *matrix_;
            for (Index k = M.start[i]; k < M.start[i + 1]; ++k) {
                const Index j = M.column[k];
                const int e = p_.cones[j].dim;
                const double* A = M.value.data() + M.value_start[k];
                const double* rj = r.data() + offset_[place_[j]];
                for (int a = 0; a < d; ++a) {
                    for (int c = 0; c < e; ++c, ++A) u[a] += *A * rj[c];
                }
            }
            return;
        }
        for_each_entry(p_, *rows_, i, [&](Index, auto place, const BodyRowsOf& A) {
            const double* zj = z.data() + place.first;
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < place.dim; ++c) u[a] += A(a, c) * zj[c];
            }
        });
        if constexpr (Compliant) {
            const double* own = r.data() + offset_[place_[i]];
            for (int a = 0; a < d; ++a) u[a] += p_.compliance[p_.offset[i] + a] * own[a];
        }
    }

    const Delassus& W_;
    const ConeProblem& p_;
    Law law_;
    LocalOptions local_;
    const Tiling& tiling_;
    bool explicit_;
    const BlockSparse* matrix_ = nullptr;
    const BlockRows* rows_ = nullptr;
    std::vector<Index> offset_, place_;
    std::vector<BlockMatrix> block_;
};

using AnyKernel = AnyKernelOf<false>;

}  // namespace drystone
