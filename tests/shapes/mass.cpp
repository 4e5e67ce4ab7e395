// Volumes, centres and moments against closed forms and quadrature.
#include "drystone/shapes/shape.hpp"

#include <gtest/gtest.h>

#include <numbers>

using namespace drystone;

namespace {

using std::numbers::pi;
/// A few hundred roundings: every value here is a closed form on both sides.
constexpr double rounding = 1e-13;

template <int d>
void expect_properties(const Shape<d>& shape, double volume, const Spin<d>& inertia,
                       double tolerance = rounding) {
    const MassProperties<d> found = mass_properties<d>(shape);
    EXPECT_NEAR(found.volume, volume, tolerance * volume);
    for (int k = 0; k < spins<d>; ++k)
        EXPECT_NEAR(found.inertia[k], inertia[k], tolerance * inertia.maxCoeff());
}

/// Nodes and weights on [0, 1] with both ends flattened (t = s^4 (35 - 84 s + 70 s^2 - 20 s^3)), then
/// Simpson: integrands with algebraic singularities at the ends become smooth enough.
template <class F>
double integrate(F&& f, int n = 4000) {
    double sum = 0;
    for (int i = 1; i < n; ++i) {
        const double s = static_cast<double>(i) / n;
        const double t = s * s * s * s * (35 - 84 * s + 70 * s * s - 20 * s * s * s);
        const double weight = 140 * s * s * s * (1 - s) * (1 - s) * (1 - s);
        sum += (i % 2 ? 4 : 2) * f(t) * weight;
    }
    return sum / (3 * n);
}

}  // namespace

TEST(Mass, disk_and_ellipse) {
    expect_properties<2>(Ball<2>{0.7}, pi * 0.49, Spin<2>(pi * 0.49 * 0.49 / 2));
    expect_properties<2>(Ellipsoid<2>{{2, 0.5}}, pi, Spin<2>(pi * 4.25 / 4));
    expect_properties<2>(Ellipsoid<2>{{0.7, 0.7}}, pi * 0.49, Spin<2>(pi * 0.49 * 0.49 / 2));
}

TEST(Mass, rectangle_and_triangle) {
    expect_properties<2>(make_rectangle({2, 3}), 24, Spin<2>(24 * (4.0 + 9.0) / 3));
    // About the centroid: area (a^2 + b^2 + c^2) / 36 with the sides a, b, c.
    const auto triangle = make_polygon({{1, 1}, {4, 1}, {1, 5}});
    expect_properties<2>(triangle.shape, 6, Spin<2>(6 * (9.0 + 16.0 + 25.0) / 36));
    EXPECT_NEAR((triangle.pose.position - Vec<2>(2, 7.0 / 3)).norm(), 0, rounding);
}

TEST(Mass, regular_polygon_far_away) {
    // Area n/2 r^2 sin(2 pi/n), moment area r^2 (2 + cos(2 pi/n)) / 6. At 10^5 sizes from the origin
    // coordinates have 11 digits left, and so has the area.
    const int n = 7;
    std::vector<Vec<2>> points;
    for (int i = 0; i < n; ++i)
        points.emplace_back(1e5 + std::cos(2 * pi * i / n), -2e5 + std::sin(2 * pi * i / n));
    const double area = 0.5 * n * std::sin(2 * pi / n);
    const auto made = make_polygon(points);
    expect_properties<2>(made.shape, area, Spin<2>(area * (2 + std::cos(2 * pi / n)) / 6), 1e-9);
    EXPECT_NEAR((made.pose.position - Vec<2>(1e5, -2e5)).norm(), 0, 1e-9);
}

TEST(Mass, sphere_ellipsoid_capsule) {
    expect_properties<3>(Ball<3>{2}, 32 * pi / 3, Spin<3>::Constant(0.4 * 32 * pi / 3 * 4));
    const double volume = 4 * pi / 3 * 6;
    expect_properties<3>(Ellipsoid<3>{{1, 2, 3}}, volume, volume / 5 * Spin<3>(13, 10, 5));
    // No length: a ball. No radius to speak of: a rod of moment m L^2 / 12, L = 2 half_length.
    expect_properties<3>(Capsule{2, 0}, 32 * pi / 3, Spin<3>::Constant(0.4 * 32 * pi / 3 * 4));
    const MassProperties<3> rod = mass_properties<3>(Capsule{1e-6, 1});
    EXPECT_NEAR(rod.inertia[0] / rod.volume, 1.0 / 3, 1e-5);
}

TEST(Mass, capsule_by_slices) {
    const Capsule s{0.6, 1.1};
    // Slices across the axis: the half balls as discs of radius sqrt(r^2 - t^2). Polynomials, so Simpson on
    // each part is exact to its order; two parts.
    const double top = s.half_length, r = s.radius;
    double volume = 0, xx = 0, zz = 0;
    const auto slice = [&](double z, double square, double weight) {
        volume += weight * pi * square;
        xx += weight * pi * square * square / 4;
        zz += weight * pi * square * z * z;
    };
    const int n = 2000;
    for (int i = 0; i <= n; ++i) {
        const double weight = (i == 0 || i == n ? 1.0 : i % 2 ? 4.0 : 2.0) / (3 * n);
        const double s01 = static_cast<double>(i) / n;
        slice(top * s01, r * r, 2 * weight * top);
        slice(top + r * s01, r * r * (1 - s01 * s01), 2 * weight * r);
    }
    expect_properties<3>(s, volume, {xx + zz, xx + zz, 2 * xx}, 1e-11);
}

