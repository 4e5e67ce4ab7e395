// Particles that split and merge.
#include "drystone/continuum/resample.hpp"

#include "continuum/random_sand.hpp"
#include "drystone/continuum/fill.hpp"
#include "drystone/continuum/transfer.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

using testing::random_sand;

template <class T>
class Resampled : public ::testing::Test {};
TYPED_TEST_SUITE(Resampled, testing::PlaneAndSpace);

template <int d>
void resample_all(Sand<d>& sand, int threads = 1) {
    Grid<d> grid;
    sort_particles(sand, threads, grid);
    resample(grid, threads, sand);
}

/// What particles hold together: volume, momentum, and the moments of what they stand for.
template <int d>
struct Whole {
    double volume = 0, cohesion = 0;
    Vec<d> momentum = Vec<d>::Zero(), centre = Vec<d>::Zero();
    Mat<d> spread = Mat<d>::Zero();

    explicit Whole(const Particles<d>& p) {
        for (Index i = 0; i < p.count(); ++i) {
            volume += p.volume[i];
            momentum += p.volume[i] * p.velocity[i];
            centre += p.volume[i] * p.position[i];
            spread += p.volume[i] * (p.frame[i] / 3 + p.position[i] * p.position[i].transpose());
            if (!p.cohesion.empty()) cohesion += p.volume[i] * p.cohesion[i];
        }
    }
    void expect_same(const Whole& b) const {
        EXPECT_NEAR(volume, b.volume, 1e-12 * volume);
        EXPECT_NEAR(cohesion, b.cohesion, 1e-12 * cohesion);
        EXPECT_LT((momentum - b.momentum).norm(), 1e-12 * momentum.norm() + 1e-15);
        EXPECT_LT((centre - b.centre).norm(), 1e-12 * centre.norm() + 1e-15);
        EXPECT_LT((spread - b.spread).norm(), 1e-12 * spread.norm());
    }
};

/// A block of sand as it is filled in.
template <int d>
Sand<d> block_of_sand() {
    Sand<d> sand;
    sand.cell = Vec<d>::LinSpaced(0.1, 0.13);
    SandFill<d> plan;
    plan.region = BoxRegion<d>{Vec<d>::Zero(), 4 * sand.cell};
    fill(plan, sand);
    return sand;
}

TYPED_TEST(Resampled, LeavesALatticeAsItIs) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = block_of_sand<d>();
    const Sand<d> was = sand;
    resample_all(sand);
    EXPECT_EQ(sand.particles.id, was.particles.id);
    EXPECT_EQ(sand.particles.position, was.particles.position);
}

TYPED_TEST(Resampled, KeepsMassMomentumAndMoments) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = random_sand<d>(800, 2);
    Particles<d>& p = sand.particles;
    p.cohesion.assign(p.id.size(), 0.0);
    for (Index i = 0; i < p.count(); ++i) {
        p.volume[i] = 0.02 * (1 + i % 3) * sand.cell_volume();
        p.cohesion[i] = 100 + i % 7;
        Mat<d> axes = 0.1 * Mat<d>::Random();
        p.frame[i] = axes * axes.transpose() + 1e-4 * Mat<d>::Identity();
    }
    // Halves have velocities that the gradient says, so that momentum stays.
    const Whole<d> before(p);
    const Index was = p.count();
    resample_all(sand);
    EXPECT_NE(p.count(), was);
    before.expect_same(Whole<d>(p));
    std::vector<GlobalId> ids = p.id;
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
    EXPECT_LT(ids.back(), p.next_id);
    visit_arrays([&](const auto& x) { EXPECT_EQ(x.size(), p.id.size()); }, p);
}

/// Drawn out to four times the length at the same volume, sand comes to be about as many particles for its space as it
/// was filled in with, and none of them is long.
TYPED_TEST(Resampled, WhatIsDrawnOutSplits) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = block_of_sand<d>();
    Particles<d>& p = sand.particles;
    const Whole<d> first(p);
    const Index filled = p.count();
    constexpr int steps = 140;
    Mat<d> L = Mat<d>::Zero();
    L(0, 0) = 0.01;
    L(1, 1) = -0.01;
    for (int k = 0; k < steps; ++k) {
        for (Index i = 0; i < p.count(); ++i) {
            p.position[i] += L * p.position[i] + 0.5 * (L * (L * p.position[i]));
            p.frame[i] = deformed<d>(p.frame[i], L, 1);
        }
        resample_all(sand);
    }
    EXPECT_NEAR(Whole<d>(p).volume, first.volume, 1e-12 * first.volume);
    EXPECT_GT(p.count(), filled / 2);
    EXPECT_LT(p.count(), 3 * filled);
    for (const Mat<d>& frame : p.frame)
        EXPECT_LT(std::sqrt(frame(0, 0)), 0.75 * sand.cell[0] / sand.options.particles);
}

/// What falls is drawn out without end, and does not become more and more.
TYPED_TEST(Resampled, AStreamIsNotSplitWithoutEnd) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = block_of_sand<d>();
    Particles<d>& p = sand.particles;
    const Index filled = p.count();
    Mat<d> L = Mat<d>::Zero();
    L(0, 0) = 0.05;
    for (int k = 0; k < 200; ++k) {
        for (Index i = 0; i < p.count(); ++i) {
            p.position[i] += L * p.position[i] + 0.5 * (L * (L * p.position[i]));
            p.frame[i] = deformed<d>(p.frame[i], L, 1);
        }
        resample_all(sand);
    }
    EXPECT_LE(p.count(), 8 * filled);
    for (const Mat<d>& frame : p.frame)
        EXPECT_LT(std::sqrt(frame(0, 0)), 0.75 * sand.cell[0] / sand.options.particles);
}

TYPED_TEST(Resampled, IsTheSameOnAnyThreads) {
    constexpr int d = TypeParam::value;
    const auto made = [](int threads) {
        Sand<d> sand = random_sand<d>(3000, 3);
        for (Mat<d>& frame : sand.particles.frame) frame *= 1e-3;
        for (double& V : sand.particles.volume) V = 0.01 * sand.cell_volume();
        resample_all(sand, threads);
        return sand.particles;
    };
    const Particles<d> one = made(1);
    EXPECT_NE(one.count(), 3000);
    for (const int threads : {2, 3, 8}) {
        const Particles<d> many = made(threads);
        visit_arrays([](const auto& a, const auto& b) { EXPECT_EQ(a, b); }, one, many);
    }
}

}  // namespace
}  // namespace drystone
