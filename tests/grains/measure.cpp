// Measurements against closed forms.

#include "drystone/grains/heap.hpp"
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

using sample::noise;
using std::numbers::pi;

template <int d>
Index add_ball(Scene<d>& scene, double radius, const Vec<d>& position,
               const Vec<d>& velocity = Vec<d>::Zero()) {
    if (scene.shapes.empty()) scene.add_shape(Ball<d>{1});
    BodyPlan<d> plan;
    plan.size = radius;
    plan.pose.position = position;
    plan.velocity = velocity;
    return scene.add_body(plan);
}

/// n balls on each other on the floor, in equilibrium. The ball is shape 0.
template <int d>
Scene<d> column(int n, double r, StepMemory<d>& memory, double h) {
    Scene<d> scene = sample::empty_scene<d>(0.5);
    scene.gravity = -sample::g * Vec<d>::Unit(d - 1);
    for (int i = 0; i < n; ++i) add_ball<d>(scene, r, Vec<d>((2 * i + 1) * r * Vec<d>::Unit(d - 1)));
    sample::add_wall<d>(scene, Vec<d>::Zero(), Vec<d>::Unit(d - 1));
    for (int k = 0; k < 3; ++k) step(scene, sample::options(h, 1e-12), memory);
    return scene;
}

template <int d>
void test_column() {
    const int n = 6;
    const double r = 0.05, h = 1e-3;
    StepMemory<d> memory;
    const Scene<d> scene = column<d>(n, r, memory, h);
    const auto forces = contact_forces(memory, h);
    ASSERT_EQ(forces.size(), static_cast<std::size_t>(n));
    const double weight = scene.bodies.mass[0] * sample::g;
    const double area = d == 2 ? 4 * r : 16 * r * r;  // of the box across the column
    // The force between balls i - 1 and i is (n - i) weights; the mean stress over a slab is that force over the area.
    for (int i = 1; i < n; ++i) {
        BoxRegion<d> slab{Vec<d>::Constant(-2 * r), Vec<d>::Constant(2 * r)};
        slab.lower[d - 1] = (2 * i - 0.5) * r;
        slab.upper[d - 1] = (2 * i + 0.5) * r;
        const Region<d> region = slab;
        const Mat<d> sigma = stress(scene, forces, &region).contact;
        EXPECT_NEAR(sigma(d - 1, d - 1), (n - i) * weight / area, 1e-8 * n * weight / area) << i;
        const Vec<d> up = Vec<d>::Unit(d - 1);
        const Mat<d> rest = sigma - sigma(d - 1, d - 1) * up * up.transpose();
        EXPECT_NEAR(rest.norm(), 0, 1e-8 * n * weight / area);
    }
    // Over the whole column: the mean of what the slabs have, (n + 1/2) weights at the floor's half branch included.
    BoxRegion<d> all{Vec<d>::Constant(-2 * r), Vec<d>::Constant(2 * r)};
    all.lower[d - 1] = 0;
    all.upper[d - 1] = 2 * n * r;
    const Region<d> region = all;
    const double expected = weight * (n * r + (n - 1) * n / 2.0 * 2 * r) / (2 * n * r * area);
    EXPECT_NEAR(stress(scene, forces, &region).contact(d - 1, d - 1), expected, 1e-8 * expected);
    const Mat<d> normals = fabric(scene, forces, &region);
    EXPECT_NEAR(normals(d - 1, d - 1), 1, 1e-12);
    EXPECT_NEAR(normals.trace(), 1, 1e-12);
    EXPECT_LT(largest_overlap(memory), 1e-9);
}

TEST(Stress, OfAColumnIsTheWeightAbove) {
    test_column<2>();
    test_column<3>();
}

