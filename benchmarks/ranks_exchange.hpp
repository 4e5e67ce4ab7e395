// What `ranks` measures exchanges with: medians over repetitions, and plain MPI to compare with.
#pragma once

#include "drystone/base/timer.hpp"
#include "drystone/distributed/communicator.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace drystone {

inline double median(std::vector<double> x) {
    if (x.empty()) return 0;
    const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
    std::nth_element(x.begin(), middle, x.end());
    return *middle;
}

/// Medians of things that are timed in turn: each time after a barrier, and until the last rank is done.
inline std::vector<double> medians(const Communicator& team, int repetitions,
                                   const std::vector<std::function<void()>>& things) {
    std::vector<std::vector<double>> seconds(things.size());
    for (int k = -5; k < repetitions; ++k) {
        for (std::size_t i = 0; i < things.size(); ++i) {
            team.barrier();
            const Timer timer;
            things[i]();
            if (k >= 0) seconds[i].push_back(timer.seconds());
        }
    }
    std::vector<double> result;
    for (std::vector<double>& s : seconds) {
        team.largest(std::span(s));
        result.push_back(median(s));
    }
    return result;
}

/// The same bytes to the same ranks, colour by colour, from and to buffers that are ready: the least that MPI can be
/// asked for.
class PlainExchange {
public:
    PlainExchange(const Communicator& team, std::span<const Channel> colours, int stride) : team_(team) {
        for (const Channel& channel : colours) {
            auto& messages = colours_.emplace_back();
            for (const Channel::Partner& p : channel.partners())
                messages.push_back({p.rank, std::vector<double>(p.send.size() * stride),
                                    std::vector<double>(p.receive.size() * stride)});
        }
    }

    void operator()() {
        for (auto& messages : colours_) {
            requests_.clear();
            for (Message& m : messages)
                if (!m.in.empty())
                    MPI_Irecv(m.in.data(), static_cast<int>(m.in.size()), MPI_DOUBLE, m.rank, tag,
                              team_.comm(), &requests_.emplace_back());
            for (Message& m : messages)
                if (!m.out.empty())
                    MPI_Isend(m.out.data(), static_cast<int>(m.out.size()), MPI_DOUBLE, m.rank, tag,
                              team_.comm(), &requests_.emplace_back());
            MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        }
    }

private:
    static constexpr int tag = 900;
    struct Message {
        int rank;
        std::vector<double> out, in;
    };
    const Communicator& team_;
    std::vector<std::vector<Message>> colours_;
    std::vector<MPI_Request> requests_;
};

/// There and back again between ranks 0 and 1; seconds one way. Others wait.
inline double ping_pong(const Communicator& team, std::size_t bytes, int repetitions) {
    if (team.count() < 2) return 0;
    std::vector<std::byte> buffer(bytes);
    const int rank = team.rank(), size = static_cast<int>(bytes);
    const double seconds = medians(
        team, repetitions, {[&] {
            for (int k = 0; k < 10; ++k) {
                for (const int from : {0, 1}) {
                    if (rank == from) MPI_Send(buffer.data(), size, MPI_BYTE, 1 - from, 901, team.comm());
                    if (rank == 1 - from)
                        MPI_Recv(buffer.data(), size, MPI_BYTE, from, 901, team.comm(), MPI_STATUS_IGNORE);
                }
            }
        }})[0];
    return seconds / 20;
}

}  // namespace drystone
