// Packings of spheres, of any size, as cone problems; nothing is simulated.
//
// Spheres of slightly different radii sit on a face-centred lattice, shaken a little, in a box with a floor and four
// walls that do not move. Two spheres that overlap are taken as touching at the middle of the overlap, with arms of one
// radius each. The lattice is as wide as makes about 4.7 contacts of each sphere: what a settled packing with friction
// has. One step of gravity from rest, with a little noise, gives the free velocity. The same options give the same
// bits.
#pragma once

#include "drystone/cone/problem.hpp"

#include <cstdint>

namespace drystone {

struct PackingOptions {
    Index contacts = 100'000;  ///< about; reached to within a handful
    /// Blocks that no kernel for spheres recognises, as polyhedra have them: contact points away from the line of
    /// centres, and inertia tensors that are not isotropic.
    bool general = false;
    double mu = 0.5;
    double noise = 0.5;  ///< of the free velocity, relative to that of gravity
    std::uint64_t seed = 1;
    /// Width of the cells of the tiling in largest diameters; at least 2.
    double cell_width = 4;
    /// Contacts of a cell are ordered so that, where the cell allows it, this many in a row share no body: their visits
    /// then do not wait for each other in the processor. 0: in the order of their bodies.
    int spacing = 6;
};

/// The problem, with its geometric tiling: contacts and bodies are numbered in the order of the cells.
ConeProblem make_packing(const PackingOptions& options);

}  // namespace drystone
