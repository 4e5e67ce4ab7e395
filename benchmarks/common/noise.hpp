// Uniform numbers from a counter, for benchmarks.
#pragma once

#include <Eigen/Core>

#include <cstdint>

namespace drystone {

/// Uniform numbers in [-1, 1): number `draw` of object `object`, whoever asks and in whatever order.
class Noise {
public:
    explicit Noise(std::uint64_t seed) : seed_(scramble(seed)) {}

    [[nodiscard]] double operator()(std::uint64_t object, std::uint64_t draw) const {
        const std::uint64_t bits = scramble(seed_ ^ scramble(object * 64 + draw));
        return static_cast<double>(bits >> 11) * 0x1p-52 - 1.0;
    }
    [[nodiscard]] Eigen::Vector3d vector(std::uint64_t object, std::uint64_t draw) const {
        return {(*this)(object, draw), (*this)(object, draw + 1), (*this)(object, draw + 2)};
    }

private:
    static std::uint64_t scramble(std::uint64_t x) {  // a bijection of 64-bit numbers that mixes all bits
        x += 0x9e3779b97f4a7c15U;
        x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
        x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
        return x ^ (x >> 32);
    }
    std::uint64_t seed_;
};

}  // namespace drystone
