// Ranks and what they say to each other, under mpirun on any number of them.
#include "distributed/on_ranks.hpp"

#include <numeric>

namespace drystone {
namespace {

const int nothing = -1;  // what nobody has sent

int rank() { return everyone().rank(); }
int count() { return everyone().count(); }

TEST(Communicator, SumsAndLargest) {
    EXPECT_EQ(everyone().largest(static_cast<double>(rank())), count() - 1);
    EXPECT_TRUE(everyone().any(rank() == count() - 1));
    EXPECT_FALSE(everyone().any(false));
    std::array<double, 2> both = {static_cast<double>(rank()), static_cast<double>(-rank())};
    everyone().largest(both);
    EXPECT_EQ(both[0], count() - 1);
    EXPECT_EQ(both[1], 0);
    std::array<std::int64_t, 1> ones = {1};
    everyone().sum(std::span<std::int64_t>(ones));
    EXPECT_EQ(ones[0], count());
    EXPECT_EQ(everyone().sum_before(10), 10 * rank());
    // Exact: what rounding would lose in any order.
    std::array<ExactSum, 1> exact;
    exact[0].add(rank() == 0 ? 1e100 : 0);
    exact[0].add(1);
    exact[0].add(rank() == count() - 1 ? -1e100 : 0);
    everyone().sum(std::span<ExactSum>(exact));
    EXPECT_EQ(exact[0].value(), count());
}

TEST(Communicator, BytesOfAllComeInTheOrderOfRanks) {
    Writer mine;
    for (int k = 0; k < rank(); ++k) mine.put(rank());  // of rank 0 nothing
    const std::vector<std::byte> all = everyone().gather_all(mine.bytes);
    Reader reader(all);
    for (int r = 0; r < count(); ++r)
        for (int k = 0; k < r; ++k) EXPECT_EQ(reader.take<int>(), r);
    EXPECT_TRUE(reader.done());
}

TEST(Mail, ReachesThoseWhoDoNotExpectIt) {
    Mail mail(everyone());
    for (int round = 0; round < 3; ++round) {
        // Rank r writes to those above it, as many numbers as its own number and one.
        for (int to = rank() + 1; to < count(); ++to)
            for (int k = 0; k <= rank(); ++k) mail.to(to).put(100 * round + rank());
        int senders = 0;
        for (const auto& message : mail.send(Talk::bodies)) {
            if (message.bytes.empty()) continue;
            ++senders;
            int numbers = 0;
            for (Reader reader(message.bytes); !reader.done(); ++numbers)
                EXPECT_EQ(reader.take<int>(), 100 * round + message.rank);
            EXPECT_EQ(numbers, message.rank + 1);
        }
        EXPECT_EQ(senders, rank());
    }
}

TEST(Channel, SendsTheSameThingsAgainAndAgain) {
    Channel ring;
    ring.open(everyone(), 7, Talk::sweep);
    const int next = (rank() + 1) % count(), before = (rank() + count() - 1) % count();
    if (count() > 1) {
        ring.with(next).send = {0, 2};
        ring.with(before).receive = {1, 3};
    }
    for (const int stride : {1, 3}) {
        std::vector<double> data(4 * static_cast<std::size_t>(stride), nothing);
        for (int round = 0; round < 3; ++round) {
            for (const int thing : {0, 2})
                for (int k = 0; k < stride; ++k)
                    data[thing * stride + k] = 1000 * round + 10 * rank() + thing;
            ring.start(data.data(), stride);
            ring.finish(data.data(), stride);
            for (const int thing : {1, 3})
                for (int k = 0; k < stride; ++k)
                    EXPECT_EQ(data[thing * stride + k],
                              count() > 1 ? 1000 * round + 10 * before + thing - 1 : nothing);
        }
    }
}

}  // namespace
}  // namespace drystone
