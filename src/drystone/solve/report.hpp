// What every solver is asked for and what it answers.
#pragma once

#include "drystone/cone/judge.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace drystone {

enum class Status : std::uint8_t {
    solved,  ///< the referee found the residual at or below the tolerance
    /// likewise, by the convex law with a frozen shift: the exact law was asked for and not solved
    frozen_shift,
    stalled,          ///< no progress any more; the best iterate is returned
    iteration_limit,  ///< as many iterations as were allowed
    time_limit,       ///< as many seconds as were allowed
    infeasible,       ///< no velocity satisfies the constraints (a body crushed between moving walls)
    diverged,         ///< numbers grew without bound or became not a number
    invalid,          ///< the data have faults; see `message`
};

const char* name_of(Status status);

/// True if the referee confirmed a law: the one that was asked for, or the convex one with a frozen shift.
inline bool is_met(Status status) { return status == Status::solved || status == Status::frozen_shift; }

/// The measure that is held against the tolerance. Only `referee` can say "solved" in a simulation; the other is there
/// to compare with Siconos on its own ground.
enum class Measure : std::uint8_t { referee, siconos };

struct HistoryPoint {
    int iteration = 0;
    double seconds = 0;
    double residual = 0;
};

/// When to stop. The same for every solver.
struct Goal {
    /// Dimensionless, of the measure below. 1e-3 shows in a picture as creep of resting grains, 1e-4 does not; 1e-6
    /// gives forces to four digits where they are unique; 1e-8 is for validation; below 1e-12 rounding is in the way.
    double tolerance = 1e-6;
    Measure measure = Measure::referee;
    double time_limit = infinity;  ///< wall-clock seconds
    /// Whether the report has a history, and a message where there is nothing to explain. Steps do without: both cost
    /// memory.
    bool story = true;
    /// Called at each check of the residual.
    std::function<void(const HistoryPoint&)> progress;
};

struct SolveReport {
    Status status = Status::invalid;
    std::string_view solver;  ///< name of the solver that gave the answer
    std::string message;      ///< why, in a sentence; for `auto`: what was tried
    std::string_view reason;  ///< the same where it is one of a few sentences
    int iterations = 0;       ///< sweeps, gradient steps or Newton steps, summed over inner solves
    Residual residual;        ///< of the returned solution, by the referee
    /// The measure of the goal, of the returned impulses, as the solver saw it while it iterated.
    double reached = infinity;
    /// Status frozen_shift: how far the solution is from the exact law all the same.
    struct ShiftError {
        double residual = 0;  ///< its residual by the exact law (eq. 12), dimensionless
        /// Largest difference between frozen and true shift among blocks that bear an impulse, in units of u: so fast
        /// does a contact that slides open (first) or close (second) that should do neither.
        double opening = 0, closing = 0;
    } shift_error;
    double seconds = 0;
    std::vector<HistoryPoint> history;
};

}  // namespace drystone
