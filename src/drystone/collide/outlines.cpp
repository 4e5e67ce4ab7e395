// Polygons, and balls as polygons of one vertex, in the plane. The steps are those of polytopes.hpp.
#include "drystone/collide/gjk.hpp"
#include "drystone/collide/polytopes.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

Vec<2> vertex_of(const Outline& outline, Index i) {
    return outline.position + outline.size * (outline.R * outline.vertices[i]);
}

struct OutlineSupport {
    const Outline& outline;
    SupportPoint<2> operator()(const Vec<2>& direction) const {
        const Vec<2> m = outline.R.transpose() * direction;
        Index best = 0;
        double most = -infinity;
        for (Index i = 0; i < outline.vertex_count; ++i) {
            const double h = outline.vertices[i].dot(m);
            if (h > most) most = h, best = i;
        }
        return {vertex_of(outline, best), best};
    }
};

double extent_of(const Outline& outline) {
    double square = 0;
    for (Index i = 0; i < outline.vertex_count; ++i)
        square = std::max(square, outline.vertices[i].squaredNorm());
    return outline.size * std::sqrt(square);
}

double common_length(const Outline& a, const Outline& b) {
    if (a.vertex_count == 1) return extent_of(b);
    if (b.vertex_count == 1) return extent_of(a);
    return std::min(extent_of(a), extent_of(b));
}

struct EdgeAxis {
    double separation = -infinity;
    Index edge = -1, vertex = -1;
};

/// The edge of x that y is least behind.
EdgeAxis best_edge(const Outline& x, const Outline& y) {
    EdgeAxis best;
    if (x.vertex_count < 3) return best;
    const Mat<2> C = y.R.transpose() * x.R;
    const Vec<2> t = y.R.transpose() * (x.position - y.position);
    for (Index e = 0; e < x.vertex_count; ++e) {
        const Vec<2> m = C * x.normals[e];
        const double offset = x.size * x.normals[e].dot(x.vertices[e]) + m.dot(t);
        if (-offset < best.separation) continue;  // the centre of y is inside it
        double least = infinity;
        Index lowest = 0;
        for (Index i = 0; i < y.vertex_count; ++i) {
            const double h = y.vertices[i].dot(m);
            if (h < least) least = h, lowest = i;
        }
        const double separation = y.size * least - offset;
        if (separation > best.separation) best = {separation, e, lowest};
    }
    return best;
}

bool core_distance(const Outline& a, const Outline& b, double cutoff, Distance<2>& out, bool& points_known,
                   double& length) {
    GjkOptions options;
    options.cutoff = cutoff;
    options.tolerance = 1e-14;
    const GjkResult<2> found = gjk<2>(OutlineSupport{a}, OutlineSupport{b}, a.position - b.position, options);
    if (found.status == GjkStatus::far) return false;
    length = common_length(a, b);
    points_known = true;
    const bool near = found.status == GjkStatus::meeting || found.distance <= 1e-7 * length;
    if (near) {
        const EdgeAxis edge_a = best_edge(a, b), edge_b = best_edge(b, a);
        if (edge_a.separation >= edge_b.separation) {
            out.gap = edge_a.separation;
            out.normal = -(a.R * a.normals[edge_a.edge]);
            out.point_b = vertex_of(b, edge_a.vertex);
            out.point_a = out.point_b + out.gap * out.normal;
        } else {
            out.gap = edge_b.separation;
            out.normal = b.R * b.normals[edge_b.edge];
            out.point_a = vertex_of(a, edge_b.vertex);
            out.point_b = out.point_a - out.gap * out.normal;
        }
        points_known = false;
        // Corner against corner.
        const bool corners =
            found.distance > 1e-12 * length && out.gap < found.distance * (1 - 1e-10) - 1e-14 * length;
        if (!corners) return out.gap <= cutoff;
        points_known = true;
    }
    out = {found.distance, found.point_a, found.point_b, found.direction / found.distance};
    return found.distance <= cutoff;
}

