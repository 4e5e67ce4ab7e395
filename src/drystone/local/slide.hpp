// One block of a cone with an axis and one disc, in the frame where T = W_TT - W_TN W_TN^T / W_NN is diagonal: exact
// and associated law, any dilatancy in between, with or without an offset (docs/theory.md, eqs 21 and 22).
//
// With c = W_TN / W_NN, f = -b_N / W_NN, bt = b_T - c b_N, and m = u_N, a block that slides has u_T = -alpha r_T and
//     (T + alpha) r_T = -bt - c m,   r_N = f + m / W_NN - c . r_T,   |r_T| = R = offset + mu r_N,   m = zeta alpha R,
// zeta the dilatancy times mu. For zeta = 0 that is one equation in alpha, whose root is bracketed; else two in alpha
// and m, by Newton's method from the last visit's.
#pragma once

#include "drystone/local/four.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

/// D tangential directions, of which the first `Coupled` at most are coupled with the normal.
template <int D, int Coupled = 2>
struct Slide {
    static_assert((D == 2 || D == 5) && (Coupled == 2 || Coupled == D));
    double w, inverse_w;       ///< W_NN
    double coupling[Coupled];  ///< c; of the others it is 0
    double t[D];               ///< > 0
    double mu, offset;
    double opening;  ///< zeta
    double alpha;    ///< when it last slid

    /// The impulse for -b_N / W_NN and bt. False where it gives up: the disc is at rest on the end of a truncated cone,
    /// or Newton's method has not come to an end.
    bool solve(double free_normal, const double* bt, double& normal, double* tangent);
    /// The same from the velocity u that the block has with the impulse `old`: normal component first.
    bool solve_from(const double* u, const double* old, double* next);

private:
    struct Parts {
        Four lane;
        double last = 0;
    };
    static void load(const double* from, double fill, Parts& to) {
        if constexpr (D == 2) {
            to.lane = Four{from[0], from[1], fill, fill};
        } else {
            load4(from, to.lane);
            to.last = from[4];
        }
    }
    static void store(const Parts& from, double* to) {
        for (int k = 0; k < (D == 2 ? 2 : 4); ++k) to[k] = from.lane[k];
        if constexpr (D == 5) to[4] = from.last;
    }
    static double sum(const Parts& a, const Parts& b) {
        const Four m = a.lane * b.lane;
        if constexpr (D == 2) return m[0] + m[1];
        return (m[0] + m[1]) + (m[2] + m[3]) + a.last * b.last;
    }
    [[nodiscard]] Parts couplings() const {
        Parts c;
        if constexpr (Coupled == 2) {
            c.lane = Four{coupling[0], coupling[1], 0, 0};
        } else {
            load(coupling, 0, c);
        }
        return c;
    }
    [[nodiscard]] double coupled(const Parts& x) const {
        if constexpr (Coupled == 2) return coupling[0] * x.lane[0] + coupling[1] * x.lane[1];
        return sum(couplings(), x);
    }
    bool slide_level(double free_normal, const Parts& bt, double& normal, double* tangent);
    bool slide_opening(double free_normal, const Parts& bt, double& normal, double* tangent);
};

template <int D, int Coupled>
bool Slide<D, Coupled>::solve_from(const double* u, const double* old, double* next) {
    // u less what the impulse itself does to it.
    double free_normal = old[0] - u[0] * inverse_w, bt[D];
    for (int k = 0; k < D; ++k) bt[k] = u[k + 1] - t[k] * old[k + 1];
    for (int k = 0; k < Coupled; ++k) {
        free_normal += coupling[k] * old[k + 1];
        bt[k] -= coupling[k] * u[0];
    }
    return solve(free_normal, bt, next[0], next + 1);
}

template <int D, int Coupled>
bool Slide<D, Coupled>::solve(double free_normal, const double* bt, double& normal, double* tangent) {
    Parts push;
    load(bt, 0, push);
    const auto rest = [&] {
        normal = 0;
        std::fill_n(tangent, D, 0.0);
        return true;
    };
    if (offset == 0) {
        if (opening == 0) {
            if (free_normal <= 0) return rest();
        } else {
            const Parts c = couplings();
            Parts b = push;
            b.lane -= c.lane * w * free_normal;
            b.last -= c.last * w * free_normal;
            if (w * free_normal <= -opening * std::sqrt(sum(b, b))) return rest();
        }
        if (mu == 0) {
            rest();
            normal = std::max(free_normal, 0.0);
            return true;
        }
    }
    Parts size, stick;
    load(t, 1, size);
    stick.lane = -push.lane / size.lane;
    if constexpr (D == 5) stick.last = -push.last / size.last;
    const double pressed = free_normal - coupled(stick), radius = offset + mu * pressed;
    if (pressed > 0 && sum(stick, stick) <= radius * radius) {
        normal = pressed;
        store(stick, tangent);
        return true;
    }
    return opening > 0 ? slide_opening(free_normal, push, normal, tangent)
                       : slide_level(free_normal, push, normal, tangent);
}

