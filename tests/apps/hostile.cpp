// Scenes, options and files of ill will, or of a slip of the pen: each is refused with a message or does no harm.

#include "apps/command.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace drystone::testing {
namespace {

/// Sets the title of the window, makes all red, wipes the screen, turns the direction of writing, and forges a line.
const std::string evil =
    R"(\u001b]0;pwned\u0007\u001b[31mRED\u001b[2J\u0008\u0000\u009b31m\u202e\nx: 9 steps to 1 s, 0 not solved)";

const std::string evil_scene = "title = \"" + evil + R"("
    dimension = 3
    gravity = [0, 0, -9.81]
    [time]
    end = 0.01
    [[wall]]
    point = [0, 0, 0]
    normal = [0, 0, 1]
    [[body]]
    shape = { type = "sphere", radius = 0.1 }
    position = [0, 0, 0.05]
    name = ")" + evil + R"("
    [[sink]]
    name = ")" + evil + R"("
    region = { type = "box", lower = [-1, -1, -2], upper = [1, 1, -1] }
    [[measure]]
    name = "out"
    what = ["discharge"]
)";

void expect_harmless(const std::string& text) {
    for (const char c : text)
        ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c) << " in " << text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_FALSE(line.starts_with("x: 9 steps")) << text;
}

TEST(HostileText, OfAFileIsShownAndNotObeyed) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, evil_scene);
    const Answer run = drystone_command(scratch, {"run", scene, "--output", "out", "--log", "run.log"});
    ASSERT_EQ(run.code, 0) << run.err;
    const Answer check = drystone_command(scratch, {"check", scene});
    const Answer info = drystone_command(scratch, {"info", scene, "out", "out/checkpoint.h5"});
    const Answer resumed = drystone_command(scratch, {"resume", "out"});
    for (const Answer* answer : {&run, &check, &info, &resumed}) {
        EXPECT_TRUE(contains(answer->out, "\\x1b]0;pwned\\x07")) << answer->out;
        EXPECT_TRUE(contains(answer->out, "\\x00\\u009b31m\\u202e\\nx: 9 steps")) << answer->out;
        expect_harmless(answer->out + answer->err);
    }
    expect_harmless(bytes_of(scratch.file("run.log")));
    expect_harmless(bytes_of(scratch.file("out/out.csv")));
    expect_harmless(bytes_of(scratch.file("out/steps.csv")));
}

TEST(HostileText, OfAFileIsEscapedInJson) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, evil_scene);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"run", scene, "--json"}, {"check", scene, "--json"}, {"info", scene, "--json"}}) {
        const Answer answer = drystone_command(scratch, words);
        expect_harmless(answer.out);
        EXPECT_TRUE(contains(answer.out, "\\u001b]0;pwned\\u0007")) << answer.out;
        EXPECT_TRUE(contains(answer.out, "\\u009b31m\\u202e\\nx: 9")) << answer.out;
        EXPECT_EQ(answer.objects().size(), 1U);
    }
}

TEST(HostileText, IsNoFormulaOfASpreadsheet) {
    const Scratch scratch;
    std::string scene = evil_scene;
    for (std::size_t at = 0; (at = scene.find(evil)) != std::string::npos;)
        scene.replace(at, evil.size(), "@HYPERLINK(1)");
    ASSERT_EQ(drystone_command(scratch, {"run", write_scene(scratch, scene), "--output", "out"}).code, 0);
    const std::string table = bytes_of(scratch.file("out/out.csv"));
    EXPECT_TRUE(contains(table, ",_@HYPERLINK(1) grains")) << table;
    EXPECT_FALSE(contains(table, ",@")) << table;
}

TEST(HostileText, OfFaultsAndOfFileNamesToo) {
    const Scratch scratch;
    const std::string name = "\x1b[2Jx\nx: 9 steps\xff.toml";
    std::ofstream(scratch.file(name)) << "dimension = 3\n[time]\nstep = \"" << evil << "\"\n";
    for (const char* command : {"run", "check", "info", "solve", "resume", "--nonsense"}) {
        const Answer answer = drystone_command(scratch, {command, name});
        EXPECT_NE(answer.code, 0);
        EXPECT_FALSE(answer.err.empty());
        expect_harmless(answer.out + answer.err);
    }
}

