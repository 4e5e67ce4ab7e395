#include "drystone/collide/mesh.hpp"

#include "drystone/collide/polytopes.hpp"
#include "drystone/collide/round.hpp"
#include "drystone/collide/smooth.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The mesh where it is, with its triangles as corners relative to an origin near the other body.
struct PlacedMesh {
    const TriangleMesh& mesh;
    double size;
    Mat<3> R;
    Vec<3> position;

    PlacedMesh(const TriangleMesh& shape, const Placed<3>& placed, const Vec<3>& origin)
        : mesh(shape),
          size(placed.size),
          R(matrix(placed.pose.rotation)),
          position(placed.pose.position - origin) {}
    [[nodiscard]] Vec<3> vertex(Index i) const { return position + size * (R * mesh.vertices[at(i)]); }
    [[nodiscard]] Vec<3> normal(Index triangle) const { return R * mesh.normals[at(triangle)]; }
};

/// A triangle as a hull with a front and a back.
struct TriangleHull {
    Vec<3> corner[3];
    Vec<3> normal, centre;
    Vec<3> vertices[3];
    Polyhedron::Face faces[2];
    Polyhedron::Edge edges[3];
    static constexpr Index face_vertices[6] = {0, 1, 2, 0, 2, 1};
    static constexpr Index face_edges[6] = {0, 1, 2, 2, 1, 0};
    static constexpr Index vertex_edge_start[4] = {0, 2, 4, 6};
    static constexpr Index vertex_edges[6] = {0, 2, 0, 1, 1, 2};
    Hull hull;

    TriangleHull(const PlacedMesh& placed, Index t) : normal(placed.normal(t)) {
        for (int k = 0; k < 3; ++k) corner[k] = placed.vertex(placed.mesh.triangles[at(t)][at(k)]);
        centre = (corner[0] + corner[1] + corner[2]) / 3;
        for (int k = 0; k < 3; ++k) vertices[k] = corner[k] - centre;
        faces[0] = {normal, 0, 0, 3};
        faces[1] = {-normal, 0, 3, 3};
        for (Index k = 0; k < 3; ++k) edges[k] = {{k, (k + 1) % 3}, {0, 1}};
        hull.vertices = vertices, hull.vertex_count = 3;
        hull.faces = faces, hull.face_count = 2;
        hull.face_vertices = face_vertices, hull.face_edges = face_edges;
        hull.edges = edges, hull.edge_count = 3;
        hull.vertex_edge_start = vertex_edge_start, hull.vertex_edges = vertex_edges;
        hull.position = centre;
    }
    TriangleHull(const TriangleHull&) = delete;
    TriangleHull& operator=(const TriangleHull&) = delete;
};

/// Whether the surface bends outward at edge k of a triangle (or ends there), so that something can touch the
/// edge itself.
bool is_ridge(const TriangleMesh& mesh, Index t, int k) {
    const Index other = mesh.neighbours[at(t)][at(k)];
    if (other < 0) return true;
    const auto& corners = mesh.triangles[at(t)];
    const Vec<3> e =
        (mesh.vertices[at(corners[at((k + 1) % 3)])] - mesh.vertices[at(corners[at(k)])]).normalized();
    return mesh.normals[at(t)].cross(mesh.normals[at(other)]).dot(e) > parallel_angle;
}

