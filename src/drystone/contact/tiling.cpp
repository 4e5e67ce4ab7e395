#include "drystone/contact/tiling.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/collide/find_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace drystone {

namespace {

constexpr int levels = 12;  // grids, each four times finer than the one before
constexpr double level_ratio = 4;
constexpr Index look_ahead = 24;  // contacts that the spacing looks through before it gives up

/// Colour first, then cell: the order of work. The cell index keeps d numbers of 20 bits.
struct Place {
    std::uint64_t cell;
    std::uint32_t colour;
    Index contact;
    [[nodiscard]] bool operator<(const Place& o) const {
        if (colour != o.colour) return colour < o.colour;
        if (cell != o.cell) return cell < o.cell;
        return contact < o.contact;
    }
    [[nodiscard]] bool same_tile(const Place& o) const { return colour == o.colour && cell == o.cell; }
};

/// One grid along one direction. In a periodic direction the number of cells is even (so that parity is a colouring), or one.
struct Ruler {
    double lower = 0, width = 1;
    std::int64_t cells = 0;  // 0: not periodic

    [[nodiscard]] std::int64_t index(double x) const {
        auto k = static_cast<std::int64_t>(std::floor((x - lower) / width));
        if (cells > 0) k = ((k % cells) + cells) % cells;
        return k;
    }
};

Ruler ruler_for(double lower, double period, double width) {
    if (period <= 0) return {0, width, 0};
    const auto pairs = static_cast<std::int64_t>(std::floor(period / (2 * width)));
    const std::int64_t cells = pairs > 0 ? 2 * pairs : 1;
    return {lower, period / static_cast<double>(cells), cells};
}

/// Longest arm of each free body: its contacts lie in a ball of this radius about its centre.
template <int d>
std::vector<double> longest_arms(const Scene<d>& scene, const ContactSet<d>& contacts) {
    std::vector<double> arm(scene.bodies.count(), 0.0);
    for (const Contact<d>& c : contacts) {
        if (scene.bodies.is_free(c.a)) arm[c.a] = std::max(arm[c.a], c.arm_a.norm());
        if (scene.bodies.is_free(c.b)) arm[c.b] = std::max(arm[c.b], c.arm_b.norm());
    }
    return arm;
}

/// Contacts of a guided body, and those across the sides of a controlled cell, share a body that moves: one tile each, of a colour of its
/// own, after all others. 0: none of these.
template <int d>
std::uint32_t shared_colour(const Scene<d>& scene, const Contact<d>& c) {
    constexpr std::uint32_t first = levels << d;
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
template <int d>
void space_out(const Scene<d>& scene, const ContactSet<d>& contacts, Index* begin, Index* end, int spacing) {
    constexpr int longest = 16;
    std::array<Index, 2 * longest> recent;
    recent.fill(-1);
    const int window = 2 * std::min(spacing, longest);
    auto was_recent = [&](Index body) {
        return scene.bodies.is_free(body) &&
               std::find(recent.begin(), recent.begin() + window, body) != recent.begin() + window;
    };
    int place = 0;
    for (Index* next = begin; next != end; ++next) {
        Index* pick = next;
        Index* const last = std::min(end, next + look_ahead);
        while (pick != last && (was_recent(contacts[*pick].a) || was_recent(contacts[*pick].b))) ++pick;
        if (pick == last) pick = next;
        std::rotate(next, pick, pick + 1);  // the ones that were passed over keep their order
        recent[place] = contacts[*next].a;
        recent[place + 1] = contacts[*next].b;
        place = (place + 2) % window;
    }
}

}  // namespace

template <int d>
void tile_by_cells(const Scene<d>& scene, const ContactSet<d>& contacts, const TilingOptions& options,
                   Tiling& tiling) {
    tiling = {};
    const auto count = static_cast<Index>(contacts.size());
    if (count == 0) return;
    const std::vector<double> arm = longest_arms(scene, contacts);
    const double longest = *std::max_element(arm.begin(), arm.end());
    const double cell_width = std::max(4.0, options.cell_width);
    // Two cells of one colour and grid that are not the same have a whole cell between them along some axis. All contacts of a body in
    // this grid lie in a cube of side 2 arm <= 2 longest / 4^level, less than a cell: none reaches into both.
    std::array<std::array<Ruler, d>, levels> rulers;
    double width = cell_width * longest;
    for (auto& level : rulers) {
        for (int k = 0; k < d; ++k)
            level[k] = ruler_for(scene.domain.lower[k], scene.domain.period[k], width);
        width /= level_ratio;
    }
    std::vector<Place> places(count);
    parallel_for(options.threads, count, [&](Index i) {
        const Contact<d>& c = contacts[i];
        const double larger = std::max(arm[c.a], arm[c.b]);
        std::uint32_t level = 0;
        for (double limit = longest / level_ratio; larger <= limit && level + 1 < levels;
             limit /= level_ratio)
            ++level;
        const Vec<d> point = scene.bodies.position[c.a] + c.arm_a;
        Place place{0, 0, i};
        for (int k = 0; k < d; ++k) {
            const std::int64_t index = rulers[level][k].index(point[k]);
            place.colour |= static_cast<std::uint32_t>(index & 1) << k;
            place.cell =
                (place.cell << 21) | (static_cast<std::uint64_t>(index + (1 << 20)) & ((1U << 21) - 1));
        }
        place.colour |= level << d;
        if (const std::uint32_t shared = shared_colour(scene, c); shared > 0) place = {0, shared, i};
        places[i] = place;
    });
    std::sort(places.begin(), places.end());

    tiling.order.resize(count);
    for (Index q = 0; q < count; ++q) {
        tiling.order[q] = places[q].contact;
        if (q + 1 < count && places[q + 1].same_tile(places[q])) continue;
        tiling.tile_start.push_back(q + 1);
        if (q + 1 == count || places[q + 1].colour != places[q].colour)
            tiling.colour_start.push_back(tiling.tiles());
    }
    if (options.spacing > 0) {
        parallel_for_uneven(options.threads, tiling.tiles(), 16, [&](Index t) {
            space_out(scene, contacts, tiling.order.data() + tiling.tile_start[t],
                      tiling.order.data() + tiling.tile_start[t + 1], options.spacing);
        });
    }
}

template void tile_by_cells(const Scene<2>&, const ContactSet<2>&, const TilingOptions&, Tiling&);
template void tile_by_cells(const Scene<3>&, const ContactSet<3>&, const TilingOptions&, Tiling&);

}  // namespace drystone
