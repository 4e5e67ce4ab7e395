// Convex hulls in space: Qhull finds the triangles, this file makes them the faces of a solid.
#include "drystone/shapes/hull.hpp"

#include "drystone/base/error.hpp"

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

namespace drystone {

namespace {

using Triangle = std::array<Index, 3>;

/// The farthest point from what is spanned so far, four times: says whether there is a volume, before Qhull
/// is asked.
bool span_volume(const std::vector<Vec<3>>& x, double tolerance) {
    const auto farthest = [&](auto&& measure) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < x.size(); ++i)
            if (measure(x[i]) > measure(x[best])) best = i;
        return x[best];
    };
    const Vec<3> a = farthest([&](const Vec<3>& p) { return (p - x[0]).squaredNorm(); });
    const Vec<3> b = farthest([&](const Vec<3>& p) { return (p - a).squaredNorm(); });
    const Vec<3> axis = (b - a).normalized();
    const Vec<3> c = farthest([&](const Vec<3>& p) { return (p - a).cross(axis).squaredNorm(); });
    if (!((c - a).cross(axis).norm() > tolerance)) return false;
    const Vec<3> normal = axis.cross(c - a).normalized();
    const Vec<3> e = farthest([&](const Vec<3>& p) { return std::abs(normal.dot(p - a)); });
    return std::abs(normal.dot(e - a)) > tolerance;
}

/// Triangles of the hull, counter-clockwise from outside, in an order that depends on the points alone:
/// Qhull's own order follows a hash of memory addresses. Empty where Qhull gives up.
std::vector<Triangle> qhull_triangles(const std::vector<Vec<3>>& points, const char* options) {
    // What Qhull has to say is of no use to the user: the points were checked before.
    const std::unique_ptr<FILE, int (*)(FILE*)> silence(std::tmpfile(), std::fclose);
    std::vector<double> flat;
    flat.reserve(3 * points.size());
    for (const Vec<3>& x : points) flat.insert(flat.end(), {x[0], x[1], x[2]});

    std::string command = options;
    const auto work = std::make_unique<qhT>();
    qhT* qh = work.get();
    qh_zero(qh, silence.get());
    const int failed = qh_new_qhull(qh, 3, static_cast<int>(points.size()), flat.data(), False,
                                    command.data(), nullptr, silence.get());
    std::vector<Triangle> triangles;
    if (failed == 0) {
        facetT* facet;
        FORALLfacets {
            Triangle t{};
            int corners = 0;
            vertexT *vertex, **vertexp;
            FOREACHvertex_(facet->vertices) {
                if (corners < 3) t[corners] = static_cast<Index>(qh_pointid(qh, vertex->point));
                ++corners;
            }
            if (corners != 3) continue;
            if (facet->toporient ^ qh_ORIENTclock) std::swap(t[1], t[2]);
            std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
            triangles.push_back(t);
        }
    }
    qh_freeqhull(qh, !qh_ALL);
    int left = 0, total = 0;
    qh_memfreeshort(qh, &left, &total);
    std::sort(triangles.begin(), triangles.end());
    return triangles;
}

/// The triangle on the other side of each side (k to k + 1) of each triangle; empty unless every side has
/// exactly one.
std::vector<Triangle> neighbours_of(const std::vector<Triangle>& triangles) {
    std::map<std::pair<Index, Index>, Index> owner;
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (int k = 0; k < 3; ++k)
            if (!owner.emplace(std::pair{triangles[t][k], triangles[t][(k + 1) % 3]}, static_cast<Index>(t))
                     .second)
                return {};
    std::vector<Triangle> across(triangles.size());
    for (std::size_t t = 0; t < triangles.size(); ++t) {
        for (int k = 0; k < 3; ++k) {
            const auto it = owner.find({triangles[t][(k + 1) % 3], triangles[t][k]});
            if (it == owner.end()) return {};
            across[t][k] = it->second;
        }
    }
    return across;
}

