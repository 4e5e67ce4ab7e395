// What random grains are made of: sizes follow their laws, and belong to the seed and the id alone.

#include "drystone/bodies/recipe.hpp"

#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace drystone::testing {
namespace {

/// Mean of f(size) over the distribution, by the midpoints of n equal parts of it.
double mean(const SizeLaw& law, int d, const std::function<double(double)>& f, int n = 200000) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += f(draw_size(law, (i + 0.5) / n, d));
    return sum / n;
}

TEST(Recipe, TheNormalQuantileIsTheInverse) {
    for (const double p : {1e-300, 1e-20, 1e-6, 0.01, 0.3, 0.5, 0.7, 0.99}) {
        const double z = normal_quantile(p);
        EXPECT_NEAR(0.5 * std::erfc(-z / std::numbers::sqrt2) / p, 1, 1e-12) << p;
    }
    EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
    EXPECT_NEAR(normal_quantile(0.5), 0, 1e-16);
}

TEST(Recipe, NormalSizesHaveTheMomentsOfTheCutDistribution) {
    // Far ends: the plain normal distribution. The midpoint rule misses of the variance what lies in the last 1 /
    // 200,000.
    const NormalSize wide{2, 0.1, 1, 3};
    EXPECT_NEAR(mean(wide, 3, [](double s) { return s; }), 2, 1e-9);
    EXPECT_NEAR(mean(wide, 3, [](double s) { return (s - 2) * (s - 2); }), 0.01, 1e-6);
    // Cut on one side at the mean: the half-normal distribution, mean 2 + 0.1 sqrt(2 / pi).
    const NormalSize half{2, 0.1, 2, 3};
    EXPECT_NEAR(mean(half, 3, [](double s) { return s; }), 2 + 0.1 * std::sqrt(2 / std::numbers::pi), 1e-6);
    // All in the upper tail.
    const NormalSize tail{1, 0.1, 1.5, 1.6};
    EXPECT_GE(draw_size(tail, 0, 3), 1.5);
    EXPECT_LE(draw_size(tail, 1 - 0x1p-53, 3), 1.6);
    EXPECT_NEAR(draw_size(tail, 0.5, 3), 1.5 + 0.1 * 0.1307, 2e-4)
        << "the median of a tail beyond 5 deviations";
}

TEST(Recipe, LogNormalSizesHaveTheirMedianAndSpread) {
    const LogNormalSize law{0.01, 1.5, 0.0001, 1};
    EXPECT_NEAR(draw_size(law, 0.5, 3), 0.01, 1e-15);
    EXPECT_NEAR(draw_size(law, 0.5 * std::erfc(-1 / std::numbers::sqrt2), 3), 0.015, 1e-14);
    const double s = std::log(1.5);
    EXPECT_NEAR(mean(law, 3, [](double x) { return x; }), 0.01 * std::exp(0.5 * s * s), 1e-7);
    const LogNormalSize cut{1, 2, 0.9, 1.1};
    EXPECT_NEAR(draw_size(cut, 0, 3), 0.9, 1e-15);
    EXPECT_NEAR(draw_size(cut, 1 - 0x1p-53, 3), 1.1, 1e-14);
}

TEST(Recipe, TablesByNumberAreInterpolated) {
    const TableSize law{{1, 2, 4, 5}, {0, 0.5, 0.5, 1}, false};
    EXPECT_EQ(draw_size(law, 0, 3), 1);
    EXPECT_EQ(draw_size(law, 0.25, 3), 1.5);
    EXPECT_EQ(draw_size(law, 0.75, 3), 4.5) << "nothing is between 2 and 4";
    EXPECT_EQ(largest_size(law), 5);
}

