// Anderson acceleration (Anderson 1965; Walker & Ni 2011) of any map of a kernel's state (r, z).
//
// With f_k = G(x_k) - x_k, the next state is G(x_k) - sum_j gamma_j (G(x_{j+1}) - G(x_j)), gamma the least-squares
// solution of f_k = sum_j gamma_j (f_{j+1} - f_j) over the last `depth` steps: what a secant method makes of the map.
// It wins where iterates creep along a few soft directions at equal pace, as sweeps do near a solution of the exact
// law, and loses far from one.
#pragma once

#include "drystone/base/exact_sum.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/cone/delassus.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <vector>

namespace drystone {

class Anderson {
public:
    /// `weights`: of the components of r in the norm that is made small. Sums are made tile by tile, rows [tile_row[t],
    /// tile_row[t+1]), and exactly over tiles, so that they do not depend on threads or ranks.
    Anderson(const Delassus& W, int depth, const Vector& weights, std::span<const Index> tile_row)
        : W_(W),
          depth_(std::min(depth, most_depth)),
          weights_(weights),
          tile_row_(tile_row),
          f_(W.rooms()),
          last_f_(W.rooms()),
          last_r_(W.rooms()),
          last_z_(W.rooms()),
          df_(&W.rooms()),
          dr_(&W.rooms()),
          dz_(&W.rooms()),
          partial_(&W.rooms()) {
        gram_.setZero(depth_, depth_);
    }
    Anderson(const Anderson&) = delete;
    Anderson& operator=(const Anderson&) = delete;
    ~Anderson() {
        for (auto* states : {&df_, &dr_, &dz_})
            for (Vector& state : *states) state.give_to(W_.rooms());
    }

    /// (r, z) holds the image of a state with the impulses before_r, and becomes the next state. Returns the squared
    /// norm of the image's step.
    double operator()(Vector& r, Vector& z, const Vector& before_r) {
        f_ = r - before_r;
        const Vector& f = f_;
        const double now = dot({&f, 1}, f)[0];
        if (last_f_.size() == 0 || !(now <= 4 * last_)) {  // the first, or doubled in norm
            forget();
        } else {
            const int place = next_;
            next_ = (next_ + 1) % depth_;
            count_ = std::min(count_ + 1, depth_);
            for (auto* states : {&df_, &dr_, &dz_}) {
                if (static_cast<int>(states->size()) <= place) states->resize(place + 1);
                (*states)[place].resize(states == &dz_ ? z.size() : r.size(), W_.rooms());
            }
            df_[place] = f - last_f_;
            dr_[place] = r - last_r_;
            dz_[place] = z - last_z_;
            const Products row = dot({df_.data(), static_cast<std::size_t>(count_)}, df_[place]);
            for (int j = 0; j < count_; ++j) gram_(place, j) = gram_(j, place) = row[j];
        }
        last_ = now;
        last_f_ = f;
        last_r_ = r;
        last_z_ = z;
        if (count_ == 0) return now;
        const Products right = dot({df_.data(), static_cast<std::size_t>(count_)}, f);
        Gram A = gram_.topLeftCorner(count_, count_);
        A.diagonal().array() += 1e-10 * A.diagonal().maxCoeff();
        const Coefficients gamma = A.ldlt().solve(Eigen::Map<const Eigen::VectorXd>(right.data(), count_));
        if (!gamma.allFinite()) {
            forget();
            return now;
        }
        for (int j = 0; j < count_; ++j) {
            r -= gamma[j] * dr_[j];
            z -= gamma[j] * dz_[j];
        }
        return now;
    }

private:
    static constexpr int most_depth = 32;
    using Products = std::array<double, most_depth>;
    using Gram =
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, most_depth, most_depth>;
    using Coefficients = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, most_depth, 1>;

    void forget() { count_ = next_ = 0; }

    /// Weighted products of each of `a` with b.
    [[nodiscard]] Products dot(std::span<const Vector> a, const Vector& b) {
        const std::size_t n = a.size(), tiles = tile_row_.size() - 1;
        partial_.resize(n * tiles);
        parallel_for_uneven(W_.threads(), static_cast<Index>(tiles), 8, [&](Index t) {
            for (std::size_t j = 0; j < n; ++j) {
                double sum = 0;
                for (Index k = tile_row_[t]; k < tile_row_[t + 1]; ++k) sum += weights_[k] * a[j][k] * b[k];
                partial_[j * tiles + t] = sum;
            }
        });
        std::array<ExactSum, most_depth> sums;
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t t = 0; t < tiles; ++t) sums[j].add(partial_[j * tiles + t]);
        W_.add_up(std::span(sums).first(n));
        Products values{};
        for (std::size_t j = 0; j < n; ++j) values[j] = sums[j].value();
        return values;
    }

    const Delassus& W_;
    int depth_, count_ = 0, next_ = 0;
    double last_ = 0;
    const Vector& weights_;
    std::span<const Index> tile_row_;
    ScratchVector f_, last_f_, last_r_, last_z_;
    ScratchArray<Vector> df_, dr_, dz_;
    ScratchArray<double> partial_;
    Gram gram_;
};

}  // namespace drystone
