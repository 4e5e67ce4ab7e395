// Sand in checkpoints: its particles, and the stresses from which the next solve starts, as rows.
//
//   /sand/          id, volume, position, velocity, gradient, frame, cohesion (none, or of each); next_id
//   /sand/warm/     node (place on the lattice), stress, friction (none, or of each);
//                   touch_node, touch_body, touch_force
#pragma once

#include "drystone/files/hdf5.hpp"
#include "drystone/world/world.hpp"

namespace drystone {

template <int d>
void write_sand(const hdf5::Group& group, const Sand<d>& sand, const SandWarmStart<d>& warm);

/// Throws Error on numbers that no run could have had. The material and the grid are the scene's. `bodies`: ids of
/// bodies are below.
template <int d>
void read_sand(const hdf5::Group& group, GlobalId bodies, Sand<d>& sand, SandWarmStart<d>& warm);

}  // namespace drystone
