// Impulses go from step to step by the key of their contact, in world axes and per length of the step.
#include "drystone/contact/warm_start.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

Contact<3> contact(GlobalId first, GlobalId second, const Vec<3>& normal, std::uint32_t feature = 0) {
    Contact<3> c;
    c.arm_a = c.arm_b = Vec<3>::Zero();
    c.normal = normal;
    c.key = {first, second, 0, feature};
    return c;
}

ConeProblem problem_of(std::size_t contacts) {
    ConeProblem problem;
    for (std::size_t i = 0; i < contacts; ++i) problem.add_block(Cone::second_order(3, 0.5));
    return problem;
}

/// An impulse of the world in the frame of a contact, and back, by way of the memory.
Vector numbers(std::initializer_list<double> values) {
    Vector r(static_cast<Eigen::Index>(values.size()));
    std::copy(values.begin(), values.end(), r.data());
    return r;
}

TEST(WarmStart, GivesBackWhatItWasGivenScaledToTheStep) {
    const ContactSet<3> contacts = {contact(1, 2, {1, 0, 0}), contact(1, 3, {0, 0.6, 0.8})};
    const ConeProblem problem = problem_of(2);
    const Vector r = numbers({3, 0.5, -1, 2, 0.25, 0.125});
    WarmStart<3> memory;
    remember(contacts, problem, 0, 0.01, r, memory);
    Vector start;
    recall(memory, contacts, problem, 0, 0.005, start);
    ASSERT_EQ(start.size(), 6);
    for (int k = 0; k < 6; ++k) EXPECT_NEAR(start[k], 0.5 * r[k], 1e-15) << k;
}

TEST(WarmStart, FollowsKeysAndNotPlaces) {
    const ConeProblem two = problem_of(2), three = problem_of(3);
    const Vec<3> n{0, 0, 1};
    WarmStart<3> memory;
    remember({contact(1, 2, n), contact(4, 7, n, 3)}, two, 0, 1, numbers({1, 0, 0, 2, 0, 0}), memory);
    // One has gone, two are new (one of them the same pair at another feature), one stays.
    Vector start;
    recall(memory, {contact(0, 2, n), contact(4, 7, n, 2), contact(4, 7, n, 3)}, three, 0, 1, start);
    EXPECT_EQ(start, numbers({0, 0, 0, 0, 0, 0, 2, 0, 0}));
}

TEST(WarmStart, AnImpulseStaysWhereItPointsWhenTheFrameTurns) {
    const ConeProblem one = problem_of(1);
    WarmStart<3> memory;
    // The normal impulse of a contact along x ...
    remember({contact(1, 2, {1, 0, 0})}, one, 0, 1, numbers({2, 0, 0}), memory);
    EXPECT_NEAR((memory.impulse[0] - Vec<3>(2, 0, 0)).norm(), 0, 1e-15);
    // ... has, in a frame turned by 60 degrees, half its size along the normal, and the rest across it.
    Vector start;
    recall(memory, {contact(1, 2, {0.5, std::sqrt(0.75), 0})}, one, 0, 1, start);
    EXPECT_NEAR(start[0], 1, 1e-12);
    EXPECT_NEAR(std::hypot(start[1], start[2]), std::sqrt(3.0), 1e-12);
}

TEST(WarmStart, RemembersOnlyWhatIsOurs) {
    const Vec<3> n{0, 0, 1};
    WarmStart<3> memory;
    const std::vector<std::uint8_t> ours = {0, 1};
    remember({contact(1, 2, n), contact(1, 3, n)}, problem_of(2), 0, 1, numbers({1, 0, 0, 2, 0, 0}), memory,
             ours);
    ASSERT_EQ(memory.key.size(), 1U);
    EXPECT_EQ(memory.key[0].second, 3);
}

}  // namespace
}  // namespace drystone
