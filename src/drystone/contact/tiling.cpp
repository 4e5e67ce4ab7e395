#include "drystone/contact/tiling.hpp"

#include "drystone/base/parallel_sum.hpp"
#include "drystone/collide/detect.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace drystone {

namespace {

constexpr double level_ratio = 4;
constexpr std::size_t look_ahead = 24;  // contacts that the spacing looks through before it gives up

/// Contacts of a guided body, and those across the sides of a controlled cell, share a body that moves: one tile each,
/// of a colour of its own, after all others. 0: none of these.
template <int d>
std::uint32_t shared_colour(const Scene<d>& scene, const Contact<d>& c) {
    constexpr std::uint32_t first = TileGrid<d>::levels << d;
    if (scene.cell.any() && !periods_between(scene, c).isZero()) return first;
    for (const Index body : {c.a, c.b}) {
        if (!scene.bodies.is_guided(body)) continue;
        for (std::uint32_t k = 0; k < scene.drives.size(); ++k)
            if (scene.drives[k].body == scene.bodies.id[body]) return first + 1 + k;
    }
    return 0;
}

/// Reorders the contacts of one tile: always the first one left whose bodies were not in the last `spacing` contacts,
/// or the first one left if there is none among the next few. Held bodies do not count: nothing waits for them.
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
        // Places in the order that comes out are counted on from tile to tile, so that what is written down of other
        // tiles is long past.
        if (now_ > std::numeric_limits<std::int32_t>::max() / 2) {
            now_ = 0;
            last_.clear();
        }
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
    std::vector<std::int32_t> last_;  // by body: where it was last
    std::int32_t now_ = 0;
};

/// A tile of those that were dealt out: one of its places, and where its contacts end in the order of work.
struct DealtTile {
    Index place, end;
};

