// Order of work of Gauss-Seidel for a problem that comes without geometry: tiles and colours from the contact graph.
#pragma once

#include "drystone/cone/delassus.hpp"

namespace drystone {

/// Tiles of at most `tile_size` blocks that are near each other in the contact graph; colours by first fit in the order
/// of hashed tile numbers. Depends on the problem alone, never on threads. Blocks couple through moving bodies, or,
/// where the mass couples bodies, through the entries of W.
Tiling tile_contact_graph(const Delassus& W, Index tile_size = 64);

/// The problem's own tiling if it has one, else that of the contact graph.
const Tiling& tiling_of(const Delassus& W);

}  // namespace drystone
