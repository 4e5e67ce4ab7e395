// `auto`: lists of stages, tried one after the other until the referee is satisfied. One for problems by themselves,
// one for time steps.
#pragma once

#include "drystone/solve/report.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

namespace drystone {

/// For a problem by itself: picks a solver and falls back on others when it stalls; the report says which and why.
///   exact law:       from a start that was given, sweeps with momentum, then by Anderson's method, then Newton;
///   Gauss-Seidel with
///                    momentum; by Anderson's method from where that stalled, if it has not been tried; with momentum
///                    in shorter
///                    cycles, and from the centred solution of the associated law (interior point); Newton from the
///                    best of
///                    these; then, for small problems, the slow and sure.
///   associated law:  Gauss-Seidel with momentum; then the interior point.
struct AutoOptions {
    /// Sweeps with momentum, and by Anderson's method, from a start that is near a solution: of a step, that of the one
    /// before.
    int warm_sweeps = 100, secant_sweeps = 1200;
    /// Visits of blocks (sweeps times blocks) that the first stage may spend before it gives way, where the second
    /// stage can run.
    double first_stage_visits = 2e7;
    int first_stage_sweeps = 3000;  ///< at least so many, whatever the size
    Index small_problem = 1000;     ///< blocks up to which everything is tried: each try takes seconds
    /// Largest number of velocities for which a factorisation is thought of: about 10 s each at this size.
    Index largest_factorisation = 150'000;
};

/// What a list for time steps is made of. Each is bounded in sweeps; the next one begins with the best iterate so far.
enum class BriefStage : std::uint8_t {
    momentum,      ///< sweeps with momentum, from the step before
    anderson,      ///< sweeps by Anderson's method, where there is a step before
    short_cycles,  ///< sweeps with momentum in cycles that are never cut off, for many sliding contacts
    frozen_shift,  ///< sweeps under the guarded convex law (solve/guarded.hpp): the answer says so
    frozen_shift_interior_point,  ///< the same by the interior point, up to `largest_factorisation` blocks
    interior_point,               ///< associated law, up to as many
    proof,                        ///< up to `small_problem` blocks: is there no solution?
    plain,                        ///< up to as many: sweeps, slow and sure
};

struct NamedStage {
    BriefStage stage;
    std::string_view name;
    bool coulomb, associated;  ///< laws that it is for; with the other it is left out
};
/// Every stage, by the name that a scene can give.
std::span<const NamedStage> brief_stages();

/// A few stages in their order.
struct StageList {
    static constexpr int most = 12;
    std::array<BriefStage, most> stage = {};
    int count = 0;

    StageList() = default;
    StageList(std::initializer_list<BriefStage> stages) {
        for (const BriefStage s : stages) add(s);
    }
    void add(BriefStage s) { stage[count++] = s; }
    [[nodiscard]] const BriefStage* begin() const { return stage.data(); }
    [[nodiscard]] const BriefStage* end() const { return stage.data() + count; }
    friend bool operator==(const StageList&, const StageList&) = default;
    [[nodiscard]] bool has(BriefStage s) const { return std::find(begin(), end(), s) != end(); }
};

/// For a time step: bounded in sweeps, the same bits whatever solves, and nearly always an answer that the referee
/// confirms.
struct BriefOptions {
    using enum BriefStage;
    /// Those of the law are tried in this order. Where contacts bear pulls, frozen shifts come after all other sweeps.
    StageList stages = {momentum,     anderson, proof,          frozen_shift, frozen_shift_interior_point,
                        short_cycles, proof,    interior_point, plain};
    /// The exact law or nothing, and more sweeps for it.
    static BriefOptions strict() {
        BriefOptions options;
        options.stages = {momentum, anderson, proof, short_cycles, proof, interior_point, plain};
        return options;
    }
    /// True if it may end with a frozen shift.
    [[nodiscard]] bool guarded() const {
        return stages.has(frozen_shift) || stages.has(frozen_shift_interior_point);
    }

    /// At most so many sweeps with momentum under the exact law, and by Anderson's method, where a frozen shift
    /// follows.
    int exact_sweeps = 150, secant_sweeps = 60;
    double most_visits = 1e7;   ///< visits of blocks that every other stage may spend
    int least_sweeps = 3000;    ///< but at least so many sweeps, whatever the size
    int max_sweeps = 0;         ///< that a stage may spend, instead of these two, where given
    Index small_problem = 200;  ///< blocks
    /// blocks up to which the interior point is tried: seconds at this size
    Index largest_factorisation = 3000;
};

SolveReport solve_auto(const Delassus& W, Law law, const AutoOptions& options, const Goal& goal,
                       const Vector& start, Vector& r);
/// `shift` receives the frozen shift where the status is frozen_shift, and is empty otherwise.
SolveReport solve_brief(const Delassus& W, Law law, const BriefOptions& options, const Goal& goal,
                        const Vector& start, Vector& r, Vector& shift);

}  // namespace drystone
