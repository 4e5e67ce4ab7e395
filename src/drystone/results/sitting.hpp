// One sitting of a run: from where it is to its end, or until it is told to stop.
#pragma once

#include "drystone/results/run_folder.hpp"

#include <functional>

namespace drystone {

/// Who looks on while a run goes.
struct Onlooker {
    std::function<void()> begun = {};  ///< the first checkpoint is written
    /// After each step; false ends the run there. The same answer on all ranks.
    std::function<bool(const StepRecord&)> after_step = {};
    /// Asked after each step: true stops the run, to be resumed. One rank that says so is enough.
    std::function<bool()> told_to_stop = {};
};

/// Runs. `folder`: where results go; nullptr: nowhere. False: it was told to stop, and a checkpoint is written as if
/// nothing had happened, once resumed. Throws Error where something cannot be written, or no step can follow.
template <int d>
bool sit(Run<d>& run, RunFolder<d>* folder, const Onlooker& onlooker, Share<d>* share = nullptr);

}  // namespace drystone
