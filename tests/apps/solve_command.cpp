// drystone solve, seen from a shell.

#include "apps/command.hpp"
#include "drystone/cone/judge.hpp"
#include "drystone/solve/solve.hpp"

namespace drystone::testing {
namespace {

TEST(SolveCommand, SaysWhatItIsAndHowItIsUsed) {
    const Scratch scratch;
    const Answer version = drystone_command(scratch, {"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_EQ(version.out.rfind("drystone ", 0), 0U) << version.out;
    const Answer help = drystone_command(scratch, {"solve", "--help"});
    EXPECT_EQ(help.code, 0);
    for (const char* word :
         {"--solver", "--law", "--tolerance", "--measure", "--time-limit", "--threads", "--warm-start",
          "--compare", "--save", "--json", "--quiet", "Examples", "Exit code"}) {
        EXPECT_TRUE(contains(help.out, word)) << word;
    }
    const Answer nothing = drystone_command(scratch, {});
    EXPECT_EQ(nothing.code, 2);
    EXPECT_TRUE(nothing.out.empty());
    EXPECT_TRUE(contains(nothing.err, "drystone solve"));
}

TEST(SolveCommand, ListsEverySolver) {
    const Scratch scratch;
    const Answer answer = drystone_command(scratch, {"solve", "--list-solvers"});
    EXPECT_EQ(answer.code, 0);
    for (const NamedSolver& solver : named_solvers()) {
        EXPECT_TRUE(contains(answer.out, std::string(solver.name) + " ")) << solver.name;
    }
}

TEST(SolveCommand, SolvedProblemsGiveOneLineEachAndCodeZero) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem(1));
    write_small(scratch, "two.hdf5", small_problem(2));
    const Answer answer = drystone_command(scratch, {"solve", "one.hdf5", "two.hdf5"});
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_TRUE(answer.err.empty()) << answer.err;
    EXPECT_TRUE(contains(answer.out, "ok      one.hdf5")) << answer.out;
    EXPECT_TRUE(contains(answer.out, "ok      two.hdf5")) << answer.out;
    const Answer quiet = drystone_command(scratch, {"solve", "one.hdf5", "--quiet"});
    EXPECT_EQ(quiet.code, 0);
    EXPECT_TRUE(quiet.out.empty() && quiet.err.empty()) << quiet.out << quiet.err;
}

TEST(SolveCommand, JsonHoldsAllThatIsPromised) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    const Answer answer =
        drystone_command(scratch, {"solve", "--json", "one.hdf5", "one.hdf5", "--tolerance", "1e-9"});
    EXPECT_EQ(answer.code, 0) << answer.err;
    const auto objects = answer.objects();
    ASSERT_EQ(objects.size(), 2U);
    for (const nlohmann::json& object : objects) {
        for (const char* key : {"file", "status", "solver", "requested", "message", "law", "measure"}) {
            ASSERT_TRUE(object.contains(key) && object[key].is_string()) << key;
        }
        for (const char* key : {"residual", "seconds", "tolerance", "residual_siconos", "residual_bogus"}) {
            ASSERT_TRUE(object.contains(key) && object[key].is_number()) << key;
        }
        for (const char* key : {"iterations", "blocks", "bodies", "threads"}) {
            ASSERT_TRUE(object.contains(key) && object[key].is_number_integer()) << key;
        }
        EXPECT_EQ(object["file"], "one.hdf5");
        EXPECT_EQ(object["status"], "solved");
        EXPECT_EQ(object["requested"], "auto");
        EXPECT_EQ(object["law"], "coulomb");
        EXPECT_EQ(object["blocks"], 24);
        EXPECT_LE(object["residual"].get<double>(), 1e-9 * (1 + 1e-6));  // the slack that solve() grants
        EXPECT_GT(object["iterations"].get<int>(), 0);
    }
    EXPECT_EQ(objects[0]["residual"], objects[1]["residual"]);
}

TEST(SolveCommand, JsonSurvivesAFileNameThatIsNotUtf8) {
    const Scratch scratch;
    const std::string name = "caf\xe9.hdf5";
    write_small(scratch, "one.hdf5", small_problem());
    std::error_code refused;
    std::filesystem::copy_file(scratch.file("one.hdf5"), scratch.file(name), refused);
    if (refused) GTEST_SKIP() << "this file system allows UTF-8 names alone";
    const Answer answer = drystone_command(scratch, {"solve", "--json", name});
    EXPECT_EQ(answer.code, 0) << answer.err;
    const auto objects = answer.objects();
    ASSERT_EQ(objects.size(), 1U);
    EXPECT_EQ(objects[0]["file"], "caf\xef\xbf\xbd.hdf5");
}

TEST(SolveCommand, UnsolvedProblemGivesCodeOne) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    // No time: it ends where it first looks at the clock.
    const std::vector<std::string> impossible = {"solve",    "one.hdf5", "--tolerance",  "1e-13",
                                                 "--solver", "pgd",      "--time-limit", "1e-9"};
    const Answer answer = drystone_command(scratch, impossible);
    EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
    EXPECT_TRUE(contains(answer.out, "FAILED  one.hdf5")) << answer.out;
    auto quiet = impossible;
    quiet.emplace_back("--quiet");
    EXPECT_TRUE(contains(drystone_command(scratch, quiet).out, "FAILED")) << "failures are told even so";
}

