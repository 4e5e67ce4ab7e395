// What is said of a scene beside its file: `--set material.stone.friction=0.4`, and what a phase changes.
#pragma once

#include "drystone/run/scene_files.hpp"
#include "drystone/tables/table.hpp"

namespace drystone {

/// "time.end=3": the field up to the first "=", and the rest. Throws Error where there is no "=".
SceneSetting setting_of(const std::string& text);

/// Throws Error where a field cannot change while a run goes on: for what a resumed run is to do otherwise.
void check_changes(const std::vector<SceneSetting>& settings);

/// Gives a field of the scene another value; tables that are not there are made. Of several tables of one name
/// ([[body]]) one is meant by the `name` that stands in it, or by its number: body.lid.motion, body[3].size.
void set_value(Value& root, const std::string& field, const Value& value, Faults& faults);
/// "body[3].size" and "body.lid.size" as their words.
std::vector<std::string> words_of(std::string_view field);

/// All that the file and the settings say, numbers worked out. Throws SceneError.
Value values_of(const SceneFiles& files);

}  // namespace drystone
