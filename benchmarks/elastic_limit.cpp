// What the forces of the elastic limit cost beside the step's own solve: settled spheres, friction 0.5, exact Coulomb, one thread.
//
//     elastic_limit [SPHERES] [TOLERANCE]        default 30000 (some 10^5 contacts) 1e-3
//
// Last line: ratio R balance B    (seconds of the elastic limit over those of the step's solve; what its forces miss of the balance).
#include "common/settled.hpp"
#include "drystone/contact/elasticity.hpp"

#include <fmt/format.h>

#include <cstdlib>

int main(int argc, char** argv) {
    using namespace drystone;
    const Index count = argc > 1 ? std::atoi(argv[1]) : 30'000;
    const double tolerance = argc > 2 ? std::atof(argv[2]) : 1e-3;
    Scene<3> scene = box_of_grains(GrainKind::spheres, count, 0.0981);
    StepMemory<3> memory;
    settle(scene, memory);
    StepOptions options;
    options.h = 1e-3;
    options.solve.threads = 1;
    double solve_seconds = 0, forces_seconds = 0, balance = 0;
    const int rest = 100, steps = 5;
    for (int k = 0; k < rest + steps; ++k) {
        const StepRecord record = step(scene, options, memory);
        if (k < rest) continue;
        const Delassus W(memory.assembled.problem);
        LeastEnergyOptions least;
        least.tolerance = tolerance;
        least.slip = Law::coulomb;
        ConeSolution solution = memory.solution;
        const SolveReport report = least_energy(
            W, options.solve.law, elasticity_of(scene, memory.contacts, W.problem()), least, solution);
        fmt::print(
            "{} contacts; solve: {}, {:.3f} s, {} sweeps, residual {:.1e}; elastic limit: {}, {:.3f} s, {}\n",
            record.contacts, name_of(record.solve.status), record.solve.seconds, record.solve.iterations,
            record.solve.residual.value, name_of(report.status), report.seconds, report.message);
        solve_seconds += record.solve.seconds;
        forces_seconds += report.seconds;
        balance = std::max(balance, report.residual.momentum);
    }
    fmt::print("ratio {:.2f} balance {:.2e}\n", forces_seconds / solve_seconds, balance);
}
