// Balls, capsules and half-spaces among themselves, and half-spaces against polygons and polyhedra: closed
// forms.
//
// Features: a ball has none (0); the ends of a capsule are 0 (at -half_length) and 1; corners have their
// vertex number.
#pragma once

#include "drystone/collide/narrow.hpp"

#include <algorithm>

namespace drystone {

/// A ball or capsule placed in the world: all points within `radius` of a segment (a point for a ball).
template <int d>
struct RoundCore {
    Vec<d> end[2];
    double radius = 0;
    bool segment = false;
};
template <int d>
RoundCore<d> core_of(const Ball<d>& ball, const Placed<d>& placed);
RoundCore<3> core_of(const Capsule& capsule, const Placed<3>& placed);

/// From the distance of two cores to that of the bodies within the radii of them.
template <int d>
void swell(Distance<d>& x, double radius_a, double radius_b) {
    x.gap -= radius_a + radius_b;
    x.point_a -= radius_a * x.normal;
    x.point_b += radius_b * x.normal;
}

/// Appends the one touch of a distance, if it is within reach.
template <int d>
void append(const Distance<d>& distance, double reach, std::uint32_t feature, std::vector<Touch<d>>& out) {
    if (distance.gap <= reach)
        out.push_back({0.5 * (distance.point_a + distance.point_b), distance.normal, distance.gap, feature});
}

/// Puts the closest points of two cores, of which only gap and normal are known, at the least gap of their manifold
/// (whose touches are those of the swollen bodies).
template <int d>
void place_points(const std::vector<Touch<d>>& manifold, double radius_a, double radius_b, Distance<d>& out) {
    const auto least = std::min_element(manifold.begin(), manifold.end(),
                                        [](const auto& x, const auto& y) { return x.gap < y.gap; });
    if (least == manifold.end()) return;
    const Vec<d> middle = least->point + 0.5 * (radius_a - radius_b) * out.normal;
    out.point_a = middle + 0.5 * out.gap * out.normal;
    out.point_b = middle - 0.5 * out.gap * out.normal;
}

/// The plane of a half-space: normal . x = offset, solid where it is less.
template <int d>
struct Plane {
    Vec<d> normal, point;
};
template <int d>
Plane<d> plane_of(const Placed<d>& half_space);

template <int d>
Distance<d> round_round(const RoundCore<d>& a, const RoundCore<d>& b);
/// Nearly parallel capsules give two points: the ends of the stretch they share.
template <int d>
void touch_round_round(const RoundCore<d>& a, const RoundCore<d>& b, double reach,
                       std::vector<Touch<d>>& out);

template <int d>
Distance<d> round_plane(const RoundCore<d>& a, const Plane<d>& b);
template <int d>
void touch_round_plane(const RoundCore<d>& a, const Plane<d>& b, double reach, std::vector<Touch<d>>& out);

/// The vertices within reach; at most max_points in space.
Distance<2> corners_plane(const Polygon& shape, const Placed<2>& a, const Plane<2>& b);
Distance<3> corners_plane(const Polyhedron& shape, const Placed<3>& a, const Plane<3>& b);
void touch_corners_plane(const Polygon& shape, const Placed<2>& a, const Plane<2>& b, double reach,
                         std::vector<Touch<2>>& out);
void touch_corners_plane(const Polyhedron& shape, const Placed<3>& a, const Plane<3>& b, double reach,
                         std::vector<Touch<3>>& out);

/// Largest number of points of one pair.
inline constexpr int max_points = 8;

/// Keeps at most max_points of the touches from `first` on, which share a normal: the deepest, and those that
/// reach farthest in fixed directions of `axes` (columns; of a body, so that the choice turns with it).
/// Candidates that are equal to `tolerance` are decided by feature, so rounding does not change the choice.
void keep_spanning(std::vector<Touch<3>>& out, std::size_t first, const Mat<3>& axes, double tolerance);

}  // namespace drystone
