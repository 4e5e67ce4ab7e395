// Gauss-Seidel kernel for spheres with rolling and spinning friction (3D), and for disks with rolling friction (2D); both laws.
//
// Torque rows are the relative spin along n, t1, t2, so beside the two numbers per body of sweep_spheres.hpp there is a third, `twist`:
//     velocity u = linear v + arm (spin x n),   relative spin o = twist spin,   summed over both bodies.
// Impulses are vectors of space: a force f and a torque t. The normal force and the spinning torque are each alone in W_ii.
// With p the tangential force and q = t x n (the rolling torque turned by a right angle), W_ii of (p, q) is the matrix
// ((wT, cross), (cross, wR)) times the identity of the tangent plane: the plane problem of two_discs.hpp has a closed form unless both p
// and q are at their limits, and then Newton in two angles. A disk is a sphere whose centre stays in the plane z = 0 and which
// turns about z only, so it runs through the same visit. Rays and plain Coulomb contacts are wrenches with coefficients 0.
// Found from the numbers in H, not from any word about shapes.
#pragma once

#include "drystone/base/huge_pages.hpp"
#include "drystone/solve/sweep_any.hpp"
#include "drystone/solve/two_discs.hpp"

#include <array>
#include <cmath>
#include <optional>

namespace drystone {

class WrenchKernel {
public:
    /// The kernel, if every contact has the shape it needs (to rounding).
    static std::optional<WrenchKernel> make(const Delassus& W, Law law, const GaussSeidelOptions& options,
                                            const Tiling& tiling) {
        const ConeProblem& p = W.problem();
        if (options.local.solver != LocalSolver::hybrid || !W.whitened() ||
            (p.common_dim() != 6 && p.common_dim() != 3))
            return {};
        WrenchKernel kernel(W, law, tiling);
        for (Index q = 0; q < p.blocks(); ++q) {
            if (!kernel.pack(q, options.proximal)) return {};
        }
        kernel.r.setZero(static_cast<Eigen::Index>(p.blocks()) * stride);
        return kernel;
    }

    void load(const Vector& from) {
        r.setZero();
        for (Index q = 0; q < p_.blocks(); ++q) {
            const Index i = tiling_.order[q];
            Six local = Six::Zero();
            const Places at = places(p_.cones[i]);
            for (int c = 0; c < p_.cones[i].dim; ++c) local[at[c]] = from[p_.offset[i] + c];
            const Frame E = frame(q);
            const auto place = static_cast<Eigen::Index>(q) * stride;
            r.segment<3>(place) = E.transpose() * local.head<3>();
            r.segment<3>(place + 4) = E.transpose() * local.tail<3>();
        }
        Vector packed;
        gather_split(W_, from, packed);
        z.setZero(static_cast<Eigen::Index>(p_.bodies()) * stride);
        unpack(packed);
    }

    void store(Vector& to) const {
        for (Index q = 0; q < p_.blocks(); ++q) {
            const Index i = tiling_.order[q];
            const Frame E = frame(q);
            const auto place = static_cast<Eigen::Index>(q) * stride;
            Six local;
            local << E * r.segment<3>(place), E * r.segment<3>(place + 4);
            const Places at = places(p_.cones[i]);
            for (int c = 0; c < p_.cones[i].dim; ++c) to[p_.offset[i] + c] = local[at[c]];
        }
    }

