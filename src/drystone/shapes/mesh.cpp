// Triangle meshes: what a collision needs to know beside the triangles.
#include "drystone/base/error.hpp"
#include "drystone/shapes/shape.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace drystone {

namespace {

using Triangle = std::array<Index, 3>;

void check(const std::vector<Vec<3>>& vertices, const std::vector<Triangle>& triangles) {
    for (std::size_t i = 0; i < vertices.size(); ++i)
        if (!vertices[i].allFinite())
            fail("mesh", "vertex " + std::to_string(i) + " is not finite", "give finite coordinates");
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (const Index v : triangles[t])
            if (v < 0 || v >= static_cast<Index>(vertices.size()))
                fail("mesh",
                     "triangle " + std::to_string(t) + " has vertex " + std::to_string(v) + " of " +
                         std::to_string(vertices.size()),
                     "count vertices from 0");
}

/// Vertices at the same place become one, so that triangles that were stored apart find their neighbours.
void join_equal_vertices(const std::vector<Vec<3>>& vertices, std::vector<Triangle>& triangles) {
    std::vector<Index> order(vertices.size()), same(vertices.size());
    std::iota(order.begin(), order.end(), 0);
    const auto place = [&](Index v) { return std::array{vertices[v][0], vertices[v][1], vertices[v][2]}; };
    std::sort(order.begin(), order.end(),
              [&](Index a, Index b) { return place(a) != place(b) ? place(a) < place(b) : a < b; });
    for (std::size_t i = 0; i < order.size(); ++i)
        same[order[i]] = i > 0 && place(order[i]) == place(order[i - 1]) ? same[order[i - 1]] : order[i];
    for (Triangle& t : triangles)
        for (Index& v : t) v = same[v];
}

/// A triangle lower than this part of its longest side has no normal to speak of.
bool is_degenerate(const std::vector<Vec<3>>& x, const Triangle& t) {
    const Vec<3> a = x[t[1]] - x[t[0]], b = x[t[2]] - x[t[1]], c = x[t[0]] - x[t[2]];
    const double longest = std::max({a.squaredNorm(), b.squaredNorm(), c.squaredNorm()});
    return !(a.cross(b).norm() > 1e-12 * longest);
}

void drop_unused_vertices(TriangleMesh& mesh) {
    std::vector<Index> number(mesh.vertices.size(), -1);
    for (const Triangle& t : mesh.triangles)
        for (const Index v : t) number[v] = 0;
    Index kept = 0;
    for (std::size_t v = 0; v < number.size(); ++v) {
        if (number[v] < 0) continue;
        mesh.vertices[kept] = mesh.vertices[v];
        number[v] = kept++;
    }
    mesh.vertices.resize(kept);
    for (Triangle& t : mesh.triangles)
        for (Index& v : t) v = number[v];
}

/// Two triangles are neighbours where they alone share an edge and run along it in opposite directions. Three
/// or more at one edge have no one neighbour there, and two that run the same way disagree about which side
/// is out.
void find_neighbours(TriangleMesh& mesh) {
    struct Side {
        Index low, high, triangle, corner;
        bool operator<(const Side& o) const {
            return std::array{low, high, triangle, corner} < std::array{o.low, o.high, o.triangle, o.corner};
        }
    };
    std::vector<Side> sides;
    sides.reserve(3 * mesh.triangles.size());
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        for (int k = 0; k < 3; ++k) {
            const Index from = mesh.triangles[t][k], to = mesh.triangles[t][(k + 1) % 3];
            sides.push_back({std::min(from, to), std::max(from, to), static_cast<Index>(t), k});
        }
    std::sort(sides.begin(), sides.end());
    mesh.neighbours.assign(mesh.triangles.size(), {-1, -1, -1});
    for (std::size_t i = 0, end; i < sides.size(); i = end) {
        end = i + 1;
        while (end < sides.size() && sides[end].low == sides[i].low && sides[end].high == sides[i].high)
            ++end;
        if (end - i != 2) continue;
        const Side &a = sides[i], &b = sides[i + 1];
        if (mesh.triangles[a.triangle][a.corner] == mesh.triangles[b.triangle][b.corner]) continue;
        mesh.neighbours[a.triangle][a.corner] = b.triangle;
        mesh.neighbours[b.triangle][b.corner] = a.triangle;
    }
}

/// Halves at the median along the longest side of the box of the centres; ties by number, so the tree depends
/// on the mesh alone.
class TreeBuilder {
public:
    explicit TreeBuilder(TriangleMesh& mesh) : mesh_(mesh) {
        for (const Triangle& t : mesh.triangles)
            centres_.push_back((mesh.vertices[t[0]] + mesh.vertices[t[1]] + mesh.vertices[t[2]]) / 3);
        mesh.tree_order.resize(mesh.triangles.size());
        std::iota(mesh.tree_order.begin(), mesh.tree_order.end(), 0);
        mesh.tree.clear();
        build(0, static_cast<Index>(mesh.triangles.size()));
    }

private:
    static constexpr Index leaf = 4;

    void build(Index first, Index count) {
        const std::size_t at = mesh_.tree.size();
        mesh_.tree.push_back({{}, first, count});
        Bounds<3> centres;
        for (Index k = first; k < first + count; ++k) {
            const Index t = mesh_.tree_order[k];
            centres.include(centres_[t]);
            for (const Index v : mesh_.triangles[t]) mesh_.tree[at].bounds.include(mesh_.vertices[v]);
        }
        if (count <= leaf) return;
        Eigen::Index axis = 0;
        (centres.upper - centres.lower).maxCoeff(&axis);
        const auto begin = mesh_.tree_order.begin() + first;
        std::sort(begin, begin + count, [&](Index s, Index t) {
            return centres_[s][axis] != centres_[t][axis] ? centres_[s][axis] < centres_[t][axis] : s < t;
        });
        build(first, count / 2);
        mesh_.tree[at].first = static_cast<Index>(mesh_.tree.size());
        mesh_.tree[at].count = 0;
        build(first + count / 2, count - count / 2);
    }

    TriangleMesh& mesh_;
    std::vector<Vec<3>> centres_;
};

}  // namespace

TriangleMesh make_mesh(std::vector<Vec<3>> vertices, std::vector<std::array<Index, 3>> triangles) {
    check(vertices, triangles);
    join_equal_vertices(vertices, triangles);
    std::erase_if(triangles, [&](const Triangle& t) { return is_degenerate(vertices, t); });
    if (triangles.empty()) fail("mesh", "it has no triangle with an area", "give a surface");
    TriangleMesh mesh;
    mesh.vertices = std::move(vertices);
    mesh.triangles = std::move(triangles);
    drop_unused_vertices(mesh);
    for (const Triangle& t : mesh.triangles) {
        const Vec<3>& corner = mesh.vertices[t[0]];
        mesh.normals.push_back(
            (mesh.vertices[t[1]] - corner).cross(mesh.vertices[t[2]] - corner).stableNormalized());
    }
    find_neighbours(mesh);
    const TreeBuilder tree(mesh);
    return mesh;
}

}  // namespace drystone
