#include "drystone/shapes/shape.hpp"

#include "drystone/shapes/climb.hpp"

#include <algorithm>

namespace drystone {

namespace {

template <class... Fs>
struct Overload : Fs... {
    using Fs::operator()...;
};

// ---------------------------------------------------------------------------------------------------------
// The superellipsoid is the unit ball of a norm: the p-norm, p = 2/e1, of the p-norm, p = 2/e2, of (x/a,
// y/b), and of z/c. Support and bounds are those of the dual norms, q = 2/(2 - e), in (a u_x, b u_y, c u_z).

/// (|x|^p + |y|^p)^(1/p) for p >= 1, without overflow.
double norm_p(double x, double y, double p) {
    x = std::abs(x);
    y = std::abs(y);
    const double large = std::max(x, y), small = std::min(x, y);
    if (large == 0) return 0;
    return large * std::pow(1 + std::pow(small / large, p), 1 / p);
}

double dual(double e) { return 2 / (2 - e); }

double gauge(const Superellipsoid& s, const Vec<3>& x) {
    return norm_p(norm_p(x[0] / s.semi[0], x[1] / s.semi[1], 2 / s.e2), x[2] / s.semi[2], 2 / s.e1);
}

/// How far the shape reaches in a direction: the dual norm.
double reach(const Superellipsoid& s, const Vec<3>& u) {
    return norm_p(norm_p(s.semi[0] * u[0], s.semi[1] * u[1], dual(s.e2)), s.semi[2] * u[2], dual(s.e1));
}

Vec<3> support_of(const Superellipsoid& s, const Vec<3>& u) {
    const Vec<3> w = s.semi.cwiseProduct(u);
    const double inner = norm_p(w[0], w[1], dual(s.e2));
    const double outer = norm_p(inner, w[2], dual(s.e1));
    if (outer == 0) return {0, 0, s.semi[2]};  // no direction: any point will do
    // The gradient of the dual norm; its components are (|w|/norm)^(q - 1), and q - 1 = e / (2 - e).
    const double p1 = s.e1 / (2 - s.e1), p2 = s.e2 / (2 - s.e2);
    Vec<3> x(0, 0, s.semi[2] * std::copysign(std::pow(std::abs(w[2]) / outer, p1), w[2]));
    if (inner > 0) {
        const double ring = std::pow(inner / outer, p1);
        for (int k = 0; k < 2; ++k)
            x[k] = s.semi[k] * ring * std::copysign(std::pow(std::abs(w[k]) / inner, p2), w[k]);
    }
    return x;
}

/// The farthest point: with X = (x/semi)^2 this is a linear function over the ball of p-norms p = 1/e, so
/// again a dual norm, q = 1/(1 - e); for e >= 1 that ball is not convex and the largest value is at its tips.
double bounding_radius_of(const Superellipsoid& s) {
    const auto largest = [](double x, double y, double e) {
        return e < 1 ? norm_p(x, y, 1 / (1 - e)) : std::max(x, y);
    };
    const Vec<3> square = s.semi.cwiseAbs2();
    return std::sqrt(largest(largest(square[0], square[1], s.e2), square[2], s.e1));
}

/// A p-norm of two numbers is at most 2^(1/p - 1/2) times the Euclidean one, and at most equal for p >= 2; p
/// = 2/e. Exact for e1, e2 <= 1, at worst 1.74 times too small.
double inner_radius_of(const Superellipsoid& s) {
    const double over = std::max(s.e1 - 1, 0.0) + std::max(s.e2 - 1, 0.0);
    return s.semi.minCoeff() * std::exp2(-0.5 * over);
}

// ---------------------------------------------------------------------------------------------------------
// Points.

template <int d>
Index farthest(const std::vector<Vec<d>>& points, const Vec<d>& direction) {
    Index best = 0;
    double most = -infinity;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double along = points[i].dot(direction);
        if (along > most) {
            most = along;
            best = static_cast<Index>(i);
        }
    }
    return best;
}

/// Climbs from the same vertex always, so that the answer depends on nothing but the arguments. Trying all is faster
/// for few vertices.
Vec<3> support_of(const Polyhedron& p, const Vec<3>& direction) {
    if (p.vertices.size() <= 64) return p.vertices[farthest<3>(p.vertices, direction)];
    return p.vertices[climb_to_farthest(p, direction, 0)];
}

template <int d>
double largest_norm(const std::vector<Vec<d>>& points) {
    double most = 0;
    for (const Vec<d>& x : points) most = std::max(most, x.squaredNorm());
    return std::sqrt(most);
}

template <int d>
Bounds<d> bounds_of_points(const std::vector<Vec<d>>& points, const Mat<d>& scaled, const Vec<d>& position) {
    Bounds<d> box;
    for (const Vec<d>& x : points) box.include(scaled * x);
    return {box.lower + position, box.upper + position};
}

/// Infinite, but for a half-space whose normal is along an axis (to rounding: a quarter turn is never exact).
template <int d>
Bounds<d> bounds_of_half_space(const Mat<d>& R, const Vec<d>& position) {
    Bounds<d> box{Vec<d>::Constant(-infinity), Vec<d>::Constant(infinity)};
    const Vec<d> normal = R.col(d - 1);
    for (int k = 0; k < d; ++k) {
        if (1 - std::abs(normal[k]) > 1e-15 || (normal - normal[k] * Vec<d>::Unit(k)).norm() > 1e-15)
            continue;
        (normal[k] > 0 ? box.upper : box.lower)[k] = position[k];
    }
    return box;
}

template <int d, class S>
double largest_plane_value(const S& planes, const Vec<d>& x) {
    double most = -infinity;
    if constexpr (d == 2) {
        for (std::size_t i = 0; i < planes.vertices.size(); ++i)
            most = std::max(most, planes.normals[i].dot(x - planes.vertices[i]));
    } else {
        for (const auto& face : planes.faces) most = std::max(most, face.normal.dot(x) - face.offset);
    }
    return most;
}

// ---------------------------------------------------------------------------------------------------------
// Meshes.

/// Closest point of a triangle, by the regions of its corners, edges and inside (C. Ericson, Real-Time
/// Collision Detection, 2005, section 5.1.5).
Vec<3> closest_on_triangle(const Vec<3>& x, const Vec<3>& a, const Vec<3>& b, const Vec<3>& c) {
    const Vec<3> ab = b - a, ac = c - a, ax = x - a, bx = x - b, cx = x - c;
    const double d1 = ab.dot(ax), d2 = ac.dot(ax);
    if (d1 <= 0 && d2 <= 0) return a;
    const double d3 = ab.dot(bx), d4 = ac.dot(bx);
    if (d3 >= 0 && d4 <= d3) return b;
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return a + d1 / (d1 - d3) * ab;
    const double d5 = ab.dot(cx), d6 = ac.dot(cx);
    if (d6 >= 0 && d5 <= d6) return c;
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return a + d2 / (d2 - d6) * ac;
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        const double along = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return b + along * (c - b);
    }
    return a + (vb * ab + vc * ac) / (va + vb + vc);
}

