// Random numbers that are a function of what they are for, and of nothing else.
//
// Counter-based (Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"): the number of a
// grain does not depend on how many numbers were drawn before, on threads or on ranks. So a grain keeps its size when
// another is added to the scene.
#pragma once

#include <Random123/philox.h>

#include <cstdint>
#include <string_view>

namespace drystone {

class Random {
public:
    /// `stream` keeps families of objects apart that have ids of their own (bodies, shapes).
    explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : key_{{seed, stream}} {}

    /// Uniform in [0, 1), 53 bits. `draw` numbers what an object needs: 0 for its size, 1 for its mass, ...
    [[nodiscard]] double operator()(std::uint64_t object, std::uint64_t draw) const {
        const r123::Philox4x64::ctr_type counter = {{object, draw, 0, 0}};
        return static_cast<double>(r123::Philox4x64()(counter, key_)[0] >> 11U) * 0x1p-53;
    }
    /// Uniform in [low, high).
    [[nodiscard]] double between(double low, double high, std::uint64_t object, std::uint64_t draw) const {
        return low + (high - low) * (*this)(object, draw);
    }

private:
    r123::Philox4x64::key_type key_;
};

/// A stream for what has a name: 64-bit FNV-1a.
inline std::uint64_t stream_of(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
}

}  // namespace drystone
