// Support maps, bounds, radii and inside functions against samples of the surface.
#include "drystone/shapes/shape.hpp"

#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace drystone;

namespace {

std::vector<Shape<3>> solids() {
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    std::vector<Vec<3>> few(20), many(300);
    for (auto* points : {&few, &many})
        for (Vec<3>& x : *points) x = Vec<3>(normal(random), normal(random), normal(random)).normalized();
    std::vector<Shape<3>> shapes{
        Ball<3>{0.7},          Capsule{0.5, 1.2},          Ellipsoid<3>{{1, 2, 0.5}},
        make_box({1, 2, 0.5}), make_polyhedron(few).shape, make_polyhedron(many).shape};
    for (const double e1 : {0.2, 0.7, 1.0, 1.8})
        for (const double e2 : {0.2, 0.9, 1.4, 1.8}) shapes.emplace_back(Superellipsoid{{1, 2, 0.5}, e1, e2});
    return shapes;
}

std::vector<Shape<2>> solids_of_the_plane() {
    return {Ball<2>{0.7}, Ellipsoid<2>{{2, 0.5}}, make_rectangle({1, 0.3}),
            make_polygon({{0, 0}, {3, 0}, {3, 1}, {1, 2}}).shape};
}

template <int d>
std::vector<Shape<d>> all_solids() {
    if constexpr (d == 2)
        return solids_of_the_plane();
    else
        return solids();
}

template <int d>
class Directions {
public:
    Vec<d> operator()() {
        Vec<d> u;
        for (int k = 0; k < d; ++k) u[k] = normal_(random_);
        // One in five has a component of zero, one in seven lies along an axis, one in eleven is within a
        // hair of one.
        ++count_;
        if (count_ % 5 == 0) u[count_ % d] = 0;
        if (count_ % 7 == 0) u = Vec<d>::Unit(count_ % d) * (count_ % 2 ? 1 : -1);
        if (count_ % 11 == 0) u = Vec<d>::Unit(count_ % d) + 1e-12 * u;
        return std::exp(3 * normal_(random_)) * u;  // of any length
    }
    Pose<d> pose() {
        Pose<d> pose;
        for (int k = 0; k < d; ++k) pose.position[k] = normal_(random_);
        Spin<d> by;
        for (int k = 0; k < spins<d>; ++k) by[k] = 2 * normal_(random_);
        pose.rotation = turn(pose.rotation, by);
        return pose;
    }

private:
    std::mt19937 random_{7};
    std::normal_distribution<double> normal_;
    int count_ = 0;
};

/// Points of the surface: outwards along a ray until the inside function changes sign.
template <int d>
Vec<d> surface_point(const Shape<d>& shape, const Vec<d>& direction) {
    const Vec<d> u = direction.normalized();
    double low = 0, high = 2 * bounding_radius<d>(shape);
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (inside_function<d>(shape, middle * u) < 0 ? low : high) = middle;
    }
    return low * u;
}

template <int d>
std::vector<Vec<d>> dense_surface(const Shape<d>& shape) {
    std::vector<Vec<d>> points = surface_of<d>(shape, d == 2 ? 20000 : 160).vertices;
    Directions<d> directions;
    for (int i = 0; i < 300; ++i) points.push_back(surface_point<d>(shape, directions()));
    return points;
}

}  // namespace

template <class D>
class ShapeOf : public ::testing::Test {};
TYPED_TEST_SUITE(ShapeOf, drystone::testing::PlaneAndSpace);

TYPED_TEST(ShapeOf, support_is_on_the_surface_and_beyond_every_sample) {
    constexpr int d = TypeParam::value;
    for (const Shape<d>& shape : all_solids<d>()) {
        const std::vector<Vec<d>> samples = dense_surface<d>(shape);
        const double size = bounding_radius<d>(shape);
        Directions<d> directions;
        for (int i = 0; i < 60; ++i) {
            const Vec<d> u = directions(), x = support<d>(shape, u);
            EXPECT_NEAR(inside_function<d>(shape, x), 0, 1e-14 * size) << name_of<d>(shape);
            double most = -infinity;
            for (const Vec<d>& sample : samples) most = std::max(most, u.dot(sample));
            const double reach = u.dot(x);
            EXPECT_GE(reach, most - 1e-14 * size * u.norm()) << name_of<d>(shape) << " " << u.transpose();
            // Samples are about size/25 apart: a smooth surface falls by the square of that, a corner of a
            // nearly pointed superellipsoid by more.
            EXPECT_LE(reach, most + 5e-3 * size * u.norm()) << name_of<d>(shape) << " " << u.transpose();
        }
        EXPECT_TRUE((support<d>(shape, Vec<d>::Zero()).allFinite()));
    }
}

