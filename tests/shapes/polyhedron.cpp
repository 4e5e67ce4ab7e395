// Hulls: structure, merged faces, invariance, bad input.
#include "drystone/base/error.hpp"
#include "drystone/shapes/shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <random>

using namespace drystone;

namespace {

using std::numbers::pi;

class Random {
public:
    explicit Random(unsigned seed) : random_(seed) {}
    double normal() { return normal_(random_); }
    double in(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
    Vec<3> vector() { return {normal(), normal(), normal()}; }
    Mat<3> rotation() {
        return Eigen::Quaterniond(normal(), normal(), normal(), normal()).normalized().toRotationMatrix();
    }

private:
    std::mt19937 random_;
    std::normal_distribution<double> normal_;
};

/// Everything that a polyhedron promises: Euler's formula, sides that match, faces that are planar and
/// convex, a convex solid.
void expect_sound(const Polyhedron& p, double tolerance) {
    const Index V = static_cast<Index>(p.vertices.size()), E = static_cast<Index>(p.edges.size()),
                F = static_cast<Index>(p.faces.size());
    EXPECT_EQ(V - E + F, 2);
    ASSERT_EQ(p.face_vertices.size(), static_cast<std::size_t>(2 * E));
    ASSERT_EQ(p.face_edges.size(), p.face_vertices.size());
    ASSERT_EQ(p.vertex_edges.size(), p.face_vertices.size());
    ASSERT_EQ(p.vertex_edge_start.size(), static_cast<std::size_t>(V + 1));

    std::vector<int> directions(E, 0);
    for (Index f = 0; f < F; ++f) {
        const Polyhedron::Face& face = p.faces[f];
        ASSERT_GE(face.size, 3);
        EXPECT_NEAR(face.normal.norm(), 1, 1e-15);
        for (Index k = 0; k < face.size; ++k) {
            const Index from = p.face_vertices[face.start + k],
                        to = p.face_vertices[face.start + (k + 1) % face.size];
            const Index after = p.face_vertices[face.start + (k + 2) % face.size];
            const Polyhedron::Edge& edge = p.edges[p.face_edges[face.start + k]];
            const int side = edge.face[0] == f ? 0 : 1;
            EXPECT_EQ(edge.face[side], f);
            EXPECT_EQ(edge.vertex[side], from);
            EXPECT_EQ(edge.vertex[1 - side], to);
            directions[p.face_edges[face.start + k]] |= 1 << side;
            EXPECT_NEAR(face.normal.dot(p.vertices[from]), face.offset, tolerance);
            const Vec<3> turn = (p.vertices[to] - p.vertices[from]).cross(p.vertices[after] - p.vertices[to]);
            EXPECT_GT(turn.dot(face.normal), 0) << "corner of a face that turns the wrong way";
        }
        for (const Vec<3>& x : p.vertices) EXPECT_LE(face.normal.dot(x), face.offset + tolerance);
    }
    EXPECT_TRUE(std::all_of(directions.begin(), directions.end(), [](int both) { return both == 3; }));

    for (Index v = 0; v < V; ++v) {
        EXPECT_GE(p.vertex_edge_start[v + 1] - p.vertex_edge_start[v], 3);
        for (Index k = p.vertex_edge_start[v]; k < p.vertex_edge_start[v + 1]; ++k) {
            const Polyhedron::Edge& edge = p.edges[p.vertex_edges[k]];
            EXPECT_TRUE(edge.vertex[0] == v || edge.vertex[1] == v);
        }
    }
}

/// The given points are inside, and the centre of mass is at the origin with diagonal inertia.
void expect_holds(const Centred<3, Polyhedron>& made, const std::vector<Vec<3>>& points, double tolerance) {
    const Mat<3> R = matrix(made.pose.rotation);
    EXPECT_NEAR(R.determinant(), 1, 1e-14);
    for (const Vec<3>& x : points)
        EXPECT_LE(inside_function<3>(made.shape, R.transpose() * (x - made.pose.position)), tolerance);
    for (const Vec<3>& v : made.shape.vertices) {
        const Vec<3> user = made.pose.position + R * v;
        const double nearest =
            (*std::min_element(points.begin(), points.end(),
                               [&](const Vec<3>& a, const Vec<3>& b) {
                                   return (a - user).squaredNorm() < (b - user).squaredNorm();
                               }) -
             user)
                .norm();
        EXPECT_LE(nearest, tolerance) << "a vertex is a given point";
    }
}

std::vector<Vec<3>> cube_with_points_on_faces(Random& random, int extra) {
    std::vector<Vec<3>> points;
    for (const int i : {-1, 1})
        for (const int j : {-1, 1})
            for (const int k : {-1, 1}) points.emplace_back(i, j, k);
    for (int i = 0; i < extra; ++i) {
        Vec<3> x(random.in(-1, 1), random.in(-1, 1), random.in(-1, 1));
        x[i % 3] = i % 2 ? 1 : -1;
        if (i % 7 == 0) x[(i + 1) % 3] = 1;  // on an edge
        points.push_back(x);
    }
    return points;
}

std::string error_of(const std::vector<Vec<3>>& points) {
    try {
        make_polyhedron(points);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST(Polyhedron, box) {
    const Polyhedron box = make_box({1, 2, 3});
    expect_sound(box, 0);
    EXPECT_EQ(box.vertices.size(), 8u);
    EXPECT_EQ(box.edges.size(), 12u);
    for (const Polyhedron::Face& face : box.faces) {
        EXPECT_EQ(face.normal.cwiseAbs().sum(), 1) << "normals along the axes, to the bit";
        EXPECT_EQ(face.offset, std::abs(face.normal.dot(Vec<3>(1, 2, 3))));
    }
    EXPECT_THROW(make_box({1, 0, 1}), Error);
    EXPECT_THROW(make_box({1, NAN, 1}), Error);
}

TEST(Polyhedron, a_box_from_points_is_the_box) {
    Random random(1);
    const auto made = make_polyhedron(make_box({1, 2, 3}).vertices);
    EXPECT_EQ(made.pose.rotation.q.coeffs(), Eigen::Vector4d(0, 0, 0, 1)) << "given in principal axes: kept";
    EXPECT_NEAR(made.pose.position.norm(), 0, 1e-15);
    const auto cube = make_polyhedron(cube_with_points_on_faces(random, 0));
    EXPECT_EQ(cube.pose.rotation.q.coeffs(), Eigen::Vector4d(0, 0, 0, 1)) << "equal moments: axes kept";
}

TEST(Polyhedron, random_hulls_are_sound) {
    Random random(2);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<Vec<3>> points(static_cast<std::size_t>(4 + trial));
        const Vec<3> stretch(std::exp(random.normal()), std::exp(random.normal()), std::exp(random.normal()));
        for (Vec<3>& x : points) x = stretch.cwiseProduct(random.vector());
        const auto made = make_polyhedron(points);
        const double size = bounding_radius<3>(made.shape);
        expect_sound(made.shape, 1e-13 * size);
        expect_holds(made, points, 1e-12 * size);
    }
}

TEST(Polyhedron, points_on_a_sphere_are_all_vertices) {
    Random random(3);
    std::vector<Vec<3>> points(2000);
    for (Vec<3>& x : points) x = random.vector().normalized();
    const auto made = make_polyhedron(points);
    EXPECT_EQ(made.shape.vertices.size(), points.size());
    EXPECT_EQ(made.shape.faces.size(), 2 * points.size() - 4) << "no four on a circle: triangles";
    expect_sound(made.shape, 1e-13);
}

TEST(Polyhedron, coplanar_points_leave_a_cube_of_six_faces) {
    Random random(4);
    for (int trial = 0; trial < 300; ++trial) {
        // Noise up to a hundredth of the merging tolerance is not seen.
        const double noise = trial % 3 == 0 ? 0 : std::pow(10, -17 + trial % 7),
                     size = std::pow(10, trial % 9 - 4);
        const Mat<3> R = trial % 2 ? random.rotation() : Mat<3>::Identity();
        const Vec<3> shift = size * random.vector();
        std::vector<Vec<3>> points = cube_with_points_on_faces(random, 200);
        for (Vec<3>& x : points) x = shift + size * (R * (x + noise * random.vector()));
        const auto made = make_polyhedron(points);
        ASSERT_EQ(made.shape.vertices.size(), 8u) << "trial " << trial;
        ASSERT_EQ(made.shape.faces.size(), 6u);
        ASSERT_EQ(made.shape.edges.size(), 12u);
        const double rounding = size * (1e-14 + 10 * noise);
        expect_sound(made.shape, rounding);
        EXPECT_NEAR((made.pose.position - shift).norm(), 0, rounding);
        EXPECT_NEAR(mass_properties<3>(made.shape).volume, 8 * std::pow(size, 3), 8 * rounding * size * size);
    }
}

TEST(Polyhedron, lattice_points) {
    std::vector<Vec<3>> points;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 7; ++j)
            for (int k = 0; k < 8; ++k) points.emplace_back(0.1 * i, 0.1 * j, 0.1 * k);
    const auto made = make_polyhedron(points);
    EXPECT_EQ(made.shape.vertices.size(), 8u);
    EXPECT_EQ(made.shape.faces.size(), 6u);
    EXPECT_NEAR(mass_properties<3>(made.shape).volume, 0.5 * 0.6 * 0.7, 1e-15);
}

TEST(Polyhedron, noise_about_the_tolerance_still_closes) {
    // Here it is a matter of luck which faces are merged; what is left must be a closed solid all the same.
    Random random(5);
    for (int trial = 0; trial < 300; ++trial) {
        const double noise = std::pow(10, random.in(-11, -6));
        const Mat<3> R = random.rotation();
        std::vector<Vec<3>> points = cube_with_points_on_faces(random, 100);
        for (Vec<3>& x : points) x = R * (x + noise * random.vector());
        const Polyhedron p = make_polyhedron(points).shape;
        EXPECT_EQ(p.vertices.size() + p.faces.size(), p.edges.size() + 2);
        EXPECT_EQ(p.face_vertices.size(), 2 * p.edges.size());
        EXPECT_NEAR(mass_properties<3>(p).volume, 8, 100 * noise);
    }
}

TEST(Polyhedron, prisms_cones_and_plates) {
    for (const int n : {3, 5, 16, 64, 200}) {
        for (const double height : {1e-6, 0.01, 1.0, 100.0}) {
            std::vector<Vec<3>> prism, cone;
            for (int i = 0; i < n; ++i) {
                const double c = std::cos(2 * pi * i / n), s = std::sin(2 * pi * i / n);
                prism.emplace_back(c, s, 0);
                prism.emplace_back(c, s, height);
                cone.emplace_back(c, s, 0);
            }
            cone.emplace_back(0, 0, height);
            const double area = 0.5 * n * std::sin(2 * pi / n);
            const Polyhedron p = make_polyhedron(prism).shape;
            EXPECT_EQ(p.faces.size(), static_cast<std::size_t>(n + 2));
            EXPECT_EQ(p.vertices.size(), static_cast<std::size_t>(2 * n));
            EXPECT_NEAR(mass_properties<3>(p).volume, area * height, 1e-12 * area * height + 1e-16);
            if (height < 0.01) continue;  // a cone so low has its sides in one plane to the tolerance
            const auto q = make_polyhedron(cone);
            EXPECT_EQ(q.shape.faces.size(), static_cast<std::size_t>(n + 1));
            EXPECT_NEAR(mass_properties<3>(q.shape).volume, area * height / 3, 1e-12 * area * height + 1e-16);
            EXPECT_NEAR(q.pose.position[2], height / 4, 1e-12 * height + 1e-16);
        }
    }
}

TEST(Polyhedron, mass_does_not_depend_on_where_the_points_are) {
    Random random(6);
    std::vector<Vec<3>> points(30);
    for (Vec<3>& x : points) x = Vec<3>(3, 2, 1).cwiseProduct(random.vector());
    const auto reference = make_polyhedron(points);
    const MassProperties<3> expected = mass_properties<3>(reference.shape);
    const Mat<3> Q0 = matrix(reference.pose.rotation);
    const Mat<3> tensor = Q0 * expected.inertia.asDiagonal() * Q0.transpose();
    Spin<3> sorted = expected.inertia;
    std::sort(sorted.begin(), sorted.end());
    for (int trial = 0; trial < 50; ++trial) {
        const Mat<3> R = random.rotation();
        const Vec<3> shift = 100 * random.vector();
        std::vector<Vec<3>> moved;
        for (const Vec<3>& x : points) moved.push_back(shift + R * x);
        const auto made = make_polyhedron(moved);
        const MassProperties<3> found = mass_properties<3>(made.shape);
        // Coordinates of about 200 with sizes of about 5: two digits fewer than rounding.
        const double tolerance = 1e-12;
        EXPECT_NEAR(found.volume, expected.volume, tolerance * expected.volume);
        EXPECT_NEAR((made.pose.position - shift - R * reference.pose.position).norm(), 0, 10 * tolerance);
        Spin<3> moments = found.inertia;
        std::sort(moments.begin(), moments.end());
        EXPECT_NEAR((moments - sorted).norm(), 0, tolerance * sorted.norm());
        const Mat<3> Q = matrix(made.pose.rotation);
        EXPECT_NEAR((Q * found.inertia.asDiagonal() * Q.transpose() - R * tensor * R.transpose()).norm(), 0,
                    tolerance * sorted.norm());
        // Of the 24 choices of right-handed axes the nearest is at most 62.8 degrees away (J. K. Mackenzie,
        // 1958), and the trace is 1 + 2 cos of that.
        EXPECT_GE(Q.trace(), 1.914);
    }
}

TEST(Polyhedron, order_and_repeats_of_points_do_not_matter) {
    Random random(7);
    std::vector<Vec<3>> points(40);
    for (Vec<3>& x : points) x = random.vector();
    const auto first = make_polyhedron(points);
    std::vector<Vec<3>> again(points.rbegin(), points.rend());
    again.insert(again.end(), points.begin(), points.end());
    again.push_back(points[3] + Vec<3>::Constant(1e-12));
    const auto second = make_polyhedron(again);
    EXPECT_EQ(first.shape.faces.size(), second.shape.faces.size());
    EXPECT_EQ(first.shape.edges.size(), second.shape.edges.size());
    EXPECT_NEAR((first.pose.position - second.pose.position).norm(), 0, 1e-11);
    // The same call gives the same bits.
    const auto third = make_polyhedron(points);
    EXPECT_EQ(first.shape.vertices, third.shape.vertices);
    EXPECT_EQ(first.shape.face_vertices, third.shape.face_vertices);
    EXPECT_EQ(first.pose.rotation.q.coeffs(), third.pose.rotation.q.coeffs());
}

TEST(Polyhedron, bad_points) {
    EXPECT_NE(error_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}).find("3 points"), std::string::npos);
    EXPECT_NE(error_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, NAN, 1}}).find("point 3"), std::string::npos);
    EXPECT_NE(error_of(std::vector<Vec<3>>(9, Vec<3>(1, 2, 3))).find("equal"), std::string::npos);
    Random random(8);
    std::vector<Vec<3>> flat, line;
    const Mat<3> R = random.rotation();
    for (int i = 0; i < 50; ++i) {
        flat.push_back(R * Vec<3>(random.normal(), random.normal(), 7));
        line.push_back(R * Vec<3>(random.normal(), 3, 7));
    }
    EXPECT_NE(error_of(flat).find("one plane"), std::string::npos);
    EXPECT_NE(error_of(line).find("one plane"), std::string::npos);
}

