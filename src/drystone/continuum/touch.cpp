#include "drystone/continuum/touch.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/collide/narrow.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// A point, as far as distances are concerned.
template <int d>
Shape<d> point_of(double size) {
    return Ball<d>{size};
}

/// Calls f(block) for the blocks whose nodes may be nearer than `margin` to a body.
template <int d, class F>
void for_each_block_near(const Grid<d>& grid, const Bounds<d>& box, const Vec<d>& margin, F&& f) {
    const Vec<d> block_width = block_side * grid.width;
    Lattice<d> first, last;
    double blocks = 1;
    for (int k = 0; k < d; ++k) {
        constexpr double far = 1 << 20;
        first[k] = static_cast<std::int32_t>(
            std::clamp(std::floor((box.lower[k] - margin[k]) / block_width[k]), -far, far));
        last[k] = static_cast<std::int32_t>(
            std::clamp(std::floor((box.upper[k] + margin[k]) / block_width[k]), -far, far));
        blocks *= last[k] - first[k] + 1;
    }
    if (blocks > static_cast<double>(grid.blocks.size())) {
        for (std::size_t b = 0; b < grid.blocks.size(); ++b) {
            const Lattice<d>& at = grid.blocks[b].at;
            if ((at.array() >= first.array()).all() && (at.array() <= last.array()).all())
                f(static_cast<Index>(b));
        }
        return;
    }
    for (Lattice<d> at = first;;) {
        if (const Index b = grid.block_at(at); b >= 0) f(b);
        int k = 0;
        while (k < d && ++at[k] > last[k]) {
            at[k] = first[k];
            ++k;
        }
        if (k == d) return;
    }
}

/// Calls f(normal, offset) for the flat faces of a shape, normal . x <= offset inside. Few shapes have any.
template <int d, class F>
void for_each_face(const Shape<d>& shape, F&& f) {
    if constexpr (d == 2) {
        if (const auto* polygon = std::get_if<Polygon>(&shape))
            for (std::size_t i = 0; i < polygon->normals.size(); ++i)
                f(polygon->normals[i], polygon->normals[i].dot(polygon->vertices[i]));
    } else {
        if (const auto* polyhedron = std::get_if<Polyhedron>(&shape))
            for (const Polyhedron::Face& face : polyhedron->faces) f(face.normal, face.offset);
    }
}

/// Planes that a body's surface is near a node; the body is what is inside all of them.
template <int d>
struct Faces {
    static constexpr int most = 2 * d;
    std::array<Vec<d>, most> normal;
    std::array<double, most> gap;  ///< of the node
    int count = 0;

    void add(const Vec<d>& n, double g) {
        normal[count] = n;
        gap[count++] = g;
    }
    /// True if one is much like it: where a body is nearly round, one is enough.
    [[nodiscard]] bool has(const Vec<d>& n) const {
        constexpr double alike = 0.75;  // cosine
        return std::any_of(normal.begin(), normal.begin() + count,
                           [&](const Vec<d>& other) { return other.dot(n) > alike; });
    }
};

/// The flat faces of a body that a node at x is less than a cell from, the one that it is farthest outside of first.
template <int d>
Faces<d> faces_near(const Placed<d>& body, const Vec<d>& width, const Vec<d>& x) {
    Faces<d> out;
    const Mat<d> R = matrix(body.pose.rotation);
    const Vec<d> y = R.transpose() * (x - body.pose.position) / body.size;
    for (bool found = true; found && out.count < Faces<d>::most;) {
        Vec<d> best = Vec<d>::Zero();
        double largest = -INFINITY;
        for_each_face<d>(*body.shape, [&](const Vec<d>& normal, double offset) {
            const double gap = body.size * (normal.dot(y) - offset);
            const Vec<d> n = R * normal;
            if (gap <= largest || std::abs(gap) >= width.dot(n.cwiseAbs()) || out.has(n)) return;
            largest = gap;
            best = n;
        });
        found = std::isfinite(largest);
        if (found) out.add(best, largest);
    }
    return out;
}

