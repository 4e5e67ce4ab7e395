// Bodies are put into classes of sizes, [1, 2[, [2, 4[, ... times the smallest bounding ball (margin included), and each class
// into a grid whose cells are as wide as its largest ball. So two balls of a class that overlap are in the same or in adjacent
// cells, and a ball of a finer class finds those of a coarser one in at most 3^d cells of the coarser grid. A dense packing has
// a bounded number of balls of all coarser classes around any point, whatever the sizes, so the cost per body is bounded.
//
// A grid is the list of its bodies sorted by the number of their cell, x running fastest, so that a row of three cells is one
// stretch of the list. A table by the leading digits of the number says where to look for a cell; its length goes with the number
// of bodies, not of cells, so empty space costs nothing. Cells are numbered on a torus of at most 2^20 cells per side: far apart cells may share a
// number, which costs a comparison and no more.
//
// In periodic directions the images of a body that come within reach of the domain are put into the grid beside it.
#include "drystone/collide/find_pairs.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/collide/pair_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace drystone {

namespace {

// Sizes of work shares: fixed, so that nothing depends on the number of threads.
constexpr Index block_bodies = 8192;
constexpr std::size_t chunk_items = 2048;
constexpr int max_classes = 64;

enum Kind : std::uint8_t { ball, other, half_space };

constexpr std::uint32_t code_mask = (1U << 30) - 1;
constexpr std::uint32_t held_flag = 1U << 30;   // the body is held
constexpr std::uint32_t boxed_flag = 1U << 31;  // not a ball: look at its box too

Index block_count(Index n) { return (n + block_bodies - 1) / block_bodies; }

/// Calls f(block, begin, end) for blocks of bodies.
template <class F>
void for_blocks(int threads, Index n, F&& f) {
    parallel_for_uneven(threads, block_count(n), 1, [&](Index block) {
        f(block, block * block_bodies, std::min<Index>(n, (block + 1) * block_bodies));
    });
}

template <int d>
class Search {
public:
    using Work = PairWorkspace<d>;
    using Item = typename Work::Item;
    using Pairs = std::vector<Candidate<d>>;

    Search(const Scene<d>& scene, std::span<const double> margin, int threads, Work& work)
        : scene_(scene),
          bodies_(scene.bodies),
          margin_(margin),
          threads_(threads),
          work_(work),
          n_(scene.bodies.count()),
          periodic_(scene.domain.periodic()) {}

    void run(Pairs& pairs) {
        classify_shapes();
        measure_bodies();
        classify_bodies();
        fill_slots();
        work_.table.clear();
        for (PairGrid<d>& grid : grids_) sort_into_cells(grid);
        sweep();
        gather(pairs);
    }

private:
    void classify_shapes();
    void measure_bodies();
    void classify_bodies();
    void fill_slots();
    void sort_into_cells(PairGrid<d>& grid);
    void fill_table(PairGrid<d>& grid, std::uint64_t cells);
    void sweep();
    void sweep_own(std::size_t g, std::size_t begin, std::size_t end, Pairs& out) const;
    void sweep_coarser(std::size_t fine, std::size_t coarse, std::size_t begin, std::size_t end,
                       Pairs& out) const;
    void sweep_half_spaces(Index begin, Index end, Pairs& out) const;
    void gather(Pairs& pairs);

    [[nodiscard]] Kind kind(Index i) const { return static_cast<Kind>(work_.kind[bodies_.shape[i]]); }
    [[nodiscard]] double radius(Index i) const { return scene_.outer_radius(i) + margin_[i]; }

    /// The place of a body inside the domain, moved by a shift.
    [[nodiscard]] std::array<double, d> place(Index i, std::uint32_t tag) const {
        std::array<double, d> x;
        for (int k = 0; k < d; ++k) x[k] = bodies_.position[i][k];
        if (periodic_) {
            const Image<d> shift = periods_of<d>(tag & code_mask);
            for (int k = 0; k < d; ++k)
                if (const double period = scene_.domain.period[k]; period > 0)
                    x[k] += (shift[k] - (work_.home[i][k] - bodies_.image[i][k])) * period;
        }
        return x;
    }

