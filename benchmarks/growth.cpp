// How cost and memory grow: 20 steps of a settling box, time per contact at a large size over that at 10^4 grains, and
// bytes per grain.
//
//     growth [spheres|polyhedra] [COUNT]       default spheres 1000000; polyhedra 100000
//
// Last line: time_per_contact_ratio X bytes_per_grain B
#include "common/settled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace {

using namespace drystone;

struct Cost {
    double seconds = 0, contacts = 0, sweeps = 0;  // over all steps
    double visits = 0, solve = 0;
};

Cost run(GrainKind kind, Index count, int steps) {
    Scene<3> scene = box_of_grains(kind, count, 0.0981);
    StepOptions options;
    options.h = 4e-3;
    options.solve.threads = 0;
    options.solve.goal.tolerance = 1e-3;
    options.account = false;
    StepMemory<3> memory;
    // Irregular grains fill their places on the lattice loosely: they fall for a while before anything is measured.
    for (int k = 0; kind == GrainKind::polyhedra && k < 22; ++k) step(scene, options, memory);
    Cost cost;
    for (int k = 0; k < steps; ++k) {
        const StepRecord record = step(scene, options, memory);
        cost.seconds += record.seconds.total();
        cost.solve += record.seconds.solve;
        cost.contacts += record.contacts;
        cost.sweeps += record.solve.iterations;
        cost.visits += static_cast<double>(record.contacts) * record.solve.iterations;
        fmt::print(
            "{:>8} grains, step {:2}: {:>8} contacts, {:4} sweeps, residual {:.1e}, overlap {:.1e}; detect "
            "{:.3f} assemble {:.3f} solve {:.3f} s\n",
            count, k + 1, record.contacts, record.solve.iterations, record.solve.residual.value,
            record.relative_overlap, record.seconds.detect, record.seconds.assemble, record.seconds.solve);
    }
    return cost;
}

}  // namespace

int main(int argc, char** argv) {
    const bool polyhedra = argc > 1 && std::string_view(argv[1]) == "polyhedra";
    const GrainKind kind = polyhedra ? GrainKind::polyhedra : GrainKind::spheres;
    const Index count = argc > 2 ? std::atoi(argv[2]) : (polyhedra ? 100'000 : 1'000'000);
    run(kind, 10'000, 3);  // warms the machine up
    const Cost small = run(kind, 10'000, 20), large = run(kind, count, 20);
    const double bytes = peak_memory() / count;
    fmt::print("time per contact: {:.3g} and {:.3g} us a step; sweeps a step: {:.0f} and {:.0f}\n",
               1e6 * small.seconds / small.contacts, 1e6 * large.seconds / large.contacts, small.sweeps / 20,
               large.sweeps / 20);
    fmt::print("time_per_contact_ratio {:.3f} bytes_per_grain {:.0f}\n",
               large.seconds / large.contacts / (small.seconds / small.contacts), bytes);
}
