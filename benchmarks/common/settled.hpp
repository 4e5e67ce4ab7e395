// Boxes of grains for benchmarks: scenes made in code, the same bits each time.
#pragma once

#include "drystone/run/simulate.hpp"

namespace drystone {

enum class GrainKind : std::uint8_t { spheres, polyhedra };

/// A lattice of side x side x layers grains.
struct BoxShape {
    Index side = 10, layers = 10;
    bool periodic = false;   ///< no walls at the sides
    std::uint64_t seed = 7;  ///< of sizes and places
};

/// Grains of mean diameter `diameter` (m, sizes within 10 %), friction 0.5, density 2500, on a shaken lattice in a box
/// with a square floor and no lid; neighbours nearly touch. Polyhedra: hulls of 12 to 20 points, 64 of them, turned at
/// random.
Scene<3> box_of_grains(GrainKind kind, const BoxShape& shape, double diameter);
/// About `count` of them between walls, as high as wide.
Scene<3> box_of_grains(GrainKind kind, Index count, double diameter);

/// Lets the grains fall without friction, damped towards the end, and gives them their friction back: a dense packing
/// that comes to rest within some tens of steps. (With friction from the start a loose packing forms, which goes on
/// creeping for seconds of simulated time.)
void settle(Scene<3>& scene, StepMemory<3>& memory);

/// Largest memory that this process has used so far, bytes.
double peak_memory();

}  // namespace drystone
