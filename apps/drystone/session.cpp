#include "session.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/distributed/part.hpp"
#include "drystone/problems/problem_file.hpp"
#include "interrupt.hpp"
#include "observers.hpp"
#include "rank_report.hpp"
#include "run.hpp"
#include "run_log.hpp"
#include "team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace drystone::command {

namespace {

namespace fs = std::filesystem;

constexpr double wall_seconds_between_checkpoints = 600;
/// Steps that were not solved are told, and their problems saved, up to so many; all are in steps.csv and counted at
/// the end.
constexpr std::int64_t most_failures_told = 10;

const char* reason_text(StopReason reason) {
    switch (reason) {
        case StopReason::calm:
            return "stopped because all is calm";
        case StopReason::steady:
            return "stopped because nothing changes any more";
        case StopReason::none:
            break;
    }
    return "";
}

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
    Sitting(const SittingOptions& options, Start<d> start)
        : options_(options),
          run_(std::move(start)),
          shared_{options.ranks, nullptr},
          log_(shared_.first() ? options.log : "", talks(), run_.observers.has_value()),
          checkpoints_{options.checkpoint_every.value_or(run_.plan.output.checkpoints_every)},
          timed_checkpoints_(options.checkpoint_every.value_or(run_.plan.output.checkpoints_every) > 0) {
        memory_.warm = std::move(run_.warm);
        if (!shared_.alone()) {
            shared_.part = &part_.emplace(*options.ranks);
            part_->balancing.force_every = options.rebalance_every;
            part_->options.split_between_ranks = options.split_between_ranks;
        }
        if (!options.output.empty()) observers_.emplace(options.output, run_.plan, shared_);
        run_.plan.options.step.solve.threads = options.threads;
    }

    int run() {
        const InterruptWatch watch;
        const Scene<d>& scene = run_.plan.scene;
        if (!run_.progress.balance.begun) run_.progress.balance.start(energy_of(scene));
        if (part_) share();
        first_step_ = run_.progress.summary.steps;
        first_time_ = scene.time;
        if (observers_) {
            if (run_.observers) {
                observers_->resume(*run_.observers, first_step_, run_.same_folder);
                checkpoints_.reached(scene.time, 0);
            } else {
                const bool replaces = talks() && fs::exists(checkpoint_path());
                observers_->begin(scene);
                if (replaces)
                    complain(fmt::format("the results of an earlier run in {} are replaced",
                                         harmless(options_.output)));
            }
            save_checkpoint();
        }
        // A limit of 0 steps, or a run that is at its end, has nothing to do; simulate would make one step before it is
        // asked.
        if (!at_end(run_)) {
            const Observer<d> look = [this](const Scene<d>& /*scene*/, const StepMemory<d>& /*memory*/,
                                            const StepRecord& record) { return after_step(record); };
            simulate<d>(run_.plan.scene, run_.plan.options, run_.plan.feeds, memory_, run_.progress, look,
                        part_ ? &*part_ : nullptr);
        }
        return stopped_ ? leave() : finish();
    }

    /// What is left after something could not be written.
    [[nodiscard]] std::string way_on() const {
        std::error_code unknown;
        if (!last_checkpoint_ || !fs::exists(checkpoint_path(), unknown)) return "";
        return fmt::format(
            "the checkpoint of time {:.6g} s is whole; once that is mended, go on with\n  drystone resume {}",
            *last_checkpoint_, shell_word(options_.output));
    }
    RunLog& log() { return log_; }

private:
    [[nodiscard]] bool talks() const { return !options_.quiet && !options_.json && shared_.first(); }
    /// Of all ranks.
    [[nodiscard]] std::int64_t bodies() const {
        return part_ ? part_->bodies : run_.plan.scene.bodies.count();
    }

