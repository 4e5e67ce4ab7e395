#include "drystone/cone/cone.hpp"

#include "drystone/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace drystone;

namespace {

std::vector<Cone> all_cones() {
    const double inf = INFINITY;
    return {Cone::ray(),
            Cone::second_order(2, 0.5),
            Cone::second_order(3, 0.3),
            Cone::second_order(3, 0),
            Cone::second_order(3, inf),
            Cone::second_order(6, 2),
            Cone::truncated(3, 0.4, 0.7),
            Cone::truncated(3, 0, 1),
            Cone::truncated(6, 1, 0),
            Cone::wrench(3, 0.5, 0.1, 0),
            Cone::wrench(5, 0.8, 0.2, 0),
            Cone::wrench(6, 0.6, 0.05, 0.02),
            Cone::wrench(6, 0, 0.1, inf),
            Cone::wrench(6, inf, 0, 0.3),
            Cone::free(4),
            Cone::interval(-1, 2),
            Cone::interval(0, inf)};
}

bool is_cone(const Cone& c) {
    return c.kind != ConeKind::interval && !(c.kind == ConeKind::truncated && c.coefficient[1] > 0);
}

class Points {
public:
    explicit Points(unsigned seed) : random_(seed) {}
    Vector operator()(int d) {
        Vector x(d);
        const double size = std::exp(2 * normal_(random_));
        for (int c = 0; c < d; ++c) x[c] = size * normal_(random_);
        if (++count_ % 10 == 0) x.tail(d - 1).setZero();
        if (count_ % 11 == 0) x[0] = 0;
        return x;
    }

private:
    std::mt19937 random_;
    std::normal_distribution<double> normal_;
    int count_ = 0;
};

Vector projected(const Cone& cone, Vector x) {
    project(cone, {x.data(), static_cast<std::size_t>(x.size())});
    return x;
}

}  // namespace

// A projection on a convex set is known by three properties; together they determine it.
TEST(Cone, ProjectionIsTheNearestPoint) {
    for (const Cone& cone : all_cones()) {
        Points points(3);
        for (int k = 0; k < 2000; ++k) {
            const Vector x = points(cone.dim), y = points(cone.dim);
            const Vector Px = projected(cone, x), Py = projected(cone, y);
            const double scale = 1 + x.norm() + y.norm();
            EXPECT_LE((projected(cone, Px) - Px).norm(), 1e-14 * scale);                // idempotent
            EXPECT_LE((Px - Py).norm(), (x - y).norm() * (1 + 1e-14) + 1e-15 * scale);  // non-expansive
            EXPECT_LE((x - Px).dot(Py - Px), 1e-13 * scale * scale)
                << static_cast<int>(cone.kind);  // the variational inequality
            EXPECT_NEAR(distance(cone, {x.data(), static_cast<std::size_t>(x.size())}), (x - Px).norm(),
                        1e-14 * scale);
        }
    }
}

TEST(Cone, DualIsWhereProductsWithTheConeAreNotNegative) {
    for (const Cone& cone : all_cones()) {
        if (!is_cone(cone)) continue;
        Points points(5);
        for (int k = 0; k < 2000; ++k) {
            const Vector r = projected(cone, points(cone.dim));
            Vector u = points(cone.dim);
            const Vector raw = u;
            project_dual(cone, {u.data(), static_cast<std::size_t>(u.size())});
            EXPECT_GE(u.dot(r), -1e-13 * (1 + u.norm()) * (1 + r.norm()));
            // Moreau: raw = (nearest point of K*) - (nearest point of K to -raw), orthogonal to each other.
            const Vector polar = projected(cone, -raw);
            EXPECT_NEAR(u.dot(polar), 0, 1e-12 * (1 + raw.squaredNorm()));
        }
    }
}

// Validation 7: u_N >= 0 if and only if u + s(u) n lies in the dual cone.
TEST(Cone, ShiftMapsTheHalfSpaceOntoTheDualCone) {
    for (const Cone& cone : {Cone::second_order(3, 0.7), Cone::second_order(2, 3),
                             Cone::wrench(6, 0.6, 0.2, 0.4), Cone::wrench(5, 1, 2, 0)}) {
        Points points(9);
        for (int k = 0; k < 5000; ++k) {
            Vector u = points(cone.dim);
            const bool opens = u[0] >= 0;
            u[0] += shift(cone, {u.data(), static_cast<std::size_t>(u.size())});
            Vector nearest = u;
            project_dual(cone, {nearest.data(), static_cast<std::size_t>(nearest.size())});
            if (opens) {
                EXPECT_LE((nearest - u).norm(), 1e-13 * (1 + u.norm()));
            } else {
                EXPECT_GT((nearest - u).norm(), 0);
            }
        }
    }
}

TEST(Cone, CoefficientsZeroAndInfinite) {
    const Vector x = (Vector(3) << -1, 2, 3).finished();
    EXPECT_EQ(projected(Cone::second_order(3, INFINITY), x), (Vector(3) << 0, 2, 3).finished());
    EXPECT_EQ(projected(Cone::second_order(3, 0), -x), (Vector(3) << 1, 0, 0).finished());
    const Vector u = (Vector(3) << 1, 3, 4).finished();
    EXPECT_EQ(shift(Cone::second_order(3, INFINITY), {u.data(), 3}), 0);
    EXPECT_EQ(shift(Cone::second_order(3, 0.5), {u.data(), 3}), 2.5);
}

TEST(Cone, RefusesWhatIsNotACone) {
    EXPECT_THROW(Cone::second_order(1, 0.5), Error);
    EXPECT_THROW(Cone::second_order(3, -0.1), Error);
    EXPECT_THROW(Cone::second_order(3, std::nan("")), Error);
    EXPECT_THROW(Cone::wrench(4, 1, 1, 1), Error);
    EXPECT_THROW(Cone::interval(1, 0), Error);
}
