// Runs with their folder, without the command: stopped and resumed they leave the same bytes.
#include "drystone/results/sitting.hpp"

#include "drystone/base/error.hpp"
#include "drystone/problems/problem_file.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

#include <fstream>
#include <set>

namespace drystone::testing {
namespace {

const char* const box_of_disks = R"(
    dimension = 2
    gravity = [0, -9.81]
    [time]
    step = 2e-3
    end = 0.2
    [output]
    frames_every = 0.05
    [[material]]
    name = "glass"
    friction = 0.3
    [[wall]]
    point = [0, 0]
    normal = [0, 1]
    [[wall]]
    point = [0, 0]
    normal = [1, 0]
    [[wall]]
    point = [1, 0]
    normal = [-1, 0]
    [[lattice]]
    shape = { type = "disk", radius = 0.05 }
    origin = [0.06, 0.06]
    spacing = [0.11, 0.11]
    count = [8, 3]
    [[measure]]
    name = "all"
    what = ["energy"]
    every = 0.01
)";

/// (GoogleTest has a Run of its own.)
using BoxRun = Run<2>;

BoxRun new_run() {
    BoxRun run;
    run.files.scene = "box.toml";
    run.files.text = box_of_disks;
    run.files.sealed = true;
    run.plan = std::get<RunPlan<2>>(read_scene(run.files));
    return run;
}

BoxRun resumed(const std::filesystem::path& checkpoint) {
    Checkpoint read = read_checkpoint(checkpoint, "test", plan_without_grains);
    auto& stopped = std::get<StoppedRun<2>>(read.run);
    BoxRun run{std::move(read.files), read.overrides, std::move(stopped.plan)};
    apply(run.overrides, run.plan.options);
    run.memory.warm = std::move(stopped.warm);
    run.progress = std::move(stopped.progress);
    run.observers = std::move(read.observers);
    return run;
}

std::set<std::string> files_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.insert(entry.path().filename().string());
    return names;
}

void expect_same_files(const std::filesystem::path& a, const std::filesystem::path& b) {
    EXPECT_EQ(files_in(a), files_in(b));
    for (const std::string& name : files_in(a)) EXPECT_TRUE(bytes_of(a / name) == bytes_of(b / name)) << name;
}

TEST(Sitting, StoppedAndResumedItLeavesTheSameBytes) {
    const Scratch scratch;
    BoxRun whole = new_run();
    RunFolder<2> folder(scratch.file("whole"), whole, {"test"});
    EXPECT_TRUE(sit<2>(whole, &folder, {}));
    EXPECT_EQ(folder.frames(), 5);
    EXPECT_TRUE(whole.at_end());

    int steps = 0;
    Onlooker impatient;
    impatient.told_to_stop = [&] { return ++steps == 37; };
    BoxRun first = new_run();
    {
        RunFolder<2> parts(scratch.file("parts"), first, {"test"});
        EXPECT_FALSE(sit<2>(first, &parts, impatient));
        EXPECT_EQ(first.progress.summary.steps, 37);
        EXPECT_EQ(parts.last_checkpoint(), first.plan.world.scene.time);
    }
    BoxRun second = resumed(scratch.file("parts") / "checkpoint.h5");
    RunFolder<2> parts(scratch.file("parts"), second, {"test"});
    EXPECT_TRUE(sit<2>(second, &parts, {}));
    expect_same_files(scratch.file("whole"), scratch.file("parts"));
}

TEST(Sitting, MadeLongerItIsAsIfItHadNeverEnded) {
    for (const double displacement : {0.0, 0.02}) {  // fixed steps; steps that adapt
        const Scratch scratch;
        const auto run_to = [&](BoxRun run, const char* name, double end) {
            run.plan.options.step.displacement = displacement;
            run.plan.options.end = end;
            RunFolder<2> folder(scratch.file(name), run, {"test"});
            EXPECT_TRUE(sit<2>(run, &folder, {}));
            return run.progress.summary.steps;
        };
        const auto steps = run_to(new_run(), "whole", 0.2);
        EXPECT_TRUE(displacement == 0 ? steps == 100 : steps > 102) << steps;
        run_to(new_run(), "parts", 0.0713);
        for (const double end : {0.1234, 0.2})
            run_to(resumed(scratch.file("parts") / "checkpoint.h5"), "parts", end);
        expect_same_files(scratch.file("whole"), scratch.file("parts"));
    }
}