/// The edge that faces a direction, or one vertex (count = 1) where both edges there are too steep.
struct FacingEdge {
    int count = 1;
    Index vertex[2] = {0, 0};
    Index edge = -1;
    Vec<2> normal = Vec<2>::Zero();
};

FacingEdge facing(const Outline& outline, const Vec<2>& direction, double length) {
    FacingEdge f;
    if (outline.vertex_count < 3) return f;
    const Vec<2> m = outline.R.transpose() * direction;
    double most = -infinity;
    for (Index i = 0; i < outline.vertex_count; ++i) most = std::max(most, outline.vertices[i].dot(m));
    const double tolerance = parallel_angle * length / outline.size;
    Index at = 0;
    while (outline.vertices[at].dot(m) < most - tolerance) ++at;
    const Index before = at > 0 ? at - 1 : outline.vertex_count - 1;
    const Index after = at + 1 < outline.vertex_count ? at + 1 : 0;
    // An edge whose both ends are farthest wins; else the one that faces the direction more, the later one in
    // a tie.
    const bool both_before = outline.vertices[before].dot(m) >= most - tolerance;
    const bool both_after = outline.vertices[after].dot(m) >= most - tolerance;
    const double cosine_before = outline.normals[before].dot(m), cosine_after = outline.normals[at].dot(m);
    const bool take_before =
        both_before != both_after ? both_before : cosine_before > cosine_after + parallel_angle;
    f.edge = take_before ? before : at;
    f.normal = outline.R * outline.normals[f.edge];
    f.vertex[0] = at;
    if ((take_before ? cosine_before : cosine_after) > 0.05) {
        f.count = 2;
        f.vertex[0] = take_before ? before : at;
        f.vertex[1] = take_before ? at : after;
    }
    return f;
}

/// An end of the stretch in common.
struct End {
    double across, height_a, height_b;
    std::uint32_t feature;
};