TEST(Recipe, TablesByMassGiveThoseSharesOfTheMass) {
    const TableSize law{{1, 2, 3, 6}, {0, 0.2, 0.7, 1}, true};
    for (const int d : {2, 3}) {
        auto mass_below = [&](double size) {
            return mean(law, d, [&](double s) { return s <= size ? std::pow(s, d) : 0.0; });
        };
        const double all = mass_below(10);
        EXPECT_NEAR(mass_below(2) / all, 0.2, 1e-4) << d;
        EXPECT_NEAR(mass_below(3) / all, 0.7, 1e-4) << d;
        EXPECT_NEAR(mass_below(2.5) / all, 0.45, 1e-4) << d << ": linear between";
        EXPECT_NEAR(mass_below(4.5) / all, 0.85, 1e-4) << d;
    }
}

TEST(Recipe, LawsThatMakeNoSenseAreRefused) {
    auto says = [](const SizeLaw& law, const char* words) {
        const std::string message = message_of([&] { check(law, "size"); });
        EXPECT_NE(message.find(words), std::string::npos) << message;
    };
    says(UniformSize{2, 1}, "no range of sizes");
    says(NormalSize{1, -0.1, 0.5, 1.5}, "deviation > 0");
    says(NormalSize{1, 0.01, 2, 3}, "hardly any");
    says(NormalSize{1, 0.1, 0, 1}, "min > 0");
    says(LogNormalSize{1, 0.9, 0.5, 1.5}, "spread");
    says(TableSize{{1, 2}, {0, 0.9}, false}, "from 0 to 0.9");
    says(TableSize{{1, 2, 2}, {0, 0.5, 1}, false}, "point 2");
    says(TableSize{{1}, {1}, false}, "make no curve");
    check(TableSize{{1, 2, 3}, {0, 0.5, 1}, true}, "size");
}

Recipe<3> two_kinds() {
    Recipe<3> recipe;
    recipe.parts.push_back({1, {{0, 1, {}}}, 0, UniformSize{1, 2}});
    recipe.parts.push_back({3, {{1, 0.5, {}}, {2, 1, {}}}, 1, UniformSize{1, 1}});
    recipe.speed = 2;
    return recipe;
}

TEST(Recipe, MixturesHaveTheirSharesByNumber) {
    const Recipe<3> recipe = two_kinds();
    const Random random(11);
    std::array<int, 3> count{};
    constexpr int n = 40000;
    Vec<3> velocity = Vec<3>::Zero();
    Mat<3> axes = Mat<3>::Zero();
    for (GlobalId id = 0; id < n; ++id) {
        const BodyPlan<3> body = draw_body(recipe, random, id);
        ++count[static_cast<std::size_t>(body.shape)];
        EXPECT_EQ(body.material, body.shape == 0 ? 0 : 1);
        if (body.shape == 1) {
            EXPECT_EQ(body.size, 0.5);
        }
        EXPECT_NEAR(body.velocity.norm(), 2, 1e-14);
        velocity += body.velocity / n;
        const Vec<3> axis = matrix(body.pose.rotation).col(0);
        axes += axis * axis.transpose() / n;
    }
    // Binomial: sqrt(n p (1 - p)) <= 97; four of these.
    EXPECT_NEAR(count[0], 0.25 * n, 390);
    EXPECT_NEAR(count[1], 0.375 * n, 390);
    EXPECT_LT(velocity.norm(), 4 * 2 / std::sqrt(n));
    EXPECT_LT((axes - Mat<3>::Identity() / 3).norm(), 0.01) << "no direction is preferred";
}

TEST(Recipe, ABodyBelongsToItsIdAlone) {
    const Recipe<3> recipe = two_kinds();
    const BodyPlan<3> once = draw_body(recipe, Random(5), 17);
    draw_body(recipe, Random(5), 16);
    const BodyPlan<3> again = draw_body(recipe, Random(5), 17), other = draw_body(recipe, Random(6), 17);
    EXPECT_EQ(once.size, again.size);
    EXPECT_EQ(once.pose.rotation.q.coeffs(), again.pose.rotation.q.coeffs());
    EXPECT_NE(once.pose.rotation.q.coeffs(), other.pose.rotation.q.coeffs());
}

}  // namespace
}  // namespace drystone::testing
