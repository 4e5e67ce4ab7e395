#include "drystone/solve/automatic.hpp"

#include "drystone/base/timer.hpp"
#include "drystone/solve/admm.hpp"
#include "drystone/solve/fixed_point.hpp"
#include "drystone/solve/gauss_seidel.hpp"
#include "drystone/solve/guarded.hpp"
#include "drystone/solve/infeasible.hpp"
#include "drystone/solve/interior_point.hpp"
#include "drystone/solve/newton.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace drystone {

namespace {

std::string in_words(const SolveReport& report, double residual) {
    char text[160];
    std::snprintf(text, sizeof text, "%s: %s at %.1e after %d iterations, %.2g s", report.solver.c_str(),
                  name_of(report.status), residual, report.iterations, report.seconds);
    return text;
}

/// Stages of `auto`: runs solvers one after the other, keeps the best iterate and the story.
class Stages {
public:
    Stages(const Delassus& W, const Goal& goal, const Vector& start) : W_(W), goal_(goal), start_(start) {}

    /// Runs one solver from `start`; true when the work is over.
    template <class Solver>
    bool run(Solver&& solver, const Vector& start) {
        Vector x = start;
        const SolveReport report = solver(timed_goal(), x);
        const double residual = report.reached;
        add(report, residual);
        if (residual < residual_ || report.status == Status::solved) {
            residual_ = residual;
            best_ = std::move(x);
            total_.solver = report.solver;
        }
        total_.status = report.status;
        if (report.status == Status::infeasible) {
            total_.message += " (" + report.message + ")";
            return true;
        }
        const bool solved = residual_ <= goal_.tolerance;
        if (solved) total_.status = Status::solved;
        // Clocks of ranks differ: all of them are late, or none.
        if (std::isfinite(goal_.time_limit))
            late_ = W_.largest(timer_.seconds() >= goal_.time_limit ? 1 : 0) > 0;
        return solved || late_;
    }

    /// Runs a solver of the convex law with the shift frozen at `shift` from the best iterate; true when the work is over.
    template <class Solver>
    bool run_frozen(Solver&& solver, const Vector& shift) {
        Vector x = best();
        const SolveReport report = solver(timed_goal(), x);
        add(report, report.history.empty() ? NAN : report.history.back().residual);
        if (report.status != Status::solved || opens_bonds(W_, shift, x, goal_.tolerance)) return false;
        total_.status = Status::frozen_shift;
        best_ = std::move(x);
        shift_ = shift;
        return true;
    }

    /// What it began with as long as nothing is better.
    [[nodiscard]] const Vector& best() const { return best_.size() > 0 ? best_ : start_; }
    [[nodiscard]] const Vector& shift() const { return shift_; }
    [[nodiscard]] double residual() const { return residual_; }
    [[nodiscard]] double seconds_left() const { return goal_.time_limit - timer_.seconds(); }

    void infeasible(const std::string& why) {
        total_.status = Status::infeasible;
        total_.message += "; " + why;
    }

    SolveReport finish(Vector& r) {
        if (!is_met(total_.status) && total_.status != Status::infeasible) {
            total_.status = late_ ? Status::time_limit : Status::stalled;
        }
        if (best_.size() > 0) {
            r = std::move(best_);
        } else {
            r = start_;
        }
        total_.seconds = timer_.seconds();
        return total_;
    }

private:
    /// The goal with what is left of the time; its progress goes on from that of the stages before.
    [[nodiscard]] Goal timed_goal() {
        Goal goal = goal_;
        goal.time_limit = goal_.time_limit - timer_.seconds();
        begun_ = timer_.seconds();
        if (goal_.progress) {
            goal.progress = [this](const HistoryPoint& point) {
                goal_.progress({total_.iterations + point.iteration, timer_.seconds(), point.residual});
            };
        }
        return goal;
    }

    void add(const SolveReport& report, double residual) {
        for (const HistoryPoint& point : report.history) {
            total_.history.push_back(
                {total_.iterations + point.iteration, begun_ + point.seconds, point.residual});
        }
        total_.iterations += report.iterations;
        if (!total_.message.empty()) total_.message += "; ";
        total_.message += in_words(report, residual);
    }

