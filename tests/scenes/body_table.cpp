// Bodies from a table in a file: [[table]].

#include "drystone/base/geometry.hpp"
#include "scenes/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace drystone::testing {
namespace {

const std::string in_plane = R"(
    dimension = 2
    [[material]]
    name = "stone"
    density = 1000
    [[table]]
    shape = { type = "rectangle", sides = [2, 1] }
    file = "grains.csv"
)";
const std::string in_space = R"(
    dimension = 3
    [[body]]
    shape = { type = "sphere", radius = 0.5 }
    position = [9, 9, 9]
    [[table]]
    shape = { type = "box", sides = [1, 2, 3] }
    file = "grains.csv"
)";

void write(const Scratch& scratch, const std::string& table) {
    std::ofstream(scratch.file("grains.csv")) << table;
}

TEST(SceneBodyTable, GivesABodyForEachLine) {
    const Scratch scratch;
    write(scratch, "# by hand\ny, x, size, angle, vx, spin\n\n1, 2, 0.5, 90, 3, -4\r\n# more\n5;6;1;0;0;0\n");
    const auto plane = read<2>(scratch, in_plane).world.scene.bodies;
    ASSERT_EQ(plane.count(), 2);
    EXPECT_EQ(plane.position[0], Vec<2>(2, 1));
    EXPECT_EQ(plane.position[1], Vec<2>(6, 5));
    EXPECT_EQ(plane.size[0], 0.5);
    EXPECT_DOUBLE_EQ(plane.mass[0], 500);  // 1000 kg/m^2 of 1 m x 0.5 m
    EXPECT_DOUBLE_EQ(plane.rotation[0].angle, std::numbers::pi / 2);
    EXPECT_EQ(plane.velocity[0], Vec<2>(3, 0));
    EXPECT_EQ(plane.spin[0][0], -4);
    EXPECT_TRUE(plane.is_free(0));

    write(scratch, "\xef\xbb\xbfx;y\r\n1;2\r\n");  // as spreadsheets do
    EXPECT_EQ((read<2>(scratch, in_plane).world.scene.bodies.position[0]), Vec<2>(1, 2));

    write(scratch, "x y z qw qx qy qz wz vy\n1 2 3 0.70711 0 0 0.70711 7 8\n");
    const auto space = read<3>(scratch, in_space + "held = true").world.scene.bodies;
    ASSERT_EQ(space.count(), 2);
    EXPECT_EQ(space.position[1], Vec<3>(1, 2, 3));
    // A quarter turn about z.
    EXPECT_TRUE((matrix(space.rotation[1]) * Vec<3>(1, 0, 0)).isApprox(Vec<3>(0, 1, 0), 1e-12));
    EXPECT_EQ(space.spin[1], Vec<3>(0, 0, 7));
    EXPECT_EQ(space.velocity[1], Vec<3>(0, 8, 0));
    EXPECT_FALSE(space.is_free(1));
    // A checkpoint has the bodies.
    EXPECT_EQ((read<3>(scratch, in_space, false).world.scene.bodies.count()), 1);
}

TEST(SceneBodyTable, FaultsAreToldWithTheirLine) {
    const Scratch scratch;
    const auto told = [&](const std::string& scene, const std::string& table) {
        write(scratch, table);
        return faults(scratch, scene);
    };
    EXPECT_EQ(told(in_plane, "x,y\n1,2\n"), "");
    EXPECT_TRUE(has(told(in_plane, ""), "table[0].file: grains.csv:0: is empty; name its columns: x, y, vx"));
    EXPECT_TRUE(has(told(in_plane, "x,z\n"), "grains.csv:1: there is no column \"z\" in 2D"));
    EXPECT_TRUE(has(told(in_plane, "x,y,siz\n"), "there is no column \"siz\" in 2D; did you mean 'size'?"));
    EXPECT_TRUE(has(told(in_plane, "x,x\n"), "has two columns \"x\""));
    EXPECT_TRUE(has(told(in_space, "x,y\n1,2\n"), "has no column \"z\"; every body has a place"));
    EXPECT_TRUE(has(told(in_plane, "x,y\n1,2\n3\n"), "grains.csv:3: has 1 numbers for 2 columns"));
    EXPECT_TRUE(has(told(in_plane, "x,y\n1,two\n"), "grains.csv:2: y is two; give coordinates in m"));
    for (const char* bad : {"nan", "inf", "1e400", "1e31", "0x1", "1e"})
        EXPECT_TRUE(has(told(in_plane, std::string("x,y\n1,") + bad), std::string("y is ") + bad)) << bad;
    EXPECT_TRUE(has(told(in_plane, "x,y,size\n1,2,0\n"), "size is 0; give a positive factor"));
    EXPECT_TRUE(has(told(in_space, "x,y,z,qw\n1,2,3,0\n"), "its quaternion has the length 0"));
    EXPECT_TRUE(has(faults(in_plane), "grains.csv"));  // is not there
    EXPECT_TRUE(has(faults("dimension = 2\n[[table]]\nshape = { type = \"disk\", radius = 1 }\n"),
                    "table[0].file: is missing; give the name of a table"));
}

}  // namespace
}  // namespace drystone::testing
