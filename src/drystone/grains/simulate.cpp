#include "drystone/grains/simulate.hpp"

#include "drystone/grains/motion.hpp"

#include <algorithm>

namespace drystone {

void RunSummary::add(const StepRecord& record) {
    ++steps;
    if (record.solve.status != Status::solved) ++unsolved;
    if (record.solve.status == Status::infeasible) ++infeasible;
    if (record.forces && record.forces->status != Status::solved) ++forces_missed;
    worst_residual = std::max(worst_residual, record.solve.residual.value);
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

namespace {

/// Grains come and go; what the step remembers of neighbours is of the old ones then.
template <int d>
void feed_before(Scene<d>& scene, const Feeds<d>& feeds, double h, StepMemory<d>& memory,
                 RunProgress& progress) {
    const FeedChange change = feed(scene, feeds, h, progress.feed);
    progress.summary.fed_energy += change.energy;
    if (change.any()) memory.neighbours.valid = false;
}

template <int d>
StopReason reason_to_stop(const Scene<d>& scene, const RunOptions& options, const StepRecord& record,
                          StopState& state) {
    if (!options.stop.kinetic_below && !options.stop.window) return StopReason::none;
    const double kinetic = options.step.account ? record.energy.kinetic : energy_of(scene).kinetic;
    return should_stop(options.stop, record.time, record.h, kinetic, state);
}

}  // namespace

template <int d>
void simulate(Scene<d>& scene, const RunOptions& options, const Feeds<d>& feeds, StepMemory<d>& memory,
              RunProgress& progress, const Observer<d>& observe) {
    const bool adapts = options.step.displacement > 0;
    StepOptions stepping = options.step;
    progress.stopped = StopReason::none;
    while (options.end - scene.time > 1e-6 * options.step.h) {
        const double begin = scene.time;
        if (adapts) stepping.h = std::min(options.step.h, options.end - begin);
        if (!feeds.empty()) {
            if (adapts) stepping.h = choose_step(scene, stepping.h, options.step.displacement);
            feed_before(scene, feeds, stepping.h, memory, progress);
        }
        const StepRecord record = step(scene, stepping, memory);
        // Grains that came fast may have made the step shorter than it was when they came.
        if (!feeds.empty() && record.h < stepping.h)
            take_back(feeds, begin + record.h, begin + stepping.h, progress.feed);
        progress.summary.add(record);
        progress.stopped = reason_to_stop(scene, options, record, progress.stop);
        if (observe && !observe(scene, memory, record)) break;
        if (progress.stopped != StopReason::none) break;
    }
}

template void simulate(Scene<2>&, const RunOptions&, const Feeds<2>&, StepMemory<2>&, RunProgress&,
                       const Observer<2>&);
template void simulate(Scene<3>&, const RunOptions&, const Feeds<3>&, StepMemory<3>&, RunProgress&,
                       const Observer<3>&);

}  // namespace drystone
