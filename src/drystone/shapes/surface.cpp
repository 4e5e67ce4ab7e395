// Surfaces for pictures. The vertices are on the true surface, so a picture of a round shape is inside it by
// its facets.
#include "drystone/shapes/shape.hpp"

#include <algorithm>
#include <numbers>

namespace drystone {

namespace {

using std::numbers::pi;

/// A loop through all vertices.
void close_loop(Surface<2>& surface) {
    const Index n = static_cast<Index>(surface.vertices.size());
    for (Index i = 0; i < n; ++i) surface.elements.push_back({i, (i + 1) % n});
}

Surface<2> ellipse(const Vec<2>& semi, int detail) {
    Surface<2> surface;
    for (int i = 0; i < detail; ++i) {
        const double angle = 2 * pi * i / detail;
        surface.vertices.push_back(semi.cwiseProduct(Vec<2>(std::cos(angle), std::sin(angle))));
    }
    close_loop(surface);
    return surface;
}

/// cos and sin of step i of n around the circle (n a multiple of 8), scaled onto the unit circle of the
/// p-norm. Exact at the quarters; p < infinity has its edges, if any, at multiples of an eighth, where there
/// is always a point.
Vec<2> on_circle(int i, int n, double p) {
    const double angle = 2 * pi * i / n;
    Vec<2> x(std::cos(angle), std::sin(angle));
    if (i % (n / 4) == 0) return {std::round(x[0]), std::round(x[1])};
    return x / std::pow(std::pow(std::abs(x[0]), p) + std::pow(std::abs(x[1]), p), 1 / p);
}

/// Rings of n vertices from bottom to top between two poles; `point(ring, i)` for rings 0 .. rings - 1.
template <class Point>
Surface<3> from_rings(int rings, int n, const Vec<3>& bottom, const Vec<3>& top, Point&& point) {
    Surface<3> surface;
    surface.vertices.push_back(bottom);
    for (int ring = 0; ring < rings; ++ring)
        for (int i = 0; i < n; ++i) surface.vertices.push_back(point(ring, i));
    surface.vertices.push_back(top);
    const auto at = [&](int ring, int i) { return static_cast<Index>(1 + ring * n + i % n); };
    const Index last = static_cast<Index>(surface.vertices.size()) - 1;
    for (int i = 0; i < n; ++i) surface.elements.push_back({0, at(0, i + 1), at(0, i)});
    for (int ring = 0; ring + 1 < rings; ++ring)
        for (int i = 0; i < n; ++i) {
            surface.elements.push_back({at(ring, i), at(ring, i + 1), at(ring + 1, i + 1)});
            surface.elements.push_back({at(ring, i), at(ring + 1, i + 1), at(ring + 1, i)});
        }
    for (int i = 0; i < n; ++i) surface.elements.push_back({at(rings - 1, i), at(rings - 1, i + 1), last});
    return surface;
}

/// Meridians and parallels; the profile is a circle of the outer norm, the parallels are circles of the inner
/// one.
Surface<3> superellipsoid(const Superellipsoid& s, int detail) {
    const int n = std::max(8, (detail + 7) / 8 * 8);
    return from_rings(n / 2 - 1, n, {0, 0, -s.semi[2]}, {0, 0, s.semi[2]}, [&](int ring, int i) -> Vec<3> {
        const Vec<2> profile = on_circle(ring + 1 - n / 4 + n, n, 2 / s.e1);  // from -90 to 90 degrees
        const Vec<2> parallel = on_circle(i, n, 2 / s.e2);
        return s.semi.cwiseProduct(Vec<3>(profile[0] * parallel[0], profile[0] * parallel[1], profile[1]));
    });
}

Surface<3> capsule(const Capsule& s, int detail) {
    const int n = std::max(8, (detail + 7) / 8 * 8), quarter = n / 4;
    const double end = s.radius + s.half_length;
    return from_rings(2 * quarter, n, {0, 0, -end}, {0, 0, end}, [&](int ring, int i) -> Vec<3> {
        const bool upper = ring >= quarter;  // the equator is there twice, once at each end of the cylinder
        const Vec<2> profile = on_circle(ring + 1 - quarter - (upper ? 1 : 0) + n, n, 2);
        const Vec<2> parallel = on_circle(i, n, 2);
        return {s.radius * profile[0] * parallel[0], s.radius * profile[0] * parallel[1],
                s.radius * profile[1] + (upper ? s.half_length : -s.half_length)};
    });
}

struct Draw2 {
    int detail;
    Surface<2> operator()(const Ball<2>& s) const { return ellipse(Vec<2>::Constant(s.radius), detail); }
    Surface<2> operator()(const Ellipsoid<2>& s) const { return ellipse(s.semi, detail); }
    Surface<2> operator()(const Polygon& s) const {
        Surface<2> surface{s.vertices, {}};
        close_loop(surface);
        return surface;
    }
    Surface<2> operator()(const HalfSpace<2>&) const { return {}; }
};

struct Draw3 {
    int detail;
    Surface<3> operator()(const Ball<3>& s) const {
        return superellipsoid({Vec<3>::Constant(s.radius), 1, 1}, detail);
    }
    Surface<3> operator()(const Capsule& s) const { return capsule(s, detail); }
    Surface<3> operator()(const Ellipsoid<3>& s) const { return superellipsoid({s.semi, 1, 1}, detail); }
    Surface<3> operator()(const Superellipsoid& s) const { return superellipsoid(s, detail); }
    Surface<3> operator()(const Polyhedron& s) const {
        Surface<3> surface{s.vertices, {}};
        for (const Polyhedron::Face& face : s.faces) {
            const Index* loop = &s.face_vertices[face.start];
            for (Index k = 1; k + 1 < face.size; ++k)
                surface.elements.push_back({loop[0], loop[k], loop[k + 1]});
        }
        return surface;
    }
    Surface<3> operator()(const HalfSpace<3>&) const { return {}; }
    Surface<3> operator()(const TriangleMesh& s) const { return {s.vertices, s.triangles}; }
};

}  // namespace

template <int d>
Surface<d> surface_of(const Shape<d>& shape, int detail) {
    if constexpr (d == 2)
        return std::visit(Draw2{std::max(detail, 3)}, shape);
    else
        return std::visit(Draw3{detail}, shape);
}
template Surface<2> surface_of<2>(const Shape<2>&, int);
template Surface<3> surface_of<3>(const Shape<3>&, int);

}  // namespace drystone