/// Goes round a vertex of the mesh: visits every edge that starts there, as unit vectors, and every triangle.
/// Stops after 64, more than a sane mesh has.
template <class Visit>
void around_vertex(const TriangleMesh& mesh, Index triangle, int corner, const Visit& visit) {
    const Index vertex = mesh.triangles[at(triangle)][at(corner)];
    const Vec<3>& centre = mesh.vertices[at(vertex)];
    const auto corner_in = [&](Index t) {
        const auto& c = mesh.triangles[at(t)];
        return c[0] == vertex ? 0 : c[1] == vertex ? 1 : 2;
    };
    for (const bool forward : {true, false}) {
        Index t = triangle;
        for (int step = 0; step < 64; ++step) {
            const int k = corner_in(t);
            const auto& c = mesh.triangles[at(t)];
            const Vec<3>& ahead = mesh.vertices[at(c[at((k + 1) % 3)])];
            const Vec<3>& behind = mesh.vertices[at(c[at((k + 2) % 3)])];
            visit(t, Vec<3>((ahead - centre).normalized()), Vec<3>((behind - centre).normalized()));
            t = mesh.neighbours[at(t)][at(forward ? (k + 2) % 3 : k)];
            if (t < 0) break;
            if (t == triangle) return;
            const auto& next = mesh.triangles[at(t)];
            if (next[0] != vertex && next[1] != vertex && next[2] != vertex) break;
        }
    }
}

enum class Verdict {
    face,    ///< the face's normal, to within parallel_angle
    ridge,   ///< a direction in which an edge or corner of the surface can be touched
    not_own  ///< a neighbour's business, or from behind
};

/// Whether a shape can touch the surface at this triangle with normal n (mesh axes): n must belong to the fan
/// of normals that the surface has there. On a flat or hollow edge that is the face's normal alone, so
/// nothing feels the seams of a floor.
Verdict judge_normal(const TriangleMesh& mesh, Index t, const Vec<3>& n) {
    const Vec<3>& face_normal = mesh.normals[at(t)];
    if ((n - face_normal).squaredNorm() < parallel_angle * parallel_angle) return Verdict::face;
    const auto& corners = mesh.triangles[at(t)];
    double height[3], most = -infinity, longest = 0;
    for (int k = 0; k < 3; ++k) {
        height[k] = n.dot(mesh.vertices[at(corners[at(k)])]);
        most = std::max(most, height[k]);
        longest = std::max(
            longest,
            (mesh.vertices[at(corners[at((k + 1) % 3)])] - mesh.vertices[at(corners[at(k)])]).norm());
    }
    const double tolerance = parallel_angle * longest;
    bool top[3];
    int count = 0;
    for (int k = 0; k < 3; ++k) count += (top[k] = height[k] >= most - tolerance) ? 1 : 0;
    if (count == 3) return Verdict::not_own;  // the back
    if (count == 2) {
        const int k = top[0] && top[1] ? 0 : top[1] && top[2] ? 1 : 2;
        const Index other = mesh.neighbours[at(t)][at(k)];
        if (other < 0) return n.dot(face_normal) >= 0 ? Verdict::ridge : Verdict::not_own;
        const Vec<3> e =
            (mesh.vertices[at(corners[at((k + 1) % 3)])] - mesh.vertices[at(corners[at(k)])]).normalized();
        // Into the neighbour from the edge: n must not lean that way, or the neighbour is higher than the
        // edge.
        const bool fits = n.dot(e.cross(mesh.normals[at(other)])) <= parallel_angle;
        return fits && is_ridge(mesh, t, k) ? Verdict::ridge : Verdict::not_own;
    }
    const int k = top[0] ? 0 : top[1] ? 1 : 2;
    bool fits = true, in_front = false;
    around_vertex(mesh, t, k, [&](Index other, const Vec<3>& e, const Vec<3>& f) {
        fits = fits && n.dot(e) <= parallel_angle && n.dot(f) <= parallel_angle;
        in_front = in_front || n.dot(mesh.normals[at(other)]) > 0;
    });
    return fits && in_front ? Verdict::ridge : Verdict::not_own;
}

/// Visits the triangles whose nodes of the tree overlap the bounds (mesh axes, size 1), in the order of the
/// tree.
template <class Visit>
void triangles_in(const TriangleMesh& mesh, const Bounds<3>& bounds, const Visit& visit) {
    Index stack[64];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const Index index = stack[--depth];
        const TriangleMesh::Node& node = mesh.tree[at(index)];
        if (!node.bounds.overlaps(bounds)) continue;
        if (node.count > 0) {
            for (Index i = node.first; i < node.first + node.count; ++i) visit(mesh.tree_order[at(i)]);
        } else if (depth < 62) {
            stack[depth++] = node.first;
            stack[depth++] = index + 1;
        }
    }
}