TEST(SolveCommand, CrushedBodyIsInfeasible) {
    const Scratch scratch;
    write_small(scratch, "crushed.hdf5", squeezed_body(1, 0.3));
    write_small(scratch, "fine.hdf5", small_problem());
    for (const char* law : {"coulomb", "associated"}) {
        const Answer answer =
            drystone_command(scratch, {"solve", "crushed.hdf5", "fine.hdf5", "--json", "--law", law});
        EXPECT_EQ(answer.code, 1) << answer.err;
        const auto objects = answer.objects();
        ASSERT_EQ(objects.size(), 2U);
        EXPECT_EQ(objects[0]["status"], "infeasible") << objects[0];
        EXPECT_FALSE(objects[0]["message"].get<std::string>().empty());
        EXPECT_EQ(objects[1]["status"], "solved")
            << "one bad problem must not spoil the next: " << objects[1];
    }
    const Answer words = drystone_command(scratch, {"solve", "crushed.hdf5"});
    EXPECT_TRUE(contains(words.out, "FAILED  crushed.hdf5  infeasible")) << words.out;
}

TEST(SolveCommand, UnreadableFilesGiveCodeTwoAndTheOthersAreSolved) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    std::ofstream(scratch.file("text.hdf5")) << "not HDF5\n";
    const Answer answer = drystone_command(scratch, {"solve", "absent.hdf5", "text.hdf5", "one.hdf5"});
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(contains(answer.err, "absent.hdf5")) << answer.err;
    EXPECT_TRUE(contains(answer.err, "text.hdf5")) << answer.err;
    EXPECT_TRUE(contains(answer.out, "ok      one.hdf5")) << answer.out;

    const Answer json = drystone_command(scratch, {"solve", "--json", "absent.hdf5", "one.hdf5"});
    EXPECT_EQ(json.code, 2);
    const auto objects = json.objects();
    ASSERT_EQ(objects.size(), 2U);
    EXPECT_EQ(objects[0]["status"], "unreadable");
    EXPECT_TRUE(objects[0]["residual"].is_null()) << "nothing was judged";
    EXPECT_EQ(objects[1]["status"], "solved");
}

