// Narrow phase: where two placed shapes touch, or nearly do.
#pragma once

#include "drystone/collide/contact.hpp"
#include "drystone/shapes/shape.hpp"

namespace drystone {

template <int d>
struct Placed {
    const Shape<d>* shape = nullptr;
    double size = 1;
    Pose<d> pose;
};

/// Signed distance with both closest points. Overlap: the smallest translation that parts the shapes (a local
/// one for curved shapes deep inside each other), gap < 0, point_a inside b and point_b inside a.
template <int d>
struct Distance {
    double gap = 0;
    Vec<d> point_a, point_b;  ///< gap = normal . (point_a - point_b)
    Vec<d> normal;            ///< unit, from b to a
};

/// Signed distance of two convex shapes (one may be a half-space). For a mesh: of its nearest triangle.
template <int d>
Distance<d> distance(const Placed<d>& a, const Placed<d>& b);

/// Appends every contact point with gap <= reach. One where the shapes are round there; a manifold where flat
/// faces or edges meet: the corners of the common area (at most 8 in space, 2 in the plane; with a mesh, of
/// each triangle), whose features keep their numbers from step to step. The answer does not depend on the
/// order of a and b but for the sign of the normal, to rounding; the numbers do, and so does which 8 are kept
/// of more.
template <int d>
void find_touches(const Placed<d>& a, const Placed<d>& b, double reach, std::vector<Touch<d>>& out);

}  // namespace drystone
