#include "drystone/grains/simulate.hpp"

#include <algorithm>

namespace drystone {

void RunSummary::add(const StepRecord& record) {
    ++steps;
    if (record.solve.status != Status::solved) ++unsolved;
    worst_residual = std::max(worst_residual, record.solve.residual.value);
    worst_overlap = std::max(worst_overlap, record.overlap);
    worst_relative_overlap = std::max(worst_relative_overlap, record.relative_overlap);
    iterations += record.solve.iterations;
    work.contacts += record.work.contacts;
    work.held += record.work.held;
    work.scheme += record.work.scheme;
    seconds.free += record.seconds.free;
    seconds.detect += record.seconds.detect;
    seconds.assemble += record.seconds.assemble;
    seconds.solve += record.seconds.solve;
    seconds.integrate += record.seconds.integrate;
    seconds.account += record.seconds.account;
}

template <int d>
RunSummary simulate(Scene<d>& scene, const RunOptions& options, StepMemory<d>& memory,
                    const Observer<d>& observe) {
    RunSummary summary;
    const bool adapts = options.step.displacement > 0;
    StepOptions stepping = options.step;
    while (options.end - scene.time > 1e-6 * options.step.h) {
        if (adapts) stepping.h = std::min(options.step.h, options.end - scene.time);
        const StepRecord record = step(scene, stepping, memory);
        summary.add(record);
        if (observe && !observe(scene, memory, record)) break;
    }
    return summary;
}

template RunSummary simulate(Scene<2>&, const RunOptions&, StepMemory<2>&, const Observer<2>&);
template RunSummary simulate(Scene<3>&, const RunOptions&, StepMemory<3>&, const Observer<3>&);

}  // namespace drystone
