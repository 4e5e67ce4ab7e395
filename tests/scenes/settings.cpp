// Fields that are given another value than the file's, and numbers that a scene works out.
#include "drystone/scenes/settings.hpp"

#include "scenes/text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numbers>

namespace drystone::testing {
namespace {

const std::string ball = R"(dimension = 2
gravity = [0, -9.81]
[[material]]
name = "stone"
density = 1000
[[material]]
name = "ice"
density = 900
[[body]]
name = "lid"
shape = { type = "disk", radius = 0.5 }
material = "stone"
position = [0, 1]
[[body]]
shape = { type = "disk", radius = 0.5 }
material = "ice"
position = [2, 1]
)";

RunPlan<2> read_with(const std::vector<std::string>& settings, const std::string& text = ball) {
    const Scratch scratch;
    SceneFiles files = open_scene(write_scene(scratch, text));
    for (const std::string& one : settings) files.settings.push_back(setting_of(one));
    return std::get<RunPlan<2>>(read_scene(files));
}

/// What is said of them, without the name of the file.
std::string faults_with(const std::vector<std::string>& settings, const std::string& text = ball) {
    try {
        read_with(settings, text);
    } catch (const Error& error) {
        const std::string said = error.what();
        const std::size_t at = said.find("scene.toml:");
        return at == std::string::npos ? said : said.substr(at);
    }
    return {};
}

TEST(SceneSettings, GiveFieldsOtherValues) {
    const RunPlan<2> plan =
        read_with({"time.end=3", "material.stone.friction=0.4", "body[1].position=[3, 4]",
                   "body.lid.position=[0, 7]", "title=a heap", "time.end=5", "material[1].friction=0.1"});
    EXPECT_EQ(plan.options.end, 5);  // the later counts
    EXPECT_EQ(plan.world.scene.materials.law(0, 0).friction, 0.4);
    EXPECT_EQ(plan.world.scene.materials.law(1, 1).friction, 0.1);
    EXPECT_EQ(plan.world.scene.bodies.position[1], Vec<2>(3, 4));
    EXPECT_EQ(plan.world.scene.bodies.position[0], Vec<2>(0, 7));
    EXPECT_EQ(plan.title, "a heap");  // what is no TOML is a text
}

TEST(SceneSettings, TellWhatTheyDoNotFind) {
    EXPECT_TRUE(has(faults_with({"material.ston.friction=0.4"}),
                    "none of material is named \"ston\"; did you mean 'stone'?"));
    EXPECT_TRUE(
        has(faults_with({"body[2].size=2"}), "body[2].size: there are 2 of body; counting starts at 0"));
    EXPECT_TRUE(has(faults_with({"time.ned=3"}), "time.ned: there is no such field; "));
    EXPECT_TRUE(has(faults_with({"title.x=3"}), "title: a table; give a text in quotes"));
    EXPECT_TRUE(has(faults_with({"dimension.x=3"}), "dimension.x: dimension has no fields of its own"));
    EXPECT_TRUE(has(faults_with({"time..end=3"}), "time..end: is the name of no field"));
    EXPECT_TRUE(has(faults_with({"time.end=soon"}), "time.end: \"soon\""));
    // No line of the file is blamed for it.
    EXPECT_EQ(faults_with({"time.end=-3"}).find("scene.toml:1"), std::string::npos);
    for (const char* text : {"time.end", "=3", "time.end="}) EXPECT_THROW(setting_of(text), Error) << text;
    EXPECT_TRUE(has(faults_with({"body.lid.size=2"}, ball + "[[body]]\nname = \"lid\"\n"),
                    "several of body are named \"lid\""));
}

TEST(SceneSettings, NumbersAreWorkedOut) {
    const RunPlan<2> plan = read_with({"let.height=3"}, R"(dimension = 2
title = "worked out"
[let]
half = "= width / 2"
width = 0.5
height = 2
[time]
step = "= 1e-3 * (1 + min(3, 1, 2)) ^ 2"
end = "= -2^2 + sqrt(16) + 10 * sin(30) / 5"
[[body]]
shape = { type = "disk", radius = "=half" }
position = ["= 2*pi", "=height - -1"]
)");
    EXPECT_EQ(plan.options.step.h, 4e-3);
    EXPECT_DOUBLE_EQ(plan.options.end, 1);
    EXPECT_EQ(plan.world.scene.bodies.position[0], Vec<2>(2 * std::numbers::pi, 4));
    EXPECT_EQ(plan.world.scene.outer_radius(0), 0.25);
    // Whole numbers are whole.
    EXPECT_EQ(read_with({"seed==2 * 3"}).options.end, 1);
    EXPECT_TRUE(has(faults_with({"seed==2 / 3"}), "seed: "));
}

TEST(SceneSettings, WhatCannotBeWorkedOutIsTold) {
    const auto told = [](const std::string& let, const std::string& end) {
        return faults_with({}, "dimension = 2\n[let]\n" + let + "\n[time]\nend = \"" + end + "\"\n");
    };
    EXPECT_TRUE(
        has(told("width = 1", "= widht"),
            "scene.toml:5: time.end: \"= widht\" there is no number named widht; did you mean 'width'?"));
    EXPECT_TRUE(has(told("", "= width"), "name it in [let]"));
    EXPECT_TRUE(has(told("", "= 1 / 0"), "comes to inf"));
    EXPECT_TRUE(has(told("", "= (1"), "ends too early"));
    EXPECT_TRUE(has(told("", "= 1 1"), "cannot be read from \"1\" on"));
    EXPECT_TRUE(has(told("", "="), "ends too early"));
    EXPECT_TRUE(has(told("", "= system(1)"), "there is no function system"));
    EXPECT_TRUE(
        has(told("a = \"= b\"\nb = \"= a\"", "= a"), "let.a: a is given by way of itself; break the circle"))
        << told("a = \"= b\"\nb = \"= a\"", "= a");
    EXPECT_TRUE(has(told("a = \"= b\"\nb = \"= 1/0\"", "= 1"), "let.b: comes to inf"));
    EXPECT_FALSE(has(told("a = \"= b\"\nb = \"= 1/0\"", "= 1"), "circle"));
    for (const char* hidden : {"= max(0.5, 0/0)", "= min(1, sqrt(-1))", "= (0/0)^0", "= 1/(1/0)"})
        EXPECT_TRUE(has(told("", hidden), "comes to ")) << hidden;
    std::string chain;
    for (int k = 0; k < 5000; ++k) chain += fmt::format("a{:06} = \"= a{:06}\"\n", k, k + 1);
    EXPECT_TRUE(has(told(chain + "a005000 = 1", "= 1"), "goes by way of more than 64 others"));
    EXPECT_TRUE(has(told("pi = 3", "= pi"), "let.pi: has a meaning of its own"));
    EXPECT_TRUE(has(told("a-b = 3", "= 1"), "let.a-b: is no name for a number"));
    EXPECT_TRUE(has(told("a = [1]", "= 1"), "let.a: a is no number"));
    EXPECT_TRUE(has(told("a = nan", "= a"), "comes to nan"));
    EXPECT_TRUE(has(told("", "= " + std::string(900, '(')), "is nested too deeply"));
    EXPECT_TRUE(has(told("", "= " + std::string(900, '-') + "1"), "is nested too deeply"));
    EXPECT_TRUE(has(told("", "= " + std::string(2000, '1')), "has 2002 letters"));
    EXPECT_TRUE(has(faults_with({}, "dimension = 2\nlet = 3\n"), "let: is no table"));
}

}  // namespace
}  // namespace drystone::testing