/// What a node meets of a body that is `gap` from it, along `nearest`: the nearest place; inside and next to an edge
/// the faces that are within half a cell, outside a quarter, since each of them keeps sand out there. A thin body's
/// other side is not met: what is inside may leave it where it is nearest.
template <int d>
Faces<d> faces_met(const Faces<d>& near, const Vec<d>& nearest, double gap, double small,
                   const Vec<d>& width) {
    constexpr double other_side = -0.5;  // cosine
    const double part = gap <= small ? 0.5 : 0.25;
    Faces<d> out;
    for (int k = 0; k < near.count; ++k) {
        const Vec<d>& n = near.normal[k];
        if (n.dot(nearest) > other_side && std::abs(near.gap[k]) < part * width.dot(n.cwiseAbs()))
            out.add(n, near.gap[k]);
    }
    if (out.count < 2) {
        out.count = 0;
        out.add(nearest, gap);
    }
    return out;
}

}  // namespace

template <int d>
Octants<d> parts_outside(const Vec<d>& width, const Vec<d>& normal, double gap) {
    double reach = 0;
    for (int k = 0; k < d; ++k) reach += std::abs(normal[k]) * width[k];
    Octants<d> outside;
    outside.fill(gap >= reach ? 1 : 0);
    if (std::abs(gap) >= reach) return outside;
    // So many parts of each cell along each direction, weighed by the hat; of those that the plane cuts, as much as of
    // their extent along the normal. Steps there would be room that comes and goes as a body moves, and sand closes up
    // wherever there seems to be room.
    constexpr int parts = 4;
    std::array<double, 2 * parts> place, weight;
    for (int q = 0; q < 2 * parts; ++q) {
        place[q] = (q + 0.5) / parts - 1;
        weight[q] = 2 * (1 - std::abs(place[q])) / parts;
    }
    std::array<std::array<double, 2 * parts>, d> height;
    for (int k = 0; k < d; ++k)
        for (int q = 0; q < 2 * parts; ++q) height[k][q] = place[q] * width[k] * normal[k];
    const auto part_outside = [per = parts / reach](double above) {
        return std::clamp(0.5 + per * above, 0.0, 1.0);
    };
    for (int a = 0; a < 2 * parts; ++a) {
        for (int b = 0; b < 2 * parts; ++b) {
            const double so_far = gap + height[0][a] + height[1][b], w = weight[a] * weight[b];
            if constexpr (d == 2) {
                outside[a / parts + 2 * (b / parts)] += w * part_outside(so_far);
            } else {
                for (int c = 0; c < 2 * parts; ++c)
                    outside[a / parts + 2 * (b / parts) + 4 * (c / parts)] +=
                        w * weight[c] * part_outside(so_far + height[2][c]);
            }
        }
    }
    return outside;
}