    template <bool Uphill>
    double visit(Index q, const double* previous, double& uphill) {
        const Contact& c = contacts_[q];
        prefetch_ahead(contacts_.data() + q, contact_ahead, bodies_ahead, z.data(), stride);
        if (c.a < 0) return 0;
        double* za = z.data() + static_cast<std::ptrdiff_t>(c.a) * stride;
        double* zb = z.data() + static_cast<std::ptrdiff_t>(c.b) * stride;
        double* x = r.data() + static_cast<std::ptrdiff_t>(q) * stride;
        Four n, force, torque, va, wa, vb, wb, q0, u, o, oR, from_spin;
        load4(c.n, n);
        load4(x, force);
        load4(x + 4, torque);
        load4(za, va);
        load4(za + 4, wa);
        load4(zb, vb);
        load4(zb + 4, wb);
        load4(c.free, u);
        load4(c.free_spin, o);
        const double fN = dot(force, n), tN = dot(torque, n);
        const Four p0 = force - fN * n;
        cross_product(torque, n, q0);
        cross_product(c.arm_a * wa + c.arm_b * wb, n, from_spin);
        u += c.linear_a * va + c.linear_b * vb + c.give_T * p0 + from_spin;
        o += c.twist_a * wa + c.twist_b * wb;
        cross_product(o, n, oR);
        const double uN = dot(u, n), oN = dot(o, n);
        const Four uT = u - uN * n;
        // Where each group would go without limits. `give` is the compliance of the contact, 0 for a rigid one.
        const double free_N = fN - (uN + c.give_N * fN) * c.inverse_wN;
        const double free_S = tN - oN * c.inverse_wS;
        Four p = p0 - c.inverse_determinant * (c.discs.wR * uT - c.discs.cross * oR);
        Four t = q0 - c.inverse_determinant * (c.discs.wT * oR - c.discs.cross * uT);
        double y = 0, s = 0;
        if (associated_) {
            y = solve_associated(c, n, free_N, free_S, fN, p0, q0, p, t);
        } else {
            y = std::max(0.0, free_N);
            TwoDiscs::Pull unused;
            c.discs.solve<false>(c.mu, c.rolling, y, n, p0, q0, p, t, unused);
        }
        s = std::max(-c.spinning * y, std::min(c.spinning * y, free_S));
        Four next_torque, moment;
        cross_product(n, t, next_torque);
        next_torque += s * n;
        const Four next_force = p + y * n;
        const Four df = next_force - force, dt = next_torque - torque;
        if constexpr (Uphill) {
            const double* before = previous + static_cast<std::ptrdiff_t>(q) * stride;
            Four force_before, torque_before;
            load4(before, force_before);
            load4(before + 4, torque_before);
            uphill -= c.weight * dot(df, next_force - force_before) +
                      c.torque_weight * dot(dt, next_torque - torque_before);
        }
        store4(x, next_force);
        store4(x + 4, next_torque);
        cross_product(n, df, moment);
        va += c.linear_a * df;
        wa += c.arm_a * moment + c.twist_a * dt;
        vb += c.linear_b * df;
        wb += c.arm_b * moment + c.twist_b * dt;
        // The second body first: if it is also the first, what is written here is the old value, since its factors are 0.
        store4(zb, vb);
        store4(zb + 4, wb);
        store4(za, va);
        store4(za + 4, wa);
        return c.weight * dot(df, df) + c.torque_weight * dot(dt, dt);
    }

    [[nodiscard]] int body_stride() const { return stride; }
    [[nodiscard]] Index row(Index q) const { return q * stride; }
    [[nodiscard]] double weight(Index q, Index c) const {
        return c < 4 ? contacts_[q].weight : contacts_[q].torque_weight;
    }

    Vector r, z;  // r: force, 0, torque, 0 of each block; z: velocity, 0, spin, 0 of each body

private:
    static constexpr int stride = 8;  // bodies, and blocks, are a cache line apart

    using Frame = ContactFrame;
    using Six = Eigen::Matrix<double, 6, 1>;
    using Places = std::array<int, max_block>;

    /// Visits ahead at which a contact, and later its bodies, are asked for: about what the last-level cache needs.
    static constexpr Index contact_ahead = 12, bodies_ahead = 4;

    /// 256 bytes, four cache lines.
    struct alignas(64) Contact {
        double n[4], free[4], free_spin[4];  // the fourth is 0
        double linear_a, arm_a, twist_a, linear_b, arm_b, twist_b;
        double inverse_wN, inverse_wS, inverse_determinant;
        TwoDiscs discs;
        double mu, rolling, spinning;
        double give_N, give_T;
        double weight, torque_weight;  // of the step's norm: stiffness, and stiffness over length^2
        Index a, b;
    };
    static_assert(sizeof(Contact) == 256);

