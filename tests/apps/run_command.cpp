// drystone run and drystone check, seen from a shell.

#include "apps/command.hpp"
#include "drystone/files/hdf5.hpp"

#include <cmath>
#include <map>
#include <numbers>

namespace drystone::testing {
namespace {

const std::filesystem::path scenes = DRYSTONE_SCENES;

/// The columns of steps.csv that hold numbers.
std::map<std::string, std::vector<double>> read_steps(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line, cell;
    std::vector<std::string> names;
    std::map<std::string, std::vector<double>> columns;
    std::getline(stream, line);
    for (std::istringstream head(line); std::getline(head, cell, ',');) names.push_back(cell);
    while (std::getline(stream, line)) {
        std::istringstream row(line);
        for (const std::string& name : names) {
            std::getline(row, cell, ',');
            if (name != "status") columns[name].push_back(std::stod(cell));
        }
    }
    return columns;
}

/// Impulses obey the law to rounding here, so the scheme's own answer is exact: the velocity after n steps is n h a,
/// and positions move by the velocity at the end: x = a h^2 n (n + 1) / 2, with two thirds of g sin(20 degrees) for a
/// disk that does not slide.
TEST(RunCommand, DiskRollsDownTheInclineAsItShould) {
    const Scratch scratch;
    const Answer answer = drystone_command(
        scratch, {"run", (scenes / "incline_disk.toml").string(), "--output", "out", "--quiet"});
    ASSERT_EQ(answer.code, 0) << answer.err;
    const auto file = hdf5::File::open(scratch.file("out/grains_000010.hdf"));
    EXPECT_NEAR(file.root().read_double("time"), 1, 1e-12);
    const auto position = file.root().read_doubles("bodies/position");
    const auto angle = file.root().read_doubles("bodies/rotation");
    const double h = 1e-3, n = 1000, a = 2.0 / 3 * 3.3552176;
    const double x = a * h * h * n * (n + 1) / 2;
    ASSERT_EQ(position.size(), 4U);
    // The solver's tolerance is 1e-6.
    EXPECT_NEAR(position[2], x, 1e-5 * x);
    EXPECT_NEAR(position[3], 0.1, 1e-7);
    EXPECT_NEAR(angle[1], -x / 0.1, 1e-5 * x / 0.1);
    EXPECT_FALSE(std::filesystem::exists(scratch.file("out/grains_000011.hdf")));
}

TEST(RunCommand, GivesNoBalanceOfEnergyWhereGravityTurns) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, R"(
        dimension = 2
        gravity = { value = [0, -9.81], rate = 1 }
        [time]
        step = 1e-3
        end = 2e-3
        [[body]]
        shape = { type = "disk", radius = 0.1 }
        position = [0, 0]
    )");
    const Answer words = drystone_command(scratch, {"run", scene}),
                 object = drystone_command(scratch, {"run", scene, "--json"});
    ASSERT_EQ(object.code, 0) << object.err;
    EXPECT_TRUE(contains(words.out + words.err, "no balance, since gravity turns")) << words.out;
    EXPECT_TRUE(object.objects().at(0)["balance_error"].is_null()) << object.out;
}

TEST(RunCommand, SaysThatACheckpointIsResumed) {
    const Scratch scratch;
    const std::string scene = (scenes / "bouncing_ball.toml").string();
    ASSERT_EQ(drystone_command(scratch, {"run", scene, "--output", "out", "--steps", "1"}).code, 0);
    const Answer answer = drystone_command(scratch, {"run", "out/checkpoint.h5"});
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(contains(answer.err, "A checkpoint is resumed, not run")) << answer.err;
}

