// An observer of one's own: called after each step with the scene, its contacts and what the step did; it may measure,
// and it may end the run. Here it waits until a tower of four blocks rests, and says what presses on the floor then:
// the weight of all of them.
//
//     $ own_observer
//     at rest after 0.1 s: the floor bears 392.4 N, the blocks weigh 392.4 N
#include <drystone/grains/measure.hpp>
#include <drystone/run/simulate.hpp>

#include <cstdio>

int main() {
    using namespace drystone;
    Scene<3> scene;
    scene.materials.add({.name = "stone"}, {.friction = 0.7});
    scene.gravity = {0, 0, -9.81};
    const Index floor = scene.add_body({.shape = scene.add_shape(HalfSpace<3>{}), .motion = Motion::held});
    const Index block = scene.add_shape(make_box({0.1, 0.1, 0.1}));  // half sides
    for (int k = 0; k < 4; ++k)
        scene.add_body({.shape = block, .mass = 10, .pose = {.position = {0.01 * k, 0, 0.1 + 0.2 * k}}});

    const Observer<3> look = [&](const Scene<3>& now, const StepMemory<3>& memory, const StepRecord& record) {
        if (record.energy.kinetic > 1e-6 || now.time < 0.1 - 1e-9) return true;
        double pressed = 0;
        for (const ContactForce<3>& contact : contact_forces(memory, record.h)) {
            if (contact.a == floor) pressed -= contact.force[2];
            if (contact.b == floor) pressed += contact.force[2];
        }
        std::printf("at rest after %.3g s: the floor bears %.1f N, the blocks weigh %.1f N\n", now.time,
                    pressed, 4 * 10 * 9.81);
        return false;  // ends the run
    };
    StepMemory<3> memory;
    return simulate(scene, {.step = {.h = 1e-3}, .end = 5}, memory, look).unsolved == 0 ? 0 : 1;
}
