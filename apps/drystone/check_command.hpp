// drystone check: what a scene file was understood to say, and what looks wrong with it. Runs nothing.
#pragma once

#include <string>
#include <vector>

namespace drystone::command {

struct CheckOptions {
    std::vector<std::string> scenes;
    std::vector<std::string> settings;  ///< "time.end=3": of each
    bool json = false;                  ///< one object per file and line, nothing else
    bool strict = false;                ///< warnings count as faults
};

/// The exit code: 0 if all scenes can be run, whatever was warned of; 1 if one has faults (with `strict`: or is warned
/// of).
int check_command(const CheckOptions& options);

}  // namespace drystone::command
