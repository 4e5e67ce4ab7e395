// Convex shapes on surfaces of triangles.
#include "narrow_brute.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_narrow::mesh {
namespace {

/// A sheet of 2 n^2 triangles over [-n/2, n/2]^2 with heights of its own; the diagonals alternate.
template <class Height>
TriangleMesh sheet(int n, const Height& height) {
    std::vector<Vec<3>> x;
    std::vector<std::array<Index, 3>> t;
    for (int i = 0; i <= n; ++i)
        for (int j = 0; j <= n; ++j)
            x.emplace_back(i - 0.5 * n, j - 0.5 * n, height(i - 0.5 * n, j - 0.5 * n));
    const auto id = [&](int i, int j) { return static_cast<Index>(i * (n + 1) + j); };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const Index p = id(i, j), q = id(i + 1, j), r = id(i + 1, j + 1), s = id(i, j + 1);
            if ((i + j) % 2 == 0)
                t.push_back({p, q, r}), t.push_back({p, r, s});
            else
                t.push_back({p, q, s}), t.push_back({q, r, s});
        }
    return make_mesh(x, t);
}

/// The surface of a polyhedron as triangles: fans of its faces.
TriangleMesh skin(const Polyhedron& shape) {
    std::vector<std::array<Index, 3>> t;
    for (const auto& f : shape.faces)
        for (Index k = 1; k + 1 < f.size; ++k)
            t.push_back({shape.face_vertices[static_cast<std::size_t>(f.start)],
                         shape.face_vertices[static_cast<std::size_t>(f.start + k)],
                         shape.face_vertices[static_cast<std::size_t>(f.start + k + 1)]});
    return make_mesh(shape.vertices, t);
}

Placed<3> at(const Shape<3>& shape, const Vec<3>& x, const Vec<3>& rotation = Vec<3>::Zero()) {
    Placed<3> p{&shape, 1, {}};
    p.pose.position = x;
    p.pose.rotation = turn(Rotation<3>{}, Spin<3>(rotation));
    return p;
}

/// Rolling over seams, diagonals and vertices of a flat floor feels none of them.
TEST(NarrowMesh, BallRollsOverFlatFloor) {
    const Shape<3> floor = sheet(8, [](double, double) { return 0; }), ball = Ball<3>{0.4};
    const Vec<3> tilt(0.3, -0.2, 0.5);
    const Placed<3> b = at(floor, {1, 2, 3}, tilt);
    for (const double gap : {0.0, 1e-3, -1e-3, -0.3})
        for (int k = 0; k <= 1000; ++k) {
            // Along a diagonal of the cells, along a seam, and on a line of its own.
            for (const Vec<3>& path : {Vec<3>(1, 1, 0), Vec<3>(1, 0, 0), Vec<3>(0.7, 0.31, 0)}) {
                const Vec<3> x = path * (-3 + 6e-3 * k) + Vec<3>(0, 0, 0.4 + gap);
                const auto found = touches<3>(at(ball, place<3>(b, x)), b, 0.01);
                ASSERT_EQ(found.size(), 1u) << k;
                ASSERT_NEAR(found[0].gap, gap, 1e-14);
                ASSERT_NEAR((found[0].normal - matrix(b.pose.rotation).col(2)).norm(), 0, 1e-14);
            }
        }
}

TEST(NarrowMesh, BallOnRoofAndInGutter) {
    const Shape<3> roof = sheet(4, [](double x, double) { return -std::abs(x); });
    const Shape<3> gutter = sheet(4, [](double x, double) { return std::abs(x); });
    const Shape<3> ball = Ball<3>{0.3};
    for (int k = 0; k <= 100; ++k) {
        const double y = -1.5 + 0.03 * k;
        for (const double gap : {1e-4, -1e-4}) {
            // Anywhere in the fan of normals of the ridge.
            const double angle = (k % 5 - 2) * 0.15 * M_PI;
            const Vec<3> n(std::sin(0.8 * angle), 0, std::cos(0.8 * angle));
            const auto on_ridge =
                touches<3>(at(ball, Vec<3>(0, y, 0) + (0.3 + gap) * n), at(roof, Vec<3>::Zero()), 1e-3);
            ASSERT_EQ(on_ridge.size(), 1u) << k;
            EXPECT_NEAR(on_ridge[0].gap, gap, 1e-15);
            EXPECT_NEAR((on_ridge[0].normal - n).norm(), 0, 1e-14);

            const auto in_gutter =
                touches<3>(at(ball, {0, y, std::sqrt(2.0) * (0.3 + gap)}), at(gutter, Vec<3>::Zero()), 1e-3);
            ASSERT_EQ(in_gutter.size(), 2u) << k;
            for (const auto& t : in_gutter) {
                EXPECT_NEAR(t.gap, gap, 1e-15);
                EXPECT_NEAR(t.normal.z(), std::sqrt(0.5), 1e-14);
            }
        }
    }
}

