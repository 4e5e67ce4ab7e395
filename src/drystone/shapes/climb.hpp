// Hill climbing over the corners of a convex polyhedron.
#pragma once

#include "drystone/shapes/shape.hpp"

namespace drystone {

/// The corner farthest in a direction, by way of the edges from `start`: every corner that is not the farthest has an
/// edge that leads farther. `Hull` has the members vertices, edges, vertex_edge_start and vertex_edges of Polyhedron.
template <class Hull>
Index climb_to_farthest(const Hull& hull, const Vec<3>& direction, Index start) {
    Index best = start;
    double most = hull.vertices[start].dot(direction);
    for (Index from = -1; from != best;) {
        from = best;
        for (Index k = hull.vertex_edge_start[from]; k < hull.vertex_edge_start[from + 1]; ++k) {
            const Polyhedron::Edge& edge = hull.edges[hull.vertex_edges[k]];
            const Index other = edge.vertex[0] == from ? edge.vertex[1] : edge.vertex[0];
            const double along = hull.vertices[other].dot(direction);
            if (along > most) {
                most = along;
                best = other;
            }
        }
    }
    return best;
}

}  // namespace drystone
