// The referee: one measure of how wrong a solution is, the same for every solver (docs/theory.md, eqs 10 to 14).
#pragma once

#include "drystone/cone/delassus.hpp"

namespace drystone {

struct Residual {
    /// Dimensionless: 0 solved; 1 as wrong as not having solved. The larger of the two parts below.
    double value = 0;
    double law = 0;  ///< contact law: natural map in the energy norm, over that of the b at stake (eq. 12)
    double momentum =
        0;  ///< defect of M v = f + H^T r and u = H v + w + C r in the stored solution, relative (eq. 13)
    // Secondary columns, to compare with other programs; neither is free of units.
    double siconos = 0;  ///< natural map with rho = 1 over max(|b|, |r|, |u|): what Siconos tests (eq. 15)
    double bogus =
        0;  ///< largest squared Fischer-Burmeister value over contacts: what so-bogus tests (eq. 16)
};

/// Judges a solution with its own u and v; everything is recomputed from the problem's data.
Residual judge(const Delassus& W, const ConeSolution& solution, Law law);
Residual judge(const ConeProblem& problem, const ConeSolution& solution, Law law);

/// The first part alone, from r and u = W r + b as a solver holds them: what solvers watch while they iterate.
double law_residual(const Delassus& W, const Vector& r, const Vector& u, Law law);
/// Siconos' measure, likewise.
double siconos_residual(const Delassus& W, const Vector& r, const Vector& u, Law law);

}  // namespace drystone
