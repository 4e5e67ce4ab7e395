// The ranks of a run and what they say to each other: a thin layer over MPI's C interface.
//
// All calls but those of Channel's partners are collective. Every message is counted, for the report on ranks.
#pragma once

#include "drystone/base/exact_sum.hpp"
#include "drystone/base/types.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace drystone {

/// What is being talked about; messages and bytes are counted by this.
enum class Talk : std::uint8_t { bodies, plan, sweep, gather, rows, sums, files };
inline constexpr std::array talk_names = {"bodies", "plan", "sweep", "gather", "rows", "sums", "files"};

struct Traffic {
    std::int64_t messages = 0, bytes = 0;  ///< sent by this rank
};

/// Appends plain data to a message, and takes it out again in the same order.
class Writer {
public:
    template <class T>
    void put(const T& x) {
        static_assert(std::is_trivially_copyable_v<T>);
        put_raw(x);
    }
    /// Likewise for structs of Eigen's fixed vectors, which are plain numbers though C++ does not know it.
    template <class T>
    void put_raw(const T& x) {
        const auto* begin = reinterpret_cast<const std::byte*>(&x);
        bytes.insert(bytes.end(), begin, begin + sizeof x);
    }
    std::vector<std::byte> bytes;
};

/// To a rank, or from one. Without bytes there is none.
struct Message : Writer {
    int rank = 0;
};

/// One T for each of some ranks, in the order of ranks. Those that were named once stay, so that their lists keep their
/// memory.
template <class T>
class ByRank {
public:
    T& of(int rank) {
        auto found = std::lower_bound(all_.begin(), all_.end(), rank,
                                      [](const T& one, int sought) { return one.rank < sought; });
        if (found == all_.end() || found->rank != rank) {
            found = all_.emplace(found);
            found->rank = rank;
        }
        return *found;
    }
    auto begin() { return all_.begin(); }
    auto end() { return all_.end(); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

private:
    std::vector<T> all_;
};

class Communicator {
public:
    /// Of a communicator of its own, a copy of this one. MPI must have been started.
    explicit Communicator(MPI_Comm comm);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    /// For ranks in trouble: nothing else is said here, so that nothing is mistaken for it.
    [[nodiscard]] MPI_Comm last_words() const { return last_words_; }
    /// Where the communicator is: for those who know nothing of MPI's types.
    [[nodiscard]] const void* address() const { return &comm_; }

    [[nodiscard]] double largest(double x) const;
    [[nodiscard]] bool any(bool here) const { return largest(here ? 1 : 0) > 0; }
    /// Number by number.
    void largest(std::span<double> x) const;
    void sum(std::span<ExactSum> sums) const;
    void sum(std::span<std::int64_t> x) const;
    /// Sum over the ranks before this one.
    [[nodiscard]] std::int64_t sum_before(std::int64_t x) const;
    void barrier() const;
    /// The bytes of all ranks one after the other, on every rank.
    [[nodiscard]] std::vector<std::byte> gather_all(std::span<const std::byte> bytes) const;

    /// Sends messages to some ranks and receives those that others send here. Nobody has to know who will write to him:
    /// sends that are known to have arrived, then a barrier that does not block (Hoefler, Siebert & Lumsdaine 2010).
    /// The cost follows the number of messages, not that of ranks.
    void post(const ByRank<Message>& out, ByRank<Message>& in, Talk talk) const;

    void count_message(Talk talk, std::size_t bytes) const {
        Traffic& t = traffic_[static_cast<std::size_t>(talk)];
        ++t.messages;
        t.bytes += static_cast<std::int64_t>(bytes);
    }
    [[nodiscard]] const Traffic& traffic(Talk talk) const { return traffic_[static_cast<std::size_t>(talk)]; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL, last_words_ = MPI_COMM_NULL;
    int rank_ = 0, count_ = 1;
    mutable std::array<Traffic, talk_names.size()> traffic_{};
    mutable int next_tag_ = 0;
    mutable std::vector<std::int64_t> raw_;
    mutable std::vector<MPI_Request> sends_;
};

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}
    [[nodiscard]] bool done() const { return left_.empty(); }
    template <class T>
    T take() {
        T x;
        copy(&x, sizeof x);
        return x;
    }
    void copy(void* to, std::size_t size) {
        if (size > 0) std::memcpy(to, left_.data(), size);  // of nothing there is no place
        left_ = left_.subspan(size);
    }

private:
    std::span<const std::byte> left_;
};

/// Messages to several ranks, written one beside the other.
class Mail {
public:
    explicit Mail(const Communicator& team) : team_(team) {}
    Writer& to(int rank) { return out_.of(rank); }
    /// Sends what was written and answers what came, until the next is sent. Collective.
    const ByRank<Message>& send(Talk talk);

private:
    const Communicator& team_;
    ByRank<Message> out_, in_;
};

/// The same numbers of the same things, again and again, between the same ranks: persistent requests. `stride` numbers
/// go for each thing.
class Channel {
public:
    struct Partner {
        int rank = 0;
        std::vector<Index> send, receive;  ///< things; both sides list the same ones in the same order
    };
    Channel() = default;
    ~Channel();
    Channel(Channel&&) noexcept;
    Channel& operator=(Channel&&) noexcept;

    /// Begins anew, with nobody: then things are added to the lists of partners, before anything is sent.
    void open(const Communicator& team, int tag, Talk talk);
    Partner& with(int rank) { return partners_.of(rank); }

    /// Sends; data of things to be sent may be changed after this returns.
    void start(const double* data, int stride);
    /// Waits, and writes what has come.
    void finish(double* data, int stride);
    /// Some may have nothing to send or receive.
    [[nodiscard]] const ByRank<Partner>& partners() const { return partners_; }
    [[nodiscard]] std::int64_t neighbours() const {
        return std::count_if(partners_.begin(), partners_.end(),
                             [](const Partner& p) { return !p.send.empty() || !p.receive.empty(); });
    }

private:
    void prepare(int stride);
    void release();

    const Communicator* team_ = nullptr;
    ByRank<Partner> partners_;
    int tag_ = 0;
    Talk talk_ = Talk::bodies;
    int stride_ = 0;
    std::vector<double> out_, in_;
    std::vector<MPI_Request> requests_;  // receives, then sends
};

}  // namespace drystone
