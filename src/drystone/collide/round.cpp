#include "drystone/collide/round.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// Unit vector along x, or a fixed one where x is zero: concentric balls have no normal of their own.
template <int d>
Vec<d> unit_or_last(const Vec<d>& x) {
    const double norm = x.norm();
    return norm > 0 ? Vec<d>(x / norm) : Vec<d>(Vec<d>::Unit(d - 1));
}

/// From points of the two cores to points of the two surfaces.
template <int d>
Distance<d> swell(const Vec<d>& x_a, double r_a, const Vec<d>& x_b, double r_b, const Vec<d>& normal) {
    return {normal.dot(x_a - x_b) - r_a - r_b, x_a - r_a * normal, x_b + r_b * normal, normal};
}

/// Parameter in [0, 1] of the point of the segment nearest to x.
template <int d>
double nearest_parameter(const Vec<d>& x, const Vec<d>& start, const Vec<d>& along) {
    const double square = along.squaredNorm();
    return square > 0 ? std::clamp((x - start).dot(along) / square, 0.0, 1.0) : 0.0;
}

/// Nearest points of two segments. The quadratic in two unknowns is solved with clamping (Ericson, Real-Time
/// Collision Detection, 5.1.9); the first unknown is then found again from the second, so that the difference
/// of the points is perpendicular to the first segment to rounding.
template <int d>
void nearest_parameters(const RoundCore<d>& a, const RoundCore<d>& b, double& s, double& t) {
    const Vec<d> u = a.end[1] - a.end[0], v = b.end[1] - b.end[0], r = a.end[0] - b.end[0];
    if (!a.segment) {
        s = 0, t = b.segment ? nearest_parameter<d>(a.end[0], b.end[0], v) : 0;
        return;
    }
    if (!b.segment) {
        t = 0, s = nearest_parameter<d>(b.end[0], a.end[0], u);
        return;
    }
    const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v), ur = u.dot(r), vr = v.dot(r);
    const double determinant = uu * vv - uv * uv;
    // Parallel to rounding: any point of the shared stretch will do; take its middle so that neither order is
    // preferred.
    if (determinant <= 1e-14 * uu * vv) {
        const double at_start = -ur / uu, at_end = (uv - ur) / uu;
        const double low = std::clamp(std::min(at_start, at_end), 0.0, 1.0);
        const double high = std::clamp(std::max(at_start, at_end), 0.0, 1.0);
        s = 0.5 * (low + high);
    } else {
        s = std::clamp((uv * vr - vv * ur) / determinant, 0.0, 1.0);
    }
    t = std::clamp((uv * s + vr) / vv, 0.0, 1.0);
    s = std::clamp((uv * t - ur) / uu, 0.0, 1.0);
}

}  // namespace

template <int d>
RoundCore<d> core_of(const Ball<d>& ball, const Placed<d>& placed) {
    return {{placed.pose.position, placed.pose.position}, placed.size * ball.radius, false};
}

RoundCore<3> core_of(const Capsule& capsule, const Placed<3>& placed) {
    const Vec<3> half = placed.size * capsule.half_length * matrix(placed.pose.rotation).col(2);
    return {{placed.pose.position - half, placed.pose.position + half},
            placed.size * capsule.radius,
            capsule.half_length > 0};
}

template <int d>
Plane<d> plane_of(const Placed<d>& half_space) {
    return {matrix(half_space.pose.rotation).col(d - 1), half_space.pose.position};
}

template <int d>
Distance<d> round_round(const RoundCore<d>& a, const RoundCore<d>& b) {
    double s, t;
    nearest_parameters(a, b, s, t);
    const Vec<d> x = a.end[0] + s * (a.end[1] - a.end[0]), y = b.end[0] + t * (b.end[1] - b.end[0]);
    return swell<d>(x, a.radius, y, b.radius, unit_or_last<d>(x - y));
}

