// A visit of Gauss-Seidel to one block that is a tensor: sand at a node of a grid (docs/theory.md, section 17).
//
// Its rows are gradients, so that W_ii follows from the d x d matrix Q = sum of g g^T / m: in the axes of Q shear
// strains are not coupled, and the trace is coupled with at most two components, which one more turn makes independent
// of each other. In that frame of its own, which each visit enters and leaves by turning a d x d matrix, the law is one
// scalar equation (secular.hpp).
#pragma once

#include "drystone/cone/tensor_row.hpp"
#include "drystone/local/local.hpp"
#include "drystone/local/secular.hpp"
#include "drystone/sweep/contact_visits.hpp"

namespace drystone {

struct TensorBlock {
    Index block;        ///< of the problem
    Index first, last;  ///< entries of TensorRows
    bool
        closed;  ///< the exact law of a second-order cone without dilatancy: solved here, else by solve_local
    double axes[9];  ///< of Q, column after column
    double turn[2];  ///< cosine and sine: the components 1 and 2 are turned by it, in space
    double free[6];  ///< b in the frame
    double w, inverse_w;
    double coupling[2];  ///< W_TN / w: of the components 1 and 2; of the others it is 0
    double t[5];         ///< T = W_TT - W_TN W_TN^T / w, diagonal
    double mu, stiffness;
    double alpha;  ///< root of eq. 21 when it last slid

    template <int d>
    [[nodiscard]] Eigen::Map<const Mat<d>> own_axes() const {
        return Eigen::Map<const Mat<d>>(axes);
    }
    /// From the frame of the world to the block's own, and back.
    template <int d>
    void to_own(const Mat<d>& L, double* x) const {
        const auto R = own_axes<d>();
        tensor_of(Mat<d>(R.transpose() * L * R), x);
        if constexpr (d == 3) {
            const double a = x[1], b = x[2];
            x[1] = turn[0] * a + turn[1] * b;
            x[2] = turn[0] * b - turn[1] * a;
        }
    }
    template <int d>
    [[nodiscard]] Mat<d> from_own(const double* own) const {
        std::array<double, tensor_size<d>> x;
        std::copy_n(own, tensor_size<d>, x.begin());
        if constexpr (d == 3) {
            x[1] = turn[0] * own[1] - turn[1] * own[2];
            x[2] = turn[0] * own[2] + turn[1] * own[1];
        }
        const auto R = own_axes<d>();
        return R * half_matrix<d>(x.data()) * R.transpose();
    }
    /// The components of a vector of the problem in the own frame, and back: the matrix of which x is the vector is
    /// twice half_matrix.
    template <int d>
    void turn_in(const double* x, double* own) const {
        to_own<d>(2 * half_matrix<d>(x), own);
    }
    template <int d>
    void turn_out(const double* own, double* x) const {
        tensor_of(Mat<d>(2 * from_own<d>(own)), x);
    }

    /// Sets the frame, w, coupling and t for W_ii, which follows from Q, with `proximal` of the mean of its diagonal,
    /// or what a block that is not definite needs.
    template <int d>
    void set_matrix(const Mat<d>& Q, double proximal);

