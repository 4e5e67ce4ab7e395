// Shapes at rest on each other: which points are found, and that rounding does not change them.
#include "narrow_brute.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_narrow::rest {
namespace {

const double tilts[] = {0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-9, -1e-9, 1e-7, -1e-7, 1e-6, -1e-6};

Placed<3> at(const Shape<3>& shape, const Vec<3>& x, const Vec<3>& rotation = Vec<3>::Zero()) {
    Placed<3> p{&shape, 1, {}};
    p.pose.position = x;
    p.pose.rotation = turn(Rotation<3>{}, Spin<3>(rotation));
    return p;
}
Placed<2> at(const Shape<2>& shape, const Vec<2>& x, double angle = 0) {
    Placed<2> p{&shape, 1, {}};
    p.pose.position = x;
    p.pose.rotation.angle = angle;
    return p;
}

/// All small motions of the upper body: the points keep their numbers, the normal does not jump.
void check_stack(const Shape<3>& lower, const Shape<3>& upper, const Vec<3>& x, const Vec<3>& rotation,
                 std::size_t points) {
    const Placed<3> b = at(lower, Vec<3>::Zero());
    const auto rest = touches<3>(at(upper, x, rotation), b, 1e-3);
    ASSERT_EQ(rest.size(), points);
    Random random(1);
    for (const double tilt : tilts)
        for (int trial = 0; trial < 40; ++trial) {
            const Vec<3> shift = std::abs(tilt) * unit_vector<3>(random),
                         turned = tilt * unit_vector<3>(random);
            Placed<3> a = at(upper, x + shift, rotation);
            a.pose.rotation = turn(a.pose.rotation, Spin<3>(turned));
            const auto found = touches<3>(a, b, 1e-3);
            ASSERT_EQ(features<3>(found), features<3>(rest)) << "tilt " << tilt << " trial " << trial;
            for (std::size_t i = 0; i < found.size(); ++i) {
                // The mean of two normals that differ by the tilt.
                ASSERT_LE((found[i].normal - rest[i].normal).norm(), std::abs(tilt) + 1e-14);
                // A shift of up to |tilt| and a turn over a lever of at most 3.
                ASSERT_LE(std::abs(found[i].gap - rest[i].gap), 4 * std::abs(tilt) + 1e-14);
                ASSERT_LE((found[i].point - rest[i].point).norm(), 8 * std::abs(tilt) + 1e-13);
            }
            if (found.size() == 8)
                continue;  // perhaps a choice of 8 among more, made in the axes of the first body
            // The numbers belong to a and b, so the other order has others, but the points are the same.
            auto back = touches<3>(b, a, 1e-3);
            ASSERT_EQ(back.size(), found.size());
            for (const auto& t : found)
                ASSERT_EQ(std::count_if(back.begin(), back.end(),
                                        [&](const auto& u) {
                                            return (t.point - u.point).norm() < 1e-11 &&
                                                   (t.normal + u.normal).norm() < 1e-12 &&
                                                   std::abs(t.gap - u.gap) < 1e-12;
                                        }),
                          1)
                    << "tilt " << tilt << " trial " << trial;
        }
}

TEST(NarrowRest, AlignedCubes) {
    const Shape<3> cube = make_box(Vec<3>(0.5, 0.5, 0.5));
    for (const double gap : {0.0, 1e-9, -1e-9, 1e-6, -1e-6, 1e-4, -1e-4})
        check_stack(cube, cube, {0, 0, 1 + gap}, Vec<3>::Zero(), 4);
}
TEST(NarrowRest, CubesSideBySideAlongOneEdgeOfTheFace) {
    const Shape<3> cube = make_box(Vec<3>(0.5, 0.5, 0.5));
    for (const double gap : {0.0, 1e-9, -1e-9, 1e-5, -1e-5})
        check_stack(cube, cube, {0.3, 0, 1 + gap}, Vec<3>::Zero(), 4);
}
TEST(NarrowRest, RunningBond) {
    const Shape<3> brick = make_box(Vec<3>(1, 0.5, 0.3));
    for (const double gap : {0.0, 1e-9, -1e-9})
        check_stack(brick, brick, {1, 0, 0.6 + gap}, Vec<3>::Zero(), 4);
}
TEST(NarrowRest, SmallOnLarge) {
    const Shape<3> large = make_box(Vec<3>(2, 2, 0.5)), small = make_box(Vec<3>(0.3, 0.2, 0.1));
    for (const double gap : {0.0, 1e-9, -1e-9}) {
        check_stack(large, small, {0.4, 0.2, 0.6 + gap}, {0, 0, 0.7}, 4);
        check_stack(small, large, {0.4, 0.2, 0.6 + gap}, {0, 0, 0.7}, 4);
    }
}
TEST(NarrowRest, TurnedByAnEighth) {
    const Shape<3> cube = make_box(Vec<3>(0.5, 0.5, 0.5));
    for (const double gap : {0.0, 1e-9, -1e-9})
        check_stack(cube, cube, {0, 0, 1 + gap}, {0, 0, 0.25 * M_PI}, 8);
}
TEST(NarrowRest, EdgeOnFace) {
    const Shape<3> cube = make_box(Vec<3>(0.5, 0.5, 0.5)), floor = make_box(Vec<3>(2, 2, 0.5));
    for (const double gap : {0.0, 1e-9, -1e-9})
        check_stack(floor, cube, {0, 0, 0.5 + std::sqrt(0.5) + gap}, {0.25 * M_PI, 0, 0}, 2);
}
TEST(NarrowRest, EdgeAcrossNarrowFace) {
    const Shape<3> cube = make_box(Vec<3>(0.5, 0.5, 0.5)), beam = make_box(Vec<3>(0.2, 2, 0.5));
    for (const double gap : {0.0, 1e-9, -1e-9})
        check_stack(beam, cube, {0, 0, 0.5 + std::sqrt(0.5) + gap}, {0.25 * M_PI, 0, 0}, 2);
}
TEST(NarrowRest, VertexOnFace) {
    const Shape<3> cube = make_box(Vec<3>(0.5, 0.5, 0.5)), floor = make_box(Vec<3>(2, 2, 0.5));
    // The diagonal upright: turn by the angle between it and the z axis.
    const Vec<3> axis = Vec<3>(1, 1, 1).normalized().cross(Vec<3>::UnitZ());
    const Vec<3> rotation = axis.normalized() * std::asin(axis.norm());
    for (const double gap : {0.0, 1e-9, -1e-9})
        check_stack(floor, cube, {0, 0, 0.5 + std::sqrt(0.75) + gap}, rotation, 1);
}
TEST(NarrowRest, CrossingEdges) {
    const Shape<3> cube = make_box(Vec<3>(0.5, 0.5, 0.5));
    Placed<3> b = at(cube, Vec<3>::Zero(), {0.25 * M_PI, 0, 0});
    for (const double gap : {0.0, 1e-9, -1e-9, 1e-4, -1e-4})
        for (const double tilt : tilts) {
            const Placed<3> a = at(cube, {tilt, 2 * tilt, std::sqrt(2.0) + gap}, {tilt, 0.25 * M_PI, 0});
            const auto found = touches<3>(a, b, 1e-3);
            ASSERT_EQ(found.size(), 1u);
            EXPECT_EQ(found[0].feature >> 30, 2u);
            // The line of closest points is known to rounding over their distance; below 1e-7 it comes from
            // the edges.
            const double allowed = gap > 1e-7 ? 1e-14 / gap : 1e-15;
            EXPECT_NEAR(found[0].gap, gap, 2e-6 * (tilt != 0) + 1e-15);
            EXPECT_NEAR((found[0].normal - Vec<3>::UnitZ()).norm(), 0, 2 * std::abs(tilt) + allowed);
        }
}
TEST(NarrowRest, ParallelRidges) {
    const Shape<3> cube = make_box(Vec<3>(0.5, 0.5, 0.5));
    const Placed<3> b = at(cube, Vec<3>::Zero(), {0.25 * M_PI, 0, 0});
    for (const double gap : {1e-2, 1e-4}) {
        const Placed<3> a = at(cube, {0.2, 0, std::sqrt(2.0) + gap}, {0.25 * M_PI, 0, 0});
        const auto rest = touches<3>(a, b, 0.02);
        ASSERT_EQ(rest.size(), 2u);
        for (const auto& t : rest) {
            EXPECT_NEAR(t.gap, gap, 1e-14);
            EXPECT_NEAR((t.normal - Vec<3>::UnitZ()).norm(), 0, 1e-14 / gap);
        }
        EXPECT_NEAR(std::abs(rest[0].point.x() - rest[1].point.x()), 0.8, 1e-12);
    }
}

/// A slow rocking block: the far corners are found before they touch, with the numbers they will have.
TEST(NarrowRest, TiltedBlockIsSeenWhole) {
    const Shape<3> cube = make_box(Vec<3>(0.5, 0.5, 0.5)), floor = make_box(Vec<3>(2, 2, 0.5));
    const auto flat = touches<3>(at(cube, {0, 0, 1}), at(floor, Vec<3>::Zero()), 0.1);
    for (const double angle : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.05}) {
        const double height = 0.5 + 0.5 * std::cos(angle) + 0.5 * std::sin(angle);
        const auto tilted =
            touches<3>(at(cube, {0, 0, height}, {angle, 0, 0}), at(floor, Vec<3>::Zero()), 0.1);
        ASSERT_EQ(features<3>(tilted), features<3>(flat));
        EXPECT_NEAR(least_gap<3>(tilted), 0, 1e-10 * angle + 1e-15);
    }
}

