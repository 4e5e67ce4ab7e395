// What a step of sand leaves for the next, and room that it reuses.
#pragma once

#include "drystone/cone/tensor_row.hpp"
#include "drystone/continuum/touch.hpp"

namespace drystone {

/// Which stress it is, the same from step to step: of a node by its place, of a corner by the place of its cell and its
/// number, of a particle (at 0) by its id.
template <int d>
struct StressKey {
    Lattice<d> at = Lattice<d>::Zero();
    std::int64_t part = 0;

    bool operator==(const StressKey&) const = default;
};

/// Where the law is asked for in a step, sorted by the block of the grid that they are in.
struct StressSites {
    std::vector<Index> start;                ///< by block of the grid: its sites are [start[b], start[b + 1])
    std::vector<Index> of;                   ///< node, cell or particle
    std::vector<std::uint8_t> corner;        ///< of the cell; empty where they are nodes or particles
    std::vector<double> volume;              ///< of grains that the stress is borne by, m^3
    std::vector<double> space;               ///< that these could fill to the limit, m^3
    std::vector<double> friction, cohesion;  ///< cohesion, Pa: empty without

    [[nodiscard]] Index count() const { return static_cast<Index>(of.size()); }
};

/// Stresses from which the next solve starts, sorted by their keys (key_before), and of nodes with bodies.
template <int d>
struct SandWarmStart {
    std::vector<StressKey<d>> key;
    std::vector<Tensor<d>> stress;  ///< Pa, cohesion taken out (lambda of section 17)
    std::vector<double> friction;   ///< of the next step there: mu(I); empty where it does not change
    struct Touch {
        Lattice<d> node;
        GlobalId body;
        Vec<d> force;  ///< on the node, world axes, N
    };
    std::vector<Touch> touch;
};

template <int d>
struct SandMemory {
    Grid<d> grid;
    GridState<d> state;         ///< velocities: of the beginning, then, after free motion, without stresses
    std::vector<Vec<d>> begin;  ///< velocities of nodes at the beginning
    std::vector<Vec<d>> end;    ///< and at the end
    std::vector<NodeTouch<d>> touches;
    std::vector<Octants<d>> space;  ///< by node
    StressSites sites;
    TensorRows rows;  ///< of the stresses; bodies are nodes
    SandWarmStart<d> warm;
    std::vector<std::uint8_t> touched;  ///< by body of the scene: 1 if a node touches it
    Index first_body = 0, first_touch = 0, first_tensor = 0;  ///< in the problem of the step
};

}  // namespace drystone
