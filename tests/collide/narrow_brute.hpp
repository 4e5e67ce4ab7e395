// Slow and plain: distances over all pairs of features, and random shapes in random places.
#pragma once

#include "drystone/collide/narrow.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace drystone::testing_narrow {

using Random = std::mt19937_64;

inline double uniform(Random& random, double low = -1, double high = 1) {
    return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}
template <int d>
Vec<d> unit_vector(Random& random) {
    for (;;) {
        Vec<d> x;
        for (int i = 0; i < d; ++i) x[i] = uniform(random);
        if (x.norm() > 0.1 && x.norm() < 1) return x.normalized();
    }
}
inline Rotation<2> any_rotation(Random& random, std::integral_constant<int, 2>) {
    return {uniform(random, -4, 4)};
}
inline Rotation<3> any_rotation(Random& random, std::integral_constant<int, 3>) {
    return turn(Rotation<3>{}, Spin<3>(uniform(random, 0, 3.1) * unit_vector<3>(random)));
}
template <int d>
Pose<d> any_pose(Random& random, double spread) {
    Pose<d> pose;
    for (int i = 0; i < d; ++i) pose.position[i] = uniform(random, -spread, spread);
    pose.rotation = any_rotation(random, std::integral_constant<int, d>());
    return pose;
}
template <int d>
Vec<d> place(const Placed<d>& p, const Vec<d>& x) {
    return p.pose.position + matrix(p.pose.rotation) * (p.size * x);
}

inline Polyhedron any_polyhedron(Random& random, int points) {
    std::vector<Vec<3>> x;
    for (int i = 0; i < points; ++i) x.push_back(unit_vector<3>(random).cwiseProduct(Vec<3>(1, 0.8, 0.6)));
    return make_polyhedron(x).shape;
}
inline Polygon any_polygon(Random& random, int points) {
    std::vector<Vec<2>> x;
    for (int i = 0; i < points; ++i) x.push_back(unit_vector<2>(random).cwiseProduct(Vec<2>(1, 0.7)));
    return make_polygon(x).shape;
}

template <int d>
double point_segment(const Vec<d>& x, const Vec<d>& p, const Vec<d>& q) {
    const Vec<d> e = q - p;
    const double t = std::clamp((x - p).dot(e) / e.squaredNorm(), 0.0, 1.0);
    return (x - p - t * e).norm();
}

inline double segment_segment(const Vec<3>& p, const Vec<3>& q, const Vec<3>& r, const Vec<3>& s) {
    double least = std::min({point_segment<3>(p, r, s), point_segment<3>(q, r, s), point_segment<3>(r, p, q),
                             point_segment<3>(s, p, q)});
    const Vec<3> u = q - p, v = s - r, n = u.cross(v);
    const double nn = n.squaredNorm();
    if (nn > 1e-20 * u.squaredNorm() * v.squaredNorm()) {
        const Vec<3> w = r - p;
        const double t = w.cross(v).dot(n) / nn, k = w.cross(u).dot(n) / nn;
        if (t >= 0 && t <= 1 && k >= 0 && k <= 1) least = std::min(least, std::abs(w.dot(n)) / std::sqrt(nn));
    }
    return least;
}

/// A polyhedron in the world.
struct World {
    const Polyhedron* shape;
    std::vector<Vec<3>> x;
    std::vector<Vec<3>> normal;
    explicit World(const Placed<3>& p) : shape(&std::get<Polyhedron>(*p.shape)) {
        for (const auto& v : shape->vertices) x.push_back(place<3>(p, v));
        for (const auto& f : shape->faces) normal.push_back(matrix(p.pose.rotation) * f.normal);
    }
    [[nodiscard]] double low(const Vec<3>& n) const {
        double least = infinity;
        for (const auto& v : x) least = std::min(least, v.dot(n));
        return least;
    }
};

