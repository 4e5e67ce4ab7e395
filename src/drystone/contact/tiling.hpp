// The order in which Gauss-Seidel visits the contacts of a scene, from their places in space (docs/theory.md, section
// 12).
//
// Cells of one global grid are tiles, coloured by the parity of their indices. The grid does not know of threads or
// ranks, so neither does the result. Contacts of smaller bodies live in finer grids with colours of their own, each
// four times finer and nested in the one before; so whoever has a cell of the coarsest grid has all tiles within it.
#pragma once

#include "drystone/bodies/scene.hpp"
#include "drystone/collide/contact.hpp"
#include "drystone/cone/problem.hpp"

#include <array>
#include <span>

namespace drystone {

struct TilingOptions {
    /// Width of a cell in sizes (TileSizes::unit) of its grid; at least 4 for colours to be free of conflicts. 6.4 is
    /// about four grains: large enough to have few colours' worth of overhead, small enough for the cache.
    double cell_width = 6.4;
    /// Contacts of a tile are ordered so that, where the tile allows it, this many in a row share no body: their visits
    /// then do not wait for each other in the processor.
    int spacing = 6;
    int threads = 1;
    std::pmr::memory_resource* memory = std::pmr::get_default_resource();  ///< for what is needed on the way
};

/// How large the free bodies of a scene are: the largest over bodies, and over ranks.
struct TileSizes {
    double radius = 0;  ///< of the ball around a body, m
    double size = 0;    ///< the same and its reach, or the longest arm of its joints

    /// The size that the grid is made for: a radius times a power of 1.25, so that cells stay what they are while
    /// bodies move a little faster or slower.
    [[nodiscard]] double unit() const;
};
/// `links`: of joints (Assembled::links from `contacts` on), or empty.
template <int d>
TileSizes tile_sizes(const Scene<d>& scene, std::span<const double> reach,
                     std::span<const Contact<d>> links = {}, int threads = 1);

/// One grid along one direction. In a periodic direction the number of cells is even (so that parity is a colouring),
/// or one.
struct Ruler {
    double lower = 0, width = 1;
    std::int64_t cells = 0;  ///< 0: not periodic

    [[nodiscard]] std::int64_t index(double x) const;
};

template <int d>
struct TileGrid {
    static constexpr int levels = 12;
    double unit = 1;  ///< TileSizes::unit
    std::array<std::array<Ruler, d>, levels> rulers;

    TileGrid() = default;
    TileGrid(const Domain<d>& domain, const TileSizes& sizes, double cell_width);
    /// Cell of the coarsest grid. `x`: inside the periodic domain.
    [[nodiscard]] Image<d> coarse_cell(const Vec<d>& x) const {
        Image<d> cell;
        for (int k = 0; k < d; ++k) cell[k] = static_cast<std::int32_t>(rulers[0][k].index(x[k]));
        return cell;
    }
    [[nodiscard]] Vec<d> centre(const Image<d>& cell) const {
        Vec<d> x;
        for (int k = 0; k < d; ++k) x[k] = rulers[0][k].lower + (cell[k] + 0.5) * rulers[0][k].width;
        return x;
    }
};

/// Where a contact belongs. The order of places is the order of work: colour first, then cell, then the contact's own.
template <int d>
struct TilePlace {
    std::uint64_t cell = 0;  ///< d numbers of 21 bits
    std::uint32_t colour = 0;
    Index contact = 0;
    Image<d> coarse = Image<d>::Zero();  ///< cell of the coarsest grid

    [[nodiscard]] bool operator<(const TilePlace& o) const {
        if (colour != o.colour) return colour < o.colour;
        if (cell != o.cell) return cell < o.cell;
        return contact < o.contact;
    }
    [[nodiscard]] bool same_tile(const TilePlace& o) const { return colour == o.colour && cell == o.cell; }
};

/// Colours are less than this.
template <int d>
std::uint32_t colour_limit(const Scene<d>& scene);

/// The places of all contacts, in their order. `links`: contacts and then one link for each block of the joints.
template <int d>
void place_contacts(const Scene<d>& scene, const ContactSet<d>& links, std::span<const double> reach,
                    const TileGrid<d>& grid, int threads, ScratchArray<TilePlace<d>>& places);

/// The tiling of contacts at these places, which come in the order of contacts. `ours`: by contact, whether its tile is
/// visited here; others come after the last tile (empty: all are). `colours`: those that the tiling is to have,
/// ascending, whether there are contacts of them or not (empty: those that there are).
template <int d>
void tile_places(const Scene<d>& scene, const ContactSet<d>& links, std::span<const TilePlace<d>> places,
                 const TilingOptions& options, Tiling& tiling, std::span<const std::uint8_t> ours = {},
                 std::span<const std::uint32_t> colours = {});

/// All of the above, for one rank. `contacts`: how many of the links are contacts.
template <int d>
void tile_by_cells(const Scene<d>& scene, const ContactSet<d>& links, Index contacts,
                   std::span<const double> reach, const TilingOptions& options, Tiling& tiling);

}  // namespace drystone
