// Scene files that are wrong: every fault is named, with its line, its field and the cure.

#include "drystone/base/error.hpp"
#include "scenes/text.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

struct Case {
    const char* scene;
    const char* fault;
};

TEST(SceneFaults, EachIsToldWithItsLineAndCure) {
    const Case cases[] = {
        {"title = \"x\"", "scene.toml:1: dimension: is missing; give 2 (the plane) or 3 (space)"},
        {"dimension = 4", "scene.toml:1: dimension: 4; give a whole number from 2 to 3"},
        {"dimension = 3\ngravity = [0, 1]",
         "scene.toml:2: gravity: [0, 1]; give 3 numbers, an acceleration in m/s^2"},
        {"dimension = 3\n[domain]\nperiod = [0, 0.2, 0]\n[[body]]\nposition = [0,0,0]\nshape = { type = "
         "\"sphere\", radius = 0.11 }",
         "scene.toml:3: domain.period: is shorter than body 0 (sphere) is thick, which would overlap its own "
         "images; choose longer periods or smaller bodies"},
        {"dimension = 3\n[time]\nstep = -1", "scene.toml:3: time.step: -1; give a positive time in s"},
        {"dimension = 3\n[time]\nend = inf", "scene.toml:3: time.end: inf; give a time in s, 0 or more"},
        {"dimension = 3\n[time]\nsteps = 1",
         "scene.toml:3: time.steps: there is no such field; did you mean 'step'?"},
        {"dimension = 3\ngravitiy = [0, 0, 1]",
         "scene.toml:2: gravitiy: there is no such field; did you mean 'gravity'?"},
        {"dimension = 3\n[scheme]\nname = \"moreau\"",
         "scene.toml:3: scheme.name: \"moreau\"; did you mean 'moreau-jean'?"},
        {"dimension = 3\n[scheme]\ntheta = 0",
         "scene.toml:3: scheme.theta: 0; give a weight above 0, at most 1"},
        {"dimension = 3\n[solver]\nname = \"gauss-siedel\"",
         "scene.toml:3: solver.name: there is no solver \"gauss-siedel\"; did you mean 'gauss-seidel'?"},
        {"dimension = 3\n[solver]\nstages = [\"momentm\"]",
         "scene.toml:3: solver.stages: there is no stage \"momentm\"; did you mean 'momentum'?"},
        {"dimension = 3\n[solver]\nlaw = \"coulomb-strict\"\nstages = [\"momentum\", \"frozen-shift\"]",
         "scene.toml:4: solver.stages: \"frozen-shift\" is not for this law; use some of momentum, anderson, "
         "short-cycles, proof, plain"},
        {"dimension = 3\n[solver]\nname = \"aspg\"\nstages = [\"momentum\"]",
         "scene.toml:4: solver.stages: only \"auto\" has stages; leave out name, or stages"},
        {"dimension = 3\n[solver]\nstages = []",
         "scene.toml:3: solver.stages: none of them is tried whatever the number of contacts; name one of "
         "momentum, short-cycles, frozen-shift too"},
        {"dimension = 3\n[solver]\nlaw = \"associated\"\nstages = [\"proof\", \"plain\"]",
         "scene.toml:4: solver.stages: none of them is tried whatever the number of contacts; name one of "
         "momentum too"},
        {"dimension = 3\n[solver]\nname = \"haslinger-gauss-seidel\"\n[[material]]\nname = \"a\"\nrolling = "
         "0.1",
         "scene.toml:3: solver.name: Haslinger's fixed point knows no rolling or spinning friction; take "
         "\"auto\" "
         "or \"cadoux-gauss-seidel\""},
        {"dimension = 3\n[[material]]\nname = \"a\"\nrestitution = 0.5",
         "scene.toml:4: material[0].restitution: 0.5 cannot be had with the scheme look-ahead, in which "
         "nothing rebounds; set "
         "[scheme] name = \"moreau-jean\", or restitution = 0"},
        {"dimension = 3\n[[material]]\nname = \"a\"\n[[material]]\nname = \"a\"",
         "scene.toml:5: material[1].name: \"a\" is taken by another material; give each material a name of "
         "its own"},
        {"dimension = 3\n[material]\nname = \"a\"",
         "scene.toml:2: material: stands in single brackets; give tables [[material]], one for each"},
        {"dimension = 3\n[[material]]\nname = \"stone\"\n[[wall]]\npoint = [0,0,0]\nnormal = "
         "[0,0,1]\nmaterial = \"stine\"",
         "scene.toml:7: wall[0].material: there is no material \"stine\"; did you mean 'stone'?"},
        {"dimension = 3\n[[wall]]\npoint = [0,0,0]\nnormal = [0,0,0]",
         "scene.toml:4: wall[0].normal: has no length; give a direction, into the free side"},
        {"dimension = 3\n[[wall]]\npoint = [0,0,0]\nnormal = [0,0,1]\nspin = [0,0,1]",
         "scene.toml:5: wall[0].spin: a wall has no end and cannot turn; use a held body of another shape"},
        {"dimension = 3\n[[body]]\nposition = [0,0,0]\nshape = { type = \"sphere\", radius = -1 }",
         "scene.toml:4: body[0].shape.radius: -1; give a positive length in m"},
        {"dimension = 3\n[[body]]\nposition = [0,0,0]\nshape = { type = \"sphere\" }",
         "scene.toml:4: body[0].shape.radius: is missing; give a positive length in m"},
        {"dimension = 2\n[[body]]\nposition = [0,0]\nshape = { type = \"sphere\", radius = 1 }",
         "scene.toml:4: body[0].shape.type: there is no sphere in 2D; use \"disk\""},
        {"dimension = 3\n[[shape]]\nname = \"pebble\"\ntype = \"sphere\"\nradius = 1\n[[body]]\nposition = "
         "[0,0,0]\nshape = \"peble\"",
         "scene.toml:8: body[0].shape: there is no shape \"peble\"; did you mean 'pebble'?"},
        {"dimension = 3\n[[body]]\nshape = { type = \"sphere\", radius = 1 }",
         "scene.toml:2: body[0].position: is missing; give 3 numbers, coordinates in m"},
        {"dimension = 3\n[[body]]\nposition = [0,0,0]\nquaternion = [2,0,0,0]\nshape = { type = \"sphere\", "
         "radius = 1 }",
         "scene.toml:4: body[0].quaternion: has the length 2; give w, x, y, z of length 1"},
        {"dimension = 3\n[box]\nlower = [0,0,0]\nupper = [1,1,-1]",
         "scene.toml:4: box.upper: is not above 'lower' in every direction; give the corner with the larger "
         "coordinates"},
        {"dimension = 2\n[box]\nlower = [0,0]\nupper = [1,1]\nsides = [\"botom\"]",
         "scene.toml:5: box.sides: there is no side \"botom\" in 2D; use one of left, right, floor, top"},
        {"dimension = 2\n[[lattice]]\nshape = { type = \"disk\", radius = 1 }\ncount = [3, 0]\norigin = "
         "[0,0]\nspacing = 1",
         "scene.toml:4: lattice[0].count: [3, 0]; give 2 whole numbers from 1 to 1000000000"},
        {"dimension = 2\n[[lattice]]\nshape = { type = \"disk\", radius = 1 }\ncount = [3, 1]\norigin = "
         "[0,0]\nspacing = 1\nsize = [2, 1]",
         "scene.toml:7: lattice[0].size: [2, 1] falls; give the smaller end first"},
    };
    for (const Case& one : cases) {
        const auto told = fault_lines(one.scene);
        ASSERT_EQ(told.size(), 1U) << one.scene << "\n" << ::testing::PrintToString(told);
        EXPECT_EQ(told[0], one.fault) << one.scene;
    }
}

