// Balls, capsules and half-spaces, against each other and against flat shapes.
#include "narrow_brute.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_narrow {
namespace {

template <int d>
Placed<d> at(const Shape<d>& shape, const Vec<d>& x, double size = 1) {
    Placed<d> p{&shape, size, {}};
    p.pose.position = x;
    return p;
}
Placed<3> turned(Placed<3> p, const Vec<3>& by) {
    p.pose.rotation = turn(p.pose.rotation, Spin<3>(by));
    return p;
}

template <int d>
void balls() {
    Random random(2);
    const Shape<d> ball = Ball<d>{0.7};
    for (int trial = 0; trial < 1000; ++trial) {
        Placed<d> a{&ball, uniform(random, 0.1, 3), any_pose<d>(random, 2)},
            b{&ball, uniform(random, 0.1, 3), any_pose<d>(random, 2)};
        const Vec<d> r = a.pose.position - b.pose.position;
        const double gap = r.norm() - 0.7 * (a.size + b.size);
        const auto found = touches<d>(a, b, gap + 1e-12);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_NEAR(found[0].gap, gap, 4e-15);  // a few roundings of lengths up to 5
        EXPECT_NEAR((found[0].normal - r.normalized()).norm(), 0, 1e-15);
        EXPECT_NEAR((found[0].point - (b.pose.position + (0.7 * b.size + 0.5 * gap) * r.normalized())).norm(),
                    0, 1e-14);
        EXPECT_TRUE(touches<d>(a, b, gap - 1e-12).empty());
    }
    // The same centre: some unit normal, no failure.
    EXPECT_NEAR(distance<d>(at(ball, Vec<d>(Vec<d>::Zero())), at(ball, Vec<d>(Vec<d>::Zero()))).normal.norm(),
                1, 1e-15);
}
TEST(NarrowRound, BallsInPlane) { balls<2>(); }
TEST(NarrowRound, BallsInSpace) { balls<3>(); }

template <int d>
void half_spaces() {
    Random random(3);
    const Shape<d> plane = HalfSpace<d>{}, ball = Ball<d>{0.7};
    for (int trial = 0; trial < 1000; ++trial) {
        const Placed<d> b{&plane, 1, any_pose<d>(random, 2)},
            a{&ball, uniform(random, 0.1, 3), any_pose<d>(random, 2)};
        const Vec<d> n = matrix(b.pose.rotation).col(d - 1);
        const double gap = n.dot(a.pose.position - b.pose.position) - 0.7 * a.size;
        for (const bool swapped : {false, true}) {
            const auto found = swapped ? touches<d>(b, a, gap + 1e-12) : touches<d>(a, b, gap + 1e-12);
            ASSERT_EQ(found.size(), 1u);
            EXPECT_NEAR(found[0].gap, gap, 1e-14);
            EXPECT_NEAR((found[0].normal - (swapped ? -n : n)).norm(), 0, 1e-15);
            EXPECT_NEAR(n.dot(found[0].point - b.pose.position), 0.5 * gap, 1e-14);
        }
    }
}
TEST(NarrowRound, HalfPlane) { half_spaces<2>(); }
TEST(NarrowRound, HalfSpace) { half_spaces<3>(); }

TEST(NarrowRound, BoxOnHalfSpace) {
    const Shape<3> plane = HalfSpace<3>{}, box = make_box(Vec<3>(0.5, 0.4, 0.3));
    for (const double tilt : {0.0, 1e-12, -1e-9, 1e-6, 1e-3}) {
        const auto found =
            touches<3>(turned(at<3>(box, {0, 0, 0.3}), {tilt, 0, 0}), at<3>(plane, {5, 5, 0}), 0.01);
        ASSERT_EQ(found.size(), 4u);
        for (const auto& t : found)
            EXPECT_NEAR(std::abs(t.gap), 0.4 * std::abs(std::sin(tilt)), 0.3 * tilt * tilt + 1e-16);
    }
    const Shape<2> line = HalfSpace<2>{}, square = make_rectangle(Vec<2>(0.5, 0.5));
    EXPECT_EQ(touches<2>(at<2>(square, {0, 0.5}), at<2>(line, {0, 0}), 1e-3).size(), 2u);
}

/// Capsules against a fine sampling of one core and the exact distance to the other.
TEST(NarrowRound, CapsulesAgainstSampling) {
    Random random(4);
    const Shape<3> capsule = Capsule{0.2, 0.8}, ball = Ball<3>{0.3};
    const auto ends = [](const Placed<3>& p) {
        return std::pair(place<3>(p, Vec<3>(0, 0, -0.8)), place<3>(p, Vec<3>(0, 0, 0.8)));
    };
    for (int trial = 0; trial < 500; ++trial) {
        const Placed<3> a{&capsule, uniform(random, 0.5, 2), any_pose<3>(random, 2)};
        const Placed<3> b{&capsule, uniform(random, 0.5, 2), any_pose<3>(random, 2)};
        const auto [p, q] = ends(a);
        const auto [r, s] = ends(b);
        const double exact = segment_segment(p, q, r, s) - 0.2 * (a.size + b.size);
        EXPECT_NEAR(distance<3>(a, b).gap, exact, 1e-14);
        EXPECT_NEAR(least_gap<3>(touches<3>(a, b, exact + 1e-3)), exact, 1e-14);
        const Placed<3> c{&ball, 1, a.pose};
        EXPECT_NEAR(distance<3>(c, b).gap, point_segment<3>(a.pose.position, r, s) - 0.3 - 0.2 * b.size,
                    1e-14);
        ASSERT_EQ(touches<3>(b, c, 10).size(), 1u);
    }
}

TEST(NarrowRound, CapsuleLying) {
    const Shape<3> capsule = Capsule{0.2, 0.8}, plane = HalfSpace<3>{}, box = make_box(Vec<3>(3, 3, 0.5));
    const Placed<3> floor = at<3>(box, {0, 0, -0.5}), ground = at<3>(plane, {0, 0, 0});
    for (const double gap : {0.0, 1e-9, -1e-9, 1e-4, -1e-4})
        for (const double tilt : {0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6}) {
            const Placed<3> lying = turned(at<3>(capsule, {0.1, 0, 0.2 + gap}), {0.5 * M_PI + tilt, 0, 0});
            for (const Placed<3>* under : {&floor, &ground}) {
                const auto found = touches<3>(lying, *under, 1e-3);
                ASSERT_EQ(features<3>(found), (std::vector<std::uint32_t>{0, 1})) << gap << ' ' << tilt;
                for (const auto& t : found) {
                    EXPECT_NEAR(t.gap, gap, std::abs(tilt) + 1e-15);
                    EXPECT_NEAR((t.normal - Vec<3>::UnitZ()).norm(), 0, 1e-14);
                    EXPECT_NEAR(std::abs(t.point.y()), 0.8, 1e-5);
                }
            }
            // On its like, shifted along it: the ends of the shared stretch.
            const Placed<3> below = turned(at<3>(capsule, {0.1, 0.3, -0.2}), {0.5 * M_PI, 0, 0});
            const auto pair = touches<3>(lying, below, 1e-3);
            ASSERT_EQ(pair.size(), 2u);
            EXPECT_NEAR(std::abs(pair[0].point.y() - pair[1].point.y()), 1.3, 1e-5);
            for (const auto& t : pair) EXPECT_NEAR(t.gap, gap, std::abs(tilt) + 1e-15);
        }
}

/// Ball and capsule against polyhedra: the brute-force distance of the core, less the radius.
TEST(NarrowRound, AgainstPolyhedra) {
    Random random(6);
    for (int trial = 0; trial < 400; ++trial) {
        const Shape<3> stone = any_polyhedron(random, 5 + trial % 20);
        const Shape<3> ball = Ball<3>{0.3}, capsule = Capsule{0.2, 0.5};
        const Placed<3> b{&stone, uniform(random, 0.5, 2), any_pose<3>(random, 1)};
        const Placed<3> a{&ball, 1, any_pose<3>(random, 2)}, c{&capsule, 1, any_pose<3>(random, 2)};
        const World w(b);
        double outside = -infinity, point = -outside, segment = -outside;
        const Vec<3> p = place<3>(c, Vec<3>(0, 0, -0.5)), q = place<3>(c, Vec<3>(0, 0, 0.5));
        for (std::size_t f = 0; f < w.normal.size(); ++f) {
            const Vec<3> v = w.x[static_cast<std::size_t>(
                w.shape->face_vertices[static_cast<std::size_t>(w.shape->faces[f].start)])];
            outside = std::max(outside, w.normal[f].dot(a.pose.position - v));
            point = std::min(point, point_face(a.pose.position, w, f));
            segment = std::min({segment, point_face(p, w, f), point_face(q, w, f)});
        }
        for (const auto& e : w.shape->edges)
            segment = std::min(segment, segment_segment(p, q, w.x[static_cast<std::size_t>(e.vertex[0])],
                                                        w.x[static_cast<std::size_t>(e.vertex[1])]));
        const double exact = (outside > 0 ? point : outside) - 0.3;
        EXPECT_NEAR(distance<3>(a, b).gap, exact, 1e-13) << trial;
        const auto found = touches<3>(b, a, exact + 1e-9);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_NEAR(found[0].gap, exact, 1e-13);
        if (segment > 1e-3 && distance<3>(c, b).gap > -0.2) {
            EXPECT_NEAR(distance<3>(c, b).gap, segment - 0.2, 1e-13) << trial;
            EXPECT_NEAR(least_gap<3>(touches<3>(c, b, segment)), segment - 0.2, 1e-12 + 1e-10 * segment)
                << trial;
        }
        // First-order change of the gap.
        const Vec<3> dx = unit_vector<3>(random);
        const auto gap_at = [&](Placed<3> body, double h) {
            body.pose.position += h * dx;
            return distance<3>(body, b).gap;
        };
        for (const Placed<3>* body : {&a, &c}) {
            const double up = gap_at(*body, 1e-6), down = gap_at(*body, -1e-6), here = gap_at(*body, 0);
            if (std::abs(up + down - 2 * here) > 1e-9) continue;
            EXPECT_NEAR((up - down) / 2e-6, distance<3>(*body, b).normal.dot(dx), 1e-7) << trial;
        }
    }
}

TEST(NarrowRound, DiskAgainstPolygons) {
    Random random(8);
    const Shape<2> disk = Ball<2>{0.3};
    for (int trial = 0; trial < 500; ++trial) {
        const Shape<2> stone = any_polygon(random, 3 + trial % 10);
        const Placed<2> b{&stone, uniform(random, 0.5, 2), any_pose<2>(random, 1)},
            a{&disk, 1, any_pose<2>(random, 2)};
        const auto& polygon = std::get<Polygon>(stone);
        double outside = -infinity, least = -outside;
        for (std::size_t i = 0; i < polygon.vertices.size(); ++i) {
            const Vec<2> p = place<2>(b, polygon.vertices[i]),
                         q = place<2>(b, polygon.vertices[(i + 1) % polygon.vertices.size()]);
            least = std::min(least, point_segment<2>(a.pose.position, p, q));
            outside =
                std::max(outside, (matrix(b.pose.rotation) * polygon.normals[i]).dot(a.pose.position - p));
        }
        const double exact = (outside > 0 ? least : outside) - 0.3;
        EXPECT_NEAR(distance<2>(a, b).gap, exact, 1e-14);
        ASSERT_EQ(touches<2>(b, a, exact + 1e-9).size(), 1u);
        EXPECT_NEAR(touches<2>(b, a, exact + 1e-9)[0].gap, exact, 1e-14);
    }
}

}  // namespace
}  // namespace drystone::testing_narrow
