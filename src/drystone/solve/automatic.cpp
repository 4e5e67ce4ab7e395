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
#include <utility>

namespace drystone {

namespace {

/// What a stage has come to.
struct Told {
    std::string_view solver;
    Status status;
    double residual;
    int iterations;
    double seconds;
};

std::string in_words(const Told& told) {
    char text[160];
    std::snprintf(text, sizeof text, "%.*s: %s at %.1e after %d iterations, %.2g s",
                  static_cast<int>(told.solver.size()), told.solver.data(), name_of(told.status),
                  told.residual, told.iterations, told.seconds);
    return text;
}

/// Stages of `auto`: runs solvers one after the other, keeps the best iterate and the story.
class Stages {
public:
    Stages(const Delassus& W, const Goal& goal, const Vector& start)
        : W_(W), goal_(goal), start_(start), best_(W.rooms()), told_(&W.rooms()) {}

    /// Runs one solver from `start`; true when the work is over.
    template <class Solver>
    bool run(Solver&& solver, const Vector& start) {
        ScratchVector x(W_.rooms(), start);
        const SolveReport report = solver(timed_goal(), x);
        const double residual = report.reached;
        add(report, residual);
        if (residual < residual_ || report.status == Status::solved) {
            residual_ = residual;
            best_.swap(x);
            total_.solver = report.solver;
        }
        total_.status = report.status;
        if (report.status == Status::infeasible) {
            note_ = " (" + report.message + ")";
            return true;
        }
        const bool solved = residual_ <= goal_.tolerance;
        if (solved) total_.status = Status::solved;
        // Clocks of ranks differ: all of them are late, or none.
        if (std::isfinite(goal_.time_limit))
            late_ = W_.largest(timer_.seconds() >= goal_.time_limit ? 1 : 0) > 0;
        return solved || late_;
    }

    /// Runs sweeps from `start`, likewise.
    bool sweep(Law law, const GaussSeidelOptions& options, const Vector& start) {
        return run([&](const Goal& g, Vector& x) { return gauss_seidel(W_, law, options, g, x); }, start);
    }

    /// Runs a solver of the convex law with the shift frozen at `shift` from the best iterate; true when the work is
    /// over.
    template <class Solver>
    bool run_frozen(Solver&& solver, Vector shift) {
        ScratchVector x(W_.rooms(), best());
        const SolveReport report = solver(timed_goal(), x);
        add(report, report.reached);
        if (report.status != Status::solved || opens_bonds(W_, shift, x, goal_.tolerance)) {
            shift.give_to(W_.rooms());
            return false;
        }
        total_.status = Status::frozen_shift;
        best_.swap(x);
        shift_ = std::move(shift);
        return true;
    }

    /// What it began with as long as nothing is better.
    [[nodiscard]] const Vector& best() const { return best_.size() > 0 ? best_ : start_; }
    [[nodiscard]] double residual() const { return residual_; }
    [[nodiscard]] double seconds_left() const { return goal_.time_limit - timer_.seconds(); }

    void infeasible(const std::string& why) {
        total_.status = Status::infeasible;
        note_ = "; " + why;
    }

    /// The best iterate, and its frozen shift where it has one.
    SolveReport finish(Vector& r, Vector& shift) {
        shift.swap(shift_);
        if (!is_met(total_.status) && total_.status != Status::infeasible) {
            total_.status = late_ ? Status::time_limit : Status::stalled;
        }
        r.resize(start_.size(), W_.rooms());
        if (best_.size() > 0) {
            r.swap(best_);
        } else {
            r = start_;
        }
        if (goal_.story || !is_met(total_.status)) {
            for (const Told& told : told_)
                total_.message += (total_.message.empty() ? "" : "; ") + in_words(told);
            total_.message += note_;
        }
        total_.seconds = timer_.seconds();
        return std::move(total_);
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
        told_.push_back({report.solver, report.status, residual, report.iterations, report.seconds});
    }

