// What steps leave unjudged: that u and v, which are made from r in the end, belong to it.
#include "drystone/cone/judge.hpp"
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

template <int d>
void expect_whole_judgement_of_every_step(Scene<d> scene, double mu) {
    StepMemory<d> memory;
    int with_contacts = 0;
    for (int k = 0; k < 40; ++k) {
        const StepOptions options = sample::options(2e-3, 1e-4);
        const StepRecord record = step(scene, options, memory);
        if (record.contacts == 0) continue;
        ++with_contacts;
        const Residual whole = judge(memory.W, memory.solution, options.solve.law);
        EXPECT_LT(whole.momentum, 1e-12) << "step " << k << ", friction " << mu;
        EXPECT_EQ(whole.law.value(), record.solve.residual.value) << "step " << k << ", friction " << mu;
    }
    EXPECT_GT(with_contacts, 20);
}

template <int d>
Scene<d> falling_balls(double mu) {
    Scene<d> scene = sample::empty_scene<d>(mu);
    scene.gravity[d - 1] = -sample::g;
    sample::add_box<d>(scene, 0.3);
    sample::add_balls<d>(scene, 3, 0.3);
    return scene;
}

TEST(JudgedSteps, WhatIsLeftUnjudgedHolds) {
    for (const double mu : {0.0, 0.5}) {
        expect_whole_judgement_of_every_step<2>(falling_balls<2>(mu), mu);
        expect_whole_judgement_of_every_step<3>(falling_balls<3>(mu), mu);
    }
}

}  // namespace
}  // namespace drystone::testing
