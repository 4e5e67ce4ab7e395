// One sitting of a run (results/sitting.hpp) as the command does it: signals, what is said, and the exit code. Shared
// by `drystone run` and `drystone resume`.
#pragma once

#include "drystone/distributed/communicator.hpp"
#include "drystone/results/run_folder.hpp"

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
    bool force = false;                      ///< results of an earlier run in the folder may go
    bool strict = false;                     ///< a step that is not solved ends the run
    const Communicator* ranks = nullptr;     ///< that run it together; nullptr: one alone
    bool ranks_report = false;               ///< how they did, at the end
    bool split_between_ranks = false;        ///< the faster mode, whose results depend on the number of ranks
    int rebalance_every = 0;  ///< steps after which space is cut anew whatever the balance; 0: by need
};

/// Instead of an exit code: a phase is over, its checkpoint is written, and another phase follows.
inline constexpr int phase_over = -1;

/// Runs. The exit code: 0 at the end; exit_stopped after a signal (interrupt.hpp); with `strict`, exit_unsolved if a
/// step was not solved; exit_failed, with one message, where something could not be written. `same_folder`: see
/// FolderOptions.
template <int d>
int run_sitting(const SittingOptions& options, Run<d> run, bool same_folder);

}  // namespace drystone::command