/// Bounds of a, in the mesh's axes at its size 1.
Bounds<3> bounds_in_mesh(const Placed<3>& a, const Placed<3>& b) {
    const Mat<3> R = matrix(b.pose.rotation);
    Pose<3> relative;
    relative.position = R.transpose() * (a.pose.position - b.pose.position);
    relative.rotation.q =
        Eigen::Quaterniond(b.pose.rotation.q).conjugate() * Eigen::Quaterniond(a.pose.rotation.q);
    Bounds<3> box = bounds<3>(*a.shape, a.size, relative);
    box.lower /= b.size, box.upper /= b.size;
    return box;
}

/// Nearest point of a triangle (Ericson, Real-Time Collision Detection, 5.1.5).
Vec<3> nearest_on_triangle(const Vec<3>& x, const Vec<3>* c) {
    const Vec<3> ab = c[1] - c[0], ac = c[2] - c[0], ax = x - c[0];
    const double d1 = ab.dot(ax), d2 = ac.dot(ax);
    if (d1 <= 0 && d2 <= 0) return c[0];
    const Vec<3> bx = x - c[1];
    const double d3 = ab.dot(bx), d4 = ac.dot(bx);
    if (d3 >= 0 && d4 <= d3) return c[1];
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return c[0] + d1 / (d1 - d3) * ab;
    const Vec<3> cx = x - c[2];
    const double d5 = ab.dot(cx), d6 = ac.dot(cx);
    if (d6 >= 0 && d5 <= d6) return c[2];
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return c[0] + d2 / (d2 - d6) * ac;
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        return c[1] + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c[2] - c[1]);
    const double sum = va + vb + vc;
    return c[0] + vb / sum * ab + vc / sum * ac;
}

/// Whether x, seen along the normal, is over the triangle or within the tolerance of it.
bool is_over(const TriangleHull& triangle, const Vec<3>& x, double tolerance) {
    for (int k = 0; k < 3; ++k) {
        const Vec<3> e = triangle.corner[(k + 1) % 3] - triangle.corner[k];
        if (triangle.normal.cross(e).dot(x - triangle.corner[k]) < -tolerance * e.norm()) return false;
    }
    return true;
}

/// The point of a convex shape that is farthest against n, relative to the origin.
Vec<3> lowest_point(const Placed<3>& a, const Vec<3>& n, const Vec<3>& origin) {
    const Mat<3> R = matrix(a.pose.rotation);
    return a.pose.position - origin + a.size * (R * support<3>(*a.shape, Vec<3>(-(R.transpose() * n))));
}

std::uint32_t mix(Index triangle, std::uint32_t feature) {
    std::uint64_t z = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(triangle)) << 32 | feature) +
                      0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}

/// A shape that touches a triangle at one point: ball or smooth. `closest` is exact.
void touch_point(const Placed<3>& a, const Distance<3>& closest, const PlacedMesh& placed, Index t,
                 const TriangleHull& triangle, double extent, double reach, const Vec<3>& origin,
                 std::vector<Touch<3>>& out) {
    if (closest.gap > reach) return;
    const Verdict verdict = judge_normal(placed.mesh, t, placed.R.transpose() * closest.normal);
    if (verdict == Verdict::ridge) {
        // Triangles that share the edge or corner find the same point and normal; merging keeps one of them.
        out.push_back({0.5 * (closest.point_a + closest.point_b), closest.normal, closest.gap,
                       static_cast<std::uint32_t>(t) * 2 + 1});
        return;
    }
    const Vec<3> x = lowest_point(a, triangle.normal, origin);
    const double gap = triangle.normal.dot(x - triangle.corner[0]);
    if (gap > reach || gap < -2 * extent || !is_over(triangle, x, 1e-9 * extent)) return;
    out.push_back({x - 0.5 * gap * triangle.normal, triangle.normal, gap, static_cast<std::uint32_t>(t) * 2});
}