    const Delassus& W_;
    Goal goal_;
    const Vector& start_;
    ScratchVector best_;
    Vector shift_;
    ScratchArray<Told> told_;
    std::string note_;  // behind all that is told
    double begun_ = 0;
    Timer timer_;
    bool late_ = false;
    double residual_ = infinity;  // of the best
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

/// The interior point for the associated law, with the shift that guarded_shift makes of x if it is to be `guarded`. On
/// ranks all of them solve all of it, alike.
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

namespace {

/// The stages for a problem by itself, each a function that is true when the work is over.
class AutoStages {
public:
    AutoStages(const Delassus& W, Law law, const AutoOptions& options, const Goal& goal, const Vector& start)
        : W_(W),
          p_(W.problem()),
          law_(law),
          options_(options),
          start_(start),
          stages_(W, goal, start),
          warm_(law == Law::coulomb && !start.isZero(0)),
          factorisable_((W.whitened() ? p_.dofs() : p_.rows()) <= options.largest_factorisation),
          newton_fits_(law == Law::coulomb && factorisable_ && !p_.dilates()),
          small_(factorisable_ && p_.blocks() <= options.small_problem),
          patient_(sweeps_for(W, options.first_stage_visits, options.first_stage_sweeps)) {}

    SolveReport run(Vector& r) {
        using S = AutoStages;
        // The law's own convex solver ends the list of the associated law.
        constexpr std::array list{
            // from a start that is near a solution
            &S::momentum_from_near, &S::anderson_from_near, &S::newton_from_near,
            // from any
            &S::momentum, &S::proof, &S::interior_point, &S::anderson, &S::short_cycles,
            &S::momentum_from_centre, &S::newton_from_best, &S::newton_from_centre,
            // slow and sure, where they cost little. Sweeps first: the sums of a factorisation, and with them what
            // becomes of a fixed point that hardly converges, differ from processor to processor
            &S::cadoux_by_sweeps, &S::cadoux_by_factors, &S::alternating_directions, &S::plain};
        for (const auto stage : list)
            if ((this->*stage)()) break;
        Vector no_shift;
        return stages_.finish(r, no_shift);
    }

private:
    bool momentum_from_near() {
        return warm_ && stages_.sweep(law_, with_momentum(options_.warm_sweeps, 150, 2), start_);
    }
    bool anderson_from_near() { return warm_ && secant(options_.secant_sweeps); }
    bool newton_from_near() { return warm_ && newton_fits_ && second_order({}, start_); }

    bool momentum() {
        return stages_.sweep(law_, with_momentum(factorisable_ ? patient_ : 1'000'000, 150, 2), start_);
    }
    bool proof() {
        Vector certificate;
        if (!factorisable_ || !(stages_.residual() > 1e-3) || !prove_infeasible(W_, law_, certificate))
            return false;
        stages_.infeasible(describe_infeasibility(W_, certificate));
        return true;
    }
    bool interior_point() {
        if (law_ != Law::associated || !factorisable_) return false;
        stages_.run([&](const Goal& g, Vector& x) { return drystone::interior_point(W_, law_, {}, g, x); },
                    p_.pull_impulse());
        return true;
    }
    /// Where momentum has stalled it has still come near.
    bool anderson() {
        return !warm_ && law_ == Law::coulomb && factorisable_ && secant(2 * options_.secant_sweeps);
    }
    bool secant(int sweeps) {
        GaussSeidelOptions options = with_momentum(sweeps, 150, 2);
        options.acceleration = Acceleration::anderson;
        options.anderson_sweeps = 10;
        return stages_.sweep(law_, options, stages_.best());
    }
    /// Where many contacts slide, steps grow and shrink by themselves: shorter cycles, and none cut off.
    bool short_cycles() {
        return factorisable_ && stages_.sweep(law_, with_momentum(patient_, 80, INFINITY), p_.pull_impulse());
    }
    /// Another branch of solutions: from the centre of the associated law's.
    bool momentum_from_centre() {
        if (!factorisable_) return false;
        Vector centre = p_.pull_impulse();
        Goal loose;
        loose.tolerance = 1e-6;
        loose.time_limit = stages_.seconds_left();
        drystone::interior_point(W_, Law::associated, {}, loose, centre);
        return stages_.run(
            [&](const Goal& g, Vector& x) {
                SolveReport report = gauss_seidel(W_, law_, with_momentum(2 * patient_, 150, 2), g, x);
                from_centre_ = x;
                report.solver = "gauss-seidel-momentum from the associated law";
                return report;
            },
            centre);
    }
    bool newton_from_best() {
        best_by_sweeps_ = stages_.best();
        return newton_fits_ && second_order(without_warm_up(), best_by_sweeps_);
    }
    bool newton_from_centre() {
        return newton_fits_ && best_by_sweeps_ != from_centre_ &&
               second_order(without_warm_up(), from_centre_);
    }

