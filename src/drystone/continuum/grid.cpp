#include "drystone/continuum/grid.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel.hpp"

#include <bit>
#include <cstdint>
#include <utility>

namespace drystone {

namespace {

/// Blocks are at most so far from 0 along each direction.
constexpr std::int32_t farthest = (1 << 20) - 2;
constexpr int key_bits = 21;

template <int d>
std::uint64_t key_of(const Lattice<d>& at) {
    std::uint64_t key = 0;
    for (int k = d - 1; k >= 0; --k)
        key = key << key_bits | static_cast<std::uint64_t>(at[k] + (std::int64_t{1} << 20));
    return key;
}

template <int d>
Lattice<d> place_of(std::uint64_t key) {
    Lattice<d> at;
    for (int k = 0; k < d; ++k, key >>= key_bits)
        at[k] =
            static_cast<std::int32_t>(static_cast<std::int64_t>(key & ((1U << key_bits) - 1)) - (1 << 20));
    return at;
}

template <int d>
Index find_block(const std::vector<GridBlock<d>>& blocks, std::uint64_t key) {
    const auto found =
        std::lower_bound(blocks.begin(), blocks.end(), key,
                         [](const GridBlock<d>& b, std::uint64_t k) { return key_of<d>(b.at) < k; });
    if (found == blocks.end() || key_of<d>(found->at) != key) return -1;
    return static_cast<Index>(found - blocks.begin());
}

void sort_unique(std::vector<std::uint64_t>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

/// f(share, begin, end) for as many shares of [0, n) as there are threads.
template <class F>
void by_shares(int threads, Index n, F&& f) {
    const std::int64_t all = n;
    parallel_for(threads, threads, [&](Index s) {
        f(s, static_cast<Index>(all * s / threads), static_cast<Index>(all * (s + 1) / threads));
    });
}

/// A step to a cell beside.
template <int d>
using Beside = std::array<std::int8_t, d>;

/// To the faces that all of a cell's particles lie at: -1 or 1 by direction, 0 where they lie at none.
template <int d>
Beside<d> faces_of(const Sand<d>& sand, const Grid<d>& grid, Index cell) {
    const Vec<d> origin = grid.cell_origin(cell);
    Vec<d> least = Vec<d>::Ones(), most = Vec<d>::Zero();
    for (Index q = grid.cell_start[cell]; q < grid.cell_start[cell + 1]; ++q) {
        const Vec<d> x = grid.place_in(origin, sand.particles.position[grid.order[q]]);
        least = least.cwiseMin(x);
        most = most.cwiseMax(x);
    }
    Beside<d> by{};
    for (int k = 0; k < d; ++k) by[k] = most[k] <= sliver ? -1 : least[k] >= 1 - sliver ? 1 : 0;
    return by;
}

/// The cell that one whose particles lie at faces is joined to: the first beside it of which that is not so, across a
/// face before across an edge; -1: it stays.
template <int d>
Index cell_to_join(const Grid<d>& grid, const std::vector<Beside<d>>& at_face, Index cell) {
    const Beside<d>& by = at_face[cell];
    for (int directions = 1; directions <= d; ++directions) {
        for (int c = 1; c < corners<d>; ++c) {
            if (std::popcount(static_cast<unsigned>(c)) != directions) continue;
            std::array<int, d> step{};
            bool moves = true;
            for (int k = 0; k < d; ++k) {
                if ((c >> k & 1) == 0) continue;
                step[k] = by[k];
                moves &= by[k] != 0;
            }
            if (!moves) continue;
            const Index to = grid.cell_beside(grid.cells[cell], step);
            if (to >= 0 && at_face[to] == Beside<d>{}) return to;
        }
    }
    return -1;
}

/// Nodes beyond a sliver would be light by as much as it is thin, and sweeps move what bears on such a node as slowly
/// (docs/theory.md, section 17).
template <int d>
void join_slivers(const Sand<d>& sand, int threads, Grid<d>& grid) {
    const Index cells = grid.cell_count();
    std::vector<Beside<d>> at_face(grid.cells.size());
    std::vector<Index> to(grid.cells.size());
    parallel_for_uneven(threads, cells, 64, [&](Index c) { at_face[c] = faces_of(sand, grid, c); });
    parallel_for(threads, cells, [&](Index c) {
        to[c] = at_face[c] == Beside<d>{} ? -1 : cell_to_join<d>(grid, at_face, c);
    });
    std::vector<std::pair<Index, Index>> joined;  // to which cell, and which
    for (Index c = 0; c < cells; ++c)
        if (to[c] >= 0) joined.emplace_back(to[c], c);
    if (joined.empty()) return;
    std::sort(joined.begin(), joined.end());
    const std::vector<Index> order = std::exchange(grid.order, {}),
                             start = std::exchange(grid.cell_start, {0});
    const std::vector<typename Grid<d>::Place> places = std::exchange(grid.cells, {});
    grid.order.reserve(order.size());
    auto next = joined.begin();
    for (Index c = 0; c < cells; ++c) {
        if (to[c] >= 0) {
            grid.blocks[places[c].block].cell[places[c].local] = -1;
            continue;
        }
        const auto begin = static_cast<std::ptrdiff_t>(grid.order.size());
        grid.order.insert(grid.order.end(), order.begin() + start[c], order.begin() + start[c + 1]);
        const bool gets = next != joined.end() && next->first == c;
        for (; next != joined.end() && next->first == c; ++next)
            grid.order.insert(grid.order.end(), order.begin() + start[next->second],
                              order.begin() + start[next->second + 1]);
        if (gets)
            std::sort(grid.order.begin() + begin, grid.order.end(),
                      [&](Index a, Index b) { return sand.particles.id[a] < sand.particles.id[b]; });
        grid.blocks[places[c].block].cell[places[c].local] = grid.cell_count();
        grid.cells.push_back(places[c]);
        grid.cell_start.push_back(static_cast<Index>(grid.order.size()));
    }
}

}  // namespace

template <int d>
Index Grid<d>::block_at(const Lattice<d>& at) const {
    if (at.cwiseAbs().maxCoeff() > farthest) return -1;
    return find_block(blocks, key_of<d>(at));
}

template <int d>
Index Grid<d>::node_at(const Lattice<d>& x) const {
    Lattice<d> at;
    int local = 0;
    for (int k = d - 1; k >= 0; --k) {
        at[k] = x[k] >> 2;
        local = local * block_side + (x[k] & 3);
    }
    const Index b = block_at(at);
    return b < 0 ? -1 : blocks[b].node[local];
}

template <int d>
void sort_particles(const Sand<d>& sand, int threads, Grid<d>& grid) {
    const Particles<d>& p = sand.particles;
    const Index n = p.count();
    grid.width = sand.cell;
    struct Where {
        std::uint64_t block;
        std::int32_t local;
    };
    std::vector<Where> where(static_cast<std::size_t>(n));
    std::vector<std::vector<std::uint64_t>> found(static_cast<std::size_t>(threads));
    const Vec<d> per_width = sand.cell.cwiseInverse();
    by_shares(threads, n, [&](Index s, Index begin, Index end) {
        std::uint64_t last = ~std::uint64_t{0};
        for (Index i = begin; i < end; ++i) {
            Lattice<d> at;
            int local = 0;
            for (int k = d - 1; k >= 0; --k) {
                const double x = std::floor(p.position[i][k] * per_width[k]);
                if (!(std::abs(x) < block_side * static_cast<double>(farthest)))
                    fail("sand", "particle " + std::to_string(p.id[i]) + " has left the space of a grid",
                         "close the domain, or make steps shorter");
                const auto cell = static_cast<std::int32_t>(x);
                at[k] = cell >> 2;
                local = local * block_side + (cell & 3);
            }
            where[i] = {key_of<d>(at), local};
            if (where[i].block != last) found[s].push_back(last = where[i].block);
        }
        sort_unique(found[s]);
    });
    std::vector<std::uint64_t> occupied;
    for (const auto& part : found) occupied.insert(occupied.end(), part.begin(), part.end());
    sort_unique(occupied);
    // Nodes on the far sides of a block are their neighbours'.
    std::vector<std::uint64_t> keys = occupied;
    for (const std::uint64_t key : occupied) {
        const Lattice<d> at = place_of<d>(key);
        for (int c = 1; c < corners<d>; ++c) {
            Lattice<d> to = at;
            for (int k = 0; k < d; ++k) to[k] += c >> k & 1;
            keys.push_back(key_of<d>(to));
        }
    }
    sort_unique(keys);
    grid.blocks.resize(keys.size());
    parallel_for(threads, static_cast<Index>(keys.size()), [&](Index b) {
        GridBlock<d>& block = grid.blocks[b];
        block.at = place_of<d>(keys[b]);
        block.cell.fill(-1);
        block.node.fill(-1);
    });
    parallel_for(threads, static_cast<Index>(keys.size()), [&](Index b) {
        GridBlock<d>& block = grid.blocks[b];
        for (int q = 0; q < around<d>; ++q) {
            Lattice<d> to = block.at;
            for (int k = 0, rest = q; k < d; ++k, rest /= 3) to[k] += rest % 3 - 1;
            block.neighbour[q] = find_block(grid.blocks, key_of<d>(to));
        }
    });
    // Particles by cell, by counting; those of a cell in the order of their ids.
    const std::size_t places = keys.size() * block_size<d>;
    std::vector<Index> count(places * static_cast<std::size_t>(threads), 0);
    std::vector<Index> place(static_cast<std::size_t>(n));
    by_shares(threads, n, [&](Index s, Index begin, Index end) {
        Index* own = count.data() + places * static_cast<std::size_t>(s);
        std::uint64_t last = ~std::uint64_t{0};
        Index block = -1;
        for (Index i = begin; i < end; ++i) {
            if (where[i].block != last) {
                last = where[i].block;
                block = static_cast<Index>(std::lower_bound(keys.begin(), keys.end(), last) - keys.begin());
            }
            place[i] = block * block_size<d> + where[i].local;
            ++own[place[i]];
        }
    });
    grid.cells.clear();
    grid.cell_start.assign(1, 0);
    Index before = 0;
    for (std::size_t q = 0; q < places; ++q) {
        const Index begin = before;
        for (int s = 0; s < threads; ++s) {
            Index& own = count[places * static_cast<std::size_t>(s) + q];
            const Index here = own;
            own = before;
            before += here;
        }
        if (before == begin) continue;
        const auto block = static_cast<Index>(q / block_size<d>);
        const auto local = static_cast<std::int32_t>(q % block_size<d>);
        grid.blocks[block].cell[local] = static_cast<Index>(grid.cells.size());
        grid.cells.push_back({block, local});
        grid.cell_start.push_back(before);
    }
    grid.order.resize(static_cast<std::size_t>(n));
    by_shares(threads, n, [&](Index s, Index begin, Index end) {
        Index* own = count.data() + places * static_cast<std::size_t>(s);
        for (Index i = begin; i < end; ++i) grid.order[own[place[i]]++] = i;
    });
    parallel_for(threads, grid.cell_count(), [&](Index c) {
        const auto begin = grid.order.begin() + grid.cell_start[c],
                   end = grid.order.begin() + grid.cell_start[c + 1];
        // Nearly sorted nearly always.
        for (auto i = begin; i != end; ++i) {
            const Index moving = *i;
            auto to = i;
            for (; to != begin && p.id[*(to - 1)] > p.id[moving]; --to) *to = *(to - 1);
            *to = moving;
        }
    });
    join_slivers(sand, threads, grid);
}

template struct Grid<2>;
template struct Grid<3>;
template void sort_particles(const Sand<2>&, int, Grid<2>&);
template void sort_particles(const Sand<3>&, int, Grid<3>&);

}  // namespace drystone
