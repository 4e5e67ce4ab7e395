#include "drystone/contact/tiling.hpp"

#include "drystone/base/parallel_sum.hpp"
#include "drystone/collide/find_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace drystone {

namespace {

constexpr double level_ratio = 4;
constexpr std::size_t look_ahead = 24;  // contacts that the spacing looks through before it gives up

/// Contacts of a guided body, and those across the sides of a controlled cell, share a body that moves: one tile each, of a colour of its
/// own, after all others. 0: none of these.
template <int d>
std::uint32_t shared_colour(const Scene<d>& scene, const Contact<d>& c) {
    constexpr std::uint32_t first = TileGrid<d>::levels << d;
    if (scene.cell.any() && !shift_of(scene, c).isZero()) return first;
    for (const Index body : {c.a, c.b}) {
        if (!scene.bodies.is_guided(body)) continue;
        for (std::uint32_t k = 0; k < scene.drives.size(); ++k)
            if (scene.drives[k].body == scene.bodies.id[body]) return first + 1 + k;
    }
    return 0;
}

/// Reorders the contacts of one tile: always the first one left whose bodies were not in the last `spacing` contacts, or the first
/// one left if there is none among the next few. Held bodies do not count: nothing waits for them.
class Spacing {
public:
    template <int d>
    void operator()(const Scene<d>& scene, const ContactSet<d>& contacts, Index* begin, Index* end,
                    int spacing) {
        left_.clear();
        for (const Index* k = begin; k != end; ++k) {
            const auto waits = [&](Index body) { return scene.bodies.is_free(body) ? body : Index{-1}; };
            left_.push_back({*k, waits(contacts[*k].a), waits(contacts[*k].b)});
        }
        // Places in the order that comes out are counted on from tile to tile, so that what is written down of other tiles is long past.
        last_.resize(static_cast<std::size_t>(scene.bodies.count()), -1'000'000);
        now_ += spacing;
        const auto was_recent = [&](Index body) {
            return body >= 0 && now_ - last_[static_cast<std::size_t>(body)] <= spacing;
        };
        for (std::size_t next = 0; next < left_.size(); ++next, ++now_) {
            std::size_t pick = next;
            const std::size_t last = std::min(left_.size(), next + look_ahead);
            while (pick != last && (was_recent(left_[pick].a) || was_recent(left_[pick].b))) ++pick;
            if (pick == last) pick = next;
            const Waiting taken = left_[pick];
            for (; pick != next; --pick) left_[pick] = left_[pick - 1];  // those passed over keep their order
            left_[next] = taken;
            for (const Index body : {taken.a, taken.b})
                if (body >= 0) last_[static_cast<std::size_t>(body)] = now_;
            begin[next] = taken.contact;
        }
    }

private:
    struct Waiting {
        Index contact, a, b;
    };
    std::vector<Waiting> left_;
    std::vector<std::int64_t> last_;  // by body: where it was last
    std::int64_t now_ = 0;
};

/// Sorts places that come in the order of contacts. Tiles are few beside contacts: they are found and sorted first, and contacts then dealt out to them.
template <int d>
void sort_places(std::span<TilePlace<d>> places) {
    constexpr Index none = -1;
    std::size_t slots = 64;
    while (slots < places.size() / 8) slots *= 2;
    std::vector<Index> slot(slots, none), tile_of(places.size()), first;  // first: a place of each tile
    const auto start_of = [&](const TilePlace<d>& place) {
        return static_cast<std::size_t>(
            ((place.cell ^ (std::uint64_t{place.colour} << 58)) * 0x9e3779b97f4a7c15U) >> 20);
    };
    for (std::size_t k = 0; k < places.size(); ++k) {
        std::size_t at = start_of(places[k]) & (slots - 1);
        while (slot[at] != none && !places[static_cast<std::size_t>(first[slot[at]])].same_tile(places[k]))
            at = (at + 1) & (slots - 1);
        if (slot[at] == none) {
            slot[at] = static_cast<Index>(first.size());
            first.push_back(static_cast<Index>(k));
            if (2 * first.size() > slots) {  // more tiles than was thought: room for twice as many
                slots *= 4;
                slot.assign(slots, none);
                for (std::size_t t = 0; t < first.size(); ++t) {
                    std::size_t to = start_of(places[static_cast<std::size_t>(first[t])]) & (slots - 1);
                    while (slot[to] != none) to = (to + 1) & (slots - 1);
                    slot[to] = static_cast<Index>(t);
                }
                at = start_of(places[k]) & (slots - 1);
                while (slot[at] != static_cast<Index>(first.size()) - 1) at = (at + 1) & (slots - 1);
            }
        }
        tile_of[k] = slot[at];
    }
    std::vector<Index> order(first.size()), begin(first.size() + 1, 0);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) {
        return places[static_cast<std::size_t>(first[a])] < places[static_cast<std::size_t>(first[b])];
    });
    std::vector<Index> rank(first.size());
    for (std::size_t k = 0; k < order.size(); ++k) rank[order[k]] = static_cast<Index>(k);
    for (const Index tile : tile_of) ++begin[rank[tile] + 1];
    for (std::size_t k = 0; k + 1 < begin.size(); ++k) begin[k + 1] += begin[k];
    std::vector<TilePlace<d>> sorted(places.size());
    for (std::size_t k = 0; k < places.size(); ++k) sorted[begin[rank[tile_of[k]]]++] = places[k];
    std::copy(sorted.begin(), sorted.end(), places.begin());
}

