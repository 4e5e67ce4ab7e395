// When something is due that is done again and again.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace drystone {

/// Times k * every, k = 1, 2, ...: says when one has been reached. every = 0: at every call.
struct Beat {
    double every = 0;
    std::int64_t next = 1;  ///< which one is next: part of a checkpoint
    /// `slack`: as near as this counts as reached; a sum of steps misses by rounding.
    bool reached(double time, double slack);
};

template <class Self, class F>
requires std::same_as<std::remove_const_t<Self>, Beat>
void each_number(Self& beat, F&& f) { f("next", beat.next, std::numeric_limits<std::int64_t>::max()); }

}  // namespace drystone
