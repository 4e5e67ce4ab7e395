// From particles to the grid and back.
#include "drystone/continuum/transfer.hpp"

#include "continuum/random_sand.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <random>

namespace drystone {
namespace {

using testing::hat;
using testing::random_sand;

template <class T>
class GridOfSand : public ::testing::Test {};
TYPED_TEST_SUITE(GridOfSand, testing::PlaneAndSpace);

TYPED_TEST(GridOfSand, EachParticleIsInItsCellAndBlocksAreSorted) {
    constexpr int d = TypeParam::value;
    const Sand<d> sand = random_sand<d>(500);
    Grid<d> grid;
    GridState<d> state;
    to_grid(sand, 1, grid, state);
    std::vector<int> seen(500, 0);
    for (Index c = 0; c < grid.cell_count(); ++c) {
        EXPECT_LT(grid.cell_start[c], grid.cell_start[c + 1]);
        const Vec<d> origin = grid.cell_origin(c);
        for (Index q = grid.cell_start[c]; q < grid.cell_start[c + 1]; ++q) {
            const Index i = grid.order[q];
            ++seen[i];
            if (q > grid.cell_start[c]) {
                EXPECT_LT(grid.order[q - 1], i);
            }
            const Vec<d> x = (sand.particles.position[i] - origin).cwiseQuotient(sand.cell);
            EXPECT_TRUE((x.array() >= -1e-12).all() && (x.array() <= 1 + 1e-12).all());
        }
        for (const Index node : grid.corners_of(c)) EXPECT_GE(node, 0);
    }
    for (const int times : seen) EXPECT_EQ(times, 1);
    for (Index j = 0; j < grid.node_count(); ++j)
        EXPECT_EQ(grid.node_at(grid.lattice_place(grid.nodes[j])), j);
    for (std::size_t b = 0; b < grid.blocks.size(); ++b)
        EXPECT_EQ(grid.block_at(grid.blocks[b].at), static_cast<Index>(b));
    Lattice<d> nowhere = Lattice<d>::Constant(1 << 20);
    EXPECT_EQ(grid.node_at(nowhere), -1);
}

TYPED_TEST(GridOfSand, KeepsMassAndMomentumAndTurning) {
    constexpr int d = TypeParam::value;
    const Sand<d> sand = random_sand<d>(300);
    Grid<d> grid;
    GridState<d> state;
    to_grid(sand, 1, grid, state);
    const auto& p = sand.particles;
    double volume = 0;
    Vec<d> momentum = Vec<d>::Zero();
    Mat<d> turning = Mat<d>::Zero();  // angular momentum is its antisymmetric part
    for (Index i = 0; i < p.count(); ++i) {
        volume += p.volume[i];
        momentum += p.volume[i] * p.velocity[i];
        turning += p.volume[i] * p.velocity[i] * p.position[i].transpose();
        // The affine part turns about the particle by the second moment of its shape functions.
        Mat<d> spread = Mat<d>::Zero();
        for (Index j = 0; j < grid.node_count(); ++j) {
            const Vec<d> y = grid.node_position(j), r = y - p.position[i];
            spread += hat<d>(y, sand.cell, p.position[i]) * r * r.transpose();
        }
        turning += p.volume[i] * p.gradient[i] * spread;
    }
    for (Index j = 0; j < grid.node_count(); ++j) {
        volume -= state.volume[j];
        momentum -= state.volume[j] * state.velocity[j];
        turning -= state.volume[j] * state.velocity[j] * grid.node_position(j).transpose();
    }
    EXPECT_NEAR(volume, 0, 1e-15);
    EXPECT_LT(momentum.norm(), 1e-15);
    EXPECT_LT((turning - turning.transpose()).norm(), 1e-14);
}

TYPED_TEST(GridOfSand, NodesHaveWhatShapeFunctionsSay) {
    constexpr int d = TypeParam::value;
    const Sand<d> sand = random_sand<d>(200, 2);
    Grid<d> grid;
    GridState<d> state;
    to_grid(sand, 1, grid, state);
    const auto& p = sand.particles;
    for (Index j = 0; j < grid.node_count(); ++j) {
        const Vec<d> y = grid.node_position(j);
        double volume = 0;
        Vec<d> momentum = Vec<d>::Zero();
        for (Index i = 0; i < p.count(); ++i) {
            const double part = p.volume[i] * hat<d>(y, sand.cell, p.position[i]);
            volume += part;
            momentum += part * (p.velocity[i] + p.gradient[i] * (y - p.position[i]));
        }
        EXPECT_NEAR(state.volume[j], volume, 1e-14 * volume + 1e-19);
        EXPECT_LT((state.volume[j] * state.velocity[j] - momentum).norm(), 1e-13 * (momentum.norm() + 1e-4));
    }
}

TYPED_TEST(GridOfSand, AffineMotionGoesThereAndBackUnchanged) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = random_sand<d>(400, 3);
    auto& p = sand.particles;
    const Mat<d> L = Mat<d>::Random();
    const Vec<d> v0 = Vec<d>::Random();
    for (Index i = 0; i < p.count(); ++i) {
        p.velocity[i] = v0 + L * p.position[i];
        p.gradient[i] = L;
    }
    const Sand<d> was = sand;
    Grid<d> grid;
    GridState<d> state;
    to_grid(sand, 1, grid, state);
    for (Index j = 0; j < grid.node_count(); ++j)
        EXPECT_LT((state.velocity[j] - v0 - L * grid.node_position(j)).norm(), 1e-9);
    constexpr double h = 0.01;
    from_grid(grid, state.velocity, state.velocity, h, 1, sand);
    for (Index i = 0; i < p.count(); ++i) {
        EXPECT_LT((p.velocity[i] - was.particles.velocity[i]).norm(), 1e-10);
        EXPECT_LT((p.gradient[i] - L).norm(), 1e-8);
        // The way through a velocity field that does not change, to second order.
        const Vec<d> way = h * (v0 + L * was.particles.position[i]);
        EXPECT_LT((p.position[i] - was.particles.position[i] - way - 0.5 * h * (L * way)).norm(), 1e-10);
    }
}

/// Shear without change of volume changes none, but for the third order of the step; frames follow.
TYPED_TEST(GridOfSand, ShearKeepsVolume) {
    constexpr int d = TypeParam::value;
    Mat<d> L = Mat<d>::Random();
    L -= Mat<d>(L.trace() / d * Mat<d>::Identity());
    const auto volume_lost = [&](double h) {
        Sand<d> sand = random_sand<d>(100, 6);
        Particles<d>& p = sand.particles;
        const auto spanned = [&] {
            Mat<d> edges;
            for (int k = 0; k < d; ++k) edges.col(k) = p.position[k + 1] - p.position[0];
            return edges.determinant();
        };
        for (Index i = 0; i < p.count(); ++i) {
            p.velocity[i] = L * p.position[i];
            p.gradient[i] = L;
        }
        const double before = spanned();
        Grid<d> grid;
        GridState<d> state;
        to_grid(sand, 1, grid, state);
        from_grid(grid, state.velocity, state.velocity, h, 1, sand);
        const double lost = std::abs(spanned() / before - 1);
        for (const Mat<d>& frame : p.frame)
            EXPECT_NEAR(std::abs(frame.determinant() - 1), lost * (2 + lost), 1e-9);
        return lost;
    };
    EXPECT_LT(volume_lost(0.01), 1e-5 * std::pow(L.norm(), 3));
    EXPECT_GT(volume_lost(0.02) / volume_lost(0.01), 7);
}

/// Cohesion falls by a power of e per unit of shear, whatever the steps.
TYPED_TEST(GridOfSand, CohesionFallsAsItShears) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = random_sand<d>(100, 7);
    Particles<d>& p = sand.particles;
    sand.material.cohesion_decay = 0.7;
    p.cohesion.assign(p.id.size(), 1000);
    Mat<d> L = Mat<d>::Zero();  // simple shear, and a change of volume that does not count
    L(0, 1) = 3;
    L.diagonal().array() += 0.5;
    for (Index i = 0; i < p.count(); ++i) {
        p.velocity[i] = L * p.position[i];
        p.gradient[i] = L;
    }
    Grid<d> grid;
    GridState<d> state;
    to_grid(sand, 1, grid, state);
    from_grid(grid, state.velocity, state.velocity, 0.02, 1, sand);
    for (const double c : p.cohesion) EXPECT_NEAR(c, 1000 * std::exp(-0.7 * 3 * 0.02), 1e-6);
}

