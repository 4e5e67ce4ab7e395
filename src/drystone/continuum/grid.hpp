// The grid of a step: only what sand occupies, in blocks of 4^d cells, sorted; and which particle is in which cell.
//
// A block is also a tile of the sweeps (cone/problem.hpp): what happens at its nodes reaches no farther than one node
// around it, so blocks of one colour, by the parity of their places, share none. Everything follows from places and ids
// of particles: neither their order in memory nor the number of threads shows.
#pragma once

#include "drystone/continuum/sand.hpp"

#include <array>

namespace drystone {

/// Places of cells, nodes and blocks.
template <int d>
using Lattice = Eigen::Matrix<std::int32_t, d, 1>;

inline constexpr int block_side = 4;
template <int d>
inline constexpr int block_size = d == 2 ? 16 : 64;
template <int d>
inline constexpr int corners = 1 << d;  ///< of a cell; bit k of a corner's number is its place along k
template <int d>
inline constexpr int around = d == 2 ? 9 : 27;  ///< a node, or block, and its neighbours
/// Powers 0 to 2 of each coordinate.
template <int d>
inline constexpr int moments = d == 2 ? 9 : 27;

template <int d>
struct GridBlock {
    Lattice<d> at;                           ///< its first node, and cell, is 4 times this
    std::array<Index, around<d>> neighbour;  ///< blocks; -1: there is none. The block itself is in the middle
    std::array<Index, block_size<d>> cell;   ///< numbers of occupied cells; -1: nothing counts to it
    std::array<Index, block_size<d>> node;   ///< numbers of nodes that have mass; -1: none
};

/// Blocks of one colour, from 0 to corners<d> - 1, share no node.
template <int d>
int colour_of(const GridBlock<d>& block) {
    int colour = 0;
    for (int k = 0; k < d; ++k) colour |= (block.at[k] & 1) << k;
    return colour;
}

template <int d>
struct Grid {
    struct Place {
        Index block;
        std::int32_t local;  ///< x + 4 (y + 4 z)
    };
    Vec<d> width = Vec<d>::Ones();
    std::vector<GridBlock<d>> blocks;  ///< sorted by place, the last direction slowest
    std::vector<Place> cells, nodes;   ///< block by block
    std::vector<Index> node_start;     ///< by block: its nodes are [node_start[b], node_start[b + 1])
    std::vector<Index> cell_start;  ///< particles of cell k: order[cell_start[k]..cell_start[k + 1]), by id
    std::vector<Index> order;

    [[nodiscard]] Index node_count() const { return static_cast<Index>(nodes.size()); }
    [[nodiscard]] Index cell_count() const { return static_cast<Index>(cells.size()); }
    [[nodiscard]] Lattice<d> lattice_place(const Place& p) const {
        Lattice<d> x = block_side * blocks[p.block].at;
        for (int k = 0, local = p.local; k < d; ++k, local /= block_side) x[k] += local % block_side;
        return x;
    }
    [[nodiscard]] Vec<d> node_position(Index node) const {
        return lattice_place(nodes[node]).template cast<double>().cwiseProduct(width);
    }
    [[nodiscard]] Vec<d> cell_origin(Index cell) const {
        return lattice_place(cells[cell]).template cast<double>().cwiseProduct(width);
    }
    /// Where a particle is in the cell that it counts to, in widths of it: on its face where it is beyond.
    [[nodiscard]] Vec<d> place_in(const Vec<d>& cell_origin, const Vec<d>& position) const {
        const Vec<d> x = (position - cell_origin).cwiseQuotient(width);
        return x.cwiseMax(0.0).cwiseMin(1.0);
    }
    /// Number of the node, or cell, `by` away from a place, each direction by at most 4; -1: there is none.
    template <class Numbers>
    [[nodiscard]] Index number_beside(const Place& p, const std::array<int, d>& by, Numbers&& numbers) const {
        int block = 0, local = 0;
        for (int k = 0, rest = p.local, power = 1, third = 1; k < d;
             ++k, rest /= block_side, power *= block_side, third *= 3) {
            int x = rest % block_side + by[k], step = 0;
            if (x < 0) {
                step = -1;
                x += block_side;
            } else if (x >= block_side) {
                step = 1;
                x -= block_side;
            }
            block += (step + 1) * third;
            local += x * power;
        }
        const Index b = blocks[p.block].neighbour[block];
        return b < 0 ? -1 : numbers(blocks[b])[local];
    }
    [[nodiscard]] Index node_beside(const Place& p, const std::array<int, d>& by) const {
        return number_beside(
            p, by, [](const GridBlock<d>& b) -> const auto& { return b.node; });
    }
    [[nodiscard]] Index cell_beside(const Place& p, const std::array<int, d>& by) const {
        return number_beside(
            p, by, [](const GridBlock<d>& b) -> const auto& { return b.cell; });
    }
    /// The corners of a cell, as nodes.
    [[nodiscard]] std::array<Index, corners<d>> corners_of(Index cell) const {
        std::array<Index, corners<d>> out;
        for (int c = 0; c < corners<d>; ++c) {
            std::array<int, d> by;
            for (int k = 0; k < d; ++k) by[k] = c >> k & 1;
            out[c] = node_beside(cells[cell], by);
        }
        return out;
    }
    /// Block at a place; -1: there is none.
    [[nodiscard]] Index block_at(const Lattice<d>& at) const;
    /// The node at a place of the lattice; -1: there is none.
    [[nodiscard]] Index node_at(const Lattice<d>& at) const;
};

/// Part of a cell's width that a particle at a face may be in it and still count to the cell beyond that face.
inline constexpr double sliver = 0.05;

/// Cells and blocks, and the particles in them. Where each of a cell's lies in a sliver at a face these count to the
/// cells beyond, if others are inside these, and are on the face as far as the grid is concerned (Grid::place_in).
/// Nodes are numbered by number_nodes. Throws Error where a particle is farther from 0 than a grid can be.
template <int d>
void sort_particles(const Sand<d>& sand, int threads, Grid<d>& grid);

/// Numbers the nodes of which `has_mass(block, local)` is true.
template <int d, class F>
void number_nodes(Grid<d>& grid, F&& has_mass) {
    grid.nodes.clear();
    grid.node_start.assign(1, 0);
    for (std::size_t b = 0; b < grid.blocks.size(); ++b) {
        for (int local = 0; local < block_size<d>; ++local) {
            Index& number = grid.blocks[b].node[local];
            number = -1;
            if (!has_mass(static_cast<Index>(b), local)) continue;
            number = static_cast<Index>(grid.nodes.size());
            grid.nodes.push_back({static_cast<Index>(b), local});
        }
        grid.node_start.push_back(static_cast<Index>(grid.nodes.size()));
    }
}

}  // namespace drystone