template <int d>
void find_touches(const Scene<d>& scene, const Grid<d>& grid, const GridState<d>& state, double h,
                  int threads, std::vector<NodeTouch<d>>& touches, std::vector<Octants<d>>& space) {
    const Bodies<d>& bodies = scene.bodies;
    const double diagonal = grid.width.norm(), cell = grid.width.prod();
    const Index n = grid.node_count();
    // Distances of places are those of balls that are as good as points.
    const double small = 1e-9 * grid.width.minCoeff();
    const Shape<d> point = point_of<d>(small);
    touches.clear();
    Octants<d> whole;
    whole.fill(cell / corners<d>);
    space.assign(static_cast<std::size_t>(n), whole);
    // Velocities are those of the beginning.
    const double fall = h * scene.gravity.norm();
    double fastest = 0;
    for (const Vec<d>& v : state.velocity) fastest = std::max(fastest, v.norm() + fall);
    struct Near {
        Index block, body;
    };
    std::vector<Near> near;
    for (Index i = 0; i < bodies.count(); ++i) {
        const Shape<d>& shape = scene.shape_of(i);
        const double R = scene.outer_radius(i);
        const double way =
            h * (fastest + bodies.velocity[i].norm() + (std::isfinite(R) ? R * bodies.spin[i].norm() : 0));
        const Bounds<d> box = bounds<d>(shape, bodies.size[i], bodies.pose(i));
        for_each_block_near(grid, box, Vec<d>(Vec<d>::Constant(way) + grid.width), [&](Index b) {
            near.push_back({b, i});
        });
    }
    std::sort(near.begin(), near.end(), [](const Near& a, const Near& b) {
        return a.block != b.block ? a.block < b.block : a.body < b.body;
    });
    std::vector<std::vector<NodeTouch<d>>> found(near.size());
    // Blocks one after the other in shares, so that the bodies of a block are looked at by one thread.
    std::vector<Index> first;
    for (std::size_t k = 0; k < near.size(); ++k)
        if (k == 0 || near[k].block != near[k - 1].block) first.push_back(static_cast<Index>(k));
    first.push_back(static_cast<Index>(near.size()));
    parallel_for_uneven(threads, static_cast<Index>(first.size()) - 1, 4, [&](Index s) {
        const Index b = near[first[s]].block;
        for (Index q = first[s]; q < first[s + 1]; ++q) {
            const Index i = near[q].body;
            const Placed<d> body{&scene.shape_of(i), bodies.size[i], bodies.pose(i)};
            const Vec<d> block_width = block_side * grid.width;
            const Vec<d> middle = grid.blocks[b].at.template cast<double>().cwiseProduct(block_width) +
                                  0.5 * (block_width - grid.width);
            const double radius = 0.5 * (block_width - grid.width).norm();
            const double R = scene.outer_radius(i);
            const double body_speed =
                bodies.velocity[i].norm() + (std::isfinite(R) ? R * bodies.spin[i].norm() : 0);
            const double most = std::max(diagonal, h * (fastest + body_speed));
            Pose<d> pose;
            pose.position = middle;
            if (distance<d>({&point, 1, pose}, body).gap > radius + most) continue;
            for (Index j = grid.node_start[b]; j < grid.node_start[b + 1]; ++j) {
                pose.position = grid.node_position(j);
                const Distance<d> x = distance<d>({&point, 1, pose}, body);
                const double gap = x.gap + small;
                Faces<d> faces;
                if (gap < diagonal) {
                    faces = faces_near<d>(body, grid.width, pose.position);
                    Faces<d> taken = faces;
                    if (taken.count == 0) taken.add(x.normal, gap);
                    Octants<d> inside;
                    inside.fill(1);
                    for (int k = 0; k < taken.count; ++k) {
                        const Octants<d> outside =
                            parts_outside<d>(grid.width, taken.normal[k], taken.gap[k]);
                        for (int c = 0; c < corners<d>; ++c) inside[c] *= 1 - outside[c];
                    }
                    for (int c = 0; c < corners<d>; ++c) space[j][c] *= 1 - inside[c];
                }
                const double way = std::max(small, h * (state.velocity[j].norm() + fall + body_speed));
                if (gap > way) continue;
                // Held bodies make floors and walls together, whose seams are edges that are none: a step of
                // scenes/sand/silo.toml takes 6400 sweeps instead of 600 where the faces in its seams are met.
                if (!bodies.is_free(i)) faces.count = 0;
                const Faces<d> met = faces_met<d>(faces, x.normal, gap, small, grid.width);
                for (int k = 0; k < met.count; ++k)
                    if (met.gap[k] <= way) found[q].push_back({j, i, met.normal[k], met.gap[k]});
            }
        }
    });
    for (const auto& part : found) touches.insert(touches.end(), part.begin(), part.end());
    std::stable_sort(touches.begin(), touches.end(), [](const NodeTouch<d>& a, const NodeTouch<d>& b) {
        return a.node != b.node ? a.node < b.node : a.body < b.body;
    });
}

template Octants<2> parts_outside<2>(const Vec<2>&, const Vec<2>&, double);
template Octants<3> parts_outside<3>(const Vec<3>&, const Vec<3>&, double);
template void find_touches(const Scene<2>&, const Grid<2>&, const GridState<2>&, double, int,
                           std::vector<NodeTouch<2>>&, std::vector<Octants<2>>&);
template void find_touches(const Scene<3>&, const Grid<3>&, const GridState<3>&, double, int,
                           std::vector<NodeTouch<3>>&, std::vector<Octants<3>>&);

}  // namespace drystone
