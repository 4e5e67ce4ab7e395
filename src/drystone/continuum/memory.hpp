// What a step of sand leaves for the next, and room that it reuses.
#pragma once

#include "drystone/cone/tensor_row.hpp"
#include "drystone/continuum/touch.hpp"

namespace drystone {

/// Stresses from which the next solve starts: of nodes, in the order of the grid, and of nodes with bodies.
template <int d>
struct SandWarmStart {
    std::vector<Lattice<d>> node;
    std::vector<Tensor<d>> stress;  ///< Pa, cohesion taken out (lambda of section 17)
    std::vector<double> friction;  ///< of the next step at these nodes: mu(I); empty where it does not change
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
    std::vector<double> space, friction;  ///< by node
    SandWarmStart<d> warm;
    std::vector<std::uint8_t> touched;  ///< by body of the scene: 1 if a node touches it
    Index first_body = 0, first_touch = 0, first_tensor = 0;  ///< in the problem of the step
};

}  // namespace drystone
