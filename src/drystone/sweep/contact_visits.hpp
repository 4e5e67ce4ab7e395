// Visits of Gauss-Seidel to one contact of two rigid bodies: balls; bodies of any shape; balls with rolling and
// spinning friction.
//
// Bodies are lines of eight numbers: what the impulses have done to the velocity, 1/m, the same for the spin, 1/I. A
// line fits a cache line, and a visit to two balls reads two lines and 96 bytes of the contact itself. Of bodies that
// are not alike about all axes the inverse inertia is beside the lines. Line 0 is all that does not move: read, never
// written. Bodies of the plane z = 0 are bodies of space that keep to it.
//
// Impulses act on a; b gets the opposite. A contact's own impulse is kept as a vector of space (balls) or in its frame.
#pragma once

#include "drystone/base/types.hpp"
#include "drystone/local/four.hpp"
#include "drystone/local/on_cone.hpp"
#include "drystone/local/secular.hpp"
#include "drystone/local/two_discs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace drystone {

/// Visits ahead at which a contact, and later its bodies, are asked for: about what the last-level cache needs.
template <class Contact>
constexpr Index contact_ahead = sizeof(Contact) <= 96 ? 24 : 12;
constexpr Index bodies_ahead = 8;

inline constexpr int body_line = 8;  ///< numbers of a body
/// Numbers of an inverse inertia that is not the same about all axes: three columns of four.
inline constexpr int inertia_line = 12;

/// Where velocity k of a body of 3 or 6 velocities is in its line.
inline int place_in_line(int velocities, int k) {
    if (velocities == 3) return k < 2 ? k : 6;
    return k < 3 ? k : k + 1;
}

/// What a sweep gives a visit. Momentum is part of it: the impulse that a visit begins with is x + beta (x - before),
/// and `before` becomes x.
struct SweepState {
    double* lines = nullptr;
    const double* inertia = nullptr;  ///< nullptr: all bodies are alike about all axes
    double beta = 0;
};

/// What a visit answers: the change of the impulse, squared and weighed by the contact's inverse mass, and the change
/// times the way that momentum has led.
struct Visited {
    double step = 0, uphill = 0;
};

inline void without_fourth(Four& x) {
    // By bits: a shuffle with zeros becomes several instructions.
    using Bits [[gnu::vector_size(32)]] = long long;
    x = (Four)((Bits)x & Bits{-1, -1, -1, 0});
}
inline void load3(const double* from, Four& to) {
    load4(from, to);
    without_fourth(to);
}
inline void store3(double* to, const Four& x) {
    to[0] = x[0];
    to[1] = x[1];
    to[2] = x[2];
}

/// J x, J by its columns with a fourth number that is 0.
inline void times_inertia(const double* J, const Four& x, Four& out) {
    Four a, b, c;
    load4(J, a);
    load4(J + 4, b);
    load4(J + 8, c);
    out = x[0] * a + x[1] * b + x[2] * c;
}

/// How a contact gives way by itself, along its normal and across it.
struct Give {
    double normal = 0, tangential = 0;
};

/// Two balls: the contact is at the end of an arm along the normal n, so that W_ii is diagonal in any frame (w_N, w_T,
/// w_T) and no tangents are needed. Exact law: r_N = max(0, -b_N / w_N), r_T = projection of -b_T / w_T on the disc of
/// radius mu r_N. Associated law: -b / w if that is in the cone, else on its boundary in the direction of -b_T with r_N
/// = max(0, (mu |b_T| - b_N) / (w_N + mu^2 w_T)).
struct BallContact {
    static constexpr int numbers = 3;  ///< of its impulse, a vector of space
    double n[3], arm_a;                ///< the arm of a along n, and of b against it
    double free[3], arm_b;
    double inverse_wN, inverse_wT, mu;
    std::int32_t a, b;

