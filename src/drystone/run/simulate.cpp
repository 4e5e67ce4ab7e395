#include "drystone/run/simulate.hpp"

#include "drystone/grains/motion.hpp"
#include "drystone/run/run_loop.hpp"

#include <algorithm>

namespace drystone {

namespace {

/// Overlaps grow a little where bodies turn, because contacts are linear in the step; more than this many radii are told.
constexpr double least_jump = 0.01;

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
              RunProgress& progress, const Observer<d>& observe) {
    run_loop(
        scene, options, feeds, memory, progress, observe,
        [&](double h) { return choose_step(scene, h, options.step.displacement); },
        [&](double h) {
            const FeedChange change = feed(scene, feeds, h, progress.feed);
            progress.summary.fed_energy += change.energy;
            // What the step remembers of neighbours is of the old grains then.
            if (change.any()) memory.neighbours.valid = false;
        },
        [&](const StepOptions& stepping) { return step(scene, stepping, memory); },
        [&] { return energy_of(scene); });
}

template void simulate(Scene<2>&, const RunOptions&, const Feeds<2>&, StepMemory<2>&, RunProgress&,
                       const Observer<2>&);
template void simulate(Scene<3>&, const RunOptions&, const Feeds<3>&, StepMemory<3>&, RunProgress&,
                       const Observer<3>&);

}  // namespace drystone
