#include "drystone/solve/gauss_seidel.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/solve/monitor.hpp"
#include "drystone/sweep/anderson.hpp"
#include "drystone/sweep/contact_sweeps.hpp"
#include "drystone/sweep/momentum.hpp"
#include "drystone/sweep/sweep_any.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace drystone {

namespace {

/// A sweep with its bookkeeping, and the linear operations on the kernel's state that acceleration needs. The state is
/// (r, z): z = Hw^T r is linear in r, so any combination of states is a state and costs no product with H.
template <class Kernel>
class Sweeper {
public:
    Sweeper(Kernel& kernel, const Delassus& W, const GaussSeidelOptions& options, const Tiling& tiling)
        : kernel_(kernel), W_(W), tiling_(tiling), partial_(&W.rooms()) {
        sleep_.sweeps = std::min(options.sleep_sweeps, 255);
        sleep_tolerance_ = options.sleep_tolerance;
        if (sleep_.sweeps > 0) sleep_.left.assign(W.problem().blocks(), 0);
    }

    /// The next sweep begins with r + beta (r - before), and likewise z; `before` is then what was. Nothing may change
    /// the state in between.
    void push(double beta, Vector& before_r, Vector& before_z) {
        beta_ = beta;
        pushed_r_ = &before_r;
        pushed_z_ = &before_z;
    }

    /// From now on each call sweeps there and back, where the kernel can and no rank waits for another.
    void sweep_there_and_back() {
        if constexpr (requires { kernel_.backward; }) back_too_ = W_.exchange() == nullptr;
    }
    [[nodiscard]] int sweeps_of_a_call() const { return back_too_ ? 2 : 1; }

    /// Returns the squared norm of the step and the uphill test against `previous` (nullptr: no test); of both ways
    /// their sums.
    SweepSums operator()(Vector* previous = nullptr) {
        const double* push = nullptr;
        double* const compared = previous == nullptr ? nullptr : previous->data();
        double* before = compared;
        if (pushed_r_ != nullptr) {
            extrapolate(W_.threads(), kernel_.z, *pushed_z_, beta_);
            if constexpr (Kernel::pushes) {
                push = &beta_;
                before = pushed_r_->data();
            } else {
                extrapolate(W_.threads(), kernel_.r, *pushed_r_, beta_);
            }
            pushed_r_ = nullptr;
        }
        SweepSums sums = sweep(kernel_, tiling_, W_.threads(), before, push, sleep_, W_.exchange(), partial_);
        if constexpr (requires { kernel_.backward; }) {
            if (back_too_) {
                kernel_.backward = true;
                const SweepSums back =
                    sweep(kernel_, tiling_, W_.threads(), compared, nullptr, sleep_, W_.exchange(), partial_);
                kernel_.backward = false;
                sums.step += back.step;
                sums.uphill += back.uphill;
                sums.visits += back.visits;
            }
        }
        if (previous == nullptr) sums.uphill = 0;
        const double blocks = std::max(1.0, sums.visits);
        sleep_.threshold = sleep_tolerance_ * sleep_tolerance_ * sums.step / blocks;
        return sums;
    }

    void wake() { std::fill(sleep_.left.begin(), sleep_.left.end(), std::uint8_t{0}); }

private:
    Kernel& kernel_;
    const Delassus& W_;
    const Tiling& tiling_;
    Sleep sleep_;
    double sleep_tolerance_ = 0;
    double beta_ = 0;
    bool back_too_ = false;
    Vector *pushed_r_ = nullptr, *pushed_z_ = nullptr;
    ScratchArray<SweepSums> partial_;
};

/// Looks at the iterate for the monitor: by the sweeps' own numbers where the kernel can, else in the problem's order
/// with u computed afresh.
template <class Kernel>
class Look {
public:
    Look(Kernel& kernel, const Delassus& W, Law law, const Goal& goal, Monitor& monitor)
        : kernel_(kernel), W_(W), law_(law), goal_(goal), monitor_(monitor), r_(W.rooms()), u_(W.rooms()) {
        // All ranks or none. For tight goals rounding that piles up in z might show.
        by_sweeps_ = Kernel::pushes && goal.measure == Measure::referee && goal.tolerance >= 1e-8 &&
                     W.largest(W.pull_impulse().size() > 0 ? 1 : 0) == 0;
    }

