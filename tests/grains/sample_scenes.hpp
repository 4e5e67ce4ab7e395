// Scenes that several tests use.
#pragma once

#include "drystone/grains/simulate.hpp"

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
Scene<d> empty_scene(double friction, double restitution = 0, double cohesion = 0) {
    Scene<d> scene;
    scene.materials.add({"stone", 2500}, {friction, restitution, cohesion});
    return scene;
}

/// A held half-space through `point` with the given normal, which points to the free side.
template <int d>
Index add_wall(Scene<d>& scene, const Vec<d>& point, const Vec<d>& normal) {
    BodyPlan<d> wall;
    wall.shape = scene.add_shape(HalfSpace<d>{});
    wall.motion = Motion::held;
    wall.pose.position = point;
    if constexpr (d == 2) {
        wall.pose.rotation.angle = std::atan2(normal[1], normal[0]) - std::numbers::pi / 2;
    } else {
        wall.pose.rotation.q = Eigen::Quaterniond::FromTwoVectors(Vec<3>(Vec<3>::UnitZ()), normal);
    }
    return scene.add_body(wall);
}

/// Floor z = 0 (y = 0) and four (two) walls around [0, width].
template <int d>
void add_box(Scene<d>& scene, double width) {
    add_wall<d>(scene, Vec<d>::Zero(), Vec<d>::Unit(d - 1));
    for (int k = 0; k < d - 1; ++k) {
        add_wall<d>(scene, Vec<d>::Zero(), Vec<d>::Unit(k));
        add_wall<d>(scene, Vec<d>(width * Vec<d>::Unit(k)), -Vec<d>::Unit(k));
    }
}

/// Balls on a cubic lattice above the floor, radii and places shaken; `count` along each direction.
template <int d>
void add_balls(Scene<d>& scene, int count, double width, double height_factor = 1) {
    const Index shape = scene.add_shape(Ball<d>{1});
    const double spacing = width / count;
    int total = 1;
    for (int k = 0; k < d; ++k) total *= count;
    for (int i = 0; i < total; ++i) {
        BodyPlan<d> plan;
        plan.shape = shape;
        plan.size = spacing / 2 * (0.8 + 0.1 * noise(i, 0));
        int rest = i;
        for (int k = 0; k < d; ++k) {
            plan.pose.position[k] =
                spacing * (rest % count + 0.5) + 0.05 * spacing * (2 * noise(i, 1 + k) - 1);
            rest /= count;
        }
        plan.pose.position[d - 1] *= height_factor;
        scene.add_body(plan);
    }
}

}  // namespace drystone::sample
