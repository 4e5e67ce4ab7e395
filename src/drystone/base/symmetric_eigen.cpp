#include "drystone/base/symmetric_eigen.hpp"

#include "drystone/base/types.hpp"

#include <Eigen/Eigenvalues>

namespace drystone {

namespace {

template <class Matrix>
void solve(int n, const double* A, double* values, double* vectors) {
    using Column = Eigen::Matrix<double, Matrix::RowsAtCompileTime, 1, 0, Matrix::MaxRowsAtCompileTime, 1>;
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(
        Eigen::Map<const Matrix>(A, n, n),
        vectors != nullptr ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    Eigen::Map<Column>(values, n) = eigen.eigenvalues();
    if (vectors != nullptr) Eigen::Map<Matrix>(vectors, n, n) = eigen.eigenvectors();
}

}  // namespace

void symmetric_eigen(int n, const double* A, double* values, double* vectors) {
    if (n == 3) {
        solve<Eigen::Matrix3d>(n, A, values, vectors);
    } else {
        solve<BlockMatrix>(n, A, values, vectors);
    }
}

}  // namespace drystone