TEST(Mass, superellipsoid_of_exponents_one_is_an_ellipsoid) {
    const Vec<3> semi(0.5, 1.5, 2);
    const MassProperties<3> ellipsoid = mass_properties<3>(Ellipsoid<3>{semi});
    expect_properties<3>(Superellipsoid{semi, 1, 1}, ellipsoid.volume, ellipsoid.inertia);
}

TEST(Mass, superellipsoid_near_box_and_octahedron) {
    // e -> 0 is the box, e -> 2 the octahedron |x|/a + |y|/b + |z|/c <= 1; the closed form holds there too.
    const Vec<3> semi(1, 2, 3);
    expect_properties<3>(Superellipsoid{semi, 1e-5, 1e-5}, 48, 48.0 / 3 * Spin<3>(13, 10, 5), 1e-8);
    expect_properties<3>(Superellipsoid{semi, 2, 2}, 8, 0.8 * Spin<3>(13, 10, 5));
}

TEST(Mass, superellipsoid_by_quadrature) {
    for (const double e1 : {0.2, 0.7, 1.3, 1.8}) {
        for (const double e2 : {0.2, 0.6, 1.0, 1.8}) {
            const Vec<3> semi(0.8, 1.3, 0.6);
            const double p1 = 2 / e1, p2 = 2 / e2;
            // Sections at height z are curves |x/a|^p2 + |y/b|^p2 <= ring^p2 of one form. Integrals over the
            // first quadrant.
            const auto y_of = [&](double x) { return std::pow(1 - std::pow(x, p2), 1 / p2); };
            const double area = 4 * integrate([&](double x) { return y_of(x); });
            const double area_xx = 4 * integrate([&](double x) { return x * x * y_of(x); });
            const auto ring = [&](double z) { return std::pow(1 - std::pow(z, p1), 1 / p1); };
            const double scale = 2 * semi.prod();
            const double volume = scale * area * integrate([&](double z) { return std::pow(ring(z), 2); });
            const double around = scale * area_xx * integrate([&](double z) { return std::pow(ring(z), 4); });
            const double along =
                scale * area * integrate([&](double z) { return z * z * std::pow(ring(z), 2); });
            const double xx = around * semi[0] * semi[0], yy = around * semi[1] * semi[1],
                         zz = along * semi[2] * semi[2];
            // The quadrature is the weaker side: near z = 1 its integrand behaves as (1 - z)^(e/2).
            expect_properties<3>(Superellipsoid{semi, e1, e2}, volume, {yy + zz, zz + xx, xx + yy}, 1e-11);
        }
    }
}

TEST(Mass, box) {
    const Vec<3> half(1, 2, 3);
    expect_properties<3>(make_box(half), 48, 48.0 / 3 * Spin<3>(13, 10, 5));
}

TEST(Mass, tetrahedron) {
    // At the corner of the axes: volume abc/6, centre at a quarter, integrals of x_i^2 about it 3 volume
    // a_i^2 / 80 and of x_i x_j -volume a_i a_j / 80. Its principal moments are the eigenvalues: compare the
    // invariants.
    const Vec<3> side(1, 2, 4);
    const auto made = make_polyhedron({{0, 0, 0}, {side[0], 0, 0}, {0, side[1], 0}, {0, 0, side[2]}});
    const double volume = side.prod() / 6;
    EXPECT_NEAR((made.pose.position - side / 4).norm(), 0, rounding);
    Mat<3> second = -volume / 80 * side * side.transpose();
    second.diagonal() = 3 * volume / 80 * side.cwiseAbs2();
    const Mat<3> inertia = second.trace() * Mat<3>::Identity() - second;
    const MassProperties<3> found = mass_properties<3>(made.shape);
    EXPECT_NEAR(found.volume, volume, rounding);
    const Mat<3> R = matrix(made.pose.rotation);
    EXPECT_NEAR((R * found.inertia.asDiagonal() * R.transpose() - inertia).norm(), 0,
                rounding * inertia.norm());
}

TEST(Mass, octahedron) {
    const auto made = make_polyhedron({{1, 0, 0}, {-1, 0, 0}, {0, 2, 0}, {0, -2, 0}, {0, 0, 3}, {0, 0, -3}});
    expect_properties<3>(made.shape, 8, 0.8 * Spin<3>(13, 10, 5));
    EXPECT_EQ(made.pose.rotation.q.coeffs(), Eigen::Vector4d(0, 0, 0, 1)) << "it was in its principal axes";
}

TEST(Mass, prism) {
    // A regular prism of n sides: the section's moments (see above) and a rod's along the axis.
    const int n = 24;
    std::vector<Vec<3>> points;
    for (int i = 0; i < n; ++i)
        for (const int z : {-1, 1})
            points.emplace_back(2 * std::cos(2 * pi * i / n), 2 * std::sin(2 * pi * i / n), 1.5 * z);
    const double volume = 0.5 * n * 4 * std::sin(2 * pi / n) * 3;
    const double polar = volume * 4 * (2 + std::cos(2 * pi / n)) / 6, across = polar / 2 + volume * 9.0 / 12;
    expect_properties<3>(make_polyhedron(points).shape, volume, {across, across, polar});
}

TEST(Mass, shapes_without_mass) {
    EXPECT_TRUE(std::isinf(mass_properties<3>(HalfSpace<3>{}).volume));
    EXPECT_TRUE(std::isinf(mass_properties<2>(HalfSpace<2>{}).volume));
    EXPECT_EQ(mass_properties<3>(make_mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}})).volume, 0);
}
