// Sweeps of the special kernels against the general one, on the problems that a scene gives.
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

TEST(SphereKernel, GivesTheSweepsOfTheGeneralKernelUnderBothLaws) {
    Scene<3> scene = sample::empty_scene<3>(0.4);
    scene.gravity = {0, 0, -9.81};
    sample::add_box<3>(scene, 0.6);
    sample::add_balls<3>(scene, 6, 0.6, 0.95);
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (scene.bodies.is_free(i))
            scene.bodies.velocity[i] = {2 * sample::noise(i, 5) - 1, 2 * sample::noise(i, 6) - 1, -1};
    }
    StepOptions options;
    options.h = 5e-3;
    StepMemory<3> memory;
    for (int k = 0; k < 20; ++k) step(scene, options, memory);
    ASSERT_GT(memory.contacts.size(), 300U);
    const Delassus W(memory.assembled.problem);
    for (const Law law : {Law::coulomb, Law::associated}) {
        Vector by_kernel[2];
        for (const SweepKernel kernel : {SweepKernel::any, SweepKernel::automatic}) {
            GaussSeidelOptions sweeps;
            sweeps.kernel = kernel;
            Vector r = Vector::Zero(memory.assembled.problem.rows());
            run_sweeps(W, law, sweeps, 20, r);
            by_kernel[kernel == SweepKernel::automatic ? 1 : 0] = r;
        }
        // The same visits in the same order: they differ by rounding and by the tolerance of the general local solver.
        EXPECT_GT(by_kernel[0].norm(), 0);
        EXPECT_LT((by_kernel[0] - by_kernel[1]).norm(), 1e-8 * by_kernel[0].norm());
    }
}

}  // namespace
}  // namespace drystone
