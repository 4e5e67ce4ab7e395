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

/// To the faces in whose slivers a place in a cell is: -1 or 1 by direction, 0 where it is in none.
template <int d>
std::array<int, d> faces_at(const Vec<d>& x) {
    std::array<int, d> by;
    for (int k = 0; k < d; ++k) by[k] = x[k] <= sliver ? -1 : x[k] >= 1 - sliver ? 1 : 0;
    return by;
}

/// The cell that a particle in slivers of a thin one counts to: the first beside it that is not thin, across a face
/// before across an edge; -1: there is none.
template <int d>
Index cell_beyond(const Grid<d>& grid, const std::vector<std::uint8_t>& thin, Index cell,
                  const std::array<int, d>& by) {
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
            if (to >= 0 && thin[to] == 0) return to;
        }
    }
    return -1;
}

/// Nodes beyond a sliver would be light by as much as it is thin, and sweeps move what bears on such a node as slowly
/// (docs/theory.md, section 17).
template <int d>
void join_slivers(const Sand<d>& sand, int threads, Grid<d>& grid) {
    const Particles<d>& p = sand.particles;
    const Index cells = grid.cell_count();
    const auto faces = [&](Index cell, Index q) {
        return faces_at<d>(grid.place_in(grid.cell_origin(cell), p.position[grid.order[q]]));
    };
    std::vector<std::uint8_t> thin(grid.cells.size());
    parallel_for_uneven(threads, cells, 64, [&](Index c) {
        thin[c] = 1;
        for (Index q = grid.cell_start[c]; q < grid.cell_start[c + 1] && thin[c] != 0; ++q)
            thin[c] = faces(c, q) == std::array<int, d>{} ? 0 : 1;
    });
    struct Joined {
        Index to, place;
    };
    std::vector<Joined> joined;
    for (Index c = 0; c < cells; ++c) {
        if (thin[c] == 0) continue;
        for (Index q = grid.cell_start[c]; q < grid.cell_start[c + 1]; ++q) {
            const Index to = cell_beyond<d>(grid, thin, c, faces(c, q));
            if (to >= 0) joined.push_back({to, q});
        }
    }
    if (joined.empty()) return;
    std::vector<std::uint8_t> leaves(grid.order.size(), 0);  // by place in the order
    for (const Joined& j : joined) leaves[j.place] = 1;
    std::sort(joined.begin(), joined.end(), [](const Joined& a, const Joined& b) {
        return a.to != b.to ? a.to < b.to : a.place < b.place;
    });
    std::vector<Index> order, start(1, 0);
    std::vector<typename Grid<d>::Place> places;
    order.reserve(grid.order.size());
    start.reserve(grid.cell_start.size());
    places.reserve(grid.cells.size());
    auto next = joined.begin();
    for (Index c = 0; c < cells; ++c) {
        const auto begin = static_cast<std::ptrdiff_t>(order.size());
        for (Index q = grid.cell_start[c]; q < grid.cell_start[c + 1]; ++q)
            if (leaves[q] == 0) order.push_back(grid.order[q]);
        const bool gets = next != joined.end() && next->to == c;
        for (; next != joined.end() && next->to == c; ++next) order.push_back(grid.order[next->place]);
        if (gets)
            std::sort(order.begin() + begin, order.end(),
                      [&](Index a, Index b) { return p.id[a] < p.id[b]; });
        const auto& place = grid.cells[c];
        Index& number = grid.blocks[place.block].cell[place.local];
        number = -1;
        if (static_cast<std::ptrdiff_t>(order.size()) == begin) continue;
        number = static_cast<Index>(places.size());
        places.push_back(place);
        start.push_back(static_cast<Index>(order.size()));
    }
    grid.order = std::move(order);
    grid.cell_start = std::move(start);
    grid.cells = std::move(places);
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
