// Gauss-Seidel kernel for Coulomb contacts (both laws) between at most two rigid bodies, in 3D (D = 3, M = 6) and 2D (D = 2, M = 3).
//
// Each contact's tangents are turned so that T of the secular equation (docs/theory.md, eq. 21) is diagonal: sticking
// is then two divisions and sliding a scalar Newton, on eq. 21 for the exact law and on the direction of sliding for the associated one
// (on_cone.hpp). Data of a contact lie together in the order of the sweep; the whitened
// rows of both bodies are most of it, and each is read once per visit (RigidRows). Compliance, where there is any, lies beside.
#pragma once

#include "drystone/base/huge_pages.hpp"
#include "drystone/solve/on_cone.hpp"
#include "drystone/solve/secular.hpp"
#include "drystone/solve/sweep_any.hpp"

#include <Eigen/Eigenvalues>

#include <array>
#include <cmath>
#include <cstring>

namespace drystone {

/// Whitened rows of one contact: A of its first body and B of its second; B is zero, and both bodies are the
/// same, where only one moves.
template <int D, int M>
struct RigidRows {
    double A[D][M], B[D][M];

    void set(int k, int m, double a, double b) {
        A[k][m] = a;
        B[k][m] = b;
    }

    /// u = A za + B zb.
    void spread(const double* za, const double* zb, double* u) const {
        for (int k = 0; k < D; ++k) {
            u[k] = 0;
            for (int m = 0; m < M; ++m) u[k] += A[k][m] * za[m];
            for (int m = 0; m < M; ++m) u[k] += B[k][m] * zb[m];
        }
    }

    /// za += A^T change, zb += B^T change.
    void push(const double* change, double* za, double* zb) const {
        for (int m = 0; m < M; ++m) {
            for (int k = 0; k < D; ++k) za[m] += A[k][m] * change[k];
        }
        if (za == zb) return;
        for (int m = 0; m < M; ++m) {
            for (int k = 0; k < D; ++k) zb[m] += B[k][m] * change[k];
        }
    }
};

/// In 3D a row of A and B is 12 numbers, three vectors of four without a gap: A0 to A3, (A4, A5, B4, B5), B0 to
/// B3. Written with the vectors of GCC and Clang, because neither finds this by itself; where the processor has no
/// vectors of four they become two of two.
template <>
struct RigidRows<3, 6> {
    double row[3][12];

    void set(int k, int m, double a, double b) {
        row[k][m] = a;
        row[k][m < 4 ? 8 + m : 2 + m] = b;
    }

    void spread(const double* za, const double* zb, double* u) const {
        Four a, b, ab, sum[3];
        load(za, zb, a, b, ab);
        for (int k = 0; k < 3; ++k) {
            Four x, y, z;
            std::memcpy(&x, row[k], sizeof x);
            std::memcpy(&y, row[k] + 4, sizeof y);
            std::memcpy(&z, row[k] + 8, sizeof z);
            sum[k] = x * a + y * ab + z * b;
        }
        // The three sums over components at once: pairs, then pairs of pairs.
        const Four p = __builtin_shufflevector(sum[0], sum[1], 0, 4, 2, 6) +
                       __builtin_shufflevector(sum[0], sum[1], 1, 5, 3, 7);
        const Four q = __builtin_shufflevector(sum[2], sum[2], 0, 0, 2, 2) +
                       __builtin_shufflevector(sum[2], sum[2], 1, 1, 3, 3);
        const Four all =
            __builtin_shufflevector(p, q, 0, 1, 4, 5) + __builtin_shufflevector(p, q, 2, 3, 6, 7);
        u[0] = all[0];
        u[1] = all[1];
        u[2] = all[2];
    }

    void push(const double* change, double* za, double* zb) const {
        Four a, b, ab;
        load(za, zb, a, b, ab);
        for (int k = 0; k < 3; ++k) {
            const Four c = {change[k], change[k], change[k], change[k]};
            Four x, y, z;
            std::memcpy(&x, row[k], sizeof x);
            std::memcpy(&y, row[k] + 4, sizeof y);
            std::memcpy(&z, row[k] + 8, sizeof z);
            a += x * c;
            ab += y * c;
            b += z * c;
        }
        // The second body first: if it is also the first, what is written here is the old value, since B = 0.
        const Two low = __builtin_shufflevector(ab, ab, 0, 1), high = __builtin_shufflevector(ab, ab, 2, 3);
        std::memcpy(zb, &b, sizeof b);
        std::memcpy(zb + 4, &high, sizeof high);
        std::memcpy(za, &a, sizeof a);
        std::memcpy(za + 4, &low, sizeof low);
    }

private:
    using Four [[gnu::vector_size(32)]] = double;
    using Two [[gnu::vector_size(16)]] = double;

