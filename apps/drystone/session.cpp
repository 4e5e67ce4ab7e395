#include "session.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/distributed/slices.hpp"
#include "drystone/results/sitting.hpp"
#include "drystone/scenes/warnings.hpp"
#include "interrupt.hpp"
#include "rank_report.hpp"
#include "run.hpp"
#include "run_log.hpp"
#include "run_summary.hpp"
#include "team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace drystone::command {

namespace {

namespace fs = std::filesystem;

/// Steps that were not solved are told, and their problems saved, up to so many; all are in steps.csv and counted at
/// the end.
constexpr std::int64_t most_failures_told = 10;

/// Minutes and hours where there are some: 12 s, 3 min 20 s, 2 h 5 min.
std::string duration_text(double seconds) {
    if (!(seconds < 360'000)) return "days";
    const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

template <int d>
class Sitting {
public:
    Sitting(const SittingOptions& options, Run<d> run, bool same_folder)
        : options_(options),
          run_(std::move(run)),
          log_(is_first() ? options.log : "", talks()),
          first_step_(run_.progress.summary.steps),
          first_time_(run_.plan.world.scene.time) {
        // More than there are cores would only wait.
        run_.plan.options.step.solve.threads = std::min(resolve_threads(options.threads), processors());
        if (options.ranks != nullptr) {
            part_.emplace(*options.ranks);
            part_->balancing.force_every = options.rebalance_every;
            part_->options.split_between_ranks = options.split_between_ranks;
        }
        if (!options.output.empty())
            folder_.emplace(options.output, run_,
                            FolderOptions{DRYSTONE_VERSION, options.checkpoint_every, same_folder}, share());
    }

    int run() {
        const InterruptWatch watch;
        if (part_) divide();
        Onlooker onlooker;
        onlooker.begun = [&] {
            log_.open(run_.observers.has_value());  // the folder is ours: no other run writes to it
            if (!run_.observers) warn();
        };
        onlooker.after_step = [&](const StepRecord& record) { return after_step(record); };
        onlooker.told_to_stop = interrupted;
        return sit<d>(run_, folder_ ? &*folder_ : nullptr, onlooker, share()) ? finish() : leave();
    }

    /// Throws Error where results of an earlier run would go.
    void check_folder() const {
        const std::string found = folder_ ? folder_->earlier_result() : "";
        if (found.empty()) return;
        fail(options_.output, fmt::format("holds the results of an earlier run ({})", harmless(found)),
             fmt::format("give another folder{}, or --force to replace them",
                         found == "checkpoint.h5"
                             ? fmt::format(", go on with drystone resume {}", shell_word(options_.output))
                             : ""));
    }

    /// What is left after something could not be written.
    [[nodiscard]] std::string way_on() const {
        std::error_code unknown;
        if (!folder_ || !folder_->last_checkpoint() || !fs::exists(folder_->checkpoint(), unknown)) return "";
        return fmt::format(
            "the checkpoint of time {:.6g} s is whole; once that is mended, go on with\n  drystone resume {}",
            *folder_->last_checkpoint(), shell_word(options_.output));
    }
    RunLog& log() { return log_; }

private:
    [[nodiscard]] bool is_first() const { return options_.ranks == nullptr || options_.ranks->rank() == 0; }
    [[nodiscard]] bool talks() const { return !options_.quiet && !options_.json && is_first(); }
    [[nodiscard]] Share<d>* share() { return part_ ? &*part_ : nullptr; }
    /// Of all ranks.
    [[nodiscard]] std::int64_t bodies() const {
        return part_ ? part_->bodies : run_.plan.world.scene.bodies.count();
    }
    [[nodiscard]] const RunSummary& summary() const { return run_.progress.summary; }

    /// What is possible and seldom meant, before the first step.
    void warn() {
        if (!is_first() || (!talks() && options_.log.empty())) return;
        std::size_t contacts = 0;
        const std::vector<StartOverlap> overlaps = start_overlaps(run_.plan, contacts);
        for (const SceneFault& warning : warnings_of(run_.plan, run_.files, overlaps))
            log_.fault("warning: " + text_of(run_.files.scene, warning), talks());
        if (!folder_)
            log_.fault("nothing of this run is kept; --output DIR keeps measurements, frames and checkpoints",
                       talks());
        const StepOptions& step = run_.plan.options.step;
        // A rank waits for others as often as a thread does.
        const auto bodies = run_.plan.world.scene.bodies.count();
        if (const int ranks = part_ ? options_.ranks->count() : 1;
            ranks > 1 && bodies < ranks * step.bodies_per_thread)
            log_.fault(
                fmt::format("{} ranks for {} bodies: they will wait for each other more than they work; "
                            "for so many {}",
                            ranks, bodies,
                            bodies < 2 * step.bodies_per_thread
                                ? "take one"
                                : fmt::format("take at most {}", bodies / step.bodies_per_thread)),
                talks());
        if (options_.threads > processors())
            log_.fault(
                fmt::format("{} threads are asked for, and this process may use {} cores: so many are used",
                            options_.threads, processors()),
                talks());
    }

    /// A new run is on every rank as a whole, a resumed one in rows.
    void divide() {
        check_for_ranks(run_.plan.world.scene, run_.plan.options.step);
        if (run_.observers) {
            join(run_.plan.world.scene, *part_, run_.memory.warm);
        } else {
            own_nothing_yet(run_.plan.world.scene, *part_);
        }
    }

    /// False to end the sitting.
    bool after_step(const StepRecord& record) {
        log_.progress([&] { return line_of(record); });
        return is_met(record.solve.status) || after_failure(record);
    }

    [[nodiscard]] std::string line_of(const StepRecord& record) const {
        const double simulated = record.time - first_time_, wall = wall_.seconds();
        const double speed = wall > 0 ? simulated / wall : 0;
        double left = speed > 0 ? (run_.plan.options.end - record.time) / speed : INFINITY;
        if (run_.overrides.steps) {
            const auto done = static_cast<double>(summary().steps - first_step_);
            left = std::min(left, wall * static_cast<double>(*run_.overrides.steps - summary().steps) / done);
        }
        return fmt::format(
            "time {:<9.6g} step {:<7} bodies {:<7} contacts {:<8} iterations {:<5} residual {:.1e}  "
            "overlap {:.1e} radii  energy {:.4e} J  {:.2g} s per s  {} left",
            record.time, summary().steps, bodies(), record.contacts, record.solve.iterations,
            record.solve.residual.value, record.relative_overlap, record.energy.total(), speed,
            duration_text(left));
    }

    /// Tells, saves the problem, and answers whether to go on.
    bool after_failure(const StepRecord& record) {
        const SolveReport& report = record.solve;
        const std::int64_t unsolved = summary().unsolved;
        if (!options_.strict && unsolved == most_failures_told + 1)
            log_.fault("more steps were not solved; they are counted at the end and listed in steps.csv",
                       talks());
        if (!options_.strict && unsolved > most_failures_told) return true;
        const bool told = options_.strict || talks();
        const std::string meaning = report.status == Status::infeasible
                                        ? " (no motion satisfies all contacts: something is crushed)"
                                        : "";
        log_.fault(
            fmt::format(
                "step {} at time {:.6g} s was not solved: {}{}, residual {:.1e}, the worst contact wrong "
                "by {:.1e} m/s; {}",
                summary().steps, record.time, drystone::name_of(report.status), meaning,
                report.residual.value, report.residual.law.velocity, report.message),
            told);
        if (part_) {
            log_.fault(
                "a problem is saved by one rank alone: resume the last checkpoint on one, and the same step "
                "comes again",
                told);
        } else if (folder_) {
            save_problem(told);
        } else if (options_.strict) {
            log_.fault("give --output DIR to have the problem of this step saved", true);
        }
        return !options_.strict;
    }

    void save_problem(bool told) {
        fs::path file;
        try {
            file = folder_->save_problem(run_);
        } catch (const Error& error) {  // the run need not end for it
            log_.fault(fmt::format("its problem is not saved: {}", harmless(error.what())), told);
            return;
        }
        const SolveSettings& solve = run_.plan.options.step.solve;
        log_.fault(fmt::format("saved; solve it again, by itself, with\n  drystone solve {} --solver {} "
                               "--law {} --tolerance {:g}",
                               shell_word(file.string()), run_.plan.solver, name_of(solve.law),
                               solve.goal.tolerance),
                   told);
    }

    /// After a signal.
    int leave() {
        log_.end();
        const std::string where =
            fmt::format("stopped at time {:.6g} s, step {}", run_.plan.world.scene.time, summary().steps);
        if (folder_) {
            complain(fmt::format("{}; go on with\n  drystone resume {}", where, shell_word(options_.output)));
        } else {
            complain(where + "; nothing is kept without --output DIR");
        }
        return exit_stopped;
    }

    int finish() {
        log_.end();
        if (run_.plan.phase_is_over(run_.files, run_.progress)) {
            const auto p = static_cast<std::size_t>(run_.files.phase);
            const std::vector<std::string>& phases = run_.plan.phases;
            const std::string line = fmt::format(
                "phase {} of {}, {}: over at time {:.6g} s, step {}; then {}", p + 1, phases.size(),
                phases[p], run_.plan.world.scene.time, summary().steps, phases[p + 1]);
            if (talks()) log_.summary(line);
            return phase_over;
        }
        const RunFolder<d>* folder = folder_ ? &*folder_ : nullptr;
        const RunEnd ends = {bodies(), part_ ? options_.ranks->count() : 1,
                             energy_of_a_fall<d>(run_.plan.world, run_.plan.options.step.h, share()),
                             part_ && options_.split_between_ranks};
        if (options_.json) {
            say(summary_json(run_, folder, ends));
        } else {
            for (const std::string& line : summary_lines(run_, folder, ends)) log_.summary(line);
        }
        if (part_ && options_.ranks_report)
            for (const std::string& line : report_on_ranks(*part_, summary())) log_.summary(line);
        return options_.strict && summary().unsolved > 0 ? exit_unsolved : exit_solved;
    }

    const SittingOptions& options_;
    Run<d> run_;
    std::optional<Part<d>> part_;  // where several ranks share the run
    std::optional<RunFolder<d>> folder_;
    RunLog log_;
    Timer wall_;
    std::int64_t first_step_;
    double first_time_;
};

/// A log that took the place of a file of the run would spoil it, and the scene would be gone.
template <int d>
void check_log(const SittingOptions& options, const Run<d>& run) {
    if (options.log.empty()) return;
    std::error_code error;
    const fs::path log = fs::weakly_canonical(options.log, error);
    bool taken = log == fs::weakly_canonical(run.files.scene, error);
    for (const auto& [name, content] : run.files.others)
        taken = taken || log == fs::weakly_canonical(run.files.path_of(name), error);
    const std::string ending = log.extension().string();
    const bool among_results = !options.output.empty() &&
                               log.parent_path() == fs::weakly_canonical(options.output, error) &&
                               (ending == ".csv" || ending == ".series" || ending.starts_with(".h"));
    if (taken || among_results)
        fail("--log", options.log + " may be a file of the run itself",
             "give a name of its own, such as run.log");
}

}  // namespace

template <int d>
int run_sitting(const SittingOptions& options, Run<d> run, bool same_folder) {
    check_log(options, run);
    if (run.plan.phases.size() > 1 && options.output.empty())
        fail("--output", "is missing, and a run in phases goes from one to the next by a checkpoint",
             "give a folder");
    const bool goes_on = run.observers.has_value() && same_folder;
    Sitting<d> sitting(options, std::move(run), same_folder);
    if (!goes_on && !options.force) sitting.check_folder();
    try {
        return sitting.run();
    } catch (const std::exception& error) {
        if (options.ranks != nullptr) {
            stop_together(options.ranks, error);
        } else if (dynamic_cast<const Error*>(&error) == nullptr) {
            throw;
        }
        sitting.log().end();
        sitting.log().fault(error.what(), true);
        if (const std::string way = sitting.way_on(); !way.empty()) complain(way);
        return exit_failed;
    }
}

template int run_sitting(const SittingOptions&, Run<2>, bool);
template int run_sitting(const SittingOptions&, Run<3>, bool);

}  // namespace drystone::command