    bool operator()(int iteration) {
        iteration_ = iteration;
        if constexpr (Kernel::pushes) {
            if (by_sweeps_) {
                const double residual = kernel_.measure(law_).value();
                // Neither what it began with, which the caller has, nor what ends it, which the kernel has, is copied.
                met_ = residual <= goal_.tolerance;
                return monitor_.check(iteration, residual, [&](ScratchVector& best) {
                    if (met_ || iteration == 0) {
                        best.resize(0);
                    } else {
                        best = kernel_.r;
                    }
                });
            }
        }
        r_.resize(W_.problem().rows());
        u_.resize(r_.size());
        take(r_);
        W_.velocity(r_, u_);
        return monitor_.check(iteration, r_, u_);
    }
    /// Removes the rounding that piled up in z, where many sweeps have added to it.
    void refresh() {
        constexpr int often_enough = 1000;
        if (by_sweeps_ && iteration_ - refreshed_ < often_enough) return;
        refreshed_ = iteration_;
        if (by_sweeps_) {
            reload();
        } else {
            kernel_.load(r_);
        }
    }
    /// The best iterate, in the problem's order, where it was kept as the kernel packs it.
    void finish(Vector& r) {
        if (!by_sweeps_ || (!met_ && monitor_.best().size() == 0)) return;
        if (!met_) kernel_.r = monitor_.best();
        take(r);
    }
    [[nodiscard]] double residual() const { return monitor_.residual(); }

private:
    void reload() {
        r_.resize(W_.problem().rows());
        take(r_);
        kernel_.load(r_);
    }
    void take(Vector& r) {
        r.resize(W_.problem().rows());
        kernel_.store(r);
        if (W_.exchange() != nullptr) W_.exchange()->share_rows(r);
    }

    Kernel& kernel_;
    const Delassus& W_;
    Law law_;
    const Goal& goal_;
    Monitor& monitor_;
    bool by_sweeps_ = false, met_ = false;

