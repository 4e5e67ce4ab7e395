// Bodies into classes, classes into grids.
#include "drystone/pairs/pair_search.hpp"

#include "drystone/base/error.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>

namespace drystone::pair_search {

template <int d>
void Search<d>::classify_shapes() {
    work_.kind.clear();
    for (const Shape<d>& shape : scene_.shapes)
        work_.kind.push_back(std::holds_alternative<Ball<d>>(shape)        ? Kind::ball
                             : std::holds_alternative<HalfSpace<d>>(shape) ? Kind::half_space
                                                                           : Kind::other);
}

template <int d>
void Search<d>::measure_bodies() {
    constexpr double most_periods = 4;
    struct Measure {
        double smallest = infinity;
        double largest = 0;
        double thickest = 0;  // inner radius of the free ones
        Index bad = -1;
        bool boxed = false;
    };
    std::vector<Measure> measures(block_count(n_));
    if (periodic_) work_.home.resize(n_);
    for_blocks(threads_, n_, [&](Index block, Index begin, Index end) {
        Measure m;
        for (Index i = begin; i < end; ++i) {
            const bool plane = kind(i) == Kind::half_space;
            const double r = plane ? margin_[i] : radius(i);
            if (!bodies_.position[i].allFinite() || !std::isfinite(r) || !(r >= 0)) {
                if (m.bad < 0) m.bad = i;
                continue;
            }
            if (periodic_) {
                Image<d>& home = work_.home[i];
                home = bodies_.image[i];
                // Nothing is added when positions are kept inside, as they should be; the last direction first, since
                // the cells there may be displaced along x.
                double displaced = 0;
                for (int k = d - 1; k >= 0; --k) {
                    const double period = scene_.domain.period[k];
                    if (!(period > 0)) continue;
                    const double x = bodies_.position[i][k] - (k == 0 ? displaced : 0);
                    const double out = std::floor((x - scene_.domain.lower[k]) / period);
                    home[k] += static_cast<std::int32_t>(std::clamp(out, -1e9, 1e9));
                    if (k == d - 1) displaced = out * scene_.domain.tilt;
                }
            }
            if (plane) continue;
            m.smallest = std::min(m.smallest, r);
            m.largest = std::max(m.largest, r);
            if (bodies_.is_free(i)) m.thickest = std::max(m.thickest, scene_.inner_radius(i));
            m.boxed = m.boxed || kind(i) == Kind::other;
        }
        measures[block] = m;
    });
    smallest_ = infinity;
    double largest = 0, thickest = 0;
    for (const Measure& m : measures) {
        if (m.bad >= 0)
            fail(fmt::format("body {}", bodies_.id[m.bad]),
                 "its position or its reach is not a finite number",
                 "look for a step that is too long or for a wrong velocity");
        smallest_ = std::min(smallest_, m.smallest);
        largest = std::max(largest, m.largest);
        thickest = std::max(thickest, m.thickest);
        boxed_ = boxed_ || m.boxed;
    }
    // A translation by more than 511 periods would not fit its code.
    if (periodic_ && std::abs(scene_.domain.tilt) > 500 * scene_.domain.period[0] && scene_.domain.tilt != 0)
        fail("domain.tilt", fmt::format("the cell has been sheared by {} m", scene_.domain.tilt),
             "end the run before the shear passes 500 periods, or take a longer period along x");
    for (const double period : scene_.domain.period) {
        if (!(period > 0)) continue;
        if (2 * largest > 500 * period)
            fail("domain.period",
                 fmt::format("{} m is too short for a body with a radius and reach of {} m", period, largest),
                 "choose a period that is not hundreds of times shorter than a body");
        // Contacts of a body with images would be more than all others together, and none of them could be met.
        if (2 * thickest > most_periods * period)
            fail("domain.period",
                 fmt::format(
                     "{} m is too short for a free body that is {} m thick and overlaps its own images",
                     period, 2 * thickest),
                 "choose longer periods or smaller bodies");
    }
}

template <int d>
void Search<d>::classify_bodies() {
    work_.size_class.resize(n_);
    if (boxed_) work_.bounds.resize(n_);
    std::vector<std::array<double, max_classes>> largest(block_count(n_));
    for_blocks(threads_, n_, [&](Index block, Index begin, Index end) {
        std::array<double, max_classes>& most = largest[block];
        most.fill(0);
        for (Index i = begin; i < end; ++i) {
            if (kind(i) == Kind::half_space) continue;
            const double r = radius(i);
            // Radii of zero cannot be (a shape has an extent), but an underflow must not crash.
            const int c = smallest_ > 0 ? std::clamp(std::ilogb(r / smallest_), 0, max_classes - 1) : 0;
            work_.size_class[i] = static_cast<std::uint8_t>(c);
            most[c] = std::max(most[c], r);
            if (!boxed_) continue;
            const double outer = scene_.outer_radius(i);
            work_.bounds[i] =
                kind(i) == Kind::ball
                    ? Bounds<d>{Vec<d>::Constant(-outer), Vec<d>::Constant(outer)}
                    : bounds<d>(scene_.shape_of(i), bodies_.size[i], {Vec<d>::Zero(), bodies_.rotation[i]});
            work_.bounds[i] = work_.bounds[i].widened(margin_[i]);
        }
    });
    largest_.fill(0);
    for (const auto& most : largest)
        for (int c = 0; c < max_classes; ++c) largest_[c] = std::max(largest_[c], most[c]);
    for (int c = 0; c < max_classes; ++c) {
        grid_of_[c] = -1;
        if (largest_[c] == 0) continue;
        grid_of_[c] = static_cast<int>(grids_.size());
        grids_.emplace_back();
        grids_.back().radius = largest_[c];
    }
    for (Index i = 0; i < n_; ++i)
        if (kind(i) == Kind::half_space) half_spaces_.push_back(i);
}

/// Items of each class, in the order of bodies: counted by block, then written.
template <int d>
void Search<d>::fill_slots() {
    const std::size_t classes = grids_.size();
    const Index blocks = block_count(n_);
    work_.slot_count.assign(classes * blocks, 0);
    // An image is needed where it may meet a body inside the domain of its own class or of a finer one; where it meets
    // a coarser one, the coarser one's image is.
    const auto each_item = [&](Index i, auto&& f) {
        const auto g = static_cast<std::size_t>(grid_of_[work_.size_class[i]]);
        std::uint32_t flags = bodies_.is_free(i) ? 0 : held_flag;
        if (kind(i) == Kind::other) flags |= boxed_flag;
        f(g, flags);
        if (periodic_) {
            const double reach = (radius(i) + grids_[g].radius) * range_slack;
            for_images(i, reach, [&](std::uint32_t code) { f(g, flags | code); });
        }
    };
    for_blocks(threads_, n_, [&](Index block, Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            if (kind(i) != Kind::half_space)
                each_item(i, [&](std::size_t g, std::uint32_t) { ++work_.slot_count[g * blocks + block]; });
    });
    std::size_t total = 0;
    for (std::size_t g = 0; g < classes; ++g) {
        grids_[g].first = total;
        for (Index block = 0; block < blocks; ++block) {
            const std::size_t count = work_.slot_count[g * blocks + block];
            work_.slot_count[g * blocks + block] = total;
            total += count;
        }
        grids_[g].count = total - grids_[g].first;
    }
    if (total > std::numeric_limits<std::uint32_t>::max())
        fail("domain.period", "the periods are so short that bodies have too many images",
             "choose periods that are longer against the bodies");
    work_.slots.resize(total);
    work_.keys.resize(total);
    work_.items.resize(total);
    for_blocks(threads_, n_, [&](Index block, Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            if (kind(i) != Kind::half_space)
                each_item(i, [&](std::size_t g, std::uint32_t tag) {
                    work_.slots[work_.slot_count[g * blocks + block]++] = {i, tag};
                });
    });
}

template <int d>
void Search<d>::sort_into_cells(PairGrid<d>& grid) {
    const std::size_t blocks = (grid.count + block_items - 1) / block_items;
    const auto for_items = [&](auto&& f) {
        parallel_for_uneven(threads_, static_cast<Index>(blocks), 1, [&](Index block) {
            const std::size_t begin = block * block_items;
            f(static_cast<std::size_t>(block), begin, std::min(grid.count, begin + block_items));
        });
    };

    std::vector<Bounds<d>> extents(blocks);
    for_items([&](std::size_t block, std::size_t begin, std::size_t end) {
        Bounds<d> extent;
        for (std::size_t i = begin; i < end; ++i) {
            const auto& slot = work_.slots[grid.first + i];
            extent.include(Vec<d>(place(slot.body, slot.tag).data()));
        }
        extents[block] = extent;
    });
    Bounds<d> extent;
    for (const Bounds<d>& e : extents) {
        extent.include(e.lower);
        extent.include(e.upper);
    }
    grid.inverse_cell = 1 / (2 * grid.radius * cell_slack);
    std::uint64_t largest = 1;
    for (int k = 0; k < d; ++k) {
        grid.origin[k] = extent.lower[k];
        // One cell more than are needed: an empty one, so that the two ends of a row are no neighbours.
        grid.cells[k] = std::clamp<std::int64_t>(grid.coordinate(k, extent.upper[k]) + 2, 3, most_cells);
        largest *= static_cast<std::uint64_t>(grid.cells[k]);
    }

    work_.keyed.resize(std::max(work_.keyed.size(), grid.count));
    work_.keyed_other.resize(work_.keyed.size());
    for_items([&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto& slot = work_.slots[grid.first + i];
            const std::array<double, d> x = place(slot.body, slot.tag);
            std::array<std::int64_t, d> c;
            for (int k = 0; k < d; ++k) c[k] = grid.wrapped(k, grid.coordinate(k, x[k]));
            work_.keyed[i] = {grid.key(c), static_cast<std::uint32_t>(i)};
        }
    });
    sort_by_key(threads_, grid.count, largest - 1, work_.keyed, work_.keyed_other, work_.histogram);
    for_items([&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto& slot = work_.slots[grid.first + work_.keyed[i].slot];
            work_.keys[grid.first + i] = work_.keyed[i].key;
            work_.items[grid.first + i] = {place(slot.body, slot.tag), radius(slot.body), slot.body,
                                           slot.tag};
        }
    });
    fill_table(grid, largest);
}

