// Projected gradients on the dual: min 1/2 r.W r + b.r over r in K, one product with W per iteration.
//
// With Law::coulomb the gradient is u + s(u) n (De Saxce's shift): no longer the gradient of anything, so no theory,
// but often effective. Iterations run in variables made commensurate block by block (roots of the stiffness, torques by
// lengths), in which projections stay Euclidean; without it one heavy body or one small grain dictates the step of all.
#pragma once

#include "drystone/solve/report.hpp"

namespace drystone {

enum class GradientVariant : std::uint8_t {
    pgd,       ///< fixed step
    apgd,      ///< Nesterov's momentum, fixed step
    apgd_as,   ///< and a step adapted by the local Lipschitz constant (Mazhar et al. 2015)
    apgd_ar,   ///< momentum, fixed step, restarted when it points uphill (O'Donoghue and Candes 2015)
    apgd_asr,  ///< adapted step and restart
    aspg,  ///< Barzilai-Borwein step without line search, momentum with restart (Daviet 2016, algorithm B.2)
};

const char* name_of(GradientVariant variant);

struct ProjectedGradientOptions {
    GradientVariant variant = GradientVariant::aspg;
    /// Step in the variables of the iteration: dimensionless if `scaled`, else 1 / mass. 0: guessed, 1 / (estimate of
    /// the largest eigenvalue of W, by a few power iterations); first step of those variants that adapt it.
    double step = 0;
    int max_iterations = 20000;
    /// Iterations between two looks at the residual, which costs about as much as one iteration.
    int check_every = 10;
    /// False: the variables and steps of the papers, for comparison with their tables.
    bool scaled = true;
    /// Adapted step: the Lipschitz constant is multiplied by this after each iteration (the papers: 0.97 and 0.9).
    double lipschitz_decay = 0.97;
    /// Bounds of the Barzilai-Borwein step, relative to the guessed or given one.
    double smallest_step = 1e-6, largest_step = 1e6;
    /// Stops when |r' - r| / (|r| + 1) falls to this, as Bloch and Lefebvre-Lepot (2023) do; 0: never. It depends on
    /// units and on the step and says nothing about the solution: only to regenerate tables. The status stays that of
    /// the referee.
    double paper_stop = 0;
    /// Iterations before which the solve never ends as stalled. Without restart the momentum makes the residual swing,
    /// with a period that grows with the condition of the problem, and a swing looks like a stall.
    int patience = 2000;
};

SolveReport projected_gradient(const Delassus& W, Law law, const ProjectedGradientOptions& options,
                               const Goal& goal, Vector& r);

}  // namespace drystone