/// Lower than a few tolerances: its own normal is noise.
bool is_sliver(const std::vector<Vec<3>>& x, const Triangle& t, double tolerance) {
    const Vec<3> a = x[t[1]] - x[t[0]], b = x[t[2]] - x[t[1]], c = x[t[0]] - x[t[2]];
    return a.cross(b).norm() <= 4 * tolerance * std::max({a.norm(), b.norm(), c.norm()});
}

/// Qhull cuts merged facets into triangles without looking at their shape, and can so fold one over.
bool has_fold(const std::vector<Vec<3>>& x, const std::vector<Triangle>& triangles, double tolerance) {
    Vec<3> inside = Vec<3>::Zero();
    for (const Vec<3>& p : x) inside += p / static_cast<double>(x.size());
    return std::any_of(triangles.begin(), triangles.end(), [&](const Triangle& t) {
        const Vec<3> area = (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]);
        return !is_sliver(x, t, tolerance) && area.dot(x[t[0]] - inside) <= 0;
    });
}

/// The face of each triangle: faces grow from the largest triangle over neighbours that stay in its plane. A
/// sliver, whose own normal is noise, joins whichever face comes first.
std::vector<Index> group_coplanar(const std::vector<Vec<3>>& x, const std::vector<Triangle>& triangles,
                                  const std::vector<Triangle>& across, double tolerance) {
    std::vector<Vec<3>> area;
    std::vector<char> sliver;
    for (const Triangle& t : triangles) {
        area.push_back((x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]));
        sliver.push_back(is_sliver(x, t, tolerance));
    }
    std::vector<Index> order(triangles.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](Index s, Index t) { return area[s].squaredNorm() > area[t].squaredNorm(); });

    std::vector<Index> group(triangles.size(), -1);
    Index groups = 0;
    std::vector<Index> stack;
    for (const Index seed : order) {
        if (group[seed] >= 0) continue;
        const Vec<3> normal = area[seed].stableNormalized(), origin = x[triangles[seed][0]];
        group[seed] = groups;
        stack.assign(1, seed);
        while (!stack.empty()) {
            const Index t = stack.back();
            stack.pop_back();
            for (const Index s : across[t]) {
                if (group[s] >= 0 || (!sliver[s] && area[s].dot(normal) <= 0)) continue;
                const auto off = [&](Index v) { return std::abs(normal.dot(x[v] - origin)); };
                if (std::max({off(triangles[s][0]), off(triangles[s][1]), off(triangles[s][2])}) > tolerance)
                    continue;
                group[s] = groups;
                stack.push_back(s);
            }
        }
        ++groups;
    }
    return group;
}

/// The border of each group as one loop; empty where a border is not one loop.
std::vector<std::vector<Index>> borders(const std::vector<Triangle>& triangles,
                                        const std::vector<Triangle>& across,
                                        const std::vector<Index>& group) {
    const Index groups = *std::max_element(group.begin(), group.end()) + 1;
    std::vector<std::map<Index, Index>> next(groups);  // from a corner to the one after it
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (int k = 0; k < 3; ++k)
            if (group[across[t][k]] != group[t])
                if (!next[group[t]].emplace(triangles[t][k], triangles[t][(k + 1) % 3]).second) return {};
    std::vector<std::vector<Index>> loops;
    for (const auto& step : next) {
        if (step.empty()) return {};
        std::vector<Index> loop;
        Index at = step.begin()->first;
        do {
            loop.push_back(at);
            const auto it = step.find(at);
            if (it == step.end() || loop.size() > step.size()) return {};
            at = it->second;
        } while (at != loop.front());
        if (loop.size() != step.size()) return {};
        loops.push_back(std::move(loop));
    }
    return loops;
}