/// Adds the contacts of the places that are taken to `order`, tile by tile, and answers their tiles, sorted. Places
/// come in the order of contacts. Tiles are few beside contacts: they are found and sorted first, and contacts then
/// dealt out to them.
template <int d, class Takes>
ScratchArray<DealtTile> deal_out(std::span<const TilePlace<d>> places, Takes&& takes,
                                 std::pmr::memory_resource* memory, std::vector<Index>& order) {
    constexpr Index none = -1;
    std::size_t slots = 64;
    while (slots < places.size() / 8) slots *= 2;
    ScratchArray<Index> slot(slots, none, memory), tile_of(places.size(), none, memory);
    ScratchArray<DealtTile> tiles(memory);  // end: how many contacts there are, at first
    const auto slot_of = [&](const TilePlace<d>& place) {
        auto at = static_cast<std::size_t>(
            ((place.cell ^ (std::uint64_t{place.colour} << 58)) * 0x9e3779b97f4a7c15U) >> 20);
        for (at &= slots - 1; slot[at] != none; at = (at + 1) & (slots - 1))
            if (places[tiles[slot[at]].place].same_tile(place)) break;
        return at;
    };
    Index last = none;  // neighbours in the order of contacts are mostly of one tile
    for (std::size_t k = 0; k < places.size(); ++k) {
        if (!takes(places[k])) continue;
        if (last == none || !places[tiles[last].place].same_tile(places[k])) {
            const std::size_t at = slot_of(places[k]);
            last = slot[at];
            if (last == none) {
                last = slot[at] = static_cast<Index>(tiles.size());
                tiles.push_back({static_cast<Index>(k), 0});
                if (2 * tiles.size() > slots) {  // more tiles than was thought: room for twice as many
                    slots *= 4;
                    slot.assign(slots, none);
                    for (std::size_t t = 0; t < tiles.size(); ++t)
                        slot[slot_of(places[tiles[t].place])] = static_cast<Index>(t);
                }
            }
        }
        tile_of[k] = last;
        ++tiles[last].end;
    }
    ScratchArray<Index> sorted(tiles.size(), memory), next(tiles.size(), memory);
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(),
              [&](Index x, Index y) { return places[tiles[x].place] < places[tiles[y].place]; });
    auto end = static_cast<Index>(order.size());
    for (const Index t : sorted) {
        next[t] = end;
        end += tiles[t].end;
    }
    order.resize(static_cast<std::size_t>(end));
    for (std::size_t k = 0; k < places.size(); ++k)
        if (tile_of[k] != none) order[next[tile_of[k]]++] = places[k].contact;
    ScratchArray<DealtTile> dealt(memory);
    dealt.reserve(tiles.size());
    for (const Index t : sorted) dealt.push_back({tiles[t].place, next[t]});
    return dealt;
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
    // Two cells of one colour and grid that are not the same have a whole cell between them along some axis. A contact
    // in this grid is of bodies whose radius and reach make at most unit / 4^level, so it is within 1.5 of these from
    // the centres of both: all contacts of a body in this grid lie in a cube of side 3 unit / 4^level, less than a
    // cell, and none reaches into both.
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
                    const TileGrid<d>& grid, int threads, ScratchArray<TilePlace<d>>& places) {
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
        // Seen from a free body, and never farther from it than contacts can be: of one that is deep inside a wall the
        // point itself may be anywhere.
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
void tile_places(const Scene<d>& scene, const ContactSet<d>& links, std::span<const TilePlace<d>> places,
                 const TilingOptions& options, Tiling& tiling, std::span<const std::uint8_t> ours,
                 std::span<const std::uint32_t> colours) {
    tiling.order.clear();
    if (places.size() > tiling.order.capacity()) tiling.order.reserve(places.size() + places.size() / 8);
    tiling.tile_start.assign(1, 0);
    tiling.colour_start.assign(1, 0);
    const auto is_ours = [&](const TilePlace<d>& place) { return ours.empty() || ours[place.contact] != 0; };
    const ScratchArray<DealtTile> tiles = deal_out<d>(places, is_ours, options.memory, tiling.order);
    if (!ours.empty())
        deal_out<d>(
            places, [&](const TilePlace<d>& place) { return !is_ours(place); }, options.memory, tiling.order);

    std::size_t next_colour = 0, t = 0;
    while (t < tiles.size() || next_colour < colours.size()) {
        // Colours that are asked for and not there are empty ones.
        const std::uint32_t colour =
            next_colour < colours.size() ? colours[next_colour++] : places[tiles[t].place].colour;
        for (; t < tiles.size() && places[tiles[t].place].colour == colour; ++t)
            tiling.tile_start.push_back(tiles[t].end);
        tiling.colour_start.push_back(tiling.tiles());
    }
    if (options.spacing > 0) {
        parallel_for_uneven(options.threads, tiling.tiles(), 16, [&](Index tile) {
            thread_local Spacing space_out;
            space_out(scene, links, tiling.order.data() + tiling.tile_start[tile],
                      tiling.order.data() + tiling.tile_start[tile + 1], options.spacing);
        });
    }
}

template <int d>
void tile_by_cells(const Scene<d>& scene, const ContactSet<d>& links, Index contacts,
                   std::span<const double> reach, const TilingOptions& options, Tiling& tiling) {
    const TileSizes sizes = tile_sizes<d>(
        scene, reach, std::span(links).subspan(static_cast<std::size_t>(contacts)), options.threads);
    ScratchArray<TilePlace<d>> places(options.memory);
    place_contacts(scene, links, reach, TileGrid<d>(scene.domain, sizes, options.cell_width), options.threads,
                   places);
    tile_places<d>(scene, links, places, options, tiling);
}

#define DRYSTONE_TILING(d)                                                                               \
    template struct TileGrid<d>;                                                                         \
    template TileSizes tile_sizes(const Scene<d>&, std::span<const double>, std::span<const Contact<d>>, \
                                  int);                                                                  \
    template std::uint32_t colour_limit(const Scene<d>&);                                                \
    template void place_contacts(const Scene<d>&, const ContactSet<d>&, std::span<const double>,         \
                                 const TileGrid<d>&, int, ScratchArray<TilePlace<d>>&);                  \
    template void tile_places(const Scene<d>&, const ContactSet<d>&, std::span<const TilePlace<d>>,      \
                              const TilingOptions&, Tiling&, std::span<const std::uint8_t>,              \
                              std::span<const std::uint32_t>);                                           \
    template void tile_by_cells(const Scene<d>&, const ContactSet<d>&, Index, std::span<const double>,   \
                                const TilingOptions&, Tiling&)
DRYSTONE_TILING(2);
DRYSTONE_TILING(3);
#undef DRYSTONE_TILING

}  // namespace drystone
