#include "resume_command.hpp"

#include "drystone/base/error.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "run.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace drystone::command {

namespace fs = std::filesystem;

namespace {

/// A limit of steps does not hinder a longer time, nor the other way round, where only one of them is new.
RunOverrides merged(RunOverrides stored, const RunOverrides& given) {
    if (given.until || given.steps) {
        stored.steps = given.steps;
        if (given.until) stored.until = given.until;
    }
    if (given.tolerance) stored.tolerance = given.tolerance;
    return stored;
}

template <int d>
int go_on(const ResumeOptions& options, Checkpoint& checkpoint, StoppedRun<d>& stopped,
          SittingOptions sitting, bool same_folder) {
    Run<d> run{std::move(checkpoint.files), merged(checkpoint.overrides, options.overrides),
               std::move(stopped.plan)};
    run.memory.warm = std::move(stopped.warm);
    run.memory.sand.warm = std::move(stopped.sand_warm);
    run.progress = std::move(stopped.progress);
    run.observers = std::move(checkpoint.observers);
    apply(run.overrides, run.plan.options);
    if (options.overrides.until || options.overrides.steps) run.progress.stopped = StopReason::none;
    if (run.at_end()) {
        say(fmt::format(
            "{}: at its end, time {:.6g} s and step {}; nothing is left to do. --until makes it longer",
            run.plan.title, run.plan.world.scene.time, run.progress.summary.steps));
        return exit_solved;
    }
    return run_sitting<d>(sitting, std::move(run), same_folder);
}

}  // namespace

int resume_command(const ResumeOptions& options) {
    std::error_code error;
    fs::path file = options.from;
    if (fs::is_directory(file, error)) {
        file /= "checkpoint.h5";
        if (!fs::exists(file, error))
            fail(options.from, "holds no checkpoint.h5", "give the folder of a run, or run its scene again");
    }
    const Communicator* team = options.sitting.ranks;
    const hdf5::Ranks ranks = team != nullptr ? hdf5::Ranks{team->address()} : hdf5::Ranks{};
    Checkpoint checkpoint = read_checkpoint(file, DRYSTONE_VERSION, plan_without_grains, ranks);
    if (checkpoint.program != DRYSTONE_VERSION && !options.sitting.quiet) {
        complain(fmt::format(
            "note: the checkpoint is of drystone {}, this is {}: results may differ in the last digits",
            checkpoint.program, DRYSTONE_VERSION));
    }
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    SittingOptions sitting = options.sitting;
    if (sitting.output.empty()) sitting.output = folder.string();
    const bool same = fs::equivalent(sitting.output, folder, error);
    return std::visit(
        [&]<int d>(StoppedRun<d>& run) { return go_on(options, checkpoint, run, sitting, same && !error); },
        checkpoint.run);
}

}  // namespace drystone::command
