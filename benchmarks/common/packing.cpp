#include "common/packing.hpp"

#include "common/noise.hpp"
#include "drystone/base/error.hpp"
#include "drystone/base/geometry.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace drystone {

namespace {

using Eigen::Vector3d;

struct Sphere {
    Vector3d centre;
    double radius;
};

struct Touch {
    Index a, b;  ///< b = -1: a wall
    Vector3d normal, point;
    std::array<Index, 3> cell;
};

constexpr double polydispersity = 0.05;  // radii are 1 +- this
constexpr double shake = 0.02;           // positions, in mean radii

/// Half the distance of neighbours on the lattice. The mean of two radii, r = 1 + polydispersity s with s uniform in
/// [-1, 1], exceeds 1 + polydispersity c with probability (1 - c)^2 / 2; each sphere has 6 neighbours that are not
/// counted twice, and 0.39 of them shall touch. The shaking widens the distances in the mean, by second order; c makes
/// up for it.
constexpr double half_spacing = 1 + polydispersity * 0.11;

struct Heap {
    std::vector<Sphere> spheres;
    std::vector<Touch> touches;
};

/// Fills the box in rows from the bottom until there are enough contacts.
Heap fill(const PackingOptions& options) {
    const Noise noise(options.seed);
    // Sites of a face-centred lattice: integer points (i, j, k) with an even sum, scaled; neighbours are (1, 1, 0) and
    // its like.
    const double scale = 2 * half_spacing / std::numbers::sqrt2;
    const double spheres = options.contacts / 2.35;
    const auto side = static_cast<Index>(std::max(2.0, std::round(std::cbrt(2 * spheres))));
    const double width = 2 + scale * (side - 1);
    constexpr int half_neighbours[6][3] = {{-1, -1, 0}, {1, -1, 0},  {-1, 0, -1},
                                           {1, 0, -1},  {0, -1, -1}, {0, 1, -1}};
    Heap heap;
    std::vector<Index> below(static_cast<std::size_t>(side) * side, -1), layer = below;
    auto touch_wall = [&](Index a, const Vector3d& normal, double distance) {
        const Sphere& s = heap.spheres[a];
        if (distance <= s.radius) heap.touches.push_back({a, -1, normal, s.centre - distance * normal, {}});
    };
    for (Index k = 0; static_cast<Index>(heap.touches.size()) < options.contacts; ++k) {
        std::swap(below, layer);
        std::fill(layer.begin(), layer.end(), -1);
        for (Index j = 0; j < side; ++j) {
            for (Index i = (j + k) % 2; i < side; i += 2) {
                if (static_cast<Index>(heap.touches.size()) >= options.contacts) return heap;
                const auto a = static_cast<Index>(heap.spheres.size());
                const auto site = static_cast<std::uint64_t>(a);
                const double radius = 1 + polydispersity * noise(site, 0);
                const Vector3d centre =
                    scale * Vector3d(i, j, k) + Vector3d::Ones() + shake * noise.vector(site, 1);
                heap.spheres.push_back({centre, radius});
                layer[j * side + i] = a;
                for (const auto& step : half_neighbours) {
                    const Index ni = i + step[0], nj = j + step[1];
                    if (ni < 0 || nj < 0 || ni >= side || nj >= side) continue;
                    const Index b = (step[2] < 0 ? below : layer)[nj * side + ni];
                    if (b < 0) continue;
                    const Sphere& other = heap.spheres[b];
                    const Vector3d apart = centre - other.centre;
                    const double distance = apart.norm();
                    if (distance > radius + other.radius) continue;
                    const Vector3d normal = apart / distance;
                    const double arm =
                        0.5 * (distance + radius - other.radius);  // middle of the overlap; at most `radius`
                    heap.touches.push_back({a, b, normal, centre - arm * normal, {}});
                }
                touch_wall(a, Vector3d::UnitZ(), centre.z());
                touch_wall(a, Vector3d::UnitX(), centre.x());
                touch_wall(a, Vector3d::UnitY(), centre.y());
                touch_wall(a, -Vector3d::UnitX(), width - centre.x());
                touch_wall(a, -Vector3d::UnitY(), width - centre.y());
            }
        }
    }
    return heap;
}

/// Colour of a cell (parities of its indices), then the cell: the order of work.
std::array<Index, 4> work_key(const std::array<Index, 3>& cell) {
    return {(cell[2] & 1) * 4 + (cell[1] & 1) * 2 + (cell[0] & 1), cell[2], cell[1], cell[0]};
}

/// The geometric tiling, and contacts renumbered in its order.
///
/// Two cells of one colour share no body. A contact belongs to the cell that holds its point, which lies in the ball of
/// the largest radius R about the centre of either of its spheres; so all contacts of a body lie in a cube of side 2 R.
/// Two cells of one colour that are not the same have, along some axis, indices that differ by an even number, so by 2
/// or more: along that axis there is a whole cell between them, of at least 4 R. No cube of side 2 R reaches into both.
Tiling tile_cells(std::vector<Touch>& touches, double cell_width) {
    for (Touch& t : touches) {
        for (int c = 0; c < 3; ++c) t.cell[c] = static_cast<Index>(std::floor(t.point[c] / cell_width));
    }
    std::stable_sort(touches.begin(), touches.end(),
                     [](const Touch& s, const Touch& t) { return work_key(s.cell) < work_key(t.cell); });
    Tiling tiling;
    tiling.order.resize(touches.size());
    std::iota(tiling.order.begin(), tiling.order.end(), 0);
    const auto n = static_cast<Index>(touches.size());
    for (Index q = 1; q <= n; ++q) {
        if (q < n && touches[q].cell == touches[q - 1].cell) continue;
        tiling.tile_start.push_back(q);
        if (q == n || work_key(touches[q].cell)[0] != work_key(touches[q - 1].cell)[0])
            tiling.colour_start.push_back(tiling.tiles());
    }
    return tiling;
}

/// Reorders the contacts of each tile: always the first one left whose bodies were not in the last `spacing` contacts,
/// or the first one left if there is none.
void space_out(std::vector<Touch>& touches, const Tiling& tiling, Index bodies, Index spacing) {
    std::vector<Index> last(bodies, -spacing - 1);
    std::vector<Touch> left;
    for (Index tile = 0; tile < tiling.tiles(); ++tile) {
        const auto begin = touches.begin() + tiling.tile_start[tile],
                   end = touches.begin() + tiling.tile_start[tile + 1];
        left.assign(begin, end);
        for (auto place = begin; place != end; ++place) {
            const auto q = static_cast<Index>(place - touches.begin());
            auto pick = std::find_if(left.begin(), left.end(), [&](const Touch& t) {
                return q - last[t.a] > spacing && (t.b < 0 || q - last[t.b] > spacing);
            });
            if (pick == left.end()) pick = left.begin();
            *place = *pick;
            left.erase(pick);
            last[place->a] = q;
            if (place->b >= 0) last[place->b] = q;
        }
    }
}

/// Bodies renumbered in the order in which the cells of their centres come, cell by cell of the grid; touches follow.
void sort_bodies(Heap& heap, double cell_width) {
    const auto n = static_cast<Index>(heap.spheres.size());
    std::vector<Index> order(n), place(n);
    std::iota(order.begin(), order.end(), 0);
    auto key = [&](Index body) {
        std::array<Index, 3> cell;
        for (int c = 0; c < 3; ++c)
            cell[2 - c] = static_cast<Index>(std::floor(heap.spheres[body].centre[c] / cell_width));
        return cell;
    };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) < key(b); });
    std::vector<Sphere> sorted;
    sorted.reserve(n);
    for (Index k = 0; k < n; ++k) {
        sorted.push_back(heap.spheres[order[k]]);
        place[order[k]] = k;
    }
    heap.spheres = std::move(sorted);
    for (Touch& t : heap.touches) {
        t.a = place[t.a];
        if (t.b >= 0) t.b = place[t.b];
    }
}

