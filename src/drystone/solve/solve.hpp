// The door of the algebra tower: solve a cone problem with a solver of one's choice, or with `auto`.
#pragma once

#include "drystone/solve/admm.hpp"
#include "drystone/solve/automatic.hpp"
#include "drystone/solve/fixed_point.hpp"
#include "drystone/solve/gauss_seidel.hpp"
#include "drystone/solve/interior_point.hpp"
#include "drystone/solve/newton.hpp"
#include "drystone/solve/projected_gradient.hpp"

#include <optional>
#include <string_view>
#include <variant>

namespace drystone {

/// A solver that can be put inside a fixed point.
using ConvexOptions =
    std::variant<GaussSeidelOptions, ProjectedGradientOptions, AdmmOptions, InteriorPointOptions>;

struct FixedPointSolver {
    FixedPointOptions outer;
    ConvexOptions inner = InteriorPointOptions{};
};

using SolverOptions = std::variant<AutoOptions, BriefOptions, GaussSeidelOptions, ProjectedGradientOptions,
                                   AdmmOptions, InteriorPointOptions, NewtonOptions, FixedPointSolver>;

struct SolveSettings {
    SolverOptions solver = AutoOptions{};
    Law law = Law::coulomb;
    Goal goal;
    int threads = 1;  ///< 0: as many as the machine offers
    /// Of factorisations. A step of a simulation is repeatable; one problem by itself is solved fast.
    Arithmetic arithmetic = Arithmetic::fast;
    /// Whether the referee also checks u and v, which are made from r in the end, against it, and fills the columns of
    /// other programs. Steps do without.
    bool thorough = true;
};

/// Solves; `solution.r` is the warm start if it has the right size. The answer is the best iterate, whatever the
/// status, and "solved" is said only after the referee has judged it.
SolveReport solve(const ConeProblem& problem, const SolveSettings& settings, ConeSolution& solution);
/// The same with an operator at hand, of a problem that is known to be whole: only the range of its numbers is looked
/// at.
SolveReport solve(const Delassus& W, const SolveSettings& settings, ConeSolution& solution);
/// Likewise from `warm`, which is kept.
SolveReport solve(const Delassus& W, const SolveSettings& settings, const Vector& warm,
                  ConeSolution& solution);

struct NamedSolver {
    std::string_view name;
    std::string_view meaning;
    SolverOptions options;
    bool coulomb;     ///< usable with the exact law
    bool associated;  ///< usable with the associated law
};

/// Every solver with a name that a user can give; `auto` first.
const std::vector<NamedSolver>& named_solvers();
/// nullptr if there is none of that name.
const NamedSolver* find_solver(std::string_view name);

}  // namespace drystone
