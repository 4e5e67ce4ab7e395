#include "drystone/continuum/touch.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/collide/narrow.hpp"

#include <algorithm>

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

}  // namespace

template <int d>
Octants<d> parts_outside(const Vec<d>& width, const Vec<d>& normal, double gap) {
    double reach = 0;
    for (int k = 0; k < d; ++k) reach += std::abs(normal[k]) * width[k];
    Octants<d> outside;
    outside.fill(gap >= reach ? 1 : 0);
    if (std::abs(gap) >= reach) return outside;
    // Midpoints of so many parts of each cell along each direction, weighed by the hat.
    constexpr int parts = 4;
    std::array<double, 2 * parts> place, weight;
    for (int q = 0; q < 2 * parts; ++q) {
        place[q] = (q + 0.5) / parts - 1;
        weight[q] = 2 * (1 - std::abs(place[q])) / parts;
    }
    std::array<std::array<double, 2 * parts>, d> height;
    for (int k = 0; k < d; ++k)
        for (int q = 0; q < 2 * parts; ++q) height[k][q] = place[q] * width[k] * normal[k];
    for (int a = 0; a < 2 * parts; ++a) {
        for (int b = 0; b < 2 * parts; ++b) {
            const double so_far = gap + height[0][a] + height[1][b], w = weight[a] * weight[b];
            if constexpr (d == 2) {
                outside[a / parts + 2 * (b / parts)] += so_far > 0 ? w : 0;
            } else {
                for (int c = 0; c < 2 * parts; ++c)
                    outside[a / parts + 2 * (b / parts) + 4 * (c / parts)] +=
                        so_far + height[2][c] > 0 ? w * weight[c] : 0;
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
                if (gap < diagonal) {
                    const Octants<d> outside = parts_outside<d>(grid.width, x.normal, gap);
                    for (int c = 0; c < corners<d>; ++c) space[j][c] *= outside[c];
                }
                if (gap > h * (state.velocity[j].norm() + fall + body_speed) && gap > small) continue;
                found[q].push_back({j, i, x.normal, gap});
            }
        }
    });
    for (const auto& part : found) touches.insert(touches.end(), part.begin(), part.end());
    std::sort(touches.begin(), touches.end(), [](const NodeTouch<d>& a, const NodeTouch<d>& b) {
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
