// What the smooth shapes' distances are compared with: pairs whose distance is known because they were placed from it,
// and a search that uses nothing but support functions. Both in long double, and none of it shared with the code under
// test.
#pragma once

#include "drystone/collide/smooth.hpp"

#include <random>
#include <vector>

namespace drystone::reference {

using Real = long double;
template <int d>
using RVec = Eigen::Matrix<Real, d, 1>;
template <int d>
using RMat = Eigen::Matrix<Real, d, d>;

inline RMat<2> rotation(const Rotation<2>& r) {
    RMat<2> R;
    R << std::cos(static_cast<Real>(r.angle)), -std::sin(static_cast<Real>(r.angle)),
        std::sin(static_cast<Real>(r.angle)), std::cos(static_cast<Real>(r.angle));
    return R;
}
inline RMat<3> rotation(const Rotation<3>& r) {
    return Eigen::Quaternion<Real>(r.q.w(), r.q.x(), r.q.y(), r.q.z()).normalized().toRotationMatrix();
}

inline Real signed_power(Real x, Real e) { return std::copysign(std::pow(std::abs(x), e), x); }

/// Farthest point along n in body axes at size 1; of several, the one of lowest index.
template <int d>
RVec<d> farthest(const Shape<d>& shape, const RVec<d>& n) {
    if (const auto* ball = std::get_if<Ball<d>>(&shape)) return n * (ball->radius / n.norm());
    if (const auto* e = std::get_if<Ellipsoid<d>>(&shape)) {
        const RVec<d> semi = e->semi.template cast<Real>();
        const RVec<d> u = semi.cwiseProduct(n);
        return semi.cwiseProduct(u) / u.norm();
    }
    const auto of_vertices = [&](const std::vector<Vec<d>>& vertices) {
        RVec<d> best = vertices[0].template cast<Real>();
        for (const Vec<d>& v : vertices) {
            const RVec<d> x = v.template cast<Real>();
            if (n.dot(x) > n.dot(best)) best = x;
        }
        return best;
    };
    if constexpr (d == 2) {
        return of_vertices(std::get<Polygon>(shape).vertices);
    } else {
        if (const auto* c = std::get_if<Capsule>(&shape)) {
            RVec<3> x = n * (c->radius / n.norm());
            x[2] += std::copysign(static_cast<Real>(c->half_length), n[2]);
            return x;
        }
        if (const auto* s = std::get_if<Superellipsoid>(&shape)) {
            // Dual norm by its definition: the point where Hoelder's inequality is an equality.
            const Real q1 = 2 / (2 - static_cast<Real>(s->e1)), q2 = 2 / (2 - static_cast<Real>(s->e2));
            const RVec<3> u = s->semi.template cast<Real>().cwiseProduct(n);
            const Real rho = std::pow(std::pow(std::abs(u[0]), q2) + std::pow(std::abs(u[1]), q2), 1 / q2);
            const Real h = std::pow(std::pow(rho, q1) + std::pow(std::abs(u[2]), q1), 1 / q1);
            const Real outer = std::pow(rho / h, q1 - 1);
            RVec<3> x = RVec<3>::Zero();
            if (rho > 0) {
                x[0] = s->semi[0] * outer * signed_power(u[0] / rho, q2 - 1);
                x[1] = s->semi[1] * outer * signed_power(u[1] / rho, q2 - 1);
            }
            x[2] = s->semi[2] * signed_power(u[2] / h, q1 - 1);
            return x;
        }
        return of_vertices(std::get<Polyhedron>(shape).vertices);
    }
}

/// Farthest point along n, in the world.
template <int d>
RVec<d> farthest(const Placed<d>& body, const RVec<d>& n) {
    const RMat<d> R = rotation(body.pose.rotation);
    return body.pose.position.template cast<Real>() +
           static_cast<Real>(body.size) * (R * farthest<d>(*body.shape, RVec<d>(R.transpose() * n)));
}

/// Room between the two planes of normal n that touch a and b.
template <int d>
Real separation(const Placed<d>& a, const Placed<d>& b, const RVec<d>& n) {
    return n.dot(farthest(a, RVec<d>(-n)) - farthest(b, n)) / n.norm();
}

template <class F>
Real golden(F f, Real low, Real high, int steps) {
    const Real ratio = (std::sqrt(static_cast<Real>(5)) - 1) / 2;
    Real x = high - ratio * (high - low), y = low + ratio * (high - low);
    Real fx = f(x), fy = f(y);
    for (int i = 0; i < steps; ++i) {
        if (fx < fy) {
            low = x, x = y, fx = fy, y = low + ratio * (high - low), fy = f(y);
        } else {
            high = y, y = x, fy = fx, x = high - ratio * (high - low), fx = f(x);
        }
    }
    return std::max(fx, fy);
}

/// The largest separation over the normals about n, within `window` (rad, about): golden sections nested in each other
/// on the tangent plane. For shapes apart the function is quasi-concave there, so that nothing is missed; smooth or not
/// does not matter.
template <int d>
Real largest_separation(const Placed<d>& a, const Placed<d>& b, const RVec<d>& n, Real window, int steps) {
    if constexpr (d == 2) {
        const RVec<2> t(-n[1], n[0]);
        return golden([&](Real x) { return separation<2>(a, b, n + x * t); }, -window, window, steps);
    } else {
        Eigen::Index axis = 0;
        n.cwiseAbs().minCoeff(&axis);
        const RVec<3> t1 = n.cross(RVec<3>::Unit(axis)).normalized(), t2 = n.cross(t1);
        return golden(
            [&](Real x) {
                return golden([&](Real y) { return separation<3>(a, b, n + x * t1 + y * t2); }, -window,
                              window, steps);
            },
            -window, window, steps);
    }
}

/// The best of a set of normals spread over the sphere: which maximum is the global one.
template <int d>
RVec<d> best_normal(const Placed<d>& a, const Placed<d>& b, int count) {
    RVec<d> best = RVec<d>::Unit(0);
    Real best_value = -std::numeric_limits<Real>::infinity();
    const Real turn = static_cast<Real>(M_PI) * (3 - std::sqrt(static_cast<Real>(5)));
    for (int i = 0; i < count; ++i) {
        RVec<d> n;
        if constexpr (d == 2) {
            n = RVec<2>(std::cos(2 * M_PI * i / count), std::sin(2 * M_PI * i / count));
        } else {
            const Real z = 1 - (2 * i + static_cast<Real>(1)) / count, r = std::sqrt(1 - z * z);
            n = RVec<3>(r * std::cos(turn * i), r * std::sin(turn * i), z);
        }
        const Real value = separation(a, b, n);
        if (value > best_value) best_value = value, best = n;
    }
    return best;
}

struct Random {
    std::mt19937_64 engine;
    explicit Random(unsigned seed) : engine(seed) {}
    double in(double low, double high) {
        // 53 bits by hand: the standard's distributions differ between libraries.
        return low + (high - low) * (static_cast<double>(engine() >> 11) * 0x1p-53);
    }
    double log_in(double low, double high) { return std::exp(in(std::log(low), std::log(high))); }
    int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
    double normal() { return std::sqrt(-2 * std::log(1 - in(0, 1))) * std::cos(2 * M_PI * in(0, 1)); }
    template <int d>
    Vec<d> direction() {
        Vec<d> x;
        do {
            for (int i = 0; i < d; ++i) x[i] = normal();
        } while (x.norm() < 1e-3);
        return x.normalized();
    }
    template <int d>
    Rotation<d> rotation() {
        Rotation<d> r;
        if constexpr (d == 2) {
            r.angle = in(0, 2 * M_PI);
        } else {
            r.q.coeffs() << normal(), normal(), normal(), normal();
            r.q.normalize();
        }
        return r;
    }
    template <int d>
    Vec<d> semi(double aspect) {
        Vec<d> x;
        for (int i = 0; i < d; ++i) x[i] = log_in(1 / aspect, 1);
        return x;
    }
};

/// Moves a so that its point of normal -n (unit) is at `gap` along n from b's point of normal n (or from `b_point`,
/// which n must be normal to). Returns the distance this makes, exact where the maximum is the one meant.
template <int d>
Distance<d> place(Placed<d>& a, const Placed<d>& b, const RVec<d>& normal, double gap,
                  const RVec<d>* b_point = nullptr) {
    const RVec<d> on_b = b_point ? *b_point : farthest(b, normal);
    const RVec<d> wanted = on_b + static_cast<Real>(gap) * normal;
    const RVec<d> shift = wanted - farthest(a, RVec<d>(-normal));
    a.pose.position = (a.pose.position.template cast<Real>() + shift).template cast<double>();
    Distance<d> out;
    out.gap = gap;
    out.normal = normal.template cast<double>();
    out.point_a = wanted.template cast<double>();
    out.point_b = on_b.template cast<double>();
    return out;
}

}  // namespace drystone::reference
