// `auto`: lists of stages, tried one after the other until the referee is satisfied. One for problems by themselves, one for time steps.
#pragma once

#include "drystone/solve/report.hpp"

namespace drystone {

/// For a problem by itself: picks a solver and falls back on others when it stalls; the report says which and why.
///   exact law:       from a start that was given, sweeps with momentum, then by Anderson's method, then Newton; Gauss-Seidel with
///                    momentum, in long and then in shorter cycles; the same from the centred solution of the associated law (interior
///                    point); Newton from the best of these; then, for small problems, the slow and sure.
///   associated law:  Gauss-Seidel with momentum; then the interior point.
struct AutoOptions {
    /// Sweeps with momentum, and by Anderson's method, from a start that is near a solution: of a step, that of the one before.
    int warm_sweeps = 100, secant_sweeps = 1200;
    /// Visits of blocks (sweeps times blocks) that the first stage may spend before it gives way, where the second stage can run.
    double first_stage_visits = 2e7;
    int first_stage_sweeps = 3000;  ///< at least so many, whatever the size
    Index small_problem = 1000;     ///< blocks up to which everything is tried: each try takes seconds
    /// Largest number of velocities for which a factorisation is thought of: about 10 s each at this size.
    Index largest_factorisation = 150'000;
};

/// For a time step: bounded in sweeps, the same bits whatever solves, and nearly always an answer that the referee confirms.
///   exact law:       sweeps from the step before, with momentum, then by Anderson's method; then the guarded convex law
///                    (solve/guarded.hpp), from the best of these: by sweeps, and by the interior point where these take too long.
///   associated law:  sweeps with momentum, and then likewise.
/// Where there are few contacts, more sweeps, and a proof where there is no solution.
struct BriefOptions {
    bool guarded = true;  ///< false: the exact law or nothing, and then more sweeps for it
    int exact_sweeps =
        150;  ///< at most, with momentum, under the exact law before the guarded law takes over
    int secant_sweeps = 60;     ///< and so many by Anderson's method
    double most_visits = 1e7;   ///< visits of blocks that every other stage may spend
    int least_sweeps = 3000;    ///< but at least so many sweeps, whatever the size
    Index small_problem = 200;  ///< blocks
    Index largest_factorisation =
        3000;  ///< blocks up to which the interior point is tried: seconds at this size
};

SolveReport solve_auto(const Delassus& W, Law law, const AutoOptions& options, const Goal& goal,
                       const Vector& start, Vector& r);
/// `shift` receives the frozen shift where the status is frozen_shift, and is empty otherwise.
SolveReport solve_brief(const Delassus& W, Law law, const BriefOptions& options, const Goal& goal,
                        const Vector& start, Vector& r, Vector& shift);

}  // namespace drystone