TEST(NarrowMesh, BallOnThinPlateAndThrough) {
    // Thinner than the ball: the far side must not push.
    const Shape<3> plate = skin(make_box(Vec<3>(2, 2, 0.05))), ball = Ball<3>{0.4};
    for (const double gap : {1e-3, 0.0, -1e-3, -0.1, -0.3}) {
        const auto found = touches<3>(at(ball, {0.3, 0.2, 0.45 + gap}), at(plate, Vec<3>::Zero()), 0.01);
        ASSERT_EQ(found.size(), 1u) << gap;
        EXPECT_NEAR(found[0].gap, gap, 1e-15);
        EXPECT_EQ(found[0].normal.z(), 1);
    }
    // The centre is past a single sheet, but by less than the radius: pushed back out.
    const Shape<3> floor = sheet(4, [](double, double) { return 0; });
    const auto past = touches<3>(at(ball, {0.3, 0.2, -0.1}), at(floor, Vec<3>::Zero()), 0.01);
    ASSERT_EQ(past.size(), 1u);
    EXPECT_NEAR(past[0].gap, -0.5, 1e-15);
    EXPECT_NEAR(past[0].normal.z(), 1, 1e-15);
    EXPECT_TRUE(touches<3>(at(ball, {0.3, 0.2, -0.5}), at(floor, Vec<3>::Zero()), 0.01).empty());
}

TEST(NarrowMesh, BoxesAndCapsulesOnFlatFloor) {
    const Shape<3> floor = sheet(8, [](double, double) { return 0; });
    const Shape<3> box = make_box(Vec<3>(0.7, 0.5, 0.3)), capsule = Capsule{0.2, 0.8},
                   crumb = make_box(Vec<3>(0.05, 0.04, 0.03));
    const Placed<3> b = at(floor, Vec<3>::Zero());
    Random random(12);
    for (int trial = 0; trial < 300; ++trial) {
        const double gap =
            std::vector<double>{0, 1e-9, -1e-9, 1e-4, -1e-4}[static_cast<std::size_t>(trial) % 5];
        const double tilt = std::vector<double>{0, 1e-12, -1e-9, 1e-6}[static_cast<std::size_t>(trial) % 4];
        // Now and then the corners stand on seams.
        const bool aligned = trial % 3 == 0;
        const Vec<3> x(aligned ? 0.3 : uniform(random, -2, 2), aligned ? 0.5 : uniform(random, -2, 2), 0);
        const Vec<3> turned(0, 0, aligned ? 0 : uniform(random, -3, 3));
        Placed<3> a = at(box, x + Vec<3>(0, 0, 0.3 + gap), turned);
        a.pose.rotation = turn(a.pose.rotation, Spin<3>(tilt, 0, 0));
        const auto found = touches<3>(a, b, 1e-3);
        ASSERT_EQ(found.size(), 4u) << trial;
        for (const auto& t : found) {
            EXPECT_NEAR(t.gap, gap, 2 * std::abs(tilt) + 1e-14);
            EXPECT_NEAR((t.normal - Vec<3>::UnitZ()).norm(), 0, std::abs(tilt) + 1e-14);
            EXPECT_NEAR((t.point - x).head<2>().norm(), std::hypot(0.7, 0.5), 1e-4);
        }
        a.shape = &crumb, a.pose.position.z() = 0.03 + gap;
        EXPECT_EQ(touches<3>(a, b, 1e-3).size(), 4u) << trial;
        Placed<3> lying = at(capsule, x + Vec<3>(0, 0, 0.2 + gap), {0.5 * M_PI + tilt, 0, 0});
        lying.pose.rotation = turn(lying.pose.rotation, Spin<3>(turned));
        const auto ends = touches<3>(lying, b, 1e-3);
        ASSERT_EQ(ends.size(), 2u) << trial;
        for (const auto& t : ends) EXPECT_NEAR(t.gap, gap, 2 * std::abs(tilt) + 1e-14);
    }
}

