// What sand is and does, in numbers.
#pragma once

#include "drystone/bodies/region.hpp"
#include "drystone/continuum/sand.hpp"

namespace drystone {

template <int d>
struct SandTotals {
    double mass = 0;                      ///< kg
    Vec<d> centre = Vec<d>::Zero();       ///< of mass, m
    Vec<d> velocity = Vec<d>::Zero();     ///< of it, m/s
    double kinetic = 0;                   ///< energy, J
    double left = 0, right = 0, top = 0;  ///< how far it reaches along the first axis, and the last, m
};

/// Of the particles whose centres are in the region; nullptr: of all. How far they reach is told of columns as wide as
/// a cell that are at least half a cell deep, all along the last axis: what flies, and a last layer of grains, does not
/// count.
template <int d>
SandTotals<d> measure_sand(const Sand<d>& sand, const Region<d>* region);

}  // namespace drystone