TEST(RunCommand, BallReboundsWithItsRestitution) {
    const Scratch scratch;
    const Answer answer = drystone_command(
        scratch, {"run", (scenes / "bouncing_ball.toml").string(), "--output", "out", "--json"});
    ASSERT_EQ(answer.code, 0) << answer.err;
    const auto summary = answer.objects();
    ASSERT_EQ(summary.size(), 1U);
    EXPECT_EQ(summary[0]["unsolved"], 0);
    EXPECT_EQ(summary[0]["steps"], 30'000);
    EXPECT_LT(summary[0]["balance_error"].get<double>(), 1e-10);
    EXPECT_EQ(summary[0]["frames"], 31);
    const auto steps = read_steps(scratch.file("out/steps.csv"));
    ASSERT_EQ(steps.at("time").size(), 300U);
    // The height of the ball's lowest point, from potential energy alone; tops of the flights are 0.64 of the one
    // before.
    const double mass = 1100 * 4.0 / 3 * std::numbers::pi * std::pow(0.05, 3);
    std::vector<double> tops;
    const auto& potential = steps.at("potential");
    for (std::size_t i = 1; i + 1 < potential.size(); ++i) {
        if (potential[i] > potential[i - 1] && potential[i] >= potential[i + 1])
            tops.push_back(potential[i] / (mass * 9.81) - 0.05);
    }
    ASSERT_GE(tops.size(), 2U);
    // Samples every 0.01 s miss a top by up to g (0.005 s)^2 / 2 = 0.12 mm, impacts are found to within a step, 0.44 mm
    // of way.
    EXPECT_NEAR(tops[0], 0.64, 1e-3);
    EXPECT_NEAR(tops[1], 0.64 * 0.64, 1e-3);
}

const char* const small_heap = R"(
    title = "twenty grains"
    dimension = 3
    gravity = [0, 0, -9.81]
    [time]
    step = 5e-3
    end = 0.2
    [box]
    lower = [0, 0, 0]
    upper = [0.3, 0.3, 1]
    [[lattice]]
    shape = { type = "sphere", radius = 0.05 }
    count = [2, 2, 5]
    origin = [0.08, 0.08, 0.06]
    spacing = 0.11
    size = [0.8, 1]
    shift = 0.004
    [output]
    frames_every = 0.05
)";

TEST(RunCommand, ResultsDoNotDependOnThreads) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, small_heap);
    const Answer one =
        drystone_command(scratch, {"run", scene, "--output", "one", "--quiet", "--threads", "1"});
    const Answer two =
        drystone_command(scratch, {"run", scene, "--output", "two", "--quiet", "--threads", "2"});
    ASSERT_EQ(one.code, 0) << one.err;
    ASSERT_EQ(two.code, 0) << two.err;
    const auto a = hdf5::File::open(scratch.file("one/grains_000004.hdf"));
    const auto b = hdf5::File::open(scratch.file("two/grains_000004.hdf"));
    for (const char* field : {"bodies/position", "bodies/rotation", "bodies/velocity", "bodies/spin",
                              "contacts/impulse", "contacts/gap"})
        EXPECT_EQ(a.root().read_doubles(field), b.root().read_doubles(field)) << field;
    EXPECT_GT(a.root().read_doubles("contacts/gap").size(), 20U);
    EXPECT_TRUE(a.root().exists("shapes/0"));
    const auto first = read_steps(scratch.file("one/steps.csv")),
               second = read_steps(scratch.file("two/steps.csv"));
    EXPECT_EQ(first.at("time").size(), 40U);
    EXPECT_EQ(first, second);
}

TEST(RunCommand, StopsWhereItIsTold) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, small_heap);
    const Answer steps = drystone_command(scratch, {"run", scene, "--steps", "3", "--json"});
    EXPECT_EQ(steps.objects().at(0)["steps"], 3);
    const Answer until = drystone_command(scratch, {"run", scene, "--until", "0.05", "--json"});
    EXPECT_EQ(until.objects().at(0)["steps"], 10);
    const Answer none = drystone_command(scratch, {"run", scene, "--steps", "0", "--json"});
    EXPECT_EQ(none.code, 0) << none.err;
    EXPECT_EQ(none.objects().at(0)["steps"], 0);
}

TEST(RunCommand, ReplacesTheResultsOfAnEarlierRunOnlyByForce) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, small_heap);
    ASSERT_EQ(drystone_command(scratch, {"run", scene, "--output", "out", "--quiet"}).code, 0);
    std::ofstream(scratch.file("out/notes.txt")) << "mine";
    ASSERT_TRUE(std::filesystem::exists(scratch.file("out/grains_000004.hdf")));
    const Answer refused = drystone_command(scratch, {"run", scene, "--output", "out", "--quiet"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(
        refused.err,
        "drystone: out: holds the results of an earlier run (checkpoint.h5); give another folder, go on "
        "with drystone resume out, or --force to replace them\n");
    EXPECT_TRUE(std::filesystem::exists(scratch.file("out/grains_000004.hdf")));
    ASSERT_EQ(
        drystone_command(scratch, {"run", scene, "--output", "out", "--quiet", "--until", "0.1", "--force"})
            .code,
        0);
    EXPECT_TRUE(std::filesystem::exists(scratch.file("out/grains_000002.hdf")));
    EXPECT_FALSE(std::filesystem::exists(scratch.file("out/grains_000004.hdf")));
    // Frames alone are results, too.
    std::filesystem::remove(scratch.file("out/checkpoint.h5"));
    const Answer left = drystone_command(scratch, {"run", scene, "--output", "out", "--quiet"});
    EXPECT_EQ(left.code, 2);
    EXPECT_TRUE(contains(left.err, "holds the results of an earlier run (forces.hdf.series)")) << left.err;
    EXPECT_TRUE(std::filesystem::exists(scratch.file("out/notes.txt")));
}

TEST(RunCommand, StrictStopsAtTheFirstUnsolvedStepAndSavesIt) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, press);
    const Answer answer = drystone_command(scratch, {"run", scene, "--output", "out", "--strict", "--quiet"});
    EXPECT_EQ(answer.code, 1);
    EXPECT_TRUE(contains(answer.err, "infeasible")) << answer.err;
    const std::size_t at = answer.err.find("drystone solve ");
    ASSERT_NE(at, std::string::npos) << answer.err;
    std::istringstream words(answer.err.substr(at));
    std::vector<std::string> replay;
    for (std::string word; words >> word;) replay.push_back(word);
    replay.erase(replay.begin());
    const Answer again = drystone_command(scratch, replay);
    EXPECT_EQ(again.code, 1) << again.out << again.err;
    EXPECT_TRUE(contains(again.out, "infeasible")) << again.out;
}

