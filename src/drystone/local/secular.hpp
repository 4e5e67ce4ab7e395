// The scalar equation of a sliding contact (docs/theory.md, eq. 21), in the frame where it is diagonal.
//
// Exact Coulomb, second-order cone. With u_N = 0 eliminated, T = W_TT - W_TN W_TN^T / W_NN and u_T = -alpha r_T:
//     (T + alpha) r_T = -bt,   r_N = -b_N / W_NN - (W_TN / W_NN) . r_T,   |r_T| = mu r_N.
// Clearing denominators gives the quartic of Bonnefon & Daviet; here its root is found as the zero of
//     phi(alpha) = mu r_N / |r_T| - 1,
// because phi(0) < 0 when the contact cannot stick and phi -> +infinity, so [0, infinity) always brackets a root:
// Newton with a bracket cannot fail, and needs no polynomial of degree 4 with its squared condition number. With an
// isotropic T and no coupling phi is linear and one step is exact.
#pragma once

#include <array>
#include <cmath>

namespace drystone {

/// Data of one contact in the frame of the eigenvectors of T (D tangential directions).
template <int D>
struct Secular {
    double mu;                       ///< > 0, finite
    double free_normal;              ///< -b_N / W_NN, > 0
    std::array<double, D> coupling;  ///< W_TN / W_NN
    std::array<double, D> t;         ///< eigenvalues of T, > 0
    std::array<double, D> bt;        ///< b_T - W_TN b_N / W_NN
};

/// Root alpha > 0; phi(0) < 0 must hold. `guess` starts Newton (a former root of the same contact, or 0). rN and rT are
/// set.
template <int D>
double solve_secular(const Secular<D>& s, double guess, double& rN, std::array<double, D>& rT) {
    double low = 0, high = INFINITY, alpha = guess;
    constexpr int max_steps = 200;  // bisection over the whole range of doubles needs fewer
    for (int k = 0; k < max_steps; ++k) {
        double q2 = 0, dq = 0, dn = 0;
        rN = s.free_normal;
        for (int c = 0; c < D; ++c) {
            const double inverse = 1.0 / (s.t[c] + alpha);
            rT[c] = -s.bt[c] * inverse;
            rN -= s.coupling[c] * rT[c];
            q2 += rT[c] * rT[c];
            dq += rT[c] * rT[c] * inverse;
            dn += s.coupling[c] * rT[c] * inverse;
        }
        const double q = std::sqrt(q2), inverse_q = 1.0 / q;
        const double phi = s.mu * rN * inverse_q - 1.0;
        if (std::abs(phi) <= 4e-15) break;
        (phi < 0 ? low : high) = alpha;
        const double slope = s.mu * (dn + rN * dq * inverse_q * inverse_q) * inverse_q;
        double next = alpha - phi / slope;
        if (!(next > low && next < high) || k % 16 == 15) {
            // Outside the bracket, or creeping. The root may be decades from either end (nearly singular T): by ratios
            // then.
            if (std::isinf(high)) {
                next = 8 * alpha + s.t[D - 1];
            } else if (low == 0) {
                next = high / 64;
            } else {
                next = high > 16 * low ? std::sqrt(low) * std::sqrt(high) : 0.5 * (low + high);
            }
        }
        if (next == alpha || next <= low || next >= high) break;
        alpha = next;
    }
    // Exactly on the cone, keeping the better known normal part.
    double q2 = 0;
    for (int c = 0; c < D; ++c) q2 += rT[c] * rT[c];
    const double scale =
        q2 > 0 && rN > 0 ? s.mu * rN / std::sqrt(q2) : 0.0;  // rounding may leave no rN at all
    for (int c = 0; c < D; ++c) rT[c] *= scale;
    return alpha;
}

}  // namespace drystone
