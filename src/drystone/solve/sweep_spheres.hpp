// Gauss-Seidel kernel for spheres (3D, exact Coulomb law).
//
// The whitened rows of a contact at the end of an arm along its normal are a E^T for the velocity and c (n x)-turned E^T for the
// spin, E = (n, t1, t2): two numbers per body instead of 18, W_ii is diagonal (w_N, w_T, w_T), and the local problem has a
// closed form: r_N = max(0, -b_N / w_N), r_T = projection of -b_T / w_T on the disc of radius mu r_N. Impulses are
// kept as vectors of space, so tangents do not appear at all. Found from the numbers in H, not from any word about shapes.
#pragma once

#include "drystone/solve/sweep_any.hpp"

#include <array>
#include <cmath>
#include <optional>

namespace drystone {

class SphereKernel {
public:
    /// The kernel, if every contact has the shape it needs (to rounding).
    static std::optional<SphereKernel> make(const Delassus& W, Law law, const GaussSeidelOptions& options,
                                            const Tiling& tiling) {
        const ConeProblem& p = W.problem();
        if (law != Law::coulomb || options.local.solver != LocalSolver::hybrid || !W.whitened() ||
            p.body_dim != 6)
            return {};
        SphereKernel kernel(W, tiling);
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
        W_.gather(from, packed);
        z.setZero(static_cast<Eigen::Index>(p_.bodies) * stride);
        for (Index j = 0; j < p_.bodies; ++j) z.segment<6>(j * stride) = packed.segment<6>(j * 6);
    }

    void store(Vector& to) const {
        for (Index q = 0; q < p_.blocks(); ++q) {
            to.segment<3>(p_.offset[tiling_.order[q]]) = frame(q) * r.segment<3>(q * 3);
        }
    }

    template <bool Uphill>
    double visit(Index q, const double* previous, double& uphill) {
        const Contact& c = contacts_[q];
        if (c.a < 0) return 0;
        double* za = z.data() + static_cast<std::ptrdiff_t>(c.a) * stride;
        double* zb = z.data() + static_cast<std::ptrdiff_t>(c.b) * stride;
        double* x = r.data() + static_cast<std::ptrdiff_t>(q) * 3;
        const double n0 = c.n[0], n1 = c.n[1], n2 = c.n[2];
        // Spin of both bodies at the contact, then u = linear + spin x n.
        const double s0 = c.arm_a * za[3] + c.arm_b * zb[3];
        const double s1 = c.arm_a * za[4] + c.arm_b * zb[4];
        const double s2 = c.arm_a * za[5] + c.arm_b * zb[5];
        const double u0 = c.free[0] + c.linear_a * za[0] + c.linear_b * zb[0] + (s1 * n2 - s2 * n1);
        const double u1 = c.free[1] + c.linear_a * za[1] + c.linear_b * zb[1] + (s2 * n0 - s0 * n2);
        const double u2 = c.free[2] + c.linear_a * za[2] + c.linear_b * zb[2] + (s0 * n1 - s1 * n0);
        const double uN = u0 * n0 + u1 * n1 + u2 * n2;
        const double xN = x[0] * n0 + x[1] * n1 + x[2] * n2;
        const double rN = std::max(0.0, xN - uN * c.inverse_wN);
        // Tangential trial, as a vector of space without normal part.
        const double shift = xN - uN * c.inverse_wT;
        double y0 = x[0] - u0 * c.inverse_wT - shift * n0;
        double y1 = x[1] - u1 * c.inverse_wT - shift * n1;
        double y2 = x[2] - u2 * c.inverse_wT - shift * n2;
        const double grip = y0 * y0 + y1 * y1 + y2 * y2, limit = c.mu * rN;
        if (grip > limit * limit) {
            const double scale = limit / std::sqrt(grip);
            y0 *= scale;
            y1 *= scale;
            y2 *= scale;
        }
        y0 += rN * n0;
        y1 += rN * n1;
        y2 += rN * n2;
        const double d0 = y0 - x[0], d1 = y1 - x[1], d2 = y2 - x[2];
        if constexpr (Uphill) {
            const double* p = previous + static_cast<std::ptrdiff_t>(q) * 3;
            uphill -= c.wN * (d0 * (y0 - p[0]) + d1 * (y1 - p[1]) + d2 * (y2 - p[2]));
        }
        x[0] = y0;
        x[1] = y1;
        x[2] = y2;
        // The transpose of spin x n is n x change.
        const double t0 = n1 * d2 - n2 * d1, t1 = n2 * d0 - n0 * d2, t2 = n0 * d1 - n1 * d0;
        za[0] += c.linear_a * d0;
        za[1] += c.linear_a * d1;
        za[2] += c.linear_a * d2;
        za[3] += c.arm_a * t0;
        za[4] += c.arm_a * t1;
        za[5] += c.arm_a * t2;
        if (c.b != c.a) {
            zb[0] += c.linear_b * d0;
            zb[1] += c.linear_b * d1;
            zb[2] += c.linear_b * d2;
            zb[3] += c.arm_b * t0;
            zb[4] += c.arm_b * t1;
            zb[5] += c.arm_b * t2;
        }
        return c.wN * (d0 * d0 + d1 * d1 + d2 * d2);
    }