TEST(NarrowRest, RectanglesInThePlane) {
    const Shape<2> square = make_rectangle(Vec<2>(0.5, 0.5)), wide = make_rectangle(Vec<2>(2, 0.5));
    const Placed<2> below = at(square, Vec<2>::Zero()), floor = at(wide, Vec<2>::Zero());
    for (const double gap : {0.0, 1e-9, -1e-9, 1e-5, -1e-5})
        for (const double offset : {0.0, 0.3, -0.3}) {
            const auto rest = touches<2>(at(square, {offset, 1 + gap}), below, 1e-3);
            const auto on_floor = touches<2>(at(square, {offset, 1 + gap}), floor, 1e-3);
            ASSERT_EQ(rest.size(), 2u);
            ASSERT_EQ(on_floor.size(), 2u);
            for (const double tilt : tilts)
                for (const double side : {1.0, -1.0}) {
                    const Placed<2> a = at(square, {offset + side * tilt, 1 + gap}, tilt);
                    ASSERT_EQ(features<2>(touches<2>(a, below, 1e-3)), features<2>(rest));
                    ASSERT_EQ(features<2>(touches<2>(a, floor, 1e-3)), features<2>(on_floor));
                    for (const auto& t : touches<2>(a, below, 1e-3)) {
                        EXPECT_NEAR(t.gap, gap, std::abs(tilt) + 1e-15);
                        EXPECT_NEAR((t.normal - Vec<2>::UnitY()).norm(), 0, std::abs(tilt) + 1e-15);
                    }
                }
        }
    const auto on_corner = touches<2>(at(square, {0, 0.5 + std::sqrt(0.5)}, 0.25 * M_PI), floor, 1e-3);
    ASSERT_EQ(on_corner.size(), 1u);
    EXPECT_NEAR(on_corner[0].gap, 0, 1e-15);
}