Ruler ruler_for(double lower, double period, double width) {
    if (period <= 0) return {0, width, 0};
    const auto pairs = static_cast<std::int64_t>(std::floor(period / (2 * width)));
    const std::int64_t cells = pairs > 0 ? 2 * pairs : 1;
    return {lower, period / static_cast<double>(cells), cells};
}

}  // namespace

double TileSizes::unit() const {
    double unit = radius > 0 ? 1.25 * radius : 1;
    while (unit < size) unit *= 1.25;
    return unit;
}

std::int64_t Ruler::index(double x) const {
    auto k = static_cast<std::int64_t>(std::floor((x - lower) / width));
    if (cells > 0) k = ((k % cells) + cells) % cells;
    return k;
}

template <int d>
TileSizes tile_sizes(const Scene<d>& scene, std::span<const double> reach, std::span<const Contact<d>> links,
                     int threads) {
    struct Largest : TileSizes {
        void add(const TileSizes& other) {
            radius = std::max(radius, other.radius);
            size = std::max(size, other.size);
        }
    };
    Largest sizes = parallel_merge<Largest>(threads, scene.bodies.count(), [&](Index i, Largest& part) {
        if (scene.bodies.is_free(i)) {
            part.add({scene.outer_radius(i), scene.outer_radius(i) + reach[i]});
        } else {
            part.add({0, reach[i]});  // what it may touch from so far has as long an arm
        }
    });
    for (const Contact<d>& link : links) sizes.add({0, std::max(link.arm_a.norm(), link.arm_b.norm())});
    return sizes;
}

template <int d>
TileGrid<d>::TileGrid(const Domain<d>& domain, const TileSizes& sizes, double cell_width)
    : unit(sizes.unit()) {
    // Two cells of one colour and grid that are not the same have a whole cell between them along some axis. A contact in this grid is of bodies
    // whose radius and reach make at most unit / 4^level, so it is within 1.5 of these from the centres of both: all contacts of a
    // body in this grid lie in a cube of side 3 unit / 4^level, less than a cell, and none reaches into both.
    double width = std::max(4.0, cell_width) * unit;
    for (int level = 0; level < levels; ++level) {
        for (int k = 0; k < d; ++k) {
            Ruler& ruler = rulers[level][k];
            const Ruler& coarse = rulers[0][k];
            if (level == 0 || coarse.cells == 1) {
                ruler = ruler_for(domain.lower[k], domain.period[k], width);
            } else {
                ruler = rulers[level - 1][k];
                ruler.width /= level_ratio;
                ruler.cells *= static_cast<std::int64_t>(level_ratio);
            }
        }
        width /= level_ratio;
    }
}

template <int d>
std::uint32_t colour_limit(const Scene<d>& scene) {
    return (TileGrid<d>::levels << d) + 1 + static_cast<std::uint32_t>(scene.drives.size());
}