    static void load(const double* za, const double* zb, Four& a, Four& b, Four& ab) {
        Two low, high;
        std::memcpy(&a, za, sizeof a);
        std::memcpy(&b, zb, sizeof b);
        std::memcpy(&low, za + 4, sizeof low);
        std::memcpy(&high, zb + 4, sizeof high);
        ab = __builtin_shufflevector(low, high, 0, 1, 2, 3);
    }
};

template <int D, int M, Law law = Law::coulomb, bool Compliant = false>
class RigidKernel {
public:
    /// True if the problem has the shape this kernel needs.
    static bool fits(const Delassus& W, const GaussSeidelOptions& options) {
        const ConeProblem& p = W.problem();
        if (options.local.solver != LocalSolver::hybrid || !W.whitened() || p.common_dim() != M) return false;
        for (Index i = 0; i < p.blocks(); ++i) {
            const Cone& c = p.cones[i];
            if (c.kind != ConeKind::second_order || c.dim != D || std::isinf(c.mu())) return false;
            if (p.H.start[i + 1] - p.H.start[i] > 2 || p.H.start[i + 1] == p.H.start[i]) return false;
        }
        return true;
    }

    RigidKernel(const Delassus& W, const GaussSeidelOptions& options, const Tiling& tiling)
        : W_(W),
          p_(W.problem()),
          tiling_(tiling),
          contacts_(p_.blocks() + contact_ahead),
          frame_(p_.blocks()) {
        if constexpr (Compliant) compliance_.resize(p_.blocks());
        parallel_for(W.threads(), p_.blocks(), [&](Index q) { pack(q, options.proximal); });
        r.setZero(p_.rows());
    }

    void load(const Vector& from) {
        for (Index q = 0; q < p_.blocks(); ++q)
            turn(q, from.data() + p_.offset[tiling_.order[q]], r.data() + q * D, 1);
        Vector packed;
        gather_split(W_, from, packed);
        z.setZero(static_cast<Eigen::Index>(p_.bodies()) * stride);
        for (Index j = 0; j < p_.bodies(); ++j) {
            z.segment(static_cast<Eigen::Index>(j) * stride, M) =
                packed.segment(static_cast<Eigen::Index>(j) * M, M);
        }
    }

    void store(Vector& to) const {
        for (Index q = 0; q < p_.blocks(); ++q)
            turn(q, r.data() + q * D, to.data() + p_.offset[tiling_.order[q]], -1);
    }