    void share(Index colour) {
        if (!W_.exchange().share_bodies) return;
        Vector packed(p_.dofs());
        for (Index j = 0; j < p_.bodies; ++j) packed.segment<6>(j * 6) = z.segment<6>(j * stride);
        W_.exchange().share_bodies(packed, colour);
        for (Index j = 0; j < p_.bodies; ++j) z.segment<6>(j * stride) = packed.segment<6>(j * 6);
    }

    Vector r, z;

private:
    static constexpr int stride = 8;  // bodies are a cache line apart

    using Frame = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;  // rows n, t1, t2

    struct Contact {
        double n[3], free[3];
        double linear_a, arm_a, linear_b, arm_b;
        double inverse_wN, inverse_wT, wN, mu;
        Index a, b;
    };

    SphereKernel(const Delassus& W, const Tiling& tiling)
        : W_(W), p_(W.problem()), tiling_(tiling), contacts_(p_.blocks()), tangent_(p_.blocks()) {}

    /// n, t1, t2 of block q; t2 carries the frame's handedness.
    [[nodiscard]] Frame frame(Index q) const {
        const Eigen::Map<const Eigen::Vector3d> n(contacts_[q].n);
        const Eigen::Vector3d t1 = tangent_[q].head<3>();
        Frame E;
        E.row(0) = n;
        E.row(1) = t1;
        E.row(2) = tangent_[q][3] * n.cross(t1);
        return E;
    }

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
            (c.a < 0 ? c.linear_a : c.linear_b) = linear;
            (c.a < 0 ? c.arm_a : c.arm_b) = arm;
            (c.a < 0 ? c.a : c.b) = p_.H.body[p_.H.start[i] + k];
        }
        if (c.a < 0) return true;
        if (c.b < 0) c.b = c.a;
        const double extra = AnyKernel::proximal_term(W_, i, proximal);
        c.wN = c.linear_a * c.linear_a + c.linear_b * c.linear_b;
        c.inverse_wN = 1 / (c.wN + extra);
        c.inverse_wT = 1 / (c.wN + c.arm_a * c.arm_a + c.arm_b * c.arm_b + extra);
        const Eigen::Vector3d free = frame(q).transpose() * W_.b().segment<3>(p_.offset[i]);
        std::copy_n(free.data(), 3, c.free);
        return true;
    }

    const Delassus& W_;
    const ConeProblem& p_;
    const Tiling& tiling_;
    std::vector<Contact> contacts_;
    std::vector<Eigen::Vector4d> tangent_;  // t1 and the handedness of the frame
};

}  // namespace drystone
