// The corners of the area that two hulls have in common, seen along the normal.
#include "drystone/collide/polytopes.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// Largest number of corners of a face that are looked at; of a face with more, every k-th is.
constexpr int ring_size = 64;

/// A face, edge or vertex seen along the normal: positions across it, heights along it.
struct Ring {
    int size = 0;
    Vec<2> x[ring_size];
    Vec<2> side[ring_size];  ///< inward unit normal of the line from corner i to i + 1
    double height[ring_size];
    Index vertex[ring_size], edge[ring_size];
    Vec<2> slope = Vec<2>::Zero();  ///< of the height

    [[nodiscard]] int edges() const { return size > 2 ? size : size - 1; }
    [[nodiscard]] int next(int i) const { return i + 1 < size ? i + 1 : 0; }
    [[nodiscard]] double height_at(const Vec<2>& at, int from = 0) const {
        return height[from] + slope.dot(at - x[from]);
    }
};

/// What of a hull faces a direction: a face (or -1), and whether it is too steep to be seen from there.
struct Facing {
    Index face = -1;
    Vec<3> normal = Vec<3>::Zero();  ///< of the face, in the world
    bool flat = false;               ///< the face is to be used and not only its farthest edge or vertex
    /// height of the farthest vertex along the direction, at size 1 from the hull's position
    double support = 0;
    double tolerance = 0;  ///< vertices within this of it count as farthest, at size 1
};

/// The face that looks most in the direction among those at the farthest feature. Vertices that are farthest
/// to within `parallel_angle` of the length all count as the feature: an edge or face that is parallel to the
/// plane stays one when it tilts by rounding. Between the two sides of a ridge the first wins unless the
/// other is better by more than that angle.
Facing facing(const Hull& hull, const Vec<3>& direction, double length) {
    Facing f;
    if (hull.face_count == 0) return f;
    const Vec<3> m = hull.R.transpose() * direction;
    double most = -infinity;
    for (Index i = 0; i < hull.vertex_count; ++i) most = std::max(most, hull.vertices[i].dot(m));
    f.support = most;
    f.tolerance = parallel_angle * length / hull.size;
    Index start = 0;
    while (hull.vertices[start].dot(m) < most - f.tolerance) ++start;

    int best_count = 0;
    double best_cosine = -2;
    for (Index k = hull.vertex_edge_start[start]; k < hull.vertex_edge_start[start + 1]; ++k) {
        for (const Index index : hull.edges[hull.vertex_edges[k]].face) {
            if (index == f.face) continue;
            const Polyhedron::Face& face = hull.faces[index];
            int count = 0;
            for (Index v = face.start; v < face.start + face.size; ++v)
                count += hull.vertices[hull.face_vertices[v]].dot(m) >= most - f.tolerance ? 1 : 0;
            count = std::min(count, 3);
            const double cosine = face.normal.dot(m);
            const double lead = index < f.face ? -parallel_angle : parallel_angle;
            if (count > best_count || (count == best_count && cosine > best_cosine + lead))
                best_count = count, best_cosine = cosine, f.face = index;
        }
    }
    f.normal = hull.R * hull.faces[f.face].normal;
    // Steeper than 87 degrees: heights on it along the normal mean nothing.
    f.flat = best_cosine > 0.05;
    return f;
}

