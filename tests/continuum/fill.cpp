// Sand that is put somewhere, and taken away.
#include "drystone/continuum/fill.hpp"

#include "continuum/random_sand.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

template <class T>
class FilledSand : public ::testing::Test {};
TYPED_TEST_SUITE(FilledSand, testing::PlaneAndSpace);

TYPED_TEST(FilledSand, FillsARegionToItsFraction) {
    constexpr int d = TypeParam::value;
    for (const double fraction : {0.0, 0.3}) {
        Sand<d> sand;
        sand.cell.setConstant(0.1);
        sand.options.particles = 3;
        SandFill<d> plan;
        plan.region = BoxRegion<d>{Vec<d>::Constant(-0.15), Vec<d>::Constant(0.35)};
        plan.fraction = fraction;
        plan.scatter = 1;
        EXPECT_EQ(fill(plan, sand), static_cast<Index>(std::pow(15, d)));
        double volume = 0;
        for (Index i = 0; i < sand.particles.count(); ++i) {
            volume += sand.particles.volume[i];
            EXPECT_TRUE(contains<d>(plan.region, sand.particles.position[i]));
        }
        EXPECT_NEAR(volume, (fraction > 0 ? fraction : 0.6) * std::pow(0.5, d), 1e-12);
    }
}

TYPED_TEST(FilledSand, IsTakenAwayWithItsMassAndEnergy) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = testing::random_sand<d>(400);
    Particles<d>& p = sand.particles;
    p.cohesion.assign(p.id.size(), 3.0);
    const Vec<d> gravity = -9.81 * Vec<d>::Unit(d - 1);
    const auto totals = [&] {
        std::array<double, 2> out{};
        for (Index i = 0; i < p.count(); ++i) {
            out[0] += sand.mass(i);
            out[1] += sand.mass(i) * (0.5 * p.velocity[i].squaredNorm() - gravity.dot(p.position[i]));
        }
        return out;
    };
    Vec<d> upper = Vec<d>::Constant(infinity);
    upper[0] = 0.1;
    const Region<d> half = BoxRegion<d>{Vec<d>::Constant(-infinity), upper};
    const auto before = totals();
    const TakenAway went = take_away<d>(half, gravity, sand);
    const auto after = totals();
    EXPECT_GT(p.count(), 50);
    EXPECT_LT(p.count(), 350);
    EXPECT_NEAR(before[0] - after[0], went.mass, 1e-12 * before[0]);
    EXPECT_NEAR(before[1] - after[1], went.energy, 1e-12 * std::abs(before[1]) + 1e-12);
    for (const Vec<d>& x : p.position) EXPECT_GT(x[0], 0.1);
    EXPECT_TRUE(std::is_sorted(p.id.begin(), p.id.end()));
    visit_arrays([&](const auto& x) { EXPECT_EQ(x.size(), p.id.size()); }, p);
    // And the rest.
    take_away<d>(BoxRegion<d>{Vec<d>::Constant(-infinity), Vec<d>::Constant(infinity)}, gravity, sand);
    EXPECT_TRUE(sand.empty());
}

}  // namespace
}  // namespace drystone
