#include "drystone/cone/complementarity.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

std::span<const double> as_span(const ConstBlock& x) {
    return {x.data(), static_cast<std::size_t>(x.size())};
}

bool is_frictionless(const Cone& cone) { return cone.kind == ConeKind::ray || cone.mu() == 0; }

/// Scalar function on the normal part; tangential impulses must vanish.
Complementarity scalar_fischer_burmeister(ConstBlock u, ConstBlock r, double rho) {
    const auto d = r.size();
    Complementarity out{-r, BlockMatrix::Zero(d, d), -BlockMatrix::Identity(d, d)};
    const double x = rho * u[0], y = r[0], q = std::hypot(x, y);
    out.value[0] = q - x - y;
    // At the kink any element of the generalised Jacobian will do; this is its middle.
    out.by_u(0, 0) = rho * ((q > 0 ? x / q : std::sqrt(0.5)) - 1);
    out.by_r(0, 0) = (q > 0 ? y / q : std::sqrt(0.5)) - 1;
    return out;
}

/// The matrix of the Jordan product: L_x y = x o y.
BlockMatrix jordan_matrix(const BlockVector& x) {
    const auto d = x.size();
    BlockMatrix L = x[0] * BlockMatrix::Identity(d, d);
    L.row(0).tail(d - 1) = x.tail(d - 1).transpose();
    L.col(0).tail(d - 1) = x.tail(d - 1);
    return L;
}

/// (x o x + y o y)^(1/2) by its spectral values (eq. 18).
struct JordanRoot {
    BlockVector z;
    double low = 0, high = 0;  // eigenvalues of z o z
};

JordanRoot jordan_root(const BlockVector& x, const BlockVector& y) {
    const auto d = x.size();
    BlockVector w = x[0] * x.tail(d - 1) + y[0] * y.tail(d - 1);
    const double S = x.squaredNorm() + y.squaredNorm(), length = w.norm();
    JordanRoot root;
    root.low = std::max(0.0, S - 2 * length);
    root.high = S + 2 * length;
    if (length > 0) {
        w /= length;
    } else {
        w.setZero();
        w[0] = 1;
    }
    root.z.resize(d);
    root.z[0] = 0.5 * (std::sqrt(root.low) + std::sqrt(root.high));
    root.z.tail(d - 1) = 0.5 * (std::sqrt(root.high) - std::sqrt(root.low)) * w;
    return root;
}

struct Scaled {
    BlockVector u, r;
};

/// u and r carried to the self-dual cone: (rho (u_N + s), rho mu u_T) and (mu r_N, r_T).
Scaled to_self_dual(const Cone& cone, ConstBlock u, ConstBlock r, double rho, Law law) {
    Scaled out{u, r};
    out.u[0] += shift(cone, as_span(u), law);
    out.u.tail(u.size() - 1) *= cone.mu();
    out.u *= rho;
    out.r[0] *= cone.mu();
    return out;
}

double disc_radius(const ConeGroup& g, double normal) { return g.offset + g.mu * std::max(0.0, normal); }

}  // namespace

BlockVector fischer_burmeister(const Cone& cone, ConstBlock u, ConstBlock r, double rho, Law law) {
    if (is_frictionless(cone)) return scalar_fischer_burmeister(u, r, rho).value;
    const Scaled s = to_self_dual(cone, u, r, rho, law);
    return jordan_root(s.u, s.r).z - s.u - s.r;
}

