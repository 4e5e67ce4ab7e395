// Parts of space: what is inside, how large they are, what holds them.

#include "drystone/bodies/region.hpp"

#include "drystone/bodies/random.hpp"
#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace drystone::testing {
namespace {

/// Part of the bounds that is inside, by random points.
template <int d>
double volume_by_points(const Region<d>& region, int points) {
    const Random random(7);
    const Bounds<d> box = bounds_of<d>(region);
    int inside = 0;
    for (int i = 0; i < points; ++i) {
        Vec<d> x;
        for (int k = 0; k < d; ++k)
            x[k] = random.between(box.lower[k], box.upper[k], static_cast<std::uint64_t>(i),
                                  static_cast<std::uint64_t>(k));
        if (contains<d>(region, x, 0)) ++inside;
    }
    return (box.upper - box.lower).prod() * inside / points;
}

/// A U of five cubes: two arms on a bar, closed and not convex.
Surface<3> letter_u() {
    const std::vector<Vec<2>> outline = {{0, 0}, {3, 0}, {3, 2}, {2, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    const std::vector<std::array<Index, 3>> face = {{0, 5, 7}, {7, 5, 6}, {0, 1, 5},
                                                    {5, 1, 4}, {4, 1, 2}, {4, 2, 3}};
    Surface<3> surface;
    for (const double z : {0.0, 1.0}) {
        for (const Vec<2>& p : outline) surface.vertices.emplace_back(p[0], p[1], z);
    }
    for (const auto& t : face) {
        surface.elements.push_back({t[0], t[2], t[1]});
        surface.elements.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
    }
    for (Index i = 0; i < 8; ++i) {
        const Index j = (i + 1) % 8;
        surface.elements.push_back({i, j, j + 8});
        surface.elements.push_back({i, j + 8, i + 8});
    }
    return surface;
}

TEST(Region, BoxesHoldBallsThatTouchTheirSides) {
    const Region<3> box = BoxRegion<3>{{0, 0, 0}, {1, 2, 4}};
    EXPECT_TRUE(contains<3>(box, {0.5, 1, 3.5}, 0.5));
    EXPECT_FALSE(contains<3>(box, {0.5, 1, 3.5}, 0.5 + 1e-12));
    EXPECT_EQ(volume_of<3>(box), 8);
    EXPECT_EQ(widest_ball<3>(box), 0.5);
    const Region<2> half = BoxRegion<2>{{-infinity, -infinity}, {infinity, 0}};
    EXPECT_TRUE(contains<2>(half, {1e9, -1}, 0));
    EXPECT_FALSE(contains<2>(half, {1e9, 1e-9}, 0));
}

TEST(Region, SkewCylindersAreWhereTheyShouldBe) {
    const Vec<3> axis = Vec<3>(1, 2, 3).normalized();
    const CylinderRegion<3> cylinder{{4, 5, 6}, axis, 0.7, 2.5};
    const Region<3> region = cylinder;
    EXPECT_NEAR(volume_of<3>(region), std::numbers::pi * 0.49 * 2.5, 1e-13);
    // 200,000 points know a part p of the bounds to sqrt(p (1 - p) / n) <= 1.1e-3; four of these.
    const Bounds<3> box = bounds_of<3>(region);
    EXPECT_NEAR(volume_by_points<3>(region, 200000), volume_of<3>(region),
                4.4e-3 * (box.upper - box.lower).prod());
    EXPECT_TRUE(contains<3>(region, cylinder.centre + 0.3 * axis, 0.3 - 1e-12));
    EXPECT_FALSE(contains<3>(region, cylinder.centre + 0.3 * axis, 0.3 + 1e-12));
    const Vec<3> across = axis.unitOrthogonal();
    EXPECT_TRUE(contains<3>(region, cylinder.centre + axis + 0.5 * across, 0.2 - 1e-12));
    EXPECT_FALSE(contains<3>(region, cylinder.centre + axis + 0.5 * across, 0.2 + 1e-12));
    // The bounds are tight: the rim reaches them.
    const Vec<3> rim = cylinder.centre - 0.7 * (Vec<3>::UnitX() - axis[0] * axis).normalized();
    EXPECT_NEAR(rim[0], box.lower[0], 1e-14);
}

TEST(Region, DisksInThePlane) {
    const Region<2> disk = CylinderRegion<2>{{1, 1}, {0, 1}, 2, 1};
    EXPECT_NEAR(volume_of<2>(disk), 4 * std::numbers::pi, 1e-14);
    EXPECT_TRUE(contains<2>(disk, {2, 1}, 1));
    EXPECT_FALSE(contains<2>(disk, {2, 1}, 1.001));
    EXPECT_EQ(bounds_of<2>(disk).upper[1], 3);
}

TEST(Region, MeshesThatAreNotConvex) {
    const Region<3> region = make_mesh_region(letter_u(), {{10, 0, 0}, {}});
    EXPECT_NEAR(volume_of<3>(region), 5, 1e-14);
    auto in_u = [](const Vec<3>& x) {
        return x[0] > 0 && x[0] < 3 && x[1] > 0 && x[1] < 2 && x[2] > 0 && x[2] < 1 &&
               !(x[0] > 1 && x[0] < 2 && x[1] > 1);
    };
    const Random random(3);
    for (std::uint64_t i = 0; i < 20000; ++i) {
        const Vec<3> x(random.between(-0.5, 3.5, i, 0), random.between(-0.5, 2.5, i, 1),
                       random.between(-0.5, 1.5, i, 2));
        ASSERT_EQ(contains<3>(region, x + Vec<3>(10, 0, 0), 0), in_u(x)) << x.transpose();
    }
    // Over edges, corners and diagonals of the faces, where a ray would graze.
    EXPECT_TRUE(contains<3>(region, {10.5, 0.5, 0.5}, 0.5 - 1e-12));
    EXPECT_FALSE(contains<3>(region, {11.5, 1.5, 0.5}, 0));
    EXPECT_FALSE(contains<3>(region, {11.0, 1.0, 0.5}, 1e-9)) << "the corner is on the surface";
    EXPECT_NEAR(volume_by_points<3>(region, 50000), 5, 4 * 6 * 1.7e-3);
}

TEST(Region, MeshesInsideOutAreTurned) {
    Surface<3> surface = letter_u();
    for (auto& t : surface.elements) std::swap(t[0], t[1]);
    const Region<3> region = make_mesh_region(surface, {});
    EXPECT_NEAR(volume_of<3>(region), 5, 1e-14);
    EXPECT_TRUE(contains<3>(region, {0.5, 0.5, 0.5}, 0.1));
}

TEST(Region, OpenMeshesAreRefused) {
    Surface<3> surface = letter_u();
    surface.elements.pop_back();
    const std::string message = message_of([&] { make_mesh_region(surface, {}); });
    EXPECT_NE(message.find("is not shared by two triangles"), std::string::npos) << message;
    EXPECT_NE(message.find("give a closed surface"), std::string::npos) << message;
    surface = letter_u();
    std::swap(surface.elements[3][0], surface.elements[3][1]);
    EXPECT_NE(message_of([&] { make_mesh_region(surface, {}); }), "no error")
        << "one triangle is turned over";
}

TEST(Region, APeriodHasNoSides) {
    Domain<2> domain;
    domain.period = {2, 0};
    const Region<2> open = without_periodic_sides<2>(BoxRegion<2>{{0, 0}, {2, 1}}, domain);
    EXPECT_TRUE(contains<2>(open, {0, 0.5}, 0.4));
    EXPECT_FALSE(contains<2>(open, {0, 0.5}, 0.6));
    const Region<2> part = without_periodic_sides<2>(BoxRegion<2>{{0, 0}, {1, 1}}, domain);
    EXPECT_FALSE(contains<2>(part, {0, 0.5}, 0.4));
}

}  // namespace
}  // namespace drystone::testing