    template <bool associated, bool compliant, bool pushed>
    [[gnu::always_inline]] Visited visit(const SweepState& state, const Give* give, double* x,
                                         double* before) const {
        double* za = state.lines + static_cast<std::ptrdiff_t>(a) * body_line;
        double* zb = state.lines + static_cast<std::ptrdiff_t>(b) * body_line;
        Four N, u, va, wa, vb, wb, old, from = {};
        load3(n, N);
        load4(free, u);
        load4(za, va);
        load4(za + 4, wa);
        load4(zb, vb);
        load4(zb + 4, wb);
        load3(x, old);
        const Four turned_n = __builtin_shufflevector(N, N, 1, 2, 0, 3);
        // Spin of both bodies at the contact, then u = va - vb + spin x n.
        const Four spin = arm_a * wa + arm_b * wb;
        const Four cross = spin * turned_n - __builtin_shufflevector(spin, spin, 1, 2, 0, 3) * N;
        u += va - vb + __builtin_shufflevector(cross, cross, 1, 2, 0, 3);
        without_fourth(u);
        if (before != nullptr) load3(before, from);
        if constexpr (pushed) {
            store3(before, old);
            const Four now = old;
            old += state.beta * (now - from);
            from = now;
        }
        if constexpr (compliant)
            u += give->tangential * old + (give->normal - give->tangential) * dot(old, N) * N;
        const double uN = dot(u, N), xN = dot(old, N);
        double rN = std::max(0.0, xN - uN * inverse_wN);
        // Tangential trial, as a vector of space without normal part.
        const Four y = old - u * inverse_wT - (xN - uN * inverse_wT) * N;
        const double grip = dot(y, y), limit = mu * rN;
        double scale = 1;
        if constexpr (!associated) {
            // Without a branch: whether it slides is known late and guessed badly. Where there is no grip the quotient
            // is no number, and 1 is taken.
            scale = std::min(1.0, limit / std::sqrt(grip));
        } else if (grip > limit * limit) {
            const double length = std::sqrt(grip);
            const double ratio = inverse_wN / inverse_wT;  // w_T / w_N
            rN = std::max(0.0, (xN - uN * inverse_wN + mu * ratio * length) / (1 + mu * mu * ratio));
            scale = mu * rN / length;
        }
        const Four next = y * scale + rN * N, change = next - old;
        store3(x, next);
        // The transpose of spin x n is n x change.
        const Four moment = N * __builtin_shufflevector(change, change, 1, 2, 0, 3) - turned_n * change;
        const Four torque = __builtin_shufflevector(moment, moment, 1, 2, 0, 3);
        double weight = za[3] + zb[3];
        if constexpr (compliant) weight += give->normal;
        va += za[3] * change;
        wa += (za[7] * arm_a) * torque;
        vb -= zb[3] * change;
        wb += (zb[7] * arm_b) * torque;
        if (b != 0) {
            store4(zb, vb);
            store4(zb + 4, wb);
        }
        if (a != 0) {
            store4(za, va);
            store4(za + 4, wa);
        }
        return {weight * dot(change, change), before != nullptr ? -weight * dot(change, next - from) : 0.0};
    }

    [[nodiscard]] double weight(const double* lines) const {
        return lines[static_cast<std::ptrdiff_t>(a) * body_line + 3] +
               lines[static_cast<std::ptrdiff_t>(b) * body_line + 3];
    }
};
static_assert(sizeof(BallContact) == 96);

/// Two bodies of any shape. Its impulse is in the frame n, t, n x t in which T = W_TT - W_TN W_TN^T / W_NN is diagonal
/// (docs/theory.md, section 6).
struct RigidContact {
    static constexpr int numbers = 3;  ///< of its impulse: normal, along t, along n x t
    double n[3], t[3];
    double arm_a[3], arm_b[3];
    double free[3];  ///< in the frame
    double inverse_w, coupling[2], inverse_t[2];
    double mu, stiffness;
    double alpha;  ///< root of eq. 21 when the contact last slid; negative if it has stuck since
    std::int32_t a, b;

