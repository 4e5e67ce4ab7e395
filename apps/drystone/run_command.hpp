// drystone run: a scene from its beginning to its end.
#pragma once

#include "session.hpp"

namespace drystone::command {

struct RunSceneOptions {
    std::string scene;
    std::vector<std::string> settings;  ///< "time.end=3"
    RunOverrides overrides;
    SittingOptions sitting;
};

/// The exit code: see run_sitting. Faults of the scene are thrown.
int run_command(const RunSceneOptions& options);
/// The same of files that have been read, with their settings.
int run_files(SceneFiles files, const RunOverrides& overrides, const SittingOptions& sitting);

}  // namespace drystone::command
