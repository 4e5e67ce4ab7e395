// Steps until the end: what simulate() is on one rank and on several.
#pragma once

#include "drystone/base/error.hpp"
#include "drystone/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace drystone {

/// Throws Error after a step from which no run can go on: with bodies that are nowhere, or one so short that time stands still.
inline void check_step(const StepRecord& record, const RunOptions& options, double begin,
                       std::int64_t number) {
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

/// `choose(h)`: the length of the next step, at most h, where steps adapt. `feed(h)`: grains come and go before a step of that length.
/// `step(options)`: makes one. `energy()`: of all bodies, now.
template <int d, class Choose, class Feed, class Step, class EnergyNow>
void run_loop(const Scene<d>& scene, const RunOptions& options, const Feeds<d>& feeds,
              const StepMemory<d>& memory, RunProgress& progress, const Observer<d>& observe, Choose&& choose,
              Feed&& feed, Step&& step, EnergyNow&& energy) {
    const bool adapts = options.step.displacement > 0;
    const bool stops = options.stop.kinetic_below || options.stop.window;
    StepOptions stepping = options.step;
    stepping.account = stepping.account || stops;  // the rule looks at energies
    progress.stopped = StopReason::none;
    if (!progress.balance.begun) progress.balance.start(energy());
    while (!options.reached_end(scene.time)) {
        const double begin = scene.time;
        if (adapts) stepping.h = std::min(options.step.h, options.end - begin);
        if (!feeds.empty()) {
            if (adapts) stepping.h = choose(stepping.h);
            feed(stepping.h);
        }
        const StepRecord record = step(stepping);
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

}  // namespace drystone