/// For each value of a key's leading digits, the first item whose key has it or a larger one.
template <int d>
void Search<d>::fill_table(PairGrid<d>& grid, std::uint64_t cells) {
    grid.left_out = 0;
    while ((cells >> grid.left_out) > 4 * grid.count + 64) ++grid.left_out;
    grid.table = work_.table.size();
    const std::uint64_t values = (cells >> grid.left_out) + 2;
    work_.table.resize(grid.table + values);
    std::uint32_t* table = &work_.table[grid.table];
    const std::uint64_t* keys = &work_.keys[grid.first];
    // Each item writes the values from that of the one before it, exclusive, to its own.
    const auto begins = [&](std::size_t i) { return i == 0 ? 0 : (keys[i - 1] >> grid.left_out) + 1; };
    const std::size_t blocks = (grid.count + block_items - 1) / block_items;
    parallel_for(threads_, static_cast<Index>(blocks), [&](Index block) {
        const std::size_t begin = block * block_items, end = std::min(grid.count, begin + block_items);
        for (std::size_t i = begin; i < end; ++i)
            for (std::uint64_t value = begins(i); value <= keys[i] >> grid.left_out; ++value)
                table[value] = static_cast<std::uint32_t>(i);
    });
    std::fill(table + begins(grid.count), table + values, static_cast<std::uint32_t>(grid.count));
}

template void Search<2>::classify_shapes();
template void Search<3>::classify_shapes();
template void Search<2>::measure_bodies();
template void Search<3>::measure_bodies();
template void Search<2>::classify_bodies();
template void Search<3>::classify_bodies();
template void Search<2>::fill_slots();
template void Search<3>::fill_slots();
template void Search<2>::sort_into_cells(PairGrid<2>&);
template void Search<3>::sort_into_cells(PairGrid<3>&);
template void Search<2>::fill_table(PairGrid<2>&, std::uint64_t);
template void Search<3>::fill_table(PairGrid<3>&, std::uint64_t);

}  // namespace drystone::pair_search