/// What no grain has in any unit: products of such numbers leave the range of doubles.
TEST(SceneFaults, NumbersBeyondAllMeasure) {
    const std::string body = "[[body]]\nshape = { type = \"sphere\", radius = 0.1 }\nposition = [0, 0, 0]\n";
    const Case cases[] = {
        {"[time]\nstep = 1e100", "time.step: 1e+100; give a positive time in s, from 1e-30 to 1e+30"},
        {"[time]\nstep = 1e-300", "time.step: 1e-300; give a positive time in s, from 1e-30 to 1e+30"},
        {"[time]\nstep = 1e-15\nend = 10",
         "time.end: 10 s make 1e+16 steps of 1e-15 s; give an earlier end or longer steps; 1e+15 is the "
         "most"},
        {"gravity = [0, 0, 1e31]",
         "gravity: [0, 0, 1e+31]; give 3 numbers, an acceleration in m/s^2, at most 1e+30"},
        {"[[material]]\nname = \"a\"\ndensity = 1e-300",
         "material[0].density: 1e-300; give a positive density in kg/m^3 (2D: kg/m^2), from 1e-30 to 1e+30"},
        {"[[material]]\nname = \"a\"\nstiffness = 1e-310",
         "give a positive stiffness in N/m, from 1e-30 to 1e+30"},
        {"[[material]]\nname = \"a\"\nyoung = 1e-100", "give a positive modulus in Pa, from 1e-30 to 1e+30"},
        {"BODY\nvelocity = [0, 1e200, 0]",
         "body[0].velocity: [0, 1e+200, 0]; give 3 numbers, a velocity in m/s, at most 1e+30"},
        {"BODY\nmass = 1e-101", "body[0].mass: 1e-101; give a positive mass in kg, from 1e-100 to 1e+100"},
        {"BODY\nmass = 1e101", "body[0].mass: 1e+101; give a positive mass in kg, from 1e-100 to 1e+100"},
        {"BODY\nsize = 1e-33", "body[0].size: 1e-33; give a positive factor, from 1e-30 to 1e+30"},
        {"BODY\nsize = 1e-29",
         "choose a size and a density that make 1e-100 to 1e+100 kg, and as many kg m^2"},
        {"[[body]]\nshape = { type = \"sphere\", radius = 1e-40 }\nposition = [0, 0, 0]",
         "body[0].shape.radius: 1e-40; give a positive length in m, from 1e-30 to 1e+30"},
        {"[[body]]\nshape = { type = \"sphere\", radius = 1 }\nposition = [0, 0, 1e101]",
         "give 3 numbers, coordinates in m, at most 1e+30"},
        {"[domain]\nperiod = [1e-200, 0, 0]",
         "domain.period: [1e-200, 0, 0]; give 3 numbers, lengths in m, 0 or more, from 1e-30"},
        {"[scheme]\nskin = 1e9", "scheme.skin: 1000000000; give a number of radii from 0 to 1000"},
    };
    for (const Case& one : cases) {
        std::string scene = one.scene;
        if (scene.starts_with("BODY\n")) scene.replace(0, 5, body);
        const auto told = fault_lines("dimension = 3\n" + scene);
        ASSERT_EQ(told.size(), 1U) << scene << "\n" << ::testing::PrintToString(told);
        EXPECT_NE(told[0].find(one.fault), std::string::npos) << told[0];
    }
    // 0 is another matter, and so is what is large and seldom meant.
    EXPECT_EQ(faults("dimension = 3\ngravity = [0, 0, -1e20]\n[domain]\nperiod = [0, 0, 0]\n" + body +
                     "velocity = [1e-300, 0, 0]\nmass = 1e-90\ninertia = [1e-99, 1e-99, 1e-99]"),
              "");
}

