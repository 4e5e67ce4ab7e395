// How the cost grows with the number of bodies and with the spread of their sizes. Times are printed; only growth is
// asserted, and generously, since other programs may run beside the test.
#include "collide/random_scene.hpp"
#include "drystone/collide/detect.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace drystone {
namespace {

struct Times {
    double search = 0, contacts = 0;  // seconds, best of three
    std::size_t pairs = 0, touching = 0;
};

/// Balls in cells of a jittered lattice, in the order of the lattice or in any order; or of random sizes at random
/// places.
Scene<3> packing(Index bodies, double ratio, bool shuffled) {
    if (ratio > 1) return testing::make_scene<3>({.bodies = bodies, .ratio = ratio, .fill = 0.6, .held = 0});
    Scene<3> scene;
    scene.materials.add({}, {});
    scene.add_shape(Ball<3>{0.5});
    std::mt19937_64 random(3);
    const auto side = static_cast<Index>(std::ceil(std::cbrt(bodies)));
    const double spacing = std::cbrt(0.5236 / 0.6);  // solid fraction 0.6
    std::vector<Index> order(bodies);
    for (Index i = 0; i < bodies; ++i) order[i] = i;
    if (shuffled)
        for (Index i = bodies - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
    BodyPlan<3> plan;
    for (const Index i : order) {
        for (int k = 0; k < 3; ++k) plan.pose.position[k] = testing::uniform<3>(random, -0.05, 0.05);
        plan.pose.position += spacing * Vec<3>(i % side, i / side % side, i / side / side);
        scene.add_body(plan);
    }
    return scene;
}

Times measure(const Scene<3>& scene, int threads) {
    std::vector<double> reach(scene.bodies.count(), 0.01);
    Times best{1e9, 1e9, 0, 0};
    Neighbours<3> neighbours;
    ContactSet<3> contacts;
    for (int run = 0; run < 3; ++run) {
        // On one thread the time of the processor, which other programs on the machine do not lengthen much.
        const auto now = [&] {
            return threads == 1
                       ? static_cast<double>(std::clock()) / CLOCKS_PER_SEC
                       : std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
                             .count();
        };
        neighbours.valid = false;
        const double start = now();
        detect<3>(scene, reach, {.skin = 0.1, .threads = threads}, neighbours, contacts);
        const double middle = now();
        detect<3>(scene, reach, {.skin = 0.1, .threads = threads}, neighbours, contacts);
        const double end = now();
        best.contacts = std::min(best.contacts, end - middle);
        best.search = std::min(best.search, (middle - start) - (end - middle));
    }
    best.pairs = neighbours.pairs.size();
    best.touching = contacts.size();
    return best;
}

Times report(const std::string& what, const Scene<3>& scene, int threads = 1) {
    const Times t = measure(scene, threads);
    const double n = scene.bodies.count();
    fmt::print(
        "{:32} {} threads: search {:7.1f} ms ({:4.0f} ns a body), {:4.1f} candidates a body, contacts "
        "{:7.1f} ms "
        "({:3.0f} ns a candidate), {:4.1f} contacts a body\n",
        what, threads, 1e3 * t.search, 1e9 * t.search / n, t.pairs / n, 1e3 * t.contacts,
        1e9 * t.contacts / static_cast<double>(t.pairs), t.touching / n);
    return t;
}

TEST(SampleTiming, SpreadOfSizesCostsLittle) {
    const Index n = 200000;
    const Times equal = report("200000, equal", packing(n, 1, false));
    const Times spread = report("200000, sizes 1 to 100", packing(n, 100, false));
    EXPECT_LT(spread.search, 10 * equal.search);
}

TEST(Timing, GrowsLinearly) {
    Times small, large;
    for (const bool shuffled : {false, true})
        for (const Index n : {10000, 100000, 1000000}) {
            const Scene<3> scene = packing(n, 1, shuffled);
            const Times t = report(fmt::format("{}, {}", n, shuffled ? "shuffled" : "in order"), scene);
            if (n == 1000000) report(fmt::format("{}, {}", n, shuffled ? "shuffled" : "in order"), scene, 2);
            if (n == 10000) small = t;
            large = t;
        }
    // Beyond the caches a body costs more, but far from ten times.
    EXPECT_LT(large.search, 1000 * small.search);
    report("1000000, sizes 1 to 100", packing(1000000, 100, false));
}

}  // namespace
}  // namespace drystone
