#include "drystone/base/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using drystone::ExactSum;

namespace {

std::vector<double> wild_numbers(int n) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> mantissa(-1, 1);
    std::uniform_int_distribution<int> exponent(-300, 300);
    std::vector<double> x(n);
    for (auto& value : x) value = std::ldexp(mantissa(random), exponent(random));
    return x;
}

double sum_of(const std::vector<double>& x) {
    ExactSum sum;
    for (double value : x) sum.add(value);
    return sum.value();
}

}  // namespace

TEST(ExactSum, DoesNotDependOnOrderNorOnGrouping) {
    auto x = wild_numbers(1000);
    const double first = sum_of(x);
    std::mt19937_64 random(3);
    for (int k = 0; k < 20; ++k) {
        std::shuffle(x.begin(), x.end(), random);
        EXPECT_EQ(sum_of(x), first);
        ExactSum left, right;
        for (std::size_t i = 0; i < x.size(); ++i) (i % 3 == 0 ? left : right).add(x[i]);
        left.add(right);
        EXPECT_EQ(left.value(), first);
    }
}

TEST(ExactSum, CancelsExactly) {
    auto x = wild_numbers(500);
    const std::size_t n = x.size();
    for (std::size_t i = 0; i < n; ++i) x.push_back(-x[i]);
    x.push_back(1e-200);
    EXPECT_EQ(sum_of(x), 1e-200);
}

TEST(ExactSum, HandlesExtremesAndNotNumbers) {
    EXPECT_EQ(sum_of({5e-324, 5e-324}), 1e-323);
    EXPECT_EQ(sum_of({1.7e308, -1.7e308, 3.0}), 3.0);
    EXPECT_EQ(sum_of({-2.5}), -2.5);
    EXPECT_EQ(sum_of({}), 0.0);
    EXPECT_TRUE(std::isnan(sum_of({1.0, std::nan("")})));
}
