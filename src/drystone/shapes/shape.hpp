// What a grain is.
//
// A shape is stored once, at size 1, with its centre of mass at the origin and its principal axes along the
// coordinate axes; a body refers to it and scales it. So a million spheres of different radii share one
// shape, and inertia is always diagonal in body axes. Boxes are polyhedra and rectangles polygons: one way to
// collide them.
#pragma once

#include "drystone/base/geometry.hpp"
#include "drystone/base/types.hpp"

#include <array>
#include <string>
#include <variant>
#include <vector>

namespace drystone {

/// Disk (d = 2) or sphere (d = 3).
template <int d>
struct Ball {
    double radius = 1;
};

/// All points within `radius` of the segment from (0, 0, -half_length) to (0, 0, half_length).
struct Capsule {
    double radius = 1;
    double half_length = 1;
};

/// Ellipse or ellipsoid: sum (x_i / semi_i)^2 <= 1.
template <int d>
struct Ellipsoid {
    Vec<d> semi = Vec<d>::Ones();
};

/// (|x/a|^(2/e2) + |y/b|^(2/e2))^(e2/e1) + |z/c|^(2/e1) <= 1; convex for e1, e2 in ]0, 2]. Accepted: 0.2
/// to 1.8, where it is also smooth enough for Newton.
struct Superellipsoid {
    Vec<3> semi = Vec<3>::Ones();
    double e1 = 1, e2 = 1;
};

/// Convex polygon, vertices counter-clockwise, no three on a line.
struct Polygon {
    std::vector<Vec<2>> vertices;
    std::vector<Vec<2>> normals;  ///< outward unit normal of edge i, from vertex i to vertex i + 1
};

/// Convex polyhedron. Coplanar triangles of the hull are merged: a face is a convex polygon,
/// counter-clockwise from outside.
struct Polyhedron {
    struct Face {
        Vec<3> normal;      ///< outward, unit
        double offset;      ///< normal . x <= offset
        Index start, size;  ///< its vertices are face_vertices[start .. start + size)
    };
    struct Edge {
        Index vertex[2];
        Index face[2];  ///< the face that runs vertex[0] -> vertex[1], then the other one
    };
    std::vector<Vec<3>> vertices;
    std::vector<Face> faces;
    std::vector<Index> face_vertices;
    std::vector<Index> face_edges;  ///< parallel to face_vertices: the edge from this vertex to the next
    std::vector<Edge> edges;
    std::vector<Index> vertex_edge_start, vertex_edges;  ///< edges by vertex, for hill climbing
};

/// All points with last coordinate (y or z) <= 0; the outward normal is the last axis. Cannot move freely: it
/// has no mass.
template <int d>
struct HalfSpace {};

/// A surface of triangles, counter-clockwise from outside; need not be closed, has no mass of its own (held
/// or moved as prescribed). Solid behind each triangle: a grain that has passed by less than its own size is
/// pushed back out.
struct TriangleMesh {
    std::vector<Vec<3>> vertices;
    std::vector<std::array<Index, 3>> triangles;
    std::vector<Vec<3>> normals;  ///< per triangle
    /// Neighbour across the edge from corner k to corner k + 1; -1: none, as at a border, at an edge of three
    /// or more triangles and between two that disagree about which side is out. Whether the edge is a ridge
    /// or a valley, the two normals say.
    std::vector<std::array<Index, 3>> neighbours;
    /// Bounding-volume tree in preorder; leaf: count > 0 triangles tree_order[first ..).
    struct Node {
        Bounds<3> bounds;
        /// leaf: triangles; inner: first = index of the right child (the left one follows its parent)
        Index first, count;
    };
    std::vector<Node> tree;
    std::vector<Index> tree_order;
};

template <int d>
struct ShapeChoice;
template <>
struct ShapeChoice<2> {
    using Type = std::variant<Ball<2>, Ellipsoid<2>, Polygon, HalfSpace<2>>;
};
template <>
struct ShapeChoice<3> {
    using Type =
        std::variant<Ball<3>, Capsule, Ellipsoid<3>, Superellipsoid, Polyhedron, HalfSpace<3>, TriangleMesh>;
};
template <int d>
using Shape = typename ShapeChoice<d>::Type;

/// A word for messages: "sphere", "disk", "polyhedron", ...
template <int d>
const char* name_of(const Shape<d>& shape);

/// Volume (area in the plane) and principal moments of inertia at size 1 and density 1; a body of size s and
/// density rho has mass rho s^d volume and moments rho s^(d+2) inertia.
template <int d>
struct MassProperties {
    double volume = 0;  ///< infinite for a half-space, 0 for a mesh
    Spin<d> inertia = Spin<d>::Zero();
};
template <int d>
MassProperties<d> mass_properties(const Shape<d>& shape);

/// Radius of the ball about the origin that holds the shape at size 1; infinite for a half-space.
template <int d>
double bounding_radius(const Shape<d>& shape);
/// Radius of the largest ball about the origin inside the shape, never more and (superellipsoids only) at
/// worst 1.74 times less: the length that "a fraction of a radius" means. Infinite for half-spaces and
/// meshes, so that the smaller of a pair is the grain's.
template <int d>
double inner_radius(const Shape<d>& shape);

/// The farthest point of the shape (size 1, body axes) in a direction that need not be of unit length. Not
/// for half-spaces; for a mesh, of its hull.
template <int d>
Vec<d> support(const Shape<d>& shape, const Vec<d>& direction);

/// Smallest bounds of the shape placed in the world; infinite where it is (a half-space is finite along its
/// normal, if that is an axis of the world to rounding).
template <int d>
Bounds<d> bounds(const Shape<d>& shape, double size, const Pose<d>& pose);

/// Points inside: the signed function whose zero set is the surface, negative inside; used to draw and to
/// test. A length, but the distance only for balls, capsules, half-spaces and meshes, and inside polyhedra.
template <int d>
double inside_function(const Shape<d>& shape, const Vec<d>& x);

/// The surface for pictures: vertices, and triangles (3D) or a closed loop of edges (2D). Empty for
/// half-spaces.
template <int d>
struct Surface {
    std::vector<Vec<d>> vertices;
    std::vector<std::array<Index, d>> elements;
};
/// `detail`: about so many elements around a great circle of a round shape.
template <int d>
Surface<d> surface_of(const Shape<d>& shape, int detail);

/// A shape made from data in the user's own axes, and where its centre and principal axes are in those.
template <int d, class S>
struct Centred {
    S shape;
    Pose<d> pose;
};

/// Convex hulls of points; throws Error where they span no volume (area). Points inside or on a face or edge
/// are dropped, and so is what is finer than 1e-9 of the extent. Principal axes are the ones nearest to the
/// user's; a polygon keeps the user's.
Centred<3, Polyhedron> make_polyhedron(const std::vector<Vec<3>>& points);
Centred<2, Polygon> make_polygon(const std::vector<Vec<2>>& points);
/// Box with the given half sides (all positive), rectangle.
Polyhedron make_box(const Vec<3>& half);
Polygon make_rectangle(const Vec<2>& half);
/// Mesh from triangles: normals, neighbours, tree. Joins vertices at one place, drops degenerate triangles
/// and unused vertices; throws Error where no triangle is left.
TriangleMesh make_mesh(std::vector<Vec<3>> vertices, std::vector<std::array<Index, 3>> triangles);

}  // namespace drystone
