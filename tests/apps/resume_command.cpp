// drystone run, stop, resume and info, seen from a shell. A run that is stopped and resumed leaves the same bytes as
// one that is not.

#include "apps/command.hpp"

#include <cstdlib>
#include <map>

namespace drystone::testing {
namespace {

namespace fs = std::filesystem;

/// Grains of two shapes that fall into a box: contacts come and go, and impulses are carried from step to step. The
/// ticks of lines and frames are no multiples of each other or of the step, so that a stop lies between them.
std::string heap(const Scratch& scratch) {
    const std::string scene = write_scene(scratch, R"(
        title = "a heap"
        dimension = 3
        gravity = [0, 0, -9.81]
        [time]
        step = 4e-3
        end = 0.24
        [box]
        lower = [0, 0, 0]
        upper = [0.3, 0.3, 1]
        [[shape]]
        name = "stone"
        type = "polyhedron"
        file = "stone.obj"
        [[lattice]]
        shape = { type = "sphere", radius = 0.05 }
        count = [2, 2, 3]
        origin = [0.08, 0.08, 0.06]
        spacing = 0.11
        size = [0.8, 1]
        shift = 0.004
        [[body]]
        shape = "stone"
        position = [0.15, 0.15, 0.45]
        spin = [3, 0, 1]
        [output]
        frames_every = 0.03
        measurements_every = 0.01
    )");
    std::ofstream(scratch.file("stone.obj"))
        << "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    return scene;
}

/// All files of a folder by name.
std::map<std::string, std::string> files_in(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder))
        files[entry.path().filename().string()] = bytes_of(entry.path());
    return files;
}

void expect_same_files(const fs::path& a, const fs::path& b) {
    const auto first = files_in(a), second = files_in(b);
    ASSERT_EQ(first.size(), second.size());
    for (const auto& [name, bytes] : first) {
        ASSERT_TRUE(second.contains(name)) << name;
        EXPECT_TRUE(second.at(name) == bytes) << name << " differs";
    }
}

TEST(Resume, EveryStopLeavesTheSameBytes) {
    const Scratch scratch;
    const std::string scene = heap(scratch);
    ASSERT_EQ(drystone_command(scratch, {"run", scene, "--output", "whole", "--quiet"}).code, 0);
    for (const char* steps : {"0", "1", "7", "30", "59"}) {
        ASSERT_EQ(drystone_command(scratch,
                                   {"run", scene, "--output", "cut", "--force", "--quiet", "--steps", steps})
                      .code,
                  0);
        // A resumed run needs neither the scene nor the surface that it names.
        fs::rename(scratch.file("scene.toml"), scratch.file("away.toml"));
        fs::rename(scratch.file("stone.obj"), scratch.file("away.obj"));
        const Answer resumed =
            drystone_command(scratch, {"resume", "cut", "--until", "0.24", "--quiet", "--threads", "2"});
        fs::rename(scratch.file("away.toml"), scratch.file("scene.toml"));
        fs::rename(scratch.file("away.obj"), scratch.file("stone.obj"));
        ASSERT_EQ(resumed.code, 0) << resumed.err;
        ASSERT_EQ(drystone_command(
                      scratch, {"run", scene, "--output", "told", "--force", "--quiet", "--until", "0.24"})
                      .code,
                  0);
        expect_same_files(scratch.file("told"), scratch.file("cut"));
    }
    auto whole = files_in(scratch.file("whole")), told = files_in(scratch.file("told"));
    // What was said on the command line is kept in the checkpoint; all else is the same.
    whole.erase("checkpoint.h5");
    told.erase("checkpoint.h5");
    EXPECT_EQ(whole, told);
    EXPECT_TRUE(whole.contains("grains_000008.hdf"));
}

