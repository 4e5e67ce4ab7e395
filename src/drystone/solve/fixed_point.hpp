// Exact Coulomb friction by a sequence of convex problems.
//
// Cadoux (2009): freeze the shift s_i = mu_i |u_iT|, solve the associated problem with b + s n, repeat. Its map is well
// defined as soon as the convex problem has solutions, since u is unique. Haslinger (1983): freeze the radius mu_i r_iN
// of the friction disc, solve the problem of Tresca, repeat; r need not be unique, so the map need not be a map, and it
// asks for one group per block (no rolling friction). Neither has a proof of convergence.
#pragma once

#include "drystone/solve/report.hpp"

namespace drystone {

/// A solver of the associated law: warm start in r, answer in r.
using ConvexSolver = std::function<SolveReport(const Delassus& W, const Goal& goal, Vector& r)>;

enum class FixedPointMap : std::uint8_t { cadoux, haslinger };

struct FixedPointOptions {
    FixedPointMap map = FixedPointMap::cadoux;
    int max_outer = 200;
    /// Tolerance of an inner solve: this fraction of the exact-law residual that it starts from. 0.1: outer passes are
    /// not wasted on digits that the next shift makes obsolete; smaller pays where inner solves converge fast (interior
    /// point).
    double inner_fraction = 0.1;
    double loosest_inner = 1e-2;
    /// Inner tolerances never fall below this fraction of the goal's.
    double tightest_inner = 0.1;
    /// Weight of the new shift (or radius); 1: none of the old one is kept. Below 1 damps cycles between sticking and
    /// sliding.
    double relaxation = 1;
    /// Iterate r of the last pass is the warm start of the next; false for solvers that prefer a cold one.
    bool warm_start = true;
};

/// `law` must be Law::coulomb. The residual is that of the exact law; iterations in the report are those of the inner
/// solves.
SolveReport fixed_point(const Delassus& W, Law law, const FixedPointOptions& options,
                        const ConvexSolver& inner, const Goal& goal, Vector& r);

}  // namespace drystone