    /// A new run is on every rank as a whole, a resumed one in rows.
    void share() {
        check_for_ranks(run_.plan.scene, run_.plan.options.step);
        if (run_.observers) {
            join(run_.plan.scene, *part_, memory_.warm);
        } else {
            own_nothing_yet(run_.plan.scene, *part_);
        }
    }

    [[nodiscard]] const RunSummary& summary() const { return run_.progress.summary; }
    [[nodiscard]] const EnergyBalance& balance() const { return run_.progress.balance; }
    [[nodiscard]] fs::path checkpoint_path() const { return fs::path(options_.output) / "checkpoint.h5"; }

    /// False to end the sitting.
    bool after_step(const StepRecord& record) {
        if (observers_) observers_->after_step(run_.plan.scene, memory_, record, run_.progress);
        log_.progress([&] { return line_of(record); });
        bool go_on = true;
        if (!is_met(record.solve.status)) go_on = after_failure(record);
        // The end's own checkpoint is written when the last lines and frames are.
        const bool ends = !go_on || at_end(run_);
        // What follows from signals and clocks is not the same on all ranks: one that knows is enough.
        std::array<double, 2> seen = {
            interrupted() ? 1.0 : 0.0,
            since_checkpoint_.seconds() >= wall_seconds_between_checkpoints ? 1.0 : 0.0};
        if (part_) options_.ranks->largest(seen);
        if (!ends && seen[0] > 0) {
            stopped_ = true;
            return false;
        }
        const bool due =
            (timed_checkpoints_ && checkpoints_.reached(record.time, 1e-6 * record.h)) || seen[1] > 0;
        if (observers_ && !ends && due) save_checkpoint();
        return go_on && !(run_.overrides.steps && summary().steps >= *run_.overrides.steps);
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
        } else if (!options_.output.empty()) {
            save_problem(record, told);
        } else if (options_.strict) {
            log_.fault("give --output DIR to have the problem of this step saved", true);
        }
        return !options_.strict;
    }

    void save_problem(const StepRecord& record, bool told) {
        const fs::path file = fs::path(options_.output) / fmt::format("failed_step_{}.hdf5", summary().steps);
        ProblemFile saved;
        saved.problem = memory_.assembled.problem;
        saved.guesses = {Delassus(saved.problem).complete(memory_.start), memory_.solution};
        saved.title = run_.plan.title;
        saved.description = fmt::format("step {} of the scene {}, at time {} s", summary().steps,
                                        run_.files.scene.filename().string(), record.time);
        try {
            write_problem(file, saved);
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

    void save_checkpoint() { save_checkpoint(observers_->state()); }

    void save_checkpoint(const State& observers) {
        if (part_) {
            write_checkpoint_of<d>(checkpoint_path(), run_.files, run_.overrides, run_.plan.scene, memory_,
                                   run_.progress, observers, *part_, DRYSTONE_VERSION);
        } else {
            write_checkpoint<d>(
                checkpoint_path(),
                {run_.files, run_.overrides, run_.plan.scene, memory_.warm, run_.progress, observers},
                DRYSTONE_VERSION);
        }
        last_checkpoint_ = run_.plan.scene.time;
        since_checkpoint_ = Timer();
    }

    /// After a signal: as if nothing had happened, once resumed.
    int leave() {
        if (observers_) save_checkpoint();
        log_.end();
        const std::string where =
            fmt::format("stopped at time {:.6g} s, step {}", run_.plan.scene.time, summary().steps);
        if (observers_) {
            complain(fmt::format("{}; go on with\n  drystone resume {}", where, shell_word(options_.output)));
        } else {
            complain(where + "; nothing is kept without --output DIR");
        }
        return exit_stopped;
    }

    int finish() {
        if (observers_) {
            // Taken before the last line and frame are written: a run that is made longer later is as if it had never
            // ended here.
            const State before = observers_->state();
            if (summary().steps > first_step_ || !run_.observers)
                observers_->finish(run_.plan.scene, memory_);
            save_checkpoint(before);
        }
        log_.end();
        fall_ = energy_of_a_fall();
        if (options_.json) {
            say(json());
        } else {
            for (const std::string& line : summary_lines()) log_.summary(line);
        }
        if (part_ && options_.ranks_report)
            for (const std::string& line : report_on_ranks(*part_, summary())) log_.summary(line);
        return options_.strict && summary().unsolved > 0 ? exit_unsolved : exit_solved;
    }

    /// What gravity gives to all free bodies in a step in which nothing holds them, J. Collective.
    [[nodiscard]] double energy_of_a_fall() const {
        const Scene<d>& scene = run_.plan.scene;
        const bool all = !part_ || part_->own.size() != scene.bodies.id.size();
        ExactSum mass;
        for (Index i = 0; i < scene.bodies.count(); ++i)
            if (scene.bodies.is_free(i) && (all || part_->own[i] != 0)) mass.add(scene.bodies.mass[i]);
        if (part_) options_.ranks->sum({&mass, 1});
        const double speed = scene.gravity.norm() * run_.plan.options.step.h;
        return 0.5 * mass.value() * speed * speed;
    }

    [[nodiscard]] std::string balance_text() const {
        const Scene<d>& scene = run_.plan.scene;
        if (scene.cell.any() || scene.domain.changes()) return "no balance, since the cell does work";
        return fmt::format("balance error {:.1e}", balance().error(summary(), fall_));
    }

    [[nodiscard]] std::vector<std::string> summary_lines() const {
        const RunSummary& sum = summary();
        const StepSeconds& seconds = sum.seconds;
        const std::string infeasible =
            sum.infeasible > 0 ? fmt::format(", {} of them infeasible", sum.infeasible) : "";
        const std::string frozen = sum.frozen > 0
                                       ? fmt::format(", {} with a frozen shift (worst error {:.2g})",
                                                     sum.frozen, sum.worst_shift_error)
                                       : "";
        std::string stop = reason_text(run_.progress.stopped);
        if (!stop.empty()) stop = "; " + stop;
        std::vector<std::string> lines = {
            fmt::format("{}: {} steps to {:.6g} s, {} not solved{}{}{}", run_.plan.title, sum.steps,
                        run_.plan.scene.time, sum.unsolved, infeasible, frozen, stop),
            fmt::format("worst residual {:.1e} (a contact wrong by {:.1e} m/s), worst overlap {:.2e} m "
                        "({:.1e} radii), {} iterations",
                        sum.worst_residual, sum.worst_velocity, sum.worst_overlap, sum.worst_relative_overlap,
                        sum.iterations),
            fmt::format(
                "energy {:.6g} J to {:.6g} J: contacts {:.6g} J (held bodies {:.6g} J of it), {}scheme "
                "{:.6g} J, {}{}",
                balance().begin.total(), balance().end.total(), sum.work.contacts, sum.work.held,
                sum.work.joints != 0 ? fmt::format("joints {:.6g} J, ", sum.work.joints) : "",
                sum.work.scheme,
                sum.fed_energy != 0 ? fmt::format("grains that came and went {:.6g} J, ", sum.fed_energy)
                                    : "",
                balance_text()),
            fmt::format(
                "seconds {}: free motion {}, detection {}, assembly {}, solving {}, {}integration {}, "
                "accounts {}, frames {}",
                seconds_text(seconds.total()), seconds_text(seconds.free), seconds_text(seconds.detect),
                seconds_text(seconds.assemble), seconds_text(seconds.solve),
                seconds.forces > 0 ? fmt::format("elastic limit {}, ", seconds_text(seconds.forces)) : "",
                seconds_text(seconds.integrate), seconds_text(seconds.account),
                seconds_text(observers_ ? observers_->frame_seconds() : 0.0))};
        for (std::string& line : meanings()) lines.push_back(std::move(line));
        if (forces_missed() > 0)
            lines.push_back(
                fmt::format("the forces of the elastic limit were not found {} times; those of the solver "
                            "stand in their place",
                            forces_missed()));
        if (part_ && options_.split_between_ranks)
            lines.push_back(
                "mass was split between ranks: on another number of them the result differs, within the "
                "tolerance");
        if (observers_)
            lines.push_back(fmt::format("{} frames, measurements and checkpoint.h5 in {}",
                                        observers_->frames(), options_.output));
        return lines;
    }

    /// What steps that were not solved as asked mean, and the one thing to change.
    [[nodiscard]] std::vector<std::string> meanings() const {
        const RunSummary& sum = summary();
        const bool strict_law = run_.plan.options.step.solve.law == Law::coulomb && !may_freeze();
        std::vector<std::string> lines;
        if (sum.infeasible > 0)
            lines.emplace_back(
                "infeasible: bodies are crushed between others that do not yield, or start inside each "
                "other. These steps went on with the impulses of the one before. Give the bodies room: "
                "drystone check tells of overlaps at the start");
        const Bodies<d>& bodies = run_.plan.scene.bodies;
        const auto driven = [&](Index j) { return !bodies.is_free(j) && !bodies.velocity[j].isZero(0); };
        bool squeezed = sum.infeasible > 0;  // it may be that no step solves it
        for (Index j = 0; j < bodies.count() && !squeezed; ++j) squeezed = driven(j);
        if (sum.unsolved > sum.infeasible)
            lines.push_back(
                std::string("not solved: these steps went on with the best motion that was found. ") +
                (squeezed
                     ? "Where held or driven bodies squeeze what cannot yield, only room helps. Else, to "
                       "have them solved, "
                     : "To have them solved ") +
                (strict_law
                     ? "allow a frozen shift ([solver] name = \"auto\", law = \"coulomb\", and "
                       "\"frozen-shift\" among the stages, if these are named)"
                     : "shorten [time] step; if the error above is small to you, raise [solver] tolerance"));
        if (sum.frozen > 0)
            lines.push_back(fmt::format(
                "frozen shift: in these steps friction took how fast contacts slide from the "
                "step before, which let bodies approach by at most {:.1e} m too much in a step. "
                "A shorter [time] step makes it less; [solver] law = \"coulomb-strict\" forbids it",
                sum.worst_closing));
        if (sum.jumps > 0)
            lines.push_back(fmt::format(
                "overlaps grew by up to {:.2g} radii in a step, more than a solution should allow, after {} "
                "steps: bodies move or turn too far in one, or are pushed harder than the tolerance can "
                "hold. Shorten [time] step, or let it adapt ([time] displacement); or lower [solver] "
                "tolerance",
                sum.worst_jump, sum.jumps));
        return lines;
    }

    [[nodiscard]] bool may_freeze() const {
        const auto* brief = std::get_if<BriefOptions>(&run_.plan.options.step.solve.solver);
        return brief != nullptr && brief->guarded();
    }

    [[nodiscard]] std::int64_t forces_missed() const {
        return summary().forces_missed + (observers_ ? observers_->forces_missed() : 0);
    }

    [[nodiscard]] std::string json() const {
        const RunSummary& sum = summary();
        const StepSeconds& seconds = sum.seconds;
        const nlohmann::ordered_json object = {
            {"scene", run_.files.scene.string()},
            {"title", run_.plan.title},
            {"bodies", bodies()},
            {"time", run_.plan.scene.time},
            {"steps", sum.steps},
            {"unsolved", sum.unsolved},
            {"infeasible", sum.infeasible},
            {"frozen_shift", sum.frozen},
            {"worst_shift_error", sum.worst_shift_error},
            {"worst_closing", sum.worst_closing},
            {"worst_velocity_error", sum.worst_velocity},
            {"overlap_jumps", sum.jumps},
            {"worst_overlap_jump", sum.worst_jump},
            {"forces_missed", forces_missed()},
            {"stopped", reason_text(run_.progress.stopped)},
            {"worst_residual", sum.worst_residual},
            {"worst_overlap", sum.worst_overlap},
            {"worst_relative_overlap", sum.worst_relative_overlap},
            {"iterations", sum.iterations},
            {"energy_begin", balance().begin.total()},
            {"energy_end", balance().end.total()},
            {"kinetic_end", balance().end.kinetic},
            {"work_contacts", sum.work.contacts},
            {"work_held", sum.work.held},
            {"work_joints", sum.work.joints},
            {"work_scheme", sum.work.scheme},
            {"fed_energy", sum.fed_energy},
            {"balance_error", balance().error(sum, fall_)},
            {"frames", observers_ ? observers_->frames() : 0},
            {"threads", options_.threads},
            {"ranks", shared_.alone() ? 1 : options_.ranks->count()},
            {"seconds", seconds.total()},
            {"seconds_free", seconds.free},
            {"seconds_detect", seconds.detect},
            {"seconds_assemble", seconds.assemble},
            {"seconds_solve", seconds.solve},
            {"seconds_forces", seconds.forces},
            {"seconds_integrate", seconds.integrate},
            {"seconds_account", seconds.account},
            {"seconds_frames", observers_ ? observers_->frame_seconds() : 0.0},
        };
        return json_text(object);
    }

    const SittingOptions& options_;
    Start<d> run_;
    StepMemory<d> memory_;
    std::optional<Part<d>> part_;  // where several ranks share the run
    Shared<d> shared_;
    std::optional<Observers<d>> observers_;
    RunLog log_;
    Beat checkpoints_;
    bool timed_checkpoints_;
    std::optional<double> last_checkpoint_;  // time of the scene in it
    Timer wall_, since_checkpoint_;
    double fall_ = 0;  // energy_of_a_fall(), at the end
    std::int64_t first_step_ = 0;
    double first_time_ = 0;
    bool stopped_ = false;
};

}  // namespace

