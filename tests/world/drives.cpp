// Bodies that are driven, walls under a force, cells that are sheared or pressed, gravity that turns: against closed
// forms.
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_drives {
namespace {

using sample::g;

StepOptions options(double h, double tolerance = 1e-10) { return sample::options(h, tolerance); }

template <int d>
Index add_ball(Scene<d>& scene, double radius, const Vec<d>& at, Motion motion = Motion::free) {
    BodyPlan<d> ball;
    ball.shape = scene.add_shape(Ball<d>{1});
    ball.size = radius;
    ball.motion = motion;
    ball.pose.position = at;
    return scene.add_body(ball);
}

TEST(Drive, ASwingGoesAsFarAsItShouldAndComesBack) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    add_ball<3>(scene, 0.1, Vec<3>::Zero(), Motion::held);
    Drive<3> drive;
    drive.swing = {0, 0, 2};
    drive.frequency = 0.5;
    scene.drives.push_back(drive);
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-3), 0.5}, memory);
    EXPECT_NEAR(scene.bodies.position[0][2], 2 / std::numbers::pi, 1e-6);  // second order in the step
    simulate<3>(scene, {options(1e-3), 2}, memory);
    EXPECT_NEAR(scene.bodies.position[0].norm(), 0, 1e-12);
}

TEST(Drive, FactorsInTimeAreFollowed) {
    Scene<2> scene = sample::empty_scene<2>(0.5);
    add_ball<2>(scene, 0.1, Vec<2>::Zero(), Motion::held);
    Drive<2> drive;
    drive.velocity = {3, 0};
    drive.times = {0, 1, 2};
    drive.factors = {0, 1, 0};
    scene.drives.push_back(drive);
    StepMemory<2> memory;
    simulate<2>(scene, {options(1e-2), 3}, memory);
    EXPECT_NEAR(scene.bodies.position[0][0], 3, 1e-12);  // the area under the hat is 1 s
    EXPECT_EQ(scene.bodies.velocity[0][0], 0);
}

TEST(Drive, ABodyThatTurnsAboutAPivotStaysOnItsCircle) {
    Scene<2> scene = sample::empty_scene<2>(0.5);
    add_ball<2>(scene, 0.1, {1, 0}, Motion::held);
    Drive<2> drive;
    drive.spin[0] = 2 * std::numbers::pi;
    drive.pivot = Vec<2>(0.25, 0);
    scene.drives.push_back(drive);
    StepMemory<2> memory;
    simulate<2>(scene, {options(0.01), 20.25}, memory);
    EXPECT_NEAR(scene.bodies.position[0][0], 0.25, 1e-11);
    EXPECT_NEAR(scene.bodies.position[0][1], 0.75, 1e-11);
    EXPECT_NEAR(scene.bodies.rotation[0].angle, 40.5 * std::numbers::pi, 1e-9);
}

TEST(Drive, ABeltCarriesWhatLiesOnIt) {
    const double mu = 0.3, belt = 1.5, h = 1e-3;
    Scene<3> scene = sample::empty_scene<3>(mu);
    scene.gravity = {0, 0, -g};
    sample::add_wall<3>(scene, Vec<3>::Zero(), Vec<3>::UnitZ());
    BodyPlan<3> block;
    block.shape = scene.add_shape(make_box({0.4, 0.4, 0.02}));
    block.pose.position = {0, 0, 0.02};
    scene.add_body(block);
    Drive<3> drive;
    drive.belt = {belt, 0, 0};
    scene.drives.push_back(drive);
    StepMemory<3> memory;
    simulate<3>(scene, {options(h), 0.3}, memory);
    EXPECT_NEAR(scene.bodies.velocity[1][0], mu * g * 0.3, 1e-6);
    simulate<3>(scene, {options(h), 1}, memory);
    EXPECT_NEAR(scene.bodies.velocity[1][0], belt, 1e-8);
    EXPECT_EQ(scene.bodies.position[0].norm(), 0);  // the belt itself stays
}