template <int D, int Coupled>
bool Slide<D, Coupled>::slide_level(double free_normal, const Parts& bt, double& normal, double* tangent) {
    Parts size, x, inverse;
    load(t, 1, size);
    double low = 0, high = INFINITY, q = 0, radius = 0;
    // Where the error is so small, what is left is as good as linear: no other quotient is needed.
    constexpr double linear = 1e-8;
    constexpr int most_steps = 100;
    for (int k = 0;; ++k) {
        inverse.lane = 1 / (size.lane + alpha);
        x.lane = -bt.lane * inverse.lane;
        if constexpr (D == 5) {
            inverse.last = 1 / (size.last + alpha);
            x.last = -bt.last * inverse.last;
        }
        Parts slope;  // of -x by alpha
        slope.lane = x.lane * inverse.lane;
        slope.last = x.last * inverse.last;
        normal = free_normal - coupled(x);
        radius = offset + mu * normal;
        q = std::sqrt(sum(x, x));
        const double phi = radius / q - 1;
        const double rise = (mu * coupled(slope) + radius * sum(x, slope) / (q * q)) / q;
        double by = -phi / rise;
        if (std::abs(phi) <= linear || k == most_steps) {
            if (!(std::abs(by) < linear * (alpha + t[D - 1]) * 1e3)) by = 0;
            alpha = std::max(alpha + by, 0.0);
            x.lane -= by * slope.lane;
            x.last -= by * slope.last;
            normal = free_normal - coupled(x);
            break;
        }
        (phi < 0 ? low : high) = alpha;
        double next = alpha + by;
        if (!(next > low && next < high) || k % 16 == 15) {
            // Outside the bracket, or creeping. The root may be decades from either end (nearly singular T).
            if (std::isinf(high)) {
                next = 8 * alpha + t[D - 1];
            } else if (low == 0) {
                next = high / 64;
            } else {
                next = high > 16 * low ? std::sqrt(low) * std::sqrt(high) : 0.5 * (low + high);
            }
        }
        if (next == alpha || next <= low || next >= high) break;
        alpha = next;
    }
    if (offset > 0 && normal < 0) return false;
    // Exactly on the cone, keeping the better known normal part.
    radius = offset + mu * normal;
    q = std::sqrt(sum(x, x));
    const double scale = q > 0 && radius > 0 ? radius / q : 0.0;
    x.lane *= scale;
    x.last *= scale;
    store(x, tangent);
    return true;
}

template <int D, int Coupled>
bool Slide<D, Coupled>::slide_opening(double free_normal, const Parts& bt, double& normal, double* tangent) {
    Parts size, x, inverse, by_alpha, by_m;
    load(t, 1, size);
    const Parts c = couplings();
    double a = alpha, m = 0;
    constexpr int most_steps = 20;
    for (int k = 0; k < most_steps; ++k) {
        inverse.lane = 1 / (size.lane + a);
        x.lane = -(bt.lane + m * c.lane) * inverse.lane;
        by_m.lane = -c.lane * inverse.lane;
        if constexpr (D == 5) {
            inverse.last = 1 / (size.last + a);
            x.last = -(bt.last + m * c.last) * inverse.last;
            by_m.last = -c.last * inverse.last;
        }
        by_alpha.lane = -x.lane * inverse.lane;
        by_alpha.last = -x.last * inverse.last;
        const double y = free_normal + m * inverse_w - coupled(x), radius = offset + mu * y;
        const double q = std::sqrt(sum(x, x));
        if (!(q > 0)) return false;
        const double y_alpha = -coupled(by_alpha), y_m = inverse_w - coupled(by_m);
        // Both are errors of velocities or impulses relative to what they are compared with.
        const double short_of = radius - q, too_slow = m - opening * a * radius;
        if (k > 0 && std::abs(short_of) <= 1e-13 * q && std::abs(too_slow) <= 1e-13 * std::abs(m)) {
            if (!(a >= 0 && m >= 0 && y >= 0)) return false;
            alpha = a;
            normal = y;
            store(x, tangent);
            for (int j = 0; j < D; ++j) tangent[j] *= radius / q;
            return true;
        }
        const double A = mu * y_alpha - sum(x, by_alpha) / q, B = mu * y_m - sum(x, by_m) / q;
        const double C = -opening * (radius + a * mu * y_alpha), E = 1 - opening * a * mu * y_m;
        const double determinant = A * E - B * C;
        double next = a - (short_of * E - B * too_slow) / determinant;
        m -= (A * too_slow - C * short_of) / determinant;
        // A root of the wrong side: shorter.
        if (next < 0) {
            next = a / 8;
            m = std::max(m, 0.0);
        }
        if (!std::isfinite(next) || !std::isfinite(m)) return false;
        a = next;
    }
    return false;
}

}  // namespace drystone
