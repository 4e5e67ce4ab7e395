// The nine hard packings: what `auto` reaches and when, beside Siconos NSGS, in one table.
//
//     hard_packings [--tolerance 1e-6] [--seconds 600] [--siconos-seconds 60]
//
// The tolerance is the referee's; the limits are per packing, and 0 seconds leave Siconos out. Siconos aims at the same
// number in its own measure, which is looser. The files are packings/spheres2000_mu*_p*.hdf5 of the data folder
// (DRYSTONE_DATA).
#include "common/siconos_nsgs.hpp"
#include "drystone/base/error.hpp"
#include "drystone/problems/problem_file.hpp"
#include "drystone/solve/solve.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace drystone;

struct Limits {
    double tolerance = 1e-6, seconds = 600, siconos_seconds = 60;
};

Limits parse(int argc, char** argv) {
    Limits limits;
    for (int k = 1; k < argc; k += 2) {
        const std::string_view name = argv[k];
        double* value = name == "--tolerance"         ? &limits.tolerance
                        : name == "--seconds"         ? &limits.seconds
                        : name == "--siconos-seconds" ? &limits.siconos_seconds
                                                      : nullptr;
        if (value == nullptr || k + 1 == argc) {
            fail("hard_packings", "cannot read " + std::string(name),
                 "use --tolerance, --seconds, --siconos-seconds, each with a number");
        }
        *value = std::atof(argv[k + 1]);
    }
    return limits;
}

std::vector<std::filesystem::path> find_files(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    if (!std::filesystem::is_directory(folder))
        fail("data", folder.string() + " is not there", "set DRYSTONE_DATA to the data folder");
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("spheres2000_mu") && name.ends_with(".hdf5")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    if (files.empty())
        fail("data", folder.string() + " holds no spheres2000_mu*_p*.hdf5",
             "set DRYSTONE_DATA to the data folder");
    return files;
}

int run(const Limits& limits) {
    const char* data = std::getenv("DRYSTONE_DATA");
    const auto files =
        find_files(std::filesystem::path(data != nullptr ? data : DRYSTONE_DATA_DIR) / "packings");
    const bool siconos = limits.siconos_seconds > 0 && siconos_available();
    if (limits.siconos_seconds > 0 && !siconos)
        fmt::print("Siconos was not found when this was built: left out\n");
    fmt::print("{:<26}{:>10}{:>10}{:>9}{:>8}  {:<24}", "packing", "referee", "siconos", "seconds", "sweeps",
               "auto");
    if (siconos) fmt::print("{:>10}{:>10}{:>9}{:>8}", "referee", "siconos", "seconds", "sweeps");
    fmt::print("\n");
    int solved = 0;
    std::vector<std::string> stories;
    for (const auto& path : files) {
        const ConeProblem problem = read_problem(path).problem;
        SolveSettings settings;
        settings.goal.tolerance = limits.tolerance;
        settings.goal.time_limit = limits.seconds;
        settings.threads = 1;
        ConeSolution solution;
        const SolveReport report = solve(problem, settings, solution);
        solved += report.status == Status::solved ? 1 : 0;
        fmt::print("{:<26}{:>10.1e}{:>10.1e}{:>9.2f}{:>8}  {:<24}", path.stem().string(),
                   report.residual.value, report.residual.siconos, report.seconds, report.iterations,
                   name_of(report.status));
        std::fflush(stdout);
        stories.push_back(path.stem().string() + ": " + report.message);
        if (siconos) {
            const Delassus W(problem, 1);
            const SiconosRun other = run_siconos_nsgs(W, limits.tolerance, limits.siconos_seconds);
            const Residual residual = judge(W, W.complete(other.r), Law::coulomb);
            fmt::print("{:>10.1e}{:>10.1e}{:>9.2f}{:>8}", residual.value, residual.siconos, other.seconds,
                       other.sweeps);
        }
        fmt::print("\n");
        std::fflush(stdout);
    }
    fmt::print("\nwhat auto did:\n");
    for (const std::string& story : stories) fmt::print("  {}\n", story);
    fmt::print("\nsolved {} of {}\n", solved, files.size());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(parse(argc, argv));
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
