// The projection on wrench cones (cone/cone.hpp) against its optimality conditions and against a general conic solve.
#include "drystone/solve/interior_point.hpp"
#include "solve/wrench_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

using namespace drystone;
using namespace drystone::testing;

namespace {

double length_of(const std::vector<double>& x, const ConeGroup& g) {
    return g.size == 1 ? std::abs(x[g.start]) : std::hypot(x[g.start], x[g.start + 1]);
}

double length_of(const std::vector<double>& x) {
    double sum = 0;
    for (const double c : x) sum += c * c;
    return std::sqrt(sum);
}

std::vector<double> projected(const PointAndCone& at) {
    std::vector<double> p = at.x;
    project(at.cone, p);
    return p;
}

/// Norms of points number k of n: over 12 decades.
double norm_of(int k, int n) { return std::pow(10, -6 + 12 * k / (n - 1.0)); }

/// The largest distance between the projection and the interior point on W = 1 and b = -x, relative to the norm of the
/// points, over batches of points that are solved at once. Only the stop of that solve asks the referee, who projects;
/// its iterates do not. Points of one batch have about one norm, because the solve is accurate relative to the whole.
double largest_difference(int batches, bool degenerate) {
    constexpr int size = 500;
    std::mt19937 engine(2);
    double worst = 0;
    for (int batch = 0; batch < batches; ++batch) {
        ConeProblem problem;
        problem.only().dim = 1;
        const double norm = norm_of(batch, batches);
        std::vector<double> w;
        std::vector<PointAndCone> list;
        for (int k = 0; static_cast<int>(list.size()) < size; ++k) {
            if (is_degenerate(k % kinds_of_points) != degenerate) continue;
            list.push_back(wrench_point(engine, k, norm, Coefficients::ordinary));
            const PointAndCone& at = list.back();
            problem.add_block(at.cone);
            for (int c = 0; c < at.cone.dim; ++c) {
                std::array<double, max_block> column{};
                column[c] = 1;
                problem.add_entry(problem.only().count++, std::span(column).first(at.cone.dim));
                w.push_back(-at.x[c]);
            }
        }
        problem.only().mass =
            BlockInverseMass{std::vector<double>(static_cast<std::size_t>(problem.only().count), 1.0)};
        problem.f = Vector::Zero(problem.only().count);
        problem.w = Eigen::Map<const Eigen::VectorXd>(w.data(), problem.only().count);
        const Delassus W(problem);
        Goal goal;
        goal.tolerance = 1e-13;  // out of reach where points are degenerate: it then goes as far as it can
        Vector r = Vector::Zero(problem.rows());
        interior_point(W, Law::associated, {}, goal, r);
        for (Index i = 0; i < problem.blocks(); ++i) {
            const std::vector<double> p = projected(list[i]);
            double square = 0;
            for (int c = 0; c < list[i].cone.dim; ++c) square += std::pow(p[c] - r[problem.offset[i] + c], 2);
            worst = std::max(worst, std::sqrt(square) / norm);
        }
    }
    return worst;
}

// What the interior point reaches. Where a limit is met and its multiplier is 0, the distance from the solution is the
// root of the distance from complementarity, so half the digits are lost.
constexpr double regular_accuracy = 1e-9, degenerate_accuracy = 2e-7;

}  // namespace

// p is the projection of x iff p is in K, x - p is in the polar cone of K and the two are perpendicular. Distances,
// relative to |x|.
TEST(WrenchProjection, SampleSatisfiesItsOptimalityConditions) {
    constexpr int points = 100'000;
    std::mt19937 engine(1);
    int at_zero = 0, inside = 0;
    double worst_inside = 0, worst_polar = 0, worst_angle = 0;
    for (int k = 0; k < points; ++k) {
        const PointAndCone at = wrench_point(engine, k, norm_of(k, points), Coefficients::all);
        const std::vector<double> p = projected(at);
        const double size = length_of(at.x);
        ASSERT_GE(p[0], 0);
        if (size == 0) continue;
        std::vector<double> rest = at.x;
        for (std::size_t c = 0; c < p.size(); ++c) rest[c] -= p[c];
        at_zero += length_of(p) == 0 ? 1 : 0;
        inside += length_of(rest) == 0 ? 1 : 0;
        // The polar cone: rest_0 + sum of mu_j |rest_j| <= 0, and rest_j = 0 where mu_j is infinite. Over the length of
        // (1, mu), which makes it the distance from a plane.
        double polar = rest[0], plane = 1, angle = 0;
        for (const ConeGroup& g : groups_of(at.cone)) {
            const double length = length_of(p, g), push = length_of(rest, g);
            if (std::isinf(g.mu)) {
                ASSERT_EQ(push, 0);
                continue;
            }
            worst_inside = std::max(worst_inside, (length - g.mu * p[0]) / (std::hypot(1, g.mu) * size));
            polar += g.mu * push;
            plane += g.mu * g.mu;
        }
        for (std::size_t c = 0; c < p.size(); ++c) angle += p[c] * rest[c];
        ASSERT_TRUE(std::isfinite(angle + polar));
        worst_polar = std::max(worst_polar, polar / (std::sqrt(plane) * size));
        worst_angle = std::max(worst_angle, std::abs(angle) / (size * size));
    }
    EXPECT_LT(worst_inside, 1e-15);
    EXPECT_LT(worst_polar, 1e-15);
    EXPECT_LT(worst_angle, 1e-15);
    // The points are what they are meant to be.
    EXPECT_GT(at_zero, points / 10);
    EXPECT_GT(inside, points / 10);
}

TEST(WrenchProjection, SampleAgreesWithTheInteriorPoint) {
    EXPECT_LT(largest_difference(4, false), regular_accuracy);
    EXPECT_LT(largest_difference(4, true), degenerate_accuracy);
}

TEST(WrenchProjection, HundredThousandPointsAgreeWithTheInteriorPoint) {
    EXPECT_LT(largest_difference(100, false), regular_accuracy);
    EXPECT_LT(largest_difference(100, true), degenerate_accuracy);
}
