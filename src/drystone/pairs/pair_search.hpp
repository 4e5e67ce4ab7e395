// The search behind find_pairs. Not for use outside collide/.
//
// Bodies are put into classes of sizes, [1, 2[, [2, 4[, ... times the smallest bounding ball (margin included), and
// each class into a grid whose cells are as wide as its largest ball. So two balls of a class that overlap are in the
// same or in adjacent cells, and a ball of a finer class finds those of a coarser one in at most 3^d cells of the
// coarser grid. A dense packing has a bounded number of balls of all coarser classes around any point, whatever the
// sizes, so the cost per body is bounded.
//
// A grid is the list of its bodies sorted by the number of their cell, x running fastest, so that a row of three cells
// is one stretch of the list. A table by the leading digits of the number says where to look for a cell; its length
// goes with the number of bodies, not of cells, so empty space costs nothing. Cells are numbered on a torus of at most
// 2^20 cells per side: far apart cells may share a number, which costs a comparison and no more.
//
// In periodic directions the images of a body that come within reach of the domain are put into the grid beside it.
#pragma once

#include "drystone/base/parallel.hpp"
#include "drystone/pairs/find_pairs.hpp"

#include <algorithm>
#include <cmath>

namespace drystone::pair_search {

// Sizes of work shares: fixed, so that nothing depends on the number of threads.
inline constexpr Index block_bodies = 8192;
inline constexpr std::size_t chunk_items = 2048;
inline constexpr int max_classes = 64;

enum Kind : std::uint8_t { ball, other, half_space };

inline constexpr std::uint32_t code_mask = (1U << 30) - 1;
inline constexpr std::uint32_t held_flag = 1U << 30;   // the body is held
inline constexpr std::uint32_t boxed_flag = 1U << 31;  // not a ball: look at its box too

inline Index block_count(Index n) { return (n + block_bodies - 1) / block_bodies; }

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

    /// The place of a body inside the domain, moved by some periods.
    [[nodiscard]] std::array<double, d> place(Index i, std::uint32_t tag) const {
        std::array<double, d> x;
        for (int k = 0; k < d; ++k) x[k] = bodies_.position[i][k];
        if (periodic_) {
            const Image<d> away = periods_of<d>(tag & code_mask) - (work_.home[i] - bodies_.image[i]);
            const Vec<d> way = scene_.domain.translation(away);
            for (int k = 0; k < d; ++k) x[k] += way[k];
        }
        return x;
    }

    /// Calls f(code) for all periods that bring a body within reach of the domain, other than none.
    template <class F>
    void for_images(Index i, double reach, F&& f) const {
        const std::array<double, d> x = place(i, 0);
        Image<d> low = Image<d>::Zero(), high = Image<d>::Zero();
        auto set_range = [&](int k, double displaced) {
            const double period = scene_.domain.period[k];
            if (!(period > 0)) return;
            const double lower = scene_.domain.lower[k] - x[k] - displaced;
            low[k] = static_cast<std::int32_t>(std::ceil((lower - reach) / period));
            high[k] = static_cast<std::int32_t>(std::floor((lower + period + reach) / period));
        };
        for (int k = 1; k < d; ++k) set_range(k, 0);
        Image<d> periods = low;
        for (periods[d - 1] = low[d - 1]; periods[d - 1] <= high[d - 1]; ++periods[d - 1]) {
            // Along x the range depends on the cell in the last direction, which a shear has displaced.
            set_range(0, periods[d - 1] * scene_.domain.tilt);
            for (int k = 0; k < d - 1; ++k) periods[k] = low[k];
            while (low[0] <= high[0]) {
                if (!periods.isZero()) f(image_code<d>(periods));
                int k = 0;
                for (; k < d - 1; ++k) {
                    if (++periods[k] <= high[k]) break;
                    periods[k] = low[k];
                }
                if (k == d - 1) break;
            }
        }
    }

    /// The items with keys from `first` to `last`, few of them, as positions within the grid.
    [[nodiscard]] Stretch stretch(const PairGrid<d>& grid, std::uint64_t first, std::uint64_t last) const {
        const std::uint64_t* keys = &work_.keys[grid.first];
        const std::uint32_t* table = &work_.table[grid.table + (first >> grid.left_out)];
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
        Image<d> periods = periods_of<d>(q_code) - periods_of<d>(p_code);  // of q against p
        if (same_class && (p_code | q_code) != 0) {
            // A pair across a border is met twice, once at either side: kept where the one inside has the smaller
            // index.
            const Index inside = p_code == 0 ? p.body : q.body, outside = p_code == 0 ? q.body : p.body;
            if (inside > outside) return;
            if (inside == outside) {
                int k = 0;
                while (periods[k] == 0) ++k;
                if ((p_code == 0 ? periods[k] : -periods[k]) < 0) return;
                if (p_code != 0) periods = -periods;
                out.push_back({inside, inside, image_code<d>(periods)});
                return;
            }
        }
        // From places inside the domain to unwrapped ones. Unsigned: images may be of any size.
        for (int k = 0; k < d; ++k) {
            const auto moved = static_cast<std::uint32_t>(periods[k]) +
                               static_cast<std::uint32_t>(work_.home[p.body][k]) -
                               static_cast<std::uint32_t>(work_.home[q.body][k]);
            periods[k] = static_cast<std::int32_t>((forward ? moved : 0U - moved) & 1023U);
        }
        const std::uint32_t code = image_code<d>(periods);
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

}  // namespace drystone::pair_search
