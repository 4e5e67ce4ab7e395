// The order in which Gauss-Seidel visits the contacts of a scene, from their places in space (docs/theory.md, section 12).
//
// Cells of one global grid are tiles, coloured by the parity of their indices. The grid does not know of threads or ranks, so
// neither does the result. Contacts of large bodies live in coarser grids with colours of their own, a factor of four apart.
#pragma once

#include "drystone/bodies/scene.hpp"
#include "drystone/collide/contact.hpp"
#include "drystone/cone/problem.hpp"

namespace drystone {

struct TilingOptions {
    /// Width of a cell in the longest arms (from a body's centre to a contact) of its grid; at least 4 for colours to be free
    /// of conflicts. 8 is about four grains: large enough to have few colours' worth of overhead, small enough for the cache.
    double cell_width = 8;
    /// Contacts of a tile are ordered so that, where the tile allows it, this many in a row share no body: their visits then do not
    /// wait for each other in the processor.
    int spacing = 6;
    int threads = 1;
};

template <int d>
void tile_by_cells(const Scene<d>& scene, const ContactSet<d>& contacts, const TilingOptions& options,
                   Tiling& tiling);

}  // namespace drystone
