// A sliding force and a rolling torque of one contact between spheres, each with its limit: the plane problem of
// sweep_wrench.hpp.
#pragma once

#include "drystone/local/four.hpp"

#include <cmath>

namespace drystone {

/// min over |p| <= A, |q| <= B of 1/2 wT |p|^2 + cross p.q + 1/2 wR |q|^2 + g.p + h.q for vectors of a plane.
///
/// Let (p*, q*) be the minimiser without limits. If both limits allow it, it is the answer. With q unlimited what is
/// left for p is isotropic, so p is p* cut to A; if the q that belongs to it is within B, that is the answer (a
/// feasible minimiser of a problem with fewer constraints), and likewise with the roles exchanged. If neither, both
/// limits are reached: were q inside its disc, the answer would also minimise the problem without that disc. Then the
/// directions of p and q are unknown: Newton on their angles. With G = g + cross q and H = h + cross p the system is
///     (-e.G, B cross e.f; A cross e.f, -f.H) (d_e, d_f) = -(Je.G, Jf.H),      p = A e, q = B f, J a right angle,
/// and -e.G >= wT A, -f.H >= wR B at the solution and nowhere else that is stationary, since there these are the
/// optimality conditions of a strictly convex problem. They also make the system definite. Where they fail, or a step
/// is long, a step of alternating minimisation over the discs is taken instead, which converges from anywhere.
struct TwoDiscs {
    double wT = 1, wR = 1, cross = 0;

    /// What the limits do to the value of the minimum as they grow with one number y, A = mu y and B = rolling y:
    /// pull = -d/dy, and its slope. For the associated law.
    struct Pull {
        double value = 0, slope = 0;
    };

    /// p, q: the minimiser without limits on entry, the answer on exit. `warm` is a guess of p at the limit, may be
    /// zero.
    template <bool WithPull>
    void solve(double mu, double rolling, double y, const Four& n, const Four& warm_p, const Four& warm_q,
               Four& p, Four& q, Pull& pull) const {
        const double A = mu * y, B = rolling * y;
        const double pp = dot(p, p), qq = dot(q, q);
        const bool p_inside = pp <= A * A, q_inside = qq <= B * B;
        if (p_inside && q_inside) return;
        if (A == 0 || B == 0) {
            one_limit_zero<WithPull>(mu, rolling, A, B, p, q, pull);
            return;
        }
        if (!p_inside) {  // p at its limit, q free
            const double length = std::sqrt(pp), s = A / length;
            const Four other = q + (cross / wR * (1 - s)) * p;
            if (dot(other, other) <= B * B) {
                if constexpr (WithPull) {
                    const double w = wT - cross * cross / wR;
                    pull = {mu * w * (length - A), -mu * mu * w};
                }
                p *= s;
                q = other;
                return;
            }
        }
        if (!q_inside) {  // q at its limit, p free
            const double length = std::sqrt(qq), s = B / length;
            const Four other = p + (cross / wT * (1 - s)) * q;
            if (dot(other, other) <= A * A) {
                if constexpr (WithPull) {
                    const double w = wR - cross * cross / wT;
                    pull = {rolling * w * (length - B), -rolling * rolling * w};
                }
                q *= s;
                p = other;
                return;
            }
        }
        both_limits<WithPull>(mu, rolling, A, B, n, warm_p, warm_q, p, q, pull);
    }

private:
    /// A group with the coefficient 0 has no impulse, whatever the velocity, and takes no part in the law.
    template <bool WithPull>
    void one_limit_zero(double mu, double rolling, double A, double B, Four& p, Four& q, Pull& pull) const {
        if (A == 0 && B == 0) {
            p = q = Four{};
            return;
        }
        const bool alone_is_p = B == 0;
        const Four x = alone_is_p ? p + (cross / wT) * q : q + (cross / wR) * p;
        const double limit = alone_is_p ? A : B, xx = dot(x, x);
        double s = 1;
        if (xx > limit * limit) {
            const double length = std::sqrt(xx);
            s = limit / length;
            if constexpr (WithPull) {
                const double w = alone_is_p ? wT : wR, coefficient = alone_is_p ? mu : rolling;
                pull = {coefficient * w * (length - limit), -coefficient * coefficient * w};
            }
        }
        (alone_is_p ? p : q) = s * x;
        (alone_is_p ? q : p) = Four{};
    }