TYPED_TEST(GridOfSand, IsTheSameOnAnyThreadsAndInAnyOrderInMemory) {
    constexpr int d = TypeParam::value;
    const Sand<d> sand = random_sand<d>(2000, 4);
    Grid<d> grid, other;
    GridState<d> state, shuffled;
    to_grid(sand, 1, grid, state);
    for (const int threads : {2, 3, 8}) {
        to_grid(sand, threads, other, shuffled);
        EXPECT_EQ(shuffled.volume, state.volume);
        EXPECT_EQ(shuffled.velocity, state.velocity);
        EXPECT_EQ(other.order, grid.order);
    }
    std::vector<Index> order(2000);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(5));
    Sand<d> mixed = sand;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const Index i = order[k];
        visit_arrays(
            [&](auto& to, const auto& from) {
                if (!from.empty()) to[k] = from[i];
            },
            mixed.particles, sand.particles);
    }
    to_grid(mixed, 2, other, shuffled);
    EXPECT_EQ(shuffled.volume, state.volume);
    EXPECT_EQ(shuffled.velocity, state.velocity);
}

/// A cell that is full, and others beside it with one particle each, so far beyond its face along the first directions.
template <int d>
Sand<d> with_slivers(std::initializer_list<std::vector<double>> beyond) {
    Sand<d> sand;
    sand.cell.setConstant(0.5);
    Particles<d>& p = sand.particles;
    const auto add = [&](const Vec<d>& x) {
        p.id.push_back(p.next_id++);
        p.volume.push_back(0.01);
        p.position.push_back(x.cwiseProduct(sand.cell));
        p.velocity.emplace_back(Vec<d>::Unit(0) * static_cast<double>(p.next_id));
        p.gradient.emplace_back(Mat<d>::Random());
        p.frame.emplace_back(Mat<d>::Identity());
    };
    for (int c = 0; c < corners<d>; ++c) {
        Vec<d> x;
        for (int k = 0; k < d; ++k) x[k] = (c >> k & 1) != 0 ? 0.75 : 0.25;
        add(x);
    }
    for (const std::vector<double>& by : beyond) {
        Vec<d> x = Vec<d>::Constant(0.5);
        for (std::size_t k = 0; k < by.size(); ++k) x[static_cast<Eigen::Index>(k)] = by[k];
        add(x);
    }
    return sand;
}

