#include "drystone/solve/solve.hpp"

#include "drystone/base/timer.hpp"
#include "drystone/solve/guarded.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace drystone {

namespace {

template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

SolveReport solve_convex(const Delassus& W, Law law, const ConvexOptions& solver, const Goal& goal,
                         Vector& r) {
    return std::visit(
        Overloaded{[&](const GaussSeidelOptions& o) { return gauss_seidel(W, law, o, goal, r); },
                   [&](const ProjectedGradientOptions& o) { return projected_gradient(W, law, o, goal, r); },
                   [&](const AdmmOptions& o) { return admm(W, law, o, goal, r); },
                   [&](const InteriorPointOptions& o) { return interior_point(W, law, o, goal, r); }},
        solver);
}

SolveReport dispatch(const Delassus& W, Law law, const SolverOptions& solver, const Goal& goal,
                     const Vector& start, Vector& r, Vector& shift) {
    return std::visit(
        Overloaded{[&](const AutoOptions& o) { return solve_auto(W, law, o, goal, start, r); },
                   [&](const BriefOptions& o) { return solve_brief(W, law, o, goal, start, r, shift); },
                   [&](const NewtonOptions& o) {
                       r.resize(start.size(), W.rooms());
                       r = start;
                       return newton(W, law, o, goal, r);
                   },
                   [&](const FixedPointSolver& o) {
                       r.resize(start.size(), W.rooms());
                       r = start;
                       return fixed_point(
                           W, law, o.outer,
                           [&](const Delassus& frozen, const Goal& g, Vector& x) {
                               return solve_convex(frozen, Law::associated, o.inner, g, x);
                           },
                           goal, r);
                   },
                   [&](const auto& o) {
                       r.resize(start.size(), W.rooms());
                       r = start;
                       return solve_convex(W, law, ConvexOptions(o), goal, r);
                   }},
        solver);
}

/// Those whose work ranks can share; others solve the whole problem, each rank by itself.
bool runs_on_ranks(const SolverOptions& solver) {
    return std::holds_alternative<BriefOptions>(solver) ||
           std::holds_alternative<GaussSeidelOptions>(solver) ||
           std::holds_alternative<ProjectedGradientOptions>(solver);
}

/// Blocks, of all ranks: sweeps over so few take less time than a word to another rank.
constexpr std::int64_t too_small_to_share = 500;

SolveReport refused(const ConeProblem& problem) {
    SolveReport report;
    report.solver = "none";
    for (const std::string& fault : find_faults(problem))
        report.message += (report.message.empty() ? "" : "; ") + fault;
    return report;
}

}  // namespace

SolveReport solve(const Delassus& W, const SolveSettings& settings, ConeSolution& solution) {
    Vector start = std::move(solution.r);
    SolveReport report = solve(W, settings, start, solution);
    if (report.status == Status::invalid) solution.r = std::move(start);
    return report;
}

SolveReport solve(const Delassus& W, const SolveSettings& settings, const Vector& warm,
                  ConeSolution& solution) {
    const Timer timer;
    if (&warm == &solution.r) {
        const ScratchVector start(W.rooms(), warm);
        return solve(W, settings, start, solution);
    }
    if (W.largest(numbers_in_range(W.problem(), W.threads()) ? 0 : 1) > 0) return refused(W.problem());
    const bool usable = warm.size() == W.problem().rows() && warm.allFinite();
    const bool cold = W.largest(usable ? 0 : 1) > 0;
    const Vector nothing = cold ? W.problem().pull_impulse() : Vector();
    const Vector& start = cold ? nothing : warm;
    if (W.exchange() != nullptr &&
        (!runs_on_ranks(settings.solver) || W.total_blocks() <= too_small_to_share)) {
        const WholeProblem whole = W.exchange()->whole(start);
        ConeSolution all;
        all.r = whole.r;
        const SolveReport report = solve(whole.problem, settings, all);
        solution.give_to(W.rooms());
        solution.r.resize(W.problem().rows(), W.rooms());
        solution.r = whole.rows_of(all.r, W.problem());
        W.complete(std::move(solution.r), solution);
        if (all.shift.size() > 0) solution.shift = whole.numbers_of(all.shift);
        return report;
    }
    // A little below what is asked: the referee recomputes everything and rounds differently.
    Goal goal = settings.goal;
    goal.tolerance *= 0.99;
    goal.story = settings.thorough;
    solution.give_to(W.rooms());
    Vector shift;
    SolveReport report = dispatch(W, settings.law, settings.solver, goal, start, solution.r, shift);
    W.complete(std::move(solution.r), solution);
    solution.shift = std::move(shift);
    const bool thorough = settings.thorough || settings.goal.measure == Measure::siconos;
    const auto judged_by_measure = [&](const Residual& residual) {
        return settings.goal.measure == Measure::referee ? residual.value : residual.siconos;
    };
    report.residual = judge(W, solution, settings.law, thorough);
    if (solution.shift.size() > 0) {
        Vector frozen = std::move(solution.shift);
        const Residual by_law = judge(W, solution, settings.law, thorough);
        if (judged_by_measure(by_law) <= settings.goal.tolerance) {  // it made no difference
            frozen.give_to(W.rooms());
            report.residual = by_law;
            report.status = Status::solved;
        } else {
            solution.shift = std::move(frozen);
            report.shift_error = shift_error(W, solution, by_law.law.mean);
        }
    }
    const double judged = judged_by_measure(report.residual);
    if (is_met(report.status) && !(judged <= settings.goal.tolerance * (1 + 1e-6))) {
        report.status = Status::stalled;
        report.message +=
            (report.message.empty() ? "" : "; ") + std::string("the referee does not confirm it");
    } else if (report.status != Status::frozen_shift && report.status != Status::infeasible &&
               report.status != Status::invalid && judged <= settings.goal.tolerance) {
        report.status = Status::solved;
    }
    if (!is_met(report.status) && report.message.empty()) report.message = report.reason;
    report.seconds = timer.seconds();
    return report;
}

