// The guarded convex law: what a step solves where the exact law resists.
//
// Sweeps over the exact law may creep or cycle where grains flow slowly (docs/theory.md, section 9). With the shift
// frozen (eq. 9) the problem is convex: it has a solution wherever nothing is crushed, and sweeps find it. Frozen at
// the shift of the velocities before the step it would be the exact law a step late; at an impact, where sliding starts
// or stops within the step, that error is a kick. So it is the smaller of that and the shift at the best iterate of the
// exact law: never more than either says, and a contact that is about to stick, or that was at rest, gets no gap to
// close that is not there. Cohesive contacts take that of the iterate: opening is what they must not.
#pragma once

#include "drystone/cone/delassus.hpp"
#include "drystone/solve/report.hpp"

namespace drystone {

/// One number per block, from an iterate of the exact law; `shift_before` of the problem bounds it where it is known
/// and no pull is borne.
Vector guarded_shift(const Delassus& W, const Vector& r);

/// True if the solution r of the law with that frozen shift opens a cohesive contact, which then would bear its pull no
/// longer, by more than the worst contact may be wrong. Contacts that slide open by what the frozen shift falls short
/// of their own.
bool opens_bonds(const Delassus& W, const Vector& frozen, const Vector& r, double tolerance);

/// How far a solution with a frozen shift is from the exact law, by which its residual is `residual`.
SolveReport::ShiftError shift_error(const Delassus& W, const ConeSolution& solution, double residual);

}  // namespace drystone
