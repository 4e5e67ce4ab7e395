// Alternating directions on the primal: velocities y (whitened) on one side, relative velocities u in K* on the other,
//     min 1/2 |y|^2  subject to  Hw y + b = u,
// with multipliers r and the penalty gamma per unit of stiffness. One iteration (Daviet 2016, section 3.4, without
// linearisation):
//     y  from  (1 + Hw^T Gamma Hw) y = Hw^T (r - Gamma (b - u))        Gamma_i = gamma / stiffness_i
//     r' = P_K(r - Gamma (Hw y + b)),   u = Hw y + b + Gamma^-1 (r' - r).
// Compliance C is a private body per row: Hw y then stands for Hw y + C^1/2 y', and y' never appears. The matrix is
// factorised once per penalty; the penalty follows the balance of the two residuals (Boyd et al. 2011, 3.4.1).
#pragma once

#include "drystone/solve/report.hpp"

namespace drystone {

struct AdmmOptions {
    int max_iterations = 20000;
    /// Iterations between two looks at the residual.
    int check_every = 10;
    /// First penalty, dimensionless: 1 weighs a contact's constraint as much as its own inertia. Adapted afterwards.
    double penalty = 1;
    /// Over-relaxation in [1, 2): 1.5 to 1.8 usually saves a third of the iterations. 1: none, advisable with the exact
    /// law.
    double relaxation = 1.6;
    /// The penalty is changed when one residual exceeds the other by this factor; a change costs a factorisation.
    double imbalance = 4;
    /// Iterations between two looks at the balance; doubles with each change, so that the penalty settles.
    int balance_every = 20;
};

/// Law::coulomb: heuristic, the shift s(u) is taken from the newest u at every iteration.
SolveReport admm(const Delassus& W, Law law, const AdmmOptions& options, const Goal& goal, Vector& r);

}  // namespace drystone
