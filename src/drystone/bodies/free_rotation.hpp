// A body that turns without torque.
//
// Angular momentum L is fixed in space; in the body's principal axes it is l = R^T L, and R obeys dR/dt = R [l / I].
// The energy 1/2 sum l_k^2 / I_k is split into a symmetric top and a rest (a splitting after Touma & Wisdom 1994,
// Dullweber, Leimkuhler & McLachlan 1997): with 1 and 2 the two axes that are most alike and 3 the third,
//     A = |l|^2 / 2 I_1 + (1/I_3 - 1/I_1) l_3^2 / 2     turns about L in space, and about axis 3 in the body
//     B = (1/I_2 - 1/I_1) l_2^2 / 2                     turns about axis 2 in the body
// each exactly, with L as it was. Half of B, A, half of B is of second order, reversible, and exact for symmetric
// bodies; steps that turn far are divided. What is left of an error in the energy (bounded, of second order) is taken
// away by one small turn across l, so that momentum and energy are both right to rounding and the error is one of phase
// alone.
#pragma once

#include "drystone/bodies/scene.hpp"

namespace drystone {

/// True if the inertia tensor is the same in all axes (always in the plane): then any turn is about a fixed axis.
template <int d>
bool turns_alike(const Spin<d>& moments) {
    if constexpr (d == 2) {
        return true;
    } else {
        return moments[0] == moments[1] && moments[1] == moments[2];
    }
}

/// I x and I^-1 x, I = R diag(moments) R^T.
template <int d>
Spin<d> momentum_of(const Rotation<d>& rotation, const Spin<d>& moments, const Spin<d>& spin);
template <int d>
Spin<d> spin_of(const Rotation<d>& rotation, const Spin<d>& moments, const Spin<d>& momentum);

/// The rotation after a time h with the angular momentum L (world axes).
Rotation<2> turn_freely(const Rotation<2>& rotation, const Spin<2>& moments, const Spin<2>& L, double h);
Rotation<3> turn_freely(const Rotation<3>& rotation, const Spin<3>& moments, const Spin<3>& L, double h);

/// How a body is turned when the impulses of a step act on it: it turns freely for (1 - theta) h before them and for
/// theta h after them.
template <int d>
Rotation<d> rotation_at_impulse(const Bodies<d>& bodies, Index i, double h, double theta) {
    if (theta == 1) return bodies.rotation[i];
    return turn_freely(bodies.rotation[i], bodies.inertia[i],
                       momentum_of<d>(bodies.rotation[i], bodies.inertia[i], bodies.spin[i]),
                       (1 - theta) * h);
}

}  // namespace drystone
