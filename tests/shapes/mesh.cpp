// Meshes: neighbours, tree, signed distance, bad input.
#include "drystone/base/error.hpp"
#include "drystone/shapes/shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace drystone;

namespace {

TriangleMesh cube() {
    const Surface<3> surface = surface_of<3>(make_box({1, 1, 1}), 0);
    return make_mesh(surface.vertices, surface.elements);
}

TriangleMesh ball(int detail) {
    const Surface<3> surface = surface_of<3>(Ball<3>{1}, detail);
    return make_mesh(surface.vertices, surface.elements);
}

/// Triangle soup: each with corners of its own.
TriangleMesh soup(const TriangleMesh& mesh) {
    std::vector<Vec<3>> vertices;
    std::vector<std::array<Index, 3>> triangles;
    for (const auto& t : mesh.triangles) {
        const Index first = static_cast<Index>(vertices.size());
        for (const Index v : t) vertices.push_back(mesh.vertices[v]);
        triangles.push_back({first, first + 1, first + 2});
    }
    return make_mesh(vertices, triangles);
}

void expect_neighbours_match(const TriangleMesh& mesh) {
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        for (int k = 0; k < 3; ++k) {
            const Index other = mesh.neighbours[t][k];
            if (other < 0) continue;
            const Index from = mesh.triangles[t][k], to = mesh.triangles[t][(k + 1) % 3];
            int shared = 0;
            for (int j = 0; j < 3; ++j)
                if (mesh.triangles[other][j] == to && mesh.triangles[other][(j + 1) % 3] == from) {
                    EXPECT_EQ(mesh.neighbours[other][j], static_cast<Index>(t));
                    ++shared;
                }
            EXPECT_EQ(shared, 1);
        }
}

/// Every triangle in one leaf, boxes that hold what is below them, leaves of at most four. Returns the node
/// after the subtree.
Index check_tree(const TriangleMesh& mesh, Index at, std::vector<int>& seen) {
    const TriangleMesh::Node& node = mesh.tree[at];
    const auto holds = [&](const Vec<3>& lower, const Vec<3>& upper) {
        return (node.bounds.lower.array() <= lower.array()).all() &&
               (node.bounds.upper.array() >= upper.array()).all();
    };
    if (node.count > 0) {
        EXPECT_LE(node.count, 4);
        for (Index k = node.first; k < node.first + node.count; ++k) {
            ++seen[mesh.tree_order[k]];
            for (const Index v : mesh.triangles[mesh.tree_order[k]])
                EXPECT_TRUE(holds(mesh.vertices[v], mesh.vertices[v]));
        }
        return at + 1;
    }
    for (const Index child : {at + 1, node.first})
        EXPECT_TRUE(holds(mesh.tree[child].bounds.lower, mesh.tree[child].bounds.upper));
    EXPECT_EQ(check_tree(mesh, at + 1, seen), node.first) << "preorder";
    return check_tree(mesh, node.first, seen);
}

}  // namespace

TEST(Mesh, cube) {
    const TriangleMesh mesh = cube();
    ASSERT_EQ(mesh.triangles.size(), 12u);
    ASSERT_EQ(mesh.vertices.size(), 8u);
    expect_neighbours_match(mesh);
    int flat = 0, square = 0;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        EXPECT_EQ(mesh.normals[t].cwiseAbs().sum(), 1);
        EXPECT_EQ(mesh.normals[t].dot(mesh.vertices[mesh.triangles[t][0]]), 1) << "outward";
        for (const Index other : mesh.neighbours[t]) {
            ASSERT_GE(other, 0);
            (mesh.normals[t].dot(mesh.normals[other]) == 1 ? flat : square) += 1;
        }
    }
    EXPECT_EQ(flat, 12) << "six diagonals, from both sides";
    EXPECT_EQ(square, 24) << "twelve edges, from both sides";
    EXPECT_EQ(bounding_radius<3>(mesh), std::sqrt(3.0));
    EXPECT_EQ((support<3>(mesh, {1, -2, 3})), Vec<3>(1, -1, 1));
}

TEST(Mesh, equal_vertices_are_joined) {
    const TriangleMesh mesh = soup(ball(24));
    const TriangleMesh whole = ball(24);
    EXPECT_EQ(mesh.vertices.size(), whole.vertices.size());
    for (const auto& across : mesh.neighbours)
        for (const Index t : across) EXPECT_GE(t, 0);
    EXPECT_EQ(mesh.neighbours, whole.neighbours);
}

TEST(Mesh, borders_and_forks_have_no_neighbour) {
    const std::vector<Vec<3>> points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}};
    const TriangleMesh two = make_mesh(points, {{0, 1, 2}, {1, 0, 3}});
    EXPECT_EQ(two.neighbours[0], (std::array<Index, 3>{1, -1, -1}));
    EXPECT_EQ(two.neighbours[1], (std::array<Index, 3>{0, -1, -1}));
    EXPECT_EQ(two.vertices.size(), 4u) << "the vertex of no triangle is gone";
    const TriangleMesh fork = make_mesh(points, {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}});
    for (const auto& across : fork.neighbours) EXPECT_EQ(across, (std::array<Index, 3>{-1, -1, -1}));
    const TriangleMesh against = make_mesh(points, {{0, 1, 2}, {0, 1, 3}});
    EXPECT_EQ(against.neighbours[0][0], -1) << "they disagree on which side is out";
}

TEST(Mesh, tree) {
    for (const int detail : {8, 16, 40}) {
        const TriangleMesh mesh = ball(detail);
        std::vector<int> seen(mesh.triangles.size(), 0);
        EXPECT_EQ(check_tree(mesh, 0, seen), static_cast<Index>(mesh.tree.size()));
        EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
        EXPECT_LE(mesh.tree.size(), mesh.triangles.size()) << "leaves hold two triangles at least";
    }
    // Many triangles at one place: ties are split by number, not for ever.
    std::vector<std::array<Index, 3>> pile(100, {0, 1, 2});
    const TriangleMesh mesh = make_mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, pile);
    std::vector<int> seen(100, 0);
    check_tree(mesh, 0, seen);
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

TEST(Mesh, signed_distance_of_a_cube) {
    const Shape<3> shape = cube();
    std::mt19937 random(3);
    std::uniform_real_distribution<double> in(-2, 2);
    for (int i = 0; i < 2000; ++i) {
        const Vec<3> x(in(random), in(random), in(random));
        const Vec<3> over = x.cwiseAbs().array() - 1;
        const double expected = over.maxCoeff() < 0 ? over.maxCoeff() : over.cwiseMax(0.0).norm();
        EXPECT_NEAR(inside_function<3>(shape, x), expected, 1e-14) << x.transpose();
    }
}

TEST(Mesh, degenerate_triangles_are_dropped) {
    const std::vector<Vec<3>> points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}, {1, 0, 0}};
    const TriangleMesh mesh = make_mesh(points, {{0, 1, 3}, {0, 1, 1}, {0, 1, 2}, {1, 4, 2}});
    ASSERT_EQ(mesh.triangles.size(), 1u);
    EXPECT_EQ(mesh.normals[0], Vec<3>(0, 0, 1));
    EXPECT_THROW(make_mesh(points, {{0, 1, 3}}), Error);
    EXPECT_THROW(make_mesh({}, {}), Error);
}

TEST(Mesh, bad_input) {
    EXPECT_THROW(make_mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 3}}), Error);
    EXPECT_THROW(make_mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, -1}}), Error);
    EXPECT_THROW(make_mesh({{0, 0, 0}, {1, NAN, 0}, {0, 1, 0}}, {{0, 1, 2}}), Error);
}
