#include "mesh.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <utility>

namespace drystone::validation {

namespace {

using Corners = std::array<Index, 3>;
using SideOf = std::function<Side(const Vec<2>& middle)>;

/// The quadrilateral a b c d, counter-clockwise, as two triangles by the diagonal a c, each cut into three about its
/// centre.
void cut(const std::array<Index, 4>& corner, std::vector<Vec<2>>& node, std::vector<Corners>& triangle) {
    for (int half = 0; half < 2; ++half) {
        const Corners whole{corner[0], corner[1 + half], corner[2 + half]};
        const auto centre = static_cast<Index>(node.size());
        node.emplace_back((node[whole[0]] + node[whole[1]] + node[whole[2]]) / 3);
        for (int k = 0; k < 3; ++k) triangle.push_back({whole[k], whole[(k + 1) % 3], centre});
    }
}

/// Adds the middles of edges, and lists those that only one triangle has.
TriangleMesh with_middles(std::vector<Vec<2>> node, const std::vector<Corners>& triangle,
                          const SideOf& side_of) {
    TriangleMesh mesh;
    mesh.node = std::move(node);
    struct Edge {
        Index middle = 0;
        int seen = 0;
    };
    std::map<std::pair<Index, Index>, Edge> edges;
    const auto key = [](Index a, Index b) { return std::pair(std::min(a, b), std::max(a, b)); };
    for (const Corners& corner : triangle) {
        std::array<Index, 6> t{corner[0], corner[1], corner[2]};
        for (int k = 0; k < 3; ++k) {
            const Index a = corner[k], b = corner[(k + 1) % 3];
            Edge& edge = edges[key(a, b)];
            if (edge.seen++ == 0) {
                edge.middle = mesh.nodes();
                mesh.node.emplace_back(0.5 * (mesh.node[a] + mesh.node[b]));
            }
            t[3 + k] = edge.middle;
        }
        mesh.triangle.push_back(t);
    }
    for (Index i = 0; i < mesh.triangles(); ++i) {
        const auto& t = mesh.triangle[i];
        for (int k = 0; k < 3; ++k) {
            const Index a = t[k], b = t[(k + 1) % 3];
            if (edges[key(a, b)].seen == 1)
                mesh.boundary.push_back({a, b, t[3 + k], i, side_of(mesh.node[t[3 + k]])});
        }
    }
    return mesh;
}

/// Which side of the rectangle is nearest.
Side nearest_side(const Vec<2>& low, const Vec<2>& high, const Vec<2>& x) {
    const std::array<double, 4> away{x[0] - low[0], high[0] - x[0], x[1] - low[1], high[1] - x[1]};
    return static_cast<Side>(std::min_element(away.begin(), away.end()) - away.begin());
}

/// The outline of |x| <= length / 2, |y| <= width / 2 in so many parts, counter-clockwise from the lower right corner;
/// `across` of them on the right side.
std::vector<Vec<2>> outline(double length, double width, int around, int across) {
    std::vector<Vec<2>> points;
    const std::array<Vec<2>, 4> corner{Vec<2>(length / 2, -width / 2), Vec<2>(length / 2, width / 2),
                                       Vec<2>(-length / 2, width / 2), Vec<2>(-length / 2, -width / 2)};
    for (int side = 0; side < 4; ++side) {
        const int parts = side % 2 == 0 ? across : around / 2 - across;
        for (int k = 0; k < parts; ++k) {
            const double part = static_cast<double>(k) / parts;
            points.emplace_back((1 - part) * corner[side] + part * corner[(side + 1) % 4]);
        }
    }
    return points;
}

}  // namespace

double TriangleMesh::area(Index t) const {
    const Vec<2> a = node[triangle[t][0]], b = node[triangle[t][1]], c = node[triangle[t][2]];
    return 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
}

Vec<2> TriangleMesh::point(Index t, const Vec<3>& at) const {
    return at[0] * node[triangle[t][0]] + at[1] * node[triangle[t][1]] + at[2] * node[triangle[t][2]];
}

const std::array<QuadraturePoint, 3>& gauss_points() {
    static const std::array<QuadraturePoint, 3> points{
        QuadraturePoint{Vec<3>(2.0 / 3, 1.0 / 6, 1.0 / 6), 1.0 / 3},
        QuadraturePoint{Vec<3>(1.0 / 6, 2.0 / 3, 1.0 / 6), 1.0 / 3},
        QuadraturePoint{Vec<3>(1.0 / 6, 1.0 / 6, 2.0 / 3), 1.0 / 3}};
    return points;
}

const std::array<QuadraturePoint, 7>& fine_points() {
    static const std::array<QuadraturePoint, 7> points = [] {
        std::array<QuadraturePoint, 7> p;
        p[0] = {Vec<3>::Constant(1.0 / 3), 9.0 / 40};
        for (int group = 0; group < 2; ++group) {
            const double root = (group == 0 ? 1 : -1) * std::sqrt(15.0);
            const double near = (6 - root) / 21;
            for (int k = 0; k < 3; ++k) {
                Vec<3> at = Vec<3>::Constant(near);
                at[k] = 1 - 2 * near;
                p[1 + 3 * group + k] = {at, (155 - root) / 1200};
            }
        }
        return p;
    }();
    return points;
}

std::array<double, 6> shape_values(const Vec<3>& at) {
    std::array<double, 6> value{};
    for (int k = 0; k < 3; ++k) {
        value[k] = at[k] * (2 * at[k] - 1);
        value[3 + k] = 4 * at[k] * at[(k + 1) % 3];
    }
    return value;
}

std::array<Vec<2>, 6> shape_gradients(const TriangleMesh& mesh, Index t, const Vec<3>& at) {
    const auto& corner = mesh.triangle[t];
    const double twice = 2 * mesh.area(t);
    std::array<Vec<2>, 3> slope;  // of the barycentric coordinates
    for (int k = 0; k < 3; ++k) {
        const Vec<2> opposite = mesh.node[corner[(k + 2) % 3]] - mesh.node[corner[(k + 1) % 3]];
        slope[k] = Vec<2>(-opposite[1], opposite[0]) / twice;
    }
    std::array<Vec<2>, 6> gradient;
    for (int k = 0; k < 3; ++k) {
        const int next = (k + 1) % 3;
        gradient[k] = (4 * at[k] - 1) * slope[k];
        gradient[3 + k] = 4 * (at[k] * slope[next] + at[next] * slope[k]);
    }
    return gradient;
}

TriangleMesh rectangle(const Vec<2>& low, const Vec<2>& high, int columns, int rows) {
    std::vector<Vec<2>> node;
    for (int j = 0; j <= rows; ++j) {
        for (int i = 0; i <= columns; ++i) {
            const Vec<2> part(static_cast<double>(i) / columns, static_cast<double>(j) / rows);
            node.emplace_back(low + part.cwiseProduct(high - low));
        }
    }
    std::vector<Corners> triangle;
    for (int j = 0; j < rows; ++j) {
        for (int i = 0; i < columns; ++i) {
            const Index a = j * (columns + 1) + i, d = a + columns + 1;
            cut({a, a + 1, d + 1, d}, node, triangle);
        }
    }
    return with_middles(std::move(node), triangle,
                        [&](const Vec<2>& middle) { return nearest_side(low, high, middle); });
}

TriangleMesh channel_around_disk(double length, double width, double diameter, int around) {
    const int across = static_cast<int>(std::lround(around / (2 * (1 + length / width))));
    const std::vector<Vec<2>> outer = outline(length, width, around, across);
    const double radius = diameter / 2, growth = 1 + 2 * std::numbers::pi / around;
    const int rings =
        std::max(2, static_cast<int>(std::lround(std::log(width / diameter) / std::log(growth))));
    std::vector<Vec<2>> node;
    for (int j = 0; j <= rings; ++j) {
        const double ratio = std::pow(width / diameter, 1.0 / rings);
        const double part = (std::pow(ratio, j) - 1) / (width / diameter - 1);
        for (int k = 0; k < around; ++k) {
            const double angle = 2 * std::numbers::pi * (k - 0.5 * across) / around;
            const Vec<2> inner = radius * Vec<2>(std::cos(angle), std::sin(angle));
            node.emplace_back((1 - part) * inner + part * outer[k]);
        }
    }
    std::vector<Corners> triangle;
    for (int j = 0; j < rings; ++j) {
        for (int k = 0; k < around; ++k) {
            const Index a = j * around + k, b = j * around + (k + 1) % around;
            // Diagonals are mirror images of each other in y = 0.
            if (node[a][1] + node[b][1] < 0)
                cut({a, a + around, b + around, b}, node, triangle);
            else
                cut({a + around, b + around, b, a}, node, triangle);
        }
    }
    const Vec<2> high(length / 2, width / 2);
    return with_middles(std::move(node), triangle, [&](const Vec<2>& middle) {
        return middle.norm() < 0.5 * (radius + width / 2) ? Side::obstacle
                                                          : nearest_side(-high, high, middle);
    });
}

}  // namespace drystone::validation