void build_ring(const Hull& hull, const Facing& f, const Vec<3>& direction, const Mat<3>& frame, Ring& ring) {
    const Mat<3> E = frame * hull.R * hull.size;
    const Vec<3> origin = frame * hull.position;
    const auto add = [&](Index vertex, Index edge) {
        const Vec<3> p = origin + E * hull.vertices[vertex];
        ring.x[ring.size] = p.tail<2>();
        ring.height[ring.size] = p[0];
        ring.vertex[ring.size] = vertex;
        ring.edge[ring.size] = edge;
        ++ring.size;
    };
    if (f.face < 0) {
        for (Index i = 0; i < hull.vertex_count; ++i) add(i, 0);
    } else {
        const Polyhedron::Face& face = hull.faces[f.face];
        const Vec<3> m = hull.R.transpose() * direction;
        const Index stride = (face.size + ring_size - 1) / ring_size;
        for (Index k = 0; k < face.size; k += f.flat ? stride : 1) {
            const Index vertex = hull.face_vertices[face.start + k];
            if (!f.flat && (ring.size == 2 || hull.vertices[vertex].dot(m) < f.support - f.tolerance))
                continue;
            add(vertex, hull.face_edges[face.start + k]);
        }
    }
    if (ring.size > 2) {
        const Vec<3> local = frame * f.normal;
        ring.slope = -local.tail<2>() / local[0];
    } else if (ring.size == 2) {
        const Vec<2> along = ring.x[1] - ring.x[0];
        ring.slope = along * ((ring.height[1] - ring.height[0]) / std::max(along.squaredNorm(), 1e-300));
    }
    // A face of b is seen counter-clockwise, one of a from behind.
    const double turn = f.face >= 0 && f.normal.dot(frame.row(0)) < 0 ? -1 : 1;
    for (int i = 0; i < ring.edges(); ++i) {
        const Vec<2> along = ring.x[ring.next(i)] - ring.x[i];
        const double norm = along.norm();
        ring.side[i] = norm > 0 ? Vec<2>(turn * Vec<2>(-along[1], along[0]) / norm) : Vec<2>(Vec<2>::Zero());
    }
}

/// Whether x is inside the ring or within the tolerance of it.
bool holds(const Ring& ring, const Vec<2>& x, double tolerance) {
    if (ring.size == 1) return (x - ring.x[0]).squaredNorm() <= tolerance * tolerance;
    if (ring.size == 2) {
        const Vec<2> along = ring.x[1] - ring.x[0];
        const double norm = along.norm(), s = along.dot(x - ring.x[0]);
        return std::abs(ring.side[0].dot(x - ring.x[0])) <= tolerance && s >= -tolerance * norm &&
               s <= norm * (norm + tolerance);
    }
    for (int i = 0; i < ring.size; ++i)
        if (ring.side[i].dot(x - ring.x[i]) < -tolerance) return false;
    return true;
}

}  // namespace

