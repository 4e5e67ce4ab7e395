// drystone info: what a scene, a checkpoint, a frame, a problem file or the folder of a run holds.
#pragma once

#include <string>
#include <vector>

namespace drystone::command {

struct InfoOptions {
    std::vector<std::string> paths;
    bool json = false;  ///< one object per path and line
};

/// The exit code: 0, or exit_misuse if one of the paths is nothing that we know or is damaged.
int info_command(const InfoOptions& options);

}  // namespace drystone::command
