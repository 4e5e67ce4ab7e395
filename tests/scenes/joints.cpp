// Joints, rolling friction, elasticity and the choice of forces in scene files.
#include "drystone/run/simulate.hpp"
#include "scenes/text.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

using testing::fault_lines;
using testing::faults;
using testing::read;

const std::string bodies = R"(
    dimension = 3
    gravity = [0, 0, -10]
    [[body]]
    name = "arm"
    shape = { type = "box", sides = [1, 0.1, 0.1] }
    position = [0.5, 0, 0]
    mass = 2
    [[body]]
    name = "weight"
    shape = { type = "sphere", radius = 0.1 }
    position = [1, 0, -0.5]
    mass = 3
    [[body]]
    name = "post"
    shape = { type = "sphere", radius = 0.05 }
    position = [0, 0, 0]
    held = true
)";

/// Names stand over the columns of measurements.
TEST(SceneJoints, AndSinksHaveNamesOfTheirOwn) {
    const std::string joint =
        "[[joint]]\nname = \"tie\"\ntype = \"ball\"\nbodies = [\"arm\"]\npoint = [0, 0, 0]\n";
    EXPECT_EQ(faults(bodies + joint), "");
    EXPECT_NE(faults(bodies + joint + joint).find("joint[1].name: \"tie\" is taken by another joint"),
              std::string::npos);
    const std::string sink =
        "[[sink]]\nname = \"out\"\nregion = { type = \"box\", lower = [0, 0, 0], upper = [1, 1, 1] }\n";
    EXPECT_EQ(faults(bodies + sink), "");
    EXPECT_NE(faults(bodies + sink + sink).find("sink[1].name: \"out\" is taken by another sink"),
              std::string::npos);
}

TEST(SceneJoints, EachTypeIsReadWhereTheBodiesAre) {
    const RunPlan<3> plan = read<3>(bodies + R"(
    [[joint]]
    name = "elbow"
    type = "hinge"
    bodies = ["arm", "post"]
    point = [0, 0, 0]
    axis = [0, 2, 0]
    friction = 0.5
    speed = 3
    limit = 7
    [[joint]]
    type = "distance"
    bodies = ["arm", "weight"]
    points = [[1, 0, 0], [1, 0, -0.5]]
    [[joint]]
    type = "spring"
    bodies = ["weight"]
    points = [[1, 0, -0.5], [1, 0, 1]]
    stiffness = 100
    length = 1
    collide = true
)");
    const auto& joints = plan.world.scene.joints;
    ASSERT_EQ(joints.size(), 3U);
    EXPECT_EQ(joints[0].name, "elbow");
    EXPECT_EQ(joints[0].kind, JointKind::hinge);
    EXPECT_EQ(joints[0].a, 0);
    EXPECT_EQ(joints[0].b, 2);
    EXPECT_EQ(joints[0].point_a, Vec<3>(-0.5, 0, 0));
    EXPECT_EQ(joints[0].axes_a.row(0), Vec<3>(0, 1, 0).transpose());
    EXPECT_EQ(joints[0].friction, 0.5);
    EXPECT_EQ(joints[0].speed, 3);
    EXPECT_EQ(joints[0].limit, 7);
    EXPECT_EQ(joints[1].name, "joint 2");
    EXPECT_EQ(joints[1].length, 0.5);
    EXPECT_FALSE(joints[1].collide);
    EXPECT_FALSE(joints[2].b);
    EXPECT_EQ(joints[2].point_b, Vec<3>(1, 0, 1));
    EXPECT_EQ(joints[2].length, 1);
    EXPECT_TRUE(joints[2].collide);
}

TEST(SceneJoints, ALampHangsStill) {
    // The scene runs: an arm held by a weld, a weight that hangs from it by a distance.
    RunPlan<3> plan = read<3>(bodies + R"(
    [[joint]]
    type = "weld"
    bodies = ["arm", "post"]
    point = [0, 0, 0]
    [[joint]]
    type = "distance"
    bodies = ["arm", "weight"]
    points = [[1, 0, 0], [1, 0, -0.5]]
)");
    plan.options.end = 0.5;
    plan.options.step.solve.goal.tolerance = 1e-9;
    StepMemory<3> memory;
    simulate<3>(plan.world.scene, plan.options, memory);
    EXPECT_NEAR((plan.world.scene.bodies.position[1] - Vec<3>(1, 0, -0.5)).norm(), 0, 1e-7);
}