    WrenchKernel(const Delassus& W, Law law, const Tiling& tiling)
        : W_(W),
          associated_(law == Law::associated),
          p_(W.problem()),
          dim_(p_.common_dim()),
          tiling_(tiling),
          contacts_(p_.blocks() + contact_ahead),
          tangent_(p_.blocks()) {}

    /// The normal impulse y of the associated law: the root of
    ///     wN (y - free_N) - sum over groups of coefficient |velocity of the group at y|,
    /// which increases with a slope of at least wN: Newton inside a bracket. p, t: free minimiser on entry, the answer on exit.
    static double solve_associated(const Contact& c, const Four& n, double free_N, double free_S,
                                   double warm_y, const Four& warm_p, const Four& warm_q, Four& p, Four& t) {
        const double wN = 1 / c.inverse_wN, wS = 1 / c.inverse_wS;
        const Four free_p = p, free_t = t;
        Four start_p = warm_p, start_q = warm_q;
        const double at_stake = wN * std::abs(free_N) + c.spinning * wS * std::abs(free_S) +
                                c.mu * c.discs.wT * std::sqrt(dot(p, p)) +
                                c.rolling * c.discs.wR * std::sqrt(dot(t, t));
        double low = std::max(0.0, free_N), high = std::numeric_limits<double>::infinity(), y = warm_y;
        if (free_N <= 0) {
            // At y = 0 the groups rest: their velocities are the free ones.
            const Four g = c.discs.wT * p + c.discs.cross * t, h = c.discs.cross * p + c.discs.wR * t;
            const double closing = wN * free_N + c.mu * std::sqrt(dot(g, g)) +
                                   c.rolling * std::sqrt(dot(h, h)) + c.spinning * wS * std::abs(free_S);
            if (closing <= 0) {
                p = t = Four{};
                return 0;
            }
            if (!(y > 0)) {  // all groups pressed, with the slopes that they have alone
                y = closing / (wN + c.mu * c.mu * c.discs.wT + c.rolling * c.rolling * c.discs.wR +
                               c.spinning * c.spinning * wS);
            }
        }
        y = std::max(y, low);
        constexpr int most_steps = 100;
        for (int k = 0;; ++k) {
            p = free_p;
            t = free_t;
            TwoDiscs::Pull pull;
            c.discs.solve<true>(c.mu, c.rolling, y, n, start_p, start_q, p, t, pull);
            double value = wN * (y - free_N) - pull.value, slope = wN - pull.slope;
            const double over = std::abs(free_S) - c.spinning * y;
            if (over > 0) {
                value -= c.spinning * wS * over;
                slope += c.spinning * c.spinning * wS;
            }
            if (std::abs(value) <= 1e-15 * (at_stake + wN * y) || k == most_steps) return y;
            (value < 0 ? low : high) = y;
            double next = y - value / slope;
            if (!(next > low && next < high)) next = 0.5 * (low + high);  // over a kink
            if (!(next > low && next < high)) return y;                   // nothing is left of the bracket
            y = next;
            start_p = p;
            start_q = t;
        }
    }

    /// Where the components of a block are in (N, T1, T2, S, R1, R2). In the plane t2 is the z axis: T = T1, R = R2.
    [[nodiscard]] Places places(const Cone& cone) const {
        if (dim_ == 3) return {0, 1, 5};
        if (cone.dim == 5) return {0, 1, 2, 4, 5};
        return {0, 1, 2, 3, 4, 5};
    }
    /// Where a body's velocity k is in its eight numbers of z.
    [[nodiscard]] int place_of_velocity(int k) const {
        if (dim_ == 3) return k < 2 ? k : 6;
        return k < 3 ? k : k + 1;
    }

    void unpack(const Vector& packed) {
        const int m = dim_;
        for (Index j = 0; j < p_.bodies(); ++j) {
            for (int k = 0; k < m; ++k) z[j * stride + place_of_velocity(k)] = packed[j * m + k];
        }
    }

    [[nodiscard]] Frame frame(Index q) const { return contact_frame(contacts_[q].n, tangent_[q]); }

