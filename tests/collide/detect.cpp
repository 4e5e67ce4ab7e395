// Detection: the neighbour list never shows in the contacts, nor do threads; contacts of balls against the narrow
// phase.
#include "drystone/collide/detect.hpp"

#include "collide/random_scene.hpp"
#include "drystone/base/error.hpp"
#include "drystone/collide/narrow.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace drystone {
namespace {

using testing::make_scene;
using testing::move_body;
using testing::RandomScene;
using testing::uniform;

template <int d>
bool same(const ContactSet<d>& p, const ContactSet<d>& q) {
    return std::equal(p.begin(), p.end(), q.begin(), q.end(), [](const Contact<d>& a, const Contact<d>& b) {
        return a.a == b.a && a.b == b.b && a.key == b.key && a.gap == b.gap && a.normal == b.normal &&
               a.arm_a == b.arm_a && a.arm_b == b.arm_b;
    });
}

template <int d>
bool sorted(const ContactSet<d>& contacts) {
    return std::is_sorted(contacts.begin(), contacts.end(),
                          [](const Contact<d>& p, const Contact<d>& q) { return p.key < q.key; });
}

/// Reach that differs between bodies and changes with time.
template <int d>
std::vector<double> some_reach(const Scene<d>& scene, int step, double unit = 0.02) {
    std::vector<double> reach(scene.bodies.count());
    for (Index i = 0; i < scene.bodies.count(); ++i) reach[i] = unit * (1 + (i + step) % 4);
    return reach;
}

template <class D>
class Detect : public ::testing::Test {};
TYPED_TEST_SUITE(Detect, testing::PlaneAndSpace);

TYPED_TEST(Detect, ReuseGivesTheSameContactsAsAFreshSearch) {
    constexpr int d = TypeParam::value;
    for (const bool all_shapes : {false, true})
        for (int periodic = 0; periodic <= d; ++periodic) {
            RandomScene options{.bodies = 300, .ratio = 4, .periodic = periodic, .all_shapes = all_shapes};
            Scene<d> scene = make_scene<d>(options);
            const Index n = scene.bodies.count();
            std::mt19937_64 random(7);
            Neighbours<d> kept;
            ContactSet<d> contacts, fresh_contacts;
            const int steps = 60;
            // The needles are 20 times thinner than the balls, and so is their skin.
            const double pace = all_shapes ? 0.05 : 1;
            std::size_t total = 0;
            for (int step = 0; step < steps; ++step) {
                const std::vector<double> reach = some_reach<d>(scene, step, 0.02 * pace);
                detect<d>(scene, reach, {.skin = 0.3}, kept, contacts);
                Neighbours<d> fresh;
                detect<d>(scene, reach, {.skin = 0}, fresh, fresh_contacts);
                ASSERT_TRUE(same<d>(contacts, fresh_contacts))
                    << "step " << step << ", periodic " << periodic;
                ASSERT_TRUE(sorted<d>(contacts));
                total += contacts.size();
                for (Index i = 0; i < n; ++i) {
                    if (std::holds_alternative<HalfSpace<d>>(scene.shape_of(i))) {
                        Vec<d> by = Vec<d>::Zero();
                        by[d - 1] = 0.002 * pace;
                        move_body<d>(scene, i, by);
                        continue;
                    }
                    Vec<d> by;
                    Spin<d> turned;
                    for (int k = 0; k < d; ++k) by[k] = pace * uniform<d>(random, -0.01, 0.02);
                    for (int k = 0; k < spins<d>; ++k) turned[k] = pace * uniform<d>(random, -0.01, 0.01);
                    move_body<d>(scene, i, by);
                    scene.bodies.rotation[i] = turn(scene.bodies.rotation[i], turned);
                }
            }
            EXPECT_GT(total, 1000U);
            EXPECT_GT(kept.searches, 1) << "the motion should use up the skin";
            EXPECT_LT(kept.searches, steps / 2) << "the list should serve several steps";
        }
}

TYPED_TEST(Detect, HalfSpacesThatTiltAreSeen) {
    constexpr int d = TypeParam::value;
    Scene<d> scene = make_scene<d>({.bodies = 300, .ratio = 2});
    Neighbours<d> kept;
    ContactSet<d> contacts, fresh_contacts;
    const std::vector<double> reach(scene.bodies.count(), 0.02);
    for (int step = 0; step < 60; ++step) {
        detect<d>(scene, reach, {.skin = 0.2}, kept, contacts);
        Neighbours<d> fresh;
        detect<d>(scene, reach, {.skin = 0}, fresh, fresh_contacts);
        ASSERT_TRUE(same<d>(contacts, fresh_contacts)) << "step " << step;
        scene.bodies.rotation[0] = turn(scene.bodies.rotation[0], Spin<d>(Spin<d>::Constant(1e-3)));
    }
    EXPECT_GT(kept.searches, 1);
    EXPECT_LT(kept.searches, 60);
}

TYPED_TEST(Detect, DoesNotDependOnThreads) {
    constexpr int d = TypeParam::value;
    // More candidates than a window of chunks holds, in the case of balls.
    for (const bool all_shapes : {false, true}) {
        RandomScene options{
            .bodies = all_shapes ? 1500 : 60000, .ratio = 3, .periodic = 1, .all_shapes = all_shapes};
        const Scene<d> scene = make_scene<d>(options);
        const std::vector<double> reach = some_reach<d>(scene, 0);
        ContactSet<d> first, contacts;
        Neighbours<d> alone;
        detect<d>(scene, reach, {.threads = 1}, alone, first);
        EXPECT_GT(first.size(), static_cast<std::size_t>(options.bodies));
        EXPECT_TRUE(sorted<d>(first));
        for (const int threads : {2, 3, 8}) {
            Neighbours<d> neighbours;
            detect<d>(scene, reach, {.threads = threads}, neighbours, contacts);
            EXPECT_TRUE(same<d>(contacts, first)) << threads << " threads";
        }
    }
}

TYPED_TEST(Detect, BallsAsTheNarrowPhaseSeesThem) {
    constexpr int d = TypeParam::value;
    const Scene<d> scene =
        make_scene<d>({.bodies = 300, .ratio = 5, .periodic = d - 1, .period_factor = 0.9});
    const std::vector<double> reach = some_reach<d>(scene, 0);
    Neighbours<d> neighbours;
    ContactSet<d> contacts;
    detect<d>(scene, reach, {}, neighbours, contacts);
    const Bodies<d>& bodies = scene.bodies;
    const double scale = 10 + scene.domain.period.maxCoeff();
    std::size_t with_planes = 0;
    for (const Contact<d>& contact : contacts) {
        const bool plane =
            std::isinf(scene.outer_radius(contact.a)) || std::isinf(scene.outer_radius(contact.b));
        with_planes += plane ? 1 : 0;
        const Image<d> shift =
            plane ? Image<d>(Image<d>::Zero())
                  : periods_between<d>(contact.key.image, image_code<d>(bodies.image[contact.a]),
                                       image_code<d>(bodies.image[contact.b]));
        const Vec<d> x_b =
            bodies.position[contact.b] + shift.template cast<double>().cwiseProduct(scene.domain.period);
        const Placed<d> a{&scene.shape_of(contact.a), bodies.size[contact.a], bodies.pose(contact.a)};
        const Placed<d> b{
            &scene.shape_of(contact.b), bodies.size[contact.b], {x_b, bodies.rotation[contact.b]}};
        std::vector<Touch<d>> touches;
        find_touches<d>(a, b, reach[contact.a] + reach[contact.b] + 1e-9, touches);
        ASSERT_EQ(touches.size(), 1U);
        // The same closed form in another order of operations: roundings of coordinates.
        EXPECT_NEAR(touches[0].gap, contact.gap, 1e-14 * scale);
        EXPECT_LT((touches[0].normal - contact.normal).norm(), 1e-12);
        EXPECT_LT((touches[0].point - a.pose.position - contact.arm_a).norm(), 1e-13 * scale);
        EXPECT_LT((touches[0].point - x_b - contact.arm_b).norm(), 1e-13 * scale);
        EXPECT_EQ(contact.key.first, bodies.id[contact.a]);
        EXPECT_EQ(contact.key.second, bodies.id[contact.b]);
    }
    EXPECT_GT(with_planes, 0U);
    EXPECT_GT(contacts.size(), 300U);
}

TYPED_TEST(Detect, AllContactsWithinReachOfEveryPair) {
    // Against the narrow phase on every pair, without a broad phase.
    constexpr int d = TypeParam::value;
    const Scene<d> scene = make_scene<d>({.bodies = 120, .ratio = 6, .all_shapes = true});
    const Bodies<d>& bodies = scene.bodies;
    const std::vector<double> reach = some_reach<d>(scene, 0);
    Neighbours<d> neighbours;
    ContactSet<d> contacts;
    detect<d>(scene, reach, {}, neighbours, contacts);
    std::vector<std::pair<Index, Index>> found, expected;
    for (const Contact<d>& contact : contacts)
        if (found.empty() || found.back() != std::pair(contact.a, contact.b))
            found.emplace_back(contact.a, contact.b);
    for (Index a = 0; a < bodies.count(); ++a)
        for (Index b = a + 1; b < bodies.count(); ++b) {
            if (!bodies.is_free(a) && !bodies.is_free(b)) continue;
            std::vector<Touch<d>> touches;
            find_touches<d>({&scene.shape_of(a), bodies.size[a], bodies.pose(a)},
                            {&scene.shape_of(b), bodies.size[b], bodies.pose(b)}, reach[a] + reach[b],
                            touches);
            if (!touches.empty()) expected.emplace_back(a, b);
        }
    EXPECT_GT(found.size(), 50U);
    EXPECT_EQ(found, expected);
}

TYPED_TEST(Detect, ABodyMeetsItsOwnImage) {
    constexpr int d = TypeParam::value;
    Scene<d> scene;
    scene.materials.add({}, {});
    scene.add_shape(Ball<d>{0.5});
    scene.domain.period[0] = 1.01;
    scene.add_body({});
    Neighbours<d> neighbours;
    ContactSet<d> contacts;
    detect<d>(scene, std::vector<double>{0.01}, {}, neighbours, contacts);
    ASSERT_EQ(contacts.size(), 1U);
    EXPECT_NEAR(contacts[0].gap, 0.01, 1e-15);
    EXPECT_EQ(contacts[0].a, contacts[0].b);
    EXPECT_EQ(contacts[0].key.image, 1U);
    EXPECT_EQ(contacts[0].normal,
              Vec<d>(-Vec<d>::Unit(0)));  // the image is at +x, and the normal points from it
}

TYPED_TEST(Detect, KeysDoNotChangeAcrossABorder) {
    constexpr int d = TypeParam::value;
    Scene<d> scene;
    scene.materials.add({}, {});
    scene.add_shape(Ball<d>{0.5});
    scene.domain.period = Vec<d>::Constant(5);
    BodyPlan<d> plan;
    scene.add_body(plan);
    plan.pose.position[0] = 1;
    scene.add_body(plan);
    ContactKey key;
    for (int step = 0; step < 200; ++step) {
        Neighbours<d> fresh;
        ContactSet<d> contacts;
        detect<d>(scene, std::vector<double>{0.01, 0.01}, {}, fresh, contacts);
        ASSERT_EQ(contacts.size(), 1U) << "step " << step;
        if (step == 0) key = contacts[0].key;
        EXPECT_EQ(contacts[0].key, key);
        for (Index i = 0; i < 2; ++i) move_body<d>(scene, i, Vec<d>(Vec<d>::Constant(-0.13)));
    }
}

TYPED_TEST(Detect, SearchesAnewWhenToldOrResized) {
    constexpr int d = TypeParam::value;
    Scene<d> scene = make_scene<d>({.bodies = 50});
    Neighbours<d> neighbours;
    ContactSet<d> contacts;
    std::vector<double> reach(scene.bodies.count(), 0.01);
    const auto searches = [&] {
        detect<d>(scene, reach, {.skin = 0.1}, neighbours, contacts);
        return neighbours.searches;
    };
    EXPECT_EQ(searches(), 1);
    EXPECT_EQ(searches(), 1);
    reach[10] = 0.05;
    EXPECT_EQ(searches(), 1) << "a longer reach within the skin";
    reach[10] = 0.2;
    EXPECT_EQ(searches(), 2) << "a reach beyond the skin";
    neighbours.valid = false;
    EXPECT_EQ(searches(), 3);
    scene.add_body({});
    reach.push_back(0.01);
    EXPECT_EQ(searches(), 4);
    reach.pop_back();
    EXPECT_THROW(searches(), Error);
}

}  // namespace
}  // namespace drystone
