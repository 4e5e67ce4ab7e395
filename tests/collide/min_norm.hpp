// Distance of convex bodies by the nearest point of their difference to the origin (Gilbert, Johnson, Keerthi 1988), in
// long double and as plain as can be: the sub-simplex is found by trying all of them. Nothing is shared with the code
// under test. It ends with a bound on either side: `upper` is the length of a vector between two points of the bodies,
// `lower` the room between two planes.
#pragma once

#include "collide/smooth_reference.hpp"

#include <Eigen/LU>

namespace drystone::reference {

/// A convex body: all points within `radius` of its core.
template <int d>
struct Core {
    const Placed<d>* body = nullptr;
    std::vector<RVec<d>> corners;  ///< in the world; empty: the core is the body, by its support function
    RMat<d> R;
    RVec<d> x;
    Real radius = 0;

    explicit Core(const Placed<d>& placed)
        : body(&placed), R(rotation(placed.pose.rotation)), x(placed.pose.position.template cast<Real>()) {
        if (const auto* ball = std::get_if<Ball<d>>(placed.shape)) {
            corners = {x};
            radius = static_cast<Real>(placed.size) * ball->radius;
        }
        const auto add = [&](const Vec<d>& v) {
            corners.push_back(x + static_cast<Real>(placed.size) * (R * v.template cast<Real>()));
        };
        if constexpr (d == 2) {
            if (const auto* p = std::get_if<Polygon>(placed.shape))
                for (const Vec<2>& v : p->vertices) add(v);
        } else {
            if (const auto* c = std::get_if<Capsule>(placed.shape)) {
                add(Vec<3>(0, 0, -c->half_length));
                add(Vec<3>(0, 0, c->half_length));
                radius = static_cast<Real>(placed.size) * c->radius;
            }
            if (const auto* p = std::get_if<Polyhedron>(placed.shape))
                for (const Vec<3>& v : p->vertices) add(v);
        }
    }
    explicit Core(std::vector<RVec<d>> points) : corners(std::move(points)), R(RMat<d>::Identity()) {
        x.setZero();
        for (const RVec<d>& p : corners) x += p / static_cast<Real>(corners.size());
    }
    [[nodiscard]] RVec<d> farthest_along(const RVec<d>& n) const {
        if (corners.empty())
            return x + static_cast<Real>(body->size) *
                           (R * farthest<d>(*body->shape, RVec<d>(R.transpose() * n)));
        const RVec<d>* best = &corners[0];
        for (const RVec<d>& p : corners)
            if (n.dot(p) > n.dot(*best)) best = &p;
        return *best;
    }
};

template <int d>
struct Bracket {
    Real lower = -std::numeric_limits<Real>::infinity(), upper = std::numeric_limits<Real>::infinity();
    RVec<d> normal = RVec<d>::Zero();  ///< from b to a, unit; zero where the cores overlap
    Real core = 0;                     ///< distance of the cores
    RVec<d> on_b = RVec<d>::Zero();
};

/// Point of the simplex nearest to the origin; keeps the corners that carry it, and the points of b they came from.
template <int d>
RVec<d> nearest_of(std::vector<RVec<d>>& w, std::vector<RVec<d>>& on_b, RVec<d>& at_b) {
    using Small = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, 0, d, d>;
    using Weights = Eigen::Matrix<Real, Eigen::Dynamic, 1, 0, d, 1>;
    Real least = std::numeric_limits<Real>::infinity();
    RVec<d> best = w[0];
    unsigned best_set = 1;
    for (unsigned set = 1; set < 1U << w.size(); ++set) {
        std::vector<int> in;
        for (int i = 0; i < static_cast<int>(w.size()); ++i)
            if (set >> i & 1U) in.push_back(i);
        const int m = static_cast<int>(in.size()) - 1;
        if (m > d) continue;
        Weights t(m);
        if (m > 0) {
            Small G(m, m);
            Weights g(m);
            for (int i = 0; i < m; ++i) {
                const RVec<d> e = w[in[i + 1]] - w[in[0]];
                g[i] = -e.dot(w[in[0]]);
                for (int j = 0; j < m; ++j) G(i, j) = e.dot(w[in[j + 1]] - w[in[0]]);
            }
            const Eigen::FullPivLU<Small> lu(G);
            if (lu.rank() < m) continue;
            t = lu.solve(g);
            if (!(t.minCoeff() >= 0 && t.sum() <= 1)) continue;
        }
        RVec<d> x = w[in[0]], b = on_b[in[0]];
        for (int i = 0; i < m; ++i) {
            x += t[i] * (w[in[i + 1]] - w[in[0]]);
            b += t[i] * (on_b[in[i + 1]] - on_b[in[0]]);
        }
        if (x.norm() < least) least = x.norm(), best = x, best_set = set, at_b = b;
    }
    std::vector<RVec<d>> kept, kept_b;
    for (std::size_t i = 0; i < w.size(); ++i)
        if (best_set >> i & 1U) kept.push_back(w[i]), kept_b.push_back(on_b[i]);
    w = kept;
    on_b = kept_b;
    return best;
}

/// Bounds on the gap; stops early once it is known to be above `above` or not above `below`. Overlapping cores: -radii
/// as upper bound.
template <int d>
Bracket<d> min_norm(const Core<d>& a, const Core<d>& b, Real above = std::numeric_limits<Real>::infinity(),
                    Real below = -std::numeric_limits<Real>::infinity()) {
    Bracket<d> out;
    const Real radii = a.radius + b.radius;
    RVec<d> x = a.x - b.x, at_b = b.x;
    if (x.norm() == 0) x = RVec<d>::Unit(0);
    std::vector<RVec<d>> w, on_b;
    bool inside = false;  // x is a point of the difference, and not only a first direction
    Real scale = 0;
    for (int iteration = 0; iteration < 500; ++iteration) {
        const RVec<d> q = b.farthest_along(x), s = a.farthest_along(RVec<d>(-x)) - q;
        scale = std::max(scale, s.norm());
        const Real room = s.dot(x) / x.norm();
        if (room - radii > out.lower) out.lower = room - radii;
        if (out.lower > above || (inside && x.norm() - room <= 1e-18L * scale)) break;
        if (std::find(w.begin(), w.end(), s) != w.end()) break;
        w.push_back(s);
        on_b.push_back(q);
        const RVec<d> next = nearest_of<d>(w, on_b, at_b);
        if (inside && next.norm() >= x.norm()) break;
        x = next;
        inside = true;
        out.upper = x.norm() - radii;
        out.core = x.norm();
        if (out.upper <= below) break;
        if (x.norm() <= 1e-16L * scale || static_cast<int>(w.size()) > d) {
            out.upper = -radii;
            out.core = 0;
            out.normal.setZero();
            return out;
        }
    }
    out.normal = x / x.norm();
    out.on_b = at_b;
    return out;
}

}  // namespace drystone::reference
