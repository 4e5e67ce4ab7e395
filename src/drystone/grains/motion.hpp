// How free bodies move within a step: velocities without contacts, then positions (docs/theory.md, section 10).
#pragma once

#include "drystone/bodies/scene.hpp"

namespace drystone {

/// Begins a step of length h: velocities of the bodies that are driven, and gravity, as they are in the middle of it.
template <int d>
void drive(Scene<d>& scene, double h);

/// Largest step, at most `longest` s, in which no free body moves by more than `displacement` of its own inner radius
/// at its present velocity plus gravity's. displacement = 0: `longest`.
template <int d>
double choose_step(const Scene<d>& scene, double longest, double displacement);

/// Velocities at the end of the step without contacts, body by body (velocity, spin); held bodies keep theirs.
///
/// Gravity acts in full. Spins are those at the moment when impulses act, after (1 - theta) h of free turning: what is
/// conserved until then is the angular momentum.
template <int d>
void free_velocities(const Scene<d>& scene, double h, double theta, int threads, Vector& v_free);

/// Moves all bodies as they go at present by h: the half step at which moreau_jean looks for contacts.
template <int d>
void drift(Scene<d>& scene, double h, int threads);

/// Ends the step: bodies move by h (theta v + (1 - theta) v_begin); they turn freely for (1 - theta) h, take on the
/// angular momentum of the spin in `v`, and turn freely for theta h (bodies/free_rotation.hpp), so that momentum and
/// energy change by what impulses do and by nothing else. `v` is body by body; a controlled cell is the last of them.
/// Held bodies move with their velocity. The periodic domain changes at its rates, and positions are wrapped into it.
template <int d>
void integrate(Scene<d>& scene, double h, double theta, const Vector& v, int threads);

}  // namespace drystone