    /// Calls f(code) for every shift that brings a body within reach of the domain, other than none.
    template <class F>
    void for_images(Index i, double reach, F&& f) const {
        const std::array<double, d> x = place(i, 0);
        Image<d> low = Image<d>::Zero(), high = Image<d>::Zero();
        for (int k = 0; k < d; ++k) {
            const double period = scene_.domain.period[k];
            if (!(period > 0)) continue;
            const double lower = scene_.domain.lower[k];
            low[k] = static_cast<std::int32_t>(std::ceil((lower - reach - x[k]) / period));
            high[k] = static_cast<std::int32_t>(std::floor((lower + period + reach - x[k]) / period));
        }
        Image<d> shift = low;
        for (;;) {
            if (!shift.isZero()) f(image_code<d>(shift));
            int k = 0;
            for (; k < d; ++k) {
                if (++shift[k] <= high[k]) break;
                shift[k] = low[k];
            }
            if (k == d) return;
        }
    }

    /// The items with keys from `first` to `last`, few of them, as positions within the grid.
    [[nodiscard]] Stretch stretch(const PairGrid<d>& grid, std::uint64_t first, std::uint64_t last) const {
        const std::uint64_t* keys = &work_.keys[grid.first];
        const std::uint32_t* table = &work_.table[grid.table + (first >> grid.shift)];
        std::size_t begin = table[0];
        // Mostly none or one to pass; many only where bodies crowd in a small part of their space.
        if (const std::size_t end = table[1]; end - begin > 16)
            begin = static_cast<std::size_t>(std::lower_bound(keys + begin, keys + end, first) - keys);
        else
            while (begin < end && keys[begin] < first) ++begin;
        std::size_t end = begin;
        while (end < grid.count && keys[end] <= last) ++end;
        return {begin, end};
    }

    /// Looks at a pair of items near each other, of which p is the one that asks.
    void consider(const Item& p, const Item& q, bool same_class, Pairs& out) const {
        double square = 0;
        for (int k = 0; k < d; ++k) square += (p.x[k] - q.x[k]) * (p.x[k] - q.x[k]);
        const double reach = p.radius + q.radius;
        if (square > reach * reach) return;
        if ((p.tag & q.tag & held_flag) != 0) return;
        if (((p.tag | q.tag) & boxed_flag) != 0 && !boxes_overlap(p, q)) return;
        accept(p, q, same_class, out);
    }

    [[nodiscard]] bool boxes_overlap(const Item& p, const Item& q) const {
        const Bounds<d>&a = work_.bounds[p.body], &b = work_.bounds[q.body];
        for (int k = 0; k < d; ++k) {
            const double apart = q.x[k] - p.x[k];
            if (a.lower[k] > apart + b.upper[k] || apart + b.lower[k] > a.upper[k]) return false;
        }
        return true;
    }

    void accept(const Item& p, const Item& q, bool same_class, Pairs& out) const {
        const bool forward = p.body < q.body;
        if (!periodic_) {
            out.push_back(forward ? Candidate<d>{p.body, q.body, 0} : Candidate<d>{q.body, p.body, 0});
            return;
        }
        const std::uint32_t p_code = p.tag & code_mask, q_code = q.tag & code_mask;
        if (p_code != 0 && q_code != 0) return;
        Image<d> shift = periods_of<d>(q_code) - periods_of<d>(p_code);  // of q against p
        if (same_class && (p_code | q_code) != 0) {
            // A pair across a border is met twice, once at either side: kept where the one inside has the smaller index.
            const Index inside = p_code == 0 ? p.body : q.body, outside = p_code == 0 ? q.body : p.body;
            if (inside > outside) return;
            if (inside == outside) {
                int k = 0;
                while (shift[k] == 0) ++k;
                if ((p_code == 0 ? shift[k] : -shift[k]) < 0) return;
                if (p_code != 0) shift = -shift;
                out.push_back({inside, inside, image_code<d>(shift)});
                return;
            }
        }
        // From places inside the domain to unwrapped ones. Unsigned: images may be of any size.
        for (int k = 0; k < d; ++k) {
            const auto moved = static_cast<std::uint32_t>(shift[k]) +
                               static_cast<std::uint32_t>(work_.home[p.body][k]) -
                               static_cast<std::uint32_t>(work_.home[q.body][k]);
            shift[k] = static_cast<std::int32_t>((forward ? moved : 0U - moved) & 1023U);
        }
        const std::uint32_t code = image_code<d>(shift);
        out.push_back(forward ? Candidate<d>{p.body, q.body, code} : Candidate<d>{q.body, p.body, code});
    }

