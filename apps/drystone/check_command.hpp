// drystone check: what a scene file was understood to say, and what looks wrong with it. Runs nothing.
#pragma once

#include <string>

namespace drystone::command {

struct CheckOptions {
    std::string scene;
};

/// The exit code: 0 if the scene can be run, whatever was warned of. Faults of the file are thrown (Error), all in one message.
int check_command(const CheckOptions& options);

}  // namespace drystone::command
