#include "drystone/collide/smooth_body.hpp"

namespace drystone {

template <int d>
SmoothBody<d> make_smooth_body(const Placed<d>& placed) {
    SmoothBody<d> body;
    body.R = matrix(placed.pose.rotation);
    if (const auto* ellipsoid = std::get_if<Ellipsoid<d>>(placed.shape))
        body.semi = placed.size * ellipsoid->semi;
    if constexpr (d == 3) {
        if (const auto* super = std::get_if<Superellipsoid>(placed.shape)) {
            body.semi = placed.size * super->semi;
            body.q1 = 2 / (2 - super->e1);
            body.q2 = 2 / (2 - super->e2);
            body.super = super->e1 != 1 || super->e2 != 1;
        }
    }
    body.Q = body.R * body.semi.cwiseAbs2().asDiagonal() * body.R.transpose();
    return body;
}

template SmoothBody<2> make_smooth_body<2>(const Placed<2>&);
template SmoothBody<3> make_smooth_body<3>(const Placed<3>&);

// The body is the unit ball of the norm |(|(x/a, y/b)|_p2, z/c)|_p1 with p = 2/e, so its support function is the dual
// norm h(n) = |(|(a nx, b ny)|_q2, c nz)|_q1. Each of the two levels bends in one direction only: the Hessian is a sum
// of two squares.
CurvedPoint<3> curved_point_super(const SmoothBody<3>& body, const Vec<3>& n) {
    const Vec<3> u = body.semi.cwiseProduct(body.R.transpose() * n);
    const PlaneNorm inner(u[0], u[1], body.q2);
    const PlaneNorm outer(inner.norm, u[2], body.q1);

    const Vec<3> grad_rho(body.semi[0] * inner.dx, body.semi[1] * inner.dy, 0);
    Vec<3> s = outer.dx * grad_rho;
    s[2] = body.semi[2] * outer.dy;

    Vec<3> across = outer.y * grad_rho;
    across[2] = -outer.x * body.semi[2];
    const Vec<3> around(-inner.y * body.semi[0], inner.x * body.semi[1], 0);
    // outer.dx / inner.norm is 0 / 0 at the poles; the floor gives it the size it has a little way off.
    const double rho = std::max(inner.norm, 1e-10 * outer.norm);
    const double slope = rho == inner.norm ? outer.dx : power(rho / outer.norm, body.q1 - 1);

    CurvedPoint<3> at;
    at.s = body.R * s;
    const Vec<3> t1 = body.R * across, t2 = body.R * around;
    at.W = (outer.bending / outer.norm) * t1 * t1.transpose() +
           (slope * inner.bending / rho) * t2 * t2.transpose();
    return at;
}

Vec<3> bend_step(const SmoothBody<3>& body, const CurvedPoint<3>& at, const Vec<3>& n, const Vec<3>& dn) {
    const Vec<3> plain = n + dn;
    const Vec<3> normal = body.R.transpose() * plain;
    const Vec<3> x = (body.R.transpose() * (at.s + at.W * dn)).cwiseQuotient(body.semi);
    const Vec<3> u = body.semi.cwiseProduct(normal);

    // On each level the exponents of point and normal are conjugate: the map from the one whose exponent is below 2 is
    // the smooth one. Gradients of the norm of the point are arguments of the dual norm.
    const PlaneNorm point_inner(x[0], x[1], body.q2 / (body.q2 - 1));
    const PlaneNorm normal_inner(u[0], u[1], body.q2);
    const bool inner_by_point = body.q2 < 2;
    const double ux = inner_by_point ? point_inner.dx : normal_inner.x;
    const double uy = inner_by_point ? point_inner.dy : normal_inner.y;

    double rho, w;
    if (body.q1 < 2) {
        const PlaneNorm point_outer(point_inner.norm, x[2], body.q1 / (body.q1 - 1));
        rho = point_outer.dx, w = point_outer.dy;
    } else {
        rho = normal_inner.norm, w = u[2];
    }
    Vec<3> bent = Vec<3>(rho * ux, rho * uy, w).cwiseQuotient(body.semi);
    const double norm = bent.norm();
    if (!(norm > 0) || !std::isfinite(norm)) return Vec<3>::Zero();
    bent = body.R * bent;
    const double along = n.dot(bent);  // to the plane of n + dn, n . n' = 1
    if (along < 0.1 * norm) return Vec<3>::Zero();
    return bent / along - plain;
}

}  // namespace drystone
