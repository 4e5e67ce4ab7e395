// Convex hulls as faces, and faces as polyhedra. Internal to this room.
#pragma once

#include "drystone/shapes/shape.hpp"

#include <string>

namespace drystone {

/// Points that stand closer than this part of the set's extent are one point, and faces that deviate from a
/// plane by less are one face: far above rounding, far below what a file with six digits can mean.
inline constexpr double hull_tolerance = 1e-9;

/// A closed surface of polygons, each counter-clockwise from outside.
struct FaceLoops {
    std::vector<Vec<3>> vertices;
    std::vector<std::vector<Index>> faces;
};

/// Throws Error where a coordinate is not finite or fewer than `least` points are given.
template <int d>
void check_points(const std::string& where, const std::vector<Vec<d>>& points, std::size_t least);

/// Which points to keep so that no two are equal to `tolerance`: the earlier of two stays.
template <int d>
std::vector<std::size_t> distinct_points(const std::vector<Vec<d>>& points, double tolerance);

/// The hull of points, with coplanar facets merged and only the vertices that are corners of three faces.
FaceLoops hull_of(const std::vector<Vec<3>>& points);

/// Planes, edges and adjacency of faces that close up.
Polyhedron assemble_polyhedron(const FaceLoops& loops);
/// Planes of the faces again, after the vertices moved.
void refresh_planes(Polyhedron& polyhedron);

}  // namespace drystone