TEST(RunCommand, WithoutStrictTheRunGoesOnAndCountsFailures) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, press);
    const Answer answer = drystone_command(scratch, {"run", scene, "--steps", "15", "--json"});
    EXPECT_EQ(answer.code, 0);
    EXPECT_GT(answer.objects().at(0)["unsolved"].get<int>(), 0);
    EXPECT_GT(answer.objects().at(0)["infeasible"].get<int>(), 0);
}

/// Where boxes touch at several places momentum runs away under the convex law, and must be reined in.
TEST(RunCommand, EveryStepOfAHeapOfBoxesIsSolved) {
    const Scratch scratch;
    const Answer answer = drystone_command(scratch, {"run", (scenes / "small_heap.toml").string(), "--json"});
    ASSERT_EQ(answer.code, 0) << answer.err;
    const nlohmann::json run = answer.objects().at(0);
    EXPECT_EQ(run["unsolved"], 0);
    EXPECT_GT(run["frozen_shift"], 0);
    EXPECT_LT(run["iterations"], 100'000);
}

/// Two balls in each other, gravity out of the open top.
const char* const careless = R"(
    dimension = 3
    gravity = [0, 0, 9.81]
    [time]
    end = 0.01
    [[wall]]
    point = [0, 0, 0]
    normal = [0, 0, 1]
    [[body]]
    shape = { type = "sphere", radius = 0.1 }
    position = [0, 0, 0.1]
    [[body]]
    shape = { type = "sphere", radius = 0.1 }
    position = [0, 0, 0.14]
)";

TEST(RunCommand, WarnsOfWhatIsSeldomMeant) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, careless);
    const Answer answer = drystone_command(scratch, {"run", scene});
    EXPECT_EQ(answer.code, 0);
    EXPECT_TRUE(
        contains(answer.err, "drystone: warning: scene.toml:3: gravity: no wall and no held body is below"))
        << answer.err;
    EXPECT_TRUE(contains(answer.err, "overlap by 0.16 m, 1.6 radii; is one inside the other?")) << answer.err;
    EXPECT_TRUE(contains(answer.err, "drystone: nothing of this run is kept; --output DIR keeps"))
        << answer.err;
    // What is kept is not complained of; and a resumed run says nothing again.
    const Answer kept = drystone_command(scratch, {"run", scene, "--output", "out", "--steps", "5"});
    EXPECT_TRUE(contains(kept.err, "no held body is below")) << kept.err;
    EXPECT_FALSE(contains(kept.err, "nothing of this run is kept")) << kept.err;
    const Answer resumed = drystone_command(scratch, {"resume", "out", "--steps", "8"});
    EXPECT_EQ(resumed.code, 0);
    EXPECT_FALSE(contains(resumed.err, "warning")) << resumed.err;
    const Answer quiet = drystone_command(scratch, {"run", scene, "--quiet", "--log", "run.log"});
    EXPECT_EQ(quiet.err, "");
    EXPECT_TRUE(contains(bytes_of(scratch.file("run.log")), "no held body is below"));
}

TEST(RunCommand, SaysThatASourceFallsBehind) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, R"(
        dimension = 3
        [time]
        end = 3
        step = 0.01
        [[source]]
        name = "feed"
        shape = { type = "sphere", radius = 0.1 }
        region = { type = "box", lower = [0, 0, 0], upper = [0.25, 0.25, 0.25] }
        rate = 10
    )");
    // One grain finds room, and none of the other 29 that are due in 3 s.
    const Answer answer = drystone_command(scratch, {"run", scene});
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_TRUE(contains(answer.out,
                         "source feed: 29 grains that its rate asked for found no room, beside 1 that came; "
                         "make its region larger or its rate smaller"))
        << answer.out;
}

