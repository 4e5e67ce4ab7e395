// Drums, hoppers and rings in scene files.

#include "drystone/grains/motion.hpp"
#include "scenes/text.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace drystone::testing {
namespace {

TEST(SceneVessels, DrumAndHopperAreMeshes) {
    const auto plan = read<3>(R"(
        dimension = 3
        [[body]]
        shape = { type = "drum", radius = 1, length = 2, segments = 10, lifters = { count = 5, height = 0.1 } }
        position = [0, 0, 0]
        held = true
        [[body]]
        shape = { type = "hopper", radius = 1, outlet = 0.2, height = 1, rise = 0.5, form = "pyramid" }
        position = [0, 0, 5]
        held = true
    )");
    ASSERT_EQ(plan.world.scene.shapes.size(), 2U);
    // Around each of five ridges: two corners at the top, and three at the wall on the way to the next.
    EXPECT_EQ(std::get<TriangleMesh>(plan.world.scene.shapes[0]).vertices.size(), 2U * 5 * 5 + 2);
    EXPECT_EQ(std::get<TriangleMesh>(plan.world.scene.shapes[1]).triangles.size(), 2U * 2 * 4);
}

TEST(SceneVessels, FaultsAreTold) {
    const std::string head = "dimension = 3\n[[body]]\nposition = [0, 0, 0]\nheld = true\n";
    EXPECT_EQ(faults(head + "shape = { type = \"drum\", radius = 1 }"),
              "scene.toml:5: body[0].shape.length: is missing; give a positive length in m");
    EXPECT_EQ(
        faults(head +
               "shape = { type = \"drum\", radius = 1, length = 1, lifters = { count = 2, height = 2 } }"),
        "scene.toml:5: body[0].shape: lifters: reach the middle of the drum; give a height below its radius");
    EXPECT_EQ(faults(head + "shape = { type = \"hopper\", radius = 1, outlet = 1, height = 1 }"),
              "scene.toml:5: body[0].shape: outlet: is as wide as the top; give less than the radius");
    EXPECT_EQ(faults(head + "shape = { type = \"hoper\", radius = 1 }"),
              "scene.toml:5: body[0].shape.type: \"hoper\"; did you mean 'hopper'?");
    EXPECT_EQ(faults("dimension = 3\n[[ring]]\nradius = 1"),
              "scene.toml:2: ring: there is no such field; it belongs to 2D");
    EXPECT_EQ(faults("dimension = 2\n[[ring]]\ncentre = [0, 0]"),
              "scene.toml:2: ring[0].radius: is missing; give a positive length in m");
}

TEST(SceneVessels, RingIsClosedAndTurnsAsOne) {
    auto plan = read<2>(R"(
        dimension = 2
        [[ring]]
        centre = [3, 4]
        radius = 2
        thickness = 0.5
        segments = 12
        spin = 0.7
    )");
    Scene<2>& scene = plan.world.scene;
    ASSERT_EQ(scene.bodies.count(), 12);
    const Vec<2> centre(3, 4);
    const auto corners = [&](Index i) {
        std::vector<Vec<2>> found;
        for (const Vec<2>& x : std::get<Polygon>(scene.shape_of(i)).vertices)
            found.push_back(scene.bodies.position[i] + matrix(scene.bodies.rotation[i]) * x - centre);
        return found;
    };
    const auto check = [&] {
        for (Index i = 0; i < 12; ++i) {
            int inner = 0, shared = 0;
            for (const Vec<2>& x : corners(i)) {
                inner += std::abs(x.norm() - 2) < 1e-12 ? 1 : 0;
                EXPECT_TRUE(std::abs(x.norm() - 2) < 1e-12 || std::abs(x.norm() - 2.5) < 1e-12) << x.norm();
                for (const Vec<2>& y : corners((i + 1) % 12)) shared += (x - y).norm() < 1e-12 ? 1 : 0;
            }
            EXPECT_EQ(inner, 2);
            EXPECT_EQ(shared, 2);
            EXPECT_FALSE(scene.bodies.is_free(i));
        }
    };
    check();
    ASSERT_EQ(scene.drives.size(), 12U);
    // However long the step, it stays a ring.
    constexpr double h = 0.5;
    drive(scene, h);
    for (Index i = 0; i < 12; ++i) {
        scene.bodies.position[i] += h * scene.bodies.velocity[i];
        scene.bodies.rotation[i].angle += h * scene.bodies.spin[i][0];
    }
    check();
    const Vec<2> first = scene.bodies.position[0] - centre;
    EXPECT_NEAR(std::atan2(first[1], first[0]), 0.35, 1e-14);
}

}  // namespace
}  // namespace drystone::testing
