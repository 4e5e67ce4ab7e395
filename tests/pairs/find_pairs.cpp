// The broad phase against brute force over all pairs and all images.
#include "drystone/pairs/find_pairs.hpp"

#include "collide/random_scene.hpp"
#include "drystone/base/error.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace drystone {
namespace {

using testing::make_scene;
using testing::RandomScene;

/// The definition of find_pairs, word for word.
template <int d>
std::vector<Candidate<d>> by_brute_force(const Scene<d>& scene, const std::vector<double>& margin) {
    const Bodies<d>& bodies = scene.bodies;
    const auto is_plane = [&](Index i) { return std::holds_alternative<HalfSpace<d>>(scene.shape_of(i)); };
    std::vector<Candidate<d>> pairs;
    for (Index a = 0; a < bodies.count(); ++a)
        for (Index b = a; b < bodies.count(); ++b) {
            if (!bodies.is_free(a) && !bodies.is_free(b)) continue;
            if (is_plane(a) || is_plane(b)) {
                const Index plane = is_plane(a) ? a : b, body = is_plane(a) ? b : a;
                const Vec<d> n = matrix(bodies.rotation[plane]).col(d - 1);
                const double both = margin[a] + margin[b];
                if (n.dot(bodies.position[body] - bodies.position[plane]) - scene.outer_radius(body) > both)
                    continue;
                const Bounds<d> box = bounds<d>(scene.shape_of(body), bodies.size[body], bodies.pose(body));
                Vec<d> lowest;
                for (int k = 0; k < d; ++k) lowest[k] = n[k] > 0 ? box.lower[k] : box.upper[k];
                const bool ball = std::holds_alternative<Ball<d>>(scene.shape_of(body));
                if (!ball && n.dot(lowest - bodies.position[plane]) > both) continue;
                pairs.push_back({a, b, 0});
                continue;
            }
            const double reach = scene.outer_radius(a) + scene.outer_radius(b) + margin[a] + margin[b];
            const Bounds<d> box_a =
                bounds<d>(scene.shape_of(a), bodies.size[a], bodies.pose(a)).widened(margin[a]);
            const Bounds<d> box_b =
                bounds<d>(scene.shape_of(b), bodies.size[b], bodies.pose(b)).widened(margin[b]);
            Image<d> most = Image<d>::Zero();
            for (int k = 0; k < d; ++k)
                if (scene.domain.period[k] > 0)
                    most[k] = static_cast<std::int32_t>(std::ceil(reach / scene.domain.period[k])) + 1;
            Image<d> s = -most;
            for (bool more = true; more;) {
                bool wanted = a != b;
                if (a == b)  // an image of itself once, not on both sides
                    for (int k = 0; k < d; ++k)
                        if (s[k] != 0) {
                            wanted = s[k] > 0;
                            break;
                        }
                const Vec<d> shift = s.template cast<double>().cwiseProduct(scene.domain.period);
                if (wanted && (bodies.position[b] + shift - bodies.position[a]).norm() <= reach &&
                    box_a.overlaps({box_b.lower + shift, box_b.upper + shift}))
                    pairs.push_back({a, b, image_code<d>(Image<d>(s + bodies.image[a] - bodies.image[b]))});
                more = false;
                for (int k = 0; k < d && !more; ++k) {
                    more = ++s[k] <= most[k];
                    if (!more) s[k] = -most[k];
                }
            }
        }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

template <int d>
std::vector<double> some_margins(const Scene<d>& scene, double factor) {
    std::vector<double> margin(scene.bodies.count());
    for (Index i = 0; i < scene.bodies.count(); ++i)
        margin[i] = factor * std::min(1.0, scene.inner_radius(i)) * (1 + i % 3);
    return margin;
}

template <int d>
void expect_as_brute_force(const Scene<d>& scene, double factor = 0.05) {
    const std::vector<double> margin = some_margins(scene, factor);
    const std::vector<Candidate<d>> expected = by_brute_force(scene, margin);
    for (const int threads : {1, 3}) {
        std::vector<Candidate<d>> found;
        find_pairs<d>(scene, margin, threads, found);
        ASSERT_TRUE(std::is_sorted(found.begin(), found.end()));
        ASSERT_EQ(found.size(), expected.size()) << threads << " threads";
        ASSERT_EQ(found, expected) << threads << " threads";
    }
}

template <class D>
class FindPairs : public ::testing::Test {};
TYPED_TEST_SUITE(FindPairs, testing::PlaneAndSpace);

TYPED_TEST(FindPairs, EqualsBruteForceForAllSizesAndPeriods) {
    constexpr int d = TypeParam::value;
    for (const double ratio : {1.0, 1.9, 10.0, 100.0, 1000.0})
        for (int periodic = 0; periodic <= d; ++periodic)
            for (const bool all_shapes : {false, true}) {
                SCOPED_TRACE(::testing::Message() << "ratio " << ratio << ", periodic " << periodic);
                RandomScene options{
                    .bodies = 500, .ratio = ratio, .periodic = periodic, .all_shapes = all_shapes};
                options.seed = static_cast<unsigned>(ratio + periodic);
                expect_as_brute_force(make_scene<d>(options));
                if (this->HasFatalFailure()) return;
            }
}

TYPED_TEST(FindPairs, SmallPeriodsGiveSeveralImagesAndABodyItsOwn) {
    constexpr int d = TypeParam::value;
    for (int periodic = 1; periodic <= d; ++periodic) {
        RandomScene options{.bodies = 12,
                            .ratio = 3,
                            .periodic = periodic,
                            .period_factor = d == 2 ? 0.2 : 0.4,
                            .all_shapes = true};
        const Scene<d> scene = make_scene<d>(options);
        expect_as_brute_force(scene);
        std::vector<Candidate<d>> found;
        find_pairs<d>(scene, some_margins(scene, 0.05), 1, found);
        Index own = 0, repeated = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            own += found[i].a == found[i].b ? 1 : 0;
            repeated += i > 0 && found[i].a == found[i - 1].a && found[i].b == found[i - 1].b ? 1 : 0;
        }
        EXPECT_GT(own, 0);
        EXPECT_GT(repeated, 0);
    }
}

TYPED_TEST(FindPairs, ImagesOfAnyNumberAndPositionsOutsideTheDomain) {
    constexpr int d = TypeParam::value;
    Scene<d> scene = make_scene<d>({.bodies = 200, .ratio = 10, .periodic = d});
    std::mt19937_64 random(5);
    for (Index i = 0; i < scene.bodies.count(); ++i)
        for (int k = 0; k < d; ++k) {
            scene.bodies.image[i][k] = static_cast<std::int32_t>(random() % 100000) - 50000;
            // Brute force looks one period beyond what is near, so it still sees these.
            if (random() % 4 == 0) scene.bodies.position[i][k] += scene.domain.period[k] * 0.3;
        }
    expect_as_brute_force(scene);
}

TYPED_TEST(FindPairs, ShiftStaysTrueWhileBodiesAreWrapped) {
    constexpr int d = TypeParam::value;
    Scene<d> scene = make_scene<d>({.bodies = 100, .ratio = 2, .periodic = d});
    std::vector<Candidate<d>> found;
    find_pairs<d>(scene, some_margins(scene, 0.05), 1, found);
    ASSERT_FALSE(found.empty());
    const auto apart = [&](const Candidate<d>& pair) {
        const Image<d> periods = periods_between<d>(pair.image, image_code<d>(scene.bodies.image[pair.a]),
                                                    image_code<d>(scene.bodies.image[pair.b]));
        return Vec<d>(scene.bodies.position[pair.b] +
                      periods.template cast<double>().cwiseProduct(scene.domain.period) -
                      scene.bodies.position[pair.a]);
    };
    std::vector<Vec<d>> before;
    for (const Candidate<d>& pair : found) before.push_back(apart(pair));
    // All travel together, through many borders: nothing changes between them but rounding.
    for (int step = 0; step < 30; ++step)
        for (Index i = 0; i < scene.bodies.count(); ++i)
            testing::move_body<d>(scene, i, Vec<d>(0.37 * scene.domain.period));
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_LT((apart(found[i]) - before[i]).norm(), 1e-12 * scene.domain.period.norm());
}

TYPED_TEST(FindPairs, SparseDomainsAndClustersFarApart) {
    constexpr int d = TypeParam::value;
    for (const double distance : {1e3, 1e6, 1e9, 1e13}) {
        SCOPED_TRACE(distance);
        Scene<d> scene = make_scene<d>({.bodies = 200, .ratio = 5, .walls = false});
        for (Index i = 0; i < scene.bodies.count(); ++i)
            if (i % 2 == 0)
                scene.bodies.position[i] += Vec<d>::Constant(i % 4 == 0 ? distance : -distance / 3);
        expect_as_brute_force(scene);
    }
    expect_as_brute_force(make_scene<d>({.bodies = 300, .ratio = 100, .fill = 1e-8}));
}

TYPED_TEST(FindPairs, HugeMarginsOfSomeBodies) {
    constexpr int d = TypeParam::value;
    const Scene<d> scene = make_scene<d>({.bodies = 300, .ratio = 10, .periodic = 1, .all_shapes = true});
    std::vector<double> margin = some_margins(scene, 0.05);
    for (std::size_t i = 0; i < margin.size(); i += 50) margin[i] = 30;
    std::vector<Candidate<d>> found;
    find_pairs<d>(scene, margin, 2, found);
    EXPECT_EQ(found, by_brute_force(scene, margin));
}

TYPED_TEST(FindPairs, DoesNotDependOnThreadsOrOnAUsedWorkspace) {
    constexpr int d = TypeParam::value;
    PairWorkspace<d> workspace;
    for (const double ratio : {50.0, 1.0}) {
        const Scene<d> scene = make_scene<d>({.bodies = 30000, .ratio = ratio, .periodic = 1});
        const std::vector<double> margin = some_margins(scene, 0.05);
        std::vector<Candidate<d>> first, found;
        find_pairs<d>(scene, margin, 1, first);
        ASSERT_GT(first.size(), 20000U);
        for (const int threads : {1, 2, 3, 8}) {
            find_pairs<d>(scene, margin, threads, found, workspace);
            EXPECT_EQ(found, first) << threads << " threads";
        }
    }
}

TYPED_TEST(FindPairs, EmptyAndTinyScenes) {
    constexpr int d = TypeParam::value;
    std::vector<Candidate<d>> found = {{0, 1, 0}};
    find_pairs<d>(Scene<d>{}, {}, 1, found);
    EXPECT_TRUE(found.empty());
    for (int bodies = 0; bodies < 4; ++bodies) expect_as_brute_force(make_scene<d>({.bodies = bodies}));
}

TYPED_TEST(FindPairs, LongThinBodiesAreFilteredByTheirBoxes) {
    constexpr int d = TypeParam::value;
    Scene<d> scene;
    scene.materials.add({}, {});
    if constexpr (d == 3)
        scene.add_shape(make_box({1, 0.01, 0.01}));
    else
        scene.add_shape(make_rectangle({1, 0.01}));
    for (int i = 0; i < 20; ++i) {
        BodyPlan<d> plan;
        plan.pose.position[1] = 0.1 * i;
        scene.add_body(plan);
    }
    std::vector<Candidate<d>> found;
    find_pairs<d>(scene, std::vector<double>(20, 0.01), 1, found);
    EXPECT_TRUE(found.empty()) << "a stack of needles 0.1 apart, each 0.02 thick";
}

TYPED_TEST(FindPairs, ABodyAsThickAsManyPeriodsIsRefused) {
    constexpr int d = TypeParam::value;
    Scene<d> scene;
    scene.materials.add({}, {});
    scene.add_shape(Ball<d>{1.0});
    scene.add_body({});
    std::vector<Candidate<d>> found;
    scene.domain.period[0] = 1;  // two periods thick: let be
    EXPECT_NO_THROW(find_pairs<d>(scene, std::vector<double>(1), 1, found));
    scene.domain.period[0] = 0.1;
    EXPECT_THROW(find_pairs<d>(scene, std::vector<double>(1), 1, found), Error);
}

TYPED_TEST(FindPairs, ErrorsNameTheBody) {
    constexpr int d = TypeParam::value;
    Scene<d> scene = make_scene<d>({.bodies = 10, .walls = false});
    std::vector<Candidate<d>> found;
    EXPECT_THROW(find_pairs<d>(scene, std::vector<double>(9), 1, found), Error);
    scene.bodies.position[7][0] = std::nan("");
    try {
        find_pairs<d>(scene, std::vector<double>(10), 2, found);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, 7), "body 7:");
    }
}

}  // namespace
}  // namespace drystone