TEST(SceneJoints, FaultsSayWhatAndWhere) {
    auto first = [](const std::string& joint) { return fault_lines(bodies + joint); };
    auto said = [](const std::vector<std::string>& lines, const std::string& part) {
        return std::any_of(lines.begin(), lines.end(),
                           [&](const std::string& line) { return line.find(part) != std::string::npos; });
    };
    EXPECT_TRUE(said(first("[[joint]]\ntype = \"weld\"\nbodies = [\"amr\"]\npoint = [0,0,0]\n"),
                     "there is no body \"amr\""));
    EXPECT_TRUE(
        said(first("[[joint]]\ntype = \"weld\"\nbodies = [\"post\"]\npoint = [0,0,0]\n"), "cannot move"));
    EXPECT_TRUE(
        said(first("[[joint]]\ntype = \"weld\"\nbodies = [\"arm\", \"arm\"]\npoint = [0,0,0]\n"), "itself"));
    EXPECT_TRUE(said(first("[[joint]]\ntype = \"hinge\"\nbodies = [\"arm\"]\npoint = [0,0,0]\n"), "axis"));
    EXPECT_TRUE(said(first("[[joint]]\ntype = \"weld\"\nbodies = [\"arm\"]\npoint = [0,0,0]\nfriction = 1\n"),
                     "friction"));
    EXPECT_TRUE(said(first("[[joint]]\ntype = \"slider\"\nbodies = [\"arm\"]\npoint = "
                           "[0,0,0]\naxis=[1,0,0]\nspeed=1\neffort=2\n"),
                     "beside 'speed'"));
    EXPECT_TRUE(said(first("[[joint]]\ntype = \"spring\"\nbodies = [\"arm\"]\npoints = [[0,0,0],[0,0,1]]\n"),
                     "does nothing"));
    EXPECT_TRUE(
        said(first("[[joint]]\ntype = \"distance\"\nbodies = [\"arm\"]\npoints = [[0,0,0],[0,0,0]]\n"),
             "coincide"));
    EXPECT_TRUE(said(first("[[measure]]\nname = \"m\"\nwhat = [\"joint\"]\n"), "[[joint]]"));
}

TEST(SceneLaws, RollingSpinningAndStiffnessAreReadAndCombined) {
    const RunPlan<3> plan = read<3>(R"(
    dimension = 3
    [scheme]
    contacts = "elastic"
    [solver]
    forces = "elastic-limit"
    [output]
    forces = "elastic-limit"
    [[material]]
    name = "a"
    rolling = 0.01
    spinning = 0.002
    stiffness = 1000
    young = 5e6
    poisson = 0.2
    [[material]]
    name = "b"
    rolling = 0.004
    spinning = 0.02
    stiffness = 3000
    [[pair]]
    materials = ["b", "b"]
    rolling = 0.5
)");
    const Materials& materials = plan.world.scene.materials;
    EXPECT_EQ(materials.law(0, 1).rolling, 0.004);
    EXPECT_EQ(materials.law(0, 1).spinning, 0.002);
    EXPECT_DOUBLE_EQ(materials.law(0, 1).stiffness,
                     1500);  // two springs in series, each twice as stiff as its own contact
    EXPECT_EQ(materials.law(0, 0).stiffness, 1000);
    EXPECT_EQ(materials.law(1, 1).rolling, 0.5);
    EXPECT_EQ(materials[0].young, 5e6);
    EXPECT_EQ(materials[0].poisson, 0.2);
    EXPECT_TRUE(plan.options.step.elastic);
    EXPECT_TRUE(plan.options.step.elastic_limit);
    EXPECT_TRUE(plan.output.elastic_limit);
}

TEST(SceneLaws, ElasticContactsNeedTheWholeStep) {
    const auto lines =
        fault_lines("dimension = 2\n[scheme]\nname = \"moreau-jean\"\ncontacts = \"elastic\"\n");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("scheme.contacts"), std::string::npos);
}