/// A box over the rim of a closed mesh finds what it finds on the solid of the same form.
TEST(NarrowMesh, OverhangOnClosedMesh) {
    const Polyhedron cube = make_box(Vec<3>(0.5, 0.5, 0.5));
    const Shape<3> solid = cube, mesh = skin(cube), box = make_box(Vec<3>(0.4, 0.3, 0.2));
    Random random(14);
    for (int trial = 0; trial < 200; ++trial) {
        const double gap = std::vector<double>{1e-9, -1e-9, 1e-4, -1e-4}[static_cast<std::size_t>(trial) % 4];
        const Placed<3> a = at(box, {uniform(random, -0.6, 0.6), uniform(random, -0.6, 0.6), 0.7 + gap},
                               {0, 0, uniform(random, -3, 3)});
        const auto on_solid = touches<3>(a, at(solid, Vec<3>::Zero()), 1e-3);
        const auto on_mesh = touches<3>(a, at(mesh, Vec<3>::Zero()), 1e-3);
        EXPECT_EQ(on_solid.size(), on_mesh.size()) << trial;
        for (const auto& t : on_solid)
            EXPECT_EQ(std::count_if(on_mesh.begin(), on_mesh.end(),
                                    [&](const auto& u) {
                                        return (t.point - u.point).norm() < 1e-9 &&
                                               (t.normal - u.normal).norm() < 1e-9 &&
                                               std::abs(t.gap - u.gap) < 1e-12;
                                    }),
                      1)
                << trial;
    }
}

/// A convex mesh is as far away as its hull.
TEST(NarrowMesh, StonesOnStoneSkin) {
    Random random(15);
    for (int trial = 0; trial < 150; ++trial) {
        const Polyhedron stone = any_polyhedron(random, 12);
        const Shape<3> solid = stone, mesh = skin(stone), other = any_polyhedron(random, 10),
                       ball = Ball<3>{0.4};
        const Placed<3> b{&solid, 1, any_pose<3>(random, 1)}, m{&mesh, 1, b.pose};
        const Vec<3> direction = unit_vector<3>(random);
        for (const Shape<3>* shape : {&other, &ball})
            for (const double gap : {0.1, 1e-3, -1e-6, -1e-3}) {
                Placed<3> a{shape, 1, any_pose<3>(random, 1)};
                double low = 0, high = 6;
                for (int i = 0; i < 50; ++i) {
                    a.pose.position = b.pose.position + 0.5 * (low + high) * direction;
                    (distance<3>(a, b).gap < gap ? low : high) = 0.5 * (low + high);
                }
                const double exact = distance<3>(a, b).gap;
                const auto found = touches<3>(a, m, exact + 1e-4);
                ASSERT_FALSE(found.empty()) << trial << ' ' << gap;
                // The deepest point is found, and nothing is said to be deeper.
                EXPECT_NEAR(least_gap<3>(found), exact, 1e-9) << trial << ' ' << gap;
                if (gap > 0) {
                    EXPECT_NEAR(distance<3>(a, m).gap, exact, 1e-12);
                }
            }
    }
}

TEST(NarrowMesh, EllipsoidOnFlatFloor) {
    const Shape<3> floor = sheet(6, [](double, double) { return 0; }),
                   grain = Ellipsoid<3>{Vec<3>(0.5, 0.3, 0.2)};
    const Shape<3> plane = HalfSpace<3>{};
    Random random(16);
    for (int trial = 0; trial < 200; ++trial) {
        Placed<3> a{&grain, 1, any_pose<3>(random, 2)};
        a.pose.position.z() = 0;
        a.pose.position.z() = 1e-4 * (trial % 3 - 1) - distance<3>(a, at(plane, Vec<3>::Zero())).gap;
        const auto found = touches<3>(a, at(floor, Vec<3>::Zero()), 1e-3);
        ASSERT_EQ(found.size(), 1u) << trial;
        EXPECT_NEAR(found[0].gap, distance<3>(a, at(plane, Vec<3>::Zero())).gap, 1e-13);
        EXPECT_NEAR((found[0].normal - Vec<3>::UnitZ()).norm(), 0, 1e-14);
    }
}

}  // namespace
}  // namespace drystone::testing_narrow::mesh