TEST(Stress, OfABallBetweenWallsIsForceOverArea) {
    // A ball of radius 1 in a cube of side 2, pressed along x by 7 N, along y by 3 N, and along z not at all.
    Scene<3> scene = sample::empty_scene<3>(0.5);
    const Index ball = add_ball<3>(scene, 1, Vec<3>::Ones());
    std::vector<ContactForce<3>> forces;
    const double press[] = {7, 3};
    for (int k = 0; k < 2; ++k)
        for (const double side : {-1.0, 1.0}) {
            Scene<3>& s = scene;
            const Vec<3> arm = side * Vec<3>::Unit(k);
            const Index wall = sample::add_wall<3>(s, Vec<3>(Vec<3>::Ones() + arm), Vec<3>(-arm));
            forces.push_back({ball, wall, 0, arm, Vec<3>::Zero(), -arm, -press[k] * arm});
        }
    const Region<3> box = BoxRegion<3>{Vec<3>::Zero(), Vec<3>::Constant(2)};
    const Stress<3> found = stress(scene, forces, &box);
    EXPECT_NEAR((found.contact - Mat<3>(Vec<3>(7.0 / 4, 3.0 / 4, 0).asDiagonal())).norm(), 0, 1e-14);
    EXPECT_NEAR(found.pressure(), 10.0 / 12, 1e-14);
    // Half the box has half of the branches along y, one of those along x, and half the volume.
    const Region<3> half = BoxRegion<3>{Vec<3>::Zero(), Vec<3>(1, 2, 2)};
    EXPECT_NEAR(stress(scene, forces, &half).contact(0, 0), 7.0 / 4, 1e-14);
    // A cylinder about the x axis through the centre holds as much of the branches as its radius and length say.
    const Region<3> cylinder = CylinderRegion<3>{{0.5, 1, 1}, Vec<3>::UnitX(), 0.25, 1};
    const double volume = pi * 0.25 * 0.25;
    EXPECT_NEAR(stress(scene, forces, &cylinder).contact(0, 0), 7 * 1 / volume, 1e-12);
    EXPECT_NEAR(stress(scene, forces, &cylinder).contact(1, 1), 3 * 0.5 / volume, 1e-12);
}

TEST(Stress, OfAPeriodicChainDoesNotDependOnWhereTheCellBegins) {
    // One disk that touches its own image in x, in a cell of 2 x 3, pressed by 5 N; any part of the cell has the same
    // stress.
    for (const double x : {0.1, 1.0, 1.9}) {
        Scene<2> scene = sample::empty_scene<2>(0.5);
        scene.domain.period = {2, 3};
        const Index ball = add_ball<2>(scene, 1, {x, 1.5});
        const std::vector<ContactForce<2>> forces = {
            {ball, ball, 1, Vec<2>::UnitX(), -Vec<2>::UnitX(), -Vec<2>::UnitX(), Vec<2>(-5, 0)}};
        EXPECT_NEAR(stress<2>(scene, forces).contact(0, 0), 5.0 / 3, 1e-14) << x;
        const Region<2> part = BoxRegion<2>{{0.25, 0}, {0.75, 3}};
        EXPECT_NEAR(stress(scene, forces, &part).contact(0, 0), 5.0 / 3, 1e-12) << x;
        EXPECT_NEAR(packing_fraction<2>(scene), pi / 6, 1e-12);
    }
}

/// Unit balls at all whole coordinates of a box, with forces of 1 N between neighbours, and periods around.
template <int d>
std::pair<Scene<d>, std::vector<ContactForce<d>>> lattice(int n, double friction) {
    Scene<d> scene = sample::empty_scene<d>(friction);
    scene.domain.period = Vec<d>::Constant(n);
    const auto place = [n](Index i) {
        Vec<d> x;
        for (int k = 0; k < d; ++k, i /= n) x[k] = i % n + 0.5;
        return x;
    };
    const Index total = static_cast<Index>(std::lround(std::pow(n, d)));
    for (Index i = 0; i < total; ++i) add_ball<d>(scene, 0.5, place(i));
    std::vector<ContactForce<d>> forces;
    for (Index i = 0; i < total; ++i)
        for (int k = 0; k < d; ++k) {
            const Index stride = static_cast<Index>(std::lround(std::pow(n, k)));
            const bool last = i / stride % n == n - 1;
            const Index j = last ? i - (n - 1) * stride : i + stride;
            const Vec<d> e = Vec<d>::Unit(k);
            forces.push_back({i, j, last ? 1U : 0U, 0.5 * e, -0.5 * e, -e, -e});
        }
    return {scene, forces};
}