TEST(HostileOptions, ThreadsAreBounded) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, press),
                      problem = write_small(scratch, "p.hdf5", small_problem());
    for (const char* threads : {"100000", "1025", "-1", "nan", "99999999999999"}) {
        for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
                 {"run", scene}, {"resume", "x"}, {"solve", problem}, {"bench", problem}}) {
            std::vector<std::string> all = words;
            all.insert(all.end(), {"--threads", threads});
            const Answer answer = drystone_command(scratch, all);
            EXPECT_EQ(answer.code, 2) << answer.err;
            EXPECT_TRUE(contains(answer.err, "--threads: ") && contains(answer.err, "at most 1024"))
                << answer.err;
        }
    }
    const Answer environment =
        drystone_command(scratch, {"run", scene, "--threads", "0"}, "OMP_NUM_THREADS=100000");
    EXPECT_EQ(environment.code, 2);
    EXPECT_TRUE(contains(environment.err, "OMP_NUM_THREADS: 100000; give at most 1024")) << environment.err;
}

TEST(HostileOptions, NumbersThatAreNoneAreRefused) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, press);
    for (const char* option : {"--until", "--tolerance", "--checkpoint-every"}) {
        for (const char* value : {"nan", "inf", "1e300", "-1"}) {
            const Answer answer = drystone_command(scratch, {"run", scene, option, value});
            EXPECT_EQ(answer.code, 2) << option << " " << value << answer.err;
            EXPECT_TRUE(contains(answer.err, option) && contains(answer.err, "give a number")) << answer.err;
        }
    }
    EXPECT_EQ(drystone_command(scratch, {"run", scene, "--steps", "99999999999999999999"}).code, 2);
    const Answer long_run = drystone_command(scratch, {"run", scene, "--until", "1e20"});
    EXPECT_EQ(long_run.code, 2);
    EXPECT_TRUE(contains(long_run.err, "until: 1e+20 s make 1e+23 steps of 0.001 s")) << long_run.err;
}

TEST(HostileOptions, ALogDoesNotReplaceAFileOfTheRun) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, press);
    for (const char* log : {"scene.toml", "./scene.toml", "out/steps.csv", "out/../out/checkpoint.h5"}) {
        const Answer answer = drystone_command(scratch, {"run", scene, "--output", "out", "--log", log});
        EXPECT_EQ(answer.code, 2) << log;
        EXPECT_TRUE(contains(answer.err, "may be a file of the run itself")) << answer.err;
    }
    EXPECT_EQ(bytes_of(scratch.file("scene.toml")), press);
    std::filesystem::create_directory(scratch.file("out"));
    EXPECT_EQ(
        drystone_command(scratch, {"run", scene, "--output", "out", "--log", "out/run.log", "--steps", "2"})
            .code,
        0);
}

TEST(HostileOptions, ALogThatIsFullDoesNotEndTheRunAndIsTold) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, press);
    const Answer answer =
        drystone_command(scratch, {"run", scene, "--log", "/dev/full", "--steps", "2", "--quiet"});
    EXPECT_EQ(answer.code, 0);
    EXPECT_TRUE(contains(answer.err, "/dev/full: cannot be written any more")) << answer.err;
}

TEST(HostileOptions, AFolderWithoutANameIsRefused) {
    const Scratch scratch;
    const Answer answer = drystone_command(scratch, {"run", write_scene(scratch, press), "--output", ""});
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(contains(answer.err, "--output: the name is empty")) << answer.err;
}

TEST(HostileFiles, TwoRunsDoNotWriteIntoOneFolder) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, press);
    std::filesystem::create_directory(scratch.file("out"));
    const int other = ::open(scratch.file("out").c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
    const std::vector<std::string> words = {"run", scene, "--output", "out", "--steps", "2"};
    const Answer refused = drystone_command(scratch, words);
    EXPECT_EQ(refused.code, 1);
    EXPECT_TRUE(contains(refused.err, "out: another run is writing there; wait until it ends"))
        << refused.err;
    EXPECT_TRUE(std::filesystem::is_empty(scratch.file("out")));
    // Nor does it touch the log of the run that goes on.
    std::ofstream(scratch.file("run.log")) << "step 1";
    std::vector<std::string> logged = words;
    logged.insert(logged.end(), {"--log", "run.log"});
    EXPECT_EQ(drystone_command(scratch, logged).code, 1);
    EXPECT_EQ(bytes_of(scratch.file("run.log")), "step 1");
    ::close(other);
    EXPECT_EQ(drystone_command(scratch, words).code, 0);
}

