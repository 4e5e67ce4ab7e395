// Gauss-Seidel kernel for spheres (3D, both laws).
//
// The whitened rows of a contact at the end of an arm along its normal are a E^T for the velocity and c (n x)-turned E^T for the
// spin, E = (n, t1, t2): two numbers per body instead of 18, W_ii is diagonal (w_N, w_T, w_T), and the local problem has a
// closed form. Exact law: r_N = max(0, -b_N / w_N), r_T = projection of -b_T / w_T on the disc of radius mu r_N. Associated law: -b / w if
// that is in the cone, else on its boundary in the direction of -b_T with r_N = max(0, (mu |b_T| - b_N) / (w_N + mu^2 w_T)). Impulses are
// kept as vectors of space, so tangents do not appear at all. Found from the numbers in H, not from any word about shapes.
// Compliance that is the same along both tangents keeps all of this: it adds to w_N and to w_T.
#pragma once

#include "drystone/base/huge_pages.hpp"
#include "drystone/solve/four.hpp"
#include "drystone/solve/sweep_any.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <optional>

namespace drystone {

template <bool Compliant = false>
class SphereKernel {
public:
    /// The kernel, if every contact has the shape it needs (to rounding).
    static std::optional<SphereKernel> make(const Delassus& W, Law law, const GaussSeidelOptions& options,
                                            const Tiling& tiling) {
        const ConeProblem& p = W.problem();
        if (options.local.solver != LocalSolver::hybrid || !W.whitened() || p.common_dim() != 6) return {};
        if (Compliant != W.compliant()) return {};
        SphereKernel kernel(W, law, tiling);
        for (Index q = 0; q < p.blocks(); ++q) {
            if (!kernel.pack(q, options.proximal)) return {};
        }
        kernel.r.setZero(p.rows());
        return kernel;
    }

    void load(const Vector& from) {
        for (Index q = 0; q < p_.blocks(); ++q) {
            r.segment<3>(q * 3) = frame(q).transpose() * from.segment<3>(p_.offset[tiling_.order[q]]);
        }
        Vector packed;
        gather_split(W_, from, packed);
        z.setZero(static_cast<Eigen::Index>(p_.bodies()) * stride);
        unpack(packed);
    }

    void store(Vector& to) const {
        for (Index q = 0; q < p_.blocks(); ++q) {
            to.segment<3>(p_.offset[tiling_.order[q]]) = frame(q) * r.segment<3>(q * 3);
        }
    }

