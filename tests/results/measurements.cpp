// Files of measurements: columns, numbers, and going on exactly where a run stopped.

#include "drystone/results/measurements.hpp"

#include "drystone/scenes/scene_file.hpp"
#include "grains/sample_scenes.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

#include <fstream>
#include <map>
#include <sstream>

namespace drystone::testing {
namespace {

std::map<std::string, std::vector<std::string>> read_columns(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line, cell;
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::string>> columns;
    std::getline(stream, line);
    for (std::istringstream head(line); std::getline(head, cell, ',');) names.push_back(cell);
    while (std::getline(stream, line)) {
        std::istringstream row(line);
        std::size_t cells = 0;
        for (; std::getline(row, cell, ','); ++cells)
            if (cells < names.size()) columns[names[cells]].push_back(cell);
        EXPECT_EQ(cells, names.size()) << line;
    }
    return columns;
}

/// A few balls that fall and come to rest, as a run has them.
struct SmallRun {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    StepMemory<3> memory;
    RunProgress progress;
    StepOptions options = sample::options(2e-3, 1e-8);

    SmallRun() {
        scene.gravity = {0, 0, -sample::g};
        sample::add_box<3>(scene, 0.3);
        sample::add_balls<3>(scene, 3, 0.3);
        progress.feed.drained = {0};
        progress.feed.drained_mass = {0};
    }
    void advance(int steps, Measurements<3>& measurements) {
        for (int k = 0; k < steps; ++k) {
            const StepRecord record = step(scene, options, memory);
            progress.summary.add(record);
            progress.feed.drained[0] += 1;
            progress.feed.drained_mass[0] += 0.002;
            measurements.add(record, scene, {}, memory, progress);
        }
    }
};

std::vector<MeasureTable<3>> all_tables() {
    MeasureTable<3> all;
    all.name = "all";
    all.every = 0.02;
    all.region = BoxRegion<3>{Vec<3>::Zero(), Vec<3>(0.3, 0.3, 0.2)};
    for (int k = 0; k <= static_cast<int>(Quantity::profile); ++k)
        all.what.push_back(static_cast<Quantity>(k));
    MeasureTable<3> shape;
    shape.name = "shape";
    shape.every = 0.05;
    shape.what = {Quantity::profile};
    shape.width = 0.1;
    return {all, shape};
}

OutputPlan every(double seconds) {
    OutputPlan plan;
    plan.measurements_every = seconds;
    return plan;
}

TEST(Measurements, HaveAColumnForEachNumber) {
    const Scratch scratch;
    SmallRun run;
    Measurements<3> measurements(scratch.folder(), every(0.01), all_tables(), {"out, left"});
    measurements.begin();
    run.advance(100, measurements);
    measurements.flush();

    const auto steps = read_columns(scratch.file("steps.csv"));
    EXPECT_EQ(steps.at("time").size(), 20U);
    EXPECT_FALSE(steps.contains("seconds"));
    const auto all = read_columns(scratch.file("all.csv"));
    EXPECT_EQ(all.at("time (s)").size(), 10U);
    EXPECT_EQ(all.at("time (s)").front(), "0.02");
    EXPECT_EQ(all.at("time (s)").back(), "0.2");
    int inside = 0;
    for (Index i = 0; i < run.scene.bodies.count(); ++i)
        inside += run.scene.bodies.is_free(i) && run.scene.bodies.position[i][2] < 0.2 ? 1 : 0;
    EXPECT_EQ(std::stod(all.at("grains").back()), inside);
    // Sinks: 2 g every 2 ms.
    EXPECT_EQ(all.at("out_ left grains").back(), "100");
    EXPECT_NEAR(std::stod(all.at("out_ left rate (kg/s)").back()), 1, 1e-9);
    // At rest, the stress carries the weight: the floor's share, to the agitation that is left.
    EXPECT_GT(std::stod(all.at("stress_zz (Pa)").back()), 100);
    EXPECT_GT(std::stod(all.at("packing_fraction").back()), 0.2);
    EXPECT_LT(std::stod(all.at("packing_fraction").back()), 0.6);
    const double trace = std::stod(all.at("fabric_xx").back()) + std::stod(all.at("fabric_yy").back()) +
                         std::stod(all.at("fabric_zz").back());
    EXPECT_NEAR(trace, 1, 1e-10);
    EXPECT_FALSE(std::filesystem::exists(scratch.file("shape.csv")));
    EXPECT_TRUE(read_columns(scratch.file("shape_profile.csv")).contains("radius (m)"));

    const State lengths = measurements.state().part("lengths");
    ASSERT_EQ(lengths.numbers.size(), 4U);
    for (const auto& [name, length] : lengths.numbers)
        EXPECT_EQ(static_cast<std::uintmax_t>(std::get<0>(length).at(0)),
                  std::filesystem::file_size(scratch.file(name)))
            << name;
}

TEST(Measurements, GoOnAsIfTheyHadNeverStopped) {
    const Scratch scratch;
    for (const char* name : {"whole", "parts"}) std::filesystem::create_directory(scratch.file(name));
    SmallRun whole;
    Measurements<3> undisturbed(scratch.file("whole"), every(0.014), all_tables(), {"sink"});
    undisturbed.begin();
    whole.advance(75, undisturbed);
    undisturbed.flush();

    SmallRun run;
    State state;
    {
        Measurements<3> first(scratch.file("parts"), every(0.014), all_tables(), {"sink"});
        first.begin();
        run.advance(37, first);
        state = first.state();
        SmallRun further = run;  // what is written after the checkpoint is lost
        further.advance(20, first);
    }
    Measurements<3> second(scratch.file("parts"), every(0.014), all_tables(), {"sink"});
    second.resume(state);
    run.advance(38, second);
    second.flush();
    for (const std::string& name : second.file_names())
        EXPECT_TRUE(bytes_of(scratch.file("whole") / name) == bytes_of(scratch.file("parts") / name)) << name;
    EXPECT_GT(bytes_of(scratch.file("parts/all.csv")).size(), 1000U);

    std::filesystem::resize_file(scratch.file("parts/all.csv"), 10);
    Measurements<3> third(scratch.file("parts"), every(0.014), all_tables(), {"sink"});
    EXPECT_NE(message_of([&] { third.resume(state); }).find("all.csv: has 10 bytes"), std::string::npos);
    ASSERT_EQ(state.numbers.erase("tables/all.csv/last_drained"), 1);
    EXPECT_NE(
        message_of([&] { third.resume(state); }).find("tables/all.csv/last_drained: holds no real numbers"),
        std::string::npos);
}

TEST(Measurements, AnUnwritableFolderIsNamed) {
    Measurements<2> measurements("/proc/nowhere", {}, {}, {});
    EXPECT_NE(message_of([&] { measurements.begin(); }).find("/proc/nowhere/steps.csv: cannot be written"),
              std::string::npos);
}

const char* const measured = R"(
    dimension = 2
    [[body]]
    shape = { type = "disk", radius = 0.1 }
    position = [0, 1]
    [[sink]]
    region = { type = "box", lower = [-1, -2], upper = [1, -1] }
    [[measure]]
    name = "heap"
    every = 0.5
    what = ["repose", "mass", "repose", "discharge"]
    width = 0.2
    [[measure]]
    name = "core"
    what = ["stress"]
    region = { type = "disk", centre = [0, 0], radius = 1 }
)";

AnyPlan read(const Scratch& scratch, const std::string& text) {
    std::ofstream(scratch.file("scene.toml")) << text;
    return read_scene(scratch.file("scene.toml"));
}

TEST(MeasureTables, AreRead) {
    const Scratch scratch;
    const auto plan = std::get<RunPlan<2>>(read(scratch, measured));
    ASSERT_EQ(plan.measures.size(), 2U);
    EXPECT_EQ(plan.measures[0].name, "heap");
    EXPECT_EQ(plan.measures[0].every, 0.5);
    EXPECT_EQ(plan.measures[0].width, 0.2);
    EXPECT_EQ(plan.measures[0].what, (std::vector{Quantity::mass, Quantity::repose, Quantity::discharge}));
    EXPECT_FALSE(plan.measures[0].region);
    ASSERT_TRUE(plan.measures[1].region);
    EXPECT_NEAR(volume_of<2>(*plan.measures[1].region), std::numbers::pi, 1e-12);
}

TEST(MeasureTables, FaultsAreTold) {
    const Scratch scratch;
    const auto fault = [&](const std::string& table) {
        const std::string base =
            "dimension = 2\n[[body]]\nshape = { type = \"disk\", radius = 0.1 }\nposition = [0, 1]\n";
        return message_of([&] { read(scratch, base + "[[measure]]\n" + table); });
    };
    const auto expect = [&](const std::string& table, const std::string& part) {
        const std::string message = fault(table);
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    expect("name = \"a\"\nwhat = [\"stres\"]", "did you mean 'stress'?");
    expect("name = \"a\"\nwhat = [\"stress\"]", "\"stress\" is a mean over a volume");
    expect("name = \"a/b\"\nwhat = [\"mass\"]", "\"a/b\" is not a name for a file");
    expect("name = \"steps\"\nwhat = [\"mass\"]",
           "\"steps\" writes steps.csv, and every run writes steps.csv; use another name");
    expect("what = [\"mass\"]", "name");
    expect("name = \"a\"", "what");
    expect("name = \"a\"\nwhat = []", "is empty");
    expect("name = \"a\"\nwhat = [\"discharge\"]", "there is none");
    expect("name = \"a\"\nwhat = [\"mass\"]\nevry = 1", "evry");
    // No two write one file, also where a disk does not tell capital letters from small ones.
    const std::string second = "\n[[measure]]\nwhat = [\"mass\"]\nname = ";
    expect("name = \"a\"\nwhat = [\"mass\"]" + second + "\"a\"",
           "measure[1].name: \"a\" writes a.csv, and the measure \"a\" writes a.csv; give each file a name "
           "of its own");
    expect("name = \"a\"\nwhat = [\"mass\"]" + second + "\"A\"",
           "\"A\" writes A.csv, and the measure \"a\" writes a.csv");
    expect("name = \"a\"\nwhat = [\"profile\"]" + second + "\"a_profile\"",
           "\"a_profile\" writes a_profile.csv, and the measure \"a\" writes a_profile.csv");
    expect("name = \"Steps\"\nwhat = [\"mass\"]",
           "\"Steps\" writes Steps.csv, and every run writes steps.csv");
    EXPECT_EQ(fault("name = \"a\"\nwhat = [\"profile\"]" + second + "\"a\""), "no error");
    for (const char* name : {"", "..", "a.b", "../a", "a\\u0000", "a b", "\\u001b"})
        EXPECT_NE(fault("what = [\"mass\"]\nname = \"" + std::string(name) + "\""), "no error") << name;
    EXPECT_NE(fault("what = [\"mass\"]\nname = \"" + std::string(101, 'a') + "\""), "no error");
}

}  // namespace
}  // namespace drystone::testing
