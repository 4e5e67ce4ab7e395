// Closest points of two convex shapes that are known by their support functions: the method of Gilbert,
// Johnson and Keerthi (IEEE J. Robotics and Automation 4, 1988), in double precision, in the plane and in
// space.
//
// Why not a library. libccd answers whether shapes meet to an absolute tolerance and was written for that
// question; FCL builds on it and gives neither manifolds nor signed gaps of the accuracy needed; Bullet works in
// float with a margin around each shape, so its gaps are of the margin's accuracy and not of the shape's. All
// three are for space alone. What is needed here besides the distance is *which* vertices are closest.
#pragma once

#include "drystone/base/geometry.hpp"
#include "drystone/base/types.hpp"

#include <algorithm>

namespace drystone {

/// What a support functor returns: the farthest point of its shape in a direction that need not be of unit
/// length, and the number of the vertex (-1 where the shape is curved).
template <int d>
struct SupportPoint {
    Vec<d> x;
    Index vertex = -1;
};

/// Points of a - b whose hull holds the point nearest to the origin, with the weights of that point.
template <int d>
struct Simplex {
    int size = 0;
    Vec<d> w[d + 1];  ///< a - b
    Vec<d> a[d + 1], b[d + 1];
    Index vertex_a[d + 1], vertex_b[d + 1];
    double weight[d + 1];
};

enum class GjkStatus {
    apart,      ///< the distance is known to the tolerance
    far,        ///< a separating plane shows that it is larger than the cutoff
    meeting,    ///< the shapes overlap or touch
    exhausted,  ///< iteration limit: the distance is an upper bound, and `lower` a lower one
};

template <int d>
struct GjkResult {
    GjkStatus status = GjkStatus::apart;
    Vec<d> point_a = Vec<d>::Zero(), point_b = Vec<d>::Zero();
    Vec<d> direction = Vec<d>::Zero();  ///< point_a - point_b, not of unit length
    double distance = 0;                ///< norm of it
    /// Proven lower bound: the gap between two planes. Where it is negative, of the signed gap.
    double lower = -infinity;
    Simplex<d> simplex;
    int iterations = 0;
};

struct GjkOptions {
    /// stop when the distance is proven to be larger
    double cutoff = infinity;
    /// Stop when distance - lower bound <= tolerance * distance. Polytopes stop by themselves when a vertex
    /// comes back.
    double tolerance = 1e-12;
    int iterations = 128;
};

namespace gjk_detail {

/// Keeps the listed points of a simplex.
template <int d>
void keep(Simplex<d>& s, int count, const int* which, const double* weight) {
    // The indices rise, so a place is never overwritten before it is read.
    for (int i = 0; i < count; ++i) {
        const int k = which[i];
        s.weight[i] = weight[i];
        if (k == i) continue;
        s.w[i] = s.w[k], s.a[i] = s.a[k], s.b[i] = s.b[k];
        s.vertex_a[i] = s.vertex_a[k], s.vertex_b[i] = s.vertex_b[k];
    }
    s.size = count;
}

/// The sub-simplex (as indices and weights) whose hull holds the point nearest to the origin.
struct Nearest {
    int count = 0;
    int which[4] = {};
    double weight[4] = {};
    double square = infinity;  ///< of the distance to the origin
};

template <int d>
Nearest nearest_on_segment(const Vec<d>* w, int i, int j) {
    const Vec<d> e = w[j] - w[i];
    const double ee = e.squaredNorm(), t = -w[i].dot(e);
    if (t <= 0 || ee == 0) return {1, {i}, {1.0}, w[i].squaredNorm()};
    if (t >= ee) return {1, {j}, {1.0}, w[j].squaredNorm()};
    const double s = t / ee;
    return {2, {i, j}, {1 - s, s}, (w[i] + s * e).squaredNorm()};
}

/// Twice the area of three points: exact sign in the plane, normal in space.
inline double area_vector(const Vec<2>& a, const Vec<2>& b) { return a[0] * b[1] - a[1] * b[0]; }
inline Vec<3> area_vector(const Vec<3>& a, const Vec<3>& b) { return a.cross(b); }
inline double product(double a, double b) { return a * b; }
inline double product(const Vec<3>& a, const Vec<3>& b) { return a.dot(b); }

/// Of a triangle. In the plane an inside origin gives square = 0.
template <int d>
Nearest nearest_on_triangle(const Vec<d>* w, int i, int j, int k) {
    const auto n = area_vector(Vec<d>(w[j] - w[i]), Vec<d>(w[k] - w[i]));
    const double nn = product(n, n);
    // Signed areas of the triangles with the origin, along n: barycentric coordinates times nn.
    const double ci = product(area_vector(w[j], w[k]), n);
    const double cj = product(area_vector(w[k], w[i]), n);
    const double ck = product(area_vector(w[i], w[j]), n);
    if (nn > 0 && ci > 0 && cj > 0 && ck > 0) {
        const double sum = ci + cj + ck;
        Nearest r{3, {i, j, k}, {ci / sum, cj / sum, ck / sum}, 0};
        if constexpr (d == 3) {
            // Distance to the plane: better conditioned than the norm of the combination when the triangle is
            // large.
            const double h = w[i].dot(n);
            r.square = h * h / nn;
        }
        return r;
    }
    // The nearest edge. All three are tried, since a sliver's signs cannot be trusted.
    Nearest best = nearest_on_segment<d>(w, i, j);
    const Nearest second = nearest_on_segment<d>(w, j, k), third = nearest_on_segment<d>(w, i, k);
    if (second.square < best.square) best = second;
    if (third.square < best.square) best = third;
    return best;
}

/// Of a tetrahedron; count = 4 where the origin is inside.
inline Nearest nearest_on_tetrahedron(const Vec<3>* w) {
    static constexpr int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    Nearest best;
    bool inside = true;
    for (const auto& f : face) {
        const Vec<3> n = (w[f[1]] - w[f[0]]).cross(w[f[2]] - w[f[0]]);
        const double origin = -w[f[0]].dot(n), opposite = (w[f[3]] - w[f[0]]).dot(n);
        // Outside of this face, or the tetrahedron is flat to rounding and the sign says nothing.
        const double flat = 1e-14 * n.norm() * (w[f[3]] - w[f[0]]).norm();
        if (origin * opposite <= 0 || std::abs(opposite) <= flat) {
            inside = false;
            const Nearest r = nearest_on_triangle<3>(w, f[0], f[1], f[2]);
            if (r.square < best.square) best = r;
        }
    }
    if (inside) return {4, {0, 1, 2, 3}, {0.25, 0.25, 0.25, 0.25}, 0};
    return best;
}

template <int d>
Nearest nearest_on_simplex(const Simplex<d>& s) {
    switch (s.size) {
        case 1:
            return {1, {0}, {1.0}, s.w[0].squaredNorm()};
        case 2:
            return nearest_on_segment<d>(s.w, 0, 1);
        case 3:
            return nearest_on_triangle<d>(s.w, 0, 1, 2);
        default:
            if constexpr (d == 3) return nearest_on_tetrahedron(s.w);
            return {};
    }
}

}  // namespace gjk_detail

/// Distance of two convex shapes. support_a and support_b: (const Vec<d>& direction) -> SupportPoint<d>, both
/// in the same axes. `start` is a guess of the direction from b to a, such as the difference of centres; it
/// may be zero. The answer for a given start is a function of the shapes alone.
template <int d, class SupportA, class SupportB>
GjkResult<d> gjk(const SupportA& support_a, const SupportB& support_b, const Vec<d>& start,
                 const GjkOptions& options = {}) {
    GjkResult<d> result;
    Simplex<d>& s = result.simplex;
    Vec<d> v = start;
    if (!(v.squaredNorm() > 0)) v = Vec<d>::Unit(0);
    double square = infinity;  // of the distance of the simplex
    double scale = 0;          // largest |a - b|^2 seen

    for (result.iterations = 1; result.iterations <= options.iterations; ++result.iterations) {
        const SupportPoint<d> a = support_a(Vec<d>(-v)), b = support_b(v);
        const Vec<d> w = a.x - b.x;
        scale = std::max(scale, w.squaredNorm());
        const double norm = v.norm(), along = v.dot(w);
        // The plane through w across v separates the shapes by this much.
        result.lower = std::max(result.lower, along / norm);
        if (result.lower > options.cutoff) {
            result.status = GjkStatus::far;
            break;
        }
        if (s.size > 0) {
            if (square - along <= options.tolerance * square) break;
            bool known = false;
            for (int i = 0; i < s.size; ++i)
                known = known || (a.vertex >= 0 && b.vertex >= 0
                                      ? a.vertex == s.vertex_a[i] && b.vertex == s.vertex_b[i]
                                      : w == s.w[i]);
            if (known) break;
        }
        const int before = s.size;
        s.w[before] = w, s.a[before] = a.x, s.b[before] = b.x;
        s.vertex_a[before] = a.vertex, s.vertex_b[before] = b.vertex;
        ++s.size;
        const gjk_detail::Nearest nearest = gjk_detail::nearest_on_simplex<d>(s);
        Vec<d> next = Vec<d>::Zero();
        if (nearest.count == 3 && d == 3) {
            // The nearest point of a plane, from its normal: the weighted sum loses the digits that cancel.
            if constexpr (d == 3) {
                const Vec<3>& origin = s.w[nearest.which[0]];
                const Vec<3> n = (s.w[nearest.which[1]] - origin).cross(s.w[nearest.which[2]] - origin);
                next = n * (origin.dot(n) / n.squaredNorm());
            }
        } else if (nearest.count <= d) {
            for (int i = 0; i < nearest.count; ++i) next += nearest.weight[i] * s.w[nearest.which[i]];
        }
        const double next_square = next.squaredNorm();
        // Rounding: no simplex with the new point is nearer. What is held is then the answer to the last
        // digit.
        if (!(next_square < square)) {
            s.size = before;
            break;
        }
        gjk_detail::keep(s, nearest.count, nearest.which, nearest.weight);
        v = next;
        square = next_square;
        // 1e-30: touching to rounding; the direction would be noise.
        if (s.size == d + 1 || square <= 1e-30 * scale) {
            result.status = GjkStatus::meeting;
            break;
        }
    }
    if (result.iterations > options.iterations) result.status = GjkStatus::exhausted;
    result.point_a.setZero(), result.point_b.setZero();
    for (int i = 0; i < s.size; ++i) {
        result.point_a += s.weight[i] * s.a[i];
        result.point_b += s.weight[i] * s.b[i];
    }
    result.direction = v;
    result.distance = result.status == GjkStatus::meeting ? 0 : v.norm();
    return result;
}

}  // namespace drystone
