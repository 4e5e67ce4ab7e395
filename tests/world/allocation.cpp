// A step that is like the one before asks the heap for nothing: its arrays, those of its solver and those that it needs
// on the way are there. Steps that search neighbours anew are not like the one before.
#include "grains/sample_scenes.hpp"
#include "support/allocations.hpp"

#include <gtest/gtest.h>

#include <string>

namespace drystone::testing {
namespace {

#ifdef DRYSTONE_COUNTS_ALLOCATIONS

struct Seen {
    int quiet = 0, searching = 0, frozen = 0;
};

/// The same steps three times, from one state: the third time there is nothing that has not been before.
template <int d>
Seen expect_quiet_steps(Scene<d> scene, const StepOptions& options, const std::string& what) {
    StepMemory<d> memory;
    for (int k = 0; k < 200; ++k) step(scene, options, memory);
    const Scene<d> state = scene;
    const WarmStart<d> warm = memory.warm;
    Seen seen;
    for (int pass = 0; pass < 3; ++pass) {
        scene = state;
        memory.warm = warm;
        memory.neighbours.valid = false;
        for (int k = 0; k < 60; ++k) {
            const std::int64_t searches = memory.neighbours.searches;
            const long before = allocations;
            const StepRecord record = step(scene, options, memory);
            const long asked = allocations - before;
            if (pass < 2) continue;
            if (record.solve.status == Status::frozen_shift) ++seen.frozen;
            if (memory.neighbours.searches != searches) {
                ++seen.searching;
                continue;
            }
            ++seen.quiet;
            EXPECT_EQ(asked, 0) << what << ", step " << k << ": " << record.contacts << " contacts, "
                                << record.solve.iterations << " sweeps, " << name_of(record.solve.status);
        }
    }
    EXPECT_GE(seen.quiet, 20) << what;
    return seen;
}

template <int d>
Scene<d> heap(double friction, int across, double cohesion = 0) {
    Scene<d> scene = sample::empty_scene<d>(friction, 0, cohesion);
    scene.gravity[d - 1] = -sample::g;
    sample::add_box<d>(scene, 1);
    sample::add_balls<d>(scene, across, 1);
    return scene;
}

/// Every third ball a box.
Scene<3> heap_of_boxes(int across) {
    Scene<3> scene = heap<3>(0.5, across);
    const Index box = scene.add_shape(make_box({0.5, 0.4, 0.3}));
    BodyPlan<3> plan;
    plan.shape = box;
    for (Index i = 0; i < scene.bodies.count(); i += 3) {
        if (!scene.bodies.is_free(i)) continue;
        plan.size = scene.bodies.size[i];
        plan.pose.position = scene.bodies.position[i] + Vec<3>(0, 0, 1);
        scene.add_body(plan);
    }
    return scene;
}

Scene<3> rolling_heap(int across) {
    Scene<3> scene;
    scene.materials.add({"stone", 2500}, {.friction = 0.5, .rolling = 0.005, .spinning = 0.002});
    scene.gravity[2] = -sample::g;
    sample::add_box<3>(scene, 1);
    sample::add_balls<3>(scene, across, 1);
    return scene;
}

StepOptions quick(int threads) {
    StepOptions options = sample::options(1e-3, 1e-3);
    options.solve.threads = threads;
    options.bodies_per_thread = 1;
    return options;
}

#endif

TEST(StepAllocation, IsNoneOnceItIsWarm) {
#ifndef DRYSTONE_COUNTS_ALLOCATIONS
    GTEST_SKIP() << "calls of malloc are counted only with glibc and without sanitisers";
#else
    const long before = allocations;
    (void)heap<3>(0.5, 4);
    EXPECT_GT(allocations, before) << "the counter counts";
    for (const int threads : {1, 2}) {
        const std::string on = " on " + std::to_string(threads) + " threads";
        expect_quiet_steps(heap<3>(0.5, 10), quick(threads), "balls" + on);
        expect_quiet_steps(heap<2>(0.3, 20), quick(threads), "disks" + on);
        StepOptions convex = quick(threads);
        convex.solve.law = Law::associated;
        expect_quiet_steps(heap<3>(0.5, 8), convex, "balls, associated law" + on);
    }
    expect_quiet_steps(heap_of_boxes(4), quick(2), "boxes");
    expect_quiet_steps(heap<3>(0.5, 6, 0.5), quick(2), "cohesion");
    expect_quiet_steps(rolling_heap(6), quick(2), "rolling friction");
    StepOptions moreau = quick(2);
    moreau.scheme = Scheme::moreau_jean;
    expect_quiet_steps(heap<3>(0.5, 6), moreau, "moreau-jean");
    // What comes after the first sweeps: Anderson's method and the frozen shift.
    StepOptions hurried = quick(1);
    BriefOptions brief;
    brief.exact_sweeps = brief.secant_sweeps = 20;
    hurried.solve.solver = brief;
    hurried.solve.goal.tolerance = 1e-4;
    const Seen seen = expect_quiet_steps(heap<3>(0.5, 8), hurried, "frozen shift");
    EXPECT_GT(seen.frozen, 0);
#endif
}

}  // namespace
}  // namespace drystone::testing
