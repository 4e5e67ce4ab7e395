// What a step costs beside its sweeps: time of whole steps over that of the same sweeps run bare.
//
//     step_over_sweeps [count = 1000000] [pairs = 3]
//
// The settling box of `growth`, spheres. Once there are two contacts a sphere, steps on two threads and on one take
// turns, `pairs` of them; after each step its sweeps are run again on its own problem, from its own start, without
// momentum, looks at the residual or anything else; and once more with their momentum, which a step's sweeps have: it
// reads and writes impulses and bodies of the sweep before. All in one run, since the machine may be shared. The same
// bits come out on any number of threads.
//
// Last line: ratio R (on two threads)
#include "common/settled.hpp"
#include "drystone/solve/gauss_seidel.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

int main(int argc, char** argv) {
    using namespace drystone;
    const Index count = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
    const int pairs = argc > 2 ? std::atoi(argv[2]) : 3;
    constexpr int most_steps = 60;

    Scene<3> scene = box_of_grains(GrainKind::spheres, count, 0.0981);
    StepOptions options;
    options.h = 4e-3;
    options.solve.goal.tolerance = 1e-3;
    options.account = false;
    StepMemory<3> memory;
    struct Cost {
        double step = 0, bare = 0, with_momentum = 0;
    };
    std::array<Cost, 2> cost;  // by threads
    int measured = 0;
    for (int k = 0; k < most_steps && measured < 2 * pairs; ++k) {
        const int threads = measured % 2 == 0 ? 2 : 1;
        options.solve.threads = threads;
        const StepRecord record = step(scene, options, memory);
        const StepSeconds& s = record.seconds;
        fmt::print(
            "step {:2}: {:>8} contacts, {:4} sweeps, residual {:.1e}; free {:.3f} detect {:.3f} assemble "
            "{:.3f} "
            "solve {:.3f} integrate {:.3f} s",
            k + 1, record.contacts, record.solve.iterations, record.solve.residual.value, s.free, s.detect,
            s.assemble, s.solve, s.integrate);
        if (record.contacts >= 2 * static_cast<std::int64_t>(count)) {
            const Delassus W(memory.assembled.problem, threads);
            Vector r = memory.start;
            const double bare = run_sweeps(W, options.solve.law, {}, record.solve.iterations, r);
            r = memory.start;
            GaussSeidelOptions momentum;
            momentum.acceleration = Acceleration::momentum;
            const double pushed = run_sweeps(W, options.solve.law, momentum, record.solve.iterations, r);
            cost[threads - 1].step += s.total();
            cost[threads - 1].bare += bare;
            cost[threads - 1].with_momentum += pushed;
            fmt::print("; {} threads: step {:.3f} s, bare sweeps {:.3f} s, with momentum {:.3f} s", threads,
                       s.total(), bare, pushed);
            ++measured;
        }
        fmt::print("\n");
        std::fflush(stdout);
    }
    if (measured < 2 * pairs) {
        fmt::print("two contacts a sphere were not reached in {} steps\n", most_steps);
        return 1;
    }
    fmt::print("bytes_per_grain {:.0f}\n", peak_memory() / count);
    fmt::print("ratio_with_momentum {:.3f} {:.3f}\n", cost[0].step / cost[0].with_momentum,
               cost[1].step / cost[1].with_momentum);
    fmt::print("ratio_one_thread {:.3f}\n", cost[0].step / cost[0].bare);
    fmt::print("ratio {:.3f}\n", cost[1].step / cost[1].bare);
    return 0;
}
