// A scene in code: 125 balls fall on a floor with friction and come to rest as a heap.
//
//     $ pile_in_code
//     125 grains, 1000 steps, 0 not solved
//     the lowest centre is 0.05 m above the floor
#include <drystone/run/simulate.hpp>

#include <algorithm>
#include <cstdio>

int main() {
    using namespace drystone;
    Scene<3> scene;
    scene.materials.add({.name = "stone", .density = 2600}, {.friction = 0.6, .rolling = 0.002});
    scene.gravity = {0, 0, -9.81};
    scene.add_body({.shape = scene.add_shape(HalfSpace<3>{}), .motion = Motion::held});
    const Index ball = scene.add_shape(Ball<3>{0.05});
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j)
            for (int k = 0; k < 5; ++k)  // each layer a little aside of the one below
                scene.add_body(
                    {.shape = ball,
                     .pose = {.position = {0.11 * i + 0.013 * k, 0.11 * j + 0.007 * k, 0.06 + 0.11 * k}}});

    StepMemory<3> memory;
    const RunSummary run = simulate(scene, {.step = {.h = 2e-3}, .end = 2}, memory);

    double lowest = 1;
    for (Index i = 1; i < scene.bodies.count(); ++i) lowest = std::min(lowest, scene.bodies.position[i][2]);
    std::printf("%d grains, %d steps, %d not solved\n", scene.bodies.count() - 1, static_cast<int>(run.steps),
                static_cast<int>(run.unsolved));
    std::printf("the lowest centre is %.2f m above the floor\n", lowest);
    return run.unsolved == 0 ? 0 : 1;
}
