// What the forces of the elastic limit cost beside the step's own solve: settled spheres, friction 0.5, exact Coulomb,
// one thread.
//
//     elastic_limit [SPHERES] [TOLERANCE]        default 30000 (some 10^5 contacts) 1e-4, of the step's solve
//
// Last line: ratio R missed N    (seconds of the elastic limit over those of the step's solve; steps in which it was
// not found to ten times the tolerance).
#include "common/settled.hpp"

#include <fmt/format.h>

#include <cstdlib>

int main(int argc, char** argv) {
    using namespace drystone;
    const Index count = argc > 1 ? std::atoi(argv[1]) : 30'000;
    Scene<3> scene = box_of_grains(GrainKind::spheres, count, 0.0981);
    StepMemory<3> memory;
    settle(scene, memory);
    StepOptions options;
    options.h = 1e-3;
    options.solve.threads = 1;
    if (argc > 2) options.solve.goal.tolerance = std::atof(argv[2]);
    StepRecord record;
    for (int k = 0; k < 100; ++k) record = step(scene, options, memory);
    options.elastic_limit = true;
    double solve = 0, forces = 0;
    int missed = 0;
    const int steps = 5;
    for (int k = 0; k < steps; ++k) {
        record = step(scene, options, memory);
        fmt::print(
            "{} contacts; solve: {}, {:.3f} s, {} sweeps; elastic limit: {}, {:.3f} s, residual {:.1e}, {}\n",
            record.contacts, name_of(record.solve.status), record.seconds.solve, record.solve.iterations,
            name_of(record.forces->status), record.seconds.forces, record.forces->residual.momentum,
            record.forces->message);
        missed += record.forces->status != Status::solved;
        solve += record.seconds.solve;
        forces += record.seconds.forces;
    }
    fmt::print("ratio {:.1f} missed {}\n", forces / solve, missed);
}
