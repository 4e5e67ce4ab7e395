// drystone sweep: one scene with several values of a few fields, a run for each.
#pragma once

#include <string>
#include <vector>

namespace drystone::command {

struct SweepCommandOptions {
    std::string scene;
    std::vector<std::string>
        over;  ///< "FIELD=VALUE,VALUE,...": every value of one with every value of the others
    std::vector<std::string> settings;  ///< "FIELD=VALUE", for all
    std::string output;                 ///< folder: one in it for each case, and table.csv
    int jobs = 0;                       ///< runs at a time; 0: as many as there are cores for
    int threads = 1;                    ///< of each
    bool force = false;                 ///< what the folder holds of another sweep may go
};

/// Runs the cases that are not done yet, as processes of their own; those that were stopped are resumed. The exit code:
/// 0 if all are done, exit_failed if one failed, exit_stopped after a signal.
int sweep_command(const SweepCommandOptions& options);

}  // namespace drystone::command
