// The limit of infinitely stiff springs, straight from the undeformed geometry: forces that are those of small
// displacements u of the bodies, with the springs of penalty.hpp and loads in proportion,
//
//     K_T(u) u = F,   f_N = k max(0, -n . w)^(1 or 3/2),   f_T = -k_T w_T cut at mu f_N,   w = relative displacement at
//     the contact.
//
// Without friction it is the minimum of potential energy, so by duality min sum ((p-1)/p) k^(1/(1-p)) f^(p/(p-1)) under
// balance and f >= 0, the compatible forces of Olsen and Kamrin (2018), eq. 36. Newton's method on a piecewise smooth
// system; no time, no mass.
#pragma once

#include "penalty.hpp"

namespace drystone::validation {

struct LimitOptions {
    double tolerance = 1e-13;  ///< largest unbalanced force of a body over the largest contact force
    int most_steps = 40;
};

/// The contacts of near_pairs with their forces; gaps and displacements are those of springs as given, and fall as the
/// forces stay when the springs stiffen. `at_rest` tells success, `steps` are Newton's.
///
/// Where many contacts slip, Newton's method from nothing may go round in circles. `near`, relaxed with springs `scale`
/// times as stiff, is then where to start; whether the result solves the equations does not depend on it.
PenaltyResult stiff_limit(const PenaltyScene& scene, const LimitOptions& options = {},
                          const PenaltyResult* near = nullptr, double scale = 1);

}  // namespace drystone::validation