TEST(Sitting, InAnotherFolderItsFilesBeginAnew) {
    const Scratch scratch;
    BoxRun first = new_run();
    first.plan.options.most_steps = 60;
    RunFolder<2> here(scratch.file("here"), first, {"test"});
    EXPECT_TRUE(sit<2>(first, &here, {}));
    BoxRun second = resumed(scratch.file("here") / "checkpoint.h5");
    RunFolder<2> there(scratch.file("there"), second, {.program = "test", .same = false});
    EXPECT_TRUE(sit<2>(second, &there, {}));
    EXPECT_FALSE(std::filesystem::exists(scratch.file("there") / "grains_000001.hdf"));
    EXPECT_TRUE(std::filesystem::exists(scratch.file("there") / "grains_000004.hdf"));
}

TEST(Sitting, AnOnlookerSeesEveryStepAndMayEndIt) {
    BoxRun run = new_run();
    int begun = 0, steps = 0;
    Onlooker onlooker;
    onlooker.begun = [&] { ++begun; };
    onlooker.after_step = [&](const StepRecord&) { return ++steps < 4; };
    EXPECT_TRUE(sit<2>(run, nullptr, onlooker));  // ended, not stopped
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(steps, 4);
    EXPECT_EQ(run.progress.summary.steps, 4);
    EXPECT_TRUE(run.progress.balance.begun);
}

TEST(RunFolder, IsOfOneRunAtATime) {
    const Scratch scratch;
    const BoxRun run = new_run();
    RunFolder<2> one(scratch.file("folder"), run, {"test"}), other(scratch.file("folder"), run, {"test"});
    one.begin(run);
    EXPECT_NE(message_of([&] { other.begin(run); }).find("another run is writing there"), std::string::npos);
}

TEST(RunFolder, WhatAnEarlierRunLeftIsTakenAwayAndNothingElse) {
    const Scratch scratch;
    const std::filesystem::path folder = scratch.file("folder");
    std::filesystem::create_directory(folder);
    for (const char* name : {"grains_000123.hdf", "failed_step_9.hdf5", "steps.csv", "mine.txt",
                             "grains_7.hdf", "grains_0012345.hdf", "checkpoint.tar.part"})
        std::ofstream(folder / name) << "old";
    std::filesystem::create_directory(folder / "grains_000003.hdf");
    const BoxRun run = new_run();
    RunFolder<2>(folder, run, {"test"}).begin(run);
    for (const char* name : {"mine.txt", "grains_7.hdf", "grains_0012345.hdf", "checkpoint.tar.part"})
        EXPECT_EQ(bytes_of(folder / name), "old") << name;
    EXPECT_TRUE(std::filesystem::is_directory(folder / "grains_000003.hdf"));
    EXPECT_FALSE(std::filesystem::exists(folder / "grains_000123.hdf"));
    EXPECT_FALSE(std::filesystem::exists(folder / "failed_step_9.hdf5"));
    EXPECT_NE(bytes_of(folder / "steps.csv"), "old");
}

TEST(RunFolder, WhatTheSceneReadsIsNotReplaced) {
    for (const char* name : {"all.csv", "steps.csv", "checkpoint.h5", "grains_000000.hdf"}) {
        const Scratch scratch;
        std::ofstream(scratch.file(name)) << "sizes";
        BoxRun run = new_run();
        run.files.scene = scratch.file("box.toml");
        run.files.others[name] = "sizes";
        RunFolder<2> folder(scratch.folder(), run, {"test"});
        EXPECT_NE(message_of([&] { folder.begin(run); }).find("is read by the scene"), std::string::npos);
        EXPECT_EQ(bytes_of(scratch.file(name)), "sizes");
        RunFolder<2>(scratch.file("out"), run, {"test"}).begin(run);
    }
}

TEST(RunFolder, SavesTheProblemOfTheLastStep) {
    const Scratch scratch;
    BoxRun run = new_run();
    run.plan.options.most_steps = 90;
    RunFolder<2> folder(scratch.file("folder"), run, {"test"});
    EXPECT_TRUE(sit<2>(run, &folder, {}));
    const std::filesystem::path file = folder.save_problem(run);
    EXPECT_EQ(file.filename(), "failed_step_90.hdf5");
    const ProblemFile read = read_problem(file);
    EXPECT_GT(read.problem.blocks(), 0);
    EXPECT_EQ(read.problem.blocks(), run.memory.assembled.problem.blocks());
}

}  // namespace
}  // namespace drystone::testing
