// A step on several ranks that is like one before asks the heap for nothing of its own. What MPI asks for is MPI's: it
// is written in C, and only C++'s `new` is counted here. Run under mpirun on any number of ranks.
#include "distributed/on_ranks.hpp"
#include "drystone/distributed/part.hpp"
#include "drystone/run/simulate.hpp"
#include "grains/sample_scenes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

namespace {

std::atomic<long> news = 0;

void* counted(std::size_t size, std::size_t alignment) {
    ++news;
    const std::size_t whole = (size + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, whole > 0 ? whole : alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return counted(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/,
                                       std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}

namespace drystone::testing {
namespace {

/// Problems of so many contacts are gathered and solved whole, by each rank alike (solve/solve.cpp).
constexpr std::int64_t small = 500;

/// The same steps four times, from one state: the fourth time there is nothing that has not been before.
template <int d>
void expect_quiet_steps(Scene<d> scene, const RankOptions& ranks, const std::string& what) {
    StepOptions options = sample::options(1e-3, 1e-3);
    options.solve.threads = 1;
    StepMemory<d> alone;  // each rank by itself, and all alike
    for (int k = 0; k < 300; ++k) step(scene, options, alone);
    const Scene<d> state = scene;
    Part<d> part(everyone());
    part.options = ranks;
    part.balancing.threshold = 1e9;  // space is cut once
    StepMemory<d> memory;
    int quiet = 0;
    std::int64_t shared = 0;
    for (int pass = 0; pass < 4; ++pass) {
        scene = state;
        own_nothing_yet(scene, part);
        memory.warm = alone.warm;
        memory.neighbours.valid = false;
        for (int k = 0; k < 40; ++k) {
            const std::int64_t searches = memory.neighbours.searches;
            const long before = news;
            const StepRecord record = step(scene, options, memory, &part);
            const long asked = news - before;
            if (pass < 3 || memory.neighbours.searches != searches || record.contacts <= small) continue;
            ++quiet;
            shared += part.halo.shared_bodies();
            EXPECT_EQ(asked, 0) << what << ", rank " << everyone().rank() << ", step " << k << ": "
                                << record.contacts << " contacts, " << name_of(record.solve.status);
        }
    }
    EXPECT_GE(quiet, 20) << what;
    if (everyone().count() > 1) {
        EXPECT_GT(shared, 0) << what << ": ranks have nothing to tell each other";
    }
}

template <int d>
Scene<d> heap(int across) {
    Scene<d> scene = sample::empty_scene<d>(0.5, 0, 0);
    scene.gravity[d - 1] = -sample::g;
    sample::add_box<d>(scene, 1);
    sample::add_balls<d>(scene, across, 1);
    return scene;
}

TEST(StepAllocationOnRanks, IsNoneOnceItIsWarm) {
    const long before = news;
    const Scene<3> balls = heap<3>(8);
    EXPECT_GT(news, before) << "the counter counts";
    expect_quiet_steps(balls, {}, "balls");
    expect_quiet_steps(heap<2>(24), {}, "disks");
    expect_quiet_steps(balls, {.split_between_ranks = true}, "balls, split between ranks");
}

}  // namespace
}  // namespace drystone::testing
