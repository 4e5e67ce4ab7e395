#include "drystone/continuum/sites.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/continuum/rows.hpp"

#include <algorithm>

namespace drystone {

template <int d>
StressKey<d> key_of(const Sand<d>& sand, const SandMemory<d>& m, Index site) {
    const Index of = m.sites.of[site];
    switch (sand.options.stress) {
        case StressSpace::nodes:
            return {m.grid.lattice_place(m.grid.nodes[of]), 0};
        case StressSpace::cells:
            return {m.grid.lattice_place(m.grid.cells[of]), m.sites.corner[site]};
        case StressSpace::particles:
            break;
    }
    return {Lattice<d>::Zero(), sand.particles.id[of]};
}

template <int d>
Index find(const SandWarmStart<d>& warm, const StressKey<d>& key) {
    const auto at = std::lower_bound(warm.key.begin(), warm.key.end(), key, key_before<d>);
    return at == warm.key.end() || !(*at == key) ? -1 : static_cast<Index>(at - warm.key.begin());
}

namespace {

/// The place that a particle stands for: a box with the half axes of its frame.
template <int d>
double volume_of(const Mat<d>& frame) {
    return corners<d> * std::sqrt(std::max(frame.determinant(), 0.0));
}

template <int d>
void add_nodes_as_sites(SandMemory<d>& m) {
    StressSites& s = m.sites;
    s.start = m.grid.node_start;
    s.of.resize(m.grid.nodes.size());
    for (Index j = 0; j < m.grid.node_count(); ++j) {
        s.of[j] = j;
        double space = 0;
        for (const double part : m.space[j]) space += part;
        s.volume.push_back(m.state.volume[j]);
        s.space.push_back(space);
        if (!m.state.cohesion.empty()) s.cohesion.push_back(m.state.cohesion[j]);
    }
}

template <int d>
void add_corners_as_sites(const Sand<d>& sand, SandMemory<d>& m) {
    StressSites& s = m.sites;
    const double least = least_share * sand.cell_volume();
    for (Index c = 0; c < m.grid.cell_count(); ++c) {
        const CellMoments<d>& cell = m.state.cells[c];
        const std::array<Index, corners<d>> nodes = m.grid.corners_of(c);
        for (int k = 0; k < corners<d>; ++k) {
            if (nodes[k] < 0 || cell.share[k] <= least) continue;
            s.of.push_back(c);
            s.corner.push_back(static_cast<std::uint8_t>(k));
            s.volume.push_back(cell.share[k]);
            s.space.push_back(m.space[nodes[k]][corners<d> - 1 - k]);
            if (!m.state.cohesion.empty()) s.cohesion.push_back(cell.cohesion[k] / cell.share[k]);
        }
    }
}

template <int d>
void add_particles_as_sites(const Sand<d>& sand, SandMemory<d>& m) {
    StressSites& s = m.sites;
    const Particles<d>& p = sand.particles;
    for (Index c = 0; c < m.grid.cell_count(); ++c) {
        for (Index q = m.grid.cell_start[c]; q < m.grid.cell_start[c + 1]; ++q) {
            const Index i = m.grid.order[q];
            s.of.push_back(i);
            s.volume.push_back(p.volume[i]);
            s.space.push_back(volume_of<d>(p.frame[i]));
            if (!p.cohesion.empty()) s.cohesion.push_back(p.cohesion[i]);
        }
    }
}

/// By block of the grid, from the cells of the sites.
template <int d>
void count_by_block(const Grid<d>& grid, StressSites& s, const std::vector<Index>& by_cell) {
    s.start.assign(grid.blocks.size() + 1, 0);
    for (Index c = 0; c < grid.cell_count(); ++c) s.start[grid.cells[c].block + 1] += by_cell[c];
    for (std::size_t b = 0; b < grid.blocks.size(); ++b) s.start[b + 1] += s.start[b];
}

}  // namespace

template <int d>
void find_sites(const Sand<d>& sand, int threads, SandMemory<d>& m) {
    StressSites& s = m.sites;
    s.of.clear();
    s.corner.clear();
    s.volume.clear();
    s.space.clear();
    s.cohesion.clear();
    if (sand.options.stress == StressSpace::nodes) {
        add_nodes_as_sites(m);
    } else {
        std::vector<Index> by_cell(m.grid.cells.size());
        if (sand.options.stress == StressSpace::cells) {
            add_corners_as_sites(sand, m);
            for (const Index c : s.of) ++by_cell[c];
        } else {
            add_particles_as_sites(sand, m);
            for (Index c = 0; c < m.grid.cell_count(); ++c)
                by_cell[c] = m.grid.cell_start[c + 1] - m.grid.cell_start[c];
        }
        count_by_block(m.grid, s, by_cell);
    }
    s.friction.assign(s.of.size(), sand.material.friction);
    if (m.warm.friction.empty()) return;
    parallel_for(threads, s.count(), [&](Index i) {
        const Index was = find(m.warm, key_of(sand, m, i));
        if (was >= 0) s.friction[i] = m.warm.friction[was];
    });
}

template <int d>
std::vector<double> pressures(const Sand<d>& sand, const SandWarmStart<d>& warm) {
    const Particles<d>& p = sand.particles;
    std::vector<double> out(p.id.size());
    const auto known = [&](const StressKey<d>& key) {
        const Index k = find(warm, key);
        return k < 0 ? 0.0 : pressure_of<d>(warm.stress[k]);
    };
    const auto cell_of = [&](Index i) {
        Lattice<d> cell;
        for (int k = 0; k < d; ++k)
            cell[k] = static_cast<std::int32_t>(std::floor(p.position[i][k] / sand.cell[k]));
        return cell;
    };
    if (sand.options.stress == StressSpace::particles) {
        std::vector<std::pair<Lattice<d>, Index>> by_cell;
        for (Index i = 0; i < p.count(); ++i) by_cell.emplace_back(cell_of(i), i);
        std::sort(by_cell.begin(), by_cell.end(), [&](const auto& a, const auto& b) {
            return a.first == b.first ? p.id[a.second] < p.id[b.second] : comes_before<d>(a.first, b.first);
        });
        for (auto first = by_cell.begin(); first != by_cell.end();) {
            const auto last =
                std::find_if(first, by_cell.end(), [&](const auto& x) { return x.first != first->first; });
            double sum = 0;
            for (auto x = first; x != last; ++x) sum += known({Lattice<d>::Zero(), p.id[x->second]});
            for (auto x = first; x != last; ++x) out[x->second] = sum / static_cast<double>(last - first);
            first = last;
        }
        return out;
    }
    // The mean of those of its corners that there are.
    const auto mean_of = [&](const Lattice<d>& cell) {
        double sum = 0;
        int count = 0;
        for (int c = 0; c < corners<d>; ++c) {
            StressKey<d> key{cell, 0};
            if (sand.options.stress == StressSpace::cells) {
                key.part = c;
            } else {
                for (int k = 0; k < d; ++k) key.at[k] += c >> k & 1;
            }
            const Index k = find(warm, key);
            if (k < 0) continue;
            sum += pressure_of<d>(warm.stress[k]);
            ++count;
        }
        return std::pair(count == 0 ? 0.0 : sum / count, count);
    };
    for (Index i = 0; i < p.count(); ++i) {
        Lattice<d> cell = cell_of(i);
        auto [mean, count] = mean_of(cell);
        if (count == 0) {  // it may count to the cell across the nearest face
            const Vec<d> x = p.position[i].cwiseQuotient(sand.cell) - cell.template cast<double>();
            Eigen::Index nearest = 0;
            (x.array() - 0.5).abs().maxCoeff(&nearest);
            cell[nearest] += x[nearest] < 0.5 ? -1 : 1;
            mean = mean_of(cell).first;
        }
        out[i] = mean;
    }
    return out;
}

#define DRYSTONE_SITES(d)                                                      \
    template StressKey<d> key_of(const Sand<d>&, const SandMemory<d>&, Index); \
    template Index find(const SandWarmStart<d>&, const StressKey<d>&);         \
    template void find_sites(const Sand<d>&, int, SandMemory<d>&);             \
    template std::vector<double> pressures(const Sand<d>&, const SandWarmStart<d>&)
DRYSTONE_SITES(2);
DRYSTONE_SITES(3);
#undef DRYSTONE_SITES

}  // namespace drystone
