// The springs that contacts get in the elastic limit: those that are known, and those of pairs of which nothing is
// known.
#include "drystone/contact/elasticity.hpp"

#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_elasticity {
namespace {

constexpr double radius = 0.1, tangential = 2 * (1 - 0.3) / (2 - 0.3);

/// Balls 0 and 1 of the material `soft`, 2 and 3 of one that is rigid; pairs of both are rigid.
Scene<3> two_materials(const Material& soft, double stiffness) {
    Scene<3> scene;
    PairLaw law;
    scene.materials.add(soft, law);
    scene.materials.add({"rigid", 2500}, law);
    law.stiffness = stiffness;
    scene.materials.set(0, 0, law);
    BodyPlan<3> ball;
    ball.shape = scene.add_shape(Ball<3>{radius});
    for (const Index material : {0, 0, 1, 1}) {
        ball.material = material;
        scene.add_body(ball);
    }
    return scene;
}

/// Springs of contacts between these bodies, all with friction, and of one joint.
Elasticity springs(const Scene<3>& scene, const std::vector<std::pair<Index, Index>>& pairs) {
    ContactSet<3> contacts;
    ConeProblem problem;
    for (const auto& [a, b] : pairs) {
        Contact<3> contact;
        contact.a = a;
        contact.b = b;
        contacts.push_back(contact);
        problem.add_block(Cone::second_order(3, 0.5));
    }
    problem.add_block(Cone::free(2));
    return elasticity_of(scene, contacts, problem);
}

void expect_rows(const Elasticity& e, const std::vector<double>& expected) {
    ASSERT_EQ(e.compliance.size(), static_cast<Eigen::Index>(expected.size()));
    for (std::size_t c = 0; c < expected.size(); ++c)
        EXPECT_NEAR(e.compliance[static_cast<Eigen::Index>(c)] / expected[c], 1, 1e-14) << "row " << c;
}

TEST(Elasticity, ContactsOfRigidPairsAreStiffBesideSprings) {
    const double k = 4e5, stiff = 1000 * k;
    const Elasticity e = springs(two_materials({"soft", 2500}, k), {{0, 1}, {2, 3}, {0, 1}});
    EXPECT_FALSE(e.hertz);
    const double t = 1 / tangential;
    expect_rows(
        e, {1 / k, t / k, t / k, 1 / stiff, t / stiff, t / stiff, 1 / k, t / k, t / k, 1 / stiff, 1 / stiff});
}

TEST(Elasticity, RigidPairsBesideHertzAreHertzToo) {
    const double young = 2e9, modulus = young / (2 * (1 - 0.09)),
                 k = 4.0 / 3 * modulus * std::sqrt(radius / 2);
    const Elasticity e = springs(two_materials({"soft", 2500, young, 0.3}, 0), {{2, 3}, {0, 1}});
    EXPECT_TRUE(e.hertz);
    const double t = 1 / tangential;
    expect_rows(e, {1 / (1000 * k), t, t, 1 / k, t, t, 1 / (1000 * k), 1 / (1000 * k)});
}

TEST(Elasticity, WithoutAnySpringAllContactsAreAlike) {
    const Elasticity e = springs(two_materials({"soft", 2500}, 0), {{0, 1}, {2, 3}});
    EXPECT_FALSE(e.hertz);
    const double t = 1 / tangential;
    expect_rows(e, {1, t, t, 1, t, t, 1e-3, 1e-3});
}

}  // namespace
}  // namespace drystone::testing_elasticity
