#include "drystone/run/simulate.hpp"

#include "drystone/base/error.hpp"
#include "drystone/continuum/fill.hpp"
#include "drystone/grains/motion.hpp"
#include "drystone/world/share.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace drystone {

namespace {

/// Overlaps grow a little where bodies turn, because contacts are linear in the step; more than this many radii are
/// told.
constexpr double least_jump = 0.01;

/// Throws Error after a step from which no run can go on: with bodies that are nowhere, or one so short that time
/// stands still.
void check_step(const StepRecord& record, const RunOptions& options, double begin, std::int64_t number) {
    const double end = options.end;
    // Of steps that adapt, one that is lost in the rounding of the end is one of more than there are.
    const bool reaches = record.h >= options.step.h || record.time >= end || end + record.h > end;
    const bool goes_on = record.time > begin && reaches;
    if (record.runaway < 0 && goes_on) return;
    const std::string step = fmt::format("step {}, to time {:.6g} s", number, record.time);
    if (record.runaway >= 0)
        fail(step,
             fmt::format("the place, velocity or spin of body {} is not a number below {:g} any more",
                         record.runaway, most_number),
             "take shorter steps, or look for a wrong velocity, mass or stiffness");
    fail(step, fmt::format("it has a length of {:.3g} s, with which {:g} s are never reached", record.h, end),
         "allow a larger time.displacement, or look for a body that is far too fast");
}

/// Grains come and go before a step of length h. On several ranks, sinks take away what they hold on each; sources need
/// to know what is near them: all ranks borrow that, and put in the same grains.
template <int d>
void feed_before(Scene<d>& scene, const Feeds<d>& feeds, double h, StepMemory<d>& memory,
                 RunProgress& progress, Share<d>* share, SandPart<d> sand) {
    FeedChange change;
    std::vector<std::uint8_t> gone, counted;
    std::vector<ExactSum> sums;
    if (share) counted = share->counted_bodies(scene);
    find_drained<d>(scene, feeds, counted, gone, sums);
    if (share) {
        share->sum(sums);
        share->forget(gone);
    }
    drain(scene, gone, sums, progress.feed, change);
    for (std::size_t s = 0; s < feeds.sinks.size() && sand; ++s) {
        const TakenAway went = take_away(feeds.sinks[s].region, scene.gravity, *sand.sand);
        progress.feed.drained_mass[s] += went.mass;
        change.energy -= went.energy;
    }
    if (share && pours(scene, feeds, h, progress.feed)) {
        for (const Source<d>& source : feeds.sources) {
            const double radius = largest_radius(scene, source.recipe);
            share->borrow_near(scene, bounds_of<d>(source.region).widened(2 * radius));
        }
    }
    pour(scene, feeds, h, progress.feed, change);
    if (share) share->welcome(scene);
    progress.summary.fed_energy += change.energy;
    // What the step remembers of neighbours is of the old grains then.
    if (change.any()) memory.neighbours.valid = false;
}

}  // namespace

void RunSummary::add(const StepRecord& record) {
    const double jump = record.relative_overlap - last_overlap - last_allowance;
    if (steps > 0 && jump > least_jump) {
        ++jumps;
        worst_jump = std::max(worst_jump, jump);
    }
    last_overlap = record.relative_overlap;
    last_allowance = record.overlap_allowance;
    ++steps;
    if (!is_met(record.solve.status)) ++unsolved;
    if (record.solve.status == Status::frozen_shift) {
        ++frozen;
        worst_shift_error = std::max(worst_shift_error, record.solve.shift_error.residual);
        worst_closing = std::max(worst_closing, record.h * record.solve.shift_error.closing);
    }
    if (record.solve.status == Status::infeasible) ++infeasible;
    if (record.forces && record.forces->status != Status::solved) ++forces_missed;
    worst_residual = std::max(worst_residual, record.solve.residual.value);
    worst_velocity = std::max(worst_velocity, record.solve.residual.law.velocity);
    worst_overlap = std::max(worst_overlap, record.overlap);
    worst_relative_overlap = std::max(worst_relative_overlap, record.relative_overlap);
    iterations += record.solve.iterations;
    work.contacts += record.work.contacts;
    work.joints += record.work.joints;
    work.held += record.work.held;
    work.scheme += record.work.scheme;
    work.stress += record.work.stress;
    work.transfer += record.work.transfer;
    seconds.free += record.seconds.free;
    seconds.detect += record.seconds.detect;
    seconds.assemble += record.seconds.assemble;
    seconds.solve += record.seconds.solve;
    seconds.forces += record.seconds.forces;
    seconds.integrate += record.seconds.integrate;
    seconds.account += record.seconds.account;
}