/// Distance to the nearest triangle, negative behind it. Where several share the nearest point (an edge, a
/// corner), the one that x stands most squarely over decides the side.
double signed_distance(const TriangleMesh& mesh, const Vec<3>& x) {
    double nearest = infinity, height = 0;
    std::vector<Index> stack{0};
    while (!stack.empty()) {
        const Index at = stack.back();
        stack.pop_back();
        const TriangleMesh::Node& node = mesh.tree[at];
        const Vec<3> away = (node.bounds.lower - x).cwiseMax(x - node.bounds.upper).cwiseMax(0.0);
        if (away.norm() > nearest * (1 + 1e-9)) continue;
        if (node.count == 0) {
            stack.push_back(node.first);
            stack.push_back(at + 1);
            continue;
        }
        for (Index k = node.first; k < node.first + node.count; ++k) {
            const Index t = mesh.tree_order[k];
            const auto& corner = mesh.triangles[t];
            const Vec<3> p = closest_on_triangle(x, mesh.vertices[corner[0]], mesh.vertices[corner[1]],
                                                 mesh.vertices[corner[2]]);
            const double away_here = (x - p).norm(), height_here = mesh.normals[t].dot(x - p);
            const double same = 1e-9 * nearest;
            if (away_here < nearest - same || !(nearest < infinity)) {
                nearest = away_here;
                height = height_here;
            } else if (away_here <= nearest + same && std::abs(height_here) > std::abs(height)) {
                nearest = std::min(nearest, away_here);
                height = height_here;
            }
        }
    }
    return height < 0 ? -nearest : nearest;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------
// Dispatch.

template <int d>
const char* name_of(const Shape<d>& shape) {
    if constexpr (d == 2)
        return std::visit(
            Overload{[](const Ball<2>&) { return "disk"; },  //
                     [](const Ellipsoid<2>&) { return "ellipse"; }, [](const Polygon&) { return "polygon"; },
                     [](const HalfSpace<2>&) { return "half-plane"; }},
            shape);
    else
        return std::visit(Overload{[](const Ball<3>&) { return "sphere"; },  //
                                   [](const Capsule&) { return "capsule"; },
                                   [](const Ellipsoid<3>&) { return "ellipsoid"; },
                                   [](const Superellipsoid&) { return "superellipsoid"; },
                                   [](const Polyhedron&) { return "polyhedron"; },
                                   [](const HalfSpace<3>&) { return "half-space"; },
                                   [](const TriangleMesh&) { return "mesh"; }},
                          shape);
}

template <int d>
double bounding_radius(const Shape<d>& shape) {
    return std::visit(Overload{[](const Ball<d>& s) { return s.radius; },
                               [](const Capsule& s) { return s.radius + s.half_length; },
                               [](const Ellipsoid<d>& s) { return s.semi.maxCoeff(); },
                               [](const Superellipsoid& s) { return bounding_radius_of(s); },
                               [](const HalfSpace<d>&) { return infinity; },
                               [](const auto& s) { return largest_norm<d>(s.vertices); }},
                      shape);
}

template <int d>
double inner_radius(const Shape<d>& shape) {
    return std::visit(
        Overload{[](const Ball<d>& s) { return s.radius; },  //
                 [](const Capsule& s) { return s.radius; },
                 [](const Ellipsoid<d>& s) { return s.semi.minCoeff(); },
                 [](const Superellipsoid& s) { return inner_radius_of(s); },
                 [](const HalfSpace<d>&) { return infinity; }, [](const TriangleMesh&) { return infinity; },
                 [](const auto& s) { return -largest_plane_value<d>(s, Vec<d>::Zero()); }},
        shape);
}

template <int d>
Vec<d> support(const Shape<d>& shape, const Vec<d>& direction) {
    const auto ball = [](const Vec<d>& u) -> Vec<d> {
        const double length = u.stableNorm();
        return length > 0 ? Vec<d>(u / length) : Vec<d>(Vec<d>::Unit(d - 1));
    };
    return std::visit(Overload{[&](const Ball<d>& s) -> Vec<d> { return s.radius * ball(direction); },
                               [&](const Capsule& s) -> Vec<d> {
                                   Vec<d> x = s.radius * ball(direction);
                                   x[d - 1] += std::copysign(s.half_length, direction[d - 1]);
                                   return x;
                               },
                               [&](const Ellipsoid<d>& s) -> Vec<d> {
                                   return s.semi.cwiseProduct(ball(s.semi.cwiseProduct(direction)));
                               },
                               [&](const HalfSpace<d>&) -> Vec<d> { return Vec<d>::Constant(std::nan("")); },
                               [&](const auto& s) -> Vec<d> {
                                   if constexpr (requires { support_of(s, direction); })
                                       return support_of(s, direction);
                                   else
                                       return s.vertices[farthest<d>(s.vertices, direction)];
                               }},
                      shape);
}

template <int d>
Bounds<d> bounds(const Shape<d>& shape, double size, const Pose<d>& pose) {
    const Mat<d> R = matrix(pose.rotation);
    const auto about = [&](const Vec<d>& half) -> Bounds<d> {
        return {pose.position - size * half, pose.position + size * half};
    };
    return std::visit(
        Overload{[&](const Ball<d>& s) { return about(Vec<d>::Constant(s.radius)); },
                 [&](const Capsule& s) -> Bounds<d> {
                     return about(s.half_length * R.col(d - 1).cwiseAbs() + Vec<d>::Constant(s.radius));
                 },
                 // Row i of R is the world's axis i in body axes.
                 [&](const Ellipsoid<d>& s) -> Bounds<d> {
                     return about((R * s.semi.asDiagonal()).rowwise().norm());
                 },
                 [&](const Superellipsoid& s) -> Bounds<d> {
                     Vec<d> half;
                     if constexpr (d == 3)
                         for (int k = 0; k < 3; ++k) half[k] = reach(s, R.row(k).transpose());
                     return about(half);
                 },
                 [&](const HalfSpace<d>&) { return bounds_of_half_space<d>(R, pose.position); },
                 [&](const auto& s) { return bounds_of_points<d>(s.vertices, size * R, pose.position); }},
        shape);
}

template <int d>
double inside_function(const Shape<d>& shape, const Vec<d>& x) {
    return std::visit(Overload{[&](const Ball<d>& s) { return x.norm() - s.radius; },
                               [&](const Capsule& s) {
                                   Vec<d> from_axis = x;
                                   from_axis[d - 1] -= std::clamp(x[d - 1], -s.half_length, s.half_length);
                                   return from_axis.norm() - s.radius;
                               },
                               [&](const Ellipsoid<d>& s) {
                                   return s.semi.minCoeff() * (x.cwiseQuotient(s.semi).norm() - 1);
                               },
                               [&](const Superellipsoid& s) {
                                   if constexpr (d == 3)
                                       return inner_radius_of(s) * (gauge(s, x) - 1);
                                   else
                                       return 0.0;
                               },
                               [&](const HalfSpace<d>&) { return x[d - 1]; },
                               [&](const auto& s) {
                                   if constexpr (requires { s.tree; })
                                       return signed_distance(s, x);
                                   else
                                       return largest_plane_value<d>(s, x);
                               }},
                      shape);
}

#define DRYSTONE_INSTANTIATE(d)                                            \
    template const char* name_of<d>(const Shape<d>&);                      \
    template double bounding_radius<d>(const Shape<d>&);                   \
    template double inner_radius<d>(const Shape<d>&);                      \
    template Vec<d> support<d>(const Shape<d>&, const Vec<d>&);            \
    template Bounds<d> bounds<d>(const Shape<d>&, double, const Pose<d>&); \
    template double inside_function<d>(const Shape<d>&, const Vec<d>&);
DRYSTONE_INSTANTIATE(2)
DRYSTONE_INSTANTIATE(3)
#undef DRYSTONE_INSTANTIATE

}  // namespace drystone