    /// Sets the coefficients; false if the cone is of another kind. Zero where the block has no such group.
    bool take_cone(const Cone& cone, Contact& c) const {
        const int tangents = dim_ == 6 ? 2 : 1;
        switch (cone.kind) {
            case ConeKind::ray:
                return true;
            case ConeKind::second_order:
                c.mu = cone.mu();
                return cone.dim == 1 + tangents && std::isfinite(c.mu);
            case ConeKind::wrench:
                c.mu = cone.mu();
                c.rolling = cone.coefficient[1];
                c.spinning = cone.dim == 6 ? cone.coefficient[2] : 0;
                return (cone.dim == 3) == (tangents == 1) && std::isfinite(c.mu + c.rolling + c.spinning);
            default:
                return false;
        }
    }

    /// Compliance of the forces alone and the same along both tangents; else false.
    bool take_compliance(Index i, Contact& c) const {
        if (p_.compliance.size() == 0) return true;
        const Cone& cone = p_.cones[i];
        const auto C = p_.compliance.segment(p_.offset[i], cone.dim);
        c.give_N = C[0];
        if (cone.dim > 1) c.give_T = C[1];
        for (int k = 2; k < cone.dim; ++k) {
            if (C[k] != (is_torque(cone, k) ? 0.0 : c.give_T)) return false;
        }
        return true;
    }

    using Rows = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;

    /// Whitened rows of entry k of block i, each in its place; absent rows and columns are zero.
    [[nodiscard]] Rows rows(Index i, Index k) const {
        const int d = p_.cones[i].dim, m = dim_;
        const double* H =
            W_.whitened_rows().data() + p_.H.value_start[i] + static_cast<std::int64_t>(k) * d * m;
        const Places at = places(p_.cones[i]);
        Rows out = Rows::Zero();
        for (int a = 0; a < d; ++a) {
            for (int j = 0; j < m; ++j) {
                const int column = m == 3 ? (j < 2 ? j : 5) : j;
                out(at[a], column) = H[a * m + j];
            }
        }
        return out;
    }

    /// n and t1 from the first moving body; where the block has no tangents, any will do.
    void take_frame(Index q, const Rows& H, double linear, int dim) {
        Contact& c = contacts_[q];
        const Eigen::Vector3d n = H.row(0).head<3>() / linear;
        std::copy_n(n.data(), 3, c.n);
        if (dim == 1) {
            tangent_[q] << n.unitOrthogonal(), 1.0;
            return;
        }
        const Eigen::Vector3d t1 = H.row(1).head<3>() / linear;
        const Eigen::Vector3d t2 = dim_ == 3 ? Eigen::Vector3d(0, 0, 1) : Eigen::Vector3d(H.row(2).head<3>());
        tangent_[q] << t1, n.cross(t1).dot(t2) > 0 ? 1.0 : -1.0;
    }

    bool pack(Index q, double proximal) {
        const Index i = tiling_.order[q];
        const Cone& cone = p_.cones[i];
        const Index entries = p_.H.start[i + 1] - p_.H.start[i];
        Contact& c = contacts_[q];
        c = {};
        c.a = c.b = -1;
        if (entries < 1 || entries > 2 || !take_cone(cone, c) || !take_compliance(i, c)) return false;
        const Places at = places(cone);
        const bool torques = cone.kind == ConeKind::wrench;
        for (Index k = 0; k < entries; ++k) {
            const Rows H = rows(i, k);
            if (H.isZero(0.0)) continue;
            double linear = H.row(0).head<3>().norm();
            if (c.a < 0) {
                take_frame(q, H, linear, cone.dim);
            } else if (H.row(0).head<3>().dot(Eigen::Map<const Eigen::Vector3d>(c.n)) < 0) {
                linear = -linear;
            }
            const Frame E = frame(q);
            const Eigen::Vector3d n = E.row(0), t1 = E.row(1), t2 = E.row(2);
            const double arm = cone.dim > 1 ? H.row(1).tail<3>().dot(n.cross(t1)) : 0;
            const double twist = torques ? H.row(5).tail<3>().dot(t2) : 0;
            Rows whole = Rows::Zero(), rebuilt = Rows::Zero();
            whole.topLeftCorner<3, 3>() = linear * E;
            whole.row(1).tail<3>() = arm * n.cross(t1);
            whole.row(2).tail<3>() = arm * n.cross(t2);
            whole.bottomRightCorner<3, 3>() = twist * E;
            for (int a = 0; a < cone.dim; ++a) rebuilt.row(at[a]) = whole.row(at[a]);
            if (!((rebuilt - H).norm() <= 1e-13 * H.norm())) return false;
            // Torques may be in other units than forces: their rows are held against themselves.
            if (!((rebuilt - H).bottomRows<3>().norm() <= 1e-13 * H.bottomRows<3>().norm())) return false;
            const Index body = p_.H.body[p_.H.start[i] + k];
            const double root = std::sqrt(copies_of(W_, body));
            (c.a < 0 ? c.linear_a : c.linear_b) = root * linear;
            (c.a < 0 ? c.arm_a : c.arm_b) = root * arm;
            (c.a < 0 ? c.twist_a : c.twist_b) = root * twist;
            (c.a < 0 ? c.a : c.b) = body;
        }
        if (c.a < 0) return c.give_N == 0 && c.give_T == 0;  // one that yields has no frame here
        if (c.b < 0) c.b = c.a;
        if (!weigh(i, torques, proximal, c)) return false;
        take_free_velocity(q);
        return true;
    }

