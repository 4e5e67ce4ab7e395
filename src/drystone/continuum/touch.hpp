// Where bodies are in the grid: which nodes are inside a body, or about to be, and what bodies leave of the space
// around nodes (docs/theory.md, section 17).
#pragma once

#include "drystone/bodies/scene.hpp"
#include "drystone/continuum/transfer.hpp"

namespace drystone {

/// A node that is inside a body, or nearer than it may come in the step.
template <int d>
struct NodeTouch {
    Index node = 0, body = 0;
    Vec<d> normal;   ///< of the body's surface, outward
    double gap = 0;  ///< from the surface, negative inside, m
};

/// Of the cells around a node, or the parts of its shape function in them: bit k of a number is 1 beyond the node along
/// k.
template <int d>
using Octants = std::array<double, corners<d>>;

/// `touches`: sorted by node, then by body. `space`: of each node, m^3: the parts of its shape function that are
/// outside all bodies, each taken for the half-space that it is near the node.
template <int d>
void find_touches(const Scene<d>& scene, const Grid<d>& grid, const GridState<d>& state, double h,
                  int threads, std::vector<NodeTouch<d>>& touches, std::vector<Octants<d>>& space);

/// The parts of a node's shape function, whose hat is `width` wide to each side, on the outer side of a plane `gap`
/// from the node: from 0 (the node is deep inside) to 1.
template <int d>
Octants<d> parts_outside(const Vec<d>& width, const Vec<d>& normal, double gap);

}  // namespace drystone
