#include "drystone/bodies/free_rotation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace drystone {

template <int d>
Spin<d> momentum_of(const Rotation<d>& rotation, const Spin<d>& moments, const Spin<d>& spin) {
    if constexpr (d == 2) {
        return moments.cwiseProduct(spin);
    } else {
        const Mat<3> R = matrix(rotation);
        return R * moments.cwiseProduct(R.transpose() * spin);
    }
}

template <int d>
Spin<d> spin_of(const Rotation<d>& rotation, const Spin<d>& moments, const Spin<d>& momentum) {
    if constexpr (d == 2) {
        return momentum.cwiseQuotient(moments);
    } else {
        const Mat<3> R = matrix(rotation);
        return R * (R.transpose() * momentum).cwiseQuotient(moments);
    }
}

namespace {

using Quaternion = Eigen::Quaterniond;

Quaternion about(const Vec<3>& axis, double angle) {
    Quaternion q;
    q.w() = std::cos(0.5 * angle);
    q.vec() = std::sin(0.5 * angle) * axis;
    return q;
}

/// A body that turns: q from its axes to the world's, l its angular momentum in its own axes.
struct Turning {
    Quaternion q;
    Vec<3> l;

    /// About a principal axis of the body; the angular momentum stays where it is in space.
    void turn_about(int axis, double angle) {
        const Vec<3> e = Vec<3>::Unit(axis);
        q = q * about(e, angle);
        const int a = (axis + 1) % 3, b = (axis + 2) % 3;
        const double c = std::cos(angle), s = std::sin(angle), x = l[a], y = l[b];
        l[a] = c * x + s * y;
        l[b] = c * y - s * x;
    }
};

/// The shortest turn from one unit vector to another. (Eigen's takes a singular value decomposition where they are
/// opposite; a perpendicular will do.)
Quaternion turn_between(const Vec<3>& from, const Vec<3>& to) {
    const double c = to.dot(from);
    if (c < -1 + 1e-12) {
        const Vec<3> axis = from.unitOrthogonal();
        return {0, axis[0], axis[1], axis[2]};
    }
    const Vec<3> axis = from.cross(to);
    const double s = std::sqrt((1 + c) * 2), over = 1 / s;
    return {s * 0.5, axis[0] * over, axis[1] * over, axis[2] * over};
}

/// Turns the body so that its angular momentum, which stays where it is in space, becomes `l` in its own axes.
void turn_momentum(const Vec<3>& l, Turning& body) {
    body.q = body.q * turn_between(l.normalized(), body.l.normalized());
    body.l = l;
}

/// A little, along the great circle through l that climbs in energy fastest, until l has the energy. False if there is
/// no such place nearby.
bool restore_along_slope(const Vec<3>& inverse, double energy, Turning& body) {
    const double size = body.l.norm();
    const Vec<3> along = body.l / size, spin = inverse.cwiseProduct(body.l);
    Vec<3> across = spin - along.dot(spin) * along;
    const double slope = across.norm();
    if (slope <= 1e-8 * spin.norm()) return false;
    across /= slope;
    // 1/2 l(s).l(s)/I for l(s) = size (cos s along + sin s across), by Newton from s = 0.
    const double aa = along.dot(inverse.cwiseProduct(along)), bb = across.dot(inverse.cwiseProduct(across)),
                 ab = along.dot(inverse.cwiseProduct(across)), wanted = 2 * energy / (size * size);
    double s = 0, missing = 0;
    for (int k = 0; k < 4; ++k) {
        const double c = std::cos(s), t = std::sin(s);
        missing = aa * c * c + 2 * ab * c * t + bb * t * t - wanted;
        const double rate = 2 * (ab * (c * c - t * t) + (bb - aa) * c * t);
        if (rate == 0) break;
        s -= missing / rate;
    }
    if (!(std::abs(s) < 0.1) || !(std::abs(missing) <= 1e-12 * wanted)) return false;
    turn_momentum(size * (std::cos(s) * along + std::sin(s) * across), body);
    return true;
}

/// Anywhere: energy and size of l are linear in the squares of its components, which are moved between the axis of the
/// largest inverse moment and that of the smallest, and with the middle one where that is not enough.
void restore_by_squares(const Vec<3>& inverse, double energy, Turning& body) {
    std::array<int, 3> axis = {0, 1, 2};
    std::sort(axis.begin(), axis.end(), [&](int a, int b) { return inverse[a] < inverse[b]; });
    Vec<3> square = body.l.cwiseAbs2();
    const double missing = 2 * energy - square.dot(inverse);
    if (missing < 0) std::reverse(axis.begin(), axis.end());
    double left = std::abs(missing);  // to be moved from the front of `axis` to its back
    for (const auto& [from, to] : {std::pair{axis[0], axis[2]}, {axis[1], axis[2]}, {axis[0], axis[1]}}) {
        const double apart = std::abs(inverse[to] - inverse[from]);
        if (apart == 0) continue;
        const double moved = std::min(square[from], left / apart);
        square[from] -= moved;
        square[to] += moved;
        left -= moved * apart;
    }
    Vec<3> l = square.cwiseSqrt();
    for (int k = 0; k < 3; ++k) l[k] = std::copysign(l[k], body.l[k]);
    turn_momentum(l, body);
}

/// Turns the body a little so that l has the energy that it had.
void restore_energy(const Vec<3>& inverse, double energy, Turning& body) {
    const double now = 0.5 * body.l.dot(inverse.cwiseProduct(body.l));
    if (std::abs(now - energy) <= 1e-15 * energy) return;
    if (!restore_along_slope(inverse, energy, body)) restore_by_squares(inverse, energy, body);
}

}  // namespace

