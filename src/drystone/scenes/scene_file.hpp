// Scene files: bodies, laws, time and output in TOML. docs/scene.md is the reference of all fields.
#pragma once

#include "drystone/run/output_plan.hpp"
#include "drystone/run/simulate.hpp"
#include "drystone/scenes/scene_files.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace drystone {

/// The largest tolerance of a run: the worst contact may miss by 20 times as much (eq. 14), and by 0.05 that bound would allow anything.
inline constexpr double loosest_tolerance = 0.01;

/// The table of the file that bodies were made from: all from `first` on, up to the next origin's.
struct BodyOrigin {
    GlobalId first = 0;
    int line = 0;
    std::string table;  ///< "lattice[2]"
};

/// The user's names, for messages.
struct SceneNames {
    std::vector<std::string>
        shapes;  ///< one per Scene::shapes: the name in the file, or the type of an inline shape
    std::map<GlobalId, std::string> bodies;  ///< of those that have one, by id
    std::vector<BodyOrigin> origins;         ///< in the order of ids
};

template <int d>
struct RunPlan {
    std::string title;
    Scene<d> scene;
    Feeds<d> feeds;
    RunOptions options;
    std::string solver = "auto";  ///< the name of options.step.solve.solver
    OutputPlan output;
    std::vector<MeasureTable<d>> measures;
    SceneNames names;
};

using AnyPlan = std::variant<RunPlan<2>, RunPlan<3>>;

/// Reads a scene. Throws Error with all faults of the file, one per line:
///     file.toml:12: body[3].radius: -1; give a positive length in m
/// `place`: grains of lattices and fills are put where they belong; false: left out, since a checkpoint has them.
AnyPlan read_scene(const std::filesystem::path& file, bool place = true);
/// The same from files that have been read; those that the scene names are read, and kept in `files`, where they are not there yet.
AnyPlan read_scene(SceneFiles& files, bool place = true);

/// "left wall" or "body 17 (pebble)", of a body of plan.scene by its index; the number is its id.
template <int d>
std::string name_of_body(const RunPlan<d>& plan, Index body);

}  // namespace drystone
