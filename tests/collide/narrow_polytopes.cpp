// Polygons and polyhedra against brute force over all features, in general position.
#include "narrow_brute.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_narrow {
namespace {

/// A pair at about the wanted gap: b is moved along the line of centres by bisection. Where that ends is not
/// what is tested.
template <int d>
void bring_together(Placed<d>& a, const Placed<d>& b, const Vec<d>& direction, double gap) {
    double low = 0, high = 8;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        a.pose.position = b.pose.position + middle * direction;
        (distance<d>(a, b).gap < gap ? low : high) = middle;
    }
    a.pose.position = b.pose.position + high * direction;
}

template <int d>
Shape<d> any_shape(Random& random, int points) {
    if constexpr (d == 2)
        return any_polygon(random, points);
    else
        return any_polyhedron(random, points);
}

template <int d>
class Polytopes : public ::testing::Test {};
template <int d>
using Dimension = std::integral_constant<int, d>;

template <int d>
void check_pair(const Placed<d>& a, const Placed<d>& b, const char* what, int trial) {
    const double exact = brute_distance(a, b);
    const Distance<d> found = distance<d>(a, b);
    // Rounding of coordinates of size about 2, relative to the size of the shapes.
    ASSERT_NEAR(found.gap, exact, 1e-13 + 1e-11 * std::abs(exact)) << what << " trial " << trial;
    ASSERT_NEAR(found.normal.norm(), 1, 1e-14);
    ASSERT_NEAR(found.normal.dot(found.point_a - found.point_b), found.gap, 1e-13)
        << what << " trial " << trial;
    ASSERT_NEAR((found.point_a - found.point_b - found.gap * found.normal).norm(), 0, 1e-12)
        << what << " trial " << trial;
    // The points belong to the shapes.
    for (const auto& [p, x] : {std::pair(&a, found.point_a), std::pair(&b, found.point_b)}) {
        const Vec<d> local = matrix(p->pose.rotation).transpose() * (x - p->pose.position) / p->size;
        ASSERT_LE(inside_function<d>(*p->shape, local), 1e-9) << what << " trial " << trial;
    }
    const auto manifold = touches<d>(a, b, exact + 0.01);
    ASSERT_FALSE(manifold.empty()) << what << " trial " << trial;
    ASSERT_LE(manifold.size(), d == 2 ? 2u : 8u);
    // Along a face's normal that differs by up to 1e-5 from the closest points' line: 5e-11 of the gap.
    ASSERT_NEAR(least_gap<d>(manifold), exact, 1e-12 + 1e-10 * std::abs(exact)) << what << " trial " << trial;
    ASSERT_TRUE(touches<d>(a, b, exact - 1e-9).empty());
    for (std::size_t i = 1; i < manifold.size(); ++i) ASSERT_LT(manifold[i - 1].feature, manifold[i].feature);
}