TEST(Resume, JointsTorquesAndSpringsAreCarriedOver) {
    // A motor stirs spheres that resist rolling, in contacts that yield: impulses of joints, torques and stretched
    // springs are state.
    const Scratch scratch;
    const std::string machine = R"(
        dimension = 3
        gravity = [0, 0, -9.81]
        [time]
        step = 2e-3
        end = 0.1
        [solver]
        tolerance = 1e-3
        [output]
        frames_every = 0.05
        [[material]]
        name = "clay"
        rolling = 0.002
        spinning = 0.001
        stiffness = 1e5
        [box]
        lower = [0, 0, 0]
        upper = [0.3, 0.3, 1]
        [[body]]
        name = "paddle"
        shape = { type = "box", sides = [0.2, 0.02, 0.1] }
        position = [0.15, 0.15, 0.06]
        [[joint]]
        name = "motor"
        type = "hinge"
        bodies = ["paddle"]
        point = [0.15, 0.15, 0.06]
        axis = [0, 0, 1]
        speed = 6
        friction = 0.1
        [[joint]]
        type = "spring"
        bodies = ["paddle"]
        points = [[0.25, 0.15, 0.06], [0.25, 0.15, 0.5]]
        stiffness = 20
        [[lattice]]
        shape = { type = "sphere", radius = 0.03 }
        count = [4, 4, 1]
        origin = [0.05, 0.05, 0.17]
        spacing = 0.065
        [[measure]]
        name = "motor"
        what = ["joint", "energy"]
    )";
    for (const char* more : {"", "[scheme]\ncontacts = \"elastic\"\n"}) {
        const std::string scene = write_scene(scratch, machine + more);
        ASSERT_EQ(drystone_command(scratch,
                                   {"run", scene, "--output", "told", "--force", "--quiet", "--until", "0.1"})
                      .code,
                  0);
        ASSERT_EQ(drystone_command(scratch,
                                   {"run", scene, "--output", "cut", "--force", "--quiet", "--steps", "23"})
                      .code,
                  0);
        ASSERT_EQ(
            drystone_command(scratch, {"resume", "cut", "--until", "0.1", "--quiet", "--threads", "2"}).code,
            0);
        expect_same_files(scratch.file("told"), scratch.file("cut"));
    }
}

TEST(Resume, InterruptedRunsGoOn) {
    const Scratch scratch;
    const std::string scene = heap(scratch);
    for (const std::string signal : {"INT", "TERM", "HUP"}) {
        // A run without end is stopped from outside; exec makes the process id that of the command.
        const std::string line =
            "cd " + quoted(scratch.folder().string()) + " && { " + quoted(DRYSTONE_COMMAND) +
            " run scene.toml --until 1e6 --output cut --force --quiet 2>stop.txt & pid=$!; sleep 0.3; kill "
            "-" +
            signal + " $pid; " +
            (signal == "TERM" ? "kill -TERM $pid; " : "") +  // as timeout does, twice at once
            "wait $pid; }";
        const int status = std::system(line.c_str());
        ASSERT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 130);
        EXPECT_TRUE(contains(bytes_of(scratch.file("stop.txt")), "drystone resume cut"));
        const auto info = drystone_command(scratch, {"info", "cut", "--json"}).objects().at(0);
        const auto steps = info["steps"].get<std::int64_t>();
        EXPECT_GT(steps, 0);
        const std::string until = std::to_string(steps + 20);
        ASSERT_EQ(drystone_command(scratch, {"resume", "cut", "--steps", until, "--quiet"}).code, 0);
        ASSERT_EQ(drystone_command(scratch, {"run", scene, "--until", "1e6", "--steps", until, "--output",
                                             "whole", "--force", "--quiet"})
                      .code,
                  0);
        expect_same_files(scratch.file("whole"), scratch.file("cut"));
    }
}

TEST(Resume, GoesOnInAnotherFolder) {
    const Scratch scratch;
    const std::string scene = heap(scratch);
    ASSERT_EQ(
        drystone_command(scratch, {"run", scene, "--output", "first", "--quiet", "--until", "0.1"}).code, 0);
    const auto before = files_in(scratch.file("first"));
    const Answer answer = drystone_command(
        scratch, {"resume", "first/checkpoint.h5", "--output", "second", "--until", "0.24", "--json"});
    ASSERT_EQ(answer.code, 0) << answer.err;
    EXPECT_EQ(answer.objects().at(0)["steps"], 60);
    EXPECT_EQ(files_in(scratch.file("first")), before);
    ASSERT_EQ(drystone_command(scratch, {"run", scene, "--output", "whole", "--quiet"}).code, 0);
    const auto second = files_in(scratch.file("second")), whole = files_in(scratch.file("whole"));
    EXPECT_FALSE(second.contains("grains_000000.hdf"));
    EXPECT_EQ(second.at("grains_000008.hdf"), whole.at("grains_000008.hdf"));
}