TEST(SolveCommand, BadUsageGivesCodeTwoAndNothingOnStdout) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    const std::vector<std::vector<std::string>> mistakes = {
        {"solve"},
        {"solve", "one.hdf5", "--law", "newton"},
        {"solve", "one.hdf5", "--measure", "mine"},
        {"solve", "one.hdf5", "--tolerance", "0"},
        {"solve", "one.hdf5", "--tolerance", "-1"},
        {"solve", "one.hdf5", "--tolerance", "small"},
        {"solve", "one.hdf5", "--threads", "-2"},
        {"solve", "one.hdf5", "--time-limit", "0"},
        {"solve", "one.hdf5", "--compare", "--solver", "pgd"},
        {"solve", "one.hdf5", "one.hdf5", "--save", "out.hdf5"},
        {"solve", "one.hdf5", "--nonsense"},
        {"bench"},
        {"polish", "one.hdf5"},
    };
    for (const auto& words : mistakes) {
        const Answer answer = drystone_command(scratch, words);
        const std::string line = ::testing::PrintToString(words);
        EXPECT_EQ(answer.code, 2) << line;
        EXPECT_TRUE(answer.out.empty()) << line << answer.out;
        EXPECT_FALSE(answer.err.empty()) << line;
    }
}

TEST(SolveCommand, UnknownSolverIsMetWithTheNearestNameAndAll) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    const std::vector<std::pair<std::string, std::string>> cases = {{"guass-seidel", "gauss-seidel"},
                                                                    {"momentum", "gauss-seidel-momentum"},
                                                                    {"newtn", "newton"},
                                                                    {"gs", "gauss-seidel"},
                                                                    {"interior_point", "interior-point"}};
    for (const auto& [typed, meant] : cases) {
        const Answer answer = drystone_command(scratch, {"solve", "one.hdf5", "--solver", typed});
        EXPECT_EQ(answer.code, 2) << typed;
        EXPECT_TRUE(contains(answer.err, "did you mean '" + meant + "'")) << answer.err;
        for (const NamedSolver& solver : named_solvers()) {
            EXPECT_TRUE(contains(answer.err, "\n  " + std::string(solver.name) + "\n")) << solver.name;
        }
    }
}

TEST(SolveCommand, ConvexSolverWithTheExactLawIsSentToTheFixedPoint) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    const Answer answer = drystone_command(scratch, {"solve", "one.hdf5", "--solver", "interior-point"});
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(contains(answer.err, "--solver cadoux-interior-point")) << answer.err;
    EXPECT_TRUE(contains(answer.err, "--law associated")) << answer.err;
    const Answer other =
        drystone_command(scratch, {"solve", "one.hdf5", "--solver", "newton", "--law", "associated"});
    EXPECT_EQ(other.code, 2);
    EXPECT_TRUE(contains(other.err, "--law coulomb")) << other.err;
    const Answer right =
        drystone_command(scratch, {"solve", "one.hdf5", "--solver", "interior-point", "--law", "associated"});
    EXPECT_EQ(right.code, 0) << right.out << right.err;
}

TEST(SolveCommand, CompareHasARowForEverySolverOfTheLaw) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    for (const Law law : {Law::coulomb, Law::associated}) {
        const std::string word = law == Law::coulomb ? "coulomb" : "associated";
        const std::vector<std::string> words = {"solve",       "one.hdf5", "--compare",    "--law", word,
                                                "--tolerance", "1e-5",     "--time-limit", "2"};
        const Answer table = drystone_command(scratch, words);
        EXPECT_EQ(table.code, 0) << table.out << table.err;
        for (const char* column :
             {"solver", "status", "residual", "siconos", "so-bogus", "iterations", "seconds"}) {
            EXPECT_TRUE(contains(table.out, column)) << column;
        }
        std::size_t expected = 0;
        for (const NamedSolver& solver : named_solvers()) {
            const bool usable = law == Law::coulomb ? solver.coulomb : solver.associated;
            EXPECT_EQ(contains(table.out, "\n  " + std::string(solver.name) + " "), usable)
                << solver.name << "\n"
                << table.out;
            expected += usable ? 1 : 0;
        }
        std::istringstream lines(table.out);
        std::string line;
        std::getline(lines, line);  // the file
        std::getline(lines, line);  // the header
        const std::size_t width = line.size();
        for (std::size_t row = 0; row < expected; ++row) {
            ASSERT_TRUE(std::getline(lines, line));
            EXPECT_EQ(line.size(), width) << "rows are aligned with the header:\n" << line;
        }

        auto json = words;
        json.emplace_back("--json");
        std::vector<std::string> names;
        for (const nlohmann::json& object : drystone_command(scratch, json).objects()) {
            names.push_back(object["requested"].get<std::string>());
        }
        EXPECT_EQ(names.size(), expected);
    }
}

