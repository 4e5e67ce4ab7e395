#include "drystone/solve/solve.hpp"

#include "drystone/base/timer.hpp"
#include "drystone/solve/infeasible.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace drystone {

namespace {

template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

double measured(const Delassus& W, Law law, const Goal& goal, const Vector& r) {
    Vector u;
    W.velocity(r, u);
    return goal.measure == Measure::referee ? law_residual(W, r, u, law) : siconos_residual(W, r, u, law);
}

std::string in_words(const SolveReport& report, double residual) {
    char text[160];
    std::snprintf(text, sizeof text, "%s: %s at %.1e after %d iterations, %.2g s", report.solver.c_str(),
                  name_of(report.status), residual, report.iterations, report.seconds);
    return text;
}

/// Stages of `auto`: runs solvers one after the other, keeps the best iterate and the story.
class Stages {
public:
    Stages(const Delassus& W, Law law, const Goal& goal, Vector& r)
        : W_(W), law_(law), goal_(goal), r_(r), best_(r) {
        residual_ = measured(W, law, goal, r);
    }

    /// Runs one solver from `start`; true when the work is over.
    template <class Solver>
    bool run(Solver&& solver, Vector start) {
        Goal goal = goal_;
        goal.time_limit = goal_.time_limit - timer_.seconds();
        if (goal_.progress) {
            goal.progress = [this](const HistoryPoint& point) {
                goal_.progress({total_.iterations + point.iteration, timer_.seconds(), point.residual});
            };
        }
        const double begun = timer_.seconds();
        SolveReport report = solver(goal, start);
        for (const HistoryPoint& point : report.history) {
            total_.history.push_back(
                {total_.iterations + point.iteration, begun + point.seconds, point.residual});
        }
        total_.iterations += report.iterations;
        const double residual = measured(W_, law_, goal_, start);
        if (!total_.message.empty()) total_.message += "; ";
        total_.message += in_words(report, residual);
        if (residual < residual_ || report.status == Status::solved) {
            residual_ = residual;
            best_ = start;
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

    [[nodiscard]] const Vector& best() const { return best_; }
    [[nodiscard]] double residual() const { return residual_; }
    [[nodiscard]] double seconds_left() const { return goal_.time_limit - timer_.seconds(); }

    void infeasible(const std::string& why) {
        total_.status = Status::infeasible;
        total_.message += "; " + why;
    }

    SolveReport finish() {
        if (total_.status != Status::solved && total_.status != Status::infeasible) {
            total_.status = late_ ? Status::time_limit : Status::stalled;
        }
        r_ = best_;
        total_.seconds = timer_.seconds();
        return total_;
    }

private:
    const Delassus& W_;
    Law law_;
    Goal goal_;
    Vector& r_;
    Vector best_;
    Timer timer_;
    bool late_ = false;
    double residual_;
    SolveReport total_;
};

SolveReport solve_auto(const Delassus& W, Law law, const AutoOptions& options, const Goal& goal, Vector& r) {
    const ConeProblem& p = W.problem();
    Stages stages(W, law, goal, r);
    const bool factorisable =
        (W.whitened() ? p.dofs() : p.rows()) <= options.largest_factorisation && W.exchange() == nullptr;
    auto momentum = [&](int sweeps, int longest_cycle, double blow_up) {
        return [&W, law, sweeps, longest_cycle, blow_up](const Goal& g, Vector& x) {
            GaussSeidelOptions gs;
            gs.acceleration = Acceleration::momentum;
            gs.max_iterations = sweeps;
            gs.longest_cycle = longest_cycle;
            gs.blow_up = blow_up;
            gs.patience = 2000;
            return gauss_seidel(W, law, gs, g, x);
        };
    };
    const int patient =
        std::max(options.first_stage_sweeps,
                 static_cast<int>(
                     std::min(1e5, options.first_stage_visits /
                                       static_cast<double>(std::max<std::int64_t>(1, W.total_blocks())))));
    const bool brief = options.brief && W.total_blocks() > options.small_problem;
    if (stages.run(momentum(factorisable || brief ? patient : 1'000'000, 150, 2), r)) return stages.finish();
    if (brief) {
        stages.run(momentum(patient, 80, INFINITY), stages.best());
        return stages.finish();
    }
    if (factorisable) {
        Vector certificate;
        if (stages.residual() > 1e-3 && prove_infeasible(W, law, certificate)) {
            stages.infeasible(describe_infeasibility(W, certificate));
            return stages.finish();
        }
        const Vector zero = Vector::Zero(p.rows());
        if (law == Law::associated) {
            stages.run([&](const Goal& g, Vector& x) { return interior_point(W, law, {}, g, x); }, zero);
            return stages.finish();
        }
        // Where many contacts slide, steps grow and shrink by themselves: shorter cycles, and none cut off.
        if (stages.run(momentum(patient, 80, INFINITY), zero)) return stages.finish();
        if (options.brief) {
            GaussSeidelOptions plain;
            plain.max_iterations = 20'000;
            plain.patience = 10'000;
            stages.run([&](const Goal& g, Vector& x) { return gauss_seidel(W, law, plain, g, x); },
                       stages.best());
            return stages.finish();
        }
        // Another branch of solutions: from the centre of the associated law's.
        Vector centre = zero;
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
        if (stages.run(again, centre)) return stages.finish();
        // Second order, from the best so far, and from that other branch.
        NewtonOptions from_best;
        from_best.warm_up_momentum = 0;
        auto second_order = [&](const Goal& g, Vector& x) { return newton(W, law, from_best, g, x); };
        const Vector best = stages.best();
        if (stages.run(second_order, best)) return stages.finish();
        if (best != from_centre && stages.run(second_order, from_centre)) return stages.finish();
    }
    // The slow and sure, where they cost little.
    if (factorisable && p.blocks() <= options.small_problem) {
        auto cadoux = [&](const Goal& g, Vector& x) {
            return fixed_point(
                W, law, {},
                [](const Delassus& frozen, const Goal& inner, Vector& y) {
                    return interior_point(frozen, Law::associated, {}, inner, y);
                },
                g, x);
        };
        if (stages.run(cadoux, stages.best())) return stages.finish();
        if (stages.run([&](const Goal& g, Vector& x) { return admm(W, law, {}, g, x); }, stages.best()))
            return stages.finish();
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
    return stages.finish();
}

SolveReport solve_convex(const Delassus& W, Law law, const ConvexOptions& solver, const Goal& goal,
                         Vector& r) {
    return std::visit(
        Overloaded{[&](const GaussSeidelOptions& o) { return gauss_seidel(W, law, o, goal, r); },
                   [&](const ProjectedGradientOptions& o) { return projected_gradient(W, law, o, goal, r); },
                   [&](const AdmmOptions& o) { return admm(W, law, o, goal, r); },
                   [&](const InteriorPointOptions& o) { return interior_point(W, law, o, goal, r); }},
        solver);
}

SolveReport dispatch(const Delassus& W, Law law, const SolverOptions& solver, const Goal& goal, Vector& r) {
    return std::visit(
        Overloaded{[&](const AutoOptions& o) { return solve_auto(W, law, o, goal, r); },
                   [&](const NewtonOptions& o) { return newton(W, law, o, goal, r); },
                   [&](const FixedPointSolver& o) {
                       return fixed_point(
                           W, law, o.outer,
                           [&](const Delassus& frozen, const Goal& g, Vector& x) {
                               return solve_convex(frozen, Law::associated, o.inner, g, x);
                           },
                           goal, r);
                   },
                   [&](const auto& o) { return solve_convex(W, law, ConvexOptions(o), goal, r); }},
        solver);
}

/// Those that need no more of other ranks than an Exchange.
bool runs_on_ranks(const SolverOptions& solver) {
    return std::holds_alternative<AutoOptions>(solver) ||
           std::holds_alternative<GaussSeidelOptions>(solver) ||
           std::holds_alternative<ProjectedGradientOptions>(solver);
}

}  // namespace

SolveReport solve(const Delassus& W, const SolveSettings& settings, ConeSolution& solution) {
    const Timer timer;
    if (W.exchange() != nullptr && !runs_on_ranks(settings.solver)) {
        SolveReport report;
        report.solver = "none";
        report.message = "this solver runs on one rank only: take auto, gauss-seidel or a projected gradient";
        return report;
    }
    Vector r = solution.r;
    const bool usable = r.size() == W.problem().rows() && r.allFinite();
    if (W.largest(usable ? 0 : 1) > 0) r = Vector::Zero(W.problem().rows());
    // A little below what is asked: the referee recomputes everything and rounds differently.
    Goal goal = settings.goal;
    goal.tolerance *= 0.99;
    SolveReport report = dispatch(W, settings.law, settings.solver, goal, r);
    solution = W.complete(r);
    report.residual = judge(W, solution, settings.law);
    const double judged =
        settings.goal.measure == Measure::referee ? report.residual.value : report.residual.siconos;
    if (report.status == Status::solved && !(judged <= settings.goal.tolerance * (1 + 1e-6))) {
        report.status = Status::stalled;
        report.message +=
            (report.message.empty() ? "" : "; ") + std::string("the referee does not confirm it");
    } else if (report.status != Status::infeasible && report.status != Status::invalid &&
               judged <= settings.goal.tolerance) {
        report.status = Status::solved;
    }
    report.seconds = timer.seconds();
    return report;
}

SolveReport solve(const ConeProblem& problem, const SolveSettings& settings, ConeSolution& solution) {
    const Timer timer;
    const std::vector<std::string> faults = find_faults(problem);
    if (!faults.empty()) {
        SolveReport report;
        report.solver = "none";
        for (const std::string& fault : faults)
            report.message += (report.message.empty() ? "" : "; ") + fault;
        return report;
    }
    const Delassus W(problem, settings.threads);
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