    template <bool associated, bool compliant, bool pushed>
    [[gnu::always_inline]] Visited visit(const SweepState& state, const Give* give, double* x,
                                         double* before) {
        double* za = state.lines + static_cast<std::ptrdiff_t>(a) * body_line;
        double* zb = state.lines + static_cast<std::ptrdiff_t>(b) * body_line;
        Four N, T, S, A, B, va, wa, vb, wb, turn;
        load3(n, N);
        load3(t, T);
        load3(arm_a, A);
        load3(arm_b, B);
        load4(za, va);
        load4(za + 4, wa);
        load4(zb, vb);
        load4(zb + 4, wb);
        cross_product(N, T, S);
        cross_product(wa, A, turn);
        Four velocity = va - vb + turn;
        cross_product(wb, B, turn);
        velocity -= turn;
        without_fourth(velocity);
        std::array<double, 3> u, old, from = {}, next, change;
        {
            // The three components at once: pairs, then pairs of pairs.
            const Four on = N * velocity, ot = T * velocity, os = S * velocity;
            const Four p =
                __builtin_shufflevector(on, ot, 0, 4, 2, 6) + __builtin_shufflevector(on, ot, 1, 5, 3, 7);
            const Four q =
                __builtin_shufflevector(os, os, 0, 0, 2, 2) + __builtin_shufflevector(os, os, 1, 1, 3, 3);
            const Four all =
                __builtin_shufflevector(p, q, 0, 1, 4, 5) + __builtin_shufflevector(p, q, 2, 3, 6, 7);
            for (int k = 0; k < 3; ++k) u[k] = all[k] + free[k];
        }
        for (int k = 0; k < 3; ++k) {
            old[k] = x[k];
            if (before != nullptr) from[k] = before[k];
            if constexpr (pushed) {
                before[k] = x[k];
                old[k] = x[k] + state.beta * (x[k] - from[k]);
                from[k] = x[k];
            }
            if constexpr (compliant) u[k] += (k == 0 ? give->normal : give->tangential) * old[k];
        }
        // Eq. 21 with the own impulse taken out: free_normal = -b_N / W_NN. First as if the contact stuck.
        double free_normal = old[0] - u[0] * inverse_w;
        for (int k = 0; k < 2; ++k) free_normal += coupling[k] * old[k + 1];
        std::array<double, 2> tangent;
        double grip = 0, normal = free_normal;
        for (int k = 0; k < 2; ++k) {
            tangent[k] = old[k + 1] - (u[k + 1] - coupling[k] * u[0]) * inverse_t[k];
            normal -= coupling[k] * tangent[k];
            grip += tangent[k] * tangent[k];
        }
        const auto answer = [&](auto before_now) __attribute__((always_inline)) {
            // Nothing, but it keeps compilers from making one of the three again.
            asm volatile("" : : "i"(decltype(before_now)::value));
            if (mu == 0 || (!associated && free_normal <= 0)) {
                tangent.fill(0);
                normal = std::max(0.0, free_normal);
            } else if (normal <= 0 || grip > mu * mu * normal * normal) {
                if constexpr (associated) {
                    const OnCone<2> on{mu,
                                       1 / inverse_w,
                                       free_normal,
                                       {coupling[0], coupling[1]},
                                       {1 / inverse_t[0], 1 / inverse_t[1]},
                                       tangent};
                    on.solve(old.data() + 1, normal, tangent);
                } else {
                    slide(free_normal, normal, tangent);
                }
            } else {
                alpha = -std::abs(alpha);
            }
        };
        // Whether it opens, sticks or slides is known late. What it did at the last visit is known early, and is nearly
        // always what it does: branches of its own for each of the three are guessed right.
        enum Did : std::uint8_t { opened, stuck, slid };
        if (x[0] == 0) {
            answer(std::integral_constant<Did, opened>{});
        } else if (alpha < 0) {
            answer(std::integral_constant<Did, stuck>{});
        } else {
            answer(std::integral_constant<Did, slid>{});
        }
        next = {normal, tangent[0], tangent[1]};
        Visited out;
        for (int k = 0; k < 3; ++k) {
            change[k] = next[k] - old[k];
            out.step += change[k] * change[k];
            out.uphill += change[k] * (next[k] - from[k]);
            x[k] = next[k];
        }
        out.step *= stiffness;
        out.uphill *= before != nullptr ? -stiffness : 0.0;
        const Four force = change[0] * N + change[1] * T + change[2] * S;
        Four torque_a, torque_b;
        cross_product(A, force, torque_a);
        cross_product(B, force, torque_b);
        if (state.inertia != nullptr) {
            times_inertia(state.inertia + static_cast<std::ptrdiff_t>(a) * inertia_line, torque_a, torque_a);
            times_inertia(state.inertia + static_cast<std::ptrdiff_t>(b) * inertia_line, torque_b, torque_b);
        } else {
            torque_a *= za[7];
            torque_b *= zb[7];
        }
        va += za[3] * force;
        wa += torque_a;
        vb -= zb[3] * force;
        wb -= torque_b;
        if (b != 0) {
            store4(zb, vb);
            store4(zb + 4, wb);
        }
        if (a != 0) {
            store4(za, va);
            store4(za + 4, wa);
        }
        return out;
    }

