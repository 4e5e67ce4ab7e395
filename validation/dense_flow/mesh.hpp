// Triangles of six nodes in the plane, of a rectangle and of a rectangle around a round obstacle.
//
// Both are grids of quadrilaterals, each cut into two triangles and these into three about their centres (Alfeld's
// split): there, quadratic velocities and linear pressures that may jump are a stable pair. Cut by both diagonals into
// four, pressures have waves that no velocity feels; cut into two, velocities of zero divergence are too few.
#pragma once

#include "drystone/base/geometry.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace drystone::validation {

enum class Side : std::uint8_t { left, right, bottom, top, obstacle };

/// One edge of a triangle on the boundary, its inside on the left.
struct BoundaryEdge {
    Index begin = 0, end = 0, middle = 0;  ///< nodes
    Index triangle = 0;
    Side side = Side::left;
};

struct TriangleMesh {
    std::vector<Vec<2>> node;
    /// The corners counter-clockwise, then the middles of the edges 01, 12, 20. Edges are straight.
    std::vector<std::array<Index, 6>> triangle;
    std::vector<BoundaryEdge> boundary;

    [[nodiscard]] Index nodes() const { return static_cast<Index>(node.size()); }
    [[nodiscard]] Index triangles() const { return static_cast<Index>(triangle.size()); }
    [[nodiscard]] double area(Index t) const;
    /// Point of a triangle by its barycentric coordinates.
    [[nodiscard]] Vec<2> point(Index t, const Vec<3>& at) const;
};

/// A place in a triangle, by barycentric coordinates, and its part of the area.
struct QuadraturePoint {
    Vec<3> at;
    double weight = 0;
};
/// Three points inside, exact for polynomials of degree 2.
const std::array<QuadraturePoint, 3>& gauss_points();
/// Seven points, exact to degree 5: for errors.
const std::array<QuadraturePoint, 7>& fine_points();

/// The six shape functions at a place, and their gradients in triangle t.
std::array<double, 6> shape_values(const Vec<3>& at);
std::array<Vec<2>, 6> shape_gradients(const TriangleMesh& mesh, Index t, const Vec<3>& at);

/// The rectangle from `low` to `high` in columns x rows quadrilaterals.
TriangleMesh rectangle(const Vec<2>& low, const Vec<2>& high, int columns, int rows);

/// The rectangle |x| <= length / 2, |y| <= width / 2 without the disk of that diameter about the origin. `around`:
/// edges along the disk and as many along the rectangle's outline; even. Rings are as thick as edges of the disk are
/// long, and grow in proportion from there.
TriangleMesh channel_around_disk(double length, double width, double diameter, int around);

}  // namespace drystone::validation
