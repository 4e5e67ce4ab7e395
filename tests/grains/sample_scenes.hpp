// Scenes that several tests use.
#pragma once

#include "drystone/run/simulate.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace drystone::sample {

inline constexpr double degree = std::numbers::pi / 180, g = 9.81;

/// The default step with this length and tolerance.
inline StepOptions options(double h, double tolerance) {
    StepOptions o;
    o.h = h;
    o.solve.goal.tolerance = tolerance;
    return o;
}

/// Uniform in [0, 1): number `draw` of object `object`.
inline double noise(std::uint64_t object, std::uint64_t draw) {
    std::uint64_t x = object * 1000003 + draw * 7919 + 12345;
    for (int k = 0; k < 3; ++k) {
        x ^= x >> 33;
        x *= 0xff51afd7ed558ccdU;
    }
    return static_cast<double>(x >> 11) * 0x1p-53;
}

/// A scene with one material.
template <int d>
Scene<d> empty_scene(double friction, double restitution = 0, double cohesion = 0);

/// A held half-space through `point` with the given normal, which points to the free side.
template <int d>
Index add_wall(Scene<d>& scene, const Vec<d>& point, const Vec<d>& normal);

/// Floor z = 0 (y = 0) and four (two) walls around [0, width].
template <int d>
void add_box(Scene<d>& scene, double width);

/// Balls on a cubic lattice above the floor, radii and places shaken; `count` along each direction.
template <int d>
void add_balls(Scene<d>& scene, int count, double width, double height_factor = 1);

}  // namespace drystone::sample
