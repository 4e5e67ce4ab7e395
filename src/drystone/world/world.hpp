// Everything that is simulated together.
#pragma once

#include "drystone/continuum/memory.hpp"
#include "drystone/grains/memory.hpp"

namespace drystone {

/// A population that is empty costs nothing.
template <int d>
struct World {
    Scene<d> scene;  ///< bodies, and what is common to all: materials, gravity, time
    Sand<d> sand;
};

/// What a step leaves for the next: of bodies and of the problem of all; then of each other population.
template <int d>
struct WorldMemory : StepMemory<d> {
    SandMemory<d> sand = {};
};

/// The sand of a world, for a step; none by default.
template <int d>
struct SandPart {
    Sand<d>* sand = nullptr;
    SandMemory<d>* memory = nullptr;

    explicit operator bool() const { return sand != nullptr; }
};
template <int d>
SandPart<d> sand_of(World<d>& world, WorldMemory<d>& memory) {
    if (world.sand.empty()) return {};
    return {&world.sand, &memory.sand};
}

}  // namespace drystone
