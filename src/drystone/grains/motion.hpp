// How free bodies move within a step: velocities without contacts, then positions (docs/theory.md, section 10).
#pragma once

#include "drystone/bodies/scene.hpp"

namespace drystone {

/// Begins a step of length h: velocities of the bodies that are driven, and gravity, as they are in the middle of it.
template <int d>
void drive(Scene<d>& scene, double h);

/// Largest step, at most `longest` s, in which no free body moves by more than `displacement` of its own inner radius at its present
/// velocity plus gravity's. displacement = 0: `longest`.
template <int d>
double choose_step(const Scene<d>& scene, double longest, double displacement);

/// Velocities at the end of the step without contacts, body by body (velocity, spin); held bodies keep theirs.
///
/// Gravity acts in full. For the spin, angular momentum is what is conserved: the answer is the spin in the middle of a torque-free
/// step, I(q_half)^-1 L with q_half predicted by the present spin, so that free rotation is followed to second order.
template <int d>
void free_velocities(const Scene<d>& scene, double h, int threads, Vector& v_free);

/// Moves all bodies as they go at present by h: the half step at which moreau_jean looks for contacts.
template <int d>
void drift(Scene<d>& scene, double h, int threads);

/// Ends the step: bodies move by h (theta v + (1 - theta) v_begin) and turn likewise (exponential map); spins are renewed so that the
/// angular momentum is that before plus the impulses' torque, whatever the inertia tensor has turned into. `v` and `v_free` are body by
/// body; a controlled cell is the last of them. Held bodies move with their velocity. The periodic domain changes at its rates, and positions
/// are wrapped into it.
template <int d>
void integrate(Scene<d>& scene, double h, double theta, const Vector& v_free, const Vector& v, int threads);

}  // namespace drystone