TEST(HostileFiles, WhatIsPrintedDoesNotEndInAFileOfTheRun) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, press);
    const std::vector<std::string> words = {"run", scene, "--output", "out", "--force", "--steps", "2"};
    EXPECT_EQ(drystone_command(scratch, words).code, 0);
    const std::string lines = bytes_of(scratch.file("out/steps.csv"));
    for (const char* closed : {"exec <&-;", "exec >&-;", "exec <&- >&-;"}) {
        EXPECT_EQ(drystone_command(scratch, words, closed).code, 0) << closed;
        EXPECT_EQ(bytes_of(scratch.file("out/steps.csv")), lines) << closed;
    }
    const Answer full = drystone_command(scratch, words, "exec >/dev/full;");
    EXPECT_EQ(full.code, 2);
    EXPECT_TRUE(contains(full.err, "standard output: what was printed is lost")) << full.err;
}

/// None of these may be waited for, or read without end.
TEST(HostileFiles, PipesAndDevicesAreRefused) {
    const Scratch scratch;
    const std::string pipe = scratch.file("pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::filesystem::create_directory(scratch.file("run"));
    ASSERT_EQ(::mkfifo(scratch.file("run/checkpoint.h5").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo(scratch.file("run/steps.csv").c_str(), 0600), 0);
    for (const char* command : {"run", "check", "info", "solve", "bench", "resume"}) {
        for (const std::string& path : {pipe, std::string("/dev/zero"), std::string("run")}) {
            const Answer answer = drystone_command(scratch, {command, path}, "timeout 20");
            EXPECT_TRUE(answer.code == 1 || answer.code == 2) << command << " " << path << " " << answer.code;
            EXPECT_FALSE(answer.err.empty());
        }
    }
    const Answer endless = drystone_command(scratch, {"check", "/dev/stdin"}, "< /dev/zero timeout 60");
    EXPECT_EQ(endless.code, 1);
    EXPECT_TRUE(contains(endless.err, "has more than 256 MiB, the most that is read")) << endless.err;
    const Answer piped = drystone_command(scratch, {"check", "/dev/stdin"}, "echo 'dimension = 3' |");
    EXPECT_EQ(piped.code, 0) << piped.err;
}

/// Falls by 1e26 m/s in a step, and by 1e32 m.
const char* const runaway = R"(
    dimension = 3
    gravity = [0, 0, -1e20]
    [time]
    step = 1e6
    end = 1e7
    [[body]]
    shape = { type = "sphere", radius = 0.1 }
    position = [0, 0, 0]
    [[body]]
    shape = { type = "sphere", radius = 0.1 }
    position = [5, 0, 0]
)";

/// Frames at each step for longer than the test lasts.
const std::string frames = R"(
    dimension = 3
    gravity = [0, 0, -9.81]
    [time]
    end = 1000
    [[wall]]
    point = [0, 0, 0]
    normal = [0, 0, 1]
    [[body]]
    shape = { type = "sphere", radius = 0.1 }
    position = [0, 0, 0.2]
    [output]
    frames_every = 1e-3
    checkpoints_every = 2e-3
)";

TEST(HostileFiles, WithoutAFolderNoCheckpointIsWritten) {
    const Scratch scratch;
    const Answer run =
        drystone_command(scratch, {"run", write_scene(scratch, frames), "--steps", "20"}, "timeout 20");
    EXPECT_EQ(run.code, 0) << run.err;
}

TEST(HostileNumbers, AStepLongerThanTheRunIsMade) {
    const Scratch scratch;
    const std::string scene =
        "dimension = 3\n[time]\nstep = 1e5\nend = 0.02\n[[body]]\n"
        "shape = { type = \"sphere\", radius = 1 }\nposition = [0, 0, 0]\n";
    const Answer run = drystone_command(scratch, {"run", write_scene(scratch, scene), "--json"});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.objects().at(0)["steps"], 1);
}

TEST(HostileFiles, ACheckpointThatIsGoneIsNotPromised) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, frames);
    const Answer run = drystone_command(
        scratch, {"run", scene, "--output", "out"},
        "{ (until [ -f out/checkpoint.h5 ]; do sleep 0.1; done; sleep 0.2; mv out gone) & } && timeout 60");
    EXPECT_EQ(run.code, 1) << run.err;
    EXPECT_FALSE(run.err.empty());
    EXPECT_FALSE(contains(run.err, "resume")) << run.err;
}

