// What ends a run that cannot go on: problems that are none, bodies that are nowhere, profiles without end.

#include "drystone/base/error.hpp"
#include "drystone/grains/heap.hpp"
#include "drystone/world/stages.hpp"
#include "grains/sample_scenes.hpp"
#include "support/message_of.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// Balls on a floor, in contact from the first step.
template <int d>
Scene<d> heap() {
    Scene<d> scene = sample::empty_scene<d>(0.5);
    scene.gravity[d - 1] = -sample::g;
    sample::add_box<d>(scene, 0.3);
    sample::add_balls<d>(scene, 3, 0.3);
    return scene;
}

/// Of a problem that cannot be solved there is no solution, not even a bad one: nothing may be made of it.
TEST(AStep, WhoseProblemIsInvalidIsRefusedWithItsFaults) {
    Scene<3> scene = heap<3>();
    StepMemory<3> memory;
    do step(scene, sample::options(1e-3, 1e-6), memory);
    while (memory.assembled.body.empty());
    scene.bodies.mass[memory.assembled.body[0]] =
        1e-200;  // one that touches something: others have no part in it
    expect_part(message_of([&] { step(scene, sample::options(1e-3, 1e-6), memory); }),
                "the contact problem of the step: it cannot be solved: mass: inverse mass 1e+200 of body ");
}

TEST(AStep, TellsWhichBodyIsNowhere) {
    for (const double far : {std::numeric_limits<double>::quiet_NaN(), 1e31, -infinity}) {
        Scene<3> scene = heap<3>();
        EXPECT_EQ(find_runaway(scene, 2), -1);
        scene.bodies.position[6][1] = far;
        EXPECT_EQ(find_runaway(scene, 2), scene.bodies.id[6]);
        scene.bodies.velocity[8][0] = far;
        EXPECT_EQ(find_runaway(scene, 2), scene.bodies.id[8]);
        scene.bodies.spin[9][2] = far;
        EXPECT_EQ(find_runaway(scene, 2), scene.bodies.id[9]);
    }
}

/// In a periodic domain bodies are wrapped on many threads: what is thrown there must not end the program.
TEST(ARun, EndsWithAMessageOnAnyNumberOfThreads) {
    for (const int threads : {1, 4}) {
        Scene<2> scene = sample::empty_scene<2>(0.5);
        scene.domain.period = {1, 0};
        const Index ball = scene.add_shape(Ball<2>{0.1});
        for (int k = 0; k < 8; ++k) {
            BodyPlan<2> plan;
            plan.shape = ball;
            plan.pose.position = {0.5, 0.3 * k};
            plan.velocity = {1e14, 0};
            scene.add_body(plan);
        }
        RunOptions options;
        options.step.solve.threads = threads;
        options.step.bodies_per_thread = 1;
        StepMemory<2> memory;
        expect_part(message_of([&] { simulate(scene, options, memory); }),
                    "body 0: it moves by 1e+11 m in a step, and the domain repeats every 1 m");
        options.step.scheme = Scheme::moreau_jean;  // does not look ahead, and goes there
        expect_part(message_of([&] { simulate(scene, options, memory); }), "too short for a body");
    }
}

TEST(ARun, EndsWhereABodyIsNowhere) {
    Scene<3> scene = heap<3>();
    scene.gravity[2] = 1e32;
    StepMemory<3> memory;
    RunOptions options;
    options.step.h = 10;
    options.end = 100;
    int seen = 0;
    expect_part(message_of([&] {
                    simulate<3>(
                        scene, options, memory,
                        [&](const Scene<3>&, const StepMemory<3>&, const StepRecord&) { return ++seen > 0; });
                }),
                "step 1, to time 10 s: the place, velocity or spin of body ");
    EXPECT_EQ(seen, 0);  // nobody writes such a step down
}

/// A grain that has left by so many bins that there is no memory for them.
template <int d>
void expect_bounded_profile() {
    Scene<d> scene = heap<d>();
    EXPECT_GT(heap_profile<d>(scene, 0.01, nullptr).heights.size(), 2U);
    for (const double far : {1e8, 1e14, 1e29}) {
        scene.bodies.position.back()[0] = far;
        expect_part(message_of([&] { heap_profile<d>(scene, 0.01, nullptr); }),
                    "give a larger width, or a region");
    }
}
TEST(AProfile, HasABoundedNumberOfBins) {
    expect_bounded_profile<2>();
    expect_bounded_profile<3>();
}

}  // namespace
}  // namespace drystone::testing
