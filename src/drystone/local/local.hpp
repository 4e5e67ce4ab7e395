// One block on its own: u = W r + b with the law of its cone (docs/theory.md, section 6). The inner step of
// Gauss-Seidel.
#pragma once

#include "drystone/cone/cone.hpp"

namespace drystone {

enum class LocalSolver : std::uint8_t {
    /// The root of the sliding quartic (eq. 21) where the cone is a second-order one with the exact law; else Newton on
    /// the active set of the warm start and, if that is not accurate, a guarded scalar root (eq. 23). Then Newton on
    /// the active sets around the answer if rounding left anything to polish.
    hybrid,
    fischer_burmeister,    ///< Newton on eq. 18 alone, from the warm start (second-order cones and rays)
    alart_curnier,         ///< undamped Newton on eq. 17 (exact law)
    damped_alart_curnier,  ///< the same with a line search on the squared norm
    // Frictionless steps (Barboteu & Dumont 2017); tau = p - rho u, rho = step / W_NN. Friction is ignored.
    sal,   ///< standard augmented Lagrangian: p <- max(0, tau)
    eal,   ///< Newton on the augmented Lagrangian until it is met
    sbp,   ///< bipotential with one Uzawa step; without friction the same map as sal
    ebp,   ///< Newton on the bipotential residual; without friction the same map as eal
    pdas,  ///< primal-dual active set: tau >= 0: p <- p - u / W_NN, else 0; one visit
};

struct LocalOptions {
    LocalSolver solver = LocalSolver::hybrid;
    double step = 1.0;  ///< of sal and sbp, in units of 1 / W_NN
};

/// Solves one block. r holds the warm start and receives the answer. W is symmetric positive definite (the caller adds
/// a proximal term where it may not be). Returns false if the method gave up; r is then its best try.
bool solve_local(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law,
                 const LocalOptions& options, BlockVector& r);

/// The parameter alpha >= 0 of a sliding contact (u_T = -alpha r_T), root of eq. 21, or 0 if the contact sticks, or a
/// negative number if it opens; r receives the impulse. Second-order cone of any dimension with finite mu > 0, exact
/// law.
double solve_sliding_quartic(double mu, const BlockMatrix& W, const BlockVector& b, BlockVector& r);

}  // namespace drystone
