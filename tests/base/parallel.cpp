// Loops over threads: what a body throws, and how many threads there are.

#include "drystone/base/parallel.hpp"

#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace drystone::testing {
namespace {

/// An exception that leaves a region of threads ends the program; here the loop throws it, the same one on any number
/// of threads.
TEST(ParallelFor, ThrowsWhatTheLowestIndexThrew) {
    const auto body = [](Index i) {
        if (i == 37 || i == 71 || i == 99) fail("body " + std::to_string(i), "is nowhere", "look for it");
    };
    for (const int threads : {1, 2, 3, 8}) {
        EXPECT_EQ(message_of([&] { parallel_for(threads, 100, body); }), "body 37: is nowhere; look for it")
            << threads;
        EXPECT_EQ(message_of([&] { parallel_for_uneven(threads, 100, 4, body); }),
                  "body 37: is nowhere; look for it")
            << threads;
    }
}

TEST(ParallelFor, GoesOnAfterwards) {
    std::atomic<int> count = 0;
    EXPECT_EQ(message_of([&] { parallel_for(2, 10, [](Index) { fail("a", "b", "c"); }); }), "a: b; c");
    parallel_for(2, 10, [&](Index) { ++count; });
    EXPECT_EQ(count, 10);
}

TEST(ResolveThreads, IsBounded) {
    EXPECT_EQ(resolve_threads(1), 1);
    EXPECT_EQ(resolve_threads(7), 7);
    EXPECT_EQ(resolve_threads(100'000), most_threads);
    EXPECT_GE(resolve_threads(0), 1);
    EXPECT_LE(resolve_threads(-5), most_threads);
}

}  // namespace
}  // namespace drystone::testing
