// Drystone beside Siconos on one packing: wall time to 1e-6 in Siconos' own measure, one thread each, in the same run.
//
//     compare_siconos [FILE] [repetitions = 5]
//
// FILE is a problem in FCLib's layout; without one it is packings/spheres2000_global.hdf5 of the data folder
// (DRYSTONE_DATA). Drystone's time contains all its set-up: checking the data, the Delassus operator, the tiling.
// Siconos is given its matrix ready made. Reading the file counts for neither. Both answers are judged by Drystone's
// referee, and by its own computation of Siconos' measure.
#include "common/siconos_nsgs.hpp"
#include "drystone/base/error.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/problems/problem_file.hpp"
#include "drystone/solve/solve.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace drystone;

struct Line {
    double seconds = 0;
    SolveReport report;
};

/// Median of the times of several runs from nothing.
Line run(const ConeProblem& problem, const char* solver, double tolerance, int repetitions) {
    std::vector<double> seconds;
    Line line;
    for (int k = 0; k < repetitions; ++k) {
        SolveSettings settings;
        settings.solver = find_solver(solver)->options;
        settings.goal.tolerance = tolerance;
        settings.goal.measure = Measure::siconos;
        settings.goal.time_limit = 60;
        settings.threads = 1;
        ConeSolution solution;
        const Timer timer;
        line.report = solve(problem, settings, solution);
        seconds.push_back(timer.seconds());
    }
    std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
    line.seconds = seconds[static_cast<std::size_t>(repetitions / 2)];
    return line;
}

void print(const std::string& name, double tolerance, double seconds, int sweeps, const Residual& residual,
           const char* status) {
    fmt::print("{:<34}{:>8.0e}{:>11.3f}{:>9}{:>12.2e}{:>12.2e}  {}\n", name, tolerance, seconds, sweeps,
               residual.siconos, residual.value, status);
    std::fflush(stdout);
}

int compare(const std::filesystem::path& path, int repetitions) {
    const ConeProblem problem = read_problem(path).problem;
    fmt::print("{}: {} contacts, {} bodies; one thread; median of {} runs (Siconos: one run)\n\n",
               path.filename().string(), problem.blocks(), problem.only().count, repetitions);
    fmt::print("{:<34}{:>8}{:>11}{:>9}{:>12}{:>12}  {}\n", "solver", "goal", "seconds", "sweeps", "siconos",
               "referee", "status");
    constexpr double goal = 1e-6, tight = 1e-10;
    double drystone_seconds = 0;
    for (const char* solver : {"gauss-seidel-momentum", "auto"}) {
        for (const double tolerance : {goal, tight}) {
            const Line line = run(problem, solver, tolerance, repetitions);
            print(std::string("drystone ") + solver, tolerance, line.seconds, line.report.iterations,
                  line.report.residual, name_of(line.report.status));
            if (tolerance == goal && std::string_view(solver) == "auto") {
                if (line.report.status != Status::solved) return 1;
                drystone_seconds = line.seconds;
            }
        }
    }
    if (!siconos_available()) {
        fmt::print(
            "\nSiconos was not found when this was built: install libsiconos-numerics-dev and configure "
            "again. No ratio.\n");
        return 1;
    }
    const Delassus W(problem, 1);
    const SiconosRun siconos = run_siconos_nsgs(W, goal, 600);
    print("siconos NSGS, local solver 550", goal, siconos.seconds, siconos.sweeps,
          judge(W, W.complete(siconos.r), Law::coulomb), siconos.converged ? "solved" : "not reached");
    fmt::print("\nratio {:.1f}\n", siconos.seconds / drystone_seconds);
    return siconos.converged ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const char* data = std::getenv("DRYSTONE_DATA");
    const std::filesystem::path folder = data != nullptr ? data : DRYSTONE_DATA_DIR;
    const std::filesystem::path path = argc > 1 ? argv[1] : folder / "packings" / "spheres2000_global.hdf5";
    try {
        return compare(path, argc > 2 ? std::max(1, std::atoi(argv[2])) : 5);
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
