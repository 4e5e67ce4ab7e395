// One block with any cone that has an axis, under either law, by a guarded scalar root (docs/theory.md, eq. 23).
//
// For a given normal impulse y the rest x minimises 1/2 x^T A x + c(y)^T x on a product of discs of radius offset_j +
// mu_j y: strictly convex, so x(y) is unique and continuous. What remains is one equation in y:
//     exact law:       u_N(y) = 0,              associated law:  u_N(y) - sum_j mu_j |u_j(y)| = 0.
// At y = 0 the left side is negative if the contact does not open, for large y it is positive (docs/theory.md, section
// 6), so a bracket always exists.
#pragma once

#include "drystone/cone/cone.hpp"

#include <array>

namespace drystone {

/// Which constraints hold with equality: the normal component at 0, each disc at its rim. Numbered by the cone's
/// groups.
struct ActiveSet {
    bool open = false;
    std::array<bool, 3> pressed{};
};

/// True for a group whose components are always zero.
inline bool cannot_act(const ConeGroup& g) { return g.mu == 0 && g.offset == 0; }

/// Solves u = W r + b with the law of the cone; r[0] is where the bracket starts. `tolerance` is relative, of the inner
/// problem and of the root. Rounding may leave more than it; the active set is what the caller polishes with.
ActiveSet solve_guarded(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law,
                        double tolerance, BlockVector& r);
/// The same in long double: the last resort for ill-conditioned blocks.
ActiveSet solve_guarded_long(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law,
                             double tolerance, BlockVector& r);

}  // namespace drystone
