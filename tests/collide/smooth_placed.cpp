// Distances of smooth shapes against pairs that were placed at a known distance, so that gap, normal and points are
// known exactly (smooth_reference.hpp).
#include "collide/smooth_shapes.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

using namespace reference;

struct Tolerance {
    double gap, normal, point;
    double room = gap;  ///< between the planes of the normal given
};

struct Tally {
    int deeper_way = 0, overlaps = 0;
};

/// What holds for any answer: the points face each other along a unit normal, and the gap is the room between the two
/// planes of that normal, by the reference's support functions.
template <int d>
void expect_consistent(const Sample<d>& s, const Distance<d>& got, double tolerance) {
    EXPECT_NEAR(got.normal.norm(), 1, 1e-14);
    EXPECT_LE((got.point_a - got.point_b - got.gap * got.normal).norm(), 1e-14 * s.length);
    const Real room = separation<d>(s.a, s.b, got.normal.template cast<Real>());
    EXPECT_NEAR(static_cast<double>(room), got.gap, tolerance * s.length);
}

template <int d>
void compare(Kind kind_a, Kind kind_b, double aspect, int count, unsigned seed, const Tolerance& smooth,
             const Tolerance& flat) {
    Random random(seed);
    Tally tally;
    for (int i = 0; i < count; ++i) {
        SCOPED_TRACE(testing::Message() << "pair " << i);
        Sample<d> s;
        const double relative = random.below(2) ? random.log_in(1e-6, 1) : -random.log_in(1e-6, 0.1);
        make_sample<d>(random, kind_a, kind_b, aspect, relative, s);
        const Distance<d> got = smooth_distance<d>(s.a, s.b);
        const Tolerance& allowed = s.flat ? flat : smooth;
        expect_consistent(s, got, allowed.room);
        EXPECT_GE(got.gap, s.known.gap - allowed.gap * s.length);
        // Deeper than the radii of curvature at a tip or an edge, the way meant is a ridge and no longer the shortest.
        if (relative < 0) {
            ++tally.overlaps;
            if (got.gap > s.known.gap + allowed.gap * s.length) {
                ++tally.deeper_way;
                continue;
            }
        }
        EXPECT_LE(got.gap, s.known.gap + allowed.gap * s.length);
        EXPECT_LE((got.normal - s.known.normal).norm(), allowed.normal);
        EXPECT_LE((got.point_a - s.known.point_a).norm(), allowed.point * s.length);
        EXPECT_LE((got.point_b - s.known.point_b).norm(), allowed.point * s.length);
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "known gap " << s.known.gap << ", feature " << s.feature << ", gap off by "
                          << got.gap - s.known.gap << ", normal by " << (got.normal - s.known.normal).norm()
                          << ", points by " << (got.point_a - s.known.point_a).norm() << " and "
                          << (got.point_b - s.known.point_b).norm();
            return;
        }
    }
    EXPECT_LE(tally.deeper_way, tally.overlaps / 10);
}

// Positions are of the order of 3 and rounded to 4e-16: no gap can be better than about 1e-15. Normals and points are
// that times the condition of the pair, which grows with the square of the aspect ratio.
constexpr Tolerance sharp{1e-14, 1e-10, 1e-11};
// Flat parts (superellipsoids with e < 1): see smooth.hpp.
constexpr Tolerance loose{3e-11, 1e-7, 5e-2, 3e-10};
// Superellipsoids without faces (e >= 1) are still nearly flat between their tips.
constexpr Tolerance tipped{1e-14, 1e-10, 1e-9};

TEST(SmoothPlaced, EllipsePairs) { compare<2>(Kind::ellipsoid, Kind::ellipsoid, 10, 4000, 1, sharp, sharp); }
TEST(SmoothPlaced, EllipseBall) { compare<2>(Kind::ellipsoid, Kind::ball, 10, 2000, 2, sharp, sharp); }
TEST(SmoothPlaced, EllipseRectangle) { compare<2>(Kind::ellipsoid, Kind::box, 10, 2000, 3, sharp, sharp); }
TEST(SmoothPlaced, EllipsePolygon) { compare<2>(Kind::ellipsoid, Kind::polytope, 3, 2000, 4, sharp, sharp); }
TEST(SmoothPlaced, EllipseManyCorners) {
    // Short edges: their normals are known to rounding over their length.
    compare<2>(Kind::ellipsoid, Kind::many_corners, 3, 2000, 5, {1e-14, 1e-10, 1e-10}, sharp);
}
TEST(SmoothPlaced, EllipsoidPairs) {
    compare<3>(Kind::ellipsoid, Kind::ellipsoid, 10, 4000, 11, sharp, sharp);
}
TEST(SmoothPlaced, EllipsoidPairsVeryThin) {
    compare<3>(Kind::ellipsoid, Kind::ellipsoid, 100, 2000, 12, {1e-14, 1e-9, 1e-11}, sharp);
}
TEST(SmoothPlaced, EllipsoidBall) { compare<3>(Kind::ellipsoid, Kind::ball, 10, 2000, 13, sharp, sharp); }
TEST(SmoothPlaced, EllipsoidCapsule) {
    compare<3>(Kind::ellipsoid, Kind::capsule, 10, 2000, 14, sharp, sharp);
}
TEST(SmoothPlaced, EllipsoidBox) { compare<3>(Kind::ellipsoid, Kind::box, 10, 3000, 15, sharp, sharp); }
TEST(SmoothPlaced, EllipsoidPolyhedron) {
    compare<3>(Kind::ellipsoid, Kind::polytope, 3, 3000, 16, sharp, sharp);
}
TEST(SmoothPlaced, EllipsoidManyCorners) {
    compare<3>(Kind::ellipsoid, Kind::many_corners, 3, 2000, 17, sharp, sharp);
}
TEST(SmoothPlaced, SuperellipsoidPairs) {
    compare<3>(Kind::superellipsoid, Kind::superellipsoid, 5, 4000, 21, tipped, loose);
}
TEST(SmoothPlaced, SuperellipsoidEllipsoid) {
    compare<3>(Kind::superellipsoid, Kind::ellipsoid, 5, 3000, 22, tipped, loose);
}
TEST(SmoothPlaced, SuperellipsoidBall) {
    compare<3>(Kind::superellipsoid, Kind::ball, 5, 2000, 23, tipped, loose);
}
TEST(SmoothPlaced, SuperellipsoidCapsule) {
    compare<3>(Kind::superellipsoid, Kind::capsule, 5, 2000, 24, tipped, loose);
}
TEST(SmoothPlaced, SuperellipsoidBox) {
    compare<3>(Kind::superellipsoid, Kind::box, 5, 3000, 25, tipped, loose);
}
TEST(SmoothPlaced, SuperellipsoidPolyhedron) {
    compare<3>(Kind::superellipsoid, Kind::polytope, 3, 3000, 26, tipped, loose);
}

}  // namespace
}  // namespace drystone