    int iteration_ = 0, refreshed_ = 0;
    ScratchVector r_, u_;
};

template <class Kernel>
void plain(Sweeper<Kernel>& sweeper, const GaussSeidelOptions& options, Look<Kernel>& look) {
    for (int k = 0; !look(k);) {
        look.refresh();
        sweeper.wake();
        const int until = k == 0 ? std::min(options.check_every, 5) : options.check_every;
        for (int s = 0; s < until; ++s, ++k) sweeper();
    }
}

template <class Kernel>
void momentum(Kernel& kernel, Sweeper<Kernel>& sweeper, const Delassus& W, const GaussSeidelOptions& options,
              Look<Kernel>& look) {
    MomentumCycle cycle{.longest = options.longest_cycle, .blow_up = options.blow_up};
    if (look(0)) return;
    look.refresh();
    // Cycles of sand are long. Contacts that are looked at within cycles take fewer sweeps (322 a step instead of 406
    // in the box1500 of benchmarks/slow_flow.py) but end rougher: Attacks.WhatIsPressedElsewhereIsNoScale fails.
    const bool looks_within = W.problem().tensors.size() > 0;
    // The first weight of a cycle is 0: what was before it does not matter.
    ScratchVector previous_r(W.rooms(), kernel.r), previous_z(W.rooms(), kernel.z);
    for (int k = 0, since_look = 0;;) {
        const SweepSums sums = sweeper(cycle.tests_uphill() ? &previous_r : nullptr);
        ++k;
        ++since_look;
        const auto beta = cycle.after(sums);
        if (since_look >= options.check_every && (looks_within || !beta)) {
            since_look = 0;
            if (look(k)) return;
            look.refresh();
        }
        if (beta) {
            sweeper.push(*beta, previous_r, previous_z);
        } else {
            cycle.begin();
        }
    }
}

/// Momentum for the convex laws: one long cycle whose weight stays below 1. Its iterates are rough: a few sweeps with
/// light momentum make their residual two to five times smaller, and slow modes, which are what takes long, are not
/// touched by these. So where an iterate comes near the goal a smoothed copy of it is looked at, and if that misses the
/// momentum goes on as if nothing had happened.
///
/// Where bodies touch at several places (boxes) heavy momentum may run away: it then begins again at the best iterate
/// with less weight, in the end with none, and plain sweeps descend. In sand it would run away in most steps that flow;
/// it does not where each sweep is followed by one in the opposite order, whose product is symmetric: half as many
/// sweeps in the silo of scenes/sand, 3 of 8 in writing.
template <class Kernel>
void steady_momentum(Kernel& kernel, Sweeper<Kernel>& sweeper, const Delassus& W,
                     const GaussSeidelOptions& options, double tolerance, Look<Kernel>& look) {
    constexpr double runaway = 10;  // growth of the residual that no roughness explains
    constexpr double roughest = 6;  // iterates that miss by more have no copy that does not
    // A copy is looked at after so many sweeps, and given up where it misses by more than what further ones would gain.
    constexpr std::array<std::pair<int, double>, 4> looks{{{5, 2.4}, {10, 1.6}, {20, 1.2}, {40, 0}}};
    constexpr int pause = 5;  // after a copy that missed, in units of its sweeps
    if (look(0)) return;
    look.refresh();
    ScratchVector previous_r(W.rooms(), kernel.r), previous_z(W.rooms(), kernel.z);
    ScratchVector best_r(W.rooms(), kernel.r), best_z(W.rooms(), kernel.z);
    double best = look.residual();
    // 1 less the heaviest weight. What is slower than 1 / lightness sweeps is not sped up by more weight, only kept
    // swinging: it pays for tight goals.
    double lightness = std::clamp(10 * tolerance, 2e-3, 1e-2);
    if (W.problem().tensors.size() > 0) sweeper.sweep_there_and_back();
    const int each = sweeper.sweeps_of_a_call();
    const auto push = [&](NesterovWeights& weights, Vector& before_r, Vector& before_z) {
        const double beta = std::min(std::max(0.0, 1 - lightness), weights.next());
        sweeper.push(beta, before_r, before_z);
    };
    double roughness = roughest;  // by how much an iterate may miss for its copy to be worth a look
    int k = 0, in_cycle = 0, next_copy = 0;
    const auto copy_ends_it = [&] {
        const ScratchVector kept_r(W.rooms(), kernel.r), kept_z(W.rooms(), kernel.z);
        ScratchVector before_r(W.rooms(), kernel.r), before_z(W.rooms(), kernel.z);
        const double raw = look.residual();
        NesterovWeights weights;
        int sweeps = 0;
        for (const auto& [until, miss] : looks) {
            for (; sweeps < until; sweeps += each) {
                if (sweeps > 0) push(weights, before_r, before_z);
                sweeper();
            }
            if (look(k + sweeps)) return true;
            if (until == looks[0].first)
                roughness = std::min(roughest, looks[0].second * raw / look.residual());
            if (!(look.residual() <= miss * tolerance)) break;
        }
        kernel.r = kept_r;
        kernel.z = kept_z;
        k += sweeps;
        next_copy = k + pause * sweeps;
        return false;
    };
    NesterovWeights weights;
    const auto restart = [&] {
        weights = {};
        in_cycle = 0;
    };
    for (int since_look = 0;;) {
        const SweepSums sums = sweeper(in_cycle >= 3 ? &previous_r : nullptr);
        k += each;
        since_look += each;
        ++in_cycle;
        if (since_look >= options.check_every) {
            since_look = 0;
            if (look(k)) return;
            if (look.residual() < best) {
                best = look.residual();
                best_r = kernel.r;
                best_z = kernel.z;
            } else if (!(look.residual() <= runaway * best) && lightness < 1) {
                lightness *= 3;
                previous_r = kernel.r = best_r;
                previous_z = kernel.z = best_z;
                restart();
                continue;
            }
            if (look.residual() <= roughness * tolerance && k >= next_copy && copy_ends_it()) return;
        }
        if (sums.uphill > 0) restart();
        push(weights, previous_r, previous_z);
    }
}

/// Nonsmooth nonlinear conjugate gradients (Silcowitz, Niebe & Erleben 2010) with the sweep as the map: the sweep's
/// step is taken for minus the gradient.
template <class Kernel>
void conjugate(Kernel& kernel, Sweeper<Kernel>& sweeper, const GaussSeidelOptions& options,
               Look<Kernel>& look) {
    if (look(0)) return;
    look.refresh();
    Vector before_r = kernel.r, before_z = kernel.z;
    Vector direction_r = Vector::Zero(kernel.r.size()), direction_z = Vector::Zero(kernel.z.size());
    double last_step = INFINITY;
    for (int k = 0;;) {
        before_r = kernel.r;
        before_z = kernel.z;
        const double step = sweeper().step;
        ++k;
        double beta = std::isinf(last_step) || last_step == 0 ? 0 : step / last_step;
        if (beta > 1) {
            direction_r.setZero();
            direction_z.setZero();
            beta = 0;
        }
        // r <- sweep(r) + beta p;  p <- beta p + (sweep(r) - r)
        direction_r *= beta;
        direction_z *= beta;
        const bool rest =
            k % options.check_every == 0;  // looked at without the extrapolation, which may leave the cone
        before_r = kernel.r - before_r;
        before_z = kernel.z - before_z;
        if (!rest) {
            kernel.r += direction_r;
            kernel.z += direction_z;
        }
        direction_r += before_r;
        direction_z += before_z;
        last_step = step;
        if (rest) {
            if (look(k)) return;
            look.refresh();
        }
    }
}

template <class Kernel>
void anderson(Kernel& kernel, Sweeper<Kernel>& sweeper, const Delassus& W, const Tiling& tiling,
              const GaussSeidelOptions& options, Look<Kernel>& look) {
    if (look(0)) return;
    look.refresh();
    ScratchArray<Index> tile_row(&W.rooms());
    for (Index t = 0; t <= tiling.tiles(); ++t) tile_row.push_back(kernel.tile_row(t));
    ScratchVector weights(W.rooms(), kernel.r.size());
    kernel.weights(weights);
    // Each state that is kept takes as much room as the impulses three times: in very large problems fewer are.
    constexpr double most_kept = 5e6;
    const double room = most_kept / static_cast<double>(std::max<std::int64_t>(1, W.total_blocks()));
    const int depth = std::min(options.anderson_depth, static_cast<int>(std::clamp(room, 3.0, 1e3)));
    Anderson accelerate(W, depth, weights, tile_row);
    ScratchVector before_r(W.rooms());
    for (int k = 0, since_look = 0;;) {
        before_r = kernel.r;
        for (int s = 0; s < options.anderson_sweeps; ++s) sweeper();
        k += options.anderson_sweeps;
        since_look += options.anderson_sweeps;
        if (since_look >=
            options.check_every) {  // looked at before the extrapolation, which may leave the cone
            since_look = 0;
            if (look(k)) return;
            look.refresh();
        }
        accelerate(kernel.r, kernel.z, before_r);
    }
}

template <class Kernel>
SolveReport iterate(Kernel& kernel, const Delassus& W, Law law, const GaussSeidelOptions& options,
                    const Goal& goal, const Tiling& tiling, Vector& r) {
    Monitor monitor(W, law, goal, options.max_iterations, options.patience, options.horizon);
    Sweeper<Kernel> sweeper(kernel, W, options, tiling);
    Look<Kernel> look(kernel, W, law, goal, monitor);
    switch (options.acceleration) {
        case Acceleration::none:
            plain(sweeper, options, look);
            break;
        case Acceleration::momentum:
            if (law == Law::associated) {
                steady_momentum(kernel, sweeper, W, options, goal.tolerance, look);
            } else {
                momentum(kernel, sweeper, W, options, look);
            }
            break;
        case Acceleration::conjugate:
            conjugate(kernel, sweeper, options, look);
            break;
        case Acceleration::anderson:
            anderson(kernel, sweeper, W, tiling, options, look);
            break;
    }
    static constexpr const char* names[] = {"gauss-seidel", "gauss-seidel-momentum", "gauss-seidel-conjugate",
                                            "gauss-seidel-anderson"};
    look.finish(r);
    return monitor.finish(names[static_cast<int>(options.acceleration)], r);
}

/// Calls f with the kernel that the options ask for, or the fastest that fits the blocks of all ranks, at the impulses
/// r. What it packs blocks into is kept with W, for the next call.
template <class F>
auto with_kernel(const Delassus& W, Law law, const GaussSeidelOptions& options, const Tiling& tiling,
                 const Vector& r, F&& f) {
    if (options.kernel == SweepKernel::explicit_matrix && W.exchange() != nullptr)
        fail("Gauss-Seidel kernel `explicit_matrix`", "ranks exchange body vectors, which it has not",
             "use automatic, or one rank");
    if (ContactSweeps::fits(W, options)) {
        auto kernel = std::static_pointer_cast<ContactSweeps>(std::exchange(W.room(), nullptr));
        if (!kernel) kernel = std::make_shared<ContactSweeps>();
        kernel->fill(W, law, options, tiling, r);
        auto answer = f(*kernel);
        W.room() = std::move(kernel);
        return answer;
    }
    if (options.kernel == SweepKernel::rigid)
        fail("Gauss-Seidel kernel `rigid`", "bodies are not all separate, with 3 or 6 velocities",
             "use automatic");
    if (W.compliant()) {
        AnyKernelOf<true> kernel(W, law, options, tiling);
        kernel.load(r);
        return f(kernel);
    }
    AnyKernel kernel(W, law, options, tiling);
    kernel.load(r);
    return f(kernel);
}

}  // namespace