    /// Its rows take a vector of space to the frame of its impulse.
    [[nodiscard]] ContactFrame own_frame() const {
        using Vector3 = Eigen::Map<const Eigen::Vector3d>;
        ContactFrame E;
        E << Vector3(n).transpose(), Vector3(t).transpose(), Vector3(n).cross(Vector3(t)).transpose();
        return E;
    }

private:
    /// The impulse of a contact that cannot stick; `tangent` is the one it would need to. Newton on eq. 21 from the
    /// contact's last root, with r_T = tangent / (1 + alpha / t). It ends with a step of first order once the square of
    /// what is missing is far below any goal (the next visit begins with the better root); the guarded form
    /// (secular.hpp) takes over where it does not get there.
    [[gnu::noinline]] void slide(double free_normal, double& normal, std::array<double, 2>& tangent) {
        constexpr int max_steps = 6;
        constexpr double near = 1e-5;
        std::array<double, 2> e, y;
        double guess = std::abs(alpha);
        for (int step = 0; step < max_steps; ++step) {
            const double p0 = 1 + guess * inverse_t[0], p1 = 1 + guess * inverse_t[1], both = 1 / (p0 * p1);
            const std::array<double, 2> g = {p1 * both, p0 * both};
            double q2 = 0, dq = 0, dn = 0, rN = free_normal;
            for (int k = 0; k < 2; ++k) {
                e[k] = inverse_t[k] * g[k];
                y[k] = tangent[k] * g[k];
                rN -= coupling[k] * y[k];
                q2 += y[k] * y[k];
                dq += y[k] * y[k] * e[k];
                dn += coupling[k] * y[k] * e[k];
            }
            const double slope = mu * (dn * q2 + rN * dq), q = std::sqrt(q2);
            const double missing = q - mu * rN, delta = missing * q2 / slope;
            guess += delta;
            if (!(guess > 0 && slope > 0)) break;
            if (std::abs(missing) > near * q) continue;
            normal = free_normal;
            q2 = 0;
            for (int k = 0; k < 2; ++k) {
                tangent[k] = y[k] - y[k] * e[k] * delta;
                normal -= coupling[k] * tangent[k];
                q2 += tangent[k] * tangent[k];
            }
            const double scale = mu * normal / std::sqrt(q2);  // exactly on the cone
            for (int k = 0; k < 2; ++k) tangent[k] *= scale;
            alpha = guess;
            return;
        }
        Secular<2> s;
        s.mu = mu;
        s.free_normal = free_normal;
        for (int k = 0; k < 2; ++k) {
            s.coupling[k] = coupling[k];
            s.t[k] = 1 / inverse_t[k];
            s.bt[k] = -tangent[k] * s.t[k];
        }
        alpha = solve_secular<2>(s, std::abs(alpha), normal, tangent);
    }
};
static_assert(sizeof(RigidContact) == 192);

/// Two balls that also resist rolling and spinning. Torque rows are the relative spin along n, t1, t2, in units of
/// their own:
///     velocity u = va - vb + (arm_a wa + arm_b wb) x n,   relative spin o = twist_a wa + twist_b wb.
/// Impulses are vectors of space: a force f and a torque t. The normal force and the spinning torque are each alone in
/// W_ii. With p the tangential force and q = t x n (the rolling torque turned by a right angle), W_ii of (p, q) is the
/// matrix ((wT, cross), (cross, wR)) times the identity of the tangent plane: the plane problem of two_discs.hpp has a
/// closed form unless both p and q are at their limits, and then Newton in two angles.
struct WrenchContact {
    static constexpr int numbers = 8;  ///< of its impulse: force, 0, torque, 0
    double n[3], arm_a;
    double free[3], arm_b;
    double free_spin[3], twist_a, twist_b;
    double inverse_wN, inverse_wS, inverse_determinant;
    TwoDiscs discs;
    double mu, rolling, spinning;
    double stiffness, torque_stiffness;  ///< of the step's norm: inverse mass, and over length^2
    std::int32_t a, b;