    template <bool Uphill>
    double visit(Index q, const double* previous, double& uphill) {
        const Contact& c = contacts_[q];
        prefetch_ahead(contacts_.data() + q, contact_ahead, bodies_ahead, z.data(), stride);
        if (c.a < 0) return 0;
        double* za = z.data() + static_cast<std::ptrdiff_t>(c.a) * stride;
        double* zb = z.data() + static_cast<std::ptrdiff_t>(c.b) * stride;
        double* x = r.data() + static_cast<std::ptrdiff_t>(q) * 3;
        // Vectors of space with a fourth component that stays zero.
        Four n, u, va, wa, vb, wb;
        std::memcpy(&n, c.n, sizeof n);
        std::memcpy(&u, c.free, sizeof u);
        std::memcpy(&va, za, sizeof va);
        std::memcpy(&wa, za + 4, sizeof wa);
        std::memcpy(&vb, zb, sizeof vb);
        std::memcpy(&wb, zb + 4, sizeof wb);
        const Four old = {x[0], x[1], x[2], 0.0};
        const Four turned_n = __builtin_shufflevector(n, n, 1, 2, 0, 3);
        // Spin of both bodies at the contact, then u = linear + spin x n.
        const Four spin = c.arm_a * wa + c.arm_b * wb;
        const Four cross = spin * turned_n - __builtin_shufflevector(spin, spin, 1, 2, 0, 3) * n;
        u += c.linear_a * va + c.linear_b * vb + __builtin_shufflevector(cross, cross, 1, 2, 0, 3);
        if constexpr (Compliant) {
            const auto [normal, tangential] = compliance_[q];
            const Four along = old * n;
            u += tangential * old + (normal - tangential) * (along[0] + along[1] + along[2]) * n;
        }
        const Four un = u * n, xn = old * n;
        const double uN = un[0] + un[1] + un[2];
        const double xN = xn[0] + xn[1] + xn[2];
        double rN = std::max(0.0, xN - uN * c.inverse_wN);
        // Tangential trial, as a vector of space without normal part.
        const Four y = old - u * c.inverse_wT - (xN - uN * c.inverse_wT) * n;
        const Four yy = y * y;
        const double grip = yy[0] + yy[1] + yy[2], limit = c.mu * rN;
        double scale = 1;
        if (grip > limit * limit) {
            const double length = std::sqrt(grip);
            if (associated_) {
                const double ratio = c.inverse_wN / c.inverse_wT;  // w_T / w_N
                rN = std::max(0.0,
                              (xN - uN * c.inverse_wN + c.mu * ratio * length) / (1 + c.mu * c.mu * ratio));
            }
            scale = c.mu * rN / length;
        }
        const Four next = y * scale + rN * n, change = next - old;
        double wN = c.linear_a * c.linear_a + c.linear_b * c.linear_b;
        if constexpr (Compliant) wN += compliance_[q][0];
        if constexpr (Uphill) {
            const double* p = previous + static_cast<std::ptrdiff_t>(q) * 3;
            uphill -= wN * (change[0] * (next[0] - p[0]) + change[1] * (next[1] - p[1]) +
                            change[2] * (next[2] - p[2]));
        }
        x[0] = next[0];
        x[1] = next[1];
        x[2] = next[2];
        // The transpose of spin x n is n x change.
        const Four moment = n * __builtin_shufflevector(change, change, 1, 2, 0, 3) - turned_n * change;
        const Four torque = __builtin_shufflevector(moment, moment, 1, 2, 0, 3);
        va += c.linear_a * change;
        wa += c.arm_a * torque;
        vb += c.linear_b * change;
        wb += c.arm_b * torque;
        // The second body first: if it is also the first, what is written here is the old value, since its factors are 0.
        std::memcpy(zb, &vb, sizeof vb);
        std::memcpy(zb + 4, &wb, sizeof wb);
        std::memcpy(za, &va, sizeof va);
        std::memcpy(za + 4, &wa, sizeof wa);
        const Four squares = change * change;
        return wN * (squares[0] + squares[1] + squares[2]);
    }

    [[nodiscard]] int body_stride() const { return stride; }
    [[nodiscard]] Index row(Index q) const { return q * 3; }
    [[nodiscard]] double weight(Index q, Index /*component*/) const {
        const Contact& c = contacts_[q];
        return c.linear_a * c.linear_a + c.linear_b * c.linear_b;
    }

    Vector r, z;

private:
    static constexpr int stride = 8;  // bodies are a cache line apart

    using Frame = ContactFrame;

    /// Visits ahead at which a contact, and later its bodies, are asked for: about what the last-level cache needs.
    static constexpr Index contact_ahead = 24, bodies_ahead = 8;

    /// 128 bytes, two cache lines.
    struct alignas(64) Contact {
        double n[4], free[4];  // the fourth is 0
        double linear_a, arm_a, linear_b, arm_b;
        double inverse_wN, inverse_wT, mu;
        Index a, b;
    };

    SphereKernel(const Delassus& W, Law law, const Tiling& tiling)
        : W_(W),
          associated_(law == Law::associated),
          p_(W.problem()),
          tiling_(tiling),
          contacts_(p_.blocks() + contact_ahead),
          tangent_(p_.blocks()) {
        if constexpr (Compliant) compliance_.resize(p_.blocks());
    }

    /// Velocity and spin of each body, each with a zero behind it.
    void unpack(const Vector& packed) {
        for (Index j = 0; j < p_.bodies(); ++j) {
            z.segment<3>(j * stride) = packed.segment<3>(j * 6);
            z.segment<3>(j * stride + 4) = packed.segment<3>(j * 6 + 3);
        }
    }