/// A capsule or polyhedron.
void touch_hull(const Hull& a, const PlacedMesh& placed, Index t, const TriangleHull& triangle, double extent,
                double reach, std::vector<Touch<3>>& out) {
    CoreDistance core;
    if (!core_distance(a, triangle.hull, reach + a.radius, core)) return;
    Distance<3>& closest = core.distance;
    // Below the plane of a triangle that it does not meet, a shape is behind the surface of another part of it, as
    // around a sharp ridge: nothing to be pushed out of.
    const double deepest = closest.gap > a.radius ? -parallel_angle * extent : -infinity;
    const Verdict verdict = judge_normal(placed.mesh, t, placed.R.transpose() * closest.normal);
    if (verdict != Verdict::ridge) {
        double low = infinity;
        for (Index i = 0; i < a.vertex_count; ++i)
            low = std::min(
                low, triangle.normal.dot(a.position + a.size * (a.R * a.vertices[i]) - triangle.corner[0]));
        if (low - a.radius > reach || low - a.radius < -2 * extent) return;
        // Infinite: nothing is to be added should the shape not be over the triangle.
        closest.gap = verdict == Verdict::face ? low : infinity;
        closest.normal = triangle.normal;
    }
    const std::size_t first = out.size();
    hull_manifold(a, triangle.hull, closest, extent, reach, out);
    // Of the corners keep those that are the surface's own: not the seams of a flat or hollow part of it.
    bool ridge[3];
    for (int k = 0; k < 3; ++k) ridge[k] = is_ridge(placed.mesh, t, k);
    std::size_t next = first;
    for (std::size_t i = first; i < out.size(); ++i) {
        const std::uint32_t kind = out[i].feature >> 30, index = out[i].feature & 0x7fff;
        if (kind == 1 && !ridge[index] && !ridge[(index + 2) % 3]) continue;
        if (kind == 2 && !ridge[index]) continue;
        if (kind == 3 && verdict != Verdict::ridge) continue;
        if (out[i].gap < deepest) continue;
        out[next] = out[i];
        out[next].feature = mix(t, out[i].feature);
        ++next;
    }
    out.resize(next);
}

/// Removes what neighbours found twice, and pushes from the back of a thin wall. Shallow ones first, then by
/// feature: the outcome does not depend on the order of the tree.
void merge(std::vector<Touch<3>>& out, std::size_t first, double extent) {
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
              [](const Touch<3>& x, const Touch<3>& y) {
                  return x.gap != y.gap ? x.gap > y.gap : x.feature < y.feature;
              });
    const double near = 4 * parallel_angle * extent;
    std::size_t next = first;
    for (std::size_t i = first; i < out.size(); ++i) {
        bool keep = true;
        for (std::size_t j = first; keep && j < next; ++j) {
            const double cosine = out[i].normal.dot(out[j].normal);
            const bool twice =
                cosine > 1 - 1e-6 && (out[i].point - out[j].point).squaredNorm() <= near * near;
            if (twice) out[j].feature = std::min(out[j].feature, out[i].feature);
            // Two sides of a wall thinner than the grain: the side that it has gone through least is the one
            // it is on.
            const bool from_behind = cosine < -0.5 && out[i].gap < -0.5 * extent;
            keep = !twice && !from_behind;
        }
        if (keep) out[next++] = out[i];
    }
    out.resize(next);
}

/// Signed distance of a to a triangle; any larger number where it is above give_up.
struct Against {
    const Placed<3>& a;
    const PlacedMesh& placed;
    Vec<3> origin;

