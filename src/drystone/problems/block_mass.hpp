// Mass matrices of separate bodies: finding the bodies in M, and M to M^-1 and back.
#pragma once

#include "drystone/cone/problem.hpp"

#include <string>
#include <vector>

namespace drystone {

/// True if M has no entry outside its diagonal blocks of `size` (which divides its rows).
bool splits_into_blocks(const SparseMatrix& M, int size);

/// Velocities per body: the largest of 6, 3, 1 (in the plane 3, 2, 1) into which M splits; if it splits into none of
/// these, 3 (in the plane 2) for the nodes of a finite-element mesh where that divides the rows, otherwise 1.
int choose_body_dim(const SparseMatrix& M, bool plane);

/// The inverses of the diagonal blocks, row by row, one after another. Exactly 1 / M_aa where a couples to nothing.
/// Fails (naming `where` and the body) if a block is not positive definite.
std::vector<double> inverse_blocks(const SparseMatrix& M, int size, const std::string& where);

/// Coordinates that do not move: those whose row and column of the inverse mass are zero.
std::vector<char> find_fixed(const std::vector<double>& blocks, int size);

/// The mass whose inverse has these blocks, with 1 for coordinates that do not move. Fails likewise.
SparseMatrix mass_of_blocks(const std::vector<double>& blocks, int size, const std::string& where);

}  // namespace drystone
