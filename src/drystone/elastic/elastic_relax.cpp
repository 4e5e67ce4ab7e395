// The sweeps of ElasticNetwork (elastic_network.hpp): Gauss-Seidel with momentum on the augmented Lagrangian.
#include "drystone/elastic/elastic_network.hpp"
#include "drystone/sweep/momentum.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// Elastic over rigid part of the matrix of the sweeps, W + weight C: a compromise between passes, whose number falls
/// with it, and sweeps in a pass, whose number grows. Measured on a settled pile of 10,000 spheres: 3e-4 and 3e-3 cost
/// up to one half more.
constexpr double relative_weight = 1e-3;
/// A pass ends when the error of the forces is below this multiple of their imbalance, or after so many sweeps.
constexpr double pass_accuracy = 3;
constexpr int longest_pass = 200;
/// Sweeps between looks; a look costs about two.
constexpr int look_every = 20;

}  // namespace

/// From f_ and q_.
void ElasticNetwork::load_kernel() {
    if (!kernel_) {
        tiling_ = tiling_of(W_);
        kernel_.emplace(W_, tiling_, faces_);
    }
    const double rigid = W_.sum([&](Index i) { return is_given(i) ? 0.0 : W_.inverse_mass(i); }),
                 elastic = W_.sum([&](Index i) { return faces_[i].row[0]; });
    kernel_weight_ = relative_weight * rigid / elastic;
    kernel_->set_springs(kernel_weight_, opened_);
    multiplier_ = kernel_weight_ * q_;
    kernel_->load(f_);
    rho_ = f_ - load_;
    W_.gather(rho_, r_);
    kernel_->z = r_ + multiplier_;
}

/// Fetches the forces, and the displacements that a pass ending here would give; r_ becomes Hw^T (f - load). Two
/// errors: what is out of balance, and how far forces are from the least energy. The latter from the gap of duality,
///     |f - f'|_C^2 <= 2 gap = |f - g|_C^2 + 2 (C g + H q) . (f - g),     g = respond(H q),
/// for balanced f and the answer f'. Both terms are sums over blocks of numbers >= 0, so that nothing cancels.
double ElasticNetwork::look() {
    kernel_->store(f_);
    rho_ = f_ - load_;
    W_.gather(rho_, r_);
    W_.spread(r_, work_);
    imbalance_ = std::sqrt(std::max(0.0, W_.dot(rho_, work_)));
    imbalance_ = imbalance_ == 0 ? 0.0 : imbalance_ / load_norm_;
    kernel_->z = r_ + multiplier_;  // without the rounding of many sweeps
    q_ = kernel_->z / kernel_weight_;
    W_.spread(q_, x_);
    evaluate(x_, trial_);
    const double gap = W_.sum([&](Index i) {
        double squares = 0, work = 0;
        for (int c = 0; c < p_.cones[i].dim; ++c) {
            const Index k = at(i) + c;
            const double difference = f_[k] - trial_[k], C = faces_[i].row[c];
            squares += C * difference * difference;
            work += (C * trial_[k] + x_[k] + (c == 0 ? opened_[i] : 0.0)) * difference;
        }
        return squares + 2 * std::max(0.0, work);
    });
    error_ = gap == 0 ? 0.0 : std::sqrt(gap) / elastic_norm(f_);
    return residual_ = std::max(imbalance_, error_);
}

Status ElasticNetwork::relax(double tolerance, const Timer& timer, std::vector<HistoryPoint>& history) {
    load_kernel();
    Sleep awake;
    ScratchArray<SweepSums> partial(&W_.rooms());
    Vector previous_r, previous_z, last_multiplier = multiplier_;
    double last_imbalance = INFINITY, pass_theta = 1;
    MomentumCycle cycle;
    const int end = sweeps_ + options_.max_sweeps;
    for (int since_look = 0, since_pass = 0; sweeps_ < end;) {
        previous_r = kernel_->r;
        previous_z = kernel_->z;
        cycle.begin();
        for (;;) {
            const SweepSums sums =
                sweep(*kernel_, tiling_, W_.threads(), cycle.tests_uphill() ? previous_r.data() : nullptr,
                      nullptr, awake, W_.exchange(), partial);
            ++sweeps_;
            ++since_look;
            ++since_pass;
            const auto beta = cycle.after(sums);
            if (!beta) break;
            extrapolate(W_.threads(), kernel_->r, previous_r, *beta);
            extrapolate(W_.threads(), kernel_->z, previous_z, *beta);
        }
        if (since_look < look_every) continue;
        since_look = 0;
        look();
        history.push_back({sweeps_ + newton_steps_, timer.seconds(), residual_});
        if (!std::isfinite(residual_)) return Status::diverged;
        if (residual_ <= tolerance) return Status::solved;
        const bool accurate = error_ <= pass_accuracy * imbalance_;
        if (!accurate && since_pass < longest_pass) continue;
        // The next pass, with momentum in the displacements too (He & Yuan 2010) as long as that pays.
        multiplier_ = kernel_->z;
        const Vector reached = multiplier_;
        if (accurate && imbalance_ <= last_imbalance) {
            const double next = 0.5 * (1 + std::sqrt(1 + 4 * pass_theta * pass_theta));
            multiplier_ += (pass_theta - 1) / next * (reached - last_multiplier);
            pass_theta = next;
        } else {
            pass_theta = 1;
        }
        last_multiplier = reached;
        last_imbalance = imbalance_;
        kernel_->z = r_ + multiplier_;
        cycle.last_step = INFINITY;
        since_pass = 0;
    }
    return Status::iteration_limit;
}

}  // namespace drystone