Rotation<2> turn_freely(const Rotation<2>& rotation, const Spin<2>& moments, const Spin<2>& L, double h) {
    return turn(rotation, Spin<2>(h * L.cwiseQuotient(moments)));
}

Rotation<3> turn_freely(const Rotation<3>& rotation, const Spin<3>& moments, const Spin<3>& L, double h) {
    if (L.isZero(0) || h == 0) return rotation;
    if (turns_alike<3>(moments)) return turn(rotation, Spin<3>(h / moments[0] * L));
    const Vec<3> inverse = moments.cwiseInverse();
    // Axes 1 and 2: those whose inverse moments differ least.
    const auto apart = [&](int third) {
        return std::abs(inverse[(third + 1) % 3] - inverse[(third + 2) % 3]);
    };
    int third = 0;
    for (int k = 1; k < 3; ++k)
        if (apart(k) < apart(third)) third = k;
    const int first = (third + 1) % 3, second = (third + 2) % 3;
    const double rest = inverse[second] - inverse[first], top = inverse[third] - inverse[first];

    Turning body{Quaternion(rotation.q), Quaternion(rotation.q).conjugate() * L};
    const double energy = 0.5 * body.l.dot(inverse.cwiseProduct(body.l));
    // The error of a part is that of the product of its two angles; a body that turns by many radians is not followed
    // in every detail.
    constexpr double angle = 0.1;
    constexpr int most_parts = 100;
    const double turned = std::abs(h) * L.norm() * std::sqrt(std::abs(rest * top));
    const int parts = static_cast<int>(std::clamp(std::ceil(turned / angle), 1.0, double{most_parts}));
    const double part = h / parts;
    const Quaternion about_L = about(L.normalized(), L.norm() * inverse[first] * part);
    for (int k = 0; k < parts; ++k) {
        body.turn_about(second, 0.5 * part * rest * body.l[second]);
        body.q = about_L * body.q;
        body.turn_about(third, part * top * body.l[third]);
        body.turn_about(second, 0.5 * part * rest * body.l[second]);
    }
    if (rest != 0) restore_energy(inverse, energy, body);
    Rotation<3> turned_to;
    turned_to.q = body.q.normalized();
    return turned_to;
}

template Spin<2> momentum_of<2>(const Rotation<2>&, const Spin<2>&, const Spin<2>&);
template Spin<3> momentum_of<3>(const Rotation<3>&, const Spin<3>&, const Spin<3>&);
template Spin<2> spin_of<2>(const Rotation<2>&, const Spin<2>&, const Spin<2>&);
template Spin<3> spin_of<3>(const Rotation<3>&, const Spin<3>&, const Spin<3>&);

}  // namespace drystone
