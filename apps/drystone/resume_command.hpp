// drystone resume: a run that was stopped, from its checkpoint alone.
#pragma once

#include "session.hpp"

namespace drystone::command {

struct ResumeOptions {
    std::string from;                   ///< a checkpoint, or a folder that holds checkpoint.h5
    RunOverrides overrides;             ///< instead of what the run was started with
    std::vector<std::string> settings;  ///< "material.stone.friction=0.4", from here on
    SittingOptions sitting;             ///< output: empty: the folder of the checkpoint
};

/// The exit code: see run_sitting. Faults of the checkpoint are thrown.
int resume_command(const ResumeOptions& options);

/// Goes on with all phases that follow where `code` says that one is over. The exit code of the last.
int through_phases(const SittingOptions& sitting, int code);

}  // namespace drystone::command
