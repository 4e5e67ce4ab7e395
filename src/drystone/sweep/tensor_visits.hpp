// A visit of Gauss-Seidel to one block that is a tensor: sand at a node of a grid (docs/theory.md, section 17).
//
// Its rows are gradients, so that W_ii follows from the d x d matrix Q = sum of g g^T / m: in the axes of Q shear
// strains are not coupled, and the trace is coupled with at most two components, which one more turn makes independent
// of each other. In that frame of its own, which each visit enters and leaves by turning a d x d matrix, the law is one
// scalar equation (local/slide.hpp).
#pragma once

#include "drystone/cone/tensor_row.hpp"
#include "drystone/local/local.hpp"
#include "drystone/local/slide.hpp"
#include "drystone/sweep/contact_visits.hpp"

namespace drystone {

template <int d>
struct TensorBlock {
    static constexpr int numbers = tensor_size<d>;

    Index block;        ///< of the problem
    Index first, last;  ///< entries of TensorRows
    bool closed;        ///< a cone with one disc and finite friction: solved here, else by solve_local
    /// The axes of Q: columns, each with a fourth number that is 0; and rows, likewise.
    double axes[4 * d], rows[4 * d];
    double turn[2];            ///< cosine and sine: the components 1 and 2 are turned by it, in space
    double free[numbers];      ///< b in the frame
    Slide<numbers - 1> slide;  ///< W_ii in the frame
    double stiffness;

    /// From the frame of the world to the block's own: of the matrix whose columns these are.
    void to_own(const Four* columns, double* x) const {
        Four own[d];
        for (int j = 0; j < d; ++j) {
            Four turned = columns[0] * axes[4 * j];
            for (int k = 1; k < d; ++k) turned += columns[k] * axes[4 * j + k];
            own[j] = Four{};
            for (int c = 0; c < d; ++c) {
                Four row;
                load4(rows + 4 * c, row);
                own[j] += row * turned[c];
            }
        }
        if constexpr (d == 2) {
            x[0] = 0.5 * (own[0][0] + own[1][1]);
            x[1] = 0.5 * (own[0][0] - own[1][1]);
            x[2] = 0.5 * (own[1][0] + own[0][1]);
        } else {
            const double xx = own[0][0], yy = own[1][1], zz = own[2][2];
            const double a = 0.5 * (xx - yy), b = 0.5 * inverse_sqrt3 * (2 * zz - xx - yy);
            x[0] = inverse_sqrt6 * (xx + yy + zz);
            x[1] = turn[0] * a + turn[1] * b;
            x[2] = turn[0] * b - turn[1] * a;
            x[3] = 0.5 * (own[1][0] + own[0][1]);
            x[4] = 0.5 * (own[2][0] + own[0][2]);
            x[5] = 0.5 * (own[2][1] + own[1][2]);
        }
    }
    /// And back: the columns of half the matrix (half_matrix).
    void from_own(const double* own, Four* columns) const {
        Four half[d];
        if constexpr (d == 2) {
            half[0] = Four{0.5 * (own[0] + own[1]), 0.5 * own[2], 0, 0};
            half[1] = Four{0.5 * own[2], 0.5 * (own[0] - own[1]), 0, 0};
        } else {
            const double a = 0.5 * (turn[0] * own[1] - turn[1] * own[2]),
                         third = 0.5 * inverse_sqrt3 * (turn[0] * own[2] + turn[1] * own[1]),
                         all = inverse_sqrt6 * own[0];
            half[0] = Four{all + a - third, 0.5 * own[3], 0.5 * own[4], 0};
            half[1] = Four{0.5 * own[3], all - a - third, 0.5 * own[5], 0};
            half[2] = Four{0.5 * own[4], 0.5 * own[5], all + 2 * third, 0};
        }
        for (int k = 0; k < d; ++k) {
            Four turned = half[0] * rows[4 * k];
            for (int j = 1; j < d; ++j) turned += half[j] * rows[4 * k + j];
            columns[k] = Four{};
            for (int j = 0; j < d; ++j) {
                Four axis;
                load4(axes + 4 * j, axis);
                columns[k] += axis * turned[j];
            }
        }
    }

