#include "drystone/bodies/materials.hpp"

#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace drystone {
namespace {

using testing::message_of;

TEST(Materials, LawsOfPairsAreMixedFromThoseOfEachWithItself) {
    Materials materials;
    const Index sand = materials.add({"sand", 2600}, {.friction = 0.5, .cohesion = 2, .stiffness = 1e6});
    const Index steel = materials.add({"steel", 7800}, {.friction = 0.2, .restitution = 0.3, .cohesion = 1});
    const Index rubber =
        materials.add({"rubber", 1200}, {.friction = 0.9, .restitution = 0.1, .stiffness = 1e4});
    EXPECT_EQ(materials.count(), 3);
    EXPECT_EQ(materials[steel].density, 7800);
    EXPECT_EQ(materials.law(sand, sand).friction, 0.5);
    EXPECT_EQ(materials.law(rubber, rubber).friction, 0.9);
    const struct {
        Index a, b;
        double friction, restitution, cohesion, stiffness;
    } pairs[] = {{sand, steel, 0.2, 0, 1, 2e6},
                 {sand, rubber, 0.5, 0, 0, 2 / (1e-6 + 1e-4)},
                 {steel, rubber, 0.2, 0.1, 0, 2e4}};
    for (const auto& pair : pairs) {
        for (const PairLaw& law : {materials.law(pair.a, pair.b), materials.law(pair.b, pair.a)}) {
            EXPECT_EQ(law.friction, pair.friction);
            EXPECT_EQ(law.restitution, pair.restitution);
            EXPECT_EQ(law.cohesion, pair.cohesion);
            EXPECT_NEAR(law.stiffness, pair.stiffness, 1e-9 * pair.stiffness);
        }
    }
}

TEST(Materials, SetIsSymmetricAndTouchesOnePair) {
    Materials materials;
    for (const char* name : {"a", "b", "c"}) materials.add({name, 1000}, {0.5, 0, 0});
    materials.set(2, 0, {0.1, 0.5, 3});
    for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 3; ++j) {
            const bool set = (i == 0 && j == 2) || (i == 2 && j == 0);
            EXPECT_EQ(materials.law(i, j).friction, set ? 0.1 : 0.5);
            EXPECT_EQ(materials.law(i, j).cohesion, set ? 3 : 0);
        }
    // A set pair survives the growth of the table.
    materials.add({"d", 1000}, {0.7, 0, 0});
    EXPECT_EQ(materials.law(0, 2).friction, 0.1);
    EXPECT_EQ(materials.law(0, 1).friction, 0.5);
}

TEST(Materials, AreFoundByName) {
    Materials materials;
    materials.add({"sand", 2600}, {});
    materials.add({"steel", 7800}, {});
    EXPECT_EQ(materials.find("steel"), 1);
    EXPECT_EQ(materials.find("glass"), -1);
}

TEST(Materials, ErrorsNameTheField) {
    Materials materials;
    materials.add({"sand", 2600}, {});
    const auto add = [&](Material material, PairLaw law) {
        return message_of([&] { materials.add(material, law); });
    };
    EXPECT_NE(add({"x", 0}, {}).find("material \"x\".density: 0"), std::string::npos);
    EXPECT_NE(add({"x", std::nan("")}, {}).find(".density"), std::string::npos);
    EXPECT_NE(add({"x", 1}, {-0.1, 0, 0}).find(".friction: -0.1"), std::string::npos);
    EXPECT_NE(add({"x", 1}, {0.5, 1.5, 0}).find(".restitution: 1.5"), std::string::npos);
    EXPECT_NE(add({"x", 1}, {0.5, 0, -1}).find(".cohesion: -1"), std::string::npos);
    EXPECT_NE(add({"sand", 1}, {}).find("already"), std::string::npos);
    EXPECT_NE(message_of([&] { materials.set(0, 1, {}); }).find("no material number 1"), std::string::npos);
    EXPECT_NE(message_of([&] {
                  materials.set(0, 0, {INFINITY, 0, 0});
              }).find("materials \"sand\" and \"sand\".friction"),
              std::string::npos);
    EXPECT_EQ(materials.count(), 1) << "a refused material leaves nothing behind";
    EXPECT_EQ(materials.law(0, 0).friction, PairLaw{}.friction);
}

}  // namespace
}  // namespace drystone