template <int d>
void random_pairs(int trials) {
    Random random(7 + d);
    for (int trial = 0; trial < trials; ++trial) {
        const Shape<d> first = any_shape<d>(random, 4 + trial % 20),
                       second = any_shape<d>(random, 4 + trial % 13);
        Placed<d> a{&first, uniform(random, 0.5, 2), any_pose<d>(random, 1)};
        const Placed<d> b{&second, uniform(random, 0.5, 2), any_pose<d>(random, 1)};
        const Vec<d> direction = unit_vector<d>(random);
        for (const double gap : {1.0, 1e-2, 1e-4, 1e-6, 1e-9, -1e-9, -1e-6, -1e-4, -1e-2, -0.1}) {
            bring_together(a, b, direction, gap);
            check_pair(a, b, "wanted gap", trial);
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(NarrowPolytopes, SpaceAgainstBruteForce) { random_pairs<3>(200); }
TEST(NarrowPolytopes, PlaneAgainstBruteForce) { random_pairs<2>(1000); }

/// Swapping the bodies turns the normal; moving both together moves the answer with them.
template <int d>
void symmetry(int trials) {
    Random random(91 + d);
    for (int trial = 0; trial < trials; ++trial) {
        const Shape<d> first = any_shape<d>(random, 5 + trial % 12),
                       second = any_shape<d>(random, 5 + trial % 9);
        Placed<d> a{&first, 1, any_pose<d>(random, 1)};
        Placed<d> b{&second, 1.3, any_pose<d>(random, 1)};
        bring_together(a, b, unit_vector<d>(random), std::vector<double>{0.1, 1e-5, -1e-5, -0.05}[trial % 4]);
        const double reach = distance<d>(a, b).gap + 0.02;
        const auto there = touches<d>(a, b, reach);
        auto back = touches<d>(b, a, reach);
        ASSERT_EQ(there.size(), back.size());
        const auto same = [](const Touch<d>& x, const Touch<d>& y, const Vec<d>& normal) {
            return (x.point - y.point).norm() < 1e-9 && (normal - y.normal).norm() < 1e-8 &&
                   std::abs(x.gap - y.gap) < 1e-12;
        };
        for (const auto& t : there)
            EXPECT_EQ(
                std::count_if(back.begin(), back.end(), [&](const auto& u) { return same(t, u, -t.normal); }),
                1)
                << "trial " << trial;
        const Distance<d> x = distance<d>(a, b), y = distance<d>(b, a);
        EXPECT_NEAR(x.gap, y.gap, 1e-14);

        // A turn and a shift of everything.
        const Pose<d> motion = any_pose<d>(random, 3);
        const Mat<d> R = matrix(motion.rotation);
        const auto moved = [&](Placed<d> p) {
            if constexpr (d == 2)
                p.pose.rotation.angle += motion.rotation.angle;
            else
                p.pose.rotation.q = motion.rotation.q * p.pose.rotation.q;
            p.pose.position = motion.position + R * p.pose.position;
            return p;
        };
        const auto far = touches<d>(moved(a), moved(b), reach);
        ASSERT_EQ(features<d>(there), features<d>(far)) << "trial " << trial;
        for (std::size_t i = 0; i < far.size(); ++i) {
            EXPECT_NEAR(far[i].gap, there[i].gap, 1e-13);
            EXPECT_NEAR((far[i].normal - R * there[i].normal).norm(), 0, 1e-9);
            EXPECT_NEAR((far[i].point - motion.position - R * there[i].point).norm(), 0, 1e-9);
        }
    }
}
TEST(NarrowPolytopes, SymmetryInSpace) { symmetry<3>(400); }
TEST(NarrowPolytopes, SymmetryInPlane) { symmetry<2>(400); }

/// The gap's derivative under a motion of a is the normal: what the time step relies on. Central differences,
/// so the error is of third order in the step (curvature of corner against corner: step^2 / gap).
template <int d>
void derivative(int trials) {
    Random random(5 + d);
    int smooth = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const Shape<d> first = any_shape<d>(random, 5 + trial % 12),
                       second = any_shape<d>(random, 5 + trial % 9);
        Placed<d> a{&first, 1, any_pose<d>(random, 1)};
        const Placed<d> b{&second, 1, any_pose<d>(random, 1)};
        bring_together(a, b, unit_vector<d>(random), std::vector<double>{0.3, 0.01, -0.01, -0.05}[trial % 4]);
        const auto here = touches<d>(a, b, distance<d>(a, b).gap + 1e-9);
        const Vec<d> dx = unit_vector<d>(random);
        const double h = 1e-6;
        Placed<d> plus = a, minus = a;
        plus.pose.position += h * dx, minus.pose.position -= h * dx;
        const double up = distance<d>(plus, b).gap, down = distance<d>(minus, b).gap,
                     middle = distance<d>(a, b).gap;
        // A kink (another feature takes over within the step) shows in the second difference.
        if (std::abs(up + down - 2 * middle) > 1e-9) continue;
        ++smooth;
        EXPECT_NEAR((up - down) / (2 * h), here.front().normal.dot(dx), 1e-8) << "trial " << trial;
    }
    EXPECT_GT(smooth, trials * 9 / 10);
}
TEST(NarrowPolytopes, GapDerivativeIsNormalInSpace) { derivative<3>(400); }
TEST(NarrowPolytopes, GapDerivativeIsNormalInPlane) { derivative<2>(400); }

}  // namespace
}  // namespace drystone::testing_narrow