    /// The components of a vector of the problem in the own frame, and back: the matrix of which x is the vector is
    /// twice half_matrix.
    void turn_in(const double* x, double* own) const {
        const Mat<d> S = 2 * half_matrix<d>(x);
        Four columns[d];
        for (int k = 0; k < d; ++k) {
            columns[k] = Four{};
            for (int c = 0; c < d; ++c) columns[k][c] = S(c, k);
        }
        to_own(columns, own);
    }
    void turn_out(const double* own, double* x) const {
        Four columns[d];
        from_own(own, columns);
        Mat<d> S;
        for (int k = 0; k < d; ++k)
            for (int c = 0; c < d; ++c) S(c, k) = 2 * columns[k][c];
        tensor_of(S, x);
    }

    /// Sets the frame and `slide` for W_ii, which follows from Q, with `proximal` of the mean of its diagonal, or what
    /// a block that is not definite needs.
    void set_matrix(const Mat<d>& Q, double proximal);

    template <bool pushed>
    Visited visit(const TensorRows& rows_of, const SweepState& state, Law law, const Cone& cone,
                  const LocalOptions& local, double* x, double* before);

private:
    void solve_any(const Cone& cone, Law law, const LocalOptions& local, const double* u, const double* old,
                   double* next) const;
};

template <class Block>
inline constexpr bool is_tensor_block = false;
template <int d>
inline constexpr bool is_tensor_block<TensorBlock<d>> = true;

/// By the general solver of one block.
template <int d>
void TensorBlock<d>::solve_any(const Cone& cone, Law law, const LocalOptions& local, const double* u,
                               const double* old, double* next) const {
    constexpr int n = numbers, coupled = 2;
    const double w = slide.w;
    BlockMatrix W = BlockMatrix::Zero(n, n);
    W(0, 0) = w;
    for (int k = 0; k < n - 1; ++k) W(k + 1, k + 1) = slide.t[k];
    for (int k = 0; k < coupled; ++k) {
        W(0, k + 1) = W(k + 1, 0) = w * slide.coupling[k];
        for (int l = 0; l < coupled; ++l) W(k + 1, l + 1) += w * slide.coupling[k] * slide.coupling[l];
    }
    const BlockVector was = Eigen::Map<const Tensor<d>>(old);
    const BlockVector b = Eigen::Map<const Tensor<d>>(u) - W * was;
    BlockVector r = was;
    if (!solve_local(cone, W, b, law, local, r)) r = 0.5 * (r + was);
    if (!r.allFinite()) r = was;
    std::copy_n(r.data(), n, next);
}

template <int d>
template <bool pushed>
Visited TensorBlock<d>::visit(const TensorRows& rows_of, const SweepState& state, Law law, const Cone& cone,
                              const LocalOptions& local, double* x, double* before) {
    constexpr int n = numbers;
    const Index* bodies = rows_of.body.data();
    const double* gradients = rows_of.gradient.data();
    const auto line = [&](Index e) {
        return state.lines + static_cast<std::ptrdiff_t>(bodies[e] + 1) * body_line;
    };
    Four columns[d] = {};
    for (Index e = first; e < last; ++e) {
        const double* g = gradients + static_cast<std::ptrdiff_t>(e) * d;
        Four v;
        load4(line(e), v);
        for (int k = 0; k < d; ++k) columns[k] += v * g[k];
    }
    double u[n], old[n], from[n] = {}, next[n];
    to_own(columns, u);
    for (int k = 0; k < n; ++k) {
        u[k] += free[k];
        old[k] = x[k];
        if (before != nullptr) from[k] = before[k];
        if constexpr (pushed) {
            before[k] = x[k];
            old[k] = x[k] + state.beta * (x[k] - from[k]);
            from[k] = x[k];
        }
    }
    if (!(closed && slide.solve_from(u, old, next))) solve_any(cone, law, local, u, old, next);
    Visited out;
    double change[n];
    for (int k = 0; k < n; ++k) {
        change[k] = next[k] - old[k];
        out.step += change[k] * change[k];
        out.uphill += change[k] * (next[k] - from[k]);
        x[k] = next[k];
    }
    if (out.step == 0) return {};
    out.step *= stiffness;
    out.uphill *= before != nullptr ? -stiffness : 0.0;
    from_own(change, columns);
    for (Index e = first; e < last; ++e) {
        const double* g = gradients + static_cast<std::ptrdiff_t>(e) * d;
        double* to = line(e);
        Four push = columns[0] * g[0];
        for (int k = 1; k < d; ++k) push += columns[k] * g[k];
        Four v;
        load4(to, v);
        v += to[3] * push;  // the fourth number of push is 0
        store4(to, v);
    }
    return out;
}

}  // namespace drystone