Complementarity fischer_burmeister_derivatives(const Cone& cone, ConstBlock u, ConstBlock r, double rho,
                                               Law law) {
    if (is_frictionless(cone)) return scalar_fischer_burmeister(u, r, rho);
    const auto d = r.size();
    const double mu = cone.mu();
    const Scaled s = to_self_dual(cone, u, r, rho, law);
    const JordanRoot root = jordan_root(s.u, s.r);
    Complementarity out;
    out.value = root.z - s.u - s.r;
    BlockMatrix by_u(d, d), by_r(d, d);
    const double det = std::sqrt(root.low * root.high);
    if (!(det >
          1e-15 *
              root.high)) {  // z on the boundary of the cone (or zero): one element of the generalised Jacobian
        const double q = std::hypot(s.u[0], s.r[0]);
        by_u = ((q > 0 ? s.u[0] / q : std::sqrt(0.5)) - 1) * BlockMatrix::Identity(d, d);
        by_r = ((q > 0 ? s.r[0] / q : std::sqrt(0.5)) - 1) * BlockMatrix::Identity(d, d);
    } else {
        const double z0 = root.z[0];
        const BlockVector zt = root.z.tail(d - 1);
        BlockMatrix inverse(d, d);  // of the Jordan matrix of z
        inverse(0, 0) = z0;
        inverse.row(0).tail(d - 1) = -zt.transpose();
        inverse.col(0).tail(d - 1) = -zt;
        inverse.bottomRightCorner(d - 1, d - 1) =
            (det / z0) * BlockMatrix::Identity(d - 1, d - 1) + zt * zt.transpose() / z0;
        inverse /= det;
        by_u = inverse * jordan_matrix(s.u) - BlockMatrix::Identity(d, d);
        by_r = inverse * jordan_matrix(s.r) - BlockMatrix::Identity(d, d);
    }
    // Chain rule through the scaling and the shift.
    BlockMatrix scale_u = mu * BlockMatrix::Identity(d, d);
    scale_u(0, 0) = 1;
    const double slip = u.tail(d - 1).norm();
    if (slip > 0)
        scale_u.row(0).tail(d - 1) += (1 - cone.dilatancy_by(law)) * mu * u.tail(d - 1).transpose() / slip;
    out.by_u = by_u * (rho * scale_u);
    out.by_r = by_r;
    out.by_r.col(0) *= mu;
    return out;
}

BlockVector alart_curnier(const Cone& cone, ConstBlock u, ConstBlock r, double xi) {
    BlockVector out = -r;
    out[0] = std::max(0.0, r[0] - xi * u[0]) - r[0];
    for (const ConeGroup& g : groups_of(cone)) {
        BlockVector y = r.segment(g.start, g.size) - xi * u.segment(g.start, g.size);
        const double radius = disc_radius(g, r[0]), length = y.norm();
        if (length > radius) y *= radius / length;
        out.segment(g.start, g.size) += y;
    }
    return out;
}

Complementarity alart_curnier_derivatives(const Cone& cone, ConstBlock u, ConstBlock r, double xi) {
    const auto d = r.size();
    Complementarity out{alart_curnier(cone, u, r, xi), BlockMatrix::Zero(d, d), BlockMatrix::Zero(d, d)};
    if (r[0] - xi * u[0] > 0) {
        out.by_u(0, 0) = -xi;
    } else {
        out.by_r(0, 0) = -1;
    }
    for (const ConeGroup& g : groups_of(cone)) {
        const BlockVector y = r.segment(g.start, g.size) - xi * u.segment(g.start, g.size);
        const double radius = disc_radius(g, r[0]), length = y.norm();
        auto by_u = out.by_u.block(g.start, g.start, g.size, g.size);
        auto by_r = out.by_r.block(g.start, g.start, g.size, g.size);
        if (length <= radius) {
            by_u.diagonal().setConstant(-xi);
            continue;
        }
        const BlockVector e = y / length;
        const BlockMatrix P = (radius / length) * (BlockMatrix::Identity(g.size, g.size) - e * e.transpose());
        by_u = -xi * P;
        by_r = P - BlockMatrix::Identity(g.size, g.size);
        if (r[0] > 0) out.by_r.col(0).segment(g.start, g.size) = g.mu * e;
    }
    return out;
}

BlockVector natural_map(const Cone& cone, ConstBlock u, ConstBlock r, double xi, Law law) {
    BlockVector x = r - xi * u;
    x[0] -= xi * shift(cone, as_span(u), law);
    project(cone, {x.data(), static_cast<std::size_t>(x.size())});
    return x - r;
}

double bipotential_gap(const Cone& cone, ConstBlock u, ConstBlock r) {
    return shift(cone, as_span(u)) * r[0] + u.dot(r);
}

ContactState classify(const Cone& cone, ConstBlock u, ConstBlock r, double tolerance) {
    const auto d = r.size();
    const double slip = u.tail(d - 1).norm(), grip = r.tail(d - 1).norm(), limit = cone.mu() * r[0];
    if (r.norm() <= tolerance && u[0] >= -tolerance) return ContactState::open;
    if (u.norm() <= tolerance && grip <= limit + tolerance) return ContactState::sticking;
    const bool on_boundary = std::abs(grip - limit) <= tolerance * (1 + cone.mu());
    const bool opposed = (slip * r.tail(d - 1) + grip * u.tail(d - 1)).norm() <= tolerance * (slip + grip);
    if (std::abs(u[0]) <= tolerance && on_boundary && opposed) return ContactState::sliding;
    return ContactState::impossible;
}

}  // namespace drystone
