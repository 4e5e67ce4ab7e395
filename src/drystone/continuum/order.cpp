// Tiles of the blocks of sand, and what one solve leaves for the next.
#include "drystone/base/parallel.hpp"
#include "drystone/contact/assemble.hpp"
#include "drystone/continuum/rows.hpp"
#include "drystone/continuum/sites.hpp"

#include <algorithm>

namespace drystone {

template <int d>
void add_tiles(const SandMemory<d>& m, std::span<const Index> place, ConeProblem& problem) {
    Tiling& t = problem.tiling;
    const Grid<d>& grid = m.grid;
    const auto close_tile = [&] {
        if (static_cast<Index>(t.order.size()) > t.tile_start.back())
            t.tile_start.push_back(static_cast<Index>(t.order.size()));
    };
    const auto close_colour = [&] {
        if (t.tiles() > t.colour_start.back()) t.colour_start.push_back(t.tiles());
    };
    // Touches are sorted by node, and nodes by block of the grid.
    std::vector<Index> first_touch(grid.blocks.size() + 1, 0);
    for (const NodeTouch<d>& touch : m.touches) ++first_touch[grid.nodes[touch.node].block + 1];
    for (std::size_t b = 0; b < grid.blocks.size(); ++b) first_touch[b + 1] += first_touch[b];
    const auto moves = [&](const NodeTouch<d>& touch) { return place[touch.body] >= 0; };
    for (int colour = 0; colour < corners<d>; ++colour) {
        for (std::size_t b = 0; b < grid.blocks.size(); ++b) {
            if (colour_of<d>(grid.blocks[b]) != colour) continue;
            for (Index k = first_touch[b]; k < first_touch[b + 1]; ++k)
                if (!moves(m.touches[k])) t.order.push_back(m.first_touch + k);
            for (Index j = m.sites.start[b]; j < m.sites.start[b + 1]; ++j)
                t.order.push_back(m.first_tensor + j);
            close_tile();
        }
        close_colour();
    }
    // Of bodies that move: a tile for each, bodies that share a node one after the other.
    std::vector<Index> of_moving;
    for (std::size_t k = 0; k < m.touches.size(); ++k)
        if (moves(m.touches[k])) of_moving.push_back(static_cast<Index>(k));
    std::stable_sort(of_moving.begin(), of_moving.end(),
                     [&](Index a, Index b) { return m.touches[a].body < m.touches[b].body; });
    std::vector<Index> begin;  // of each body's
    for (std::size_t q = 0; q < of_moving.size(); ++q)
        if (q == 0 || m.touches[of_moving[q]].body != m.touches[of_moving[q - 1]].body)
            begin.push_back(static_cast<Index>(q));
    begin.push_back(static_cast<Index>(of_moving.size()));
    std::vector<std::vector<Index>> bodies_of;  // by colour
    std::vector<std::vector<std::uint8_t>> taken;
    for (Index s = 0; s + 1 < static_cast<Index>(begin.size()); ++s) {
        const auto free_in = [&](const std::vector<std::uint8_t>& nodes) {
            for (Index q = begin[s]; q < begin[s + 1]; ++q)
                if (nodes[m.touches[of_moving[q]].node] != 0) return false;
            return true;
        };
        std::size_t colour = 0;
        while (colour < taken.size() && !free_in(taken[colour])) ++colour;
        if (colour == taken.size()) {
            taken.emplace_back(grid.nodes.size(), std::uint8_t{0});
            bodies_of.emplace_back();
        }
        for (Index q = begin[s]; q < begin[s + 1]; ++q) taken[colour][m.touches[of_moving[q]].node] = 1;
        bodies_of[colour].push_back(s);
    }
    for (const auto& bodies : bodies_of) {
        for (const Index s : bodies) {
            for (Index q = begin[s]; q < begin[s + 1]; ++q) t.order.push_back(m.first_touch + of_moving[q]);
            close_tile();
        }
        close_colour();
    }
}

template <int d>
void recall(const Scene<d>& scene, const Sand<d>& sand, double h, int threads, const SandMemory<d>& m,
            const ConeProblem& problem, Vector& start) {
    const SandWarmStart<d>& warm = m.warm;
    parallel_for(threads, m.sites.count(), [&](Index i) {
        const Index was = find(warm, key_of(sand, m, i));
        if (was < 0) return;
        start.segment<tensor_size<d>>(problem.offset[m.first_tensor + i]) +=
            impulse_per_stress(sand, m.sites.volume[i], h) * warm.stress[was];
    });
    // Where a node touches several faces of a body, a force belongs to the one that it points away from most.
    std::size_t k = 0;
    for (std::size_t q = 0; q < m.touches.size();) {
        const auto [node, body] = std::pair(m.touches[q].node, m.touches[q].body);
        const Lattice<d> at = m.grid.lattice_place(m.grid.nodes[node]);
        const GlobalId id = scene.bodies.id[body];
        std::size_t last = q;
        while (last < m.touches.size() && m.touches[last].node == node && m.touches[last].body == body)
            ++last;
        while (k < warm.touch.size() && (comes_before<d>(warm.touch[k].node, at) ||
                                         (warm.touch[k].node == at && warm.touch[k].body < id)))
            ++k;
        for (; k < warm.touch.size() && warm.touch[k].node == at && warm.touch[k].body == id; ++k) {
            std::size_t best = q;
            for (std::size_t other = q; other < last; ++other)
                if (m.touches[other].normal.dot(warm.touch[k].force) >
                    m.touches[best].normal.dot(warm.touch[k].force))
                    best = other;
            const Index block = m.first_touch + static_cast<Index>(best);
            Wrench<d> wrench;
            wrench.force = h * warm.touch[k].force;
            std::array<double, max_block> r;
            in_frame<d>(problem.cones[block], m.touches[best].normal, wrench, r.data());
            for (int c = 0; c < d; ++c) start[problem.offset[block] + c] += r[c];
        }
        q = last;
    }
}

namespace {

/// Of the next step, from the stress and the strain rate of this one. Not inlined: a loop over sites would be cut into
/// vectors and a rest, which round otherwise, and where the rest begins depends on the number of threads.
template <int d>
[[gnu::noinline]] double friction_after(const Sand<d>& sand, const Tensor<d>& stress, const double* u) {
    const SandMaterial& material = sand.material;
    const double pressure = pressure_of<d>(stress);
    if (!(pressure > 0)) return material.friction;
    double squares = 0;
    for (int c = 1; c < tensor_size<d>; ++c) squares += u[c] * u[c];
    // I = grain diameter times shear rate 2 |Dev D| over sqrt(p / density).
    const double shear = 2 * std::sqrt(squares) / sand.length();
    return material.friction_at(material.grain_diameter * shear * std::sqrt(material.density / pressure));
}

}  // namespace

template <int d>
void remember(const Scene<d>& scene, const Sand<d>& sand, double h, int threads, const Vector& r,
              const Vector& u, const ConeProblem& problem, SandMemory<d>& m) {
    SandWarmStart<d>& warm = m.warm;
    const SandMaterial& material = sand.material;
    const bool changes = material.friction_fast > material.friction;
    const auto count = static_cast<std::size_t>(m.sites.count());
    // Nodes and cells are in the order of their keys, particles are not.
    std::vector<Index> order(count);
    for (Index i = 0; i < m.sites.count(); ++i) order[i] = i;
    if (sand.options.stress == StressSpace::particles)
        std::sort(order.begin(), order.end(), [&](Index a, Index b) {
            return sand.particles.id[m.sites.of[a]] < sand.particles.id[m.sites.of[b]];
        });
    warm.key.resize(count);
    warm.stress.resize(count);
    warm.friction.resize(changes ? count : 0);
    parallel_for(threads, m.sites.count(), [&](Index k) {
        const Index i = order[k], block = m.first_tensor + i, row = problem.offset[block];
        warm.key[k] = key_of(sand, m, i);
        Tensor<d> borne = r.segment<tensor_size<d>>(row);
        if (problem.pull.size() > 0) borne[0] -= problem.pull[block];
        warm.stress[k] = borne / impulse_per_stress(sand, m.sites.volume[i], h);
        if (!changes) return;
        warm.friction[k] = friction_after<d>(sand, warm.stress[k], u.data() + row);
    });
    warm.touch.clear();
    for (std::size_t q = 0; q < m.touches.size(); ++q) {
        const NodeTouch<d>& touch = m.touches[q];
        const Index block = m.first_touch + static_cast<Index>(q);
        const Vec<d> force =
            in_world<d>(problem.cones[block], touch.normal, r.data() + problem.offset[block]).force / h;
        if (force.isZero(0)) continue;
        warm.touch.push_back(
            {m.grid.lattice_place(m.grid.nodes[touch.node]), scene.bodies.id[touch.body], force});
    }
}

#define DRYSTONE_ORDER(d)                                                                              \
    template void add_tiles(const SandMemory<d>&, std::span<const Index>, ConeProblem&);               \
    template void recall(const Scene<d>&, const Sand<d>&, double, int, const SandMemory<d>&,           \
                         const ConeProblem&, Vector&);                                                 \
    template void remember(const Scene<d>&, const Sand<d>&, double, int, const Vector&, const Vector&, \
                           const ConeProblem&, SandMemory<d>&)
DRYSTONE_ORDER(2);
DRYSTONE_ORDER(3);
#undef DRYSTONE_ORDER

}  // namespace drystone
