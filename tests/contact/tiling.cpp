// Tiles of a colour share no free body, and every contact is in one tile: what sweeps on several threads rely on.
#include "drystone/contact/tiling.hpp"

#include "collide/random_scene.hpp"
#include "drystone/collide/detect.hpp"
#include "drystone/contact/assemble.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace drystone {
namespace {

template <int d>
struct Tiled {
    Scene<d> scene;
    ContactSet<d> contacts;
    ConeProblem problem;
};

template <int d>
Tiled<d> tiled_scene(const testing::RandomScene& options, const TilingOptions& tiling) {
    Tiled<d> out;
    out.scene = testing::make_scene<d>(options);
    const Index n = out.scene.bodies.count();
    std::vector<double> reach(n);
    for (Index i = 0; i < n; ++i)
        reach[i] = std::isfinite(out.scene.inner_radius(i)) ? 0.05 * out.scene.inner_radius(i) : 0;
    Neighbours<d> neighbours;
    detect<d>(out.scene, reach, {}, neighbours, out.contacts);
    Assembled<d> assembled;
    const Vector v = Vector::Zero(static_cast<Eigen::Index>(n) * body_velocities<d>);
    assemble<d>(out.scene, out.contacts, v, {}, assembled);
    out.problem = std::move(assembled.problem);
    tile_by_cells<d>(out.scene, out.contacts, static_cast<Index>(out.contacts.size()), reach, tiling,
                     out.problem.tiling);
    return out;
}

/// By contacts and bodies of the scene, without the problem; the other half is find_faults.
template <int d>
void expect_no_conflict(const Tiled<d>& x) {
    const Tiling& t = x.problem.tiling;
    ASSERT_EQ(t.order.size(), x.contacts.size());
    ASSERT_EQ(t.tile_start.back(), static_cast<Index>(t.order.size()));
    ASSERT_EQ(t.colour_start.back(), t.tiles());
    EXPECT_TRUE(std::is_sorted(t.tile_start.begin(), t.tile_start.end()));
    EXPECT_TRUE(std::is_sorted(t.colour_start.begin(), t.colour_start.end()));
    std::vector<int> times(x.contacts.size(), 0);
    for (const Index i : t.order) ++times[i];
    EXPECT_EQ(std::count(times.begin(), times.end(), 1), static_cast<std::ptrdiff_t>(times.size()));
    for (Index c = 0; c < t.colours(); ++c) {
        std::vector<Index> tile_of(x.scene.bodies.count(), -1);
        for (Index tile = t.colour_start[c]; tile < t.colour_start[c + 1]; ++tile)
            for (Index q = t.tile_start[tile]; q < t.tile_start[tile + 1]; ++q)
                for (const Index body : {x.contacts[t.order[q]].a, x.contacts[t.order[q]].b}) {
                    if (!x.scene.bodies.is_free(body)) continue;
                    ASSERT_TRUE(tile_of[body] == -1 || tile_of[body] == tile)
                        << "body " << body << " in two tiles of colour " << c;
                    tile_of[body] = tile;
                }
    }
    const auto faults = find_faults(x.problem);
    EXPECT_TRUE(faults.empty()) << faults.front();
}

template <class D>
class TilingByCells : public ::testing::Test {};
TYPED_TEST_SUITE(TilingByCells, testing::PlaneAndSpace);

TYPED_TEST(TilingByCells, TilesOfAColourShareNoFreeBody) {
    constexpr int d = TypeParam::value;
    Index most_tiles = 0, most_colours = 0;
    for (const double ratio : {1.0, 10.0, 100.0})
        for (int periodic = 0; periodic <= d; ++periodic)
            for (const bool all_shapes : {false, true})
                for (unsigned seed = 1; seed <= 8; ++seed) {
                    SCOPED_TRACE(::testing::Message() << "ratio " << ratio << ", periodic " << periodic
                                                      << ", all shapes " << all_shapes << ", seed " << seed);
                    // Few bodies too: periods of one, two or three cells are where parity could go wrong.
                    const testing::RandomScene options{
                        .bodies = seed <= 4 ? 1500 : 30 * static_cast<int>(seed),
                        .ratio = ratio,
                        .periodic = periodic,
                        .all_shapes = all_shapes,
                        .seed = seed};
                    const Tiled<d> x = tiled_scene<d>(options, {.cell_width = seed % 2 ? 4.0 : 8.0});
                    ASSERT_GT(x.contacts.size(), 10U);
                    expect_no_conflict(x);
                    if (::testing::Test::HasFailure()) return;
                    most_tiles = std::max(most_tiles, x.problem.tiling.tiles());
                    most_colours = std::max(most_colours, x.problem.tiling.colours());
                }
    EXPECT_GT(most_tiles, 40) << "the scenes should have enough tiles for conflicts to be possible";
    EXPECT_GT(most_colours, 1 << d) << "several grids";
}

TYPED_TEST(TilingByCells, DoesNotDependOnThreads) {
    constexpr int d = TypeParam::value;
    const testing::RandomScene options{.bodies = 3000, .ratio = 10, .periodic = 1};
    const Tiled<d> alone = tiled_scene<d>(options, {});
    for (const int threads : {2, 8}) {
        const Tiled<d> x = tiled_scene<d>(options, {.threads = threads});
        EXPECT_EQ(x.problem.tiling.order, alone.problem.tiling.order);
        EXPECT_EQ(x.problem.tiling.tile_start, alone.problem.tiling.tile_start);
        EXPECT_EQ(x.problem.tiling.colour_start, alone.problem.tiling.colour_start);
    }
}

/// A row of balls as long as the period, at every place of the row in it: the first and the last touch across the
/// border.
TYPED_TEST(TilingByCells, RingsOfEveryLength) {
    constexpr int d = TypeParam::value;
    for (int count = 3; count <= 80; ++count)
        for (int k = 0; k < 4; ++k) {
            Tiled<d> x;
            x.scene.materials.add({}, {});
            x.scene.add_shape(Ball<d>{0.5});
            x.scene.domain.period[0] = count;
            for (int i = 0; i < count; ++i) {
                BodyPlan<d> plan;
                plan.pose.position[0] = i + 0.25 * k;
                x.scene.add_body(plan);
            }
            Neighbours<d> neighbours;
            const std::vector<double> reach(count, 1e-3);
            detect<d>(x.scene, reach, {}, neighbours, x.contacts);
            ASSERT_EQ(x.contacts.size(), static_cast<std::size_t>(count));
            Assembled<d> assembled;
            assemble<d>(x.scene, x.contacts,
                        Vector::Zero(static_cast<Eigen::Index>(count) * body_velocities<d>), {}, assembled);
            x.problem = std::move(assembled.problem);
            tile_by_cells<d>(x.scene, x.contacts, count, reach, {.cell_width = 4}, x.problem.tiling);
            SCOPED_TRACE(count);
            expect_no_conflict(x);
        }
}

}  // namespace
}  // namespace drystone
