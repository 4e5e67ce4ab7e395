#include "drystone/run/plan.hpp"

#include "drystone/base/error.hpp"

#include <fmt/format.h>

namespace drystone {

void apply(const RunOverrides& overrides, RunOptions& options) {
    if (overrides.tolerance) options.step.solve.goal.tolerance = *overrides.tolerance;
    if (overrides.until) options.end = *overrides.until;
    options.most_steps = overrides.steps;
    if (const double steps = options.end / options.step.h; steps > most_steps_of_a_run)
        fail("until", fmt::format("{:g} s make {:.3g} steps of {:g} s", options.end, steps, options.step.h),
             fmt::format("give an earlier time; {:g} steps are the most", most_steps_of_a_run));
}

}  // namespace drystone
