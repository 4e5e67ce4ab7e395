// One sitting of a run: from where it is to its end, or until it is told to stop. Shared by `drystone run` and
// `drystone resume`.
#pragma once

#include "drystone/distributed/communicator.hpp"
#include "drystone/results/checkpoint.hpp"

#include <optional>
#include <string>

namespace drystone::command {

/// What is the same for a run and a resumed run, and changes none of its results.
struct SittingOptions {
    std::string output;                      ///< folder for measurements, frames and checkpoints; empty: none
    std::optional<double> checkpoint_every;  ///< s of simulated time, instead of the scene's
    std::string log;                         ///< file for the lines of progress and failures; empty: none
    int threads = 1;                         ///< 0: all
    bool quiet = false;                      ///< no progress
    bool json = false;                       ///< the summary as one object, nothing else
    bool strict = false;                     ///< a step that is not solved ends the run
    const Communicator* ranks = nullptr;     ///< that run it together; nullptr: one alone
    bool ranks_report = false;               ///< how they did, at the end
    bool split_between_ranks = false;        ///< the faster mode, whose results depend on the number of ranks
    int rebalance_every = 0;  ///< steps after which space is cut anew whatever the balance; 0: by need
};

/// A run at the beginning of a sitting.
template <int d>
struct Start {
    SceneFiles files;
    RunOverrides overrides;  ///< already in the plan
    RunPlan<d> plan;
    WarmStart<d> warm;
    RunProgress progress;
    std::optional<State> observers;  ///< none: a new run
    bool same_folder = true;         ///< a resumed run goes on in the folder in which it was
};

/// Puts what the command line said into the plan.
template <int d>
void apply(const RunOverrides& overrides, RunPlan<d>& plan);

/// True if there are no more steps to do.
template <int d>
bool at_end(const Start<d>& start);

/// Runs. The exit code: 0 at the end; exit_stopped after Ctrl-C or SIGTERM; with `strict`, exit_unsolved if a step was
/// not solved; exit_failed, with one message, where something could not be written.
template <int d>
int run_sitting(const SittingOptions& options, Start<d> start);

}  // namespace drystone::command