    const Delassus& W_;
    Goal goal_;
    const Vector& start_;
    Vector best_, shift_;
    double begun_ = 0;
    Timer timer_;
    bool late_ = false;
    double residual_ = std::numeric_limits<double>::infinity();  // of the best
    SolveReport total_;
};

GaussSeidelOptions with_momentum(int sweeps, int longest_cycle, double blow_up) {
    GaussSeidelOptions gs;
    gs.acceleration = Acceleration::momentum;
    gs.max_iterations = sweeps;
    gs.longest_cycle = longest_cycle;
    gs.blow_up = blow_up;
    gs.patience = 2000;
    return gs;
}

/// So many sweeps as make this many visits of blocks, but at least `least`.
int sweeps_for(const Delassus& W, double visits, int least) {
    const auto blocks = static_cast<double>(std::max<std::int64_t>(1, W.total_blocks()));
    return std::max(least, static_cast<int>(std::min(1e5, visits / blocks)));
}

/// The interior point for the associated law, with the shift that guarded_shift makes of x if it is to be `guarded`. On ranks all of them solve all of
/// it, alike.
SolveReport by_factors(const Delassus& W, bool guarded, const Goal& goal, Vector& x) {
    if (W.exchange() != nullptr) {
        const WholeProblem whole = W.exchange()->whole(x);
        Delassus all(whole.problem, W.threads());
        all.set_arithmetic(W.arithmetic());
        Vector r = whole.r;
        const SolveReport report = by_factors(all, guarded, goal, r);
        x = whole.rows_of(r, W.problem());
        return report;
    }
    return interior_point(guarded ? W.with_frozen_shift(guarded_shift(W, x)) : W, Law::associated, {}, goal,
                          x);
}

}  // namespace

SolveReport solve_auto(const Delassus& W, Law law, const AutoOptions& options, const Goal& goal,
                       const Vector& start, Vector& r) {
    const ConeProblem& p = W.problem();
    Stages stages(W, goal, start);
    const bool factorisable = (W.whitened() ? p.dofs() : p.rows()) <= options.largest_factorisation;
    auto momentum = [&](int sweeps, int longest_cycle, double blow_up) {
        return [&W, law, gs = with_momentum(sweeps, longest_cycle, blow_up)](const Goal& g, Vector& x) {
            return gauss_seidel(W, law, gs, g, x);
        };
    };
    const int patient = sweeps_for(W, options.first_stage_visits, options.first_stage_sweeps);
    if (law == Law::coulomb && !start.isZero(0)) {
        if (stages.run(momentum(options.warm_sweeps, 150, 2), start)) return stages.finish(r);
        GaussSeidelOptions secant = with_momentum(options.secant_sweeps, 150, 2);
        secant.acceleration = Acceleration::anderson;
        secant.anderson_sweeps = 10;
        const auto anderson = [&](const Goal& g, Vector& x) { return gauss_seidel(W, law, secant, g, x); };
        if (stages.run(anderson, stages.best())) return stages.finish(r);
        const auto second_order = [&](const Goal& g, Vector& x) { return newton(W, law, {}, g, x); };
        if (factorisable && stages.run(second_order, start)) return stages.finish(r);
    }
    if (stages.run(momentum(factorisable ? patient : 1'000'000, 150, 2), start)) return stages.finish(r);
    if (factorisable) {
        Vector certificate;
        if (stages.residual() > 1e-3 && prove_infeasible(W, law, certificate)) {
            stages.infeasible(describe_infeasibility(W, certificate));
            return stages.finish(r);
        }
        const Vector cold = p.pull_impulse();
        if (law == Law::associated) {
            stages.run([&](const Goal& g, Vector& x) { return interior_point(W, law, {}, g, x); }, cold);
            return stages.finish(r);
        }
        // Where many contacts slide, steps grow and shrink by themselves: shorter cycles, and none cut off.
        if (stages.run(momentum(patient, 80, INFINITY), cold)) return stages.finish(r);
        // Another branch of solutions: from the centre of the associated law's.
        Vector centre = cold;
        Goal loose;
        loose.tolerance = 1e-6;
        loose.time_limit = stages.seconds_left();
        interior_point(W, Law::associated, {}, loose, centre);
        Vector from_centre;
        auto again = [&](const Goal& g, Vector& x) {
            SolveReport report = momentum(2 * patient, 150, 2)(g, x);
            from_centre = x;
            report.solver += " from the associated law";
            return report;
        };
        if (stages.run(again, centre)) return stages.finish(r);
        // Second order, from the best so far, and from that other branch.
        NewtonOptions from_best;
        from_best.warm_up_momentum = 0;
        auto second_order = [&](const Goal& g, Vector& x) { return newton(W, law, from_best, g, x); };
        const Vector best = stages.best();
        if (stages.run(second_order, best)) return stages.finish(r);
        if (best != from_centre && stages.run(second_order, from_centre)) return stages.finish(r);
    }
    // The slow and sure, where they cost little.
    if (factorisable && p.blocks() <= options.small_problem) {
        const auto cadoux = [&](const ConvexSolver& inner) {
            return
                [&W, law, inner](const Goal& g, Vector& x) { return fixed_point(W, law, {}, inner, g, x); };
        };
        // Sweeps first: the sums of a factorisation, and with them what becomes of a fixed point that hardly converges, differ from processor to
        // processor.
        const ConvexSolver sweeping = [patient](const Delassus& frozen, const Goal& inner, Vector& y) {
            return gauss_seidel(frozen, Law::associated, with_momentum(patient, 150, 2), inner, y);
        };
        const ConvexSolver factorising = [](const Delassus& frozen, const Goal& inner, Vector& y) {
            return interior_point(frozen, Law::associated, {}, inner, y);
        };
        if (stages.run(cadoux(sweeping), p.pull_impulse())) return stages.finish(r);
        if (stages.run(cadoux(factorising), stages.best())) return stages.finish(r);
        if (stages.run([&](const Goal& g, Vector& x) { return admm(W, law, {}, g, x); }, stages.best()))
            return stages.finish(r);
    }
    const int slow =
        static_cast<int>(std::min(1e6, 5 * options.first_stage_visits /
                                           static_cast<double>(std::max<std::int64_t>(1, W.total_blocks()))));
    auto plain = [&](const Goal& g, Vector& x) {
        GaussSeidelOptions gs;
        gs.max_iterations = slow;
        gs.patience = slow / 2;
        return gauss_seidel(W, law, gs, g, x);
    };
    stages.run(plain, stages.best());
    return stages.finish(r);
}

