// Convex polygons: hull, centring.
#include "drystone/base/error.hpp"
#include "drystone/shapes/hull.hpp"
#include "drystone/shapes/moments.hpp"

#include <algorithm>
#include <numeric>

namespace drystone {

template <int d>
void check_points(const std::string& where, const std::vector<Vec<d>>& points, std::size_t least) {
    if (points.size() < least)
        fail(where, "has " + std::to_string(points.size()) + " points",
             "give at least " + std::to_string(least));
    for (std::size_t i = 0; i < points.size(); ++i)
        if (!points[i].allFinite())
            fail(where, "point " + std::to_string(i) + " is not finite", "give finite coordinates");
}
template void check_points<2>(const std::string&, const std::vector<Vec<2>>&, std::size_t);
template void check_points<3>(const std::string&, const std::vector<Vec<3>>&, std::size_t);

template <int d>
std::vector<std::size_t> distinct_points(const std::vector<Vec<d>>& points, double tolerance) {
    // Sweep along a direction that no lattice or box face is square to: only points within the tolerance
    // along it need be compared, and few are.
    Vec<d> direction;
    for (int k = 0; k < d; ++k) direction[k] = 1 / std::sqrt(2.0 + 3 * k + k * k);
    direction.normalize();
    std::vector<double> along;
    for (const Vec<d>& x : points) along.push_back(direction.dot(x));
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
        return along[i] != along[j] ? along[i] < along[j] : i < j;
    });
    std::vector<char> dropped(points.size(), 0);
    for (std::size_t a = 0; a < order.size(); ++a) {
        for (std::size_t b = a + 1; b < order.size(); ++b) {
            const std::size_t i = order[a], j = order[b];
            // Twice the tolerance: the projections are rounded, too.
            if (along[j] - along[i] > 2 * tolerance) break;
            if (!dropped[i] && !dropped[j] && (points[j] - points[i]).norm() <= tolerance)
                dropped[std::max(i, j)] = 1;
        }
    }
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (!dropped[i]) kept.push_back(i);
    return kept;
}
template std::vector<std::size_t> distinct_points<2>(const std::vector<Vec<2>>&, double);
template std::vector<std::size_t> distinct_points<3>(const std::vector<Vec<3>>&, double);

namespace {

double turn_of(const Vec<2>& a, const Vec<2>& b, const Vec<2>& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// A. M. Andrew, Another efficient algorithm for convex hulls in two dimensions (1979): counter-clockwise.
std::vector<Vec<2>> hull_loop(std::vector<Vec<2>> points) {
    std::sort(points.begin(), points.end(),
              [](const Vec<2>& a, const Vec<2>& b) { return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1]; });
    std::vector<Vec<2>> loop;
    const auto chain = [&](auto begin, auto end) {
        const std::size_t base = loop.size();
        for (auto it = begin; it != end; ++it) {
            while (loop.size() >= base + 2 && turn_of(loop[loop.size() - 2], loop.back(), *it) <= 0)
                loop.pop_back();
            loop.push_back(*it);
        }
        loop.pop_back();  // the first point of the other chain
    };
    chain(points.begin(), points.end());
    chain(points.rbegin(), points.rend());
    return loop;
}

/// Drops corners that stand less than `tolerance` off the line of their neighbours, the flattest first.
void drop_flat_corners(std::vector<Vec<2>>& loop, double tolerance) {
    while (loop.size() > 2) {
        std::size_t flattest = 0;
        double least = infinity;
        for (std::size_t i = 0; i < loop.size(); ++i) {
            const Vec<2>&a = loop[(i + loop.size() - 1) % loop.size()], &b = loop[(i + 1) % loop.size()];
            const double height = turn_of(a, loop[i], b) / (b - a).norm();
            if (height < least) {
                least = height;
                flattest = i;
            }
        }
        if (least > tolerance) return;
        loop.erase(loop.begin() + static_cast<std::ptrdiff_t>(flattest));
    }
}

void set_normals(Polygon& polygon) {
    const std::size_t n = polygon.vertices.size();
    polygon.normals.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Vec<2> edge = polygon.vertices[(i + 1) % n] - polygon.vertices[i];
        polygon.normals[i] = Vec<2>(edge[1], -edge[0]).normalized();
    }
}

}  // namespace

Centred<2, Polygon> make_polygon(const std::vector<Vec<2>>& points) {
    check_points<2>("polygon", points, 3);
    Bounds<2> box;
    for (const Vec<2>& x : points) box.include(x);
    const double tolerance = hull_tolerance * (box.upper - box.lower).norm();
    Centred<2, Polygon> made;
    for (const std::size_t i : distinct_points<2>(points, tolerance))
        made.shape.vertices.push_back(points[i]);
    if (made.shape.vertices.size() >= 3) {
        made.shape.vertices = hull_loop(std::move(made.shape.vertices));
        drop_flat_corners(made.shape.vertices, tolerance);
    }
    if (made.shape.vertices.size() < 3)
        fail("polygon", "its points are on one line", "give points that span an area");
    made.pose.position = moments_of(made.shape).centre;
    for (Vec<2>& x : made.shape.vertices) x -= made.pose.position;
    set_normals(made.shape);
    return made;
}

Polygon make_rectangle(const Vec<2>& half) {
    if (!half.allFinite() || half.minCoeff() <= 0)
        fail("rectangle", "a half side is not positive", "give two positive half sides");
    Polygon made;
    made.vertices = {{-half[0], -half[1]}, {half[0], -half[1]}, {half[0], half[1]}, {-half[0], half[1]}};
    set_normals(made);
    return made;
}

}  // namespace drystone