TEST(SceneLaws, ElasticContactsNeedASpring) {
    const std::string elastic = "dimension = 2\n[scheme]\ncontacts = \"elastic\"\n";
    const std::string fault =
        "scene.toml:3: scheme.contacts: no material has a stiffness or a modulus and no pair a stiffness, so "
        "that all contacts would be rigid; give stiffness (N/m) or young (Pa) in a [[material]] or stiffness "
        "in a [[pair]], or set contacts = \"rigid\"";
    EXPECT_EQ(fault_lines(elastic), std::vector{fault});
    EXPECT_EQ(fault_lines(elastic + "[[material]]\nname = \"a\"\n"), std::vector{fault});
    EXPECT_EQ(faults(elastic + "[[material]]\nname = \"a\"\nstiffness = 1e5\n"), "");
    EXPECT_EQ(faults(elastic + "[[material]]\nname = \"a\"\nyoung = 1e9\n"), "");
    EXPECT_EQ(faults(elastic + "[[material]]\nname = \"a\"\n[[pair]]\nmaterials = [\"a\", \"a\"]\nstiffness "
                               "= 1e5\n"),
              "");
    // A spring that was meant and is at fault is not said to be missing.
    EXPECT_EQ(fault_lines(elastic + "[[material]]\nname = \"a\"\nstiffness = -1\n"),
              std::vector<std::string>{
                  "scene.toml:6: material[0].stiffness: -1; give a positive stiffness in N/m"});
}

TEST(SceneLaws, TheElasticLimitTakesSpringsOfOneKind) {
    const auto scene = [](int dimension, const std::string& forces, const std::string& rest) {
        return "dimension = " + std::to_string(dimension) + "\n" + forces +
               "[[material]]\nname = \"rubber\"\nstiffness = 1e5\n"
               "[[material]]\nname = \"steel\"\nyoung = 2e11\n" +
               rest;
    };
    const auto balls = [](int dimension, const std::string& material, int count, bool held = false) {
        std::string text;
        for (int k = 0; k < count; ++k) {
            text += dimension == 2
                        ? "[[body]]\nshape = { type = \"disk\", radius = 1 }\nposition = [0, 0]\n"
                        : "[[body]]\nshape = { type = \"sphere\", radius = 1 }\nposition = [0, 0, 0]\n";
            text += "material = \"" + material + (held ? "\"\nheld = true\n" : "\"\n");
        }
        return text;
    };
    const std::string solver = "[solver]\nforces = \"elastic-limit\"\n",
                      output = "[output]\nforces = \"elastic-limit\"\n";
    const std::string both = balls(3, "rubber", 2) + balls(3, "steel", 2);
    const std::string fault =
        ".forces: \"elastic-limit\" cannot weigh forces of Hooke's springs against those of Hertz': contacts "
        "of "
        "rubber with rubber have a stiffness (N/m), those of steel with steel have young (Pa) alone; give "
        "every pair that touches a stiffness, or leave stiffness out and give young";
    EXPECT_EQ(fault_lines(scene(3, solver, both)), std::vector{"scene.toml:3: solver" + fault});
    EXPECT_EQ(fault_lines(scene(3, output, both)), std::vector{"scene.toml:3: output" + fault});
    EXPECT_EQ(fault_lines(scene(3, solver + output, both)).size(), 2U);
    // Fed later on.
    const std::string source =
        "[[source]]\nrate = 1\nshape = { type = \"sphere\", radius = 0.1 }\nmaterial = "
        "\"steel\"\nregion = { type = \"box\", lower = [0,0,0], upper = [1,1,1] }\n";
    EXPECT_EQ(fault_lines(scene(3, solver, balls(3, "rubber", 2) + source)),
              std::vector{"scene.toml:3: solver" + fault});
    // Steel never touches steel: one grain of it, or all of it held. In the plane both are in N/m. Nobody asks.
    EXPECT_EQ(faults(scene(3, solver, balls(3, "rubber", 2) + balls(3, "steel", 1))), "");
    EXPECT_EQ(faults(scene(3, solver, balls(3, "rubber", 2) + balls(3, "steel", 2, true))), "");
    EXPECT_EQ(faults(scene(2, solver, balls(2, "rubber", 2) + balls(2, "steel", 2))), "");
    EXPECT_EQ(faults(scene(3, "", both)), "");
}

TEST(SceneLaws, ABodyMayHaveAnInertiaOfItsOwn) {
    const RunPlan<3> plan = read<3>(R"(
    dimension = 3
    [[body]]
    shape = { type = "sphere", radius = 1 }
    position = [0, 0, 0]
    inertia = [1, 2, 3]
)");
    EXPECT_EQ(plan.world.scene.bodies.inertia[0], Vec<3>(1, 2, 3));
}

}  // namespace
}  // namespace drystone