TEST(SolveCommand, SavedSolutionIsJudgedAsReported) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    const Answer answer = drystone_command(scratch, {"solve", "one.hdf5", "--json", "--save", "solved.hdf5"});
    EXPECT_EQ(answer.code, 0) << answer.err;
    const ProblemFile saved = read_problem(scratch.file("solved.hdf5"));
    ASSERT_TRUE(saved.solution.has_value());
    EXPECT_GT(saved.solution->r.norm(), 0);
    const ConeProblem original = read_problem(scratch.file("one.hdf5")).problem;
    const double residual = judge(original, *saved.solution, Law::coulomb).value;
    // Vectors are kept to the bit; the mass passed through two inversions.
    EXPECT_NEAR(residual, answer.objects().at(0)["residual"].get<double>(), 1e-12);

    const Answer nowhere = drystone_command(scratch, {"solve", "one.hdf5", "--save", "absent/solved.hdf5"});
    EXPECT_EQ(nowhere.code, 2);
    EXPECT_TRUE(contains(nowhere.err, "absent/solved.hdf5")) << nowhere.err;
}

TEST(SolveCommand, FailedSolveIsSavedAsAGuessAndWarmStartsTheNext) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    const Answer failed =
        drystone_command(scratch, {"solve", "one.hdf5", "--solver", "gauss-seidel", "--tolerance", "1e-13",
                                   "--time-limit", "1e-9", "--save", "tried.hdf5"});
    EXPECT_EQ(failed.code, 1) << failed.out;
    EXPECT_TRUE(contains(failed.err, "first guess")) << failed.err;
    const ProblemFile tried = read_problem(scratch.file("tried.hdf5"));
    EXPECT_FALSE(tried.solution.has_value()) << "what is called a solution must be one";
    ASSERT_EQ(tried.guesses.size(), 1U);

    // From a guess that is nearly right.
    ProblemFile near = tried;
    SolveSettings roughly;
    roughly.goal.tolerance = 1e-4;
    ASSERT_EQ(solve(near.problem, roughly, near.guesses[0]).status, Status::solved);
    write_problem(scratch.file("near.hdf5"), near);
    const auto iterations = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"solve", "near.hdf5", "--json", "--solver", "gauss-seidel"};
        words.insert(words.end(), more.begin(), more.end());
        return drystone_command(scratch, words).objects().at(0)["iterations"].get<int>();
    };
    EXPECT_LT(iterations({"--warm-start"}), iterations({}));

    const Answer useless = drystone_command(scratch, {"solve", "one.hdf5", "--warm-start"});
    EXPECT_EQ(useless.code, 0);
    EXPECT_TRUE(contains(useless.err, "holds no guess")) << useless.err;
}

TEST(SolveCommand, ThreadsDoNotChangeTheAnswer) {
    const Scratch scratch;
    write_small(scratch, "one.hdf5", small_problem());
    std::vector<nlohmann::json> residuals;
    for (const char* threads : {"1", "3", "0"}) {
        const Answer answer =
            drystone_command(scratch, {"solve", "one.hdf5", "--json", "--threads", threads});
        EXPECT_EQ(answer.code, 0) << answer.err;
        residuals.push_back(answer.objects().at(0)["residual"]);
    }
    EXPECT_EQ(residuals[0], residuals[1]);
    EXPECT_EQ(residuals[0], residuals[2]);
}

}  // namespace
}  // namespace drystone::testing