TYPED_TEST(ShapeOf, support_does_not_depend_on_the_length_of_the_direction) {
    constexpr int d = TypeParam::value;
    Directions<d> directions;
    for (const Shape<d>& shape : all_solids<d>())
        for (int i = 0; i < 20; ++i) {
            const Vec<d> u = directions();
            // Powers of two: nothing is rounded, so nothing may change but in a division by a subnormal.
            EXPECT_NEAR((support<d>(shape, u) - support<d>(shape, std::exp2(-300) * u)).norm(), 0, 1e-13);
            EXPECT_NEAR((support<d>(shape, u) - support<d>(shape, std::exp2(300) * u)).norm(), 0, 1e-13);
        }
}

TYPED_TEST(ShapeOf, bounds_hold_the_surface_and_touch_it) {
    constexpr int d = TypeParam::value;
    Directions<d> directions;
    for (const Shape<d>& shape : all_solids<d>()) {
        const std::vector<Vec<d>> samples = dense_surface<d>(shape);
        for (int i = 0; i < 10; ++i) {
            const double size = 0.3 * (i + 1);
            const Pose<d> pose = i == 0 ? Pose<d>{} : directions.pose();
            const Mat<d> R = matrix(pose.rotation);
            const Bounds<d> found = bounds<d>(shape, size, pose);
            Bounds<d> box;
            for (const Vec<d>& x : samples) box.include(pose.position + size * (R * x));
            const double rounding = 1e-14 * (size * bounding_radius<d>(shape) + pose.position.norm());
            for (int k = 0; k < d; ++k) {
                EXPECT_LE(found.lower[k], box.lower[k] + rounding) << name_of<d>(shape);
                EXPECT_GE(found.upper[k], box.upper[k] - rounding) << name_of<d>(shape);
                // Touch: exactly where the support map says.
                const Vec<d> axis = R.transpose() * Vec<d>::Unit(k);
                const double top = pose.position[k] + size * axis.dot(support<d>(shape, axis));
                const double bottom = pose.position[k] + size * axis.dot(support<d>(shape, Vec<d>(-axis)));
                EXPECT_NEAR(found.upper[k], top, rounding) << name_of<d>(shape);
                EXPECT_NEAR(found.lower[k], bottom, rounding) << name_of<d>(shape);
            }
        }
    }
}

TYPED_TEST(ShapeOf, radii) {
    constexpr int d = TypeParam::value;
    for (const Shape<d>& shape : all_solids<d>()) {
        double least = infinity, most = 0;
        for (const Vec<d>& x : dense_surface<d>(shape)) {
            least = std::min(least, x.norm());
            most = std::max(most, x.norm());
        }
        EXPECT_GE(bounding_radius<d>(shape), most * (1 - 1e-14)) << name_of<d>(shape);
        EXPECT_LE(bounding_radius<d>(shape), most * 1.005) << name_of<d>(shape) << ": tight";
        EXPECT_LE(inner_radius<d>(shape), least * (1 + 1e-14)) << name_of<d>(shape);
        const double lowest_part = std::holds_alternative<Ball<d>>(shape) ? 0.999 : 0.5;
        EXPECT_GE(inner_radius<d>(shape), lowest_part * least) << name_of<d>(shape);
    }
}

TYPED_TEST(ShapeOf, surfaces_close_around_the_volume) {
    constexpr int d = TypeParam::value;
    for (const Shape<d>& shape : all_solids<d>()) {
        const Surface<d> surface = surface_of<d>(shape, 160);
        double volume = 0;
        for (const auto& element : surface.elements) {
            Mat<d> corners;
            for (int k = 0; k < d; ++k) corners.col(k) = surface.vertices[element[k]];
            volume += corners.determinant() / (d == 2 ? 2 : 6);
        }
        const double expected = mass_properties<d>(shape).volume;
        EXPECT_LE(volume, expected * (1 + 1e-13)) << name_of<d>(shape) << ": inscribed";
        EXPECT_GE(volume, expected * 0.995) << name_of<d>(shape) << ": outward, and close";
        for (const Vec<d>& x : surface.vertices)
            EXPECT_NEAR(inside_function<d>(shape, x), 0, 1e-14 * bounding_radius<d>(shape));
        if constexpr (d == 3) {
            // No hole: every side has its neighbour.
            const TriangleMesh mesh = make_mesh(surface.vertices, surface.elements);
            EXPECT_EQ(mesh.triangles.size(), surface.elements.size()) << name_of<d>(shape);
            for (const auto& across : mesh.neighbours)
                for (const Index t : across) EXPECT_GE(t, 0) << name_of<d>(shape);
        }
    }
}

