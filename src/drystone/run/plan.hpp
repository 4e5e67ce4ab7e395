// What a run is made from: the scene, how it is run, and what it leaves behind. Scene files are read into one.
#pragma once

#include "drystone/run/output_plan.hpp"
#include "drystone/run/scene_files.hpp"
#include "drystone/run/simulate.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace drystone {

/// The table of the file that bodies were made from: all from `first` on, up to the next origin's.
struct BodyOrigin {
    GlobalId first = 0;
    int line = 0;
    std::string table;  ///< "lattice[2]"
};

/// The user's names, for messages.
struct SceneNames {
    /// one per Scene::shapes: the name in the file, or the type of an inline shape
    std::vector<std::string> shapes;
    std::map<GlobalId, std::string> bodies;  ///< of those that have one, by id
    std::vector<BodyOrigin> origins;         ///< in the order of ids
};

template <int d>
struct RunPlan {
    std::string title;
    World<d> world;
    Feeds<d> feeds;
    RunOptions options;
    std::string solver = "auto";  ///< the name of options.step.solve.solver
    OutputPlan output;
    std::vector<MeasureTable<d>> measures;
    SceneNames names;
    // Of a run in phases (SceneFiles::phase is the present one).
    std::vector<std::string> phases;    ///< their names; empty: it has none
    std::vector<GlobalId> gone, freed;  ///< bodies taken away, and held ones let go, by now
    std::vector<std::string> changed;   ///< fields to which the present one gives values

    /// True if the present phase is over, and another one follows.
    [[nodiscard]] bool phase_is_over(const SceneFiles& files, const RunProgress& progress) const {
        const double time = world.scene.time;
        const bool over = progress.stopped != StopReason::none || options.reached(options.phase_end, time);
        const bool last = files.phase + 1 >= static_cast<int>(phases.size());
        return over && !last && !options.reached_end(time, progress.summary.steps);
    }
};

/// What is said instead of the scene, as by the command line; kept for when the run is resumed.
struct RunOverrides {
    std::optional<double> until;        ///< s
    std::optional<std::int64_t> steps;  ///< of the whole run, from its beginning
    std::optional<double> tolerance;    ///< of a step's solve
};
/// Puts them into the options of a plan. Throws Error where they make too many steps.
void apply(const RunOverrides& overrides, RunOptions& options);

using AnyPlan = std::variant<RunPlan<2>, RunPlan<3>>;

}  // namespace drystone
