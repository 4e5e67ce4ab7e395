// A scene in rows, between ranks (world/slices.hpp).
//
// While a run goes on, a rank has bodies from anywhere in the order of ids. Part::slice sends each body to the rank
// that has its range of ids, each contact and each remembered impulse to the rank of its first body. `join` is the way
// back.
#pragma once

#include "drystone/distributed/part.hpp"

namespace drystone {

/// What was read in rows becomes what this rank owns, with the warm start where its bodies are. Afterwards the first
/// step makes parts. Collective.
template <int d>
void join(Scene<d>& scene, Part<d>& part, WarmStart<d>& warm);

}  // namespace drystone
