#include "resume_command.hpp"

#include "drystone/base/error.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "drystone/scenes/settings.hpp"
#include "interrupt.hpp"
#include "run.hpp"
#include "run_summary.hpp"

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
Run<d> run_of(Checkpoint& checkpoint, StoppedRun<d>& stopped, const RunOverrides& overrides) {
    Run<d> run{std::move(checkpoint.files), merged(checkpoint.overrides, overrides), std::move(stopped.plan)};
    run.memory.warm = std::move(stopped.warm);
    run.memory.sand.warm = std::move(stopped.sand_warm);
    run.progress = std::move(stopped.progress);
    run.observers = std::move(checkpoint.observers);
    apply(run.overrides, run.plan.options);
    // A run that its rule ended goes on where it is asked to; a phase is over, and another one follows.
    const bool last = run.files.phase + 1 >= static_cast<int>(run.plan.phases.size());
    if (last && (overrides.until || overrides.steps)) run.progress.stopped = StopReason::none;
    return run;
}

template <int d>
int go_on(const SittingOptions& sitting, Run<d> run, bool same_folder) {
    if (run.plan.phase_is_over(run.files, run.progress)) return phase_over;
    if (run.at_end() && sitting.json) {
        const RunEnd ends = {run.plan.world.scene.bodies.count(), 1,
                             energy_of_a_fall<d>(run.plan.world, run.plan.options.step.h, nullptr), false};
        say(summary_json<d>(run, nullptr, ends));
        return exit_solved;
    }
    if (run.at_end()) {
        say(fmt::format(
            "{}: at its end, time {:.6g} s and step {}; nothing is left to do. --until makes it longer",
            run.plan.title, run.plan.world.scene.time, run.progress.summary.steps));
        return exit_solved;
    }
    return run_sitting<d>(sitting, std::move(run), same_folder);
}

/// From this checkpoint; phase_over where its phase is over and another one follows.
int resume(const fs::path& file, const RunOverrides& overrides, const RunChanges& changes,
           SittingOptions sitting) {
    const Communicator* team = sitting.ranks;
    const hdf5::Ranks ranks = team != nullptr ? hdf5::Ranks{team->address()} : hdf5::Ranks{};
    Checkpoint checkpoint = read_checkpoint(file, DRYSTONE_VERSION, plan_without_grains, ranks, changes);
    if (checkpoint.program != DRYSTONE_VERSION && !sitting.quiet) {
        complain(fmt::format(
            "note: the checkpoint is of drystone {}, this is {}: results may differ in the last digits",
            checkpoint.program, DRYSTONE_VERSION));
    }
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    if (sitting.output.empty()) sitting.output = folder.string();
    std::error_code error;
    const bool same = fs::equivalent(sitting.output, folder, error) && !error;
    return std::visit(
        [&]<int d>(StoppedRun<d>& stopped) {
            Run<d> run = run_of(checkpoint, stopped, overrides);
            run.changed = changes.next_phase || !changes.settings.empty();
            return go_on(sitting, std::move(run), same);
        },
        checkpoint.run);
}

}  // namespace

int through_phases(const SittingOptions& sitting, int code) {
    const fs::path file = fs::path(sitting.output) / "checkpoint.h5";
    while (code == phase_over) code = resume(file, {}, {.next_phase = true}, sitting);
    return code;
}

int resume_command(const ResumeOptions& options) {
    std::error_code error;
    fs::path file = options.from;
    if (fs::is_directory(file, error)) {
        file /= "checkpoint.h5";
        if (!fs::exists(file, error))
            fail(options.from, "holds no checkpoint.h5", "give the folder of a run, or run its scene again");
    }
    RunChanges changes;
    for (const std::string& text : options.settings) changes.settings.push_back(setting_of(text));
    check_changes(changes.settings);
    const InterruptWatch watch;
    const int code = resume(file, options.overrides, changes, options.sitting);
    if (code != phase_over) return code;
    // It was stopped between two phases.
    changes.next_phase = true;
    SittingOptions sitting = options.sitting;
    if (sitting.output.empty()) sitting.output = file.parent_path().string();
    return through_phases(sitting, resume(file, options.overrides, changes, sitting));
}

}  // namespace drystone::command
