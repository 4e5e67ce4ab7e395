#include "common/settled.hpp"

#include "common/noise.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <string>

namespace drystone {

namespace {

void add_wall(Scene<3>& scene, const Vec<3>& point, const Vec<3>& normal) {
    BodyPlan<3> wall;
    wall.shape = scene.add_shape(HalfSpace<3>{});
    wall.motion = Motion::held;
    wall.pose.position = point;
    wall.pose.rotation.q = Eigen::Quaterniond::FromTwoVectors(Vec<3>(Vec<3>::UnitZ()), normal);
    scene.add_body(wall);
}

/// Hull of points on a sphere of radius 1, moved in by up to a fifth.
Polyhedron irregular(const Noise& noise, std::uint64_t number) {
    const int points = 16 + static_cast<int>(4 * noise(number, 0));
    std::vector<Vec<3>> cloud;
    for (int k = 0; k < points; ++k) {
        Vec<3> x = noise.vector(number * 64 + static_cast<std::uint64_t>(k), 1);
        while (x.norm() < 0.1) x += Vec<3>(0.2, 0.1, 0.3);
        cloud.push_back(x.normalized() * (0.9 + 0.1 * noise(number * 64 + static_cast<std::uint64_t>(k), 5)));
    }
    return make_polyhedron(cloud).shape;
}

}  // namespace

Scene<3> box_of_grains(GrainKind kind, Index count, double diameter) {
    const Noise noise(7);
    Scene<3> scene;
    scene.materials.add({"stone", 2500}, {0.5, 0, 0});
    scene.gravity = {0, 0, -9.81};
    const auto side = static_cast<Index>(std::max(1.0, std::round(std::cbrt(count))));
    const double spacing = 1.11 * diameter, width = spacing * side;
    add_wall(scene, Vec<3>::Zero(), Vec<3>::UnitZ());
    for (int k = 0; k < 2; ++k) {
        add_wall(scene, Vec<3>::Zero(), Vec<3>::Unit(k));
        add_wall(scene, width * Vec<3>::Unit(k), -Vec<3>::Unit(k));
    }
    std::vector<Index> shapes;
    if (kind == GrainKind::spheres) {
        shapes.push_back(scene.add_shape(Ball<3>{1}));
    } else {
        for (std::uint64_t k = 0; k < 64; ++k) shapes.push_back(scene.add_shape(irregular(noise, k)));
    }
    for (Index i = 0; i < count; ++i) {
        const auto object = static_cast<std::uint64_t>(i) + 100000;
        BodyPlan<3> grain;
        grain.shape = shapes[i % shapes.size()];
        grain.size = diameter / 2 * (1 + 0.1 * noise(object, 0));
        const Vec<3> site(i % side, (i / side) % side, i / (side * side));
        // Shaken by no more than keeps neighbours apart.
        grain.pose.position =
            spacing * (site + Vec<3>::Constant(0.5)) + 0.005 * diameter * noise.vector(object, 1);
        if (kind == GrainKind::polyhedra)
            grain.pose.rotation = turn({}, Spin<3>(std::numbers::pi * noise.vector(object, 4)));
        scene.add_body(grain);
    }
    return scene;
}

int settle(Scene<3>& scene, double h, int most, StepMemory<3>& memory) {
    StepOptions options;
    options.h = h;
    // Fifty sweeps and no more: on the way to rest nothing has to be exact.
    GaussSeidelOptions sweeps;
    sweeps.acceleration = Acceleration::momentum;
    sweeps.max_iterations = 50;
    options.solve.solver = sweeps;
    options.solve.goal.tolerance = 1e-4;
    double weight = 0, size = 0;
    Index grains = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (!scene.bodies.is_free(i)) continue;
        weight += scene.bodies.mass[i] * scene.gravity.norm();
        size += 2 * scene.outer_radius(i);
        ++grains;
    }
    const double still = 1e-6 * weight * size / grains;
    for (int k = 1; k <= most; ++k) {
        const StepRecord record = step(scene, options, memory);
        if (k > most / 2 && record.energy.kinetic < still) return k;
        const double keep = k < most * 3 / 4 ? 0.95 : 1;
        for (Index i = 0; i < scene.bodies.count(); ++i) {
            scene.bodies.velocity[i] *= keep;
            scene.bodies.spin[i] *= keep;
        }
    }
    return most;
}

double peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmHWM:", 0) == 0) return 1024 * std::stod(line.substr(6));
    }
    return 0;
}

}  // namespace drystone
