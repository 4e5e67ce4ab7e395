#include "drystone/sweep/tiling.hpp"

#include <algorithm>
#include <numeric>

namespace drystone {

namespace {

/// Which blocks meet where: block i touches hubs [block_start[i], block_start[i+1]); two blocks couple if they share a
/// hub. A hub is a moving body, or one off-diagonal entry of W where the mass couples bodies.
struct HubGraph {
    std::vector<Index> block_start = {0}, hub_of;
    std::vector<Index> hub_start, block_of;
};

HubGraph make_graph(const Delassus& W) {
    const ConeProblem& p = W.problem();
    HubGraph g;
    Index hubs = 0;
    if (W.whitened()) {
        hubs = p.bodies();
        for (Index i = 0; i < p.blocks(); ++i) {
            for_each_body(p, i, [&](Index body) {
                if (p.moves(body)) g.hub_of.push_back(body);
            });
            g.block_start.push_back(static_cast<Index>(g.hub_of.size()));
        }
    } else {
        const BlockSparse& A = W.matrix();
        std::vector<std::pair<Index, Index>> pairs;
        for (Index i = 0; i < p.blocks(); ++i) {
            for (Index k = A.start[i]; k < A.start[i + 1]; ++k) {
                if (A.column[k] > i) {
                    pairs.emplace_back(i, hubs);
                    pairs.emplace_back(A.column[k], hubs);
                    ++hubs;
                }
            }
        }
        std::sort(pairs.begin(), pairs.end());
        for (Index i = 0, q = 0; i < p.blocks(); ++i) {
            for (; q < static_cast<Index>(pairs.size()) && pairs[q].first == i; ++q)
                g.hub_of.push_back(pairs[q].second);
            g.block_start.push_back(static_cast<Index>(g.hub_of.size()));
        }
    }
    g.hub_start.assign(hubs + 1, 0);
    for (Index h : g.hub_of) g.hub_start[h + 1] += 1;
    std::partial_sum(g.hub_start.begin(), g.hub_start.end(), g.hub_start.begin());
    g.block_of.resize(g.hub_of.size());
    std::vector<Index> next(g.hub_start.begin(), g.hub_start.end() - 1);
    for (Index i = 0; i < p.blocks(); ++i) {
        for (Index k = g.block_start[i]; k < g.block_start[i + 1]; ++k) g.block_of[next[g.hub_of[k]]++] = i;
    }
    return g;
}

/// Tiles by breadth-first search from the first block not yet taken.
std::vector<Index> grow_tiles(const HubGraph& g, Index blocks, Index tile_size, Index& tiles) {
    std::vector<Index> tile_of(blocks, -1), queue;
    tiles = 0;
    for (Index seed = 0; seed < blocks; ++seed) {
        if (tile_of[seed] >= 0) continue;
        queue.assign(1, seed);
        tile_of[seed] = tiles;
        Index size = 1;
        for (std::size_t head = 0; head < queue.size() && size < tile_size; ++head) {
            const Index i = queue[head];
            for (Index k = g.block_start[i]; k < g.block_start[i + 1] && size < tile_size; ++k) {
                const Index h = g.hub_of[k];
                for (Index q = g.hub_start[h]; q < g.hub_start[h + 1] && size < tile_size; ++q) {
                    const Index j = g.block_of[q];
                    if (tile_of[j] >= 0) continue;
                    tile_of[j] = tiles;
                    queue.push_back(j);
                    ++size;
                }
            }
        }
        ++tiles;
    }
    return tile_of;
}

/// A fixed scramble of 32-bit numbers, so that colouring does not follow the order of the file.
std::uint32_t hash(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7feb352dU;
    x = (x ^ (x >> 15)) * 0x846ca68bU;
    return x ^ (x >> 16);
}

}  // namespace

Tiling tile_contact_graph(const Delassus& W, Index tile_size) {
    const Index blocks = W.problem().blocks();
    Tiling tiling;
    if (blocks == 0) return tiling;
    const HubGraph g = make_graph(W);
    Index tiles = 0;
    const std::vector<Index> tile_of = grow_tiles(g, blocks, tile_size, tiles);

    std::vector<std::vector<Index>> members(tiles);
    for (Index i = 0; i < blocks; ++i) members[tile_of[i]].push_back(i);
    // Tiles that touch each hub.
    std::vector<std::vector<Index>> tiles_at(g.hub_start.size() - 1);
    for (std::size_t h = 0; h + 1 < g.hub_start.size(); ++h) {
        for (Index q = g.hub_start[h]; q < g.hub_start[h + 1]; ++q)
            tiles_at[h].push_back(tile_of[g.block_of[q]]);
        std::sort(tiles_at[h].begin(), tiles_at[h].end());
        tiles_at[h].erase(std::unique(tiles_at[h].begin(), tiles_at[h].end()), tiles_at[h].end());
    }
    std::vector<Index> visit(tiles), colour(tiles, -1);
    std::iota(visit.begin(), visit.end(), 0);
    std::sort(visit.begin(), visit.end(), [](Index a, Index b) {
        const std::uint32_t ha = hash(static_cast<std::uint32_t>(a)),
                            hb = hash(static_cast<std::uint32_t>(b));
        return ha != hb ? ha < hb : a < b;
    });
    std::vector<Index> taken;  // taken[c] == t: colour c is used beside tile t
    Index colours = 0;
    for (Index t : visit) {
        for (Index i : members[t]) {
            for (Index k = g.block_start[i]; k < g.block_start[i + 1]; ++k) {
                for (Index other : tiles_at[g.hub_of[k]]) {
                    if (colour[other] >= 0) taken[colour[other]] = t;
                }
            }
        }
        Index c = 0;
        while (c < colours && taken[c] == t) ++c;
        if (c == colours) {
            ++colours;
            taken.push_back(-1);
        }
        colour[t] = c;
    }
    for (Index c = 0; c < colours; ++c) {
        for (Index t = 0; t < tiles; ++t) {
            if (colour[t] != c) continue;
            tiling.order.insert(tiling.order.end(), members[t].begin(), members[t].end());
            tiling.tile_start.push_back(static_cast<Index>(tiling.order.size()));
        }
        tiling.colour_start.push_back(static_cast<Index>(tiling.tile_start.size()) - 1);
    }
    return tiling;
}

const Tiling& tiling_of(const Delassus& W) {
    // A rank without contacts has an empty tiling, and the colours of the others.
    if (W.exchange() != nullptr || !W.problem().tiling.empty()) return W.problem().tiling;
    if (!W.tiling()) W.tiling() = tile_contact_graph(W);
    return *W.tiling();
}

}  // namespace drystone
