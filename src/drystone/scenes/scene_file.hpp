// Scene files: bodies, laws, time and output in TOML. docs/scene.md is the reference of all fields.
#pragma once

#include "drystone/run/plan.hpp"
#include "drystone/run/scene_files.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace drystone {

/// The scene file, read from the disk; the others will be when they are asked for. Throws Error if it cannot be opened.
SceneFiles open_scene(const std::filesystem::path& scene);

/// Reads a scene. Throws Error with all faults of the file, one per line:
///     file.toml:12: body[3].radius: -1; give a positive length in m
/// `place`: grains of lattices and fills are put where they belong; false: left out, since a checkpoint has them.
AnyPlan read_scene(const std::filesystem::path& file, bool place = true);
/// The same from files that have been read; those that the scene names are read, and kept in `files`, where they are
/// not there yet.
AnyPlan read_scene(SceneFiles& files, bool place = true);

/// The plan of a scene whose grains are in a checkpoint: for read_checkpoint (results/checkpoint.hpp).
inline AnyPlan plan_without_grains(SceneFiles& files) { return read_scene(files, false); }

/// "left wall" or "body 17 (pebble)", of a body of plan.world.scene by its index; the number is its id.
template <int d>
std::string name_of_body(const RunPlan<d>& plan, Index body);

}  // namespace drystone
