// drystone resume: a run that was stopped, from its checkpoint alone.
#pragma once

#include "session.hpp"

namespace drystone::command {

struct ResumeOptions {
    std::string from;        ///< a checkpoint, or a folder that holds checkpoint.h5
    RunOverrides overrides;  ///< instead of what the run was started with
    SittingOptions sitting;  ///< output: empty: the folder of the checkpoint
};

/// The exit code: see run_sitting. Faults of the checkpoint are thrown.
int resume_command(const ResumeOptions& options);

}  // namespace drystone::command
