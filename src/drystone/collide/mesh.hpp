// Any convex shape against a surface of triangles.
#pragma once

#include "drystone/collide/narrow.hpp"

namespace drystone {

/// a is convex, b is the mesh.
Distance<3> mesh_distance(const Placed<3>& a, const TriangleMesh& mesh, const Placed<3>& b);
void touch_mesh(const Placed<3>& a, const TriangleMesh& mesh, const Placed<3>& b, double reach,
                std::vector<Touch<3>>& out);

}  // namespace drystone