    const Scene<d>& scene_;
    const Bodies<d>& bodies_;
    std::span<const double> margin_;
    int threads_;
    Work& work_;
    Index n_;
    bool periodic_;
    bool boxed_ = false;                         // some body is neither a ball nor a half-space
    std::vector<Index> half_spaces_;             // bodies
    double smallest_ = 0;                        // radius, margin included
    std::array<double, max_classes> largest_{};  // by class
    std::vector<PairGrid<d>> grids_;             // finer ones first, none empty
    std::array<int, max_classes> grid_of_{};     // by class, -1: empty
};

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
    struct Measure {
        double smallest = std::numeric_limits<double>::infinity();
        double largest = 0;
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
                for (int k = 0; k < d; ++k) {
                    const double period = scene_.domain.period[k];
                    if (!(period > 0)) continue;
                    // Zero when positions are kept inside, as they should be.
                    const double out = std::floor((bodies_.position[i][k] - scene_.domain.lower[k]) / period);
                    home[k] += static_cast<std::int32_t>(std::clamp(out, -1e9, 1e9));
                }
            }
            if (plane) continue;
            m.smallest = std::min(m.smallest, r);
            m.largest = std::max(m.largest, r);
            m.boxed = m.boxed || kind(i) == Kind::other;
        }
        measures[block] = m;
    });
    smallest_ = std::numeric_limits<double>::infinity();
    double largest = 0;
    for (const Measure& m : measures) {
        if (m.bad >= 0)
            fail(fmt::format("body {}", bodies_.id[m.bad]),
                 "its position or its reach is not a finite number",
                 "look for a step that is too long or for a wrong velocity");
        smallest_ = std::min(smallest_, m.smallest);
        largest = std::max(largest, m.largest);
        boxed_ = boxed_ || m.boxed;
    }
    // A shift of more than 511 periods would not fit its code.
    for (int k = 0; k < d; ++k)
        if (const double period = scene_.domain.period[k]; period > 0 && 2 * largest > 500 * period)
            fail("domain.period",
                 fmt::format("{} m is too short for a body with a radius and reach of {} m", period, largest),
                 "choose a period that is not hundreds of times shorter than a body");
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
    // An image is needed where it may meet a body inside the domain of its own class or of a finer one; where it meets a coarser
    // one, the coarser one's image is.
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
    grid.shift = 0;
    while ((cells >> grid.shift) > 4 * grid.count + 64) ++grid.shift;
    grid.table = work_.table.size();
    const std::uint64_t values = (cells >> grid.shift) + 2;
    work_.table.resize(grid.table + values);
    std::uint32_t* table = &work_.table[grid.table];
    const std::uint64_t* keys = &work_.keys[grid.first];
    // Each item writes the values from that of the one before it, exclusive, to its own.
    const auto begins = [&](std::size_t i) { return i == 0 ? 0 : (keys[i - 1] >> grid.shift) + 1; };
    const std::size_t blocks = (grid.count + block_items - 1) / block_items;
    parallel_for(threads_, static_cast<Index>(blocks), [&](Index block) {
        const std::size_t begin = block * block_items, end = std::min(grid.count, begin + block_items);
        for (std::size_t i = begin; i < end; ++i)
            for (std::uint64_t value = begins(i); value <= keys[i] >> grid.shift; ++value)
                table[value] = static_cast<std::uint32_t>(i);
    });
    std::fill(table + begins(grid.count), table + values, static_cast<std::uint32_t>(grid.count));
}

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
    // Cells ahead of the own one in x (a stretch with it, or the row's first cell), and rows of three ahead in y or z; where
    // a row of three passes the end of the torus, its cells are single stretches.
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
    // Each body's pairs are counted and put into their stretch in any order, then the stretch is sorted: since no two pairs are
    // equal, the result does not depend on the order in which threads come by.
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

}  // namespace

template <int d>
void find_pairs(const Scene<d>& scene, std::span<const double> margin, int threads,
                std::vector<Candidate<d>>& pairs, PairWorkspace<d>& workspace) {
    if (margin.size() != static_cast<std::size_t>(scene.bodies.count()))
        fail("find_pairs", fmt::format("{} margins for {} bodies", margin.size(), scene.bodies.count()),
             "give one per body");
    Search<d>(scene, margin, resolve_threads(threads), workspace).run(pairs);
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
