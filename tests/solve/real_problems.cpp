// The problems of the field, from files: every one solved, by the solver that users get and by plain Gauss-Seidel.
#include "drystone/problems/problem_file.hpp"
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

// By both arithmetics: the sums of fast factorisations differ from processor to processor, and no solution may hang on
// them.
TEST(RealProblems, AutoSolvesEveryFileTo1e8) {
    DRYSTONE_NEEDS_DATA("fclib");
    for (const auto& path : fclib_files()) {
        const ProblemFile file = read_problem(path);
        for (const Arithmetic arithmetic : {Arithmetic::fast, Arithmetic::repeatable}) {
            SolveSettings settings;
            settings.arithmetic = arithmetic;
            settings.goal.tolerance = 1e-8;
            settings.goal.time_limit = 60;
            ConeSolution s;
            const SolveReport report = solve(file.problem, settings, s);
            EXPECT_EQ(report.status, Status::solved) << path.filename() << ": " << report.message;
            EXPECT_LE(judge(file.problem, s, Law::coulomb).value, 1e-8) << path.filename();
            std::printf("%-50s %-28s %.1e %6d iterations %.3f s\n", path.filename().c_str(),
                        std::string(report.solver).c_str(), report.residual.value, report.iterations,
                        report.seconds);
        }
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

// The stored solutions hold u (their r is zero). They are as accurate as the files are: the Delassus matrices of the
// capsules and the mass of the chute are not symmetric by some 3e-3, of which the reader keeps the symmetric part; the
// stored u of Spheres-i099 itself violates u_N >= 0 by 1.2e-3. spheres-in-a-box is left out: under the exact law u need
// not be unique, and there ours (judged 1e-10) and the stored one are different solutions.
TEST(RealProblems, StoredVelocitiesAreReproduced) {
    DRYSTONE_NEEDS_DATA("fclib");
    const std::vector<std::pair<const char*, double>> files = {{"Box_Stacks-i0122-82-5", 1e-12},
                                                               {"Capsules-i125-1213", 1e-5},
                                                               {"Capsules-i97-269", 1e-5},
                                                               {"Chute-ndof-768-nc-4-3", 5e-3},
                                                               {"Spheres-i099-356-679", 2e-4}};
    for (const auto& [name, tolerance] : files) {
        const ProblemFile file =
            read_problem(drystone::testing::data_file("fclib/" + std::string(name) + ".hdf5"));
        ASSERT_TRUE(file.solution.has_value()) << name;
        const Delassus W(file.problem);
        SolveSettings settings;
        settings.goal.tolerance = 1e-10;
        settings.goal.time_limit = 60;
        ConeSolution s;
        ASSERT_EQ(solve(W, settings, s).status, Status::solved) << name;
        const double difference = (s.u - file.solution->u).norm() / W.b().norm();
        EXPECT_LT(difference, tolerance) << name;
        std::printf("%-30s |u - stored u| / |b| = %.1e\n", name, difference);
    }
}