    template <bool Uphill>
    double visit(Index q, const double* previous, double& uphill) {
        Contact& c = contacts_[q];
        prefetch_ahead(contacts_.data() + q, contact_ahead, bodies_ahead, z.data(), stride);
        // Between bodies that cannot move there is nothing to solve, unless the contact itself yields.
        if (c.a < 0 && !(Compliant && !compliance_[q].isZero(0.0))) return 0;
        [[maybe_unused]] std::array<double, stride> still = {};
        double *za = still.data(), *zb = za;
        if (!Compliant || c.a >= 0) {
            za = z.data() + static_cast<std::ptrdiff_t>(c.a) * stride;
            zb = z.data() + static_cast<std::ptrdiff_t>(c.b) * stride;
        }
        double* x = r.data() + static_cast<std::ptrdiff_t>(q) * D;
        std::array<double, D> u;
        c.rows.spread(za, zb, u.data());
        for (int k = 0; k < D; ++k) u[k] += c.free[k];
        if constexpr (Compliant) {
            for (int k = 0; k < D; ++k) {
                for (int l = 0; l < D; ++l) u[k] += compliance_[q](k, l) * x[l];
            }
        }
        // Eq. 21 with the own impulse taken out: free_normal = -b_N / W_NN. First as if the contact stuck.
        double free_normal = x[0] - u[0] * c.inverse_w;
        for (int k = 0; k < D - 1; ++k) free_normal += c.coupling[k] * x[k + 1];
        std::array<double, D - 1> tangent;
        double grip = 0, normal = free_normal;
        for (int k = 0; k < D - 1; ++k) {
            tangent[k] = x[k + 1] - (u[k + 1] - c.coupling[k] * u[0]) * c.inverse_t[k];
            normal -= c.coupling[k] * tangent[k];
            grip += tangent[k] * tangent[k];
        }
        if (c.mu == 0 || (law == Law::coulomb && free_normal <= 0)) {
            tangent.fill(0);
            normal = std::max(0.0, free_normal);
        } else if (normal <= 0 || grip > c.mu * c.mu * normal * normal) {
            if constexpr (law == Law::coulomb) {
                slide(c, free_normal, normal, tangent);
            } else {
                OnCone<D - 1> on{c.mu, 1 / c.inverse_w, free_normal, c.coupling, {}, tangent};
                for (int k = 0; k < D - 1; ++k) on.t[k] = 1 / c.inverse_t[k];
                on.solve(x + 1, normal, tangent);
            }
        }
        std::array<double, D> next, change;
        next[0] = normal;
        for (int k = 0; k < D - 1; ++k) next[k + 1] = tangent[k];
        double step = 0;
        for (int k = 0; k < D; ++k) {
            change[k] = next[k] - x[k];
            step += change[k] * change[k];
            if constexpr (Uphill)
                uphill -=
                    c.stiffness * change[k] * (next[k] - previous[static_cast<std::ptrdiff_t>(q) * D + k]);
            x[k] = next[k];
        }
        c.rows.push(change.data(), za, zb);
        return c.stiffness * step;
    }

    [[nodiscard]] int body_stride() const { return stride; }
    [[nodiscard]] Index row(Index q) const { return q * D; }
    [[nodiscard]] double weight(Index q, Index /*component*/) const { return contacts_[q].stiffness; }

    Vector r, z;

private:
    /// Bodies are a cache line apart in 3D.
    static constexpr int stride = M == 6 ? 8 : 4;

    /// Visits ahead at which a contact, and later its bodies, are asked for: about what the last-level cache needs.
    static constexpr Index contact_ahead = 12, bodies_ahead = 6;

    /// In 3D: 384 bytes, six cache lines.
    struct alignas(M == 6 ? 64 : 8) Contact {
        RigidRows<D, M> rows;
        std::array<double, D> free;
        double inverse_w, mu, stiffness;
        std::array<double, D - 1> coupling, inverse_t;
        double alpha;  ///< root of eq. 21 when the contact last slid
        Index a, b;
    };

    /// The impulse of a contact that cannot stick; `tangent` is the one it would need to. Newton on eq. 21 from the
    /// contact's last root, with r_T = tangent / (1 + alpha / t). It ends with a step of first order once the
    /// square of what is missing is below rounding; the guarded form (secular.hpp) takes over where it does not get there.
    static void slide(Contact& c, double free_normal, double& normal, std::array<double, D - 1>& tangent) {
        constexpr int max_steps = 6;
        constexpr double near = 1e-8;
        std::array<double, D - 1> e, x;
        double alpha = c.alpha;
        for (int step = 0; step < max_steps; ++step) {
            double q2 = 0, dq = 0, dn = 0, rN = free_normal;
            for (int k = 0; k < D - 1; ++k) {
                const double g = 1 / (1 + alpha * c.inverse_t[k]);
                e[k] = c.inverse_t[k] * g;
                x[k] = tangent[k] * g;
                rN -= c.coupling[k] * x[k];
                q2 += x[k] * x[k];
                dq += x[k] * x[k] * e[k];
                dn += c.coupling[k] * x[k] * e[k];
            }
            const double slope = c.mu * (dn * q2 + rN * dq), q = std::sqrt(q2);
            const double missing = q - c.mu * rN, delta = missing * q2 / slope;
            alpha += delta;
            if (!(alpha > 0 && slope > 0)) break;
            if (std::abs(missing) > near * q) continue;
            normal = free_normal;
            q2 = 0;
            for (int k = 0; k < D - 1; ++k) {
                tangent[k] = x[k] - x[k] * e[k] * delta;
                normal -= c.coupling[k] * tangent[k];
                q2 += tangent[k] * tangent[k];
            }
            const double scale = c.mu * normal / std::sqrt(q2);  // exactly on the cone
            for (int k = 0; k < D - 1; ++k) tangent[k] *= scale;
            c.alpha = alpha;
            return;
        }
        Secular<D - 1> s;
        s.mu = c.mu;
        s.free_normal = free_normal;
        s.coupling = c.coupling;
        for (int k = 0; k < D - 1; ++k) {
            s.t[k] = 1 / c.inverse_t[k];
            s.bt[k] = -tangent[k] * s.t[k];
        }
        c.alpha = solve_secular<D - 1>(s, c.alpha, normal, tangent);
    }