State state_of(const RunProgress& progress) {
    State state = state_of(progress.summary);
    state.put("balance", state_of(progress.balance));
    state.put("feed", state_of(progress.feed));
    state.put("stop", state_of(progress.stop));
    state.numbers["stopped"] = std::vector{static_cast<std::int64_t>(progress.stopped)};
    return state;
}

void recall(const State& state, RunProgress& progress) {
    RunSummary& s = progress.summary;
    recall(state, s);
    recall(state.part("balance"), progress.balance);
    recall(state.part("feed"), progress.feed);
    recall(state.part("stop"), progress.stop);
    detail::Recall{state}("stopped", progress.stopped, static_cast<std::int64_t>(StopReason::steady));
    if (s.infeasible > s.unsolved || s.unsolved > s.steps || s.forces_missed > s.steps ||
        s.frozen > s.steps || s.jumps > s.steps)
        state.refuse("steps", "is less than the number of steps of one kind");
}

template <int d>
void simulate(Scene<d>& scene, const RunOptions& options, const Feeds<d>& feeds, StepMemory<d>& memory,
              RunProgress& progress, const Observer<d>& observe, Share<d>* share, SandPart<d> sand) {
    const bool adapts = options.step.displacement > 0;
    if (share && sand)
        fail("sand", "it does not run on several ranks yet", "run on one, with as many threads as you like");
    const bool stops = options.stop.kinetic_below || options.stop.window;
    StepOptions stepping = options.step;
    stepping.account = stepping.account || stops;  // the rule looks at energies
    if (share) share->begin(scene, stepping);
    progress.stopped = StopReason::none;
    if (!progress.balance.begun) progress.balance.start(energy_now(scene, share, sand.sand));
    while (!progress.at_end(options, scene.time)) {
        const double begin = scene.time;
        if (!feeds.empty()) {
            if (adapts) stepping.h = choose_step(scene, options.step.h, stepping.displacement);
            if (adapts && share) stepping.h = share->least(stepping.h);
            feed_before(scene, feeds, stepping.h, memory, progress, share, sand);
        }
        const StepRecord record = step(scene, stepping, memory, share, sand);
        check_step(record, options, begin, progress.summary.steps + 1);
        // Grains that came fast may have made the step shorter than it was when they came.
        if (!feeds.empty() && record.h < stepping.h)
            take_back(feeds, begin + record.h, begin + stepping.h, progress.feed);
        progress.summary.add(record);
        progress.balance.add(record);
        if (stops)
            progress.stopped =
                should_stop(options.stop, record.time, record.h, record.energy.kinetic, progress.stop);
        if (observe && !observe(scene, memory, record)) break;
        if (progress.stopped != StopReason::none) break;
    }
}

template void simulate(Scene<2>&, const RunOptions&, const Feeds<2>&, StepMemory<2>&, RunProgress&,
                       const Observer<2>&, Share<2>*, SandPart<2>);
template void simulate(Scene<3>&, const RunOptions&, const Feeds<3>&, StepMemory<3>&, RunProgress&,
                       const Observer<3>&, Share<3>*, SandPart<3>);

}  // namespace drystone