    bool cadoux_by_sweeps() {
        const auto sweeping = [this](const Delassus& frozen, const Goal& inner, Vector& y) {
            return gauss_seidel(frozen, Law::associated, with_momentum(patient_, 150, 2), inner, y);
        };
        return small_ && cadoux(sweeping, p_.pull_impulse());
    }
    bool cadoux_by_factors() {
        const auto factorising = [](const Delassus& frozen, const Goal& inner, Vector& y) {
            return drystone::interior_point(frozen, Law::associated, {}, inner, y);
        };
        return small_ && cadoux(factorising, stages_.best());
    }
    bool alternating_directions() {
        return small_ && stages_.run([&](const Goal& g, Vector& x) { return admm(W_, law_, {}, g, x); },
                                     stages_.best());
    }
    bool plain() {
        const auto blocks = static_cast<double>(std::max<std::int64_t>(1, W_.total_blocks()));
        GaussSeidelOptions gs;
        gs.max_iterations = static_cast<int>(std::min(1e6, 5 * options_.first_stage_visits / blocks));
        gs.patience = gs.max_iterations / 2;
        return stages_.sweep(law_, gs, stages_.best());
    }

    bool second_order(const NewtonOptions& options, const Vector& start) {
        return stages_.run([&](const Goal& g, Vector& x) { return newton(W_, law_, options, g, x); }, start);
    }
    bool cadoux(const ConvexSolver& inner, const Vector& start) {
        return stages_.run([&](const Goal& g, Vector& x) { return fixed_point(W_, law_, {}, inner, g, x); },
                           start);
    }
    static NewtonOptions without_warm_up() {
        NewtonOptions options;
        options.warm_up_momentum = 0;
        return options;
    }

    const Delassus& W_;
    const ConeProblem& p_;
    Law law_;
    const AutoOptions& options_;
    const Vector& start_;
    Stages stages_;
    bool warm_, factorisable_, newton_fits_, small_;
    int patient_;
    Vector from_centre_, best_by_sweeps_;
};

}  // namespace

SolveReport solve_auto(const Delassus& W, Law law, const AutoOptions& options, const Goal& goal,
                       const Vector& start, Vector& r) {
    return AutoStages(W, law, options, goal, start).run(r);
}

std::span<const NamedStage> brief_stages() {
    using enum BriefStage;
    static constexpr std::array<NamedStage, 8> stages{{
        {momentum, "momentum", true, true},
        {anderson, "anderson", true, false},
        {short_cycles, "short-cycles", true, false},
        {frozen_shift, "frozen-shift", true, false},
        {frozen_shift_interior_point, "frozen-shift-interior-point", true, false},
        {interior_point, "interior-point", false, true},
        {proof, "proof", true, true},
        {plain, "plain", true, true},
    }};
    return stages;
}

namespace {

/// The stages of a time step, each a function that is true when the work is over.
class BriefStages {
public:
    BriefStages(const Delassus& W, Law law, const BriefOptions& options, const Goal& goal,
                const Vector& start)
        : W_(W),
          law_(law),
          options_(options),
          stages_(W, goal, start),
          warm_(W.largest(start.isZero(0) ? 0 : 1) > 0),  // all ranks or none
          bonded_(W.largest(W.problem().pull.size() > 0 ? 1 : 0) > 0),
          small_(W.total_blocks() <= options.small_problem),
          factorisable_(W.total_blocks() <= options.largest_factorisation),
          patient_(at_most(sweeps_for(W, options.most_visits, options.least_sweeps))) {}

    SolveReport run(Vector& r, Vector& shift) {
        for (const BriefStage stage : in_order())
            if (run(stage)) break;
        return stages_.finish(r, shift);
    }

private:
    /// Those for the law. A frozen shift may open what slides by more than a bond bears: where there are bonds it comes
    /// last of all sweeps.
    [[nodiscard]] StageList in_order() const {
        StageList list, later;
        for (const BriefStage stage : options_.stages) {
            const NamedStage& named = brief_stages()[static_cast<std::size_t>(stage)];
            if (!(law_ == Law::coulomb ? named.coulomb : named.associated)) continue;
            const bool frozen =
                stage == BriefStage::frozen_shift || stage == BriefStage::frozen_shift_interior_point;
            if (frozen && bonded_) {
                later.add(stage);
                continue;
            }
            list.add(stage);
            if (stage == BriefStage::short_cycles)
                for (const BriefStage s : std::exchange(later, {})) list.add(s);
        }
        for (const BriefStage s : later) list.add(s);
        return list;
    }