SolveReport gauss_seidel(const Delassus& W, Law law, const GaussSeidelOptions& options, const Goal& goal,
                         Vector& r) {
    const Timer timer;
    const Tiling& tiling = tiling_of(W);
    SolveReport report = with_kernel(W, law, options, tiling, r, [&](auto& kernel) {
        return iterate(kernel, W, law, options, goal, tiling, r);
    });
    report.seconds = timer.seconds();
    return report;
}

double run_sweeps(const Delassus& W, Law law, const GaussSeidelOptions& options, int sweeps, Vector& r) {
    const Tiling& tiling = tiling_of(W);
    return with_kernel(W, law, options, tiling, r, [&](auto& kernel) {
        Sweeper<std::remove_reference_t<decltype(kernel)>> sweeper(kernel, W, options, tiling);
        const bool pushed = options.acceleration == Acceleration::momentum;
        ScratchVector before_r(W.rooms()), before_z(W.rooms());
        if (pushed) {
            before_r = kernel.r;
            before_z = kernel.z;
        }
        constexpr int cycle = 25;
        NesterovWeights weights;
        const Timer timer;
        for (int s = 0; s < sweeps; ++s) {
            if (s % cycle == 0) weights = {};
            if (pushed) sweeper.push(weights.next(), before_r, before_z);
            sweeper();
        }
        const double seconds = timer.seconds();
        kernel.store(r);
        return seconds;
    });
}

}  // namespace drystone