using Rows = Eigen::Matrix<double, 3, 6, Eigen::RowMajor>;

/// Velocity of the point at `arm` from the centre, in the frame E (rows n, t1, t2): e . (v + spin x arm) = e . v + (arm
/// x e) . spin.
Rows rows_at(const Eigen::Matrix3d& E, const Vector3d& arm, double sign) {
    Rows rows;
    for (int k = 0; k < 3; ++k) {
        const Vector3d e = E.row(k);
        rows.row(k) << sign * e.transpose(), sign * arm.cross(e).transpose();
    }
    return rows;
}

}  // namespace

ConeProblem make_packing(const PackingOptions& options) {
    if (options.contacts < 1) fail("packing: contacts", std::to_string(options.contacts), "give at least 1");
    if (!(options.cell_width >= 2))
        fail("packing: cell_width", std::to_string(options.cell_width), "give at least 2");
    Heap heap = fill(options);
    const double cell_width = options.cell_width * 2 * (1 + polydispersity);
    sort_bodies(heap, cell_width);
    ConeProblem p;
    p.tiling = tile_cells(heap.touches, cell_width);
    p.only().count = static_cast<Index>(heap.spheres.size());
    if (options.spacing > 0) space_out(heap.touches, p.tiling, p.only().count, options.spacing);

    const Noise noise(options.seed + 1);
    BlockInverseMass inverse;
    inverse.blocks.assign(static_cast<std::size_t>(p.only().count) * 36, 0.0);
    p.f.setZero(p.dofs());
    for (Index j = 0; j < p.only().count; ++j) {
        const double radius = heap.spheres[j].radius,
                     mass = 4.0 / 3 * std::numbers::pi * radius * radius * radius;
        const double turning = 0.4 * mass * radius * radius;
        Eigen::Matrix3d inertia = turning * Eigen::Matrix3d::Identity();
        if (options.general) {
            // Principal moments within 40 % of the sphere's, in random directions.
            const Vector3d moments = turning * (Vector3d::Ones() + 0.4 * noise.vector(j, 0));
            const Eigen::Quaterniond turned(noise(j, 3), noise(j, 4), noise(j, 5), 1.1 + noise(j, 6));
            const Eigen::Matrix3d Q = turned.normalized().toRotationMatrix();
            inertia = Q * moments.asDiagonal() * Q.transpose();
        }
        Eigen::Map<Eigen::Matrix<double, 6, 6, Eigen::RowMajor>> M_inv(inverse.blocks.data() +
                                                                       static_cast<std::size_t>(j) * 36);
        M_inv.topLeftCorner<3, 3>().diagonal().setConstant(1 / mass);
        const Eigen::Matrix3d I_inv = inertia.inverse();
        M_inv.bottomRightCorner<3, 3>() = 0.5 * (I_inv + I_inv.transpose());
        p.f.segment<3>(static_cast<Eigen::Index>(j) * 6) =
            mass * (-Vector3d::UnitZ() + options.noise * noise.vector(j, 8));
        p.f.segment<3>(static_cast<Eigen::Index>(j) * 6 + 3) =
            options.noise * (inertia * noise.vector(j, 11));
    }
    p.only().mass = std::move(inverse);

    for (Index i = 0; i < static_cast<Index>(heap.touches.size()); ++i) {
        const Touch& t = heap.touches[i];
        const Eigen::Matrix3d E = frame_of(t.normal);
        // Off the line of centres by up to a third of the radius across, as where faces meet.
        const auto object = static_cast<std::uint64_t>(p.only().count) + static_cast<std::uint64_t>(i);
        const Vector3d aside =
            options.general ? Vector3d(E.transpose() * (0.3 * noise.vector(object, 0))) : Vector3d::Zero();
        p.add_block(Cone::second_order(3, options.mu));
        const Rows a = rows_at(E, -heap.spheres[t.a].radius * t.normal + aside, 1);
        p.add_entry(t.a, {a.data(), 18});
        if (t.b >= 0) {
            const Rows b = rows_at(E, heap.spheres[t.b].radius * t.normal + aside, -1);
            p.add_entry(t.b, {b.data(), 18});
        }
    }
    p.w.setZero(p.rows());
    return p;
}

}  // namespace drystone
