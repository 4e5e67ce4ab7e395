// Adaptive proximal semismooth Newton for the exact law: for small or hard problems, where sweeps wander
// (docs/theory.md, section 9).
//
// Unknown r; the equation is that of Alart and Curnier with the friction disc taken at the projected normal impulse,
//     F(r) = r - S(r - u / w) = 0,    S(x) = (x_N+, projection of x_j on the disc of radius offset_j + mu_j x_N+),
// made regular by a proximal term: u + delta w (r - r_k), r_k the last outer iterate. W is rank-deficient in every
// dense packing, so without delta the Jacobian is singular; with a fixed small delta line searches jam at kinks. So
// delta adapts: it falls while Newton converges easily and grows when it does not. A few plain sweeps after each outer
// step leave kinks behind.
#pragma once

#include "drystone/solve/report.hpp"

namespace drystone {

struct NewtonOptions {
    int max_iterations = 300;  ///< factorisations in all
    /// Sweeps of Gauss-Seidel with momentum, and then without, before the first step; Newton needs a start near a
    /// solution.
    int warm_up_momentum = 2000;
    int warm_up_plain = 500;
    double proximal = 1e-3;  ///< first delta, in units of each block's stiffness
    double least_proximal = 1e-9;
    int sweeps_between = 10;  ///< plain sweeps after each outer step
    int patience = 40;        ///< factorisations without halving the residual after which it is stalled
};

/// Exact law only; the associated law is the interior point's.
SolveReport newton(const Delassus& W, Law law, const NewtonOptions& options, const Goal& goal, Vector& r);

}  // namespace drystone
