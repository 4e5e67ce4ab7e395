// What looks wrong in a scene that can be run: each is told with its line, its field and what to do.

#include "drystone/scenes/warnings.hpp"

#include "scenes/text.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

std::vector<std::string> all_warnings(const std::string& text, const Scratch& scratch = {}) {
    SceneFiles files = open_scene(write_scene(scratch, text));
    const AnyPlan plan = read_scene(files);
    std::vector<std::string> lines;
    std::visit(
        [&](const auto& any) {
            std::size_t contacts = 0;
            for (const SceneFault& fault : warnings_of(any, files, start_overlaps(any, contacts)))
                lines.push_back(text_of("s", fault));
        },
        plan);
    return lines;
}

/// Without that of the floor, which most scenes here do not have.
std::vector<std::string> warnings(const std::string& text) {
    std::vector<std::string> lines = all_warnings(text);
    std::erase_if(lines, [](const std::string& line) { return has(line, "fall for ever"); });
    return lines;
}

struct Warned {
    const char* scene;
    const char* warning;
};

/// A body that is all right.
#define GRAIN "[[body]]\nshape = { type = \"sphere\", radius = 0.01 }\nposition = [0, 0, 0.5]\n"
#define HEAD "dimension = 3\ngravity = [0, 0, -9.81]\n"

TEST(SceneWarnings, EachIsToldWithItsLineAndCure) {
    const Warned cases[] = {
        {HEAD "[[body]]\nshape = { type = \"sphere\", radius = 101 }\nposition = [0, 0, 0]",
         "s:3: body[0]: body 0 (sphere) has a radius of 101 m; lengths are in m"},
        {"dimension = 3\ngravity = [0, 0, -9.81]\n[time]\nstep = 1e-6\n[[lattice]]\nshape = { type = "
         "\"sphere\", radius = "
         "5e-7 }\ncount = [2, 1, 1]\norigin = [0, 0, 0]\nspacing = 1",
         "s:5: lattice[0]: body 0 (sphere) (and 1 more) has a radius of 5e-07 m; lengths are in m"},
        {HEAD "[[material]]\nname = \"a\"\ndensity = 2.6\n" GRAIN,
         "s:5: material[0].density: 2.6 kg/m^3; stone has 2500 kg/m^3: is it in g/cm^3?"},
        {HEAD "[[material]]\nname = \"a\"\nfriction = 30\n" GRAIN,
         "s:5: material[0].friction: 30 is an angle of 88 degrees; it is a coefficient, for stone 0.3 to "
         "0.8"},
        {"dimension = 3\ngravity = [0, 0, -9810]\n[time]\nstep = 1e-5\n" GRAIN,
         "s:2: gravity: 9810 m/s^2; on Earth it is 9.81"},
        {"dimension = 3\ngravity = [0, 0, -10]\n[time]\nstep = 0.1\n" GRAIN,
         "s:4: time.step: a step of 0.1 s lets body 0 (sphere) fall by 10 radii; take 0.01"},
        {"dimension = 3\n[time]\nstep = 0.1\n" GRAIN "velocity = [1, 0, 0]",
         "s:3: time.step: in a step of 0.1 s body 0 (sphere) moves by 10 radii with the velocity that is "
         "given; take "
         "0.001"},
        {HEAD "[time]\nstep = 1e-8\n" GRAIN,
         "s:4: time.step: 1e+08 steps of 1e-08 s up to 1 s; is that meant?"},
        {HEAD "[time]\nstep = 1e-3\nend = 2e-4\n" GRAIN,
         "s:4: time.step: 0.001 s, longer than the run: its one step ends 5 times as late as time.end says; "
         "take at most 0.0002"},
        {HEAD "[output]\nframes_every = 1e-5\n" GRAIN,
         "s:4: output.frames_every: makes 1e+05 frames; 0.01 s makes a hundred"},
        {HEAD GRAIN "[[body]]\nshape = { type = \"sphere\", radius = 0.01 }\nposition = [0.015, 0, 0.5]",
         "s:6: body[1]: body 0 (sphere) and body 1 (sphere) overlap by 0.005 m, 0.5 radii; move them apart"},
        {HEAD GRAIN "[[body]]\nshape = { type = \"sphere\", radius = 0.01 }\nposition = [0.005, 0, 0.5]",
         "s:6: body[1]: body 0 (sphere) and body 1 (sphere) overlap by 0.015 m, 1.5 radii; is one inside the "
         "other?"},
        {HEAD "[box]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n[[body]]\nshape = { type = \"sphere\", radius = "
              "0.01 }\n"
              "position = [1.2, 0.5, 0.5]",
         "s:6: body[0]: body 5 (sphere) is outside, 0.21 m behind right; move it to the free side"},
        {HEAD "[[material]]\nname = \"a\"\n[[material]]\nname = \"b\"\n" GRAIN "material = \"a\"",
         "s:5: material[1]: nobody uses \"b\""},
        {HEAD "[[shape]]\nname = \"rock\"\ntype = \"sphere\"\nradius = 1\n" GRAIN,
         "s:3: shape[0]: nobody uses \"rock\""},
        {HEAD "[[wall]]\npoint = [0, 0, 0]\nnormal = [0, 0, 1]", "s: no body is free to move"},
        {"dimension = 3\n" GRAIN, "s: there is no gravity and no velocity: nothing will move"},
    };
    for (const Warned& each : cases) {
        const auto told = warnings(each.scene);
        ASSERT_EQ(told.size(), 1U) << each.scene << "\n"
                                   << (told.empty() ? "" : told.front() + "\n" + told.back());
        EXPECT_EQ(told.front(), each.warning);
    }
}