TEST(HostileFiles, DamageIsToldInOneLine) {
    const Scratch scratch;
    const std::string name = write_small(scratch, "one.hdf5", small_problem());
    std::string bytes = bytes_of(scratch.file(name));
    bytes.replace(
        0x68, 4,
        "\xff\xff\xff\xff");  // the size of the root's header, after which HDF5 fails to close itself
    std::ofstream(scratch.file(name), std::ios::binary) << bytes;
    const Answer info = drystone_command(scratch, {"info", name});
    EXPECT_EQ(info.code, 2);
    EXPECT_TRUE(contains(info.err, "damaged")) << info.err;
    EXPECT_EQ(std::count(info.err.begin(), info.err.end(), '\n'), 1) << info.err;
}

TEST(HostileNumbers, ARunEndsWhereBodiesAreNowhere) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, runaway);
    const Answer answer = drystone_command(scratch, {"run", scene});
    EXPECT_EQ(answer.code, 1);
    EXPECT_TRUE(contains(answer.err,
                         "step 1, to time 1e+06 s: the place, velocity or spin of body 1 is not a number "
                         "below 1e+30 any more; take shorter steps"))
        << answer.err;
    if (std::string(DRYSTONE_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
    const Answer ranks = drystone_on_ranks(scratch, 2, {"run", scene});
    EXPECT_EQ(ranks.code, 1);
    EXPECT_TRUE(contains(ranks.err, "step 1, to time 1e+06 s: the place, velocity or spin of body 1 "))
        << ranks.err;
}

/// A grain so fast that steps which adapt to it do not move the clock.
TEST(HostileNumbers, ARunEndsWhereTimeStandsStill) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, R"(
        dimension = 3
        [time]
        step = 1e-3
        end = 1
        displacement = 1e-10
        [[body]]
        shape = { type = "sphere", radius = 0.1 }
        position = [0, 0, 0]
        velocity = [1e15, 0, 0]
    )");
    const Answer answer = drystone_command(scratch, {"run", scene}, "timeout 60");
    EXPECT_EQ(answer.code, 1);
    EXPECT_TRUE(contains(answer.err, "it has a length of 1e-26 s, with which 1 s are never reached"))
        << answer.err;
}

TEST(HostileScenes, ForcesOfTheElasticLimitAreRefusedOnRanks) {
    if (std::string(DRYSTONE_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
    const Scratch scratch;
    const std::string scene = write_scene(scratch, R"(
        dimension = 3
        gravity = [0, 0, -9.81]
        [time]
        end = 0.01
        [[material]]
        name = "stone"
        young = 1e9
        [[wall]]
        point = [0, 0, 0]
        normal = [0, 0, 1]
        [[body]]
        shape = { type = "box", sides = [0.1, 0.1, 0.1] }
        position = [0, 0, 0.05]
        [output]
        frames_every = 0.01
        forces = "elastic-limit"
    )");
    EXPECT_EQ(drystone_command(scratch, {"run", scene, "--output", "one"}).code, 0);
    const Answer answer = drystone_on_ranks(scratch, 2, {"run", scene, "--output", "two"});
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(contains(answer.err,
                         "output.forces: forces of the elastic limit are not found on several ranks yet; "
                         "run it on one rank"))
        << answer.err;
}

/// Nothing moves, so that errors of energy are roundings: to be held against what gravity gives in a step, and not
/// against each other.
TEST(Balance, OfAHeapAtRestIsSmall) {
    const Scratch scratch;
    const std::string heap = R"(
        dimension = 3
        gravity = [0, 0, -9.81]
        [time]
        step = 1e-4
        end = 0.01
        [scheme]
        drift = "clamp"
        [[wall]]
        point = [0, 0, HEIGHT]
        normal = [0, 0, 1]
        [[lattice]]
        shape = { type = "sphere", radius = 0.05 }
        count = [3, 3, 3]
        origin = [0, 0, HEIGHT]
        spacing = 0.1
    )";
    for (const std::string height : {"0", "1000"}) {
        std::string text = heap;
        for (std::size_t at; (at = text.find("HEIGHT")) != std::string::npos;)
            text.replace(at, 6, at < 250 ? height : height + ".05");
        const std::string scene = write_scene(scratch, text);
        for (const int ranks : {1, 2}) {
            if (ranks == 2 && std::string(DRYSTONE_MPIRUN).empty()) continue;
            const Answer answer = ranks == 1 ? drystone_command(scratch, {"run", scene, "--json"})
                                             : drystone_on_ranks(scratch, 2, {"run", scene, "--json"});
            ASSERT_EQ(answer.code, 0) << answer.err;
            EXPECT_EQ(answer.objects().at(0)["unsolved"], 0);
            EXPECT_LT(answer.objects().at(0)["balance_error"].get<double>(), 1e-6) << answer.out;
        }
    }
}

}  // namespace
}  // namespace drystone::testing
