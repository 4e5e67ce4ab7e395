// How sand moves in a step but for its stresses: how long the step may be, velocities without stresses, and what comes
// after.
#pragma once

#include "drystone/base/exact_sum.hpp"
#include "drystone/bodies/scene.hpp"
#include "drystone/continuum/memory.hpp"

namespace drystone {

/// The longest step, at most `longest` s, in which no particle moves by more than SandOptions::courant of a cell at its
/// present velocity plus gravity's.
template <int d>
double longest_step(const Scene<d>& scene, const Sand<d>& sand, double longest);

/// Particles to grid; the bodies among the nodes; where stresses are, their friction and their rows; and velocities of
/// the nodes without stresses.
template <int d>
void free_motion(const Scene<d>& scene, const Sand<d>& sand, double h, int threads, SandMemory<d>& m);

/// Ends the step: `v` of the problem's nodes, from `first` on, to the particles, which move.
template <int d>
void integrate(double h, const Vector& v, Index first, int threads, SandMemory<d>& m, Sand<d>& sand);

/// Exact sums: the same in any order.
template <int d>
void account(const Scene<d>& scene, const Sand<d>& sand, ExactSum& kinetic, ExactSum& potential);

}  // namespace drystone