SolveReport solve(const ConeProblem& problem, const SolveSettings& settings, ConeSolution& solution) {
    const Timer timer;
    if (!find_faults(problem).empty()) return refused(problem);
    Delassus W(problem, settings.threads);
    W.set_arithmetic(settings.arithmetic);
    SolveReport report = solve(W, settings, solution);
    report.seconds = timer.seconds();
    return report;
}

const std::vector<NamedSolver>& named_solvers() {
    static const std::vector<NamedSolver> solvers = [] {
        auto sweeps = [](Acceleration acceleration, LocalSolver local = LocalSolver::hybrid, int sleep = 0) {
            GaussSeidelOptions o;
            o.acceleration = acceleration;
            o.local.solver = local;
            o.sleep_sweeps = sleep;
            return o;
        };
        auto gradient = [](GradientVariant variant) {
            ProjectedGradientOptions o;
            o.variant = variant;
            return o;
        };
        auto frozen = [](FixedPointMap map, ConvexOptions inner) {
            FixedPointSolver s;
            s.outer.map = map;
            s.inner = std::move(inner);
            return s;
        };
        using enum Acceleration;
        using enum GradientVariant;
        return std::vector<NamedSolver>{
            {"auto", "picks, and falls back when the pick stalls", AutoOptions{}, true, true},
            {"gauss-seidel", "sweeps, hybrid local solver", sweeps(none), true, true},
            {"gauss-seidel-sleeping", "the same, leaving settled contacts out for a while",
             sweeps(none, LocalSolver::hybrid, 10), true, true},
            {"gauss-seidel-momentum", "sweeps with Nesterov momentum, adaptive restart", sweeps(momentum),
             true, true},
            {"gauss-seidel-conjugate", "sweeps as the map of nonsmooth conjugate gradients",
             sweeps(conjugate), true, true},
            {"gauss-seidel-anderson", "sweeps as the map of Anderson's method", sweeps(anderson), true, true},
            {"gauss-seidel-fb", "sweeps, Fischer-Burmeister Newton per contact",
             sweeps(none, LocalSolver::fischer_burmeister), true, true},
            {"gauss-seidel-ac", "sweeps, Alart-Curnier Newton per contact",
             sweeps(none, LocalSolver::alart_curnier), true, false},
            {"gauss-seidel-dac", "the same with a line search",
             sweeps(none, LocalSolver::damped_alart_curnier), true, false},
            {"pgd", "projected gradient", gradient(pgd), true, true},
            {"apgd", "accelerated projected gradient", gradient(apgd), true, true},
            {"apgd-as", "the same with adaptive step", gradient(apgd_as), true, true},
            {"apgd-ar", "the same with adaptive restart", gradient(apgd_ar), true, true},
            {"apgd-asr", "the same with both", gradient(apgd_asr), true, true},
            {"aspg", "accelerated spectral projected gradient", gradient(aspg), true, true},
            {"admm", "alternating directions", AdmmOptions{}, true, true},
            {"interior-point", "primal-dual interior point", InteriorPointOptions{}, false, true},
            {"newton", "proximal semismooth Newton", NewtonOptions{}, true, false},
            {"cadoux-gauss-seidel", "Cadoux's fixed point around sweeps with momentum",
             frozen(FixedPointMap::cadoux, sweeps(momentum)), true, false},
            {"cadoux-aspg", "Cadoux's fixed point around aspg", frozen(FixedPointMap::cadoux, gradient(aspg)),
             true, false},
            {"cadoux-apgd", "Cadoux's fixed point around apgd-asr",
             frozen(FixedPointMap::cadoux, gradient(apgd_asr)), true, false},
            {"cadoux-admm", "Cadoux's fixed point around admm", frozen(FixedPointMap::cadoux, AdmmOptions{}),
             true, false},
            {"cadoux-interior-point", "Cadoux's fixed point around the interior point",
             frozen(FixedPointMap::cadoux, InteriorPointOptions{}), true, false},
            {"haslinger-gauss-seidel", "Haslinger's fixed point around sweeps",
             frozen(FixedPointMap::haslinger, sweeps(none)), true, false},
        };
    }();
    return solvers;
}

const NamedSolver* find_solver(std::string_view name) {
    const auto& solvers = named_solvers();
    const auto found =
        std::find_if(solvers.begin(), solvers.end(), [&](const NamedSolver& s) { return s.name == name; });
    return found == solvers.end() ? nullptr : &*found;
}

}  // namespace drystone
