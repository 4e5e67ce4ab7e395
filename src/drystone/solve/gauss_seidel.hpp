// Nonlinear Gauss-Seidel over coloured tiles, and its accelerated forms (docs/theory.md, section 7).
//
// One sweep visits every block once and solves it exactly with all others held. Tiles of a colour run in parallel and
// share no moving body, so the result is the same bits on any number of threads. Rigid bodies have kernels of their own
// for contacts of balls, of other shapes, and of balls that also resist rolling (sweep/contact_sweeps.hpp); there is
// one for anything (sweep/sweep_any.hpp).
#pragma once

#include "drystone/solve/report.hpp"
#include "drystone/sweep/sweep_options.hpp"

namespace drystone {

enum class Acceleration : std::uint8_t {
    none,
    momentum,   ///< Nesterov momentum in cycles of adaptive length
    conjugate,  ///< the sweep as the map of a nonsmooth nonlinear conjugate gradient
    anderson,   ///< a few plain sweeps as the map of Anderson's method
};

struct GaussSeidelOptions : SweepOptions {
    Acceleration acceleration = Acceleration::none;
    /// Longest cycle of momentum, in sweeps. 150 suits packings at rest; where many contacts slide, 50 to 80 is surer.
    int longest_cycle = 150;
    /// A cycle ends, and later ones are kept shorter, when the norm of the step exceeds this multiple of the cycle's
    /// first.
    double blow_up = 2;
    /// Anderson: states that are combined, and plain sweeps between them.
    int anderson_depth = 20;
    int anderson_sweeps = 5;
    int max_iterations = 1'000'000;  ///< sweeps
    /// Sweeps between looks at the residual (a look costs about a sweep). Momentum looks at the end of its cycles too.
    int check_every = 25;
    /// Sweeps before the iteration may be called stalled. Under the exact law residuals can rest on a plateau for 10^5
    /// sweeps and then fall again, so whoever asks for sweeps gets many; `auto` is less patient.
    int patience = 200'000;
    /// sweeps beyond which the goal is given up as soon as that can be foreseen (monitor.hpp); 0: not looked at
    int horizon = 0;
    /// Sleeping: a block whose impulse changed by less than sleep_tolerance (relative to the root mean square of the
    /// sweep before) is left out for sleep_sweeps sweeps. 0: off.
    int sleep_sweeps = 0;
    double sleep_tolerance = 1e-3;
};

SolveReport gauss_seidel(const Delassus& W, Law law, const GaussSeidelOptions& options, const Goal& goal,
                         Vector& r);

/// Sweeps and nothing else, without a look at the residual, plain or with momentum in short cycles: for smoothing
/// between steps of other methods and for benchmarks. Returns the seconds that the sweeps alone took.
double run_sweeps(const Delassus& W, Law law, const GaussSeidelOptions& options, int sweeps, Vector& r);

}  // namespace drystone