template <int d>
void place_contacts(const Scene<d>& scene, const ContactSet<d>& links, std::span<const double> reach,
                    const TileGrid<d>& grid, int threads, std::vector<TilePlace<d>>& places) {
    const bool shares = scene.cell.any() || !scene.drives.empty();
    places.resize(links.size());
    parallel_for(threads, static_cast<Index>(links.size()), [&](Index i) {
        const Contact<d>& c = links[i];
        double size = 0;
        auto include = [&](Index body, const Vec<d>& arm) {
            if (scene.bodies.is_free(body))
                size = std::max({size, scene.outer_radius(body) + reach[body], arm.norm() / 1.5});
        };
        include(c.a, c.arm_a);
        include(c.b, c.arm_b);
        std::uint32_t level = 0;
        for (double limit = grid.unit / level_ratio; size <= limit && level + 1 < TileGrid<d>::levels;
             limit /= level_ratio)
            ++level;
        // Seen from a free body, and never farther from it than contacts can be: of one that is deep inside a wall the point itself may be anywhere.
        const bool from_a = scene.bodies.is_free(c.a);
        const Index body = from_a ? c.a : c.b;
        Vec<d> arm = from_a ? c.arm_a : c.arm_b;
        const double farthest = scene.outer_radius(body) + 0.5 * grid.unit;
        if (arm.squaredNorm() > farthest * farthest) arm *= farthest / arm.norm();
        Vec<d> point = scene.bodies.position[body] + arm;
        if (scene.domain.periodic()) wrap(scene.domain, point);
        TilePlace<d> place{0, level << d, i, grid.coarse_cell(point)};
        for (int k = 0; k < d; ++k) {
            const std::int64_t index = grid.rulers[level][k].index(point[k]);
            place.colour |= static_cast<std::uint32_t>(index & 1) << k;
            place.cell =
                (place.cell << 21) | (static_cast<std::uint64_t>(index + (1 << 20)) & ((1U << 21) - 1));
        }
        if (shares) {
            if (const std::uint32_t shared = shared_colour(scene, c); shared > 0) {
                place.cell = 0;
                place.colour = shared;
            }
        }
        places[i] = place;
    });
}

template <int d>
void tile_places(const Scene<d>& scene, const ContactSet<d>& links, std::vector<TilePlace<d>>& places,
                 const TilingOptions& options, Tiling& tiling, std::span<const std::uint8_t> ours,
                 std::span<const std::uint32_t> colours) {
    tiling = {};
    const auto is_ours = [&](const TilePlace<d>& place) { return ours.empty() || ours[place.contact] != 0; };
    const auto other =
        ours.empty() ? places.end() : std::stable_partition(places.begin(), places.end(), is_ours);
    sort_places<d>({places.begin(), other});
    sort_places<d>({other, places.end()});
    tiling.order.reserve(places.size());
    for (const TilePlace<d>& place : places) tiling.order.push_back(place.contact);

    const auto count = static_cast<Index>(other - places.begin());
    std::size_t next_colour = 0;
    Index q = 0;
    while (q < count || next_colour < colours.size()) {
        // Colours that are asked for and not there are empty ones.
        const std::uint32_t colour = next_colour < colours.size() ? colours[next_colour++] : places[q].colour;
        for (; q < count && places[q].colour == colour; ++q)
            if (q + 1 == count || !places[q + 1].same_tile(places[q])) tiling.tile_start.push_back(q + 1);
        tiling.colour_start.push_back(tiling.tiles());
    }
    if (options.spacing > 0) {
        parallel_for_uneven(options.threads, tiling.tiles(), 16, [&](Index t) {
            thread_local Spacing space_out;
            space_out(scene, links, tiling.order.data() + tiling.tile_start[t],
                      tiling.order.data() + tiling.tile_start[t + 1], options.spacing);
        });
    }
}

template <int d>
void tile_by_cells(const Scene<d>& scene, const ContactSet<d>& links, Index contacts,
                   std::span<const double> reach, const TilingOptions& options, Tiling& tiling) {
    const TileSizes sizes = tile_sizes<d>(
        scene, reach, std::span(links).subspan(static_cast<std::size_t>(contacts)), options.threads);
    std::vector<TilePlace<d>> places;
    place_contacts(scene, links, reach, TileGrid<d>(scene.domain, sizes, options.cell_width), options.threads,
                   places);
    tile_places(scene, links, places, options, tiling);
}

#define DRYSTONE_TILING(d)                                                                               \
    template struct TileGrid<d>;                                                                         \
    template TileSizes tile_sizes(const Scene<d>&, std::span<const double>, std::span<const Contact<d>>, \
                                  int);                                                                  \
    template std::uint32_t colour_limit(const Scene<d>&);                                                \
    template void place_contacts(const Scene<d>&, const ContactSet<d>&, std::span<const double>,         \
                                 const TileGrid<d>&, int, std::vector<TilePlace<d>>&);                   \
    template void tile_places(const Scene<d>&, const ContactSet<d>&, std::vector<TilePlace<d>>&,         \
                              const TilingOptions&, Tiling&, std::span<const std::uint8_t>,              \
                              std::span<const std::uint32_t>);                                           \
    template void tile_by_cells(const Scene<d>&, const ContactSet<d>&, Index, std::span<const double>,   \
                                const TilingOptions&, Tiling&)
DRYSTONE_TILING(2);
DRYSTONE_TILING(3);
#undef DRYSTONE_TILING

}  // namespace drystone
