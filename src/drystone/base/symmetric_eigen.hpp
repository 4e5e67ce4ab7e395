// Eigenvalues of small symmetric matrices: Eigen's, compiled in one place. Its templates take seconds for each size
// and each file.
#pragma once

namespace drystone {

/// Of the n x n matrix A, n from 1 to max_block, stored column by column: eigenvalues in ascending order, and the
/// eigenvectors as columns of `vectors` (nullptr: not wanted).
void symmetric_eigen(int n, const double* A, double* values, double* vectors = nullptr);

}  // namespace drystone
