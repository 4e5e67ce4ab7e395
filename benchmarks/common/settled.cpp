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

namespace {

/// The first `count` places of the lattice are taken.
Scene<3> fill_box(GrainKind kind, const BoxShape& box, Index count, double diameter) {
    const Noise noise(box.seed);
    Scene<3> scene;
    scene.materials.add({"stone", 2500}, {0.5, 0, 0});
    scene.gravity = {0, 0, -9.81};
    const double spacing = 1.11 * diameter, width = spacing * box.side;
    add_wall(scene, Vec<3>::Zero(), Vec<3>::UnitZ());
    for (int k = 0; k < 2; ++k) {
        if (box.periodic) {
            scene.domain.period[k] = width;
        } else {
            add_wall(scene, Vec<3>::Zero(), Vec<3>::Unit(k));
            add_wall(scene, width * Vec<3>::Unit(k), -Vec<3>::Unit(k));
        }
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
        const Vec<3> site(i % box.side, (i / box.side) % box.side, i / (box.side * box.side));
        // Shaken by no more than keeps neighbours apart.
        grain.pose.position =
            spacing * (site + Vec<3>::Constant(0.5)) + 0.005 * diameter * noise.vector(object, 1);
        if (kind == GrainKind::polyhedra)
            grain.pose.rotation = turn({}, Spin<3>(std::numbers::pi * noise.vector(object, 4)));
        scene.add_body(grain);
    }
    return scene;
}

}  // namespace

Scene<3> box_of_grains(GrainKind kind, const BoxShape& shape, double diameter) {
    return fill_box(kind, shape, shape.side * shape.side * shape.layers, diameter);
}

Scene<3> box_of_grains(GrainKind kind, Index count, double diameter) {
    const auto side = static_cast<Index>(std::max(1.0, std::round(std::cbrt(count))));
    return fill_box(kind, {.side = side}, count, diameter);
}

void settle(Scene<3>& scene, StepMemory<3>& memory) {
    const PairLaw law = scene.materials.law(0, 0);
    PairLaw smooth = law;
    smooth.friction = 1e-6;  // not 0: contacts keep their tangents, and so their fast kernel
    scene.materials.set(0, 0, smooth);
    auto run = [&](int steps, int sweeps, double keep) {
        StepOptions options;
        options.h = 4e-3;
        options.account = false;
        options.solve.threads = 0;  // all
        GaussSeidelOptions solver;
        solver.acceleration = Acceleration::momentum;
        solver.max_iterations = sweeps;
        options.solve.solver = solver;
        for (int k = 0; k < steps; ++k) {
            step(scene, options, memory);
            for (Index i = 0; i < scene.bodies.count(); ++i) {
                scene.bodies.velocity[i] *= keep;
                scene.bodies.spin[i] *= keep;
            }
        }
    };
    run(200, 60, 1);
    run(200, 150, 0.9);
    // A deep column is not at rest yet: its weight is felt at the bottom after as many steps as it has layers. It is
    // when hardly anything moves, or when what moves, by what 150 sweeps leave unsolved, no longer gets less.
    double mass = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (scene.bodies.is_free(i)) mass += scene.bodies.mass[i];
    const double still = 0.5 * mass * std::pow(0.1 * scene.gravity.norm() * 1e-3, 2);
    double kinetic = energy_of(scene).kinetic;
    for (int more = 0, idle = 0; more < 20 && idle < 2 && kinetic > still; ++more) {
        const double before = kinetic;
        run(100, 150, 0.9);
        kinetic = energy_of(scene).kinetic;
        idle = kinetic < 0.8 * before ? 0 : idle + 1;
    }
    scene.materials.set(0, 0, law);
}

double peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmHWM:", 0) == 0) return 1024 * std::stod(line.substr(6));
    }
    return 0;
}

}  // namespace drystone
