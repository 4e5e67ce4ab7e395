#include "drystone/collide/polytopes.hpp"

#include "drystone/collide/gjk.hpp"
#include "drystone/shapes/climb.hpp"

#include <algorithm>
#include <bitset>
#include <cmath>

namespace drystone {

namespace {

/// Farthest vertex in a direction. Many vertices: climbs along the edges, from where the last call ended.
struct HullSupport {
    const Hull& hull;
    mutable Index last = 0;

    SupportPoint<3> operator()(const Vec<3>& direction) const {
        const Vec<3> m = hull.R.transpose() * direction;
        Index best = last;
        if (hull.vertex_count <= 40) {
            double most = hull.vertices[best].dot(m);
            for (Index i = 0; i < hull.vertex_count; ++i) {
                const double h = hull.vertices[i].dot(m);
                if (h > most) most = h, best = i;
            }
        } else {
            best = climb_to_farthest(hull, m, last);
        }
        last = best;
        return {hull.position + hull.size * (hull.R * hull.vertices[best]), best};
    }
};

/// Two hulls in the axes of the second: x -> C x + t takes the axes of the first (at its size) to those of
/// the second.
struct Relative {
    Mat<3> C;
    Vec<3> t;
    Relative(const Hull& x, const Hull& y)
        : C(y.R.transpose() * x.R), t(y.R.transpose() * (x.position - y.position)) {}
};

struct FaceAxis {
    double separation = -infinity;
    Index face = -1;
    Index vertex = -1;  ///< of the other hull, the one nearest to the face's plane or deepest behind it
};

/// The face of x that y is least behind. Faces are skipped when the centre of y, which is inside it, is
/// already behind them by more than the best one needs; in shallow overlaps that leaves a few.
FaceAxis best_face(const Hull& x, const Hull& y, const Relative& to_y) {
    FaceAxis best;
    if (x.face_count == 0) return best;
    // Points of y in the axes of x.
    const Vec<3> centre = -(to_y.C.transpose() * to_y.t);
    const auto height = [&](Index f, const Vec<3>& p) {
        return x.faces[f].normal.dot(p) - x.size * x.faces[f].offset;
    };
    Vec<3> deepest = centre;
    const auto try_face = [&](Index f) {
        const Vec<3> m = to_y.C * x.faces[f].normal;
        Index lowest = 0;
        double least = infinity;
        for (Index i = 0; i < y.vertex_count; ++i) {
            const double h = y.vertices[i].dot(m);
            if (h < least) least = h, lowest = i;
        }
        const double separation = y.size * least - m.dot(to_y.t) - x.size * x.faces[f].offset;
        if (separation > best.separation) {
            best = {separation, f, lowest};
            deepest = centre + to_y.C.transpose() * (y.size * y.vertices[lowest]);
        }
    };
    double farthest = -infinity;
    Index start = 0;
    for (Index f = 0; f < x.face_count; ++f) {
        const double h = height(f, centre);
        if (h > farthest) farthest = h, start = f;
    }
    try_face(start);
    for (Index f = 0; f < x.face_count; ++f)
        if (f != start && height(f, centre) >= best.separation && height(f, deepest) >= best.separation)
            try_face(f);
    return best;
}

/// Half of space, as a test of vertices at size 1 in body axes.
struct Side {
    Vec<3> normal = Vec<3>::Zero();
    double limit = 0;
    [[nodiscard]] bool beyond(const Vec<3>& x) const { return normal.dot(x) > limit; }
};

/// Quick reasons why an edge of x is not within `margin` of y: it is beyond the best face of y, y does not
/// reach so far behind the best face of x, or y ends before it along an axis that is known to be good.
struct EdgeFilter {
    Side sides[3];
    EdgeFilter(const Hull& x, const FaceAxis& face_x, const Hull& y, const FaceAxis& face_y,
               const Relative& to_y, double margin) {
        if (face_y.face >= 0) {
            const Polyhedron::Face& face = y.faces[face_y.face];
            sides[0].normal = x.size * (to_y.C.transpose() * face.normal);
            sides[0].limit = y.size * face.offset - face.normal.dot(to_y.t) + margin;
        }
        if (face_x.face >= 0) {
            const Polyhedron::Face& face = x.faces[face_x.face];
            sides[1].normal = -x.size * face.normal;
            sides[1].limit = -(x.size * face.offset + face_x.separation) + margin;
        }
    }
    /// y has no point beyond `most` in the direction.
    void add_axis(const Hull& x, const Vec<3>& direction, double most, double margin) {
        sides[2].normal = x.size * (x.R.transpose() * direction);
        sides[2].limit = most - direction.dot(x.position) + margin;
    }
    /// Which sides a vertex is beyond, as bits; an edge is out where both ends are beyond the same one.
    [[nodiscard]] unsigned beyond(const Vec<3>& p) const {
        return (sides[0].beyond(p) ? 1u : 0u) | (sides[1].beyond(p) ? 2u : 0u) |
               (sides[2].beyond(p) ? 4u : 0u);
    }
};

/// Whether an edge of x comes inside y with its planes moved out by `margin`.
bool edge_enters(const Hull& x, Index edge, const Hull& y, const Relative& to_y, double margin) {
    const Vec<3> p = to_y.C * (x.size * x.vertices[x.edges[edge].vertex[0]]) + to_y.t;
    const Vec<3> q = to_y.C * (x.size * x.vertices[x.edges[edge].vertex[1]]) + to_y.t;
    double from = 0, to = 1;
    const auto cut = [&](Index f) {
        const double limit = y.size * y.faces[f].offset + margin;
        const double dp = y.faces[f].normal.dot(p) - limit, dq = y.faces[f].normal.dot(q) - limit;
        if (dp > 0 && dq > 0) return false;
        if (dp > 0) from = std::max(from, dp / (dp - dq));
        if (dq > 0) to = std::min(to, dp / (dp - dq));
        return from <= to;
    };
    for (Index f = 0; f < y.face_count; ++f)
        if (!cut(f)) return false;
    return true;
}

/// Edges worth a look. Those with numbers too high to be marked all are.
struct EdgeSet {
    static constexpr Index marks = 2048;
    std::bitset<marks> mark;
    Index count = 0;