template <int d>
void touch_round_round(const RoundCore<d>& a, const RoundCore<d>& b, double reach,
                       std::vector<Touch<d>>& out) {
    const double sum = a.radius + b.radius + reach;
    if (!a.segment && !b.segment) {
        if ((a.end[0] - b.end[0]).squaredNorm() <= sum * sum) append<d>(round_round(a, b), reach, 0, out);
        return;
    }
    const Distance<d> nearest = round_round(a, b);
    if (nearest.gap > reach) return;
    // Features: 0, 1 end of a; 2, 3 end of b; 4 inside both.
    if (a.segment && b.segment) {
        const Vec<d> u = a.end[1] - a.end[0], v = b.end[1] - b.end[0];
        const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v);
        const double sine_square = std::max(0.0, 1 - uv * uv / (uu * vv));
        // Up to about 6 degrees the ends of the shared stretch may come into reach within a step, so they are
        // given as well: each with its own exact gap and normal, as the distance of a point of one core to
        // the other core.
        if (sine_square < 0.01) {
            const std::size_t first = out.size();
            const double edge = 1e-5 * std::sqrt(std::min(uu, vv));
            const auto coincides = [&](const Distance<d>& x) {
                const Vec<d> point = 0.5 * (x.point_a + x.point_b);
                for (std::size_t i = first; i < out.size(); ++i)
                    if ((out[i].point - point).squaredNorm() <= 16 * edge * edge) return true;
                return false;
            };
            for (int k = 0; k < 2; ++k) {
                const double t = (a.end[k] - b.end[0]).dot(v) / vv, slack = edge / std::sqrt(vv);
                if (t < -slack || t > 1 + slack) continue;
                const Vec<d> y = b.end[0] + std::clamp(t, 0.0, 1.0) * v;
                append<d>(swell<d>(a.end[k], a.radius, y, b.radius, unit_or_last<d>(a.end[k] - y)), reach,
                          static_cast<std::uint32_t>(k), out);
            }
            for (int k = 0; k < 2; ++k) {
                const double s = (b.end[k] - a.end[0]).dot(u) / uu, slack = edge / std::sqrt(uu);
                if (s < -slack || s > 1 + slack) continue;
                const Vec<d> x = a.end[0] + std::clamp(s, 0.0, 1.0) * u;
                const Distance<d> at_end =
                    swell<d>(x, a.radius, b.end[k], b.radius, unit_or_last<d>(x - b.end[k]));
                if (!coincides(at_end)) append<d>(at_end, reach, static_cast<std::uint32_t>(2 + k), out);
            }
            // Parallel to 1e-5: the two ends say all, the point between them would wander with rounding. 1e-5
            // because the gap between the ends is then linear to 1e-10 of the length.
            const bool parallel = sine_square < 1e-10;
            if (out.size() > first && (parallel || coincides(nearest))) return;
        }
    }
    append<d>(nearest, reach, 4, out);
}

template <int d>
Distance<d> round_plane(const RoundCore<d>& a, const Plane<d>& b) {
    const double low = (a.end[0] - b.point).dot(b.normal), high = (a.end[1] - b.point).dot(b.normal);
    const Vec<d>& x = low <= high ? a.end[0] : a.end[1];
    const double height = std::min(low, high);
    return {height - a.radius, x - a.radius * b.normal, x - height * b.normal, b.normal};
}

template <int d>
void touch_round_plane(const RoundCore<d>& a, const Plane<d>& b, double reach, std::vector<Touch<d>>& out) {
    for (int k = 0; k < (a.segment ? 2 : 1); ++k) {
        const double height = (a.end[k] - b.point).dot(b.normal), gap = height - a.radius;
        if (gap <= reach)
            out.push_back({a.end[k] - 0.5 * (height + a.radius) * b.normal, b.normal, gap,
                           static_cast<std::uint32_t>(k)});
    }
}

namespace {

template <int d, class Corners>
Distance<d> lowest_corner(const Corners& shape, const Placed<d>& a, const Plane<d>& b) {
    const Mat<d> R = matrix(a.pose.rotation);
    const Vec<d> down = R.transpose() * b.normal;
    std::size_t lowest = 0;
    double least = infinity;
    for (std::size_t i = 0; i < shape.vertices.size(); ++i) {
        const double h = shape.vertices[i].dot(down);
        if (h < least) least = h, lowest = i;
    }
    const double gap = (a.pose.position - b.point).dot(b.normal) + a.size * least;
    const Vec<d> x = a.pose.position + a.size * (R * shape.vertices[lowest]);
    return {gap, x, x - gap * b.normal, b.normal};
}

template <int d, class Corners>
void low_corners(const Corners& shape, const Placed<d>& a, const Mat<d>& R, const Plane<d>& b, double reach,
                 std::vector<Touch<d>>& out) {
    const Vec<d> down = R.transpose() * b.normal;
    const double centre = (a.pose.position - b.point).dot(b.normal);
    for (std::size_t i = 0; i < shape.vertices.size(); ++i) {
        const double gap = centre + a.size * shape.vertices[i].dot(down);
        if (gap > reach) continue;
        const Vec<d> x = a.pose.position + a.size * (R * shape.vertices[i]);
        out.push_back({x - 0.5 * gap * b.normal, b.normal, gap, static_cast<std::uint32_t>(i)});
    }
}

}  // namespace

