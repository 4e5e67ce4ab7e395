// Pairs from the grids of pair_search.hpp.
#include "drystone/pairs/find_pairs.hpp"

#include "drystone/base/error.hpp"
#include "drystone/pairs/pair_search.hpp"

#include <fmt/format.h>

namespace drystone {

namespace pair_search {

template <int d>
void Search<d>::sweep() {
    struct Chunk {
        int grid;  // -1: bodies against half-spaces
        std::size_t begin, end;
    };
    std::vector<Chunk> chunks;
    for (std::size_t g = 0; g < grids_.size(); ++g)
        for (std::size_t begin = 0; begin < grids_[g].count; begin += chunk_items)
            chunks.push_back({static_cast<int>(g), begin, std::min(grids_[g].count, begin + chunk_items)});
    if (!half_spaces_.empty())
        for (Index begin = 0; begin < n_; begin += block_bodies)
            chunks.push_back({-1, static_cast<std::size_t>(begin),
                              static_cast<std::size_t>(std::min(n_, begin + block_bodies))});
    work_.found.resize(std::max(work_.found.size(), chunks.size()));
    for (auto& found : work_.found) found.clear();
    parallel_for_uneven(threads_, static_cast<Index>(chunks.size()), 1, [&](Index i) {
        const Chunk& chunk = chunks[i];
        Pairs& out = work_.found[i];
        if (chunk.grid < 0) {
            sweep_half_spaces(static_cast<Index>(chunk.begin), static_cast<Index>(chunk.end), out);
            return;
        }
        const auto g = static_cast<std::size_t>(chunk.grid);
        sweep_own(g, chunk.begin, chunk.end, out);
        for (std::size_t coarse = g + 1; coarse < grids_.size(); ++coarse)
            sweep_coarser(g, coarse, chunk.begin, chunk.end, out);
    });
}

/// Pairs within a class: each item with those after it in its own cell and with those in half of the cells around.
template <int d>
void Search<d>::sweep_own(std::size_t g, std::size_t begin, std::size_t end, Pairs& out) const {
    const PairGrid<d>& grid = grids_[g];
    const Item* items = &work_.items[grid.first];
    const std::uint64_t* keys = &work_.keys[grid.first];
    // Cells ahead of the own one in x (a stretch with it, or the row's first cell), and rows of three ahead in y or z;
    // where a row of three passes the end of the torus, its cells are single stretches.
    constexpr int rows = d == 3 ? 4 : 1;
    constexpr std::array<std::array<int, 2>, 4> row_steps = {{{1, 0}, {-1, 1}, {0, 1}, {1, 1}}};
    std::array<Stretch, 1 + 3 * rows> stretches;
    int used = 0;
    std::size_t own_end = 0;
    std::uint64_t last_key = ~std::uint64_t{0};
    for (std::size_t i = begin; i < end; ++i) {
        if (keys[i] != last_key) {
            last_key = keys[i];
            std::array<std::int64_t, d> c;
            auto rest = static_cast<std::int64_t>(last_key);
            for (int k = 0; k < d - 1; ++k) {
                c[k] = rest % grid.cells[k];
                rest /= grid.cells[k];
            }
            c[d - 1] = rest;
            const bool inside = c[0] > 0 && c[0] + 1 < grid.cells[0];
            own_end = i;
            const std::uint64_t own_last = last_key + (c[0] + 1 < grid.cells[0] ? 1 : 0);
            while (own_end < grid.count && keys[own_end] <= own_last) ++own_end;
            used = 0;
            const auto add = [&](std::array<std::int64_t, d> at, int steps) {
                const std::uint64_t first = grid.key(at);
                stretches[used++] = stretch(grid, first, first + static_cast<std::uint64_t>(steps));
            };
            if (c[0] + 1 == grid.cells[0]) {
                std::array<std::int64_t, d> at = c;
                at[0] = 0;
                add(at, 0);
            }
            for (int row = 0; row < rows; ++row) {
                std::array<std::int64_t, d> at = c;
                for (int k = 1; k < d; ++k) at[k] = grid.wrapped(k, c[k] + row_steps[row][k - 1]);
                if (inside) {
                    at[0] = c[0] - 1;
                    add(at, 2);
                } else {
                    for (int step = -1; step <= 1; ++step) {
                        at[0] = grid.wrapped(0, c[0] + step);
                        add(at, 0);
                    }
                }
            }
        }
        const Item& p = items[i];
        for (std::size_t j = i + 1; j < own_end; ++j) consider(p, items[j], true, out);
        for (int s = 0; s < used; ++s)
            for (std::size_t j = stretches[s].begin; j < stretches[s].end; ++j)
                consider(p, items[j], true, out);
    }
}

/// Pairs of bodies of a class with bodies, and images, of a coarser one.
template <int d>
void Search<d>::sweep_coarser(std::size_t fine, std::size_t coarse, std::size_t begin, std::size_t end,
                              Pairs& out) const {
    const PairGrid<d>& grid = grids_[coarse];
    const Item* fine_items = &work_.items[grids_[fine].first];
    const Item* items = &work_.items[grid.first];
    // Never more than three cells wide: twice this is less than two cells.
    const double reach = (grids_[fine].radius + grid.radius) * range_slack;
    std::array<Stretch, d == 3 ? 27 : 9> stretches;
    int used = 0;
    std::array<std::int64_t, d> low{}, high{};
    bool fresh = true;
    for (std::size_t i = begin; i < end; ++i) {
        const Item& p = fine_items[i];
        if ((p.tag & code_mask) != 0) continue;
        bool same = !fresh;
        for (int k = 0; k < d; ++k) {
            const std::int64_t l = grid.coordinate(k, p.x[k] - reach), h = grid.coordinate(k, p.x[k] + reach);
            same = same && l == low[k] && h == high[k];
            low[k] = l;
            high[k] = h;
        }
        if (!same) {
            fresh = false;
            used = 0;
            std::array<std::int64_t, d> at{};
            const std::int64_t x0 = grid.wrapped(0, low[0]), x1 = grid.wrapped(0, high[0]);
            const auto add_row = [&] {
                if (x0 <= x1) {
                    at[0] = x0;
                    const std::uint64_t first = grid.key(at);
                    stretches[used++] = stretch(grid, first, first + static_cast<std::uint64_t>(x1 - x0));
                    return;
                }
                for (std::int64_t x = low[0]; x <= high[0]; ++x) {
                    at[0] = grid.wrapped(0, x);
                    const std::uint64_t key = grid.key(at);
                    stretches[used++] = stretch(grid, key, key);
                }
            };
            if constexpr (d == 3) {
                for (std::int64_t z = low[2]; z <= high[2]; ++z) {
                    at[2] = grid.wrapped(2, z);
                    for (std::int64_t y = low[1]; y <= high[1]; ++y) {
                        at[1] = grid.wrapped(1, y);
                        add_row();
                    }
                }
            } else {
                for (std::int64_t y = low[1]; y <= high[1]; ++y) {
                    at[1] = grid.wrapped(1, y);
                    add_row();
                }
            }
        }
        for (int s = 0; s < used; ++s)
            for (std::size_t j = stretches[s].begin; j < stretches[s].end; ++j)
                consider(p, items[j], false, out);
    }
}

template <int d>
void Search<d>::sweep_half_spaces(Index begin, Index end, Pairs& out) const {
    for (const Index plane : half_spaces_) {
        const Vec<d> normal = matrix(bodies_.rotation[plane]).col(d - 1);
        const Vec<d> point = Eigen::Map<const Vec<d>>(place(plane, 0).data());
        const bool plane_held = !bodies_.is_free(plane);
        for (Index i = begin; i < end; ++i) {
            if (kind(i) == Kind::half_space || (plane_held && !bodies_.is_free(i))) continue;
            const std::array<double, d> x = place(i, 0);
            double height = 0;
            for (int k = 0; k < d; ++k) height += normal[k] * (x[k] - point[k]);
            if (height > radius(i) + margin_[plane]) continue;
            if (kind(i) == Kind::other) {
                // The lowest corner of the body's own box, not widened: that would count the margin along every axis.
                const Bounds<d>& box = work_.bounds[i];
                for (int k = 0; k < d; ++k)
                    height +=
                        normal[k] * (normal[k] > 0 ? box.lower[k] + margin_[i] : box.upper[k] - margin_[i]);
                if (height > margin_[i] + margin_[plane]) continue;
            }
            out.push_back({std::min(i, plane), std::max(i, plane), 0});
        }
    }
}

/// Puts the pairs of all chunks together, sorted.
template <int d>
void Search<d>::gather(Pairs& pairs) {
    const auto chunk_count = static_cast<Index>(work_.found.size());
    work_.start.assign(static_cast<std::size_t>(n_) + 1, 0);
    // Each body's pairs are counted and put into their stretch in any order, then the stretch is sorted: since no two
    // pairs are equal, the result does not depend on the order in which threads come by.
    const auto advance = [&](Index a) {
        std::size_t& at = work_.start[a];
        return threads_ > 1 ? std::atomic_ref<std::size_t>(at).fetch_add(1, std::memory_order_relaxed) : at++;
    };
    parallel_for_uneven(threads_, chunk_count, 1, [&](Index chunk) {
        for (const Candidate<d>& pair : work_.found[chunk]) advance(pair.a);
    });
    std::size_t total = 0;
    for (std::size_t& start : work_.start) {
        const std::size_t count = start;
        start = total;
        total += count;
    }
    pairs.resize(total);
    parallel_for_uneven(threads_, chunk_count, 1, [&](Index chunk) {
        for (const Candidate<d>& pair : work_.found[chunk]) pairs[advance(pair.a)] = pair;
    });
    // Now start[a] is where the pairs of a end.
    for_blocks(threads_, n_, [&](Index, Index begin, Index end) {
        std::size_t first = begin == 0 ? 0 : work_.start[begin - 1];
        for (Index a = begin; a < end; ++a) {
            const std::size_t last = work_.start[a];
            std::sort(pairs.begin() + static_cast<std::ptrdiff_t>(first),
                      pairs.begin() + static_cast<std::ptrdiff_t>(last));
            first = last;
        }
    });
}

}  // namespace pair_search

template <int d>
void find_pairs(const Scene<d>& scene, std::span<const double> margin, int threads,
                std::vector<Candidate<d>>& pairs, PairWorkspace<d>& workspace) {
    if (margin.size() != static_cast<std::size_t>(scene.bodies.count()))
        fail("find_pairs", fmt::format("{} margins for {} bodies", margin.size(), scene.bodies.count()),
             "give one per body");
    pair_search::Search<d>(scene, margin, resolve_threads(threads), workspace).run(pairs);
}

template <int d>
void find_pairs(const Scene<d>& scene, std::span<const double> margin, int threads,
                std::vector<Candidate<d>>& pairs) {
    PairWorkspace<d> workspace;
    find_pairs(scene, margin, threads, pairs, workspace);
}

template void find_pairs(const Scene<2>&, std::span<const double>, int, std::vector<Candidate<2>>&);
template void find_pairs(const Scene<3>&, std::span<const double>, int, std::vector<Candidate<3>>&);
template void find_pairs(const Scene<2>&, std::span<const double>, int, std::vector<Candidate<2>>&,
                         PairWorkspace<2>&);
template void find_pairs(const Scene<3>&, std::span<const double>, int, std::vector<Candidate<3>>&,
                         PairWorkspace<3>&);

}  // namespace drystone
