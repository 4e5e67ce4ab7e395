// Named state: what was kept comes back to the bit, and what cannot be is refused by its name.
#include "drystone/run/state.hpp"

#include "support/message_of.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

enum class Mood : std::uint8_t { calm, wild };

struct Kept {
    std::int64_t steps = 0;
    double sum = 0;
    bool last = false;
    Mood mood = Mood::calm;
    std::vector<double> masses;
    std::vector<std::int64_t> grains;
};

template <class Self, class F>
requires std::same_as<std::remove_const_t<Self>, Kept>
void each_number(Self& k, F&& f) {
    f("steps", k.steps);
    f("parts/sum", k.sum);
    f("last", k.last, 1);
    f("mood", k.mood, static_cast<std::int64_t>(Mood::wild));
    f("masses", k.masses);
    f("grains", k.grains);
}

const Kept sample{7, -0.0, true, Mood::wild, {0.1, 5e-324}, {0, most_counted}};

TEST(State, ComesBackToTheBit) {
    Kept back;
    recall(state_of(sample), back);
    EXPECT_EQ(back.steps, 7);
    EXPECT_TRUE(std::signbit(back.sum));
    EXPECT_TRUE(back.last);
    EXPECT_EQ(back.mood, Mood::wild);
    EXPECT_EQ(back.masses, sample.masses);
    EXPECT_EQ(back.grains, sample.grains);
}

TEST(State, PartsLieInGroups) {
    State all;
    all.put("a", state_of(sample));
    all.put("a-b", state_of(Kept{}));
    EXPECT_TRUE(all.numbers.contains("a/parts/sum"));
    EXPECT_EQ(all.part("a"), state_of(sample));
    EXPECT_EQ(all.part("a-b"), state_of(Kept{}));
    EXPECT_EQ(all.part("a").part("parts").numbers.size(), 1U);
    EXPECT_TRUE(all.part("b").numbers.empty());
    EXPECT_EQ(all.part("a").part("parts").origin, "checkpoint/a/parts");
}

TEST(State, WhatCannotBeIsRefusedByItsName) {
    using Numbers = State::Numbers;
    const std::tuple<const char*, Numbers, const char*> cases[] = {
        {"steps", std::vector<std::int64_t>{-1}, "checkpoint/steps: holds -1, which is not from 0"},
        {"steps", std::vector<std::int64_t>{1, 2}, "checkpoint/steps: holds 2 numbers"},
        {"steps", std::vector{1.0}, "checkpoint/steps: holds no whole numbers"},
        {"last", std::vector<std::int64_t>{2}, "checkpoint/last: holds 2, which is not from 0 to 1"},
        {"mood", std::vector<std::int64_t>{2}, "checkpoint/mood: holds 2"},
        {"parts/sum", std::vector{std::nan("")}, "checkpoint/parts/sum: holds what is not a number"},
        {"parts/sum", std::vector<double>{}, "checkpoint/parts/sum: holds what is not a number"},
        {"masses", std::vector<double>{INFINITY}, "checkpoint/masses: holds inf"},
        {"grains", std::vector<std::int64_t>{most_counted + 1}, "checkpoint/grains: holds"},
    };
    for (const auto& [name, numbers, part] : cases) {
        State state = state_of(sample);
        state.numbers[name] = numbers;
        Kept back;
        const std::string message = message_of([&] { recall(state, back); });
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    State state = state_of(sample);
    state.numbers.erase("masses");
    Kept back;
    EXPECT_NE(message_of([&] { recall(state, back); }).find("checkpoint/masses: holds no real numbers"),
              std::string::npos);
}

}  // namespace
}  // namespace drystone::testing