/// A ball on the floor under a guided ceiling.
Scene<3> press(double force, double mass, double gap) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    scene.gravity = {0, 0, -g};
    sample::add_wall<3>(scene, Vec<3>::Zero(), Vec<3>::UnitZ());
    add_ball<3>(scene, 0.1, {0, 0, 0.1});
    const Index top = sample::add_wall<3>(scene, {0, 0, 0.2 + gap}, -Vec<3>::UnitZ());
    scene.bodies.motion[top] = Motion::guided;
    Drive<3> drive;
    drive.body = scene.bodies.id[top];
    drive.guide = Guide<3>{{0, 0, -1}, mass, force, 0};
    scene.drives.push_back(drive);
    return scene;
}

TEST(Guide, FallsFreelyAsItsForceSays) {
    const double h = 1e-3;
    Scene<3> scene = press(20, 4, 100);
    StepMemory<3> memory;
    simulate<3>(scene, {options(h), 1}, memory);
    EXPECT_NEAR(scene.bodies.velocity[2][2], -5, 1e-10);
    EXPECT_NEAR(scene.bodies.position[2][2], 100.2 - 2.5 * (1 + h), 1e-9);  // implicit Euler
}

TEST(Guide, KeepsItsForceOnWhatItPresses) {
    const double h = 1e-3, force = 50;
    Scene<3> scene = press(force, 4, 0.01);
    StepMemory<3> memory;
    simulate<3>(scene, {options(h), 1}, memory);
    EXPECT_NEAR(scene.bodies.position[2][2], 0.2, 1e-9);
    double floor = 0, top = 0;
    for (std::size_t i = 0; i < memory.contacts.size(); ++i) {
        const Vec<3> f =
            impulse_of(memory.assembled, memory.solution.r, memory.contacts[i], static_cast<Index>(i)) / h;
        (memory.contacts[i].a == 0 ? floor : top) += std::abs(f[2]);
    }
    EXPECT_NEAR(top, force, 1e-7 * force);
    EXPECT_NEAR(floor, force + g * scene.bodies.mass[1], 1e-7 * force);
}

TEST(Gravity, TurnsInTime) {
    Scene<2> scene = sample::empty_scene<2>(0.5);
    add_ball<2>(scene, 0.1, {0, 100});
    GravityTurn<2> turn;
    turn.start = {0, -g};
    turn.rate = std::numbers::pi / 2;
    turn.begin = 1;
    turn.limit = std::numbers::pi / 2;
    scene.gravity_turn = turn;
    StepMemory<2> memory;
    simulate<2>(scene, {options(1e-3), 3}, memory);
    EXPECT_NEAR(scene.gravity[0], g, 1e-12);
    EXPECT_NEAR(scene.gravity[1], 0, 1e-12);
    // Integral of g (sin a, -cos a): down for 1 s, a quarter circle of 1 s, 1 s to the side.
    const double arc = 2 / std::numbers::pi * g;
    EXPECT_NEAR(scene.bodies.velocity[0][0], arc + g, 1e-5);
    EXPECT_NEAR(scene.bodies.velocity[0][1], -g - arc, 1e-5);
}

TEST(Cell, FreeFlightThroughAShearedCellIsStraight) {
    Scene<2> scene = sample::empty_scene<2>(0.5);
    scene.domain.period = {1, 1};
    scene.domain.shear_rate = 0.7;
    add_ball<2>(scene, 0.01, {0.2, 0.3});
    scene.bodies.velocity[0] = {0.31, 1.7};
    StepMemory<2> memory;
    simulate<2>(scene, {options(1e-3), 5}, memory);
    EXPECT_EQ(scene.bodies.image[0][1], 8);
    // As seen from the cell it started in; a side is crossed at the end of the step, at which its tilt is known.
    const Vec<2> expected(0.2 + 5 * 0.31, 0.3 + 5 * 1.7);
    EXPECT_LT((scene.unwrapped(0) - expected).norm(), 1e-10);
    EXPECT_NEAR(scene.bodies.velocity[0][0], 0.31 - 8 * 0.7, 1e-12);
}

