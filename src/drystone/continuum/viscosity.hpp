// What viscosity does to the motion of a step before the law of sand is asked for.
#pragma once

#include "drystone/continuum/memory.hpp"

namespace drystone {

/// Changes the velocities without stresses, m.state.velocity, to those that the viscous stress of the step's end
/// leaves (eq. 40), by conjugate gradients. Throws Error where these do not come to an end.
template <int d>
void damp(const Sand<d>& sand, double h, int threads, SandMemory<d>& m);

}  // namespace drystone