template <int d>
void apply(const RunOverrides& overrides, RunPlan<d>& plan) {
    RunOptions& run = plan.options;
    if (overrides.tolerance) run.step.solve.goal.tolerance = *overrides.tolerance;
    if (overrides.until) run.end = *overrides.until;
    if (const double steps = run.end / run.step.h; steps > most_steps_of_a_run)
        fail("--until", fmt::format("{:g} s make {:.3g} steps of {:g} s", run.end, steps, run.step.h),
             fmt::format("give an earlier time; {:g} steps are the most", most_steps_of_a_run));
}

template <int d>
bool at_end(const Start<d>& start) {
    const RunOptions& run = start.plan.options;
    return run.reached_end(start.plan.scene.time) || start.progress.stopped != StopReason::none ||
           (start.overrides.steps && start.progress.summary.steps >= *start.overrides.steps);
}

namespace {

/// A log that took the place of a file of the run would spoil it, and the scene would be gone.
template <int d>
void check_log(const SittingOptions& options, const Start<d>& start) {
    if (options.log.empty()) return;
    std::error_code error;
    const fs::path log = fs::weakly_canonical(options.log, error);
    bool taken = log == fs::weakly_canonical(start.files.scene, error);
    for (const auto& [name, content] : start.files.others)
        taken = taken || log == fs::weakly_canonical(start.files.path_of(name), error);
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
int run_sitting(const SittingOptions& options, Start<d> start) {
    check_log(options, start);
    Sitting<d> sitting(options, std::move(start));
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

template void apply(const RunOverrides&, RunPlan<2>&);
template void apply(const RunOverrides&, RunPlan<3>&);
template bool at_end(const Start<2>&);
template bool at_end(const Start<3>&);
template int run_sitting(const SittingOptions&, Start<2>);
template int run_sitting(const SittingOptions&, Start<3>);

}  // namespace drystone::command