    void pack(Index q, double proximal) {
        const Index i = tiling_.order[q];
        Contact& c = contacts_[q];
        BlockMatrix W = split_diagonal(W_, i);
        W.diagonal().array() += AnyKernel::proximal_term(W, W_.inverse_mass(i), proximal);
        const double w = W(0, 0);
        // Frame in which T is diagonal: a rotation of the tangents by an angle of this sine and cosine.
        double cosine = 1, sine = 0;
        if constexpr (D == 3) {
            const double t11 = W(1, 1) - W(1, 0) * W(1, 0) / w, t22 = W(2, 2) - W(2, 0) * W(2, 0) / w;
            const double t12 = W(2, 1) - W(1, 0) * W(2, 0) / w;
            const double angle = std::abs(t12) <= 1e-15 * (std::abs(t11) + std::abs(t22))
                                     ? 0.0
                                     : 0.5 * std::atan2(2 * t12, t11 - t22);
            cosine = std::cos(angle);
            sine = std::sin(angle);
        }
        frame_[q] = {cosine, sine};
        BlockMatrix R = BlockMatrix::Identity(D, D);
        if constexpr (D == 3) R.bottomRightCorner(2, 2) << cosine, sine, -sine, cosine;
        const BlockMatrix V = R * W * R.transpose();
        c.inverse_w = 1 / w;
        c.mu = p_.cones[i].mu();
        c.stiffness = W_.inverse_mass(i);
        c.alpha = 0;
        for (int k = 0; k < D - 1; ++k) {
            c.coupling[k] = V(k + 1, 0) / w;
            c.inverse_t[k] =
                1 / std::max(V(k + 1, k + 1) - V(k + 1, 0) * V(k + 1, 0) / w, 1e-16 * c.stiffness);
        }
        if constexpr (Compliant) {
            const BlockMatrix C = p_.compliance.segment(p_.offset[i], D).asDiagonal();
            compliance_[q] = R * C * R.transpose();
        }
        const BlockVector free = R * W_.b().segment(p_.offset[i], D);
        for (int k = 0; k < D; ++k) c.free[k] = free[k];
        using Rows = Eigen::Matrix<double, D, M, Eigen::RowMajor>;
        std::array<Index, 2> body = {-1, -1};
        Rows rows[2] = {Rows::Zero(), Rows::Zero()};
        int moving = 0;
        for (Index k = p_.H.start[i]; k < p_.H.start[i + 1]; ++k) {
            const Eigen::Map<const Rows> H(W_.whitened_rows().data() + p_.H.value_start[i] +
                                           (k - p_.H.start[i]) * D * M);
            if (H.isZero(0.0)) continue;
            body[moving] = p_.H.body[k];
            rows[moving++] = std::sqrt(copies_of(W_, p_.H.body[k])) * (R.topLeftCorner(D, D) * H);
        }
        c.a = body[0];
        c.b = moving > 1 ? body[1] : c.a;
        for (int k = 0; k < D; ++k) {
            for (int m = 0; m < M; ++m) c.rows.set(k, m, rows[0](k, m), rows[1](k, m));
        }
    }

    /// Turns the tangents of an impulse into (direction 1) or out of (-1) the packed frame.
    void turn(Index q, const double* from, double* to, int direction) const {
        to[0] = from[0];
        if constexpr (D == 2) {
            to[1] = from[1];
        } else {
            const double c = frame_[q][0], s = direction * frame_[q][1];
            const double x = c * from[1] + s * from[2], y = -s * from[1] + c * from[2];
            to[1] = x;
            to[2] = y;
        }
    }

    const Delassus& W_;
    const ConeProblem& p_;
    const Tiling& tiling_;
    std::vector<Contact, HugePageAllocator<Contact>> contacts_;
    std::vector<std::array<double, 2>> frame_;
    std::vector<Eigen::Matrix<double, D, D>> compliance_;  // in the turned frame; empty for rigid contacts
};

}  // namespace drystone