SolveReport solve_brief(const Delassus& W, Law law, const BriefOptions& options, const Goal& goal,
                        const Vector& start, Vector& r, Vector& shift) {
    constexpr int foresight = 3;  // horizon of a stage in units of its sweeps
    Stages stages(W, goal, start);
    const bool small = W.total_blocks() <= options.small_problem;
    const int patient = sweeps_for(W, options.most_visits, options.least_sweeps);
    const auto sweeps = [&](const GaussSeidelOptions& gs) {
        return [&W, law, gs](const Goal& g, Vector& x) { return gauss_seidel(W, law, gs, g, x); };
    };
    const auto finish = [&] {
        shift = stages.shift();
        return stages.finish(r);
    };
    // True if there is no solution: a search that is quick where the problem is small, and in vain where the residual is.
    const auto crushed = [&](double residual) {
        Vector certificate;
        if (!small || W.exchange() != nullptr || !(stages.residual() > residual)) return false;
        if (!prove_infeasible(W, law, certificate)) return false;
        stages.infeasible(describe_infeasibility(W, certificate));
        return true;
    };
    const bool factorisable = W.total_blocks() <= options.largest_factorisation;
    const auto factorising = [&](const Goal& g, Vector& x) {
        return by_factors(W, law == Law::coulomb, g, x);
    };
    if (law == Law::associated) {
        if (stages.run(sweeps(with_momentum(patient, 150, 2)), start)) return finish();
    } else {
        // Momentum goes fast where a solution is near; Anderson's method where sweeps creep. Both are given up as soon as the goal is out of reach.
        // A frozen shift may open what slides by more than a bond bears: where there are bonds it comes last.
        const bool bonded = W.largest(W.problem().pull.size() > 0 ? 1 : 0) > 0,
                   soon = options.guarded && !bonded;
        GaussSeidelOptions exact = with_momentum(soon ? options.exact_sweeps : patient, 150, 2);
        if (soon) exact.horizon = foresight * exact.max_iterations;
        if (stages.run(sweeps(exact), start)) return finish();
        if (W.largest(start.isZero(0) ? 0 : 1) > 0) {  // all ranks or none
            exact.acceleration = Acceleration::anderson;
            exact.max_iterations = soon ? options.secant_sweeps : patient;
            if (soon) exact.horizon = foresight * exact.max_iterations;
            if (stages.run(sweeps(exact), stages.best())) return finish();
        }
        if (crushed(1e-2)) return finish();
        const auto short_cycles = sweeps(with_momentum(patient, 80, INFINITY));
        if (!soon && stages.run(short_cycles, stages.best())) return finish();
        if (options.guarded) {
            const Vector frozen = guarded_shift(W, stages.best());
            const Delassus convex = W.with_frozen_shift(frozen);
            GaussSeidelOptions sure = with_momentum(factorisable ? patient : 4 * patient, 150, 2);
            sure.patience = patient;  // it converges, however slowly
            const auto sweeping = [&](const Goal& g, Vector& x) {
                return gauss_seidel(convex, Law::associated, sure, g, x);
            };
            if (stages.run_frozen(sweeping, frozen)) return finish();
            if (factorisable && stages.run_frozen(factorising, frozen)) return finish();
        }
        if (soon && stages.run(short_cycles, stages.best())) return finish();
    }
    if (crushed(1e-3)) return finish();
    if (law == Law::associated && factorisable && stages.run(factorising, stages.best())) return finish();
    if (!small) return finish();
    GaussSeidelOptions plain;
    plain.max_iterations = 20'000;
    plain.patience = 10'000;
    stages.run(sweeps(plain), stages.best());
    return finish();
}

}  // namespace drystone
