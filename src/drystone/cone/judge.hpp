// The referee: one measure of how wrong a solution is, the same for every solver (docs/theory.md, eqs 10 to 14).
#pragma once

#include "drystone/cone/delassus.hpp"

namespace drystone {

/// So many times the tolerance may the worst block be wrong (eq. 14). In ordinary scenes the worst one is 2 to 13 times
/// as wrong as the mean, so that this bound costs next to nothing there.
inline constexpr double worst_allowance = 20;

/// And so many times the mean over blocks in their own scales. With 2 it costs nothing in packings and stacks hold;
/// with 4 they do not.
inline constexpr double local_allowance = 2;

/// How wrong impulses and velocities are by the law of the blocks, dimensionless. NaN where numbers are not finite.
struct LawResidual {
    /// Natural map in the energy norm, over that of the b at stake (eq. 12): a mean, in which heavy bodies and many
    /// good blocks weigh most.
    double mean = 0;
    /// A mean in which all blocks weigh alike: of their errors over the velocities at stake at their own bodies (eq.
    /// 12c).
    double local = 0;
    /// Of the worst block: its error as a velocity, free of mass, over the velocities at stake at its own bodies (eq.
    /// 12a).
    double worst = 0;
    double velocity = 0;  ///< the largest of these errors, m/s
    /// The largest of mean, local / local_allowance and worst / worst_allowance.
    [[nodiscard]] double value() const;
};

struct Residual {
    /// Dimensionless: 0 solved; 1 as wrong as not having solved. law.value() or momentum, whichever is larger (eq. 14).
    double value = 0;
    LawResidual law;
    /// defect of M v = f + H^T r and u = H v + w + C r in the stored solution, relative (eq. 13)
    double momentum = 0;
    // Secondary columns, to compare with other programs; neither is free of units.
    double siconos = 0;  ///< natural map with rho = 1 over max(|b|, |r|, |u|): what Siconos tests (eq. 15)
    /// largest squared Fischer-Burmeister value over contacts: what so-bogus tests (eq. 16)
    double bogus = 0;
};

/// Judges a solution with its own u and v; everything is recomputed from the problem's data. One with a frozen shift is
/// judged by the convex law with that shift. Not `thorough`: of a solution that W.complete has just made from r only
/// the law is in question; momentum and the secondary columns are left at 0.
Residual judge(const Delassus& W, const ConeSolution& solution, Law law, bool thorough = true);
Residual judge(const ConeProblem& problem, const ConeSolution& solution, Law law);

/// The law alone, from r and u = W r + b as a solver holds them: what solvers watch while they iterate.
LawResidual law_residual(const Delassus& W, const Vector& r, const Vector& u, Law law);
/// Room that looks at one problem reuse: squares of each block's error, of what is at stake and of its impulse, as
/// velocities; of what is at stake at each body; and what the impulses do to the velocities of bodies.
struct LawRoom {
    explicit LawRoom(Rooms& rooms)
        : error(&rooms), at_stake(&rooms), impulse(&rooms), body(&rooms), change(rooms), borne(rooms) {}
    ScratchArray<double> error, at_stake, impulse, body;
    ScratchVector change, borne;
};
/// Errors of up to so many `roundings` (Delassus::rounding) count as none. `v`: the velocities that belong to r, where
/// they are known.
LawResidual law_residual(const Delassus& W, const Vector& r, const Vector& u, Law law, LawRoom& room,
                         double roundings = 1, const Vector* v = nullptr);
/// Of one block, torques measured by its length (eq. 10). All are velocities, squared, so that neither tiny nor huge
/// masses under- or overflow.
struct BlockError {
    double natural = 0;   ///< |stiffness e|^2, e its natural map (eq. 11); 0 if rounding can make it
    double at_stake = 0;  ///< a_i of eq. 12b, squared
    double impulse = 0;   ///< |stiffness r|^2, pulls not counted
};

BlockError block_error(const Delassus& W, Index i, const double* r, const double* u, Law law,
                       double roundings = 1);

/// at_stake of it alone, which does not depend on the impulse.
double stake_of(const Delassus& W, Index i, Law law);

/// For those who measure with numbers of their own: sums over the blocks of a tile, and of all.
struct LookSums {
    double natural = 0, at_stake = 0, impulse = 0, largest = 0;
    double squares = 0, busy = 0, relative = 0, error = 0;

    /// A block, by squares: its error and impulse, the largest that is at stake at its bodies and by itself, the
    /// largest of the problem.
    void add(double block_error, double block_impulse, double near, double most);
};
struct ResidualSums {
    double natural = 0, at_stake = 0, impulse = 0;  ///< over blocks, each over its inverse mass
    double largest = 0;                             ///< velocity at stake anywhere, squared
    [[nodiscard]] LawResidual residual(double squares, double busy, double relative, double error) const;
};

/// Siconos' measure, likewise.
double siconos_residual(const Delassus& W, const Vector& r, const Vector& u, Law law);

}  // namespace drystone