TEST(SceneWarnings, NoneWhereNothingIsWrong) {
    EXPECT_TRUE(warnings(HEAD GRAIN).empty());
    // Adaptive steps are shortened by themselves; variants of a random shape are its use; a touch is no overlap.
    EXPECT_TRUE(
        warnings("dimension = 3\ngravity = [0, 0, -10]\n[time]\nstep = 0.1\ndisplacement = 0.2\n" GRAIN)
            .empty());
    EXPECT_TRUE(
        warnings(HEAD
                 "[[shape]]\nname = \"rock\"\ntype = \"random-polyhedron\"\nradius = 0.1\n[[body]]\nshape = "
                 "\"rock/3\"\nposition = [0, 0, 1]")
            .empty());
    EXPECT_TRUE(warnings(HEAD GRAIN
                         "[[body]]\nshape = { type = \"sphere\", radius = 0.01 }\nposition = [0.02, 0, 0.5]")
                    .empty());
}

TEST(SceneWarnings, SandMovesFreely) {
    const std::string sand =
        "dimension = 2\n[sand]\ncell = 0.1\n[[sand.fill]]\nregion = { type = \"box\", lower = [0, 0], upper "
        "= [1, "
        "1] }\n";
    EXPECT_TRUE(warnings(sand + "velocity = [1, 0]").empty());
    EXPECT_TRUE(warnings("gravity = [0, -9.81]\n" + sand).empty());
    EXPECT_EQ(warnings(sand),
              std::vector<std::string>{"s: there is no gravity and no velocity: nothing will move"});
}

