// The same bits on any number of threads, and whenever the list of neighbours is made anew, for scenes of every shape.
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

namespace drystone::testing_threads {
namespace {

using sample::add_wall;
using sample::noise;

/// A rough sheet of triangles over [-1, n + 1]^2, heights up to 0.2.
TriangleMesh rough_floor(int n) {
    std::vector<Vec<3>> x;
    std::vector<std::array<Index, 3>> t;
    const Index side = n + 3;
    for (Index i = 0; i < side; ++i)
        for (Index j = 0; j < side; ++j) x.emplace_back(i - 1, j - 1, 0.2 * noise(i * side + j, 50));
    for (Index i = 0; i + 1 < side; ++i)
        for (Index j = 0; j + 1 < side; ++j) {
            const Index p = i * side + j, q = p + side;
            t.push_back({p, q, q + 1});
            t.push_back({p, q + 1, p + 1});
        }
    return make_mesh(x, t);
}

std::vector<Shape<3>> grains_3d() {
    std::vector<Shape<3>> shapes = {Ball<3>{0.45}, Capsule{0.25, 0.22}, make_box({0.3, 0.25, 0.2}),
                                    Ellipsoid<3>{{0.45, 0.35, 0.25}},
                                    Superellipsoid{{0.4, 0.3, 0.25}, 0.6, 0.8}};
    for (int k = 0; k < 3; ++k) {
        std::vector<Vec<3>> points;
        for (int i = 0; i < 14; ++i) {
            const Vec<3> x(noise(100 * k + i, 40) - 0.5, noise(100 * k + i, 41) - 0.5,
                           noise(100 * k + i, 42) - 0.5);
            points.push_back(0.44 * x.normalized());
        }
        shapes.emplace_back(make_polyhedron(points).shape);
    }
    return shapes;
}
std::vector<Shape<2>> grains_2d() {
    return {Ball<2>{0.45}, Ellipsoid<2>{{0.45, 0.25}}, make_rectangle({0.38, 0.2}),
            make_polygon({{0.4, 0}, {0.1, 0.4}, {-0.35, 0.2}, {-0.3, -0.25}, {0.15, -0.4}}).shape};
}

/// Grains of all shapes on a lattice that fall on the floor and on each other, and a held bar that turns and moves
/// through them.
template <int d>
Scene<d> pour(int across, int high, bool periodic, double restitution) {
    Scene<d> scene = sample::empty_scene<d>(0.4, restitution);
    scene.gravity[d - 1] = -9.81;
    if (periodic) {
        for (int k = 0; k < d - 1; ++k) scene.domain.period[k] = across;
        add_wall<d>(scene, Vec<d>::Zero(), Vec<d>::Unit(d - 1));
    } else {
        sample::add_box<d>(scene, across);
    }
    BodyPlan<d> held;
    held.motion = Motion::held;
    std::vector<Index> shapes;
    if constexpr (d == 3) {
        if (!periodic) {
            held.shape = scene.add_shape(rough_floor(across));
            scene.add_body(held);
        }
        for (const Shape<3>& shape : grains_3d()) shapes.push_back(scene.add_shape(shape));
        held.shape = scene.add_shape(make_box({0.8, 0.3, 0.2}));
        held.spin = {0.1, 0, 0.4};
    } else {
        for (const Shape<2>& shape : grains_2d()) shapes.push_back(scene.add_shape(shape));
        held.shape = scene.add_shape(make_rectangle({0.8, 0.2}));
        held.spin[0] = 0.4;
    }
    held.pose.position.setConstant(0.5 * across);
    held.pose.position[d - 1] = 0.7;
    held.velocity[0] = 0.1;
    scene.add_body(held);
    const int layer = d == 3 ? across * across : across;
    for (int i = 0; i < layer * high; ++i) {
        BodyPlan<d> plan;
        plan.shape = shapes[i % shapes.size()];
        plan.size = 0.8 + 0.3 * noise(i, 0);
        plan.pose.position[0] = i % across + 0.5;
        if constexpr (d == 3) plan.pose.position[1] = i / across % across + 0.5;
        plan.pose.position[d - 1] = i / layer + 1.6;
        Spin<d> turned;
        for (int k = 0; k < spins<d>; ++k) turned[k] = 2 * noise(i, 1 + k);
        plan.pose.rotation = turn({}, turned);
        plan.velocity[d - 1] = -1;
        for (int k = 0; k < d; ++k) plan.velocity[k] += noise(i, 10 + k) - 0.5;
        scene.add_body(plan);
    }
    return scene;
}

template <class T>
bool same_bits(const std::vector<T>& p, const std::vector<T>& q) {
    // Of doubles alone, without padding.
    return p.size() == q.size() && std::memcmp(static_cast<const void*>(p.data()),
                                               static_cast<const void*>(q.data()), p.size() * sizeof(T)) == 0;
}

template <int d>
struct Outcome {
    Scene<d> scene;
    StepMemory<d> memory;
    std::int64_t contacts = 0, unsolved = 0, searches = 0;
};

template <int d>
Outcome<d> run(const Scene<d>& start, const StepOptions& options, int steps, bool restless = false) {
    Outcome<d> out{start, {}};
    for (int i = 0; i < steps; ++i) {
        if (restless && (i * 7) % 5 == 3) out.memory.neighbours.valid = false;
        const StepRecord record = step(out.scene, options, out.memory);
        out.contacts += record.contacts;
        out.unsolved += is_met(record.solve.status) ? 0 : 1;
    }
    out.searches = out.memory.neighbours.searches;
    return out;
}

template <int d>
void expect_same(const Outcome<d>& p, const Outcome<d>& q, const char* what) {
    SCOPED_TRACE(what);
    const Bodies<d>&a = p.scene.bodies, &b = q.scene.bodies;
    EXPECT_TRUE(same_bits(a.position, b.position));
    EXPECT_TRUE(same_bits(a.rotation, b.rotation));
    EXPECT_TRUE(same_bits(a.velocity, b.velocity));
    EXPECT_TRUE(same_bits(a.spin, b.spin));
    EXPECT_TRUE(same_bits(a.image, b.image));
    ASSERT_EQ(p.memory.contacts.size(), q.memory.contacts.size());
    for (std::size_t i = 0; i < p.memory.contacts.size(); ++i)
        ASSERT_EQ(p.memory.contacts[i].key, q.memory.contacts[i].key) << "contact " << i;
    EXPECT_TRUE(same_bits(p.memory.warm.impulse, q.memory.warm.impulse));
    ASSERT_EQ(p.memory.solution.r.size(), q.memory.solution.r.size());
    EXPECT_EQ(std::memcmp(p.memory.solution.r.data(), q.memory.solution.r.data(),
                          p.memory.solution.r.size() * sizeof(double)),
              0);
}

/// Compares runs that start from the same settled state.
template <int d>
void check(const Scene<d>& pouring, StepOptions options, int settling, int steps) {
    options.bodies_per_thread = 1;
    options.solve.threads = 1;
    const Scene<d> start = run(pouring, options, settling).scene;
    const Outcome<d> alone = run(start, options, steps);
    EXPECT_GT(alone.contacts, start.bodies.count() * steps / 3) << "too few contacts to say anything";
    printf("%d bodies, %.0f contacts a step, %d of %d steps unsolved, %d searches\n",
           static_cast<int>(start.bodies.count()), static_cast<double>(alone.contacts) / steps,
           static_cast<int>(alone.unsolved), steps, static_cast<int>(alone.searches));
    EXPECT_TRUE(alone.scene.bodies.position[0].allFinite());
    // The comparison itself: one bit is seen.
    Outcome<d> off = alone;
    off.scene.bodies.velocity.back()[0] = std::nextafter(off.scene.bodies.velocity.back()[0], 1e9);
    EXPECT_FALSE(same_bits(alone.scene.bodies.velocity, off.scene.bodies.velocity));

    const Outcome<d> restless = run(start, options, steps, true);
    EXPECT_GT(restless.searches, alone.searches);
    expect_same(alone, restless, "neighbours searched anew at odd moments");
    for (const int threads : {2, 8}) {
        options.solve.threads = threads;
        expect_same(alone, run(start, options, steps), threads == 2 ? "2 threads" : "8 threads");
    }
}

StepOptions look_ahead() {
    StepOptions options;
    options.h = 5e-3;
    options.skin = 0.5;  // so that a list serves several steps
    return options;
}
StepOptions moreau_jean() {
    StepOptions options;
    options.scheme = Scheme::moreau_jean;
    options.h = 2e-3;
    options.skin = 0.5;
    return options;
}

TEST(Threads, EveryShapeOnASurfaceInABox) { check<3>(pour<3>(6, 5, false, 0), look_ahead(), 150, 60); }
TEST(Threads, EveryShapePeriodic) { check<3>(pour<3>(6, 5, true, 0), look_ahead(), 150, 60); }
TEST(Threads, Restitution) { check<3>(pour<3>(6, 5, false, 0.3), moreau_jean(), 400, 60); }
TEST(Threads, PlaneInABox) { check<2>(pour<2>(10, 20, false, 0), look_ahead(), 250, 60); }
TEST(Threads, PlanePeriodic) { check<2>(pour<2>(10, 20, true, 0), look_ahead(), 250, 60); }
/// A run may be copied with all that its steps keep, and both go on at the same time.
TEST(Threads, CopiesOfARunDoNotMeet) {
    const StepOptions options = look_ahead();
    Scene<3> scene = pour<3>(4, 4, false, 0);
    StepMemory<3> memory;
    for (int k = 0; k < 60; ++k) step(scene, options, memory);
    std::array<Scene<3>, 2> scenes = {scene, scene};
    std::array<StepMemory<3>, 2> memories = {memory, memory};
    const auto go_on = [&](int i) {
        for (int k = 0; k < 60; ++k) step(scenes[i], options, memories[i]);
    };
    std::thread first(go_on, 0), second(go_on, 1);
    first.join();
    second.join();
    for (Index i = 0; i < scene.bodies.count(); ++i)
        EXPECT_TRUE(scenes[0].bodies.position[i] == scenes[1].bodies.position[i]) << i;
}

/// Few contacts, as in small scenes. While the sweeps succeed: what the fall-backs factorise with MUMPS repeats to
/// rounding only.
TEST(Threads, FewBodies) {
    check<3>(pour<3>(3, 3, false, 0), look_ahead(), 150, 60);
    check<2>(pour<2>(4, 8, false, 0), look_ahead(), 150, 60);
}

}  // namespace
}  // namespace drystone::testing_threads