/// A vertex of two faces only is a point of an edge, and a face of two corners is an edge: both go, until
/// none is left.
void drop_flat(std::vector<std::vector<Index>>& loops, std::size_t vertices) {
    for (bool changed = true; changed;) {
        changed = false;
        std::vector<int> uses(vertices, 0);
        for (const auto& loop : loops)
            for (const Index v : loop) ++uses[v];
        for (auto& loop : loops) {
            const std::size_t before = loop.size();
            std::erase_if(loop, [&](Index v) { return uses[v] < 3; });
            changed |= loop.size() != before;
        }
        changed |= std::erase_if(loops, [](const auto& loop) { return loop.size() < 3; }) > 0;
    }
}

/// Closed, of one piece with Euler's V - E + F = 2, and every side with its opposite.
bool closes_up(const std::vector<std::vector<Index>>& loops) {
    std::map<std::pair<Index, Index>, int> sides;
    std::map<Index, int> used;
    for (const auto& loop : loops) {
        for (std::size_t k = 0; k < loop.size(); ++k) {
            ++used[loop[k]];
            if (++sides[{loop[k], loop[(k + 1) % loop.size()]}] > 1) return false;
        }
    }
    for (const auto& [side, count] : sides)
        if (!sides.contains({side.second, side.first})) return false;
    return loops.size() >= 4 && used.size() + loops.size() == sides.size() / 2 + 2;
}

/// Vertices in the order of the points, faces in that of their corners.
FaceLoops numbered(const std::vector<Vec<3>>& points, std::vector<std::vector<Index>> loops) {
    std::vector<Index> number(points.size(), -1);
    for (const auto& loop : loops)
        for (const Index v : loop) number[v] = 0;
    FaceLoops made;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (number[i] < 0) continue;
        number[i] = static_cast<Index>(made.vertices.size());
        made.vertices.push_back(points[i]);
    }
    for (auto& loop : loops) {
        for (Index& v : loop) v = number[v];
        std::rotate(loop.begin(), std::min_element(loop.begin(), loop.end()), loop.end());
    }
    std::sort(loops.begin(), loops.end());
    made.faces = std::move(loops);
    return made;
}

}  // namespace

FaceLoops hull_of(const std::vector<Vec<3>>& points) {
    check_points<3>("polyhedron", points, 4);
    Bounds<3> box;
    for (const Vec<3>& x : points) box.include(x);
    const double extent = (box.upper - box.lower).norm();
    const Vec<3> middle = 0.5 * (box.lower + box.upper);
    if (!(extent > 0)) fail("polyhedron", "all its points are equal", "give points that span a volume");

    // At size 1 about the origin: Qhull's tolerances are those of its largest coordinate. Only numbers of
    // points come back.
    std::vector<Vec<3>> unit, given;
    for (const Vec<3>& x : points) unit.push_back((x - middle) / extent);
    const std::vector<std::size_t> kept = distinct_points<3>(unit, hull_tolerance);
    for (std::size_t k = 0; k < kept.size(); ++k) {
        unit[k] = unit[kept[k]];
        given.push_back(points[kept[k]]);
    }
    unit.resize(kept.size());
    if (!span_volume(unit, hull_tolerance))
        fail("polyhedron", "its points are in one plane", "give points that span a volume");

    // Qt: triangles, also where Qhull merged facets. QJ: points moved by a hair so that nothing is merged;
    // only the triangles are taken from it. A coarser tolerance is the last resort.
    for (const double tolerance : {hull_tolerance, 30 * hull_tolerance, 1000 * hull_tolerance}) {
        for (const char* options : {"qhull Qt Pp", "qhull QJ Pp"}) {
            const std::vector<Triangle> triangles = qhull_triangles(unit, options);
            const std::vector<Triangle> across = neighbours_of(triangles);
            if (across.empty() || has_fold(unit, triangles, tolerance)) continue;
            auto loops = borders(triangles, across, group_coplanar(unit, triangles, across, tolerance));
            drop_flat(loops, unit.size());
            if (!closes_up(loops)) continue;
            return numbered(given, std::move(loops));
        }
    }
    fail("polyhedron", "its points do not give a closed hull", "remove points that almost coincide");
}

}  // namespace drystone
