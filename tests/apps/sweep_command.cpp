// drystone sweep, seen from a shell. Kills and signals are in tests/robustness/sweep.

#include "apps/command.hpp"

#include <algorithm>

namespace drystone::testing {
namespace {

namespace fs = std::filesystem;

const char* const one_disk = R"(
    dimension = 2
    gravity = [0, -9.81]
    seed = 1
    [let]
    height = 1
    [time]
    step = 1e-3
    end = 0.01
    [[wall]]
    point = [0, 0]
    normal = [0, 1]
    [[body]]
    shape = { type = "disk", radius = 0.1 }
    position = [0, "= height"]
    [[measure]]
    name = "falls"
    what = ["energy"]
)";

Answer sweep(const Scratch& scratch, std::vector<std::string> words, const std::string& before = "") {
    words.insert(words.begin(), {"sweep", "scene.toml", "--output", "out"});
    return drystone_command(scratch, words, before);
}

std::vector<std::string> lines_of(const fs::path& file) {
    std::ifstream stream(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

TEST(SweepCommand, RunsEveryValueWithEveryOtherAndPutsThemIntoATable) {
    const Scratch scratch;
    write_scene(scratch, one_disk);
    const Answer answer =
        sweep(scratch, {"--over", "let.height=1,2", "gravity=[0, -1],[0, -2]", "--set", "time.end=0.005"});
    ASSERT_EQ(answer.code, 0) << answer.err;
    const auto table = lines_of(scratch.file("out/table.csv"));
    ASSERT_EQ(table.size(), 5U);
    EXPECT_EQ(table[0].substr(0, 40), "case,gravity,let.height,steps,time,unsol");
    EXPECT_TRUE(contains(table[0], "falls.kinetic_translation (J)")) << table[0];
    EXPECT_TRUE(contains(table[1], "\"[0, -1]\",1,5,0.005")) << table[1];
    EXPECT_TRUE(contains(table[4], "\"[0, -2]\",2,5,0.005")) << table[4];
    // A case is what `run` makes of the same settings, to the byte.
    const fs::path one = scratch.file("out/gravity=_0,_-2_,let.height=2");
    ASSERT_EQ(drystone_command(scratch, {"run", "scene.toml", "--output", "run", "--quiet", "--set",
                                         "time.end=0.005", "gravity=[0, -2]", "let.height=2"})
                  .code,
              0);
    for (const char* file : {"checkpoint.h5", "steps.csv", "falls.csv"})
        EXPECT_EQ(bytes_of(one / file), bytes_of(scratch.file(std::string("run/") + file))) << file;
    // Once more: nothing is left to do; another value adds a case.
    EXPECT_TRUE(contains(
        sweep(scratch, {"--over", "let.height=1,2", "gravity=[0, -1],[0, -2]", "--set", "time.end=0.005"})
            .out,
        "4 of 4 cases are done already"));
    const Answer more =
        sweep(scratch, {"--over", "let.height=1,2,3", "gravity=[0, -2]", "--set", "time.end=0.005"});
    EXPECT_TRUE(contains(more.out, "2 of 3 cases are done already")) << more.out;
    EXPECT_EQ(lines_of(scratch.file("out/table.csv")).size(), 4U);
}

TEST(SweepCommand, TakesNoOtherRunForItsOwn) {
    const Scratch scratch;
    const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
        const Answer answer = sweep(scratch, words);
        EXPECT_EQ(answer.code, 2);
        EXPECT_TRUE(contains(answer.err, why)) << answer.err;
    };
    write_scene(scratch, one_disk);
    const std::string other = "holds a run of another scene, or with other settings";
    ASSERT_EQ(sweep(scratch, {"--over", "let.height='=1 * 2'"}).code, 0);
    refused({"--over", "let.height='=1 / 2'"}, other);  // a value of the same name
    ASSERT_EQ(sweep(scratch, {"--over", "seed=1,2"}).code, 0);
    refused({"--over", "seed=1,2", "--set", "time.end=0.02"}, "(and 1 more are not these cases)");
    std::string heavier = one_disk;
    heavier.replace(heavier.find("-9.81"), 5, "-1.62");
    write_scene(scratch, heavier);
    refused({"--over", "seed=1,2"}, other);
    EXPECT_EQ(sweep(scratch, {"--over", "seed=1", "--force"}).code, 0);
    refused({"--over", "seed=1,2"}, "out/seed=2: " + other);
    std::ofstream(scratch.file("out/seed=1/checkpoint.h5"), std::ios::app) << "x";
    refused({"--over", "seed=1"}, "out/seed=1: cannot be gone on with");
    fs::remove(scratch.file("out/seed=1/checkpoint.h5"));
    refused({"--over", "seed=1"}, "holds no checkpoint.h5, which says what was run");
    EXPECT_EQ(sweep(scratch, {"--over", "seed=1", "--force"}).code, 0);
    // A summary that did not arrive is no summary.
    std::ofstream(scratch.file("out/seed=1/summary.json"), std::ios::trunc) << "";
    EXPECT_TRUE(contains(sweep(scratch, {"--over", "seed=1"}).out, "seed=1: goes on"));
    // Files of others stay.
    std::ofstream(scratch.file("out/table.csv"), std::ios::trunc) << "size,share\n0,0\n";
    refused({"--over", "seed=3"}, "out/table.csv: is there, and is not the table of a sweep");
}

TEST(SweepCommand, RunsWhatItHasRead) {
    const Scratch scratch;
    std::string with_table = one_disk;
    with_table += "    [[table]]\n    shape = { type = \"disk\", radius = 0.1 }\n    file = \"more.csv\"\n";
    write_scene(scratch, with_table);
    std::ofstream(scratch.file("more.csv")) << "x,y\n5,1\n";
    ASSERT_EQ(sweep(scratch, {"--over", "seed=1"}).code, 0);
    std::ofstream(scratch.file("more.csv"), std::ios::app) << "6,1\n";
    const Answer answer = sweep(scratch, {"--over", "seed=1,2"});
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(contains(answer.err, "out/seed=1: holds a run of another scene")) << answer.err;
    EXPECT_EQ(sweep(scratch, {"--over", "seed=1,2"}, "env --ignore-signal=CHLD").code, 2);
    EXPECT_EQ(sweep(scratch, {"--over", "seed=1,2", "--force"}, "env --ignore-signal=CHLD").code, 0);
    const auto bodies = [&](const std::string& folder) {
        return drystone_command(scratch, {"info", folder, "--json"}).objects().at(0)["bodies"];
    };
    EXPECT_EQ(bodies("out/seed=1"), bodies("out/seed=2"));
}

TEST(SweepCommand, SaysWhatIsWrongBeforeItBegins) {
    const Scratch scratch;
    write_scene(scratch, one_disk);
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{"--over", "seed"}, "\"seed\" gives no field its values"},
        {{"--over", "seed=1,,2"}, "has a value that is empty"},
        {{"--over", "seed=1,1"}, "seed is given the value 1 twice"},
        {{"--over", "seed=1", "seed=2"}, "seed is given twice"},
        {{"--over", "seed=1", "--set", "seed=2"}, "seed is swept over, too"},
        {{"--over", "title=\"a b\",\"a/b\""}, "would have one folder"},
        {{"--over", "seed=1,-1"}, "the case seed=-1 cannot be run"},
        {{"--over", "let.hight=1"}, "let.hight: the scene's [let] has no such name; did you mean 'height'?"},
        {{"--over", "tim.end=1"}, "did you mean 'time'?"}};
    for (const auto& [words, why] : cases) {
        const Answer answer = sweep(scratch, words);
        EXPECT_EQ(answer.code, 2) << why;
        EXPECT_TRUE(contains(answer.err, why)) << answer.err;
        EXPECT_FALSE(fs::exists(scratch.file("out"))) << why;
    }
    const Answer quotes = sweep(scratch, {"--over", "title='a,b','c'"});
    EXPECT_TRUE(contains(quotes.out, "2 of 2 cases are done")) << quotes.out << quotes.err;
}

TEST(SweepCommand, ACaseThatFailsIsToldAndTheOthersRun) {
    const Scratch scratch;
    write_scene(scratch, one_disk);
    fs::create_directory(scratch.file("out"));
    std::ofstream(scratch.file("out/seed=2")) << "in the way";
    const Answer answer = sweep(scratch, {"--over", "seed=1,2,3"});
    EXPECT_EQ(answer.code, 1);
    EXPECT_TRUE(contains(answer.err, "seed=2: failed")) << answer.err;
    EXPECT_TRUE(contains(answer.out, "2 of 3 cases are done")) << answer.out;
}

}  // namespace
}  // namespace drystone::testing
