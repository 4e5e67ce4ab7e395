// The referee: one measure of how wrong a solution is, the same for every solver (docs/theory.md, eqs 10 to 14).
#pragma once

#include "drystone/cone/delassus.hpp"

namespace drystone {

/// So many times the tolerance may the worst block be wrong (eq. 14). In ordinary scenes the worst one is 2 to 13 times as wrong as the mean, so
/// that this bound costs next to nothing there.
inline constexpr double worst_allowance = 20;

/// And so many times the mean over blocks in their own scales. With 2 it costs nothing in packings and stacks hold; with 4 they do not.
inline constexpr double local_allowance = 2;

/// How wrong impulses and velocities are by the law of the blocks, dimensionless. NaN where numbers are not finite.
struct LawResidual {
    /// Natural map in the energy norm, over that of the b at stake (eq. 12): a mean, in which heavy bodies and many good blocks weigh most.
    double mean = 0;
    /// A mean in which all blocks weigh alike: of their errors over the velocities at stake at their own bodies (eq. 12c).
    double local = 0;
    /// Of the worst block: its error as a velocity, free of mass, over the velocities at stake at its own bodies (eq. 12a).
    double worst = 0;
    double velocity = 0;  ///< the largest of these errors, m/s
    /// The largest of mean, local / local_allowance and worst / worst_allowance.
    [[nodiscard]] double value() const;
};

struct Residual {
    /// Dimensionless: 0 solved; 1 as wrong as not having solved. law.value() or momentum, whichever is larger (eq. 14).
    double value = 0;
    LawResidual law;
    double momentum =
        0;  ///< defect of M v = f + H^T r and u = H v + w + C r in the stored solution, relative (eq. 13)
    // Secondary columns, to compare with other programs; neither is free of units.
    double siconos = 0;  ///< natural map with rho = 1 over max(|b|, |r|, |u|): what Siconos tests (eq. 15)
    double bogus =
        0;  ///< largest squared Fischer-Burmeister value over contacts: what so-bogus tests (eq. 16)
};

/// Judges a solution with its own u and v; everything is recomputed from the problem's data. One with a frozen shift is judged by the convex law
/// with that shift.
Residual judge(const Delassus& W, const ConeSolution& solution, Law law);
Residual judge(const ConeProblem& problem, const ConeSolution& solution, Law law);

/// The law alone, from r and u = W r + b as a solver holds them: what solvers watch while they iterate.
LawResidual law_residual(const Delassus& W, const Vector& r, const Vector& u, Law law);
/// Room that looks at one problem reuse: squares of each block's error, of what is at stake and of its impulse, as velocities; of the change of velocity at
/// each entry of H; of what is at stake at each body; and the whitened body vector.
struct LawRoom {
    std::vector<double> error, at_stake, impulse, change, body;
    Vector z, borne;
};
/// Errors of up to so many `roundings` (Delassus::rounding) count as none.
LawResidual law_residual(const Delassus& W, const Vector& r, const Vector& u, Law law, LawRoom& room,
                         double roundings = 1);
/// Siconos' measure, likewise.
double siconos_residual(const Delassus& W, const Vector& r, const Vector& u, Law law);

}  // namespace drystone
