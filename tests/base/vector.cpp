#include "drystone/base/vector.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>

using namespace drystone;

TEST(Vector, IsEigensInExpressions) {
    Vector a(3), b = Vector::Constant(3, 2);
    a << 1, 2, 3;
    const Vector c = 2 * a + b;
    EXPECT_EQ(c[2], 8);
    EXPECT_EQ(a.dot(b), 12);
    a = Eigen::MatrixXd::Identity(3, 3) * c;
    EXPECT_TRUE(a == c);
    a = c.segment(1, 2);
    EXPECT_EQ(a.size(), 2);
    EXPECT_EQ(a[1], 8);
    a = Eigen::RowVectorXd::Ones(5);
    EXPECT_EQ(a.sum(), 5);
    EXPECT_EQ(Vector().size(), 0);
}

TEST(Vector, KeepsItsRoom) {
    Vector x(1000);
    const double* const at = x.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0);
    x.resize(0);
    x.setZero(900);
    EXPECT_EQ(x.data(), at);
    x = Vector::Ones(1000);
    EXPECT_EQ(x.data(), at);
    x.conservativeResize(5000);
    EXPECT_EQ(x.size(), 5000);
    EXPECT_EQ(x.head(1000).sum(), 1000);
}

TEST(Vector, GrowsIntoWhatItIsMadeOf) {
    Vector v(2);
    v << 1, 2;
    v = Eigen::MatrixXd::Ones(5, 2) * v;
    EXPECT_TRUE(v == Vector::Constant(5, 3));
    Vector w = Vector::Ones(3);
    w = w.replicate(4, 1);
    EXPECT_EQ(w.sum(), 12);
    EXPECT_THROW(w.resize(Eigen::Index{1} << 61), std::bad_alloc);
    EXPECT_EQ(w.sum(), 12);
}

TEST(Vector, CopiesAndMoves) {
    Vector a = Vector::LinSpaced(4, 0, 3), b;
    const double* const at = a.data();
    b = a;
    b[0] = 7;
    EXPECT_EQ(a[0], 0);
    Vector c = std::move(a);
    EXPECT_EQ(c.data(), at);
    swap(b, c);
    EXPECT_EQ(b.data(), at);
    EXPECT_EQ(c[0], 7);
    const Vector& same = b;
    b = same;
    EXPECT_EQ(b[3], 3);
}

TEST(Rooms, AreUsedAgain) {
    Rooms rooms;
    const double* at = nullptr;
    {
        ScratchVector x(rooms, 100);
        at = x.data();
    }
    {
        ScratchVector x(rooms, 90);
        EXPECT_EQ(x.data(), at);
        ScratchArray<int> other(10, 1, &rooms);
        EXPECT_NE(static_cast<const void*>(other.data()), at);
    }
    // The smaller of two that are large enough.
    ScratchArray<int> small(5, 1, &rooms);
    ScratchVector large(rooms, 100);
    EXPECT_EQ(large.data(), at);
    // What is taken outlives the rooms.
    Vector kept;
    {
        Rooms others;
        kept.resize(40, others);
    }
    kept.setOnes(40);
    EXPECT_EQ(kept.sum(), 40);
}

/// Memory from elsewhere is kept in the place of what was taken, and no more of it.
TEST(Rooms, DoNotHoard) {
    Rooms rooms;
    for (int k = 0; k < 10; ++k) Vector(50).give_to(rooms);
    EXPECT_EQ(rooms.blocks(), 0);
    Vector taken;
    taken.resize(50, rooms);
    for (int k = 0; k < 10; ++k) Vector(50).give_to(rooms);
    EXPECT_EQ(rooms.blocks(), 1);
}

/// Sizes that creep do not leave more and more behind.
TEST(Rooms, DoNotBecomeMore) {
    Rooms rooms;
    std::size_t held = 0;
    for (int size = 1000; size < 100'000; size += size / 20) {
        std::array<Rooms::Block, 3> blocks;
        held = 0;
        for (Rooms::Block& block : blocks) {
            block = rooms.take(static_cast<std::size_t>(size));
            held += block.bytes;
        }
        for (const Rooms::Block& block : blocks) rooms.give(block);
        EXPECT_LE(held, 3 * static_cast<std::size_t>(size) * 9 / 8 + 3);
        EXPECT_EQ(rooms.blocks(), 3);
    }
}
