// One time step on several ranks. Read step.cpp: it is grains/step.cpp with what is shared made visible.
#pragma once

#include "drystone/distributed/part.hpp"
#include "drystone/run/simulate.hpp"

namespace drystone {

/// Throws Error on what does not run on several ranks yet (the message names it).
template <int d>
void check_for_ranks(const Scene<d>& scene, const StepOptions& options);

/// Advances the part of a scene that this rank has. The record is the same on all ranks but for the seconds. Collective.
template <int d>
StepRecord step(Scene<d>& scene, const StepOptions& options, StepMemory<d>& memory, Part<d>& part);

/// Steps until the end, as simulate() of one rank does. `scene`: all of it on each rank (part not cut yet), or the part that `part` tells of.
template <int d>
void simulate(Scene<d>& scene, const RunOptions& options, const Feeds<d>& feeds, StepMemory<d>& memory,
              RunProgress& progress, Part<d>& part, const Observer<d>& observe = {});

}  // namespace drystone