    [[nodiscard]] Distance<3> operator()(const TriangleHull& triangle, double give_up) const {
        return std::visit(
            [&](const auto& shape) -> Distance<3> {
                using S = std::decay_t<decltype(shape)>;
                Distance<3> out;
                out.gap = infinity;
                if constexpr (std::is_same_v<S, Ball<3>>) {
                    const Vec<3> x = a.pose.position - origin, y = nearest_on_triangle(x, triangle.corner);
                    const double radius = a.size * shape.radius, norm = (x - y).norm();
                    const Vec<3> n = norm > 0 ? Vec<3>((x - y) / norm) : triangle.normal;
                    out = {norm - radius, x - radius * n, y, n};
                } else if constexpr (std::is_same_v<S, Ellipsoid<3>> || std::is_same_v<S, Superellipsoid>) {
                    out =
                        smooth_triangle_distance(a, triangle.corner[0] + origin, triangle.corner[1] + origin,
                                                 triangle.corner[2] + origin, give_up);
                    out.point_a -= origin, out.point_b -= origin;
                } else if constexpr (std::is_same_v<S, Capsule>) {
                    const SegmentHull hull(core_of(shape, a), origin);
                    hull_distance(hull.hull, triangle.hull, give_up, out);
                } else if constexpr (std::is_same_v<S, Polyhedron>) {
                    hull_distance(hull_of(shape, a, origin), triangle.hull, give_up, out);
                }
                return out;
            },
            *a.shape);
    }
};

}  // namespace

Distance<3> mesh_distance(const Placed<3>& a, const TriangleMesh& mesh, const Placed<3>& b) {
    const Vec<3> origin = a.pose.position;
    const PlacedMesh placed(mesh, b, origin);
    const Against against{a, placed, origin};
    Distance<3> best;
    best.gap = infinity;
    // Grow the bounds until something is found; then everything nearer has been seen.
    const Bounds<3> box = bounds_in_mesh(a, b);
    const double extent = (box.upper - box.lower).norm();
    const double whole = extent + (mesh.tree[0].bounds.upper - mesh.tree[0].bounds.lower).norm() +
                         (0.5 * (box.upper + box.lower) - mesh.tree[0].bounds.lower).norm();
    for (double margin = extent;; margin *= 4) {
        triangles_in(mesh, box.widened(margin), [&](Index t) {
            const TriangleHull triangle(placed, t);
            const Distance<3> x = against(triangle, best.gap);
            if (x.gap < best.gap) best = x;
        });
        if (best.gap <= margin * b.size || margin > whole) break;
    }
    best.point_a += origin, best.point_b += origin;
    return best;
}

void touch_mesh(const Placed<3>& a, const TriangleMesh& mesh, const Placed<3>& b, double reach,
                std::vector<Touch<3>>& out) {
    const Vec<3> origin = a.pose.position;
    const PlacedMesh placed(mesh, b, origin);
    const Bounds<3> box = bounds_in_mesh(a, b);
    const double extent = 0.5 * b.size * (box.upper - box.lower).minCoeff();
    const std::size_t first = out.size();
    std::visit(
        [&](const auto& shape) {
            using S = std::decay_t<decltype(shape)>;
            const Bounds<3> wide = box.widened(std::max(reach, 0.0) / b.size);
            if constexpr (std::is_same_v<S, Capsule> || std::is_same_v<S, Polyhedron>) {
                const auto visit_with = [&](const Hull& hull) {
                    triangles_in(mesh, wide, [&](Index t) {
                        const TriangleHull triangle(placed, t);
                        touch_hull(hull, placed, t, triangle, extent, reach, out);
                    });
                };
                if constexpr (std::is_same_v<S, Capsule>)
                    visit_with(SegmentHull(core_of(shape, a), origin).hull);
                else
                    visit_with(hull_of(shape, a, origin));
            } else if constexpr (std::is_same_v<S, Ball<3>> || std::is_same_v<S, Ellipsoid<3>> ||
                                 std::is_same_v<S, Superellipsoid>) {
                const Against against{a, placed, origin};
                triangles_in(mesh, wide, [&](Index t) {
                    const TriangleHull triangle(placed, t);
                    touch_point(a, against(triangle, reach), placed, t, triangle, extent, reach, origin, out);
                });
            }
        },
        *a.shape);
    merge(out, first, extent);
    for (std::size_t i = first; i < out.size(); ++i) out[i].point += origin;
}

}  // namespace drystone
