// Hulls of points: what is inside, doubled or in the middle of a face is not a corner; faces close up.
#include "drystone/shapes/hull.hpp"

#include "drystone/base/error.hpp"
#include "support/message_of.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

std::vector<Vec<3>> corners_of_a_cube() {
    std::vector<Vec<3>> points;
    for (const double x : {-1.0, 1.0})
        for (const double y : {-1.0, 1.0})
            for (const double z : {-1.0, 1.0}) points.emplace_back(x, y, z);
    return points;
}

TEST(Hull, KeepsTheCornersAlone) {
    std::vector<Vec<3>> points = corners_of_a_cube();
    points.insert(points.end(),
                  {Vec<3>(0.1, 0.2, -0.3), Vec<3>(1, 0.3, 0.4), Vec<3>(1, 1, 0), Vec<3>(1, 1, 1)});
    const FaceLoops hull = hull_of(points);
    EXPECT_EQ(hull.vertices.size(), 8U);
    ASSERT_EQ(hull.faces.size(), 6U);
    for (const auto& face : hull.faces) {
        ASSERT_EQ(face.size(), 4U);
        // Counter-clockwise from outside.
        const Vec<3>&a = hull.vertices[face[0]], &b = hull.vertices[face[1]], &c = hull.vertices[face[2]];
        EXPECT_GT((b - a).cross(c - b).dot(a + c), 0);
    }
}

TEST(Hull, FacesCloseUp) {
    std::vector<Vec<3>> points;
    for (int k = 0; k < 200; ++k) {
        const double z = -1 + (2 * k + 1) / 200.0, turn = 2.399963 * k, r = std::sqrt(1 - z * z);
        points.emplace_back(r * std::cos(turn), r * std::sin(turn), z);
    }
    const FaceLoops hull = hull_of(points);
    EXPECT_EQ(hull.vertices.size(), 200U);
    const Polyhedron body = assemble_polyhedron(hull);
    const auto vertices = static_cast<std::ptrdiff_t>(body.vertices.size());
    EXPECT_EQ(vertices - std::ssize(body.edges) + std::ssize(body.faces), 2);  // Euler
    for (const Polyhedron::Face& face : body.faces) {
        EXPECT_NEAR(face.normal.norm(), 1, 1e-14);
        for (const Vec<3>& x : body.vertices) EXPECT_LE(face.normal.dot(x), face.offset + 1e-12);
    }
}

TEST(Hull, PointsThatAreOneAreKeptOnce) {
    const std::vector<Vec<2>> points = {{0, 0}, {1, 0}, {1e-12, 0}, {1, 1e-12}, {2, 0}};
    EXPECT_EQ(distinct_points<2>(points, 1e-9), (std::vector<std::size_t>{0, 1, 4}));
    EXPECT_EQ(distinct_points<2>(points, 0).size(), 5U);
}

TEST(Hull, WhatIsNoPointIsRefused) {
    EXPECT_NE(message_of([] { check_points<3>("shape", corners_of_a_cube(), 9); }).find("shape"),
              std::string::npos);
    std::vector<Vec<3>> points = corners_of_a_cube();
    points[3][1] = std::nan("");
    EXPECT_NE(message_of([&] { check_points<3>("shape", points, 4); }).find("shape"), std::string::npos);
    EXPECT_NO_THROW(check_points<3>("shape", corners_of_a_cube(), 4));
}

}  // namespace
}  // namespace drystone::testing
