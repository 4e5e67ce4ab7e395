// Sparse matrices as FCLib keeps them in an HDF5 file: a group with the numbers m, n, nz, nzmax and the arrays p, i, x.
//
//   nz >= 0   triplets: entry k is x[k] in row i[k], column p[k]
//   nz = -1   compressed columns: p has n + 1 starts, i the rows
//   nz = -2   compressed rows: p has m + 1 starts, i the columns
//
// FCLib's header describes the triplets the other way round (p rows, i columns). The files that exist follow CSparse,
// as written above: in all of them i reaches beyond the number of columns where m > n, and p never does.
#pragma once

#include "drystone/cone/problem.hpp"
#include "drystone/files/hdf5.hpp"

#include <string>

namespace drystone {

/// The matrix in group `name`, which must be rows x cols. Entries given twice are added.
SparseMatrix read_matrix(const hdf5::Group& parent, const std::string& name, Eigen::Index rows,
                         Eigen::Index cols);

/// Writes A as compressed columns.
void write_matrix(const hdf5::Group& parent, const std::string& name, SparseMatrix A);

/// Makes A symmetric and drops the entries that are zero; a symmetric A keeps its bits. Returns how far A was from
/// symmetric, the largest |A_ij - A_ji| / sqrt(A_ii A_jj), which does not depend on units. Fails (`where` names A)
/// beyond 1e-2.
///
/// One triangle alone stands for the whole and is mirrored: LMGC90 saves finite-element masses so. Otherwise A becomes
/// (A + A^T) / 2, since programs save what they computed: inertia and Delassus matrices of Siconos are off by up to
/// 4e-3.
double make_symmetric(SparseMatrix& A, const std::string& where);

}  // namespace drystone