    /// The numbers of W_ii, with the proximal term that the general kernel would add (AnyKernel::proximal_term).
    bool weigh(Index i, bool torques, double proximal, Contact& c) const {
        const int dim = p_.cones[i].dim;
        double wN = c.linear_a * c.linear_a + c.linear_b * c.linear_b;
        double wT = wN + c.arm_a * c.arm_a + c.arm_b * c.arm_b + c.give_T;
        double wR = c.twist_a * c.twist_a + c.twist_b * c.twist_b, wS = wR;
        const double cross = c.arm_a * c.twist_a + c.arm_b * c.twist_b;
        wN += c.give_N;
        double smallest = dim == 1 ? wN : std::min(wN, wT);
        if (torques) {
            // The smaller root of the symmetric 2 x 2 matrix, as determinant over the larger one.
            const double mean = 0.5 * (wT + wR), half = std::hypot(0.5 * (wT - wR), cross);
            smallest = std::min({smallest, wS, (wT * wR - cross * cross) / (mean + half)});
        }
        const double s = W_.inverse_mass(i);
        const double extra = AnyKernel::proximal_term(smallest, s, proximal);
        wN += extra;
        wT += extra;
        wR += extra;
        wS += extra;
        if (!torques) wR = wS = wT;  // there is nothing to divide, and no limit lets it grow from 0
        // Spheres have at least 2/7; far below, the closed forms would lose digits.
        constexpr double weakest = 0.01;
        if (!(wT * wR - cross * cross >= weakest * wT * wR)) return false;
        c.inverse_wN = 1 / wN;
        c.inverse_wS = 1 / wS;
        c.inverse_determinant = 1 / (wT * wR - cross * cross);
        c.discs = {wT, wR, cross};
        c.weight = s;
        c.torque_weight = s / (W_.length(i) * W_.length(i));
        return true;
    }

    void take_free_velocity(Index q) {
        const Index i = tiling_.order[q];
        Contact& c = contacts_[q];
        const Places at = places(p_.cones[i]);
        Six local = Six::Zero();
        for (int k = 0; k < p_.cones[i].dim; ++k) local[at[k]] = W_.b()[p_.offset[i] + k];
        const Frame E = frame(q);
        const Eigen::Vector3d free = E.transpose() * local.head<3>(), spin = E.transpose() * local.tail<3>();
        std::copy_n(free.data(), 3, c.free);
        std::copy_n(spin.data(), 3, c.free_spin);
    }

    const Delassus& W_;
    bool associated_;
    const ConeProblem& p_;
    int dim_;  // velocities per body: 6 in space, 3 in the plane
    const Tiling& tiling_;
    std::vector<Contact, HugePageAllocator<Contact>> contacts_;
    std::vector<Eigen::Vector4d> tangent_;  // t1 and the handedness of the frame
};

}  // namespace drystone