TEST(Resume, NothingLeftToDoChangesNothing) {
    const Scratch scratch;
    const std::string scene = heap(scratch);
    ASSERT_EQ(drystone_command(scratch, {"run", scene, "--output", "out", "--quiet"}).code, 0);
    const auto before = files_in(scratch.file("out"));
    const Answer answer = drystone_command(scratch, {"resume", "out"});
    EXPECT_EQ(answer.code, 0);
    EXPECT_TRUE(contains(answer.out, "nothing is left to do")) << answer.out;
    EXPECT_EQ(files_in(scratch.file("out")), before);
}

TEST(Resume, SaysWhatIsWrong) {
    const Scratch scratch;
    const std::string scene = heap(scratch);
    ASSERT_EQ(drystone_command(scratch, {"run", scene, "--output", "out", "--quiet", "--steps", "3"}).code,
              0);
    EXPECT_TRUE(contains(drystone_command(scratch, {"resume", "nothing"}).err, "cannot be opened"));
    fs::create_directory(scratch.file("empty"));
    EXPECT_TRUE(contains(drystone_command(scratch, {"resume", "empty"}).err, "holds no checkpoint.h5"));
    // Lines that are gone cannot be gone on with; another folder helps.
    std::ofstream(scratch.file("out/steps.csv")) << "time\n";
    const Answer answer = drystone_command(scratch, {"resume", "out", "--steps", "5"});
    EXPECT_EQ(answer.code, 1);
    EXPECT_TRUE(contains(answer.err, "fewer than the")) << answer.err;
    EXPECT_EQ(drystone_command(scratch, {"resume", "out", "--steps", "5", "--output", "new", "--quiet"}).code,
              0);
}

TEST(Run, KeepsALogAndProblemsThatWereNotSolved) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, press);
    const Answer answer =
        drystone_command(scratch, {"run", scene, "--output", "out", "--log", "log.txt", "--json"});
    EXPECT_EQ(answer.code, 0);
    EXPECT_GT(answer.objects().at(0)["unsolved"].get<int>(), 10);
    int saved = 0;
    for (const auto& [name, bytes] : files_in(scratch.file("out")))
        saved += name.starts_with("failed_step_") ? 1 : 0;
    EXPECT_EQ(saved, 10);
    const std::string log = bytes_of(scratch.file("log.txt"));
    EXPECT_TRUE(contains(log, "was not solved: infeasible")) << log;
    EXPECT_TRUE(contains(log, "solve it again, by itself, with\n  drystone solve out/failed_step_")) << log;
    EXPECT_TRUE(contains(log, "more steps were not solved")) << log;
    EXPECT_TRUE(answer.err.empty()) << answer.err;
}

TEST(Run, FoldersThatCannotBeWrittenAreNoMystery) {
    const Scratch scratch;
    const std::string scene = heap(scratch);
    std::ofstream(scratch.file("file")) << "not a folder";
    const Answer answer = drystone_command(scratch, {"run", scene, "--output", "file/out"});
    EXPECT_EQ(answer.code, 1);
    EXPECT_EQ(answer.err, "drystone: file/out: is not a folder and cannot be made; choose another folder\n");
}

TEST(Info, KnowsEveryKind) {
    const Scratch scratch;
    const std::string scene = heap(scratch);
    ASSERT_EQ(drystone_command(scratch, {"run", scene, "--output", "out", "--quiet", "--steps", "30"}).code,
              0);
    write_small(scratch, "problem.hdf5", small_problem());
    const Answer answer = drystone_command(scratch, {"info", scene, "out", "out/checkpoint.h5",
                                                     "out/grains_000001.hdf", "problem.hdf5", "--json"});
    EXPECT_EQ(answer.code, 0) << answer.err;
    const auto all = answer.objects();
    ASSERT_EQ(all.size(), 5U);
    EXPECT_EQ(all[0]["kind"], "scene");
    EXPECT_EQ(all[0]["bodies"], 18);
    EXPECT_EQ(all[1]["kind"], "run");
    EXPECT_EQ(all[1]["frames"], 5);
    EXPECT_EQ(all[2]["kind"], "checkpoint");
    EXPECT_EQ(all[2]["steps"], 30);
    EXPECT_EQ(all[2]["files"], 2);
    EXPECT_EQ(all[3]["kind"], "frame");
    EXPECT_NEAR(all[3]["time"].get<double>(), 0.032, 1e-12);
    EXPECT_EQ(all[4]["kind"], "problem");
    EXPECT_EQ(all[4]["blocks"], 24);
    const Answer text = drystone_command(scratch, {"info", "out", "stone.obj"});
    EXPECT_EQ(text.code, 2);
    EXPECT_TRUE(contains(text.out, "steps          30")) << text.out;
    EXPECT_TRUE(contains(text.err, "is no scene")) << text.err;
}