    template <int d, bool pushed>
    Visited visit(const TensorRows& rows, const SweepState& state, Law law, const Cone& cone,
                  const LocalOptions& local, double* x, double* before);

private:
    template <int d>
    void solve_closed(const double* u, const double* old, double* next);
    template <int d>
    void solve_any(const Cone& cone, Law law, const LocalOptions& local, const double* u, const double* old,
                   double* next) const;
};

template <int d>
void TensorBlock::solve_closed(const double* u, const double* old, double* next) {
    constexpr int D = tensor_size<d> - 1, coupled = d - 1;
    double free_normal = old[0] - u[0] * inverse_w;
    for (int k = 0; k < coupled; ++k) free_normal += coupling[k] * old[k + 1];
    std::fill_n(next, D + 1, 0.0);
    if (free_normal <= 0) return;
    if (mu == 0) {
        next[0] = free_normal;
        return;
    }
    Secular<D> s;
    double normal = free_normal, grip = 0;
    for (int k = 0; k < D; ++k) {
        s.coupling[k] = k < coupled ? coupling[k] : 0.0;
        s.t[k] = t[k];
        s.bt[k] = u[k + 1] - s.coupling[k] * u[0] - t[k] * old[k + 1];
        next[k + 1] = -s.bt[k] / t[k];
        grip += next[k + 1] * next[k + 1];
        normal -= s.coupling[k] * next[k + 1];
    }
    next[0] = normal;
    if (normal > 0 && grip <= mu * mu * normal * normal) return;
    s.mu = mu;
    s.free_normal = free_normal;
    std::array<double, D> tangent;
    alpha = solve_secular<D>(s, alpha, next[0], tangent);
    std::copy_n(tangent.begin(), D, next + 1);
}

template <int d>
void TensorBlock::solve_any(const Cone& cone, Law law, const LocalOptions& local, const double* u,
                            const double* old, double* next) const {
    constexpr int n = tensor_size<d>, coupled = d - 1;
    BlockMatrix W = BlockMatrix::Zero(n, n);
    W(0, 0) = w;
    for (int k = 0; k < n - 1; ++k) W(k + 1, k + 1) = t[k];
    for (int k = 0; k < coupled; ++k) {
        W(0, k + 1) = W(k + 1, 0) = w * coupling[k];
        for (int l = 0; l < coupled; ++l) W(k + 1, l + 1) += w * coupling[k] * coupling[l];
    }
    const BlockVector was = Eigen::Map<const Tensor<d>>(old);
    const BlockVector b = Eigen::Map<const Tensor<d>>(u) - W * was;
    BlockVector r = was;
    if (!solve_local(cone, W, b, law, local, r)) r = 0.5 * (r + was);
    if (!r.allFinite()) r = was;
    std::copy_n(r.data(), n, next);
}

template <int d, bool pushed>
Visited TensorBlock::visit(const TensorRows& rows, const SweepState& state, Law law, const Cone& cone,
                           const LocalOptions& local, double* x, double* before) {
    constexpr int n = tensor_size<d>;
    const Index* bodies = rows.body.data();
    const double* gradients = rows.gradient.data();
    const auto line = [&](Index e) {
        return state.lines + static_cast<std::ptrdiff_t>(bodies[e] + 1) * body_line;
    };
    std::array<Four, d> columns{};
    for (Index e = first; e < last; ++e) {
        const double* g = gradients + static_cast<std::ptrdiff_t>(e) * d;
        Four v;
        load4(line(e), v);
        for (int k = 0; k < d; ++k) columns[k] += v * g[k];
    }
    Mat<d> L;
    for (int k = 0; k < d; ++k)
        for (int c = 0; c < d; ++c) L(c, k) = columns[k][c];
    std::array<double, n> u, old, from{}, next;
    to_own<d>(L, u.data());
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
    if (closed) {
        solve_closed<d>(u.data(), old.data(), next.data());
    } else {
        solve_any<d>(cone, law, local, u.data(), old.data(), next.data());
    }
    Visited out;
    std::array<double, n> change;
    for (int k = 0; k < n; ++k) {
        change[k] = next[k] - old[k];
        out.step += change[k] * change[k];
        out.uphill += change[k] * (next[k] - from[k]);
        x[k] = next[k];
    }
    if (out.step == 0) return {};
    out.step *= stiffness;
    out.uphill *= before != nullptr ? -stiffness : 0.0;
    const Mat<d> S = from_own<d>(change.data());
    for (int k = 0; k < d; ++k) {
        columns[k] = Four{};
        for (int c = 0; c < d; ++c) columns[k][c] = S(c, k);
    }
    for (Index e = first; e < last; ++e) {
        const double* g = gradients + static_cast<std::ptrdiff_t>(e) * d;
        double* to = line(e);
        Four push = columns[0] * g[0] + columns[1] * g[1];
        if constexpr (d == 3) push += columns[2] * g[2];
        Four v;
        load4(to, v);
        v += to[3] * push;  // the fourth number of push is 0
        store4(to, v);
    }
    return out;
}

}  // namespace drystone
