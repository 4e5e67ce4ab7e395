// Steps until the end, with somebody looking on.
#pragma once

#include "drystone/grains/feed.hpp"
#include "drystone/run/balance.hpp"
#include "drystone/run/state.hpp"
#include "drystone/run/stop.hpp"
#include "drystone/world/step.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace drystone {

/// A run of more is a mistake: at a microsecond each it would take 30 years.
inline constexpr double most_steps_of_a_run = 1e15;

struct RunOptions {
    StepOptions step;
    double end = 1;                               ///< time at which to stop, s
    std::optional<std::int64_t> most_steps = {};  ///< of the whole run, from its beginning
    StopRule stop = {};                           ///< and before it

    double phase_end = infinity;  ///< a part of the run ends here, and another follows, s

    /// A sum of steps misses a time by rounding.
    [[nodiscard]] bool reached(double what, double time) const {
        return what - time <= 1e-6 * std::min(step.h, what);
    }
    /// True if no step is left to do.
    [[nodiscard]] bool reached_end(double time, std::int64_t steps) const {
        return reached(end, time) || (most_steps && steps >= *most_steps);
    }
};

/// What a run did: sums and worst values over its steps.
struct RunSummary {
    std::int64_t steps = 0;
    std::int64_t unsolved = 0;       ///< steps whose solve missed its tolerance
    std::int64_t infeasible = 0;     ///< those of them in which no motion satisfied all contacts
    std::int64_t frozen = 0;         ///< steps that were solved with a frozen shift: not by the exact law
    double worst_shift_error = 0;    ///< the largest residual of these by the exact law
    double worst_closing = 0;        ///< m: the largest overlap that a frozen shift allowed in a step
    std::int64_t forces_missed = 0;  ///< steps in which the elastic limit was asked for and not found
    double worst_residual = 0;       ///< of the referee
    double worst_velocity = 0;       ///< m/s: by which the worst contact of any step was wrong
    /// steps after which overlaps had grown by more than their solution allows (see add)
    std::int64_t jumps = 0;
    double worst_jump = 0;      ///< the largest such growth, radii
    double last_overlap = 0;    ///< radii: largest one found in the last step
    double last_allowance = 0;  ///< radii: by which it may grow until the next
    double worst_overlap = 0, worst_relative_overlap = 0;
    std::int64_t iterations = 0;  ///< of the solver, all steps
    StepWork work;
    /// J: of grains that came, minus that of grains that went, and what changes between phases gave
    double fed_energy = 0;
    StepSeconds seconds;  ///< of the computer: the one part that differs from run to run

    void add(const StepRecord& record);
};

/// All but the seconds of the computer.
template <class Self, class F>
requires std::same_as<std::remove_const_t<Self>, RunSummary>
void each_number(Self& s, F&& f) {
    f("steps", s.steps);
    f("unsolved", s.unsolved);
    f("infeasible", s.infeasible);
    f("frozen", s.frozen);
    f("worst_shift_error", s.worst_shift_error);
    f("worst_closing", s.worst_closing);
    f("forces_missed", s.forces_missed);
    f("worst_residual", s.worst_residual);
    f("worst_velocity", s.worst_velocity);
    f("jumps", s.jumps);
    f("worst_jump", s.worst_jump);
    f("last_overlap", s.last_overlap);
    f("last_allowance", s.last_allowance);
    f("worst_overlap", s.worst_overlap);
    f("worst_relative_overlap", s.worst_relative_overlap);
    f("iterations", s.iterations);
    f("work/contacts", s.work.contacts);
    f("work/joints", s.work.joints);
    f("work/held", s.work.held);
    f("work/scheme", s.work.scheme);
    f("work/stress", s.work.stress);
    f("work/transfer", s.work.transfer);
    f("fed_energy", s.fed_energy);
}

/// What a run keeps from step to step beside the scene and the memory of the step: part of a checkpoint.
struct RunProgress {
    RunSummary summary;
    EnergyBalance balance;
    FeedState feed;
    StopState stop;
    StopReason stopped = StopReason::none;

    /// True if nothing is left to do.
    [[nodiscard]] bool at_end(const RunOptions& options, double time) const {
        return stopped != StopReason::none || options.reached(options.phase_end, time) ||
               options.reached_end(time, summary.steps);
    }
};
State state_of(const RunProgress& progress);
/// Throws Error, with the name of the number, where the state is none that a run could have had.
void recall(const State& state, RunProgress& progress);

/// Called after each step; false ends the run.
template <int d>
using Observer = std::function<bool(const Scene<d>&, const StepMemory<d>&, const StepRecord&)>;

/// Steps until `end`, `most_steps`, or until the stop rule holds. No step is cut short: the run ends with the
/// step that reaches `end` to rounding. Going on with the same scene, memory and progress is as if it had never ended.
/// `share`: on several ranks (world/share.hpp). `scene` is then all of it on each rank, where parts have not been made
/// yet, or the part of this rank.
template <int d>
void simulate(Scene<d>& scene, const RunOptions& options, const Feeds<d>& feeds, StepMemory<d>& memory,
              RunProgress& progress, const Observer<d>& observe = {}, Share<d>* share = nullptr,
              SandPart<d> sand = {});
template <int d>
void simulate(World<d>& world, const RunOptions& options, const Feeds<d>& feeds, WorldMemory<d>& memory,
              RunProgress& progress, const Observer<d>& observe = {}, Share<d>* share = nullptr) {
    simulate<d>(world.scene, options, feeds, memory, progress, observe, share, sand_of(world, memory));
}

/// The same from a fresh start, without feeds.
template <int d>
RunSummary simulate(Scene<d>& scene, const RunOptions& options, StepMemory<d>& memory,
                    const Observer<d>& observe = {}) {
    RunProgress progress;
    simulate(scene, options, Feeds<d>{}, memory, progress, observe);
    return progress.summary;
}

}  // namespace drystone
