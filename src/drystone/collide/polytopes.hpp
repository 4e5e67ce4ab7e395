// Polygons and polyhedra among themselves, and against balls and capsules, whose cores are a point and a
// segment: polytopes without faces. So there is one algorithm for all of them.
//
// 1. Distance. Apart: GJK. Meeting, or so near that the direction of the closest points has lost its digits:
//    the direction of least penetration among the normals of the faces and the cross products of the edges
//    near the other polytope.
// 2. Normal. Faces within `parallel_angle` of being perpendicular to it take over: the normal of the face, or
//    the mean of both, so that it depends neither on rounding nor on which body is first.
// 3. Manifold. One face (edge, corner) of each, seen along the normal: the corners of their common area, each
//    with the gap between the two faces there. A corner is a vertex of a, a vertex of b or a crossing of
//    edges, and is numbered by them.
#pragma once

#include "drystone/collide/narrow.hpp"
#include "drystone/collide/round.hpp"

namespace drystone {

/// Directions that differ by less count as parallel, rad. A gap measured along a normal that is wrong by this
/// angle is wrong by angle^2 / 2 = 5e-11 of itself, below the accuracy that is asked of gaps (1e-10); and it
/// is far above the tilts of bodies at rest (rounding to 1e-6), which must not change what is found.
inline constexpr double parallel_angle = 1e-5;

/// Kinds of corner of a manifold, the two highest bits of a feature; 0: a vertex of a.
inline constexpr std::uint32_t corner_of_b = 1u << 30, crossing = 2u << 30, single = 3u << 30;

/// A polyhedron, triangle, segment or point in place, swollen by `radius`. Refers to arrays that must outlive
/// it.
struct Hull {
    const Vec<3>* vertices = nullptr;
    Index vertex_count = 0;
    const Polyhedron::Face* faces = nullptr;
    Index face_count = 0;  ///< 0 for a segment and a point
    const Index* face_vertices = nullptr;
    const Index* face_edges = nullptr;
    const Polyhedron::Edge* edges = nullptr;
    Index edge_count = 0;  ///< its edges name faces only if face_count > 0
    const Index* vertex_edge_start = nullptr;
    const Index* vertex_edges = nullptr;
    double size = 1;
    Mat<3> R = Mat<3>::Identity();
    /// relative to an origin near both bodies: digits are not spent on far places
    Vec<3> position = Vec<3>::Zero();
    double radius = 0;
};
Hull hull_of(const Polyhedron& shape, const Placed<3>& placed, const Vec<3>& origin);

/// Arrays of a segment or point, for a Hull.
struct SegmentHull {
    Vec<3> vertices[2];
    Polyhedron::Edge edge;
    Index vertex_edge_start[3], vertex_edges[2];
    Hull hull;
    SegmentHull(const RoundCore<3>& core, const Vec<3>& origin);
    SegmentHull(const SegmentHull&) = delete;
    SegmentHull& operator=(const SegmentHull&) = delete;
};

/// Signed distance of the cores, without the radii.
struct CoreDistance {
    Distance<3> distance;
    /// False where the normal is that of a face: the points are then on the normal's line through a vertex,
    /// which may lie outside the area in common.
    bool points_known = false;
    double length = 0;  ///< that tolerances refer to: the size of the smaller hull, unless that is a point
};
/// False if it is larger than cutoff.
bool core_distance(const Hull& a, const Hull& b, double cutoff, CoreDistance& out);

/// Signed distance; false if it is larger than cutoff (and then `out` is not set).
bool hull_distance(const Hull& a, const Hull& b, double cutoff, Distance<3>& out);
/// Appends the manifold, positions relative to the same origin as the hulls.
void touch_hulls(const Hull& a, const Hull& b, double reach, std::vector<Touch<3>>& out);
/// The manifold of hulls whose cores have this signed distance; `length` is the size of the smaller one.
/// Appends the points with gap <= reach after the radii are taken off.
void hull_manifold(const Hull& a, const Hull& b, const Distance<3>& closest, double length, double reach,
                   std::vector<Touch<3>>& out);

/// The same in the plane. A ball is a polygon of one vertex.
struct Outline {
    const Vec<2>* vertices = nullptr;
    const Vec<2>* normals = nullptr;
    Index vertex_count = 0;
    double size = 1;
    Mat<2> R = Mat<2>::Identity();
    Vec<2> position = Vec<2>::Zero();
    double radius = 0;
};
Outline outline_of(const Polygon& shape, const Placed<2>& placed, const Vec<2>& origin);
Outline outline_of(const RoundCore<2>& ball, const Vec<2>& origin);
bool outline_distance(const Outline& a, const Outline& b, double cutoff, Distance<2>& out);
void touch_outlines(const Outline& a, const Outline& b, double reach, std::vector<Touch<2>>& out);

}  // namespace drystone
