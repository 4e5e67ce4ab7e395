// 10,000 settled spheres in a box, friction 0.5, step 1e-3 s: seconds per step on one thread at a referee residual of
// 1e-4.
//
//     spheres_10k [COUNT] [STEPS] [TOLERANCE]       default 10000 50 1e-4
//
// Last line: seconds_per_step S residual R penetration P   (the worst residual; the largest overlap in diameters). CPU
// seconds. For Chrono's figures on the same task see docs/measured.md.
#include "common/settled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

int main(int argc, char** argv) {
    using namespace drystone;
    const Index count = argc > 1 ? std::atoi(argv[1]) : 10'000;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 50;
    const double tolerance = argc > 3 ? std::atof(argv[3]) : 1e-4;
    // 0.01 sqrt(d/g) is 1e-3 s for d = 0.0981 m: the step of the figures we compare with.
    const double diameter = 0.0981;

    Scene<3> scene = box_of_grains(GrainKind::spheres, count, diameter);
    StepMemory<3> memory;
    settle(scene, memory);
    StepOptions options;
    options.h = 1e-3;
    options.solve.goal.tolerance = tolerance;
    options.solve.threads = 1;
    const int rest = 100;  // steps in which friction takes hold and the packing comes to rest
    for (int k = 0; k < rest; ++k) {
        const StepRecord record = step(scene, options, memory);
        if (k % 20 == 19)
            fmt::print("coming to rest, step {:3}: kinetic energy {:.1e} J, {} sweeps, residual {:.1e}\n",
                       k + 1, record.energy.kinetic, record.solve.iterations, record.solve.residual.value);
    }
    const std::clock_t begin = std::clock();
    double residual = 0, overlap = 0;
    std::int64_t iterations = 0, contacts = 0, active = 0;
    int unsolved = 0, frozen = 0;
    StepSeconds seconds;
    for (int k = 0; k < steps; ++k) {
        const StepRecord record = step(scene, options, memory);
        residual = std::max(residual, record.solve.residual.value);
        overlap = std::max(overlap, record.overlap);
        iterations += record.solve.iterations;
        contacts += record.contacts;
        active += record.active;
        unsolved += !is_met(record.solve.status);
        frozen += record.solve.status == Status::frozen_shift;
        seconds.detect += record.seconds.detect;
        seconds.assemble += record.seconds.assemble;
        seconds.solve += record.seconds.solve;
    }
    const double per_step = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / steps;
    fmt::print(
        "{} contacts, {} active, {} sweeps per step; of {} steps {} missed the tolerance and {} have a "
        "frozen shift; kinetic energy {:.1e} J\n",
        contacts / steps, active / steps, iterations / steps, steps, unsolved, frozen,
        energy_of(scene).kinetic);
    fmt::print("wall seconds per step: detection {:.4f}, assembly {:.4f}, solve {:.4f}\n",
               seconds.detect / steps, seconds.assemble / steps, seconds.solve / steps);
    fmt::print("seconds_per_step {:.4f} residual {:.2e} penetration {:.2e}\n", per_step, residual,
               overlap / diameter);
}
