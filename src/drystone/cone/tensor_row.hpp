// Rows of blocks that are symmetric tensors: strain rates of a velocity field that is interpolated between points.
//
// A point with velocity v adds sym(v g^T) to the tensor of a block, g the gradient by which the block sees it: d
// numbers instead of the 6 x 3 of a general row. Tensors are vectors in an orthonormal basis whose first component is
// the trace (docs/theory.md, eqs 33 and 34): cones, laws and the referee know no difference.
#pragma once

#include "drystone/base/geometry.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace drystone {

/// Components of a symmetric tensor: 3 in the plane, 6 in space.
template <int d>
inline constexpr int tensor_size = d*(d + 1) / 2;

template <int d>
using Tensor = Eigen::Matrix<double, tensor_size<d>, 1>;

inline constexpr double inverse_sqrt3 = std::numbers::inv_sqrt3;
inline constexpr double inverse_sqrt6 = std::numbers::inv_sqrt3 / std::numbers::sqrt2;

/// The symmetric part of a matrix as a vector (eq. 33): x . y = 1/2 tau : sigma, x[0] = trace / sqrt(2 d).
inline void tensor_of(const Mat<2>& L, double* x) {
    x[0] = 0.5 * (L(0, 0) + L(1, 1));
    x[1] = 0.5 * (L(0, 0) - L(1, 1));
    x[2] = 0.5 * (L(0, 1) + L(1, 0));
}
inline void tensor_of(const Mat<3>& L, double* x) {
    x[0] = inverse_sqrt6 * (L(0, 0) + L(1, 1) + L(2, 2));
    x[1] = 0.5 * (L(0, 0) - L(1, 1));
    x[2] = 0.5 * inverse_sqrt3 * (2 * L(2, 2) - L(0, 0) - L(1, 1));
    x[3] = 0.5 * (L(0, 1) + L(1, 0));
    x[4] = 0.5 * (L(0, 2) + L(2, 0));
    x[5] = 0.5 * (L(1, 2) + L(2, 1));
}

/// The transpose of it, a symmetric matrix: x . tensor_of(L) = entries of its product with L summed. Half of the tensor
/// whose vector x is.
inline Mat<2> half_matrix(const double* x, const Mat<2>* /*plane*/) {
    Mat<2> S;
    S << 0.5 * (x[0] + x[1]), 0.5 * x[2], 0.5 * x[2], 0.5 * (x[0] - x[1]);
    return S;
}
inline Mat<3> half_matrix(const double* x, const Mat<3>* /*space*/) {
    const double all = inverse_sqrt6 * x[0], third = 0.5 * inverse_sqrt3 * x[2];
    Mat<3> S;
    S << all + 0.5 * x[1] - third, 0.5 * x[3], 0.5 * x[4],  //
        0.5 * x[3], all - 0.5 * x[1] - third, 0.5 * x[5],   //
        0.5 * x[4], 0.5 * x[5], all + 2 * third;
    return S;
}
template <int d>
Mat<d> half_matrix(const double* x) {
    return half_matrix(x, static_cast<const Mat<d>*>(nullptr));
}

/// The row of a gradient as a matrix: strain_rows(g) v = tensor_of(v g^T) (eq. 34).
template <int d>
Eigen::Matrix<double, tensor_size<d>, d, Eigen::RowMajor> strain_rows(const Vec<d>& g) {
    Eigen::Matrix<double, tensor_size<d>, d, Eigen::RowMajor> rows;
    for (int c = 0; c < d; ++c) {
        Tensor<d> column;
        tensor_of(Mat<d>(Vec<d>::Unit(c) * g.transpose()), column.data());
        rows.col(c) = column;
    }
    return rows;
}

/// |tensor_of(v g^T)|^2.
template <class V>
double strain_squared(const V& v, const V& g) {
    const double along = v.dot(g);
    return 0.25 * (v.squaredNorm() * g.squaredNorm() + along * along);
}

/// Blocks that are tensors of the velocities of points. Block k of them has entries [start[k], start[k+1]); entry e is
/// point body[e] with the `space` numbers of gradient from e * space on. Points of one block are distinct.
struct TensorRows {
    int space = 3;  ///< dimensions: 2 or 3
    std::vector<Index> start = {0};
    std::vector<Index> body;
    std::vector<double> gradient;

    [[nodiscard]] Index size() const { return static_cast<Index>(start.size()) - 1; }
    /// Its room is kept.
    void clear() {
        start.resize(1);
        body.clear();
        gradient.clear();
    }
    template <int d>
    [[nodiscard]] Eigen::Map<const Vec<d>> gradient_of(std::int64_t entry) const {
        return Eigen::Map<const Vec<d>>(gradient.data() + entry * d);
    }
    /// Calls f with Vec<d>() of the dimension.
    template <class F>
    void with_space(F&& f) const {
        if (space == 2) {
            f(Vec<2>());
        } else {
            f(Vec<3>());
        }
    }
};

}  // namespace drystone