inline double point_face(const Vec<3>& p, const World& w, std::size_t f) {
    const auto& face = w.shape->faces[f];
    const auto corner = [&](Index k) {
        return w.x[static_cast<std::size_t>(
            w.shape->face_vertices[static_cast<std::size_t>(face.start + k % face.size)])];
    };
    const Vec<3> n = w.normal[f];
    const double height = (p - corner(0)).dot(n);
    bool inside = true;
    double least = infinity;
    for (Index k = 0; k < face.size; ++k) {
        inside = inside && n.cross(corner(k + 1) - corner(k)).dot(p - corner(k)) >= 0;
        least = std::min(least, point_segment<3>(p, corner(k), corner(k + 1)));
    }
    return inside ? std::abs(height) : least;
}

/// Signed: the distance, or minus the least penetration over all faces and all pairs of edges.
inline double brute_distance(const Placed<3>& pa, const Placed<3>& pb) {
    const World a(pa), b(pb);
    double separation = -infinity;
    const auto axis = [&](const Vec<3>& n) { separation = std::max(separation, a.low(n) + b.low(-n)); };
    for (const auto& n : a.normal) axis(-n);
    for (const auto& n : b.normal) axis(n);
    const auto end = [](const World& w, const Polyhedron::Edge& e, int k) {
        return w.x[static_cast<std::size_t>(e.vertex[k])];
    };
    for (const auto& e : a.shape->edges)
        for (const auto& f : b.shape->edges) {
            const Vec<3> u = end(a, e, 1) - end(a, e, 0), v = end(b, f, 1) - end(b, f, 0);
            const Vec<3> n = u.cross(v);
            if (n.norm() < 1e-9 * u.norm() * v.norm()) continue;
            axis(n.normalized());
            axis(-n.normalized());
        }
    if (separation <= 0) return separation;
    double least = infinity;
    for (const auto& x : a.x)
        for (std::size_t f = 0; f < b.normal.size(); ++f) least = std::min(least, point_face(x, b, f));
    for (const auto& x : b.x)
        for (std::size_t f = 0; f < a.normal.size(); ++f) least = std::min(least, point_face(x, a, f));
    for (const auto& e : a.shape->edges)
        for (const auto& f : b.shape->edges)
            least = std::min(least, segment_segment(end(a, e, 0), end(a, e, 1), end(b, f, 0), end(b, f, 1)));
    return least;
}

inline double brute_distance(const Placed<2>& pa, const Placed<2>& pb) {
    const auto world = [](const Placed<2>& p) {
        std::vector<Vec<2>> x;
        for (const auto& v : std::get<Polygon>(*p.shape).vertices) x.push_back(place<2>(p, v));
        return x;
    };
    const std::vector<Vec<2>> a = world(pa), b = world(pb);
    double separation = -infinity, least = infinity;
    const auto sweep = [&](const std::vector<Vec<2>>& x, const std::vector<Vec<2>>& y) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            const Vec<2> p = x[i], q = x[(i + 1) % x.size()], e = (q - p).normalized(), n(e[1], -e[0]);
            double low = infinity;
            for (const auto& v : y) {
                low = std::min(low, n.dot(v - p));
                least = std::min(least, point_segment<2>(v, p, q));
            }
            separation = std::max(separation, low);
        }
    };
    sweep(a, b);
    sweep(b, a);
    return separation <= 0 ? separation : least;
}

template <int d>
std::vector<Touch<d>> touches(const Placed<d>& a, const Placed<d>& b, double reach) {
    std::vector<Touch<d>> out;
    find_touches<d>(a, b, reach, out);
    std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.feature < y.feature; });
    return out;
}
template <int d>
std::vector<std::uint32_t> features(const std::vector<Touch<d>>& found) {
    std::vector<std::uint32_t> out;
    for (const auto& t : found) out.push_back(t.feature);
    return out;
}
template <int d>
double least_gap(const std::vector<Touch<d>>& found) {
    double least = infinity;
    for (const auto& t : found) least = std::min(least, t.gap);
    return least;
}

}  // namespace drystone::testing_narrow
