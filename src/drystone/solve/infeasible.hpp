// Proof that a problem has no solution: a set of impulses that no velocity can answer.
//
// Write y for the whitened change of velocity, so that u = Hw y + b and |y|^2 / 2 is the kinetic energy of v - v_free.
// Take any r in the recession cone of K. An admissible u lies in its dual, so 0 <= r.u = (Hw^T r).y + r.b, and
// therefore
//     |y| >= -r.b / |Hw^T r|.
// A direction with r.b < 0 and Hw^T r = 0 (impulses in equilibrium that the prescribed motion works against: the forces
// of the walls on a body crushed between them) proves that there is no admissible velocity at all. In floating point
// Hw^T r is never quite zero; the inequality then still is a theorem: every admissible velocity is at least that far
// from v_free. So the test is a ratio of two energies, free of units, and not a matter of taste: "infeasible" means
// that admissible velocities, if any, carry more than 1 / tolerance times the velocity that the contacts have to
// correct.
//
// Compliance C > 0 (u = Hw y + C r + b) answers any velocity of its row with a finite impulse, however small it is. It
// acts like a private body of inverse mass C in each row, so the inequality holds with |(Hw^T r, C^1/2 r)|; but
// whatever the size of C^1/2 r, a row with C > 0 has no part in a proof: directions are tested with r = 0 there. If C_N
// > 0 in every contact and C > 0 in every bilateral row there is always a solution, and nothing here says otherwise.
//
// What is proved for which law (discrete friction: Cadoux' existence theorem):
//   associated  admissible means u in K* (V(0) not empty). The proof is of non-existence, with r in K.
//   coulomb     only u_N >= 0 (and u = 0 where the coefficient is infinite or the block is bilateral) is necessary for
//   a
//               solution: the shift s(u) can make room for any sliding velocity. So r must be frictionless: r_T = 0 in
//               every
//               group with a finite coefficient. V(0) not empty is sufficient for a solution, not necessary; between
//               the two
//               nothing is proved and no solver here says "infeasible".
//               With a dilatancy, u_N >= sum_j zeta_j |u_j| is necessary, and r_T may be as large as zeta_j r_N.
#pragma once

#include "drystone/cone/delassus.hpp"

namespace drystone {

struct InfeasibilityTest {
    /// Ratio below which Hw^T r counts as zero: smallest energy norm of an admissible correction, inverted, in units of
    /// the energy norm of b. 1e-8: one needs a speed 10^8 times that of the contacts; rounding allows no less than
    /// about 1e-13.
    double tolerance = 1e-8;
};

/// The cone of directions along which impulses may grow without end, as far as the law lets them count in a proof (see
/// above).
Cone recession_cone(const Cone& cone, Law law);

/// Tests a direction, typically the diverging iterate of a solver. True if it proves infeasibility; `certificate` then
/// holds it, projected on the recession cones and scaled to certificate . b = -1.
bool find_infeasibility(const Delassus& W, Law law, const Vector& direction, Vector& certificate,
                        const InfeasibilityTest& test = {});

/// Watches the iterates of a first-order method. If there is no solution they run away, and their differences tend to a
/// proof much sooner than they do themselves (Banjac et al. 2019, for ADMM).
class InfeasibilityWatch {
public:
    InfeasibilityWatch(const Delassus& W, Law law);
    /// True if r, or its change since the last test, is a proof. Cheap: tests only impulses that have grown a
    /// thousandfold beyond those of single contacts, and each time 1.2 times as far as at the last test.
    bool look(const Vector& r);
    [[nodiscard]] const Vector& certificate() const { return certificate_; }

private:
    const Delassus* W_;
    Law law_;
    double next_size_ = 0;
    Vector last_, difference_, certificate_;
};

/// A sentence for SolveReport::message: which blocks carry most of the proof.
std::string describe_infeasibility(const Delassus& W, const Vector& certificate);

}  // namespace drystone