TEST(Polygon, hull_of_points) {
    const auto made =
        make_polygon({{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {0, 2}, {1, 1}, {0, 0}, {1e-12, 2}});
    EXPECT_EQ(made.shape.vertices.size(), 4u);
    EXPECT_NEAR((made.pose.position - Vec<2>(1, 1)).norm(), 0, 1e-15);
    Random random(9);
    for (int trial = 0; trial < 100; ++trial) {
        std::vector<Vec<2>> points(static_cast<std::size_t>(3 + trial));
        for (Vec<2>& x : points) x = Vec<2>(5 + random.normal(), random.normal());
        const auto hull = make_polygon(points);
        const std::size_t n = hull.shape.vertices.size();
        for (std::size_t i = 0; i < n; ++i) {
            const Vec<2> edge = hull.shape.vertices[(i + 1) % n] - hull.shape.vertices[i];
            EXPECT_NEAR(edge.dot(hull.shape.normals[i]), 0, 1e-15);
            EXPECT_LT(edge[0] * hull.shape.normals[i][1] - edge[1] * hull.shape.normals[i][0], 0)
                << "outward";
        }
        for (const Vec<2>& x : points)
            EXPECT_LE(inside_function<2>(hull.shape, x - hull.pose.position), 1e-14);
    }
}

TEST(Polygon, bad_points) {
    EXPECT_THROW(make_polygon({{0, 0}, {1, 0}}), Error);
    EXPECT_THROW(make_polygon({{0, 0}, {1, 1}, {2, 2}, {0.5, 0.5}}), Error);
    EXPECT_THROW(make_polygon({{0, 0}, {0, 0}, {0, 0}}), Error);
    EXPECT_THROW(make_polygon({{0, 0}, {1, INFINITY}, {2, 2}}), Error);
    EXPECT_THROW(make_rectangle({1, -1}), Error);
}