    [[nodiscard]] Frame frame(Index q) const { return contact_frame(contacts_[q].n, tangent_[q]); }

    bool pack(Index q, double proximal) {
        const Index i = tiling_.order[q];
        const Cone& cone = p_.cones[i];
        if (cone.kind != ConeKind::second_order || cone.dim != 3 || std::isinf(cone.mu())) return false;
        const Index entries = p_.H.start[i + 1] - p_.H.start[i];
        if (entries < 1 || entries > 2) return false;
        Contact& c = contacts_[q];
        c = {};
        c.a = c.b = -1;
        c.mu = cone.mu();
        using Rows = Eigen::Matrix<double, 3, 6, Eigen::RowMajor>;
        for (Index k = 0; k < entries; ++k) {
            const Eigen::Map<const Rows> H(W_.whitened_rows().data() + p_.H.value_start[i] +
                                           static_cast<std::int64_t>(k) * 18);
            if (H.isZero(0.0)) continue;
            double linear = H.row(0).head<3>().norm();
            if (c.a < 0) {  // the first moving body gives the frame
                const Eigen::Vector3d n = H.row(0).head<3>() / linear, t1 = H.row(1).head<3>() / linear;
                std::copy_n(n.data(), 3, c.n);
                const double hand = n.cross(t1).dot(H.row(2).head<3>()) > 0 ? 1.0 : -1.0;
                tangent_[q] << t1, hand;
            } else if (H.row(0).head<3>().dot(Eigen::Map<const Eigen::Vector3d>(c.n)) < 0) {
                linear = -linear;
            }
            const Frame E = frame(q);
            // u = linear v + arm (spin x n): along t1 that is arm (n x t1) . spin, and so on.
            Frame spin = Frame::Zero();
            const Eigen::Vector3d n = E.row(0), t1 = E.row(1), t2 = E.row(2);
            spin.row(1) = n.cross(t1);
            spin.row(2) = n.cross(t2);
            const double arm = H.row(1).tail<3>().dot(spin.row(1));
            Rows rebuilt;
            rebuilt << linear * E, arm * spin;
            if (!((rebuilt - H).norm() <= 1e-13 * H.norm())) return false;
            const Index body = p_.H.body[p_.H.start[i] + k];
            const double root = std::sqrt(copies_of(W_, body));
            (c.a < 0 ? c.linear_a : c.linear_b) = root * linear;
            (c.a < 0 ? c.arm_a : c.arm_b) = root * arm;
            (c.a < 0 ? c.a : c.b) = body;
        }
        if constexpr (Compliant) {
            const auto C = p_.compliance.segment<3>(p_.offset[i]);
            // A contact that yields between bodies that cannot move has no frame here.
            if (C[1] != C[2] || (c.a < 0 && !C.isZero(0.0))) return false;
            compliance_[q] = {C[0], C[1]};
        }
        if (c.a < 0) return true;
        if (c.b < 0) c.b = c.a;
        double wN = c.linear_a * c.linear_a + c.linear_b * c.linear_b;
        double wT = wN + c.arm_a * c.arm_a + c.arm_b * c.arm_b;
        if constexpr (Compliant) {
            wN += compliance_[q][0];
            wT += compliance_[q][1];
        }
        const double extra = AnyKernel::proximal_term(std::min(wN, wT), W_.inverse_mass(i), proximal);
        c.inverse_wN = 1 / (wN + extra);
        c.inverse_wT = 1 / (wT + extra);
        const Eigen::Vector3d free = frame(q).transpose() * W_.b().segment<3>(p_.offset[i]);
        std::copy_n(free.data(), 3, c.free);
        return true;
    }

    const Delassus& W_;
    bool associated_;
    const ConeProblem& p_;
    const Tiling& tiling_;
    std::vector<Contact, HugePageAllocator<Contact>> contacts_;
    std::vector<Eigen::Vector4d> tangent_;           // t1 and the handedness of the frame
    std::vector<std::array<double, 2>> compliance_;  // normal, tangential; empty for rigid contacts
};

}  // namespace drystone
