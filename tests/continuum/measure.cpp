// Totals of sand, and how far it reaches.
#include "drystone/continuum/measure.hpp"

#include "continuum/random_sand.hpp"
#include "drystone/continuum/fill.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

template <class T>
class MeasuredSand : public ::testing::Test {};
TYPED_TEST_SUITE(MeasuredSand, testing::PlaneAndSpace);

TYPED_TEST(MeasuredSand, ABlockIsAsLongAndHighAsItIs) {
    constexpr int d = TypeParam::value;
    Sand<d> sand;
    sand.cell.setConstant(0.1);
    SandFill<d> plan;
    Vec<d> upper = Vec<d>::Constant(0.4);
    upper[0] = 1.3;
    upper[d - 1] = 0.7;
    plan.region = BoxRegion<d>{Vec<d>::Zero(), upper};
    plan.velocity = Vec<d>::LinSpaced(1, 2);
    fill(plan, sand);
    // One that flies, far away.
    Particles<d>& p = sand.particles;
    const SandTotals<d> block = measure_sand<d>(sand, nullptr);
    visit_arrays(
        [](auto& x) {
            if (!x.empty()) x.push_back(x.back());
        },
        p);
    p.position.back().setConstant(5);
    p.volume.back() *= 1e-6;
    const SandTotals<d> with_it = measure_sand<d>(sand, nullptr);
    for (const SandTotals<d>& t : {block, with_it}) {
        EXPECT_NEAR(t.mass, 2600 * 0.6 * upper.prod(), 1e-5 * t.mass);
        EXPECT_LT((t.centre - 0.5 * upper).norm(), 1e-5);
        EXPECT_LT((t.velocity - plan.velocity).norm(), 1e-12);
        EXPECT_NEAR(t.kinetic, 0.5 * t.mass * plan.velocity.squaredNorm(), 1e-9 * t.mass);
        EXPECT_NEAR(t.left, 0, 1e-12);
        EXPECT_NEAR(t.right, 1.3, 1e-12);
        EXPECT_NEAR(t.top, 0.7, 1e-12);
    }
    upper[0] = 0.5;
    const Region<d> part = BoxRegion<d>{Vec<d>::Zero(), upper};
    EXPECT_NEAR(measure_sand<d>(sand, &part).right, 0.5, 1e-12);
    EXPECT_EQ(measure_sand<d>(Sand<d>(), nullptr).mass, 0);
}

}  // namespace
}  // namespace drystone
