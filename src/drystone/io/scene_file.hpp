// Scene files: bodies, laws, time and output in TOML. docs/scene.md is the reference of all fields.
#pragma once

#include "drystone/grains/simulate.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace drystone {

/// What a run leaves behind, and how often. The folder is given where the run is started.
struct OutputPlan {
    double frames_every = 0;        ///< s of simulated time; 0: none
    double measurements_every = 0;  ///< s of simulated time; 0: every step
};

/// The user's names, for messages.
struct SceneNames {
    std::vector<std::string>
        shapes;  ///< one per Scene::shapes: the name in the file, or the type of an inline shape
    std::map<Index, std::string> bodies;  ///< of those that have one
};

template <int d>
struct RunPlan {
    std::string title;
    Scene<d> scene;
    RunOptions options;
    std::string solver = "auto";  ///< the name of options.step.solve.solver
    OutputPlan output;
    SceneNames names;
};

using AnyPlan = std::variant<RunPlan<2>, RunPlan<3>>;

/// Reads a scene. Throws Error with all faults of the file, one per line:
///     file.toml:12: body[3].radius: -1; give a positive length in m
AnyPlan read_scene(const std::filesystem::path& file);

/// "left wall" or "body 17 (pebble)".
template <int d>
std::string name_of_body(const RunPlan<d>& plan, Index body);

}  // namespace drystone