/// Phases that change bodies, laws and gravity: stopped in each of them, and between two.
TEST(ResumeCommand, PhasesGoOnWhereTheyWere) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, R"(
        dimension = 2
        gravity = [0, -9.81]
        [time]
        step = 2e-3
        [[material]]
        name = "grain"
        friction = 0.5
        [box]
        lower = [0, 0]
        upper = [0.5, 2]
        [[body]]
        name = "lid"
        shape = { type = "rectangle", sides = [0.2, 0.1] }
        position = [0.25, 0.6]
        held = true
        [[lattice]]
        shape = { type = "disk", radius = 0.05 }
        count = [4, 4]
        origin = [0.06, 0.06]
        spacing = 0.11
        shift = 0.004
        [output]
        frames_every = 0.05
        measurements_every = 0.01
        [[phase]]
        name = "settle"
        lasts = 2
        stop = { kinetic_below = 0.1, calm = 0.004, earliest = 0.06 }
        [[phase]]
        name = "let go"
        lasts = 0.1
        free = ["lid"]
        set.material.grain.friction = 0.2
        [[phase]]
        name = "open"
        lasts = 0.1
        remove = ["left"]
        set.gravity = [-3, -9.81]
    )");
    const Answer whole =
        drystone_command(scratch, {"run", scene, "--output", "whole", "--set", "time.step=4e-3"});
    ASSERT_EQ(whole.code, 0) << whole.err;
    const auto json = [&](const std::string& folder) {
        return drystone_command(scratch, {"info", folder, "--json"}).objects().at(0);
    };
    const std::int64_t steps = json("whole")["steps"];
    EXPECT_LT(steps, 550);  // the first phase ended early
    EXPECT_TRUE(contains(whole.out + whole.err, "phase 1 of 3, settle: over at")) << whole.out << whole.err;
    EXPECT_TRUE(contains(whole.out, "balance error"));
    // The end of the second phase is 25 steps before the end.
    for (const std::int64_t stop : {std::int64_t{3}, steps - 50, steps - 40, steps - 25, steps - 1}) {
        const std::string folder = "cut" + std::to_string(stop);
        ASSERT_EQ(drystone_command(scratch, {"run", scene, "--output", folder, "--set", "time.step=4e-3",
                                             "--steps", std::to_string(stop)})
                      .code,
                  0);
        EXPECT_EQ(json(folder)["steps"], stop);
        const Answer rest = drystone_command(scratch, {"resume", folder, "--until", "100"});
        ASSERT_EQ(rest.code, 0) << rest.err;
        auto first = files_in(scratch.file("whole")), second = files_in(scratch.file(folder));
        first.erase("checkpoint.h5");  // it remembers --until
        second.erase("checkpoint.h5");
        EXPECT_EQ(first.size(), second.size());
        for (const auto& [name, bytes] : first) EXPECT_TRUE(second[name] == bytes) << stop << ": " << name;
    }
    EXPECT_TRUE(contains(drystone_command(scratch, {"run", scene}).err, "--output: is missing"));
}

TEST(ResumeCommand, WhatMayChangeCanBeSet) {
    const Scratch scratch;
    const std::string scene = heap(scratch);
    ASSERT_EQ(drystone_command(scratch, {"run", scene, "--output", "a", "--steps", "10"}).code, 0);
    const Answer refused = drystone_command(scratch, {"resume", "a", "--set", "lattice[0].size=2"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(contains(refused.err, "lattice[0].size: cannot change while a run goes on")) << refused.err;
    const Answer changed = drystone_command(
        scratch, {"resume", "a", "--until", "0.08", "--set", "gravity=[0, 0, -1]", "solver.tolerance=1e-5"});
    ASSERT_EQ(changed.code, 0) << changed.err;
    const nlohmann::json told =
        drystone_command(scratch, {"info", "a/checkpoint.h5", "--json"}).objects().at(0);
    EXPECT_EQ(told["tolerance"], 1e-5);
    EXPECT_EQ(told["steps"], 20);
    EXPECT_EQ(told["settings"], (nlohmann::json{"gravity=[0, 0, -1]", "solver.tolerance=1e-5"}));
}

}  // namespace
}  // namespace drystone::testing
