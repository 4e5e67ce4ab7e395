// A ball falls on a floor and stays there.
#include <drystone/run/simulate.hpp>

#include <cstdio>

int main() {
    using namespace drystone;
    Scene<3> scene;
    scene.materials.add({"stone"}, {.friction = 0.5});
    scene.gravity = {0, 0, -9.81};
    scene.add_body({.shape = scene.add_shape(HalfSpace<3>{}), .motion = Motion::held});
    scene.add_body({.shape = scene.add_shape(Ball<3>{0.1}), .pose = {.position = {0, 0, 0.2}}});
    StepMemory<3> memory;
    const RunSummary summary = simulate(scene, {.end = 0.5}, memory);
    std::printf("%d steps, at %.4f\n", static_cast<int>(summary.steps), scene.bodies.position[1][2]);
    return summary.unsolved == 0 ? 0 : 1;
}