template <int d>
void test_lattice() {
    const auto [scene, forces] = lattice<d>(4, 0.5);
    const Coordination z = coordination(scene, forces);
    EXPECT_EQ(z.contacts, 2 * d);
    EXPECT_EQ(z.neighbours, 2 * d);
    EXPECT_EQ(z.rattlers, 0);
    const double solid = d == 2 ? pi / 4 : pi / 6;
    EXPECT_NEAR(packing_fraction(scene), solid, 1e-14);
    // Planes through the middle of balls cut them exactly; those of the corners and edges are sampled.
    const Region<d> aligned = BoxRegion<d>{Vec<d>::Constant(1), Vec<d>::Constant(3)};
    EXPECT_NEAR(packing_fraction(scene, &aligned), solid, 1e-14);
    Vec<d> lower = Vec<d>::Constant(1), upper = Vec<d>::Constant(3);
    lower[0] = 1.3;
    upper[0] = 2.3;  // what one side loses the other wins
    const Region<d> cut = BoxRegion<d>{lower, upper};
    EXPECT_NEAR(packing_fraction(scene, &cut), solid, 1e-14);
    const Region<d> whole = BoxRegion<d>{Vec<d>::Zero(), Vec<d>::Constant(4)};
    EXPECT_NEAR(packing_fraction(scene, &whole), solid, 1e-14);
    const Region<d> corners = BoxRegion<d>{Vec<d>::Constant(0.5), Vec<d>::Constant(2.5)};
    EXPECT_NEAR(packing_fraction(scene, &corners), solid, 0.005 * solid);
    const Stress<d> sigma = stress(scene, forces);
    EXPECT_NEAR((sigma.total() - Mat<d>::Identity()).norm(), 0, 1e-13);
    const Region<d> odd = BoxRegion<d>{Vec<d>::Constant(0.2), Vec<d>::Constant(3.2)};
    EXPECT_NEAR((stress(scene, forces, &odd).contact - Mat<d>::Identity()).norm(), 0, 1e-12);
    EXPECT_NEAR((fabric(scene, forces) - Mat<d>::Identity() / d).norm(), 0, 1e-14);
    EXPECT_NEAR(mean_diameter(scene), 1, 1e-14);
}

TEST(Measure, CubicLattice) {
    test_lattice<2>();
    test_lattice<3>();
}

TEST(Coordination, RattlersFallOneAfterAnother) {
    // A chain of three disks that ends freely on a lattice: with friction the last one has one contact, then the one
    // before...
    auto [scene, forces] = lattice<2>(3, 0.5);
    Index last = 4;
    for (int k = 0; k < 3; ++k) {
        const Index next = add_ball<2>(scene, 0.1, {0.1 * k, 0});
        forces.push_back(
            {last, next, 0, Vec<2>::UnitX(), -Vec<2>::UnitX(), -Vec<2>::UnitX(), -Vec<2>::UnitX()});
        last = next;
    }
    const Coordination z = coordination(scene, forces);
    EXPECT_EQ(z.grains, 12);
    EXPECT_EQ(z.rattlers, 3);
    EXPECT_EQ(z.contacts, 4);
    // Without friction a disk needs 3 contacts: one that has two is a rattler.
    auto [smooth, links] = lattice<2>(3, 0);
    const Index bridge = add_ball<2>(smooth, 0.1, {0, 0});
    links.push_back({0, bridge, 0, Vec<2>::UnitX(), -Vec<2>::UnitX(), -Vec<2>::UnitX(), -Vec<2>::UnitX()});
    links.push_back({1, bridge, 0, Vec<2>::UnitX(), -Vec<2>::UnitX(), -Vec<2>::UnitX(), -Vec<2>::UnitX()});
    EXPECT_EQ(coordination(smooth, links).rattlers, 1);
    EXPECT_EQ(coordination(smooth, links).contacts, 4);
}

