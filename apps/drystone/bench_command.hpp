// drystone bench: many solvers on many problems, and the performance profile.
#pragma once

#include "run.hpp"

#include <string>
#include <vector>

namespace drystone::command {

struct BenchOptions {
    /// searched for *.hdf5, with all below them; files are taken as they are
    std::vector<std::string> folders;
    std::vector<std::string> solvers;  ///< names; empty: all that can be used with the law
    RunSettings run = {.tolerance = 1e-6, .time_limit = 10};
    /// The problems are steps that runs have saved: each is solved as a run does, from its first guess, by one solver
    /// that has no name.
    bool steps = false;
    std::string picture = "performance_profile.svg";
    bool json = false;
};

/// The exit code: 0 when everything was measured, solved or not; 2 if a folder, a file or the picture made trouble.
int bench_command(const BenchOptions& options);

}  // namespace drystone::command