void outline_manifold(const Outline& a, const Outline& b, const Distance<2>& closest, double length,
                      double reach, std::vector<Touch<2>>& out) {
    Vec<2> n = closest.normal;
    const FacingEdge edge_a = facing(a, -n, length), edge_b = facing(b, n, length);
    const bool along_a =
        edge_a.edge >= 0 && (edge_a.normal + n).squaredNorm() < parallel_angle * parallel_angle;
    const bool along_b =
        edge_b.edge >= 0 && (edge_b.normal - n).squaredNorm() < parallel_angle * parallel_angle;
    if (along_a && along_b)
        n = (edge_b.normal - edge_a.normal).normalized();
    else if (along_a)
        n = -edge_a.normal;
    else if (along_b)
        n = edge_b.normal;
    const Vec<2> t(-n[1], n[0]);

    // Both edges as functions height(across), left end first.
    struct Line {
        double across[2], height[2];
        Index vertex[2];
        double slope;
        [[nodiscard]] double at(double x, int from) const {
            return height[from] + slope * (x - across[from]);
        }
    };
    const auto line_of = [&](const Outline& outline, const FacingEdge& f) {
        Line line{};
        for (int k = 0; k < 2; ++k) {
            const Index i = f.vertex[std::min(k, f.count - 1)];
            const Vec<2> x = vertex_of(outline, i);
            line.across[k] = t.dot(x), line.height[k] = n.dot(x), line.vertex[k] = i;
        }
        if (line.across[0] > line.across[1]) {
            std::swap(line.across[0], line.across[1]);
            std::swap(line.height[0], line.height[1]);
            std::swap(line.vertex[0], line.vertex[1]);
        }
        const double width = line.across[1] - line.across[0];
        line.slope = f.count == 2 ? (line.height[1] - line.height[0]) / width : 0;
        return line;
    };
    const Line line_a = line_of(a, edge_a), line_b = line_of(b, edge_b);

    const double tolerance = parallel_angle * length;
    const double radii = a.radius + b.radius, shift = 0.5 * (b.radius - a.radius);
    // The inner of the two left ends and the inner of the two right ends; ends that coincide are one, midway,
    // under a's number.
    const auto end_of = [&](int k) -> End {
        const double x_a = line_a.across[k], x_b = line_b.across[k];
        if (std::abs(x_a - x_b) <= 3 * tolerance) {
            const double x = 0.5 * (x_a + x_b);
            return {x, line_a.at(x, k), line_b.at(x, k), static_cast<std::uint32_t>(line_a.vertex[k])};
        }
        const bool a_is_inner = k == 0 ? x_a > x_b : x_a < x_b;
        if (a_is_inner)
            return {x_a, line_a.height[k], line_b.at(x_a, 0), static_cast<std::uint32_t>(line_a.vertex[k])};
        return {x_b, line_a.at(x_b, 0), line_b.height[k],
                corner_of_b | static_cast<std::uint32_t>(line_b.vertex[k])};
    };
    double least = infinity;
    const auto add = [&](const End& end) {
        const double gap = end.height_a - end.height_b - radii;
        least = std::min(least, gap);
        if (gap <= reach)
            out.push_back(
                {end.across * t + (0.5 * (end.height_a + end.height_b) + shift) * n, n, gap, end.feature});
    };
    const std::size_t first = out.size();
    const End left = end_of(0), right = end_of(1);
    if (right.across - left.across > 3 * tolerance) {
        add(left);
        add(right);
    } else if (right.across - left.across >= -3 * tolerance) {
        // One corner, or two corners that just meet: the number of a's, if it has one there.
        add(right.feature < left.feature ? right : left);
    }
    const double gap = closest.gap - radii;
    if (gap <= reach && least > gap + 0.1 * tolerance) {
        if (out.size() - first == 2) out.pop_back();
        out.push_back({0.5 * (closest.point_a + closest.point_b) + shift * closest.normal, closest.normal,
                       gap, single});
    }
}

}  // namespace

Outline outline_of(const Polygon& shape, const Placed<2>& placed, const Vec<2>& origin) {
    Outline outline;
    outline.vertices = shape.vertices.data();
    outline.normals = shape.normals.data();
    outline.vertex_count = static_cast<Index>(shape.vertices.size());
    outline.size = placed.size;
    outline.R = matrix(placed.pose.rotation);
    outline.position = placed.pose.position - origin;
    return outline;
}

Outline outline_of(const RoundCore<2>& ball, const Vec<2>& origin) {
    static const Vec<2> centre = Vec<2>::Zero();
    Outline outline;
    outline.vertices = &centre;
    outline.vertex_count = 1;
    outline.position = ball.end[0] - origin;
    outline.radius = ball.radius;
    return outline;
}

bool outline_distance(const Outline& a, const Outline& b, double cutoff, Distance<2>& out) {
    bool points_known;
    double length;
    if (!core_distance(a, b, cutoff + a.radius + b.radius, out, points_known, length)) return false;
    if (!points_known && a.vertex_count > 1 && b.vertex_count > 1) {
        std::vector<Touch<2>> ends;
        outline_manifold(a, b, out, length, infinity, ends);
        place_points(ends, a.radius, b.radius, out);
    }
    swell(out, a.radius, b.radius);
    return true;
}

void touch_outlines(const Outline& a, const Outline& b, double reach, std::vector<Touch<2>>& out) {
    bool points_known;
    double length;
    Distance<2> closest;
    if (!core_distance(a, b, reach + a.radius + b.radius, closest, points_known, length)) return;
    if (a.vertex_count == 1 || b.vertex_count == 1) {
        swell(closest, a.radius, b.radius);
        append(closest, reach, 0, out);
        return;
    }
    outline_manifold(a, b, closest, length, reach, out);
}

}  // namespace drystone
