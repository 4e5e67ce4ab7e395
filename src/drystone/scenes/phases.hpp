// [[phase]]: parts of a run, each with its changes.
#pragma once

#include "drystone/scenes/reader.hpp"

namespace drystone {

/// Puts the changes of this phase into the values; notes those that cannot change while a run goes on.
void change_for_phase(Value& root, int phase, Faults& faults);

/// Notes a fault where a field cannot change while a run goes on: what bodies are made of is in their state.
void check_change(const std::string& field, int line, Faults& faults);

/// All [[phase]], after all else: the end of the present one, and the bodies that are gone or free by then.
template <int d>
void read_phases(SceneReader<d>& reader, const Table& root);

}  // namespace drystone
