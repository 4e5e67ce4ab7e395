// Random scenes for tests of the broad phase and of detection.
#pragma once

#include "drystone/bodies/scene.hpp"

#include <cmath>
#include <random>

namespace drystone::testing {

struct RandomScene {
    int bodies = 300;
    double ratio = 1;   ///< largest size over smallest; sizes are spread evenly in their logarithm
    double fill = 0.6;  ///< volume of the bodies (as balls) over that of the box; they may overlap
    int periodic = 0;   ///< directions, from the first
    /// on the periods: less than 1 leaves bodies outside the domain to be wrapped in
    double period_factor = 1;
    bool all_shapes = false;  ///< boxes and ellipsoids too
    bool walls = true;        ///< half-spaces below and above, in the last direction, unless periodic
    double held = 0.1;        ///< share of held bodies
    unsigned seed = 1;
};

template <int d>
double uniform(std::mt19937_64& random, double from, double to) {
    // Not std::uniform_real_distribution, which libraries are free to do in their own way.
    return from + (to - from) * static_cast<double>(random() >> 11) * 0x1p-53;
}

template <int d>
Rotation<d> random_rotation(std::mt19937_64& random) {
    Spin<d> by;
    for (int k = 0; k < spins<d>; ++k) by[k] = uniform<d>(random, -2, 2);
    return turn(Rotation<d>{}, by);
}

template <int d>
Scene<d> make_scene(const RandomScene& options) {
    std::mt19937_64 random(options.seed);
    Scene<d> scene;
    scene.materials.add({"stone", 2500}, {});
    std::vector<Index> shapes = {scene.add_shape(Ball<d>{1})};
    if (options.all_shapes) {
        if constexpr (d == 3) {
            shapes.push_back(scene.add_shape(make_box({1, 0.5, 0.7})));
            shapes.push_back(scene.add_shape(make_box({0.05, 0.05, 1.2})));
            shapes.push_back(scene.add_shape(Capsule{0.2, 0.8}));
        } else {
            shapes.push_back(scene.add_shape(make_rectangle({1, 0.5})));
            shapes.push_back(scene.add_shape(make_rectangle({0.05, 1.2})));
        }
    }
    const Index plane = scene.add_shape(HalfSpace<d>{});

    std::vector<double> sizes(options.bodies);
    double volume = 0;
    for (double& size : sizes) {
        size = std::pow(options.ratio, uniform<d>(random, 0, 1));
        volume += (d == 3 ? 4.18879 : 3.14159) * std::pow(size, d);
    }
    const double side = std::pow(volume / options.fill, 1.0 / d);
    for (int k = 0; k < options.periodic; ++k) {
        scene.domain.lower[k] = -0.3 * side;
        scene.domain.period[k] = options.period_factor * side;
    }
    for (int wall = 0; wall < 2 && options.walls && options.periodic < d; ++wall) {
        BodyPlan<d> plan;
        plan.shape = plane;
        plan.motion = Motion::held;
        plan.pose.position[d - 1] = wall * side;
        if (wall == 1) {
            if constexpr (d == 3)
                plan.pose.rotation.q = Eigen::Quaterniond(0, 1, 0, 0);
            else
                plan.pose.rotation.angle = 3.14159265358979323846;
        }
        scene.add_body(plan);
    }
    for (const double size : sizes) {
        BodyPlan<d> plan;
        plan.shape = shapes[random() % shapes.size()];
        plan.size = size;
        plan.motion = uniform<d>(random, 0, 1) < options.held ? Motion::held : Motion::free;
        for (int k = 0; k < d; ++k) plan.pose.position[k] = uniform<d>(random, 0, side);
        plan.pose.rotation = random_rotation<d>(random);
        scene.add_body(plan);
    }
    return scene;
}

/// Moves a body as an integrator does: wrapped into the domain, its image counted.
template <int d>
void move_body(Scene<d>& scene, Index i, const Vec<d>& by) {
    Vec<d>& x = scene.bodies.position[i];
    x += by;
    for (int k = 0; k < d; ++k) {
        const double period = scene.domain.period[k];
        if (!(period > 0)) continue;
        while (x[k] < scene.domain.lower[k]) x[k] += period, --scene.bodies.image[i][k];
        while (x[k] >= scene.domain.lower[k] + period) x[k] -= period, ++scene.bodies.image[i][k];
    }
}

}  // namespace drystone::testing