TYPED_TEST(GridOfSand, AParticleInASliverOfAnEmptyCellCountsToTheNext) {
    constexpr int d = TypeParam::value;
    // Below, above, over an edge.
    const Sand<d> sand = with_slivers<d>({{-1e-7}, {1.03}, {-0.01, 1.04}});
    Grid<d> grid;
    GridState<d> state;
    to_grid(sand, 1, grid, state);
    ASSERT_EQ(grid.cell_count(), 1);
    EXPECT_EQ(grid.node_count(), corners<d>);
    EXPECT_EQ(grid.order.size(), sand.particles.id.size());
    EXPECT_TRUE(std::is_sorted(grid.order.begin(), grid.order.end()));
    double volume = 0;
    Vec<d> momentum = Vec<d>::Zero();
    for (Index j = 0; j < grid.node_count(); ++j) {
        volume += state.volume[j];
        momentum += state.volume[j] * state.velocity[j];
    }
    for (Index i = 0; i < sand.particles.count(); ++i) {
        volume -= sand.particles.volume[i];
        momentum -= sand.particles.volume[i] * sand.particles.velocity[i];
    }
    EXPECT_NEAR(volume, 0, 1e-16);
    EXPECT_LT(momentum.norm(), 1e-15);
    // It moves on from where it is, with the velocity at the face.
    Sand<d> moved = sand;
    std::vector<Vec<d>> velocity(grid.nodes.size());
    for (std::size_t j = 0; j < velocity.size(); ++j) velocity[j] = grid.node_position(static_cast<Index>(j));
    from_grid(grid, velocity, velocity, 1e-3, 1, moved);
    const Index above = corners<d> + 1;
    EXPECT_NEAR(moved.particles.velocity[above][0], 0.5, 1e-15);
    EXPECT_NEAR(moved.particles.position[above][0], 1.03 * 0.5 + 1e-3 * 0.5, 1e-6);
}

