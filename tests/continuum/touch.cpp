// Where bodies are in the grid.
#include "drystone/continuum/touch.hpp"

#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace drystone {
namespace {

constexpr double width = 0.1;

/// Sand in all cells from -5 to 5 around 0 along each direction, at rest, and one free body.
template <int d>
struct SandAround {
    Scene<d> scene;
    Grid<d> grid;
    GridState<d> state;
    std::vector<NodeTouch<d>> touches;
    std::vector<Octants<d>> space;

    SandAround(const Shape<d>& shape, const Vec<d>& position) {
        Sand<d> sand;
        sand.cell.setConstant(width);
        Lattice<d> at = Lattice<d>::Constant(-5);
        for (int k = 0; k < d;) {
            Particles<d>& p = sand.particles;
            p.id.push_back(p.next_id++);
            p.volume.push_back(0.6 * sand.cell_volume());
            p.position.push_back(width * (at.template cast<double>() + Vec<d>::Constant(0.5)));
            p.velocity.push_back(Vec<d>::Zero());
            p.gradient.push_back(Mat<d>::Zero());
            p.frame.push_back(Mat<d>::Identity());
            for (k = 0; k < d && ++at[k] == 5; ++k) at[k] = -5;
        }
        to_grid(sand, 1, grid, state);
        scene.gravity[d - 1] = -9.81;
        BodyPlan<d> plan;
        scene.materials.add({"wood", 500}, PairLaw{});
        plan.shape = scene.add_shape(shape);
        plan.pose.position = position;
        scene.add_body(plan);
        find_touches(scene, grid, state, 1e-3, 1, touches, space);
    }

    /// Normals of the touches of the node at a place of the lattice.
    std::vector<Vec<d>> normals_at(const Lattice<d>& at) const {
        std::vector<Vec<d>> out;
        for (const NodeTouch<d>& t : touches)
            if (t.node == grid.node_at(at)) out.push_back(t.normal);
        return out;
    }
    double space_at(const Lattice<d>& at) const {
        double sum = 0;
        for (const double part : space[grid.node_at(at)]) sum += part;
        return sum / std::pow(width, d);
    }
};

template <int d>
Shape<d> block_of(double half) {
    if constexpr (d == 2) return make_rectangle(Vec<2>::Constant(half));
    if constexpr (d == 3) return make_box(Vec<3>::Constant(half));
}

template <int d>
Lattice<d> unit(int k) {
    return Lattice<d>::Unit(k);
}

template <class T>
class TouchesOfSand : public ::testing::Test {};
TYPED_TEST_SUITE(TouchesOfSand, testing::PlaneAndSpace);

/// A block from -2 to 2 cells: its faces are in planes of nodes.
TYPED_TEST(TouchesOfSand, AFaceIsMetOnceAndACornerByAllItsFaces) {
    constexpr int d = TypeParam::value;
    for (const double off : {0.0, 1e-6, -1e-6, 0.02, -0.02}) {
        const SandAround<d> at(block_of<d>(2 * width), Vec<d>::Constant(off));
        const Lattice<d> corner = Lattice<d>::Constant(2);
        std::vector<Vec<d>> normals = at.normals_at(corner);
        // Away from the corner, what is at rest meets nothing.
        if (off < -1e-4) {
            EXPECT_TRUE(normals.empty());
            continue;
        }
        ASSERT_EQ(normals.size(), std::size_t{d}) << off;
        for (int k = 0; k < d; ++k)
            EXPECT_TRUE(std::any_of(normals.begin(), normals.end(), [&](const Vec<d>& n) {
                return (n - Vec<d>::Unit(k)).norm() < 1e-6;
            })) << off;
        normals = at.normals_at(2 * unit<d>(0));
        ASSERT_EQ(normals.size(), 1U);
        EXPECT_LT((normals[0] - Vec<d>::Unit(0)).norm(), 1e-6);
    }
}

/// The part of a node's shape function that is outside, in closed form.
TYPED_TEST(TouchesOfSand, ABodyTakesItsPartOfTheSpaceAroundANode) {
    constexpr int d = TypeParam::value;
    const Lattice<d> corner = Lattice<d>::Constant(2), face = 2 * unit<d>(0);
    for (const double off :
         {0.0, 0.1, 0.25, 0.5, 0.77, -0.1, -0.4}) {  // of a cell, that the body is moved by
        const SandAround<d> at(block_of<d>(2 * width), Vec<d>::Constant(off * width));
        // Half of the hat, and what is between the node and the face.
        const double inside = off > 0 ? 0.5 + off - 0.5 * off * off : 0.5 + off + 0.5 * off * off;
        EXPECT_NEAR(at.space_at(face), 1 - inside, 0.01) << off;
        EXPECT_NEAR(at.space_at(corner), 1 - std::pow(inside, d), 0.02) << off;
    }
    const SandAround<d> still(block_of<d>(2 * width), Vec<d>::Zero());
    const SandAround<d> moved(block_of<d>(2 * width), Vec<d>::Constant(1e-7));
    for (const Lattice<d>& node : {face, corner, Lattice<d>(3 * unit<d>(0)), Lattice<d>(1 * unit<d>(0))})
        EXPECT_NEAR(moved.space_at(node), still.space_at(node), 1e-5);
}

TYPED_TEST(TouchesOfSand, WhatIsRoundIsMetOnce) {
    constexpr int d = TypeParam::value;
    const SandAround<d> at(Ball<d>{2 * width}, Vec<d>::Zero());
    ASSERT_FALSE(at.touches.empty());
    for (std::size_t k = 1; k < at.touches.size(); ++k) EXPECT_NE(at.touches[k].node, at.touches[k - 1].node);
}

/// Nodes in it belong to the side that they are nearer to: they may leave it.
TYPED_TEST(TouchesOfSand, AThinPlateIsMetOnOneSide) {
    constexpr int d = TypeParam::value;
    Vec<d> half = Vec<d>::Constant(10 * width);
    half[0] = 0.2 * width;
    Shape<d> plate;
    if constexpr (d == 2) plate = make_rectangle(half);
    if constexpr (d == 3) plate = make_box(half);
    const SandAround<d> at(plate, 0.1 * width * Vec<d>::Unit(0));
    const std::vector<Vec<d>> normals = at.normals_at(Lattice<d>::Zero());
    ASSERT_EQ(normals.size(), 1U);
    EXPECT_LT((normals[0] + Vec<d>::Unit(0)).norm(), 1e-6);
}

}  // namespace
}  // namespace drystone
