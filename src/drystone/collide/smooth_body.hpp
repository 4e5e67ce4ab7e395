// Support points and radii of curvature of the smooth shapes, in world axes: what Newton's method needs (see
// smooth.hpp).
#pragma once

#include "drystone/collide/narrow.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

/// A placed ellipsoid or superellipsoid about its own centre; both are symmetric, so h(-n) = h(n).
template <int d>
struct SmoothBody {
    Mat<d> R = Mat<d>::Identity();  ///< from body axes to the world's
    Mat<d> Q = Mat<d>::Zero();      ///< R diag(semi^2) R^T
    Vec<d> semi = Vec<d>::Zero();   ///< at its size, m
    double q1 = 2, q2 = 2;          ///< superellipsoid: exponents of the dual norms, 2 / (2 - e)
    bool super = false;
};

/// Where the outward normal is n, from the centre; and the Hessian of h there: its eigenvalues across n are the
/// principal radii of curvature, n itself is in its null space.
template <int d>
struct CurvedPoint {
    Vec<d> s;
    Mat<d> W;
};

/// |x|^e for x >= 0.
inline double power(double x, double e) { return e == 1 ? x : std::pow(x, e); }

/// Norm (|x|^q + |y|^q)^(1/q) of two numbers, with what Newton needs of it.
struct PlaneNorm {
    double norm;
    double x, y;     ///< the arguments over the norm
    double dx, dy;   ///< gradient
    double bending;  ///< the Hessian is bending / norm * (-y, x) (-y, x)^T, in the scaled arguments

    PlaneNorm(double x_in, double y_in, double q) {
        const double ax = std::abs(x_in), ay = std::abs(y_in);
        const double large = std::max(ax, ay), small = std::min(ax, ay);
        if (large == 0) {
            norm = 0, x = 1, y = 0, dx = 1, dy = 0, bending = 0;
            return;
        }
        if (q == 2) {
            norm = std::sqrt(ax * ax + ay * ay);
            x = x_in / norm, y = y_in / norm, dx = x, dy = y, bending = 1;
            return;
        }
        const double ratio = small / large;
        const double tail = std::pow(ratio, q);
        const double scaled = std::pow(1 + tail, 1 / q);
        norm = large * scaled;
        x = x_in / norm, y = y_in / norm;
        // (1 / scaled)^(q - 1) = scaled / (1 + tail).
        const double d_large = scaled / (1 + tail);
        const double d_small = ratio > 0 ? d_large * (tail / ratio) : 0;
        dx = std::copysign(ax >= ay ? d_large : d_small, x_in);
        dy = std::copysign(ax >= ay ? d_small : d_large, y_in);
        // The radius of curvature is infinite on the axes for q < 2 (a face's centre) and zero for q > 2 (a tip). The
        // floor keeps the former finite; it changes the step, not the point it converges to.
        const double floored = std::max(ratio, 1e-10);
        const double f_large = 1 / scaled, f_small = floored / scaled;
        const double f_tail = floored == ratio ? tail : std::pow(floored, q);
        // (q - 1) (x y)^(q - 2)
        bending = (q - 1) * (d_large / f_large) * (d_large * f_tail / floored / f_small);
    }
};

CurvedPoint<3> curved_point_super(const SmoothBody<3>& body, const Vec<3>& n);

template <int d>
inline CurvedPoint<d> curved_point(const SmoothBody<d>& body, const Vec<d>& n) {
    if constexpr (d == 3) {
        if (body.super) return curved_point_super(body, n);
    }
    CurvedPoint<d> at;
    const Vec<d> Qn = body.Q * n;
    const double h = std::sqrt(std::max(n.dot(Qn), std::numeric_limits<double>::min()));
    at.s = Qn / h;
    at.W = (body.Q - at.s * at.s.transpose()) / h;
    return at;
}

/// Flat faces (e < 1, q < 2) make the point race while the normal hardly turns, and Newton's method on the normal
/// overshoots. The same step taken along the surface and turned back into a normal does not. This returns that normal
/// less n + dn: a correction of second order in dn, zero for bodies without such faces.
Vec<3> bend_step(const SmoothBody<3>& body, const CurvedPoint<3>& at, const Vec<3>& n, const Vec<3>& dn);

/// Whether bend_step has anything to say.
template <int d>
inline bool has_faces(const SmoothBody<d>& body) {
    return body.super && (body.q1 < 2 || body.q2 < 2);
}

/// Whether a shape is one that make_smooth_body takes.
template <int d>
inline bool is_smooth(const Shape<d>& shape) {
    if constexpr (d == 3) {
        if (std::holds_alternative<Superellipsoid>(shape)) return true;
    }
    return std::holds_alternative<Ellipsoid<d>>(shape);
}

template <int d>
SmoothBody<d> make_smooth_body(const Placed<d>& placed);

}  // namespace drystone
