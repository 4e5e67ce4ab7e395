// Drums and hoppers: closed where they should be, of the right volume, with normals that look inwards.

#include "drystone/shapes/vessels.hpp"

#include "drystone/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace drystone::testing {
namespace {

using std::numbers::pi;

/// Edges without a neighbour.
int open_edges(const TriangleMesh& mesh) {
    int count = 0;
    for (const auto& sides : mesh.neighbours) {
        for (const Index neighbour : sides) count += neighbour < 0 ? 1 : 0;
    }
    return count;
}

/// By the divergence theorem; negative where normals look inwards.
double volume(const TriangleMesh& mesh) {
    double six = 0;
    for (const auto& t : mesh.triangles)
        six += mesh.vertices[t[0]].dot(mesh.vertices[t[1]].cross(mesh.vertices[t[2]]));
    return six / 6;
}

double area(const std::vector<Vec<2>>& loop) {
    double two = 0;
    for (std::size_t k = 0; k < loop.size(); ++k) {
        const Vec<2>&a = loop[k], &b = loop[(k + 1) % loop.size()];
        two += a[0] * b[1] - a[1] * b[0];
    }
    return two / 2;
}

double regular_area(int n, double radius) { return 0.5 * n * radius * radius * std::sin(2 * pi / n); }

TEST(Vessels, DrumIsClosedAndLooksInwards) {
    for (const int n : {3, 7, 64}) {
        const TriangleMesh drum = make_drum({.radius = 0.4, .length = 0.3, .segments = n});
        EXPECT_EQ(open_edges(drum), 0);
        EXPECT_NEAR(volume(drum), -regular_area(n, 0.4) * 0.3, 1e-15);
        for (std::size_t t = 0; t < drum.triangles.size(); ++t)
            EXPECT_LT(drum.normals[t].dot(drum.vertices[drum.triangles[t][0]]), 0);
    }
}

TEST(Vessels, DrumWithoutCapsIsOpenAtBothEnds) {
    EXPECT_EQ(open_edges(make_drum({.segments = 20, .caps = false})), 40);
}

TEST(Vessels, LiftersKeepTheDrumClosed) {
    const DrumPlan plan{.radius = 0.5,
                        .length = 0.2,
                        .segments = 48,
                        .lifters = 6,
                        .lifter_height = 0.06,
                        .lifter_width = 0.05};
    const TriangleMesh drum = make_drum(plan);
    EXPECT_EQ(open_edges(drum), 0);
    const double section = area(drum_section(plan));
    EXPECT_NEAR(volume(drum), -section * 0.2, 1e-15);
    // Each takes away a trapezoid, its two parallel sides chords of the angles at wall and top, and the wall is
    // otherwise as round as the plan says.
    const double half = 0.05, top = 0.44, whole = 0.5;
    const double ridge = 0.5 * (2 * whole * std::sin(half) + 2 * top * std::sin(half / 2)) *
                         (whole * std::cos(half) - top * std::cos(half / 2));
    const double wall = 2 * pi / 6 - 2 * half;
    const double full = 6 * (0.5 * whole * whole * (8 * std::sin(wall / 8) + std::sin(2 * half)));
    EXPECT_NEAR(section, full - 6 * ridge, 1e-14);
    EXPECT_THROW((void)make_drum({.lifters = 4, .lifter_height = 1, .lifter_width = 0.1}), Error);
    EXPECT_THROW((void)make_drum({.lifters = 40, .lifter_height = 0.1, .lifter_width = 0.2}), Error);
}

/// With lids on both ends.
double hopper_volume(const TriangleMesh& hopper, double top_area, double top) {
    // The lid at z = 0 adds nothing; the one at the top looks down.
    return volume(hopper) - top_area * top / 3;
}

TEST(Vessels, HopperIsAFrustum) {
    const double R = 0.3, r = 0.05, h = 0.4, rise = 0.25;
    const TriangleMesh cone =
        make_hopper({.radius = R, .outlet = r, .height = h, .rise = rise, .segments = 24});
    EXPECT_EQ(open_edges(cone), 2 * 24);
    const double A = regular_area(24, R), a = regular_area(24, r);
    EXPECT_NEAR(hopper_volume(cone, A, h + rise), -(h / 3 * (A + a + std::sqrt(A * a)) + A * rise), 1e-15);
    for (std::size_t t = 0; t < cone.triangles.size(); ++t) {
        const Vec<3>& x = cone.vertices[cone.triangles[t][0]];
        EXPECT_LT(cone.normals[t].head<2>().dot(x.head<2>()), 0);
        EXPECT_GE(cone.normals[t][2], -1e-15);
    }
    const TriangleMesh pyramid = make_hopper({.radius = R, .outlet = r, .height = h, .pyramid = true});
    EXPECT_EQ(open_edges(pyramid), 8);
    EXPECT_NEAR(hopper_volume(pyramid, 4 * R * R, h), -h / 3 * 4 * (R * R + r * r + R * r), 1e-15);
    EXPECT_THROW((void)make_hopper({.radius = 1, .outlet = 1}), Error);
}

}  // namespace
}  // namespace drystone::testing