    bool run(BriefStage stage) {
        switch (stage) {
            case BriefStage::momentum:
                return stages_.sweep(law_, hurried(with_momentum(patient_, 150, 2), options_.exact_sweeps),
                                     stages_.best());
            case BriefStage::anderson: {
                GaussSeidelOptions gs = hurried(with_momentum(patient_, 150, 2), options_.secant_sweeps);
                gs.acceleration = Acceleration::anderson;
                return warm_ && stages_.sweep(law_, gs, stages_.best());
            }
            case BriefStage::short_cycles:
                return stages_.sweep(law_, with_momentum(patient_, 80, INFINITY), stages_.best());
            case BriefStage::frozen_shift:
                return frozen_shift();
            case BriefStage::frozen_shift_interior_point:
                return factorisable_ &&
                       stages_.run_frozen(
                           [&](const Goal& g, Vector& x) { return by_factors(W_, true, g, x); }, frozen());
            case BriefStage::interior_point:
                return factorisable_ &&
                       stages_.run([&](const Goal& g, Vector& x) { return by_factors(W_, false, g, x); },
                                   stages_.best());
            case BriefStage::proof:
                return is_crushed();
            case BriefStage::plain: {
                GaussSeidelOptions gs;
                gs.max_iterations = at_most(20'000);
                gs.patience = 10'000;
                return small_ && stages_.sweep(law_, gs, stages_.best());
            }
        }
        return false;
    }

    /// Sweeps of a stage: what a user has given, or so many.
    [[nodiscard]] int at_most(int sweeps) const {
        return options_.max_sweeps > 0 ? options_.max_sweeps : sweeps;
    }

    /// Momentum goes fast where a solution is near; Anderson's method where sweeps creep. Where the guarded law
    /// follows, both are given up as soon as the goal is out of reach.
    [[nodiscard]] GaussSeidelOptions hurried(GaussSeidelOptions gs, int sweeps) const {
        constexpr int foresight = 3;  // horizon of a stage in units of its sweeps
        if (law_ == Law::associated || bonded_ || !options_.guarded()) return gs;
        gs.max_iterations = std::min(sweeps, gs.max_iterations);
        gs.horizon = foresight * sweeps;
        return gs;
    }

    /// The guarded shift of the best iterate under the exact law.
    [[nodiscard]] Vector frozen() const { return guarded_shift(W_, stages_.best()); }
    bool frozen_shift() {
        Vector shift = frozen();
        const Delassus convex = W_.with_frozen_shift(shift);
        GaussSeidelOptions sure = with_momentum(at_most(factorisable_ ? patient_ : 4 * patient_), 150, 2);
        sure.patience = patient_;  // it converges, however slowly
        const auto sweeping = [&](const Goal& g, Vector& x) {
            return gauss_seidel(convex, Law::associated, sure, g, x);
        };
        return stages_.run_frozen(sweeping, std::move(shift));
    }

    /// A search that is quick where the problem is small, and in vain where the residual is.
    bool is_crushed() {
        const double hopeless = std::exchange(proof_tried_, true) ? 1e-3 : 1e-2;
        Vector certificate;
        if (!small_ || W_.exchange() != nullptr || !(stages_.residual() > hopeless)) return false;
        if (!prove_infeasible(W_, law_, certificate)) return false;
        stages_.infeasible(describe_infeasibility(W_, certificate));
        return true;
    }

    const Delassus& W_;
    Law law_;
    const BriefOptions& options_;
    Stages stages_;
    bool warm_, bonded_, small_, factorisable_;
    bool proof_tried_ = false;
    int patient_;
};

}  // namespace

SolveReport solve_brief(const Delassus& W, Law law, const BriefOptions& options, const Goal& goal,
                        const Vector& start, Vector& r, Vector& shift) {
    return BriefStages(W, law, options, goal, start).run(r, shift);
}

}  // namespace drystone