/// Faces of many corners: at most 8 points, still the same after small tilts.
TEST(NarrowRest, ManySidedPrisms) {
    std::vector<Vec<3>> points;
    for (int k = 0; k < 40; ++k)
        for (const double z : {-0.4, 0.4})
            points.emplace_back(std::cos(2 * M_PI * k / 40), std::sin(2 * M_PI * k / 40), z);
    const Shape<3> prism = make_polyhedron(points).shape;
    const double half = support<3>(prism, Vec<3>::UnitZ()).z();
    ASSERT_NEAR(half, 0.4, 1e-9) << "the prism's axis is expected to stay z";
    check_stack(prism, prism, {0, 0, 0.8}, Vec<3>::Zero(), 8);
    check_stack(prism, prism, {0.3, 0.1, 0.8}, {0, 0, 0.05}, 8);
    const Shape<3> plane = HalfSpace<3>{};
    const auto found = touches<3>(at(prism, {0, 0, 0.4}), at(plane, Vec<3>::Zero()), 1e-3);
    ASSERT_EQ(found.size(), 8u);
    // They span the face: the centre is well inside.
    for (int k = 0; k < 16; ++k) {
        const Vec<3> direction(std::cos(M_PI * k / 8), std::sin(M_PI * k / 8), 0);
        double most = -1;
        for (const auto& t : found) most = std::max(most, direction.dot(t.point));
        EXPECT_GT(most, 0.85);
    }
}

}  // namespace
}  // namespace drystone::testing_narrow::rest
