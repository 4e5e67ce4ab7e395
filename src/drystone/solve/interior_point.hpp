// Primal-dual interior point for the associated law: min 1/2 r.W r + b.r over r in K, all kinds of cone.
//
// Every K is written as A r + a in a product of second-order cones (a ray is one of dimension 1; a wrench cone gives
// one per group, all sharing the normal component; bilateral components give none), with multipliers z: A^T z = u. The
// method is Mehrotra's predictor-corrector with the symmetric scaling of Nesterov and Todd (1997), in the form of
// Andersen, Dahl and Vandenberghe's coneqp (2010). Each iteration factorises one system of the size of the bodies
// (shifted_system.hpp); 10 to 20 iterations reach 1e-8 whatever the problem. It wants no warm start and profits little
// from one.
#pragma once

#include "drystone/solve/report.hpp"

namespace drystone {

struct InteriorPointOptions {
    int max_iterations = 100;
    /// Fraction of the way to the boundary of the cones that a step may take. Nearer to 1: fewer iterations, less
    /// centred.
    double boundary_fraction = 0.99;
    /// Solves with the same factorisation that follow the predictor (1: Mehrotra). Each is kept only if it does not
    /// shorten the step. With 3 the residual falls by about 12 per iteration near the end, with 1 by about 4.5.
    int correctors = 3;
    /// Steps shorter than this, three times in a row, mean that rounding is in the way: the solve ends as stalled.
    double shortest_step = 1e-6;
    /// Iterations without halving the best residual after which the solve ends as stalled.
    int patience = 8;
    /// Added to the diagonal of every cone relative to its stiffness: contacts that stick would otherwise make the
    /// system singular where they are redundant. It slows the last digits by its own size and is not seen before 1e-12.
    double regularisation = 1e-13;
    /// Regularisation of bilateral components relative to their stiffness. It is removed again by refinement; larger
    /// makes the factorisation safer with redundant constraints and the refinement longer.
    double bilateral_regularisation = 1e-8;
};

/// Law::coulomb is refused (Status::invalid): put this solver into the fixed point of fixed_point.hpp instead.
SolveReport interior_point(const Delassus& W, Law law, const InteriorPointOptions& options, const Goal& goal,
                           Vector& r);

/// Searches for a proof that there is no solution under the given law (infeasible.hpp says of what), by running the
/// interior point on the problem with the cones that may appear in a proof. Worth its price when another solver
/// diverges.
bool prove_infeasible(const Delassus& W, Law law, Vector& certificate,
                      const InteriorPointOptions& options = {});

}  // namespace drystone