    [[nodiscard]] bool holds(Index edge) const {
        return edge >= marks || mark[static_cast<std::size_t>(edge)];
    }
    void fill(const Hull& x, const EdgeFilter& filter) {
        constexpr Index small = 128;
        unsigned beyond[small];
        const bool known = x.vertex_count <= small;
        for (Index i = 0; known && i < x.vertex_count; ++i) beyond[i] = filter.beyond(x.vertices[i]);
        for (Index e = 0; e < x.edge_count; ++e) {
            const Index p = x.edges[e].vertex[0], q = x.edges[e].vertex[1];
            const unsigned out =
                known ? beyond[p] & beyond[q] : filter.beyond(x.vertices[p]) & filter.beyond(x.vertices[q]);
            if (out != 0 && e < marks) continue;
            if (e < marks) mark.set(static_cast<std::size_t>(e));
            ++count;
        }
    }
    void keep_entering(const Hull& x, const Hull& y, const Relative& to_y, double margin) {
        for (Index e = 0; e < std::min(x.edge_count, marks); ++e)
            if (holds(e) && !edge_enters(x, e, y, to_y, margin))
                mark.reset(static_cast<std::size_t>(e)), --count;
    }
};

/// An edge in world axes, with the directions from it into its two faces.
struct PlacedEdge {
    Vec<3> start, along;  ///< along is not of unit length
    double length;
    Vec<3> inward[2];
    bool has_faces;