    template <bool associated, bool compliant, bool pushed>
    [[gnu::always_inline]] Visited visit(const SweepState& state, const Give* give, double* x,
                                         double* before) const {
        double* za = state.lines + static_cast<std::ptrdiff_t>(a) * body_line;
        double* zb = state.lines + static_cast<std::ptrdiff_t>(b) * body_line;
        Four N, force, torque, va, wa, vb, wb, q0, u, o, oR, turn, force_before = {}, torque_before = {};
        load3(n, N);
        load3(x, force);
        load3(x + 4, torque);
        load4(za, va);
        load4(za + 4, wa);
        load4(zb, vb);
        load4(zb + 4, wb);
        load4(free, u);
        load4(free_spin, o);
        if (before != nullptr) {
            load3(before, force_before);
            load3(before + 4, torque_before);
        }
        if constexpr (pushed) {
            store4(before, force);
            store4(before + 4, torque);
            const Four f = force, m = torque;
            force += state.beta * (f - force_before);
            torque += state.beta * (m - torque_before);
            force_before = f;
            torque_before = m;
        }
        const double fN = dot(force, N), tN = dot(torque, N);
        const Four p0 = force - fN * N;
        cross_product(torque, N, q0);
        cross_product(arm_a * wa + arm_b * wb, N, turn);
        u += va - vb + turn;
        if constexpr (compliant) u += give->tangential * p0 + give->normal * fN * N;
        without_fourth(u);
        o += twist_a * wa + twist_b * wb;
        without_fourth(o);
        cross_product(o, N, oR);
        const double uN = dot(u, N), oN = dot(o, N);
        const Four uT = u - uN * N;
        // Where each group would go without limits.
        const double free_N = fN - uN * inverse_wN;
        const double free_S = tN - oN * inverse_wS;
        Four p = p0 - inverse_determinant * (discs.wR * uT - discs.cross * oR);
        Four q = q0 - inverse_determinant * (discs.wT * oR - discs.cross * uT);
        double y = 0;
        if constexpr (associated) {
            y = solve_associated(N, free_N, free_S, fN, p0, q0, p, q);
        } else {
            y = std::max(0.0, free_N);
            TwoDiscs::Pull unused;
            discs.solve<false>(mu, rolling, y, N, p0, q0, p, q, unused);
        }
        const double s = std::max(-spinning * y, std::min(spinning * y, free_S));
        Four next_torque, moment;
        cross_product(N, q, next_torque);
        next_torque += s * N;
        const Four next_force = p + y * N;
        const Four df = next_force - force, dt = next_torque - torque;
        store4(x, next_force);
        store4(x + 4, next_torque);
        cross_product(N, df, moment);
        va += za[3] * df;
        wa += za[7] * (arm_a * moment + twist_a * dt);
        vb -= zb[3] * df;
        wb += zb[7] * (arm_b * moment + twist_b * dt);
        if (b != 0) {
            store4(zb, vb);
            store4(zb + 4, wb);
        }
        if (a != 0) {
            store4(za, va);
            store4(za + 4, wa);
        }
        Visited out{stiffness * dot(df, df) + torque_stiffness * dot(dt, dt), 0.0};
        if (before != nullptr)
            out.uphill = -(stiffness * dot(df, next_force - force_before) +
                           torque_stiffness * dot(dt, next_torque - torque_before));
        return out;
    }

private:
    /// The normal impulse y of the associated law: the root of
    ///     wN (y - free_N) - sum over groups of coefficient |velocity of the group at y|,
    /// which increases with a slope of at least wN: Newton inside a bracket. p, t: free minimiser on entry, the answer
    /// on exit.
    double solve_associated(const Four& N, double free_N, double free_S, double warm_y, const Four& warm_p,
                            const Four& warm_q, Four& p, Four& t) const {
        const double wN = 1 / inverse_wN, wS = 1 / inverse_wS;
        const Four free_p = p, free_t = t;
        Four start_p = warm_p, start_q = warm_q;
        const double at_stake = wN * std::abs(free_N) + spinning * wS * std::abs(free_S) +
                                mu * discs.wT * std::sqrt(dot(p, p)) +
                                rolling * discs.wR * std::sqrt(dot(t, t));
        double low = std::max(0.0, free_N), high = infinity, y = warm_y;
        if (free_N <= 0) {
            // At y = 0 the groups rest: their velocities are the free ones.
            const Four g = discs.wT * p + discs.cross * t, h = discs.cross * p + discs.wR * t;
            const double closing = wN * free_N + mu * std::sqrt(dot(g, g)) + rolling * std::sqrt(dot(h, h)) +
                                   spinning * wS * std::abs(free_S);
            if (closing <= 0) {
                p = t = Four{};
                return 0;
            }
            if (!(y > 0)) {  // all groups pressed, with the slopes that they have alone
                y = closing /
                    (wN + mu * mu * discs.wT + rolling * rolling * discs.wR + spinning * spinning * wS);
            }
        }
        y = std::max(y, low);
        constexpr int most_steps = 100;
        for (int k = 0;; ++k) {
            p = free_p;
            t = free_t;
            TwoDiscs::Pull pull;
            discs.solve<true>(mu, rolling, y, N, start_p, start_q, p, t, pull);
            double value = wN * (y - free_N) - pull.value, slope = wN - pull.slope;
            const double over = std::abs(free_S) - spinning * y;
            if (over > 0) {
                value -= spinning * wS * over;
                slope += spinning * spinning * wS;
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
};

}  // namespace drystone