Distance<2> corners_plane(const Polygon& shape, const Placed<2>& a, const Plane<2>& b) {
    return lowest_corner(shape, a, b);
}
Distance<3> corners_plane(const Polyhedron& shape, const Placed<3>& a, const Plane<3>& b) {
    return lowest_corner(shape, a, b);
}

void touch_corners_plane(const Polygon& shape, const Placed<2>& a, const Plane<2>& b, double reach,
                         std::vector<Touch<2>>& out) {
    const std::size_t first = out.size();
    low_corners<2>(shape, a, matrix(a.pose.rotation), b, reach, out);
    if (out.size() - first <= 2) return;
    // More than two (a reach as large as the shape): the deepest and its neighbour along the flatter edge
    // carry all there is.
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                     [](const auto& x, const auto& y) { return x.gap < y.gap; });
    out.resize(first + 2);
}

void touch_corners_plane(const Polyhedron& shape, const Placed<3>& a, const Plane<3>& b, double reach,
                         std::vector<Touch<3>>& out) {
    const std::size_t first = out.size();
    const Mat<3> R = matrix(a.pose.rotation);
    low_corners<3>(shape, a, R, b, reach, out);
    if (out.size() - first <= max_points) return;
    const Vec<3> span = out[first].point - a.pose.position;
    keep_spanning(out, first, R, 1e-5 * span.norm());
}

void keep_spanning(std::vector<Touch<3>>& out, std::size_t first, const Mat<3>& axes, double tolerance) {
    const std::size_t count = out.size() - first;
    if (count <= max_points) return;
    Touch<3>* const touch = out.data() + first;
    const Vec<3> n = touch[0].normal;
    // Two directions across n: the body's first axis that is clearly not along it, and the one perpendicular
    // to both. Not the axis that is most across it: two would often be equal, and rounding would choose.
    const Eigen::Index axis = std::abs(axes.col(0).dot(n)) < 0.9 ? 0 : 1;
    const Vec<3> e1 = (axes.col(axis) - n * n.dot(axes.col(axis))).normalized(), e2 = n.cross(e1);

    std::uint32_t chosen[max_points];
    std::size_t kept = 0;
    const auto taken = [&](std::uint32_t feature) {
        return std::find(chosen, chosen + kept, feature) != chosen + kept;
    };
    const auto take_best = [&](const auto& score) {
        double best = -infinity;
        for (std::size_t i = 0; i < count; ++i)
            if (!taken(touch[i].feature)) best = std::max(best, score(touch[i]));
        const Touch<3>* pick = nullptr;
        for (std::size_t i = 0; i < count; ++i)
            if (!taken(touch[i].feature) && score(touch[i]) >= best - tolerance &&
                (!pick || touch[i].feature < pick->feature))
                pick = &touch[i];
        if (pick) chosen[kept++] = pick->feature;
    };
    take_best([](const Touch<3>& t) { return -t.gap; });
    // Seven more directions, a seventh of a turn apart. A direction is worth less for points that are far
    // from touching.
    for (int k = 0; k < max_points - 1; ++k) {
        const double angle = 2 * 3.14159265358979323846 * k / (max_points - 1);
        const Vec<3> direction = std::cos(angle) * e1 + std::sin(angle) * e2;
        take_best([&](const Touch<3>& t) {
            return direction.dot(t.point - touch[0].point) - std::max(0.0, t.gap);
        });
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (taken(touch[i].feature)) touch[next++] = touch[i];
    out.resize(first + next);
}

template RoundCore<2> core_of(const Ball<2>&, const Placed<2>&);
template RoundCore<3> core_of(const Ball<3>&, const Placed<3>&);
template Plane<2> plane_of(const Placed<2>&);
template Plane<3> plane_of(const Placed<3>&);
template Distance<2> round_round(const RoundCore<2>&, const RoundCore<2>&);
template Distance<3> round_round(const RoundCore<3>&, const RoundCore<3>&);
template void touch_round_round(const RoundCore<2>&, const RoundCore<2>&, double, std::vector<Touch<2>>&);
template void touch_round_round(const RoundCore<3>&, const RoundCore<3>&, double, std::vector<Touch<3>>&);
template Distance<2> round_plane(const RoundCore<2>&, const Plane<2>&);
template Distance<3> round_plane(const RoundCore<3>&, const Plane<3>&);
template void touch_round_plane(const RoundCore<2>&, const Plane<2>&, double, std::vector<Touch<2>>&);
template void touch_round_plane(const RoundCore<3>&, const Plane<3>&, double, std::vector<Touch<3>>&);

}  // namespace drystone