TEST(SceneWarnings, SomethingMustBeBelow) {
    const std::string box = "[box]\nlower = [-1, -1, 0]\nupper = [1, 1, 1]\n";
    const std::string told =
        "s:2: gravity: no wall and no held body is below body {} (sphere), which will fall for ever; add a "
        "[[wall]] whose normal points against gravity, or a [[sink]] where grains may go";
    const auto of_body = [&](const char* number) {
        std::string text = told;
        return std::vector<std::string>{text.replace(text.find("{}"), 2, number)};
    };
    EXPECT_EQ(all_warnings(HEAD GRAIN), of_body("0"));
    EXPECT_TRUE(all_warnings(HEAD + box + GRAIN).empty());
    // Out of the open top.
    EXPECT_EQ(all_warnings("dimension = 3\ngravity = [0, 0, 9.81]\n" + box + GRAIN), of_body("5"));
    // A held body below is enough, one above is not; what goes, or is hung up, may fall.
    const auto held = [](const char* height) {
        return std::string(
                   "[[body]]\nshape = { type = \"sphere\", radius = 0.01 }\nheld = true\nposition = [1, "
                   "0, ") +
               height + "]\n";
    };
    EXPECT_TRUE(all_warnings(HEAD GRAIN + held("0.1")).empty());
    EXPECT_EQ(all_warnings(HEAD GRAIN + held("0.9")), of_body("0"));
    const std::string sink =
        "[[sink]]\nname = \"out\"\nregion = { type = \"box\", lower = [-1, -1, -2], upper = [1, 1, -1] }\n";
    EXPECT_TRUE(all_warnings(HEAD GRAIN + sink).empty());
    // What is glued may hang; what a source pours needs a floor as well; a later phase may push.
    EXPECT_TRUE(all_warnings(HEAD "[[material]]\nname = \"a\"\ncohesion = 1\n" GRAIN).empty());
    const std::string source =
        "[[source]]\nname = \"feed\"\nshape = { type = \"sphere\", radius = 0.01 }\nrate = 10\nregion = { "
        "type = "
        "\"box\", lower = [0, 0, 0], upper = [1, 1, 1] }\n";
    ASSERT_EQ(all_warnings(HEAD + source).size(), 1U);
    EXPECT_TRUE(has(all_warnings(HEAD + source)[0], "below what source feed puts in, which will fall"));
    EXPECT_TRUE(all_warnings("dimension = 3\n" GRAIN
                             "[[phase]]\nname = \"a\"\nlasts = 1\n[[phase]]\nname = \"b\"\nlasts = "
                             "1\nset.gravity = [0, 0, -1]\n")
                    .empty());
    EXPECT_TRUE(all_warnings(HEAD "[domain]\nperiod = [0, 0, 1]\n" GRAIN).empty());
}

TEST(SceneWarnings, TheHullOfWhatIsNotConvexIsHeavier) {
    const Scratch scratch;
    // An L of three cubes, and a box.
    const auto write = [&](const char* name, const std::vector<std::array<double, 2>>& outline,
                           const std::vector<std::array<int, 3>>& cover) {
        std::ofstream out(scratch.file(name));
        const auto n = static_cast<int>(outline.size());
        for (const double z : {0.0, 1.0})
            for (const auto& [x, y] : outline) out << "v " << x << " " << y << " " << z << "\n";
        for (int k = 0; k < n; ++k) {
            const int next = (k + 1) % n;
            out << "f " << k + 1 << " " << next + 1 << " " << n + next + 1 << " " << n + k + 1 << "\n";
        }
        for (const auto& [a, b, c] : cover) {
            out << "f " << c << " " << b << " " << a << "\n";
            out << "f " << n + a << " " << n + b << " " << n + c << "\n";
        }
    };
    write("l.obj", {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}},
          {{1, 2, 3}, {1, 3, 4}, {1, 4, 5}, {1, 5, 6}});
    write("box.obj", {{0, 0}, {2, 0}, {2, 1}, {0, 1}}, {{1, 2, 3}, {1, 3, 4}});
    const auto scene = [](const char* file) {
        return std::string("dimension = 3\n[[body]]\nshape = { type = \"polyhedron\", file = \"") + file +
               "\" }\nposition = [0, 0, 0]\nvelocity = [1, 0, 0]\n[time]\ndisplacement = 0.1\n";
    };
    EXPECT_TRUE(all_warnings(scene("box.obj"), scratch).empty());
    EXPECT_EQ(all_warnings(scene("l.obj"), scratch),
              std::vector<std::string>{
                  "s:3: body[0].shape.file: the surface in l.obj is not convex; its hull is taken, of 1.17 "
                  "times its volume and mass. Give a convex one, or a held body as type = \"mesh\""});
}

TEST(SceneWarnings, InTheOrderOfTheLines) {
    const auto told = warnings(
        "dimension = 3\ngravity = [0, 0, -1e3]\n[time]\nstep = 1e-4\n[[material]]\nname = \"a\"\nfriction = "
        "3\ndensity = "
        "1\n" GRAIN);
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(told[0].substr(0, 4), "s:2:");
    EXPECT_EQ(told[1].substr(0, 4), "s:7:");
    EXPECT_EQ(told[2].substr(0, 4), "s:8:");
}

}  // namespace
}  // namespace drystone::testing
