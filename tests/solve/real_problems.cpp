// The problems of the field, from files: every one solved, by the solver that users get and by plain Gauss-Seidel.
#include "drystone/io/problem_file.hpp"
#include "drystone/solve/solve.hpp"
#include "support/data.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace drystone;

namespace {

std::vector<std::filesystem::path> fclib_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(drystone::testing::data_file("fclib"))) {
        if (entry.path().extension() == ".hdf5") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

TEST(RealProblems, AutoSolvesEveryFileTo1e8) {
    DRYSTONE_NEEDS_DATA("fclib");
    for (const auto& path : fclib_files()) {
        const ProblemFile file = read_problem(path);
        SolveSettings settings;
        settings.goal.tolerance = 1e-8;
        settings.goal.time_limit = 60;
        ConeSolution s;
        const SolveReport report = solve(file.problem, settings, s);
        EXPECT_EQ(report.status, Status::solved) << path.filename() << ": " << report.message;
        EXPECT_LE(judge(file.problem, s, Law::coulomb).value, 1e-8) << path.filename();
        std::printf("%-50s %-28s %.1e %6d iterations %.3f s\n", path.filename().c_str(),
                    report.solver.c_str(), report.residual.value, report.iterations, report.seconds);
    }
}

TEST(RealProblems, PlainGaussSeidelSolvesEveryFileTo1e6) {
    DRYSTONE_NEEDS_DATA("fclib");
    for (const auto& path : fclib_files()) {
        const ProblemFile file = read_problem(path);
        SolveSettings settings;
        settings.solver = find_solver("gauss-seidel")->options;
        settings.goal.tolerance = 1e-6;
        settings.goal.time_limit = 60;
        ConeSolution s;
        const SolveReport report = solve(file.problem, settings, s);
        EXPECT_EQ(report.status, Status::solved)
            << path.filename() << ": " << name_of(report.status) << " " << report.residual.value;
        std::printf("%-50s %.1e %6d sweeps %.3f s\n", path.filename().c_str(), report.residual.value,
                    report.iterations, report.seconds);
    }
}
