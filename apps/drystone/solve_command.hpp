// drystone solve: problems in files, one after the other.
#pragma once

#include "run.hpp"

#include <string>
#include <vector>

namespace drystone::command {

struct SolveOptions {
    std::vector<std::string> files;
    std::string solver = "auto";
    RunSettings run;
    bool warm_start = false;  ///< begin from the file's first guess
    bool compare = false;     ///< every solver that can be used with the law
    std::string save;         ///< file to write the problem and its solution into; empty: none
    bool json = false;
    bool quiet = false;  ///< tell failures alone
};

/// The exit code: see run.hpp. With `compare` a problem counts as solved if one solver solved it.
int solve_command(const SolveOptions& options);

/// The table of --list-solvers.
void list_solvers();

}  // namespace drystone::command