TEST(FlowField, FindsTheSlopeAndLeavesItOut) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    Mat<3> gradient;
    gradient << 0, 0, 3, 0.5, 0, 0, 0, 0, -1;
    const Vec<3> drift(1, 2, 3);
    double sum = 0;
    for (int i = 0; i < 500; ++i) {
        const Vec<3> x(noise(i, 0), noise(i, 1), noise(i, 2));
        add_ball<3>(scene, 0.01, x, Vec<3>(drift + gradient * x));
    }
    const FlowField<3> field = flow_field<3>(scene);
    EXPECT_NEAR((field.gradient - gradient).norm(), 0, 1e-11);
    EXPECT_NEAR(granular_temperature<3>(scene), 0, 1e-20);
    // Agitation that has neither mean nor slope: pairs at one place with opposite velocities.
    for (int i = 0; i < 500; ++i) {
        scene.bodies.position[i] = scene.bodies.position[i / 2 * 2];
        const Vec<3> v = Vec<3>(noise(i / 2, 3), noise(i / 2, 4), 1) * (i % 2 == 0 ? 1 : -1);
        sum += v.squaredNorm();
        scene.bodies.velocity[i] = drift + gradient * scene.bodies.position[i] + v;
    }
    EXPECT_NEAR(granular_temperature<3>(scene), sum / 500 / 3, 1e-12);
    EXPECT_NEAR((flow_field<3>(scene).gradient - gradient).norm(), 0, 1e-11);
}

TEST(InertialNumber, OfSimpleShear) {
    // I = rate d sqrt(rho / p), with the stress of the lattice (1 Pa) and a profile that is exactly linear.
    auto [scene, forces] = lattice<3>(4, 0.5);
    scene.domain.shear_rate = 0.2;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        scene.bodies.velocity[i] = {0.2 * scene.bodies.position[i][2], 0, 0};
    EXPECT_NEAR(inertial_number(scene, forces), 0.2 * std::sqrt(2500.0), 1e-10);
    const Region<3> inner = BoxRegion<3>{Vec<3>::Zero(), Vec<3>::Constant(4)};
    EXPECT_NEAR(inertial_number(scene, forces, &inner), 0.2 * std::sqrt(2500.0), 1e-10);
    EXPECT_NEAR((mass_flux(scene, &inner) - Vec<3>(0.4 * 2500 * pi / 6, 0, 0)).norm(), 0, 1e-10);
}

template <int d>
Scene<d> cone(double angle, double radius) {
    Scene<d> scene = sample::empty_scene<d>(0.5);
    const double slope = std::tan(angle * sample::degree);
    for (int i = 0; i < 60'000; ++i) {
        Vec<d> x;
        for (int k = 0; k < d; ++k) x[k] = 2 * noise(i, k) - 1;
        x[d - 1] = 0.5 * slope * (x[d - 1] + 1);
        if (x[d - 1] < slope * (1 - x.template head<d - 1>().norm()))
            add_ball<d>(scene, radius, Vec<d>(x + Vec<d>::Constant(3)));
    }
    return scene;
}

TEST(Heap, AngleOfReposeOfACone) {
    for (const double angle : {15.0, 25.0, 35.0}) {
        const Repose plane = angle_of_repose(heap_profile(cone<2>(angle, 0.01)));
        EXPECT_NEAR(plane.left, angle, 0.5);
        EXPECT_NEAR(plane.right, angle, 0.5);
        const auto profile = heap_profile(cone<3>(angle, 0.01));
        EXPECT_NEAR(angle_of_repose(profile).mean, angle, 0.5);
        // The peak is cut off by the width of a cell.
        EXPECT_NEAR(profile.height, std::tan(angle * sample::degree),
                    0.07 * std::tan(angle * sample::degree) + 0.02);
    }
}

TEST(Heap, RunOutOfWhatHangsTogether) {
    Scene<2> scene = sample::empty_scene<2>(0.5);
    scene.gravity = {0, -sample::g};
    for (int i = 0; i < 5; ++i) add_ball<2>(scene, 0.1, {0.2 * i, 0.1});
    add_ball<2>(scene, 0.1, {2, 0.1});  // on its own
    sample::add_wall<2>(scene, Vec<2>::Zero(), Vec<2>::UnitY());
    StepMemory<2> memory;
    step(scene, sample::options(1e-3, 1e-8), memory);
    const RunOut<2> found = run_out(scene, memory);
    EXPECT_EQ(found.connected_grains, 5);
    EXPECT_NEAR(found.connected_left, -0.1, 1e-6);
    EXPECT_NEAR(found.connected_right, 0.9, 1e-6);
    EXPECT_NEAR(found.right, 2.1, 1e-6);
}

}  // namespace
}  // namespace drystone
