// The grid of the broad phase: cells on a torus, numbered with x running fastest, and lists sorted by the number of the
// cell.
#pragma once

#include "drystone/base/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace drystone {

// Share of work: fixed, so that nothing depends on the number of threads.
inline constexpr std::size_t block_items = 16384;

// Rounding: a cell coordinate of up to 2^41 has an error below 1e-3, so cells are 2e-3 wider than needed and ranges of
// cells 1e-3. Farther out (a trillion diameters away) all is in one cell.
inline constexpr double farthest_cell = 0x1p41;
inline constexpr double cell_slack = 1 + 2e-3, range_slack = 1 + 1e-3;
inline constexpr std::int64_t most_cells = std::int64_t{1} << 20;

/// A cell's number, and what is in it.
struct KeyedSlot {
    std::uint64_t key;
    std::uint32_t slot;
};

/// The grid of a class: items [first, first + count) of the workspace.
template <int d>
struct PairGrid {
    std::array<double, d> origin{};
    std::array<std::int64_t, d> cells{};  // per side, at least 3: a cell's neighbours on both sides differ
    double inverse_cell = 0;
    double radius = 0;  // largest of the class
    std::size_t first = 0, count = 0;
    std::size_t table = 0;  // where the grid's part of the table starts
    int left_out = 0;       // digits of a key that the table leaves out

    [[nodiscard]] std::int64_t coordinate(int k, double x) const {
        const double t = std::floor((x - origin[k]) * inverse_cell);
        return static_cast<std::int64_t>(std::clamp(t, -farthest_cell, farthest_cell));
    }
    [[nodiscard]] std::int64_t wrapped(int k, std::int64_t c) const {
        if (c >= 0 && c < cells[k]) return c;
        c %= cells[k];
        return c < 0 ? c + cells[k] : c;
    }
    /// Number of a cell, from wrapped coordinates.
    [[nodiscard]] std::uint64_t key(const std::array<std::int64_t, d>& c) const {
        std::int64_t key = c[d - 1];
        for (int k = d - 2; k >= 0; --k) key = key * cells[k] + c[k];
        return static_cast<std::uint64_t>(key);
    }
};

/// A stretch of the sorted list of a grid.
struct Stretch {
    std::size_t begin = 0, end = 0;
};

/// Sorts keyed[0 .. count) by key, none above `largest`, keeping the order of equal keys. Digit by digit, lowest first;
/// each digit by counting, in blocks whose counts are then added up, so that blocks may run on any thread.
inline void sort_by_key(int threads, std::size_t count, std::uint64_t largest, std::vector<KeyedSlot>& keyed,
                        std::vector<KeyedSlot>& other, std::vector<std::uint32_t>& histogram) {
    constexpr int digit_bits = 11;
    constexpr std::size_t digits = std::size_t{1} << digit_bits;
    if (count < digits) {
        std::sort(
            keyed.begin(), keyed.begin() + static_cast<std::ptrdiff_t>(count),
            [](const auto& p, const auto& q) { return p.key != q.key ? p.key < q.key : p.slot < q.slot; });
        return;
    }
    const std::size_t blocks = (count + block_items - 1) / block_items;
    for (int shift = 0; shift < 64 && (largest >> shift) > 0; shift += digit_bits) {
        histogram.assign(blocks * digits, 0);
        parallel_for_uneven(threads, static_cast<Index>(blocks), 1, [&](Index block) {
            std::uint32_t* counts = &histogram[block * digits];
            const std::size_t begin = block * block_items, end = std::min(count, begin + block_items);
            for (std::size_t i = begin; i < end; ++i) ++counts[(keyed[i].key >> shift) & (digits - 1)];
        });
        std::uint32_t total = 0;
        for (std::size_t digit = 0; digit < digits; ++digit)
            for (std::size_t block = 0; block < blocks; ++block) {
                std::uint32_t& entry = histogram[block * digits + digit];
                const std::uint32_t here = entry;
                entry = total;
                total += here;
            }
        parallel_for_uneven(threads, static_cast<Index>(blocks), 1, [&](Index block) {
            std::uint32_t* position = &histogram[block * digits];
            const std::size_t begin = block * block_items, end = std::min(count, begin + block_items);
            for (std::size_t i = begin; i < end; ++i)
                other[position[(keyed[i].key >> shift) & (digits - 1)]++] = keyed[i];
        });
        keyed.swap(other);
    }
}

}  // namespace drystone
