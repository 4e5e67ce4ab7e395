// One Coulomb contact under the associated law whose impulse is on the boundary of its cone (docs/theory.md, eq. 22).
//
// In the frame where T = W_TT - W_TN W_TN^T / W_NN is diagonal, with w = W_NN, c = W_TN / w and r* the minimiser of 1/2
// r.W r + b.r without limits: r* = (.., tau), w f = -b_N, and -b_T = a = w f c + T tau. On the ray of d = (1, mu e), e
// a unit vector, the energy is least at y d with
//     y = p / Q,   p = -b.d = w f + mu a.e,   Q = d.W d = w (1 + mu c.e)^2 + mu^2 e.T e,
// and it is -p^2 / 2 Q there. So one direction is sought: of two in the plane; in space by Newton on the derivative
// along the circle,
//     G = 2 p' Q - p Q',   G' = 2 p'' Q + p' Q' - p Q''.
// A stationary point with p > 0 at which u_N >= 0 fulfils all conditions of the convex problem and is its solution;
// where Newton ends elsewhere, the best of a ring of directions is refined by bisection.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace drystone {

/// D tangential directions.
template <int D>
struct OnCone {
    double mu, w, free_normal;  ///< f
    std::array<double, D> c, t, tau;

    /// The impulse on the cone, if r* is not inside it; `before` is the tangential impulse from which to start.
    void solve(const double* before, double& normal, std::array<double, D>& tangent) const {
        std::array<double, D> a;
        double pull = 0;
        for (int k = 0; k < D; ++k) {
            a[k] = w * free_normal * c[k] + t[k] * tau[k];
            pull += a[k] * a[k];
        }
        pull = std::sqrt(pull);
        if (w * free_normal + mu * pull <= 0) {  // b is in the dual cone
            normal = 0;
            tangent.fill(0);
            return;
        }
        if constexpr (D == 1) {
            double best = -1;
            for (const double e : {1.0, -1.0}) {
                const double p = w * free_normal + mu * a[0] * e, reach = 1 + mu * c[0] * e;
                const double Q = w * reach * reach + mu * mu * t[0];
                if (p <= 0 || p * p <= best * Q) continue;
                best = p * p / Q;
                normal = p / Q;
                tangent[0] = mu * normal * e;
            }
        } else {
            std::array<double, 2> e = {a[0] / pull, a[1] / pull};
            const double size = std::hypot(before[0], before[1]);
            bool found = false;
            if (size > 0) {
                std::array<double, 2> start = {before[0] / size, before[1] / size};
                found = climb(a, start);
                if (found) e = start;
            }
            if (!found && pull > 0) found = climb(a, e);
            if (!found) e = search(a);
            const Ray ray = at(a, e);
            normal = std::max(0.0, ray.p / ray.Q);
            tangent = {mu * normal * e[0], mu * normal * e[1]};
        }
    }

private:
    struct Ray {
        double p, Q, G, slope;
    };

    [[nodiscard]] Ray at(const std::array<double, 2>& a, const std::array<double, 2>& e) const {
        const std::array<double, 2> f = {-e[1], e[0]};  // e turned by a right angle
        const double ae = mu * (a[0] * e[0] + a[1] * e[1]), af = mu * (a[0] * f[0] + a[1] * f[1]);
        const double reach = 1 + mu * (c[0] * e[0] + c[1] * e[1]), turn = mu * (c[0] * f[0] + c[1] * f[1]);
        const double ee = t[0] * e[0] * e[0] + t[1] * e[1] * e[1],
                     ff = t[0] * f[0] * f[0] + t[1] * f[1] * f[1];
        const double ef = t[0] * e[0] * f[0] + t[1] * e[1] * f[1];
        const double p = w * free_normal + ae, Q = w * reach * reach + mu * mu * ee;
        const double dQ = 2 * (w * reach * turn + mu * mu * ef);
        const double ddQ = 2 * (w * (turn * turn - reach * (reach - 1)) + mu * mu * (ff - ee));
        return {p, Q, 2 * af * Q - p * dQ, -2 * ae * Q + af * dQ - p * ddQ};
    }

    /// True if e is the solution: on its ray u_N, which is mu times the sliding speed, is not negative.
    [[nodiscard]] bool holds(const Ray& ray, const std::array<double, 2>& e) const {
        const double reach = 1 + mu * (c[0] * e[0] + c[1] * e[1]);
        const double normal = ray.p / ray.Q;
        return normal * w * reach - w * free_normal >=
               -1e-9 * (normal * w * std::abs(reach) + w * std::abs(free_normal));
    }

    /// Newton from e; true if it ends at the solution.
    bool climb(const std::array<double, 2>& a, std::array<double, 2>& e) const {
        constexpr int most_steps = 12;
        for (int k = 0; k < most_steps; ++k) {
            const Ray ray = at(a, e);
            if (!(ray.p > 0)) return false;
            // Where the energy is not convex along the circle: uphill by a fixed angle.
            double by = ray.slope < 0 ? -ray.G / ray.slope : std::copysign(0.5, ray.G);
            by = std::clamp(by, -0.5, 0.5);
            const std::array<double, 2> next = {e[0] - by * e[1], e[1] + by * e[0]};
            const double length = 1 / std::sqrt(1 + by * by);
            e = {next[0] * length, next[1] * length};
            if (ray.slope < 0 && std::abs(by) < 1e-8) return holds(at(a, e), e);
        }
        return false;
    }

    /// The slow and sure way: the best of a ring of directions, then bisection on G between its neighbours.
    [[nodiscard]] std::array<double, 2> search(const std::array<double, 2>& a) const {
        constexpr int ring = 64;
        constexpr double full = 6.283185307179586, part = full / ring;
        const auto direction = [](double angle) {
            return std::array<double, 2>{std::cos(angle), std::sin(angle)};
        };
        int best = 0;
        double most = -1;
        for (int k = 0; k < ring; ++k) {
            const Ray ray = at(a, direction(k * part));
            const double gain = ray.p > 0 ? ray.p * ray.p / ray.Q : -1;
            if (gain > most) {
                most = gain;
                best = k;
            }
        }
        if (most <
            0) {  // the cone of directions that gain anything is narrower than the ring's mesh: the one that pulls most
            const double pull = std::hypot(a[0], a[1]);
            return {a[0] / pull, a[1] / pull};
        }
        double low = (best - 1) * part,
               high = (best + 1) * part;  // G falls from positive to negative between them
        for (int k = 0; k < 60; ++k) {
            const double middle = 0.5 * (low + high);
            const Ray ray = at(a, direction(middle));
            (ray.p > 0 && ray.G > 0 ? low : high) = middle;
        }
        return direction(0.5 * (low + high));
    }
};

}  // namespace drystone
