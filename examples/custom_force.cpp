// A force of one's own: before each step it changes the velocities of free bodies by h F / m. Here the drag of a thick
// oil, F = -c v, through which a ball sinks until it rests on the floor. With v <- (v - h c v / m) + h g it sinks at m
// g / c, whatever the step.
//
//     $ custom_force
//     after 1 s it sinks at 0.4905 m/s; m g / c is 0.4905 m/s
//     after 5 s it sinks at 0 m/s, 0.1 m above the floor
#include <drystone/run/simulate.hpp>

#include <cmath>
#include <cstdio>

int main() {
    using namespace drystone;
    const double c = 20, h = 1e-3, mass = 1;
    Scene<3> scene;
    scene.materials.add({.name = "steel"}, {.friction = 0.3});
    scene.gravity = {0, 0, -9.81};
    scene.add_body({.shape = scene.add_shape(HalfSpace<3>{}), .motion = Motion::held});
    const Index ball = scene.add_body(
        {.shape = scene.add_shape(Ball<3>{0.1}), .mass = mass, .pose = {.position = {0, 0, 1.5}}});

    StepMemory<3> memory;
    StepOptions options;
    options.h = h;
    for (int n = 1; n <= 5000; ++n) {
        Vec<3>& v = scene.bodies.velocity[ball];
        v -= h * c / mass * v;
        const StepRecord record = step(scene, options, memory);
        if (record.solve.status != Status::solved) return 1;
        if (n == 1000)
            std::printf("after 1 s it sinks at %.4g m/s; m g / c is %.4g m/s\n", -v[2], mass * 9.81 / c);
    }
    std::printf("after 5 s it sinks at %.2g m/s, %.2g m above the floor\n",
                std::abs(scene.bodies.velocity[ball][2]), scene.bodies.position[ball][2]);
    return 0;
}
