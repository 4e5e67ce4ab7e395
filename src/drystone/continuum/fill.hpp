// Sand in a part of space: put there to begin with, or taken away.
#pragma once

#include "drystone/bodies/region.hpp"
#include "drystone/continuum/sand.hpp"

namespace drystone {

template <int d>
struct SandFill {
    Region<d> region = BoxRegion<d>{};
    double fraction = 0;  ///< of its volume that grains take; 0: SandMaterial::max_fraction
    double scatter = 0;   ///< places differ from those of a lattice by up to this part of its spacing
    Vec<d> velocity = Vec<d>::Zero();  ///< m/s
    std::uint64_t seed = 1;
};

/// Adds particles on a lattice whose points are in the region, the first one half a spacing from the region's lower
/// corner; answers how many. Throws Error where that are more than memory could hold.
template <int d>
Index fill(const SandFill<d>& plan, Sand<d>& sand);

struct TakenAway {
    double mass = 0;    ///< kg
    double energy = 0;  ///< kinetic, and of gravity, J
};

/// Takes away the particles whose centres are in the region.
template <int d>
TakenAway take_away(const Region<d>& region, const Vec<d>& gravity, Sand<d>& sand);

}  // namespace drystone
