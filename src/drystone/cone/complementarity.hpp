// Four ways to say that (u, r) obeys the law of one second-order cone: functions that vanish together (docs/theory.md,
// eqs 17 to 20). Solvers use the first two and their derivatives; tests hold all four against each other.
#pragma once

#include "drystone/cone/cone.hpp"

namespace drystone {

using ConstBlock = Eigen::Ref<const BlockVector>;

/// A value and its derivatives with respect to u and r (one element of the generalised Jacobian).
struct Complementarity {
    BlockVector value;
    BlockMatrix by_u, by_r;
};

/// Fischer-Burmeister function on the second-order cone (eq. 18), u measured in units of 1 / rho impulses. Rays use the
/// scalar function; a cone with mu = 0 uses it on the normal part and asks r_T = 0.
BlockVector fischer_burmeister(const Cone& cone, ConstBlock u, ConstBlock r, double rho, Law law);
Complementarity fischer_burmeister_derivatives(const Cone& cone, ConstBlock u, ConstBlock r, double rho,
                                               Law law);

/// Alart-Curnier function (eq. 17) with step xi, for every cone with an axis; only the exact law has this form.
BlockVector alart_curnier(const Cone& cone, ConstBlock u, ConstBlock r, double xi);
Complementarity alart_curnier_derivatives(const Cone& cone, ConstBlock u, ConstBlock r, double xi);

/// Natural map P_K(r - xi (u + s(u) n)) - r (eq. 19).
BlockVector natural_map(const Cone& cone, ConstBlock u, ConstBlock r, double xi, Law law);

/// Energy by which (u, r) misses the exact law, for r in a cone with finite coefficients and u_N >= 0 (eq. 20); never
/// negative there.
double bipotential_gap(const Cone& cone, ConstBlock u, ConstBlock r);

enum class ContactState : std::uint8_t { open, sticking, sliding, impossible };
/// Case of the disjunctive form of Coulomb's law that (u, r) fulfils within `tolerance` (a velocity times a unit mass).
ContactState classify(const Cone& cone, ConstBlock u, ConstBlock r, double tolerance);

}  // namespace drystone
