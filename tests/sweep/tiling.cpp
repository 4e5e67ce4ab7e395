// Tiles and colours of problems that come without geometry.
#include "drystone/sweep/tiling.hpp"

#include "solve/sample_problems.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

ConeProblem many_contacts() {
    return random_bodies({.bodies = 300, .contacts = 900, .seed = 3},
                         [](int) { return Cone::second_order(3, 0.5); });
}

TEST(ContactGraph, TilesListEveryBlockOnceAndColoursShareNoBody) {
    for (const Index size : {1, 7, 64, 100000}) {
        ConeProblem problem = many_contacts();
        problem.tiling = tile_contact_graph(Delassus(problem), size);
        EXPECT_TRUE(find_faults(problem).empty()) << find_faults(problem).front();
        const Tiling& tiling = problem.tiling;
        EXPECT_GE(tiling.tiles(), (problem.blocks() + size - 1) / size);
        for (Index t = 0; t < tiling.tiles(); ++t)
            EXPECT_LE(tiling.tile_start[t + 1] - tiling.tile_start[t], size);
    }
}

TEST(ContactGraph, DependsOnTheProblemAlone) {
    const ConeProblem problem = many_contacts();
    const Tiling one = tile_contact_graph(Delassus(problem, 1)),
                 four = tile_contact_graph(Delassus(problem, 4));
    EXPECT_EQ(one.order, four.order);
    EXPECT_EQ(one.tile_start, four.tile_start);
    EXPECT_EQ(one.colour_start, four.colour_start);
}

TEST(ContactGraph, AProblemsOwnTilingIsTaken) {
    ConeProblem problem = many_contacts();
    problem.tiling = tile_contact_graph(Delassus(problem), 5);
    EXPECT_EQ(tiling_of(Delassus(problem)).order, problem.tiling.order);
}

TEST(ContactGraph, AnEmptyProblemHasNoTiles) {
    const ConeProblem problem = unit_body();
    EXPECT_EQ(tile_contact_graph(Delassus(problem)).tiles(), 0);
}

}  // namespace
}  // namespace drystone::testing