/// At an edge of a body sand slips through both faces into one empty cell: each particle counts to where it came from.
TYPED_TEST(GridOfSand, SliversOfOneCellMayCountToSeveral) {
    constexpr int d = TypeParam::value;
    // Beside the full cell, and in the cell (1, -1), a full one at (2, -1).
    const Sand<d> sand = with_slivers<d>({{1.5, -1e-7}, {1.4, 0.3}, {1.99, -0.5}, {2.4, -0.3}});
    Grid<d> grid;
    GridState<d> state;
    to_grid(sand, 1, grid, state);
    ASSERT_EQ(grid.cell_count(), 3);
    Lattice<d> corner = Lattice<d>::Zero();
    corner.template head<2>() = Eigen::Vector2i(1, -1);
    EXPECT_EQ(grid.node_at(corner), -1);
    EXPECT_EQ(grid.order.size(), sand.particles.id.size());
}

TYPED_TEST(GridOfSand, ASliverIsThinAndHasACellBesideIt) {
    constexpr int d = TypeParam::value;
    Grid<d> grid;
    GridState<d> state;
    // Farther than a sliver, and with another that is deeper in the cell.
    to_grid(with_slivers<d>({{-0.06}}), 1, grid, state);
    EXPECT_EQ(grid.cell_count(), 2);
    to_grid(with_slivers<d>({{-0.01}, {-0.5}}), 1, grid, state);
    EXPECT_EQ(grid.cell_count(), 2);
    // By itself, and two slivers beside each other.
    to_grid(with_slivers<d>({{-1.01}}), 1, grid, state);
    EXPECT_EQ(grid.cell_count(), 2);
    to_grid(with_slivers<d>({{-1.01}, {-2.01}}), 1, grid, state);
    EXPECT_EQ(grid.cell_count(), 3);
}

TYPED_TEST(GridOfSand, SliversAreTheSameOnAnyThreads) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = random_sand<d>(1000, 8);
    std::mt19937 engine(9);
    std::uniform_real_distribution<double> thin(-0.05, 0.05);
    for (Vec<d>& x : sand.particles.position)
        for (int k = 0; k < d; ++k)
            if (engine() % 3 == 0) x[k] = (std::round(x[k] / sand.cell[k]) + thin(engine)) * sand.cell[k];
    Grid<d> grid, other;
    GridState<d> state, shared;
    to_grid(sand, 1, grid, state);
    std::vector<int> seen(sand.particles.id.size(), 0);
    for (const Index i : grid.order) ++seen[i];
    for (const int times : seen) EXPECT_EQ(times, 1);
    for (Index c = 0; c < grid.cell_count(); ++c) {
        EXPECT_EQ(grid.blocks[grid.cells[c].block].cell[grid.cells[c].local], c);
        for (const Index node : grid.corners_of(c)) EXPECT_GE(node, 0);
    }
    for (const int threads : {2, 7}) {
        to_grid(sand, threads, other, shared);
        EXPECT_EQ(shared.volume, state.volume);
        EXPECT_EQ(shared.velocity, state.velocity);
        EXPECT_EQ(other.order, grid.order);
    }
}

TYPED_TEST(GridOfSand, RefusesAParticleThatIsNowhere) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = random_sand<d>(10);
    Grid<d> grid;
    GridState<d> state;
    for (const double x : {1e30, -1e30, std::nan("")}) {
        sand.particles.position[7][1] = x;
        EXPECT_THROW(to_grid(sand, 2, grid, state), std::exception);
    }
}

}  // namespace
}  // namespace drystone
