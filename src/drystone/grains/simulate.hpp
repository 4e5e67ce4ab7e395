// Steps until the end, with somebody looking on.
#pragma once

#include "drystone/grains/step.hpp"

#include <functional>

namespace drystone {

struct RunOptions {
    StepOptions step;
    double end = 1;  ///< time at which to stop, s
};

/// What a run did: sums and worst values over its steps.
struct RunSummary {
    std::int64_t steps = 0;
    std::int64_t unsolved = 0;  ///< steps whose solve missed its tolerance
    double worst_residual = 0;  ///< of the referee
    double worst_overlap = 0, worst_relative_overlap = 0;
    std::int64_t iterations = 0;  ///< of the solver, all steps
    StepWork work;
    StepSeconds seconds;

    void add(const StepRecord& record);
};

/// Called after each step; false ends the run.
template <int d>
using Observer = std::function<bool(const Scene<d>&, const StepMemory<d>&, const StepRecord&)>;

/// Steps until `end`. A fixed step is never cut short: the run ends with the step that reaches `end` to rounding; an adapted one is.
template <int d>
RunSummary simulate(Scene<d>& scene, const RunOptions& options, StepMemory<d>& memory,
                    const Observer<d>& observe = {});

}  // namespace drystone
