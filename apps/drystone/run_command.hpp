// drystone run: a scene from its beginning to its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace drystone::command {

struct RunSceneOptions {
    std::string scene;
    std::string output;                 ///< folder for measurements and frames; empty: none
    std::optional<double> until;        ///< s, instead of the scene's end
    std::optional<std::int64_t> steps;  ///< at most so many
    int threads = 1;                    ///< 0: all
    std::optional<double> tolerance;    ///< instead of the scene's
    bool quiet = false;                 ///< no progress
    bool json = false;                  ///< the summary as one object, nothing else
    bool strict = false;                ///< a step that is not solved ends the run
};

/// The exit code: 0 if the run reached its end; with `strict`, 1 if a step was not solved. Faults are thrown.
int run_command(const RunSceneOptions& options);

}  // namespace drystone::command
