// What a step of sand costs: per particle, per node, per node and sweep, over the same transfers and sweeps run bare,
// and how that grows.
//
//     sand_growth [most nodes = 1000000] [steps = 2] [threads = 1]
//
// A bed of sand 16 cells deep fills half of a box, 8 particles a cell, and is let go; the first step is not counted.
// At 10^4, 10^5 and 10^6 nodes. Bare: particles to the grid and back, and as many sweeps as the step took on its own
// problem from its own start, once plain and once with their momentum. At 10^4 nodes the bits of all particles are
// compared on 1, 2 and 8 threads.
//
// Last line: ratio R growth_per_particle P growth_per_node_and_sweep N
#include "common/settled.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/continuum/fill.hpp"
#include "drystone/continuum/transfer.hpp"
#include "drystone/solve/gauss_seidel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace {

using namespace drystone;

constexpr double cell = 0.01;
constexpr int depth = 16;

World<3> bed(double nodes) {
    const auto side = static_cast<Index>(std::lround(std::sqrt(2 * nodes / depth)));
    World<3> world;
    world.scene = box_of_grains(GrainKind::spheres, {.side = side, .layers = 0}, cell / 1.11);
    world.sand.cell.setConstant(cell);
    world.sand.options.particles = 2;
    SandFill<3> half;
    half.region = BoxRegion<3>{Vec<3>::Zero(), cell * Vec<3>(std::max<Index>(side / 2, 1), side, depth)};
    fill(half, world.sand);
    return world;
}

StepOptions options_on(int threads) {
    StepOptions options;
    options.h = 2e-3;
    options.solve.threads = threads;
    options.solve.goal.tolerance = 1e-3;
    options.account = false;
    return options;
}

struct Cost {
    double step = 0, transfers = 0, sweeps = 0, with_momentum = 0;            // s
    double moving = 0, assembling = 0, solving = 0;                           // s, of steps
    double particles = 0, nodes = 0, visits = 0, count = 0, sweeps_done = 0;  // over all steps
};

double bare_transfers(Sand<3> sand, double h, int threads) {
    Grid<3> grid;
    GridState<3> state;
    const Timer timer;
    to_grid(sand, threads, grid, state);
    from_grid(grid, state.velocity, state.velocity, h, threads, sand);
    return timer.seconds();
}

Cost run(double nodes, int steps, int threads) {
    World<3> world = bed(nodes);
    WorldMemory<3> memory;
    const StepOptions options = options_on(threads);
    step(world, options, memory);
    Cost cost;
    for (int k = 0; k < steps; ++k) {
        cost.transfers += bare_transfers(world.sand, options.h, threads);
        const StepRecord record = step(world, options, memory);
        const StepSeconds& s = record.seconds;
        const Delassus W(memory.assembled.problem, threads);
        Vector r = memory.start;
        cost.sweeps += run_sweeps(W, options.solve.law, {}, record.solve.iterations, r);
        r = memory.start;
        GaussSeidelOptions momentum;
        momentum.acceleration = Acceleration::momentum;
        cost.with_momentum += run_sweeps(W, options.solve.law, momentum, record.solve.iterations, r);
        cost.step += s.total();
        cost.moving += s.free + s.integrate;
        cost.assembling += s.assemble;
        cost.solving += s.solve;
        cost.particles += world.sand.particles.count();
        cost.nodes += static_cast<double>(record.nodes);
        cost.visits += static_cast<double>(record.nodes) * record.solve.iterations;
        cost.sweeps_done += record.solve.iterations;
        cost.count += 1;
    }
    fmt::print("| {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.3g} | {:.2f} | {:.2f} |\n",
               cost.nodes / cost.count, cost.particles / cost.count, cost.sweeps_done / cost.count,
               1e9 * cost.moving / cost.particles, 1e9 * cost.assembling / cost.nodes,
               1e9 * cost.solving / cost.visits, cost.step / cost.count,
               cost.step / (cost.transfers + cost.sweeps), cost.step / (cost.transfers + cost.with_momentum));
    std::fflush(stdout);
    return cost;
}

bool same_bits() {
    std::vector<Vec<3>> expected;
    for (const int threads : {1, 2, 8}) {
        World<3> world = bed(1e4);
        WorldMemory<3> memory;
        for (int k = 0; k < 3; ++k) step(world, options_on(threads), memory);
        std::vector<Vec<3>>& found = world.sand.particles.position;
        if (expected.empty())
            expected.swap(found);
        else if (found != expected)
            return false;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const double nodes = argc > 1 ? std::atof(argv[1]) : 1e6;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 2, threads = argc > 3 ? std::atoi(argv[3]) : 1;
    fmt::print(
        "| nodes | particles | sweeps a step | ns a particle: transfers, gradients, splitting "
        "| ns a node: assembly | ns a node and sweep | s a step | over bare | over bare with momentum |\n"
        "|---|---|---|---|---|---|---|---|---|\n");
    Cost small, large;
    for (const double n : {1e4, 1e5, 1e6}) {
        if (n > std::max(nodes, 1e4)) break;
        large = run(n, steps, threads);
        if (n < 2e4) small = large;
    }
    const bool same = same_bits();
    fmt::print("{} bits on 1, 2 and 8 threads\n", same ? "the same" : "DIFFERENT");
    fmt::print("ratio {:.3f} growth_per_particle {:.3f} growth_per_node_and_sweep {:.3f}\n",
               large.step / (large.transfers + large.with_momentum),
               large.moving / large.particles / (small.moving / small.particles),
               large.solving / large.visits / (small.solving / small.visits));
    return same ? 0 : 1;
}
