// Parts of a scene and the halo between them, under mpirun on any number of ranks: every body is owned once, copies are
// the same bits, every contact is visited by one rank and kept by one.
#include "distributed/on_ranks.hpp"
#include "drystone/distributed/part.hpp"
#include "grains/sample_scenes.hpp"

#include <cstring>
#include <map>

namespace drystone {
namespace {

/// A heap of balls in a box that has settled a little, on several ranks.
struct Shared {
    Scene<3> scene = sample::empty_scene<3>(0.4);
    StepMemory<3> memory;
    Part<3> part{everyone()};
    std::int64_t balls = 0;

    explicit Shared(int steps) {
        scene.gravity = {0, 0, -9.81};
        sample::add_box<3>(scene, 1);
        const Index walls = scene.bodies.count();
        sample::add_balls<3>(scene, 7, 1);
        balls = scene.bodies.count() - walls;
        part.begin(scene, {});
        for (int k = 0; k < steps; ++k) step(scene, sample::options(2e-3, 1e-4), memory, &part);
    }
};

std::int64_t sum_of_all(std::int64_t x) {
    everyone().sum(std::span(&x, 1));
    return x;
}

TEST(Parts, EveryBodyIsOwnedByOneRank) {
    const Shared s(5);
    std::int64_t mine = 0;
    for (Index i = 0; i < s.scene.bodies.count(); ++i) {
        if (s.scene.bodies.is_free(i)) {
            EXPECT_GE(s.part.owner[i], 0);
            mine += s.part.owner[i] == everyone().rank() ? 1 : 0;
        } else {
            EXPECT_EQ(s.part.owner[i], everywhere);
        }
    }
    EXPECT_EQ(sum_of_all(mine), s.balls);
    EXPECT_GT(mine, 0) << "a rank without bodies tests nothing";
}

TEST(Parts, CopiesAreTheSameBits) {
    const Shared s(200);
    // All owners say how their bodies are; whoever has a copy compares.
    Writer mine;
    for (Index i = 0; i < s.scene.bodies.count(); ++i)
        if (s.part.owner[i] == everyone().rank()) put_body(mine, s.scene.bodies, i);
    const std::vector<std::byte> bytes = everyone().gather_all(mine.bytes);
    Bodies<3> all;
    for (Reader in(bytes); !in.done();) take_body(in, all);
    std::map<GlobalId, Index> place;
    for (Index i = 0; i < all.count(); ++i) place[all.id[i]] = i;
    std::int64_t copies = 0;
    for (Index i = 0; i < s.scene.bodies.count(); ++i) {
        if (s.part.owner[i] < 0 || s.part.owner[i] == everyone().rank()) continue;
        ++copies;
        Writer here, there;
        put_body(here, s.scene.bodies, i);
        put_body(there, all, place.at(s.scene.bodies.id[i]));
        EXPECT_EQ(here.bytes, there.bytes) << "body " << s.scene.bodies.id[i];
    }
    copies = sum_of_all(copies);
    EXPECT_EQ(copies > 0, everyone().count() > 1);
}

TEST(Halo, EveryContactIsVisitedOnceAndKeptOnce) {
    const Shared s(200);
    const Held<3>& held = s.part.held;
    ASSERT_EQ(held.ours.size(), s.memory.contacts.size());
    ASSERT_EQ(held.home.size(), s.memory.contacts.size());
    std::int64_t visited = 0, kept = 0;
    for (std::size_t i = 0; i < held.ours.size(); ++i) {
        visited += held.ours[i];
        kept += held.home[i];
        EXPECT_EQ(held.ours[i] != 0, held.visitor[i] == everyone().rank());
    }
    EXPECT_EQ(sum_of_all(visited), held.contacts);
    EXPECT_EQ(sum_of_all(kept), held.contacts);
    EXPECT_GT(held.contacts, s.balls);
}

TEST(Halo, WhatIsKeptAtHomeComesToAllWhoHoldIt) {
    Shared s(200);
    const ConeProblem& problem = s.memory.assembled.problem;
    // Each home writes a number that follows from the key; the others write nothing.
    const auto number = [](const ContactKey& key, int c) {
        return static_cast<double>(1000 * key.first + 10 * key.second + c);
    };
    Vector rows = Vector::Zero(problem.rows());
    for (std::size_t i = 0; i < s.memory.contacts.size(); ++i)
        if (s.part.held.home[i] != 0)
            for (int c = 0; c < 3; ++c) rows[problem.offset[i] + c] = number(s.memory.contacts[i].key, c);
    s.part.recall(rows);
    for (std::size_t i = 0; i < s.memory.contacts.size(); ++i)
        for (int c = 0; c < 3; ++c)
            EXPECT_EQ(rows[problem.offset[i] + c], number(s.memory.contacts[i].key, c));
}

}  // namespace
}  // namespace drystone