TEST(SceneFaults, AllOfAFileAreToldAtOnceInItsOrder) {
    const auto told = fault_lines(R"(dimension = 3
gravity = "down"
[[body]]
shape = { type = "box", sides = [1, 2] }
position = [0, 0]
colour = "red"
[[wall]]
normal = [0, 0, 1]
[time]
step = 0
)");
    ASSERT_EQ(told.size(), 6U) << ::testing::PrintToString(told);
    const int lines[] = {2, 4, 5, 6, 7, 10};
    for (std::size_t i = 0; i < 6; ++i)
        EXPECT_EQ(told[i].rfind("scene.toml:" + std::to_string(lines[i]) + ": ", 0), 0U) << told[i];
}

/// One mistake is one fault: what refers to a faulty shape or material is not complained of again.
TEST(SceneFaults, DoNotFollowFromOneAnother) {
    const auto told = fault_lines(R"(dimension = 3
[[material]]
name = "stone"
density = -1
[[shape]]
name = "pebble"
type = "sphere"
radius = 0
[[body]]
shape = "pebble"
material = "stone"
position = [0, 0, 0]
)");
    ASSERT_EQ(told.size(), 2U) << ::testing::PrintToString(told);
}

/// What the scene itself refuses is told with the line of the body.
TEST(SceneFaults, OfTheSceneHaveALineToo) {
    const auto free_mesh = fault_lines(
        "dimension = 3\n[domain]\nperiod = [1, 0, 0]\n[[wall]]\npoint = [0, 0, 0]\nnormal = [1, 0, 0]\n");
    ASSERT_EQ(free_mesh.size(), 1U);
    EXPECT_EQ(free_mesh[0].rfind("scene.toml:4: wall[0]: ", 0), 0U) << free_mesh[0];
    EXPECT_NE(free_mesh[0].find("periodic"), std::string::npos) << free_mesh[0];
    const auto flat = fault_lines(
        "dimension = 3\n[[shape]]\nname = \"flat\"\ntype = \"polyhedron\"\npoints = "
        "[[0,0,0],[1,0,0],[0,1,0],[1,1,0]]\n");
    ASSERT_EQ(flat.size(), 1U);
    EXPECT_EQ(flat[0].rfind("scene.toml:2: shape[0]: ", 0), 0U) << flat[0];
}

TEST(SceneFaults, OfTomlAndOfFilesAreToldToo) {
    const auto toml = fault_lines("dimension = 3\ngravity = [0, 0,\n[time]\n");
    ASSERT_EQ(toml.size(), 1U);
    EXPECT_EQ(toml[0].rfind("scene.toml:", 0), 0U) << toml[0];
    const auto twice = fault_lines("dimension = 3\ndimension = 2\n");
    ASSERT_EQ(twice.size(), 1U);
    EXPECT_EQ(twice[0].rfind("scene.toml:2: ", 0), 0U) << twice[0];
    EXPECT_THROW(read_scene("no such file.toml"), Error);
    const auto mesh =
        fault_lines("dimension = 3\n[[shape]]\nname = \"hopper\"\ntype = \"mesh\"\nfile = \"hopper.stl\"\n");
    ASSERT_EQ(mesh.size(), 1U);
    EXPECT_EQ(mesh[0].rfind("scene.toml:5: shape[0].file: hopper.stl", 0), 0U) << mesh[0];
}

}  // namespace
}  // namespace drystone::testing
