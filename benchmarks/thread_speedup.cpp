// Several threads against one on a large packing, and a proof that the result is the same to the bit.
//
//     thread_speedup [contacts = 1000000] [threads = 2] [repetitions = 5]
//
// Runs with one and with several threads take turns, and the best of each counts: the machine may be shared.
#include "common/packing.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/solve/gauss_seidel.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
    using namespace drystone;
    PackingOptions packing;
    packing.contacts = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
    packing.general = true;
    const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
    const int repetitions = argc > 3 ? std::atoi(argv[3]) : 5;
    constexpr int sweeps = 10;

    const ConeProblem problem = make_packing(packing);
    const Delassus one(problem, 1), several(problem, threads);
    fmt::print("{} contacts, {} bodies, {} tiles in {} colours, {} sweeps\n", problem.blocks(),
               problem.only().count, problem.tiling.tiles(), problem.tiling.colours(), sweeps);
    fmt::print("{:>10}{:>14}{:>14}{:>12}\n", "run", "1 thread", fmt::format("{} threads", threads),
               "same bits");
    double best_one = infinity, best_several = best_one;
    bool identical = true;
    const GaussSeidelOptions options;
    for (int k = 0; k < repetitions; ++k) {
        Vector r_one = Vector::Zero(problem.rows()), r_several = r_one;
        const double seconds_one = run_sweeps(one, Law::coulomb, options, sweeps, r_one);
        const double seconds_several = run_sweeps(several, Law::coulomb, options, sweeps, r_several);
        const bool same = std::memcmp(r_one.data(), r_several.data(),
                                      sizeof(double) * static_cast<std::size_t>(r_one.size())) == 0;
        identical = identical && same;
        best_one = std::min(best_one, seconds_one);
        best_several = std::min(best_several, seconds_several);
        fmt::print("{:>10}{:>12.3f} s{:>12.3f} s{:>12}\n", k + 1, seconds_one, seconds_several,
                   same ? "yes" : "NO");
    }
    const double updates = static_cast<double>(problem.blocks()) * sweeps;
    fmt::print("best: {:.3g} and {:.3g} updates/s\n", updates / best_one, updates / best_several);
    if (!identical) {
        fmt::print("the results differ between 1 and {} threads\n", threads);
        return 1;
    }
    fmt::print("speedup {:.3f}\n", best_one / best_several);
    return 0;
}