void hull_manifold(const Hull& a, const Hull& b, const Distance<3>& closest, double length, double reach,
                   std::vector<Touch<3>>& out) {
    Vec<3> n = closest.normal;
    const Facing face_a = facing(a, -n, length), face_b = facing(b, n, length);
    const bool along_a =
        face_a.face >= 0 && (face_a.normal + n).squaredNorm() < parallel_angle * parallel_angle;
    const bool along_b =
        face_b.face >= 0 && (face_b.normal - n).squaredNorm() < parallel_angle * parallel_angle;
    if (along_a && along_b)
        n = (face_b.normal - face_a.normal).normalized();
    else if (along_a)
        n = -face_a.normal;
    else if (along_b)
        n = face_b.normal;

    // Rows n, t1, t2.
    const Mat<3> frame = frame_of(n);
    Ring ring_a, ring_b;
    build_ring(a, face_a, -n, frame, ring_a);
    build_ring(b, face_b, n, frame, ring_b);

    const std::size_t first = out.size();
    const double radii = a.radius + b.radius, shift = 0.5 * (b.radius - a.radius);
    const double tolerance = parallel_angle * length;
    double least = infinity;
    const auto add = [&](const Vec<2>& x, double height_a, double height_b, std::uint32_t feature) {
        const double gap = height_a - height_b - radii;
        least = std::min(least, gap);
        if (gap > reach) return;
        const Vec<3> local(0.5 * (height_a + height_b) + shift, x[0], x[1]);
        out.push_back({frame.transpose() * local, n, gap, feature});
    };

    // Corners of a over b. One that stands on a corner of b is both: midway, under a's number, so that it
    // stays the same when the bodies slide by rounding and does not depend on which of them is first.
    bool merged[ring_size] = {};
    for (int i = 0; i < ring_a.size; ++i) {
        if (!holds(ring_b, ring_a.x[i], tolerance)) continue;
        int twin = -1;
        double nearest = 9 * tolerance * tolerance;
        for (int j = 0; j < ring_b.size; ++j) {
            const double square = (ring_b.x[j] - ring_a.x[i]).squaredNorm();
            if (square <= nearest) nearest = square, twin = j;
        }
        if (twin >= 0) {
            merged[twin] = true;
            const Vec<2> middle = 0.5 * (ring_a.x[i] + ring_b.x[twin]);
            add(middle, ring_a.height_at(middle, i), ring_b.height_at(middle, twin),
                static_cast<std::uint32_t>(ring_a.vertex[i]));
        } else {
            add(ring_a.x[i], ring_a.height[i], ring_b.height_at(ring_a.x[i]),
                static_cast<std::uint32_t>(ring_a.vertex[i]));
        }
    }
    for (int j = 0; j < ring_b.size; ++j)
        if (!merged[j] && holds(ring_a, ring_b.x[j], tolerance)) {
            // Not reached from a's side by the tolerance, but standing on a corner of a all the same.
            int twin = -1;
            double nearest = 9 * tolerance * tolerance;
            for (int i = 0; i < ring_a.size; ++i) {
                const double square = (ring_b.x[j] - ring_a.x[i]).squaredNorm();
                if (square <= nearest) nearest = square, twin = i;
            }
            if (twin >= 0 && holds(ring_b, ring_a.x[twin], tolerance)) continue;
            if (twin >= 0) {
                const Vec<2> middle = 0.5 * (ring_a.x[twin] + ring_b.x[j]);
                add(middle, ring_a.height_at(middle, twin), ring_b.height_at(middle, j),
                    static_cast<std::uint32_t>(ring_a.vertex[twin]));
            } else {
                add(ring_b.x[j], ring_a.height_at(ring_b.x[j]), ring_b.height[j],
                    corner_of_b | static_cast<std::uint32_t>(ring_b.vertex[j]));
            }
        }

    // Crossings of edges whose ends are clearly on different sides; an end that is within the tolerance of
    // the other edge is a corner already.
    for (int i = 0; i < ring_a.edges(); ++i) {
        const int k = ring_a.next(i);
        for (int j = 0; j < ring_b.edges(); ++j) {
            const int l = ring_b.next(j);
            const double p = ring_b.side[j].dot(ring_a.x[i] - ring_b.x[j]),
                         q = ring_b.side[j].dot(ring_a.x[k] - ring_b.x[j]);
            if (p * q >= 0 || std::min(std::abs(p), std::abs(q)) <= tolerance) continue;
            const double r = ring_a.side[i].dot(ring_b.x[j] - ring_a.x[i]),
                         s = ring_a.side[i].dot(ring_b.x[l] - ring_a.x[i]);
            if (r * s >= 0 || std::min(std::abs(r), std::abs(s)) <= tolerance) continue;
            const double u = p / (p - q), v = r / (r - s);
            const Vec<2> x = ring_a.x[i] + u * (ring_a.x[k] - ring_a.x[i]);
            add(x, ring_a.height[i] + u * (ring_a.height[k] - ring_a.height[i]),
                ring_b.height[j] + v * (ring_b.height[l] - ring_b.height[j]),
                crossing | (static_cast<std::uint32_t>(ring_a.edge[i]) & 0x7fff) << 15 |
                    (static_cast<std::uint32_t>(ring_b.edge[j]) & 0x7fff));
        }
    }
    if (out.size() - first > max_points) keep_spanning(out, first, a.R, tolerance);

    // The closest points themselves, should the faces chosen not hold them.
    const double gap = closest.gap - radii;
    if (gap <= reach && least > gap + 0.1 * tolerance) {
        if (out.size() - first == max_points) out.pop_back();
        out.push_back({0.5 * (closest.point_a + closest.point_b) + shift * closest.normal, closest.normal,
                       gap, single});
    }
}

}  // namespace drystone