TEST(RunCommand, SaysWhatIsMoreThanASceneCanUse) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, careless);
    const Answer answer = drystone_command(scratch, {"run", scene, "--threads", "1000"});
    EXPECT_TRUE(contains(answer.err, "1000 threads are asked for, and this process may use")) << answer.err;
    if (std::string(DRYSTONE_MPIRUN).empty()) return;
    const Answer ranks = drystone_on_ranks(scratch, 2, {"run", scene});
    EXPECT_EQ(ranks.code, 0);
    EXPECT_TRUE(
        contains(ranks.err, "2 ranks for 3 bodies: they will wait for each other more than they work"))
        << ranks.err;
}

TEST(Command, SuggestsWhatATypingErrorMayHaveMeant) {
    const Scratch scratch;
    const Answer answer = drystone_command(scratch, {"resumee", "out"});
    EXPECT_EQ(answer.code, 2);
    EXPECT_EQ(answer.err, "drystone: resumee: is no command; did you mean 'resume'?\n");
    EXPECT_EQ(drystone_command(scratch, {"a.toml"}).err,
              "drystone: a.toml: is no command; did you mean 'drystone run a.toml'?\n");
}

TEST(CheckCommand, SaysWhatItUnderstood) {
    const Scratch scratch;
    for (const char* name : {"bouncing_ball.toml", "small_heap.toml", "incline_disk.toml"}) {
        const Answer answer = drystone_command(scratch, {"check", (scenes / name).string()});
        EXPECT_EQ(answer.code, 0) << answer.err;
        EXPECT_TRUE(contains(answer.out, "overlaps    none")) << answer.out;
        EXPECT_FALSE(contains(answer.out, "warning")) << answer.out;
    }
    const Answer heap = drystone_command(scratch, {"check", (scenes / "small_heap.toml").string()});
    EXPECT_TRUE(contains(heap.out, "marble  200 free")) << heap.out;
    EXPECT_TRUE(contains(heap.out, "block   64 free")) << heap.out;
    EXPECT_TRUE(contains(heap.out, "walls       5")) << heap.out;
}

TEST(CheckCommand, FindsOverlapsAndWarns) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, R"(
        dimension = 3
        [[material]]
        name = "lead"
        density = 11340e3
        [[shape]]
        name = "pebble"
        type = "sphere"
        radius = 0.5
        [[body]]
        shape = "pebble"
        position = [0, 0, 0]
        name = "left pebble"
        [[body]]
        shape = "pebble"
        position = [0.9, 0, 0]
        [[body]]
        shape = "pebble"
        position = [0.9, 0.1, 0]
        [[body]]
        shape = { type = "sphere", radius = 2000 }
        position = [5000, 0, 0]
    )");
    const Answer answer = drystone_command(scratch, {"check", scene});
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_TRUE(contains(answer.out, "3 pairs, the deepest 0.9 m")) << answer.out;
    EXPECT_TRUE(contains(answer.out, "left pebble and body 1 (pebble): 0.1 m, 0.2 radii")) << answer.out;
    EXPECT_TRUE(contains(answer.out, "is one inside the other?")) << answer.out;
    EXPECT_TRUE(contains(answer.out, "has a radius of 2000 m")) << answer.out;
    EXPECT_TRUE(contains(answer.out, ".density: 1.134e+07")) << answer.out;
    EXPECT_TRUE(contains(answer.out, "no gravity and no velocity")) << answer.out;
    const std::string fast = write_scene(scratch, R"(
        dimension = 2
        gravity = [0, -10]
        [time]
        step = 0.2
        [[body]]
        shape = { type = "disk", radius = 0.1 }
        position = [0, 0]
    )");
    EXPECT_TRUE(contains(drystone_command(scratch, {"check", fast}).out,
                         "a step of 0.2 s lets body 0 (disk) fall by 4 radii; take 0.02"));
}

TEST(CheckCommand, FaultsAreMisuse) {
    const Scratch scratch;
    const std::string scene = write_scene(scratch, "dimension = 3\nbodies = 1\n[time]\nstep = 0\n");
    for (const char* command : {"check", "run"}) {
        const Answer answer = drystone_command(scratch, {command, scene});
        EXPECT_EQ(answer.code, command == std::string("check") ? 1 : 2);
        EXPECT_TRUE(answer.out.empty()) << answer.out;
        EXPECT_TRUE(contains(answer.err, "scene.toml:2: bodies:")) << answer.err;
        EXPECT_TRUE(contains(answer.err, "scene.toml:4: time.step: 0; give a positive time in s"))
            << answer.err;
    }
    EXPECT_EQ(drystone_command(scratch, {"run", "nothing.toml"}).code, 2);
    EXPECT_EQ(drystone_command(scratch, {"run"}).code, 2);
}

}  // namespace
}  // namespace drystone::testing
