// What the programs of this folder share: time steps taken apart, so that a paper's own solver and stopping test can
// stand in the middle.
#pragma once

#include "drystone/base/error.hpp"
#include "drystone/cone/delassus.hpp"
#include "drystone/grains/motion.hpp"
#include "drystone/scenes/scene_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>

namespace drystone::validation {

/// One step that is ready to be solved.
struct PaperStep {
    std::vector<double> reach;
    double h = 0;
    Vector v_free;
    ContactSet<3> contacts;
    Assembled<3> assembled;
    Neighbours<3> neighbours;
};

/// Bloch and Lefebvre-Lepot (2023), section 3.3.1: all pairs closer than the largest radius are constraints, walls
/// included.
inline void prepare_neighbouring(const Scene<3>& scene, const StepOptions& options, PaperStep& step) {
    double largest = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (scene.bodies.is_free(i)) largest = std::max(largest, scene.outer_radius(i));
    step.reach.assign(scene.bodies.count(), 0.5 * largest);
    step.h = choose_step(scene, options.h, options.displacement);
    free_velocities(scene, step.h, 1.0, 1, step.v_free);
    detect<3>(scene, step.reach, {.skin = options.skin}, step.neighbours, step.contacts);
    assemble(scene, step.contacts, step.v_free, {.h = step.h, .all_bodies = true}, step.assembled);
}

/// Barboteu and Dumont (2017), section 3.2: pairs that overlap at half a step.
inline void prepare_overlapping(Scene<3>& scene, const StepOptions& options, PaperStep& step) {
    step.h = options.h;
    free_velocities(scene, step.h, 1.0, 1, step.v_free);
    const std::vector<double> reach(scene.bodies.count(), 0.0);
    const auto position = scene.bodies.position;
    const auto rotation = scene.bodies.rotation;
    drift(scene, 0.5 * step.h, 1);
    detect<3>(scene, reach, {.skin = options.skin}, step.neighbours, step.contacts);
    scene.bodies.position = position;
    scene.bodies.rotation = rotation;
    assemble(scene, step.contacts, step.v_free,
             {.scheme = Scheme::moreau_jean, .h = step.h, .theta = options.theta_or_default(),
              .all_bodies = true},
             step.assembled);
}

/// The plan of a scene of spheres in space.
inline RunPlan<3> read_spheres(const char* file) {
    AnyPlan plan = read_scene(file);
    if (!std::holds_alternative<RunPlan<3>>(plan)) fail(file, "is a scene of the plane", "give one of space");
    return std::get<RunPlan<3>>(std::move(plan));
}

/// Of this process, all threads: what else the machine does disturbs it less than wall-clock seconds.
inline double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Runs the body of a program; faults go to the screen and end it with 2.
inline int guarded(const std::function<void()>& body) {
    try {
        body();
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
}

}  // namespace drystone::validation
