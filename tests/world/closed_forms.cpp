// The step against closed forms: sliding and resting on slopes, impact, restitution, the relaxed law's dilatation,
// crushing, free rotation, cohesion. Numbers in brackets are items of the validation list in the thesis of G. Daviet
// (2016).
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone::testing_closed_forms {
namespace {

using sample::degree;

using sample::g;

StepOptions options(double h, double tolerance = 1e-10) { return sample::options(h, tolerance); }

/// A box that cannot roll, on a slope: resting on it, sides along the slope.
Scene<2> block_on_slope(double slope, double mu) {
    Scene<2> scene = sample::empty_scene<2>(mu);
    scene.gravity = {0, -g};
    const Vec<2> normal(std::sin(slope), std::cos(slope));
    sample::add_wall<2>(scene, Vec<2>::Zero(), normal);
    BodyPlan<2> block;
    block.shape = scene.add_shape(make_rectangle({0.4, 0.1}));
    block.pose.position = 0.1 * normal;
    block.pose.rotation.angle = -slope;
    scene.add_body(block);
    return scene;
}

TEST(Slope, BlockRestsIfTheSlopeIsBelowTheAngleOfFriction) {  // [1]
    const double mu = 0.5, critical = std::atan(mu);
    Scene<2> scene = block_on_slope(critical - 0.01, mu);
    const Vec<2> start = scene.bodies.position[1];
    StepMemory<2> memory;
    const RunSummary run = simulate<2>(scene, {options(1e-2), 2}, memory);
    EXPECT_EQ(run.unsolved, 0);
    // No creep: what is left is the solver's tolerance times the free velocity times 2 s.
    EXPECT_LT((scene.bodies.position[1] - start).norm(), 1e-9);
}

TEST(Slope, BlockSlidesWithTheRightAcceleration) {  // [1]
    const double mu = 0.5, slope = std::atan(mu) + 0.1, h = 1e-2;
    Scene<2> scene = block_on_slope(slope, mu);
    StepMemory<2> memory;
    simulate<2>(scene, {options(h), 2}, memory);
    const Vec<2> down(std::cos(slope), -std::sin(slope));
    const double a = g * (std::sin(slope) - mu * std::cos(slope));
    EXPECT_NEAR(scene.bodies.velocity[1].dot(down), 2 * a, 1e-8);
    // The scheme adds h/2 times the velocity to the way.
    const Vec<2> start = block_on_slope(slope, mu).bodies.position[1];
    EXPECT_NEAR((scene.bodies.position[1] - start).dot(down), 2 * a + h * a, 1e-7);
    EXPECT_NEAR(scene.bodies.spin[1][0], 0, 1e-9);
}

TEST(Slope, StoppingDistanceOnFlatGround) {  // [1]
    const double mu = 0.3, v0 = 2, h = 1e-3;
    Scene<2> scene = block_on_slope(0, mu);
    scene.bodies.velocity[1] = {v0, 0};
    StepMemory<2> memory;
    simulate<2>(scene, {options(h), 1.5}, memory);
    // Order h: positions are those of an implicit rule.
    EXPECT_NEAR(scene.bodies.position[1][0], v0 * v0 / (2 * mu * g), v0 * h);
    EXPECT_LT(scene.bodies.velocity[1].norm(), 1e-9);
}

Scene<3> ball_above_floor(double height, double mu, double restitution = 0) {
    Scene<3> scene = sample::empty_scene<3>(mu, restitution);
    scene.gravity = {0, 0, -g};
    sample::add_wall<3>(scene, Vec<3>::Zero(), Vec<3>::UnitZ());
    BodyPlan<3> ball;
    ball.shape = scene.add_shape(Ball<3>{0.1});
    ball.pose.position = {0, 0, 0.1 + height};
    scene.add_body(ball);
    return scene;
}

TEST(Impact, InelasticDropEndsAtRestWithoutReboundOrOverlap) {  // [2]
    Scene<3> scene = ball_above_floor(0.3, 0.5);
    StepMemory<3> memory;
    double highest_up = 0;
    const RunSummary run = simulate<3>(scene, {options(3.7e-3), 1}, memory,
                                       [&](const Scene<3>& s, const StepMemory<3>&, const StepRecord&) {
                                           highest_up = std::max(highest_up, s.bodies.velocity[1][2]);
                                           return true;
                                       });
    EXPECT_LT(highest_up, 1e-10);
    EXPECT_LT(run.worst_overlap, 1e-12);
    EXPECT_NEAR(scene.bodies.position[1][2], 0.1, 1e-10);
    EXPECT_NEAR(scene.bodies.velocity[1][2], 0, 1e-9);
}

TEST(Impact, AnyWeightBelowOneRebounds) {  // [2]
    Scene<3> scene = ball_above_floor(0.3, 0.5);
    StepOptions o = options(3.7e-3);
    o.theta = 0.6;
    StepMemory<3> memory;
    double highest_up = 0;
    simulate<3>(scene, {o, 1}, memory, [&](const Scene<3>& s, const StepMemory<3>&, const StepRecord&) {
        highest_up = std::max(highest_up, s.bodies.velocity[1][2]);
        return true;
    });
    EXPECT_GT(highest_up, 0.1);
}

TEST(Impact, RestitutionOfABouncingBall) {
    for (const double e : {0.3, 0.8, 1.0}) {
        Scene<3> scene = ball_above_floor(0.5, 0.5, e);
        StepOptions o = options(1e-4);
        o.scheme = Scheme::moreau_jean;
        StepMemory<3> memory;
        std::vector<double> peaks;
        double last = 1, top = 0.5;
        simulate<3>(scene, {o, 2}, memory, [&](const Scene<3>& s, const StepMemory<3>&, const StepRecord&) {
            const double v = s.bodies.velocity[1][2], z = s.bodies.position[1][2] - 0.1;
            if (last > 0 && v <= 0) peaks.push_back(z);
            last = v;
            top = z;
            return peaks.size() < 4;
        });
        // Heights fall as e^2. The impact is seen up to half a step late, each time: an error of v h in the height.
        ASSERT_GE(peaks.size(), 2U);
        double expected = 0.5;
        for (std::size_t k = 1; k < std::min<std::size_t>(peaks.size(), 4); ++k) {
            expected *= e * e;
            if (expected < 0.01) break;
            EXPECT_NEAR(peaks[k], expected, 5e-4 * k) << "restitution " << e << ", bounce " << k;
        }
    }
}

TEST(Law, RelaxedLawLiftsASlidingBodyExactCoulombDoesNot) {  // [11]
    const double mu = 0.4, h = 1e-3;
    for (const Law law : {Law::associated, Law::coulomb}) {
        Scene<2> scene = block_on_slope(0, mu);
        scene.bodies.velocity[1] = {1, 0};
        StepOptions o = options(h);
        o.solve.law = law;
        StepMemory<2> memory;
        const StepRecord record = step(scene, o, memory);
        EXPECT_EQ(record.solve.status, Status::solved);
        const Vec<2> v = scene.bodies.velocity[1];
        EXPECT_GT(v[0], 0.8);
        EXPECT_NEAR(v[1], law == Law::associated ? mu * v[0] : 0.0, 1e-8);
    }
}

TEST(Law, CrushedBodyIsReportedNotSolved) {  // [12]
    Scene<2> scene = sample::empty_scene<2>(0.3);
    const Index left = sample::add_wall<2>(scene, {-0.1, 0}, {1, 0}),
                right = sample::add_wall<2>(scene, {0.1, 0}, {-1, 0});
    scene.bodies.velocity[left] = {1, 0};
    scene.bodies.velocity[right] = {-1, 0};
    BodyPlan<2> disk;
    disk.shape = scene.add_shape(Ball<2>{0.1});
    scene.add_body(disk);
    StepMemory<2> memory;
    const StepRecord record = step(scene, options(1e-3), memory);
    EXPECT_EQ(record.solve.status, Status::infeasible)
        << name_of(record.solve.status) << ": " << record.solve.message;
    EXPECT_GT(record.solve.residual.value, 1e-3);
}

TEST(Law, CrushedGrainsDoNotExplode) {
    // A held lid presses balls against the floor until nothing can give way: steps are reported as not solved, and
    // nothing flies off.
    Scene<3> scene = sample::empty_scene<3>(0.3);
    scene.gravity = {0, 0, -g};
    sample::add_box<3>(scene, 0.3);
    sample::add_balls<3>(scene, 3, 0.3);
    const Index lid = sample::add_wall<3>(scene, {0, 0, 0.31}, -Vec<3>::UnitZ());
    scene.bodies.velocity[lid] = {0, 0, -0.5};
    StepOptions o = options(2e-3, 1e-4);
    StepMemory<3> memory;
    // Where grains were at each of the last steps: one that is squeezed out of a wedge is fast for a single step, one
    // that flies off for many.
    constexpr std::size_t window = 5;
    std::vector<std::vector<Vec<3>>> places = {scene.bodies.position};
    double fastest = 0, farthest = 0;
    const RunSummary run = simulate<3>(
        scene, {o, 0.25}, memory, [&](const Scene<3>& s, const StepMemory<3>&, const StepRecord& record) {
            places.push_back(s.bodies.position);
            if (places.size() > window + 1) places.erase(places.begin());
            const double time = record.h * static_cast<double>(places.size() - 1);
            for (Index i = 0; i < s.bodies.count(); ++i) {
                if (!s.bodies.is_free(i)) continue;
                fastest = std::max(fastest, (places.back()[i] - places.front()[i]).norm() / time);
                farthest = std::max(farthest,
                                    (s.bodies.position[i] - Vec<3>(0.15, 0.15, 0.15)).cwiseAbs().maxCoeff());
            }
            return true;
        });
    EXPECT_LT(farthest, 0.3);  // the box is 0.15 from its middle to its sides
    EXPECT_GT(run.unsolved, 0);
    EXPECT_LT(fastest, 20);
}

/// A torque-free brick that turns about no principal axis.
Scene<3> tumbling_brick() {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    BodyPlan<3> brick;
    brick.shape = scene.add_shape(make_box({0.1, 0.2, 0.4}));
    brick.spin = {1, 2, 0.5};
    brick.pose.rotation = turn({}, Spin<3>(0.3, -0.2, 0.9));
    scene.add_body(brick);
    return scene;
}

/// A rod that spins freely, at 300 rad/s, and a ball at rest in its plane, a distance `way` of the rod's turn ahead of
/// it.
Scene<3> rod_and_ball(double way) {
    Scene<3> scene = sample::empty_scene<3>(0);
    BodyPlan<3> rod;
    rod.shape = scene.add_shape(Capsule{0.02, 0.5});
    rod.pose.rotation.q =
        Eigen::Quaterniond::FromTwoVectors(Vec<3>(Vec<3>::UnitZ()), Vec<3>(Vec<3>::UnitX()));
    rod.spin = {0, 0, 300};
    scene.add_body(rod);
    BodyPlan<3> ball;
    ball.shape = scene.add_shape(Ball<3>{0.03});
    ball.pose.position = {0.45 * std::cos(way), 0.45 * std::sin(way), 0};
    scene.add_body(ball);
    return scene;
}

TEST(Rotation, NoBallIsJumpedOverByARodThatSpins) {
    // In a step of 1 ms the rod turns by 0.3 rad, 0.135 m where the ball is: more than its thickness and the ball's
    // diameter together.
    const double h = 1e-3;
    for (int k = 0; k < 40; ++k) {
        const double way = 0.25 + 0.05 * k;
        Scene<3> scene = rod_and_ball(way);
        const double L = momentum_of(scene).angular.norm();
        StepMemory<3> memory;
        bool hit = false;
        const RunSummary run = simulate<3>(scene, {options(h), (way + 0.6) / 300}, memory,
                                           [&](const Scene<3>& s, const StepMemory<3>&, const StepRecord&) {
                                               hit = hit || s.bodies.velocity[1].norm() > 0;
                                               return true;
                                           });
        EXPECT_TRUE(hit) << way;
        EXPECT_EQ(run.unsolved, 0);
        // What the step leaves out, 0.45 m (h 300/s)^2 / 2, is a radius of the rod; overlaps of that kind are told.
        EXPECT_LT(run.worst_relative_overlap, 1) << way;
        EXPECT_TRUE(run.jumps > 0 || run.worst_relative_overlap < 0.1) << way;
        EXPECT_NEAR(momentum_of(scene).angular.norm() / L, 1, 1e-9) << way;
    }
}

TEST(Rotation, TorqueFreeBodyKeepsMomentumAndEnergyAndIsOfSecondOrder) {  // [14]
    const auto turned = [](double h) {
        Scene<3> scene = tumbling_brick();
        const Vec<3> L = momentum_of(scene).angular;
        const double E = energy_of(scene).kinetic;
        StepMemory<3> memory;
        simulate<3>(scene, {options(h), 20}, memory,
                    [&](const Scene<3>& s, const StepMemory<3>&, const StepRecord& record) {
                        // Rounding alone: a few ulps a step.
                        const double rounding = 1e-15 * (s.time / h + 10);
                        EXPECT_NEAR(record.energy.kinetic / E, 1, rounding);
                        EXPECT_NEAR((momentum_of(s).angular - L).norm() / L.norm(), 0, rounding);
                        EXPECT_EQ(record.work.scheme, 0);  // nothing is hidden there
                        return true;
                    });
        return scene.bodies.rotation[0].q;
    };
    const auto reference = turned(2.5e-4);
    std::vector<double> error;
    for (const double h : {1.6e-2, 8e-3, 4e-3}) error.push_back(turned(h).angularDistance(reference));
    EXPECT_LT(error.back(), 1e-4);
    EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.1);
    EXPECT_NEAR(std::log2(error[1] / error[2]), 2, 0.1);
}

// A brick near its unstable axis, a needle, a plate: fast, for long.
TEST(Rotation, FastSpinKeepsItsEnergy) {
    for (const Vec<3>& sides : {Vec<3>(0.3, 0.1, 0.05), Vec<3>(1, 0.01, 0.02), Vec<3>(0.5, 0.4, 0.01)}) {
        for (const double rate : {100.0, 3000.0}) {
            Scene<3> scene = sample::empty_scene<3>(0.5);
            BodyPlan<3> plan;
            plan.shape = scene.add_shape(make_box(sides));
            plan.spin = rate * Vec<3>(1, 1, 1);
            scene.add_body(plan);
            const Vec<3> L = momentum_of(scene).angular;
            const double E = energy_of(scene).kinetic;
            StepMemory<3> memory;
            simulate<3>(scene, {options(1e-3), 2}, memory);
            EXPECT_NEAR(energy_of(scene).kinetic / E, 1, 1e-9) << sides.transpose() << ", " << rate;
            EXPECT_NEAR((momentum_of(scene).angular - L).norm() / L.norm(), 0, 1e-11);
        }
    }
}

TEST(Rotation, FixedAxisIsExact) {  // [14]
    Scene<3> scene = tumbling_brick();
    scene.bodies.rotation[0] = {};
    scene.bodies.spin[0] = {0, 0, 3};
    StepMemory<3> memory;
    simulate<3>(scene, {options(0.1), 10}, memory);
    const Mat<3> expected = matrix(turn(Rotation<3>{}, Spin<3>(0, 0, 30)));
    EXPECT_LT((matrix(scene.bodies.rotation[0]) - expected).norm(), 1e-12);
}

TEST(Cohesion, HoldsABallBelowThePullAndLetsGoAboveIt) {
    for (const double strength : {0.9, 1.1}) {
        Scene<3> scene = ball_above_floor(0, 0.5);
        scene.gravity = {0, 0, g};  // the floor is a ceiling
        const double weight = scene.bodies.mass[1] * g;
        scene.materials.set(0, 0, {0.5, 0, strength * weight});
        StepMemory<3> memory;
        simulate<3>(scene, {options(1e-3), 0.5}, memory);
        if (strength > 1) {
            EXPECT_NEAR(scene.bodies.position[1][2], 0.1, 1e-9);
        } else {
            // Held back until it has parted by 1e-4 of its radius, free after that.
            EXPECT_NEAR(scene.bodies.velocity[1][2], g * 0.5, 0.06);
        }
    }
}

TEST(Cohesion, DoesNotAttractWhatHasParted) {
    Scene<3> scene = ball_above_floor(0.001, 0.5);
    scene.gravity.setZero();
    scene.materials.set(0, 0, {0.5, 0, 1000});
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-3), 0.1}, memory);
    EXPECT_EQ(scene.bodies.position[1][2], 0.101);
}

TEST(Cohesion, PushesOutWhatOverlapsAsOtherContactsDo) {
    Scene<3> scene =
        ball_above_floor(-0.005, 0.5);  // 5 % of its radius deep: three steps of 2 % (deepest_push)
    scene.gravity.setZero();
    scene.materials.set(0, 0, {0.5, 0, 1e6});
    StepMemory<3> memory;
    simulate<3>(scene, {options(1e-3), 4e-3}, memory);
    EXPECT_GT(scene.bodies.position[1][2], 0.1 * (1 - 1.01e-4));
    EXPECT_LT(scene.bodies.position[1][2], 0.1);
}

}  // namespace
}  // namespace drystone::testing_closed_forms