TEST(Cell, PairsOfATiltedCellAreThoseOfAnEndlessLattice) {
    for (const double tilt : {0.0, 0.3, -0.45, 1.7, 12.9}) {
        Scene<3> scene = sample::empty_scene<3>(0.5);
        scene.domain.period = {1, 1.1, 0.9};
        scene.domain.lower = {-0.3, 0.1, 0};
        scene.domain.tilt = tilt;
        for (int i = 0; i < 60; ++i)
            add_ball<3>(scene, 0.1, {sample::noise(i, 0), sample::noise(i, 1), sample::noise(i, 2)});
        std::size_t expected = 0;
        const int far = 3 + static_cast<int>(std::abs(tilt));
        for (Index a = 0; a < 60; ++a)
            for (Index b = a + 1; b < 60; ++b)
                for (int x = -far; x <= far; ++x)
                    for (int y = -1; y <= 1; ++y)
                        for (int z = -1; z <= 1; ++z) {
                            const Vec<3> apart = scene.bodies.position[a] - scene.bodies.position[b] -
                                                 scene.domain.translation({x, y, z});
                            if (apart.norm() < 0.2) ++expected;
                        }
        Neighbours<3> neighbours;
        ContactSet<3> contacts;
        const std::vector<double> reach(60, 0.0);
        detect<3>(scene, reach, {}, neighbours, contacts);
        EXPECT_EQ(contacts.size(), expected) << "tilt " << tilt;
        EXPECT_GT(expected, 50U);
        for (const Contact<3>& c : contacts) {
            const Vec<3> b = scene.bodies.position[c.b] + scene.domain.translation(periods_between(scene, c));
            EXPECT_NEAR((scene.bodies.position[c.a] - b).norm(), 0.2 + c.gap, 1e-12);
        }
    }
}

TEST(Cell, OneGrainUnderPressureTouchesItsOwnImages) {
    const double radius = 0.1, p = 300, h = 1e-3;
    Scene<3> scene = sample::empty_scene<3>(0.5);
    scene.domain.period = {0.3, 0.26, 0.24};
    scene.cell.stress = {p, p, 2 * p};
    add_ball<3>(scene, radius, {0.1, 0.1, 0.1});
    StepMemory<3> memory;
    const RunSummary run = simulate<3>(scene, {options(h), 2}, memory);
    EXPECT_EQ(run.unsolved, 0);
    for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(scene.domain.period[k], 2 * radius, 1e-9);
        EXPECT_NEAR(scene.domain.rate[k], 0, 1e-9);
    }
    // Three contacts, each with the stress times the face across.
    ASSERT_EQ(memory.contacts.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        const Vec<3> f =
            impulse_of(memory.assembled, memory.solution.r, memory.contacts[i], static_cast<Index>(i)) / h;
        const double stress = std::abs(memory.contacts[i].normal[2]) > 0.5 ? 2 * p : p;
        EXPECT_NEAR(f.norm(), stress * 4 * radius * radius, 1e-6 * p * radius * radius);
    }
}

TEST(Cell, AShrinkingCellPressesAtTheGivenRate) {
    // Two balls in a row fill half of the cell; it shrinks by 1 % a second along x, and they are pushed together across
    // its side.
    Scene<3> scene = sample::empty_scene<3>(0);
    scene.domain.period = {0.5, 1, 1};
    scene.domain.rate = {-0.1, 0, 0};
    add_ball<3>(scene, 0.1, {0.1, 0.5, 0.5});
    add_ball<3>(scene, 0.1, {0.35, 0.5, 0.5});
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-3), 2}, memory);
    EXPECT_NEAR(scene.domain.period[0], 0.5 * std::exp(-0.2), 1e-4);
    EXPECT_NEAR(scene.domain.period[0], 0.5 * std::pow(1 - 1e-4, 2000), 1e-12);
    for (const Contact<3>& c : memory.contacts) EXPECT_GT(c.gap, -1e-9);
}

}  // namespace
}  // namespace drystone::testing_drives