    void place(const Hull& hull, Index index) {
        const Polyhedron::Edge& edge = hull.edges[index];
        start = hull.position + hull.size * (hull.R * hull.vertices[edge.vertex[0]]);
        along = hull.size * (hull.R * (hull.vertices[edge.vertex[1]] - hull.vertices[edge.vertex[0]]));
        length = along.norm();
        has_faces = hull.face_count > 0;
        if (has_faces) {
            inward[0] = (hull.R * hull.faces[edge.face[0]].normal).cross(along) / length;
            inward[1] = along.cross(hull.R * hull.faces[edge.face[1]].normal) / length;
        }
    }
    /// Whether the whole hull is on the side of this edge that `up` points to: the test of arcs on the Gauss
    /// map.
    [[nodiscard]] bool supports(const Vec<3>& up) const {
        // Rounding of the products; a wrong yes costs no more than this part of the size.
        constexpr double slack = -1e-13;
        return !has_faces || (inward[0].dot(up) >= slack && inward[1].dot(up) >= slack);
    }
};

double extent_of(const Hull& hull) {
    double square = 0;
    for (Index i = 0; i < hull.vertex_count; ++i) square = std::max(square, hull.vertices[i].squaredNorm());
    return hull.size * std::sqrt(square);
}

Vec<3> vertex_of(const Hull& hull, Index i) {
    return hull.position + hull.size * (hull.R * hull.vertices[i]);
}

/// Least penetration, exact: the Minkowski difference of two polytopes is bounded by planes along the faces
/// of either and along one edge of each; only edges that come near the other polytope can hold the deepest
/// point.
Distance<3> least_penetration(const Hull& a, const Hull& b, double length) {
    const Relative a_to_b(a, b), b_to_a(b, a);
    const FaceAxis face_a = best_face(a, b, a_to_b), face_b = best_face(b, a, b_to_a);

    Distance<3> out;
    double best;
    // Ties go to a; what is nearly a tie between parallel faces is settled by the mean of both normals later.
    if (face_a.separation >= face_b.separation) {
        best = face_a.separation;
        out.normal = -(a.R * a.faces[face_a.face].normal);
        out.point_b = vertex_of(b, face_a.vertex);
        out.point_a = out.point_b + best * out.normal;
    } else {
        best = face_b.separation;
        out.normal = b.R * b.faces[face_b.face].normal;
        out.point_a = vertex_of(a, face_b.vertex);
        out.point_b = out.point_a - best * out.normal;
    }

    // An edge direction must be better by more than rounding to be preferred to a face.
    double to_beat = best + 1e-12 * length;
    // No face is nearly enough: edges cross. Shrunk, the polytopes are apart and GJK shows an axis that is
    // most often the one; only the bound that it gives is used, to leave few edges to try.
    Vec<3> axis = Vec<3>::Zero();
    double low_a = 0, high_b = 0, bound = best;
    if (best < -2e-3 * length) {
        Hull small_a = a, small_b = b;
        small_a.size *= 0.98, small_b.size *= 0.98;
        const GjkResult<3> found =
            gjk<3>(HullSupport{small_a}, HullSupport{small_b}, a.position - b.position);
        if (found.distance > 0) {
            axis = found.direction / found.distance;
            low_a = axis.dot(HullSupport{a}(Vec<3>(-axis)).x), high_b = axis.dot(HullSupport{b}(axis).x);
            bound = std::max(bound, low_a - high_b);
        }
    }
    // Parted by the least translation, the two points that meet are one; so now they are no farther apart
    // than that.
    const double margin = std::abs(bound) + 2e-7 * length;
    EdgeFilter filter_a(a, face_a, b, face_b, a_to_b, margin), filter_b(b, face_b, a, face_a, b_to_a, margin);
    if (bound > best) {
        filter_a.add_axis(a, axis, high_b, margin);
        filter_b.add_axis(b, -axis, -low_a, margin);
    }
    EdgeSet set_a, set_b;
    set_a.fill(a, filter_a);
    set_b.fill(b, filter_b);
    if (static_cast<std::int64_t>(set_a.count) * set_b.count > 64) {
        set_a.keep_entering(a, b, a_to_b, margin);
        set_b.keep_entering(b, a, b_to_a, margin);
    }
    constexpr int cached = 16;
    PlacedEdge cache[cached];
    for (Index j = 0, k = 0; set_a.count > 0 && j < b.edge_count && k < cached; ++j)
        if (set_b.holds(j)) cache[k++].place(b, j);
    for (Index i = 0; set_b.count > 0 && i < a.edge_count; ++i) {
        if (!set_a.holds(i)) continue;
        PlacedEdge edge_a, other;
        edge_a.place(a, i);
        for (Index j = 0, k = 0; k < set_b.count; ++j) {
            if (!set_b.holds(j)) continue;
            if (k >= cached) other.place(b, j);
            const PlacedEdge& edge_b = k < cached ? cache[k] : other;
            ++k;
            Vec<3> n = edge_a.along.cross(edge_b.along);
            const double sine = n.norm();
            // Nearly parallel: the planes of the faces beside the edges bound the difference there as well as
            // their product would, to 1e-7 of the edge's length times the depth over that length.
            if (sine <= 1e-7 * edge_a.length * edge_b.length) continue;
            n /= sine;
            if (!edge_a.supports(n) || !edge_b.supports(-n)) {
                n = -n;
                if (!edge_a.supports(n) || !edge_b.supports(-n)) continue;
            }
            const Vec<3> r = edge_a.start - edge_b.start;
            const double separation = n.dot(r);
            if (separation <= to_beat) continue;
            // Where the edges cross, seen along n.
            const Vec<3> across_b = n.cross(edge_b.along), across_a = n.cross(edge_a.along);
            const double s = -across_b.dot(r) / across_b.dot(edge_a.along);
            const double t = across_a.dot(r) / across_a.dot(edge_b.along);
            to_beat = separation;
            best = separation;
            out.normal = n;
            out.point_a = edge_a.start + std::clamp(s, 0.0, 1.0) * edge_a.along;
            out.point_b = edge_b.start + std::clamp(t, 0.0, 1.0) * edge_b.along;
        }
    }
    out.gap = best;
    return out;
}

/// The length that tolerances refer to: of the smaller hull, unless it is a point.
double common_length(const Hull& a, const Hull& b) {
    const double length_a = extent_of(a), length_b = extent_of(b);
    if (a.vertex_count == 1) return length_b;
    if (b.vertex_count == 1) return length_a;
    return std::min(length_a, length_b);
}

}  // namespace

Hull hull_of(const Polyhedron& shape, const Placed<3>& placed, const Vec<3>& origin) {
    Hull hull;
    hull.vertices = shape.vertices.data();
    hull.vertex_count = static_cast<Index>(shape.vertices.size());
    hull.faces = shape.faces.data();
    hull.face_count = static_cast<Index>(shape.faces.size());
    hull.face_vertices = shape.face_vertices.data();
    hull.face_edges = shape.face_edges.data();
    hull.edges = shape.edges.data();
    hull.edge_count = static_cast<Index>(shape.edges.size());
    hull.vertex_edge_start = shape.vertex_edge_start.data();
    hull.vertex_edges = shape.vertex_edges.data();
    hull.size = placed.size;
    hull.R = matrix(placed.pose.rotation);
    hull.position = placed.pose.position - origin;
    return hull;
}

SegmentHull::SegmentHull(const RoundCore<3>& core, const Vec<3>& origin)
    : edge{{0, 1}, {-1, -1}}, vertex_edge_start{0, 1, 2}, vertex_edges{0, 0} {
    const Vec<3> centre = 0.5 * (core.end[0] + core.end[1]);
    vertices[0] = core.end[0] - centre;
    vertices[1] = core.end[1] - centre;
    hull.vertices = vertices;
    hull.vertex_count = core.segment ? 2 : 1;
    hull.edges = &edge;
    hull.edge_count = core.segment ? 1 : 0;
    hull.vertex_edge_start = vertex_edge_start;
    hull.vertex_edges = vertex_edges;
    hull.position = centre - origin;
    hull.radius = core.radius;
}

bool core_distance(const Hull& a, const Hull& b, double cutoff, CoreDistance& core) {
    Distance<3>& out = core.distance;
    GjkOptions options;
    options.cutoff = cutoff;
    options.tolerance = 1e-14;
    const GjkResult<3> found = gjk<3>(HullSupport{a}, HullSupport{b}, a.position - b.position, options);
    if (found.status == GjkStatus::far) return false;
    const double length = common_length(a, b);
    core.length = length;
    const auto from_points = [&] {
        out.gap = found.distance;
        out.normal = found.direction / found.distance;
        out.point_a = found.point_a;
        out.point_b = found.point_b;
        core.points_known = true;
    };
    // Nearer than this the direction of the closest points is known to less than 1e-9.
    const bool near = found.status == GjkStatus::meeting || found.distance <= 1e-7 * length;
    if (!near) {
        from_points();
        return found.distance <= cutoff;
    }
    core.points_known = false;
    if (a.face_count + b.face_count > 0) {
        out = least_penetration(a, b, length);
        // Corner against corner or edge: no plane of the faces reaches the distance. Below 1e-12 a face will
        // do, since no direction can be known.
        if (found.distance > 1e-12 * length && out.gap < found.distance * (1 - 1e-10) - 1e-14 * length)
            from_points();
        return out.gap <= cutoff;
    }
    if (found.distance > 0) {
        from_points();
        return true;
    }
    out = {0, found.point_a, found.point_b, Vec<3>::UnitZ()};
    core.points_known = true;
    return true;
}

bool hull_distance(const Hull& a, const Hull& b, double cutoff, Distance<3>& out) {
    CoreDistance core;
    if (!core_distance(a, b, cutoff + a.radius + b.radius, core)) return false;
    out = core.distance;
    if (!core.points_known && a.vertex_count > 1 && b.vertex_count > 1) {
        // A point of the common area where the gap is the distance.
        std::vector<Touch<3>> corners;
        hull_manifold(a, b, out, core.length, infinity, corners);
        place_points(corners, a.radius, b.radius, out);
    }
    swell(out, a.radius, b.radius);
    return true;
}

void touch_hulls(const Hull& a, const Hull& b, double reach, std::vector<Touch<3>>& out) {
    CoreDistance core;
    if (!core_distance(a, b, reach + a.radius + b.radius, core)) return;
    Distance<3>& closest = core.distance;
    if (a.vertex_count == 1 || b.vertex_count == 1) {
        swell(closest, a.radius, b.radius);
        append(closest, reach, 0, out);
        return;
    }
    hull_manifold(a, b, closest, core.length, reach, out);
}

}  // namespace drystone
