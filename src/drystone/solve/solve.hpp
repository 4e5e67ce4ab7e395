// The door of the algebra tower: solve a cone problem with a solver of one's choice, or with `auto`.
#pragma once

#include "drystone/solve/admm.hpp"
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

/// Picks a solver and falls back on others when it stalls; the report says which and why.
///   exact law:       Gauss-Seidel with momentum, in long and then in shorter cycles; the same from the centred solution of the
///                    associated law (interior point); Newton from the best of these; then, for small problems, the slow and sure.
///   associated law:  Gauss-Seidel with momentum; then the interior point.
struct AutoOptions {
    /// Visits of blocks (sweeps times blocks) that the first stage may spend before it gives way, where the second stage can run.
    double first_stage_visits = 2e7;
    int first_stage_sweeps = 3000;  ///< at least so many, whatever the size
    Index small_problem = 1000;     ///< blocks up to which everything is tried: each try takes seconds
    /// Inside a time step: sweeps only, whose results are the same to the bit (a factorisation by MUMPS is not), and a problem that is not small
    /// gets the first two stages, both from the start that was given, and no more. The next step starts from a better place than
    /// stubbornness would reach in this one.
    bool brief = false;
    /// Largest number of velocities (bodies x body_dim) for which a factorisation is thought of: about 10 s each at this size.
    Index largest_factorisation = 150'000;
};

using SolverOptions = std::variant<AutoOptions, GaussSeidelOptions, ProjectedGradientOptions, AdmmOptions,
                                   InteriorPointOptions, NewtonOptions, FixedPointSolver>;

struct SolveSettings {
    SolverOptions solver = AutoOptions{};
    Law law = Law::coulomb;
    Goal goal;
    int threads = 1;  ///< 0: as many as the machine offers
};

/// Solves; `solution.r` is the warm start if it has the right size. The answer is the best iterate, whatever the status, and
/// "solved" is said only after the referee has judged it.
SolveReport solve(const ConeProblem& problem, const SolveSettings& settings, ConeSolution& solution);
/// The same with an operator at hand.
SolveReport solve(const Delassus& W, const SolveSettings& settings, ConeSolution& solution);

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
