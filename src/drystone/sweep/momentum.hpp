// Nesterov momentum in cycles of adaptive length, for whatever sweeps.
#pragma once

#include "drystone/base/parallel.hpp"
#include "drystone/sweep/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace drystone {

/// now <- now + beta (now - before), element by element; then before <- what now was.
inline void extrapolate(int threads, Vector& now, Vector& before, double beta) {
    constexpr Index chunk = 4096;
    const auto n = now.size();
    parallel_for(threads, static_cast<Index>((n + chunk - 1) / chunk), [&](Index c) {
        const Eigen::Index end = std::min<Eigen::Index>(n, (static_cast<Eigen::Index>(c) + 1) * chunk);
        for (Eigen::Index k = static_cast<Eigen::Index>(c) * chunk; k < end; ++k) {
            const double x = now[k];
            now[k] = x + beta * (x - before[k]);
            before[k] = x;
        }
    });
}

/// Nesterov's sequence of weights: 0, then growing towards 1.
class NesterovWeights {
public:
    double next() {
        const double next = 0.5 * (theta_ * std::sqrt(theta_ * theta_ + 4) - theta_ * theta_);
        const double beta = theta_ * (1 - theta_) / (theta_ * theta_ + next);
        theta_ = next;
        return beta;
    }

private:
    double theta_ = 1;
};

/// How long momentum is kept. Without the cap on the cycle momentum pumps self-stress into the packing and the iterates
/// of the exact law, which has no energy to descend, run away: a cycle whose step has grown by `blow_up` (in norm) ends
/// at once, and later ones are at most half as long as it was. A cycle starts from the result of a sweep.
struct MomentumCycle {
    int longest = 150;   ///< sweeps
    double blow_up = 2;  ///< growth of the step's norm that ends a cycle

    int length = 10;
    double last_step = INFINITY;  ///< of the first sweep of the cycle before, squared
    int sweeps = 0;
    NesterovWeights weights{};

    void begin() {
        sweeps = 0;
        weights = {};
    }
    /// Whether the next sweep is to be tested for going uphill: not the first ones.
    [[nodiscard]] bool tests_uphill() const { return sweeps >= 3; }
    /// After a sweep: the weight of the extrapolation, or nothing where the cycle ends.
    std::optional<double> after(const SweepSums& sums) {
        constexpr int shortest = 5;
        if (sweeps == 0) {  // a plain sweep: its step measures what the cycle before has done
            if (sums.step < 0.64 * last_step) length = 2 * length;
            length = std::min(length, longest);
            if (sums.step > last_step) length = std::max(shortest, length / 2);
            last_step = sums.step;
        }
        const bool blows_up = sums.step > blow_up * blow_up * last_step;
        if (blows_up) longest = std::max(20, sweeps / 2);
        if (++sweeps >= length || sums.uphill > 0 || blows_up) return std::nullopt;
        return weights.next();
    }
};

}  // namespace drystone