TEST(Shape, ellipsoid_and_its_superellipsoid_agree) {
    const Vec<3> semi(1, 2, 0.5);
    const Shape<3> one = Ellipsoid<3>{semi}, other = Superellipsoid{semi, 1, 1};
    Directions<3> directions;
    EXPECT_NEAR(bounding_radius<3>(one), bounding_radius<3>(other), 1e-15);
    EXPECT_NEAR(inner_radius<3>(one), inner_radius<3>(other), 1e-15);
    for (int i = 0; i < 200; ++i) {
        const Vec<3> u = directions();
        EXPECT_NEAR((support<3>(one, u) - support<3>(other, u)).norm(), 0, 1e-14);
        EXPECT_NEAR(inside_function<3>(one, u), inside_function<3>(other, u), 1e-13 * (1 + u.norm()));
    }
}

TEST(Shape, superellipsoid_support_is_where_the_normal_is) {
    // The gradient of the inside function at the support point is along the direction: checks the closed form
    // by itself.
    const double h = 1e-6;
    for (const double e1 : {0.5, 1.0, 1.5})
        for (const double e2 : {0.5, 1.0, 1.5}) {
            const Shape<3> shape = Superellipsoid{{1, 2, 0.5}, e1, e2};
            const Vec<3> u = Vec<3>(0.4, 0.5, -0.7).normalized(), x = support<3>(shape, u);
            Vec<3> gradient;
            for (int k = 0; k < 3; ++k)
                gradient[k] = inside_function<3>(shape, x + h * Vec<3>::Unit(k)) -
                              inside_function<3>(shape, x - h * Vec<3>::Unit(k));
            EXPECT_NEAR((gradient.normalized() - u).norm(), 0, 1e-8) << "central differences of step 1e-6";
        }
}

TEST(Shape, half_space_is_bounded_along_its_axis_only) {
    const Vec<3> at(1, 2, 3);
    Bounds<3> box = bounds<3>(HalfSpace<3>{}, 1, {at, {}});
    EXPECT_EQ(box.upper, Vec<3>(infinity, infinity, 3));
    EXPECT_EQ(box.lower, Vec<3>::Constant(-infinity));
    Pose<3> turned{at, turn(Rotation<3>{}, Spin<3>(std::acos(-1.0) / 2, 0, 0))};  // z to -y
    box = bounds<3>(HalfSpace<3>{}, 1, turned);
    EXPECT_EQ(box.lower, Vec<3>(-infinity, 2, -infinity));
    EXPECT_EQ(box.upper, Vec<3>::Constant(infinity));
    turned.rotation = turn(turned.rotation, Spin<3>(1e-9, 0, 0));
    EXPECT_EQ(bounds<3>(HalfSpace<3>{}, 1, turned).lower, Vec<3>::Constant(-infinity))
        << "a slope is not an axis";
    const Bounds<2> plane = bounds<2>(HalfSpace<2>{}, 1, {{4, 5}, {std::acos(-1.0)}});
    EXPECT_EQ(plane.lower, Vec<2>(-infinity, 5));
    EXPECT_EQ(plane.upper, Vec<2>::Constant(infinity));
    EXPECT_TRUE(std::isinf(bounding_radius<3>(HalfSpace<3>{})));
    EXPECT_LT(inside_function<3>(HalfSpace<3>{}, {9, 9, -1}), 0);
    EXPECT_TRUE(surface_of<3>(HalfSpace<3>{}, 10).vertices.empty());
}

TEST(Shape, names) {
    EXPECT_STREQ(name_of<2>(Ball<2>{}), "disk");
    EXPECT_STREQ(name_of<3>(Ball<3>{}), "sphere");
    EXPECT_STREQ(name_of<3>(make_box({1, 1, 1})), "polyhedron");
    EXPECT_STREQ(name_of<3>(HalfSpace<3>{}), "half-space");
}
