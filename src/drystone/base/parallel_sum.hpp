// Sums and largest numbers over threads, the same bits on any number of them: exact sums commute, and so do maxima.
#pragma once

#include "drystone/base/exact_sum.hpp"
#include "drystone/base/parallel.hpp"

#include <array>
#include <cstdint>

namespace drystone {

/// Calls f(i, room) for i in [0, n), with one `Room` for each share of a thread, and answers these merged by
/// `room.add(other)`.
template <class Room, class F>
Room parallel_merge(int threads, Index n, F&& f) {
    constexpr int most_shares = 16;
    const int shares = n < 256 ? 1 : std::clamp(threads, 1, most_shares);
    std::array<Room, most_shares> rooms{};
    parallel_for(threads, shares, [&](Index s) {
        const auto bound = [&](Index k) { return static_cast<Index>(std::int64_t{n} * k / shares); };
        for (Index i = bound(s); i < bound(s + 1); ++i) f(i, rooms[s]);
    });
    for (int s = 1; s < shares; ++s) rooms[0].add(rooms[s]);
    return rooms[0];
}

/// Exact sums, and the largest of some numbers that are at least 0.
template <std::size_t Sums, std::size_t Maxima = 1>
struct SumsAndMaxima {
    std::array<ExactSum, Sums> sum;
    std::array<double, Maxima> largest{};

    void add(const SumsAndMaxima& other) {
        for (std::size_t k = 0; k < Sums; ++k) sum[k].add(other.sum[k]);
        for (std::size_t k = 0; k < Maxima; ++k) largest[k] = std::max(largest[k], other.largest[k]);
    }
};

}  // namespace drystone