    /// A vector of the tangent plane in some frame of it.
    struct Plane {
        double x = 0, y = 0;
        Plane operator+(Plane b) const { return {x + b.x, y + b.y}; }
        Plane operator*(double s) const { return {s * x, s * y}; }
        [[nodiscard]] double dot(Plane b) const { return x * b.x + y * b.y; }
        /// J a . b
        [[nodiscard]] double across(Plane b) const { return x * b.y - y * b.x; }
        [[nodiscard]] Plane unit_or(Plane otherwise) const {
            const double square = x * x + y * y;
            return square > 0 ? *this * (1 / std::sqrt(square)) : otherwise;
        }
        /// The nearest point of the disc of that radius.
        [[nodiscard]] Plane cut(double radius) const {
            const double square = x * x + y * y;
            return square > radius * radius ? *this * (radius / std::sqrt(square)) : *this;
        }
    };

    template <bool WithPull>
    void both_limits(double mu, double rolling, double A, double B, const Four& n, const Four& warm_p,
                     const Four& warm_q, Four& p, Four& q, Pull& pull) const {
        const Four g4 = -(wT * p + cross * q), h4 = -(cross * p + wR * q);
        // An axis of the plane: the longer of g and h; not both are zero, or there would have been no limit.
        const double gg = dot(g4, g4), hh = dot(h4, h4);
        const bool along_g = gg * wR >= hh * wT;
        const Four e1 = (1 / std::sqrt(along_g ? gg : hh)) * (along_g ? g4 : h4);
        Four e2;
        cross_product(n, e1, e2);
        const auto in_plane = [&](const Four& v) { return Plane{dot(v, e1), dot(v, e2)}; };
        const Plane g = in_plane(g4), h = in_plane(h4);
        const auto alternate = [&](Plane& P, Plane& Q) {
            P = ((g + Q * cross) * (-1 / wT)).cut(A);
            Q = ((h + P * cross) * (-1 / wR)).cut(B);
        };
        const Plane axis{1, 0};
        Plane P = in_plane(warm_p), Q = in_plane(warm_q);
        if (!(P.dot(P) > 0.25 * A * A && Q.dot(Q) > 0.25 * B * B)) {
            Q = in_plane(q).cut(B);
            alternate(P, Q);
        }
        Plane e = P.unit_or(axis), f = Q.unit_or(axis);
        P = e * A;
        Q = f * B;
        // The bound on -e.G below its value at a solution: rounding must not bar the way, and uniqueness holds down to
        // here.
        constexpr double slack = 0.999;
        constexpr int newton_steps = 30, most_steps = 3000;
        for (int k = 0; k < most_steps; ++k) {
            const Plane G = g + f * (cross * B), H = h + e * (cross * A);
            const double ge = -e.dot(G), hf = -f.dot(H), ef = cross * e.dot(f);
            if (k < newton_steps && ge >= slack * wT * A && hf >= slack * wR * B) {
                const double re = -e.across(G), rf = -f.across(H);
                const double inverse = 1 / (ge * hf - A * B * ef * ef);
                const double de = inverse * (re * hf - rf * B * ef), df = inverse * (rf * ge - re * A * ef);
                const double step = std::abs(de) + std::abs(df);
                if (step < 0.5) {
                    e = Plane{e.x - de * e.y, e.y + de * e.x}.unit_or(e);
                    f = Plane{f.x - df * f.y, f.y + df * f.x}.unit_or(f);
                    P = e * A;
                    Q = f * B;
                    if (step < 2e-8) break;  // the next one would be below rounding
                    continue;
                }
            }
            const Plane before_P = P, before_Q = Q;
            alternate(P, Q);
            e = P.unit_or(e);
            f = Q.unit_or(f);
            const Plane dP = P + before_P * -1, dQ = Q + before_Q * -1;
            if (dP.dot(dP) <= 1e-32 * A * A && dQ.dot(dQ) <= 1e-32 * B * B) break;
        }
        p = P.x * e1 + P.y * e2;
        q = Q.x * e1 + Q.y * e2;
        if constexpr (WithPull) {
            const Plane G = g + f * (cross * B), H = h + e * (cross * A);
            const double ge = -e.dot(G), hf = -f.dot(H), ef = cross * e.dot(f);
            // Velocities against the limits: |u_T| = -e.G - wT A. The slope is that of the minimum over both angles.
            pull.value = mu * (ge - wT * A) + rolling * (hf - wR * B);
            const double turn = cross * e.across(f);  // how much a growing limit turns the other's direction
            const double determinant = ge * hf - A * B * ef * ef;
            // v = (A rolling, -B mu) turn against the matrix (A ge, A B ef; A B ef, B hf)
            const double bent =
                turn * turn * (A * rolling * rolling * hf + B * mu * mu * ge + 2 * A * B * mu * rolling * ef);
            pull.slope =
                -(mu * mu * wT + 2 * mu * rolling * ef + rolling * rolling * wR) + bent / determinant;
        }
    }
};

}  // namespace drystone
