// One time step of everything that is simulated together. Read step.cpp first: it is the pipeline.
#pragma once

#include "drystone/grains/energy.hpp"
#include "drystone/world/world.hpp"

#include <optional>

namespace drystone {

template <int d>
class Share;

/// What a step asks for unless told otherwise.
inline SolveSettings brief_settings() {
    SolveSettings settings;
    settings.solver = BriefOptions{};
    settings.goal.tolerance = 1e-4;
    settings.arithmetic = Arithmetic::repeatable;
    settings.thorough = false;
    return settings;
}

struct StepOptions {
    Scheme scheme = Scheme::look_ahead;
    Drift drift = Drift::push_out;
    /// Weight of the end of the step in the motion. Default: 1 for look_ahead (any less lets grains rebound), 0.5 for
    /// moreau_jean (free flight to second order; restitution keeps the energy it should).
    std::optional<double> theta = {};
    double h = 1e-3;  ///< time step, s; the longest one where it adapts
    /// Steps are shortened so that no grain moves by more than this many of its inner radii; 0: fixed.
    double displacement = 0;
    /// look_ahead: pairs nearer than this enter the problem, in inner radii per body, at least; and twice the way of
    /// each body in the step. Larger: safer where a push sends grains farther than they came, and more work.
    double reach = 0.02;
    /// Where impulses are not unique, those of the stiff elastic limit are taken (elastic/least_energy.hpp). Costs
    /// about a second solve.
    bool elastic_limit = false;
    /// Contacts yield by the stiffness of their materials instead of being rigid.
    bool elastic = false;
    /// Neighbours are looked for by so many inner radii of each body farther: larger makes searches rarer and
    /// candidates more. Changes no result.
    double skin = 0.1;
    /// Law, solver, tolerance, threads (of the whole step). A tolerance of 1e-4 leaves nothing to see: see
    /// Goal::tolerance.
    SolveSettings solve = brief_settings();
    /// A thread is used for so many bodies (or 10 times as many particles of sand): with fewer, threads wait for each
    /// other longer than they work. Changes no result.
    int bodies_per_thread = 1500;
    /// Energies and work of each step: costs a pass over bodies and contacts.
    bool account = true;

    [[nodiscard]] double theta_or_default() const {
        return theta.value_or(scheme == Scheme::look_ahead ? 1.0 : 0.5);
    }
};

/// Wall-clock seconds of each stage.
struct StepSeconds {
    double free = 0, detect = 0, assemble = 0, solve = 0, forces = 0, integrate = 0, account = 0;
    [[nodiscard]] double total() const {
        return free + detect + assemble + solve + forces + integrate + account;
    }
};

/// What a step did.
struct StepRecord {
    double h = 0;               ///< s
    double time = 0;            ///< at the end, s
    std::int64_t contacts = 0;  ///< of bodies, in the problem
    std::int64_t nodes = 0;     ///< of the sand's grid
    std::int64_t active = 0;    ///< that carry an impulse
    /// Largest overlap that detection found (at begin; moreau_jean: at half a step), m, and in inner radii of the
    /// smaller body.
    double overlap = 0, relative_overlap = 0;
    double smallest = infinity;  ///< inner radius of a body with a contact, m
    /// By how much an overlap may grow in this step, by the errors of its solution, in inner radii of the smallest
    /// body; without bound where overlaps are how contacts are found or act (moreau_jean, elastic contacts).
    double overlap_allowance = 0;
    SolveReport solve;
    std::optional<SolveReport> forces = {};  ///< of the search for the elastic limit, where it was asked for
    Energy energy;                           ///< at the end
    StepWork work;
    /// A body whose place, velocity or spin is no number below most_number any more (the one with the largest id); -1:
    /// there is none. Not a step to go on from.
    GlobalId runaway = -1;
    StepSeconds seconds;
};

/// Replaces impulses of the last step that are not unique by those of the stiff elastic limit; velocities stay.
template <int d>
SolveReport find_elastic_limit(const Scene<d>& scene, const SolveSettings& settings,
                               const StepMemory<d>& memory, ConeSolution& solution);

/// Advances the world by one step. Throws Error, with the faults, where the data of its contact problem are none that
/// could be solved. `share`: on several ranks, each of which has a part of the scene (world/share.hpp); then
/// collective, and the record is the same on all but for the seconds.
template <int d>
StepRecord step(Scene<d>& scene, const StepOptions& options, StepMemory<d>& memory, Share<d>* share = nullptr,
                SandPart<d> sand = {});
template <int d>
StepRecord step(World<d>& world, const StepOptions& options, WorldMemory<d>& memory,
                Share<d>* share = nullptr) {
    return step(world.scene, options, memory, share, sand_of(world, memory));
}

}  // namespace drystone
