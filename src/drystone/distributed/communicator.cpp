#include "drystone/distributed/communicator.hpp"

#include "drystone/base/error.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace drystone {

// An error in MPI ends the job: MPI's own handler says on which rank and why. So no return codes are looked at.

Communicator::Communicator(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_dup(comm, &last_words_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &count_);
}

Communicator::~Communicator() {
    int finished = 0;
    MPI_Finalized(&finished);
    if (finished != 0) return;
    MPI_Comm_free(&comm_);
    MPI_Comm_free(&last_words_);
}

double Communicator::largest(double x) const {
    largest(std::span(&x, 1));
    return x;
}

void Communicator::largest(std::span<double> x) const {
    MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(x.size()), MPI_DOUBLE, MPI_MAX, comm_);
    count_message(Talk::sums, x.size_bytes());
}

void Communicator::sum(std::span<ExactSum> sums) const {
    raw_.resize(sums.size() * ExactSum::raw_size);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].to_raw(raw_.data() + i * ExactSum::raw_size);
    sum(std::span(raw_));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].from_raw(raw_.data() + i * ExactSum::raw_size);
}

void Communicator::sum(std::span<std::int64_t> x) const {
    MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(x.size()), MPI_INT64_T, MPI_SUM, comm_);
    count_message(Talk::sums, x.size_bytes());
}

std::int64_t Communicator::sum_before(std::int64_t x) const {
    std::int64_t before = 0;
    MPI_Exscan(&x, &before, 1, MPI_INT64_T, MPI_SUM, comm_);
    return rank_ == 0 ? 0 : before;
}

void Communicator::barrier() const { MPI_Barrier(comm_); }

std::vector<std::byte> Communicator::gather_all(std::span<const std::byte> bytes) const {
    const int size = static_cast<int>(bytes.size());
    std::vector<int> sizes(count_), start(count_ + 1, 0);
    MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm_);
    std::int64_t total = 0;
    for (const int one : sizes) total += one;
    if (bytes.size() > std::numeric_limits<int>::max() || total > std::numeric_limits<int>::max())
        fail("ranks", "more than 2 GB near a source of grains, or of bodies that are on every rank",
             "make the source, or these bodies, smaller");
    for (int k = 0; k < count_; ++k) start[k + 1] = start[k] + sizes[k];
    std::vector<std::byte> all(static_cast<std::size_t>(start.back()));
    MPI_Allgatherv(bytes.data(), size, MPI_BYTE, all.data(), sizes.data(), start.data(), MPI_BYTE, comm_);
    count_message(Talk::bodies, bytes.size());
    return all;
}

void Communicator::post(const ByRank<Message>& out, ByRank<Message>& in, Talk talk) const {
    // Tags go round, so that a fast rank's next messages are not taken for this round's.
    const int tag = 1000 + next_tag_;
    next_tag_ = (next_tag_ + 1) % 1000;
    // MPI counts in ints: long messages go in pieces, which arrive in their order.
    constexpr std::size_t longest = std::size_t{1} << 30U;
    sends_.clear();
    for (const Message& message : out) {
        for (std::size_t begin = 0; begin < message.bytes.size(); begin += longest) {
            const std::size_t size = std::min(longest, message.bytes.size() - begin);
            MPI_Issend(message.bytes.data() + begin, static_cast<int>(size), MPI_BYTE, message.rank, tag,
                       comm_, &sends_.emplace_back());
            count_message(talk, size);
        }
    }
    for (Message& message : in) message.bytes.clear();
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool all_sent = false;
    for (;;) {
        int there = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status);
        if (there != 0) {
            int size = 0;
            MPI_Get_count(&status, MPI_BYTE, &size);
            Message& message = in.of(status.MPI_SOURCE);
            const std::size_t begin = message.bytes.size();
            message.bytes.resize(begin + static_cast<std::size_t>(size));
            MPI_Recv(message.bytes.data() + begin, size, MPI_BYTE, message.rank, tag, comm_,
                     MPI_STATUS_IGNORE);
        }
        int done = 0;
        if (!all_sent) {
            MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &done, MPI_STATUSES_IGNORE);
            if (done != 0) {
                MPI_Ibarrier(comm_, &barrier);
                all_sent = true;
            }
        } else {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
            if (done != 0) break;
        }
    }
}

const ByRank<Message>& Mail::send(Talk talk) {
    team_.post(out_, in_, talk);
    for (Message& message : out_) message.bytes.clear();
    return in_;
}

namespace {

// Things are anywhere in memory: they are asked for some time before their turn.
constexpr std::size_t ahead = 16;

/// Calls f with the place of each thing. `stride` is known to the compiler for body vectors of the kernels, a cache
/// line each.
template <class Number, class F>
void for_things(Number* data, int stride, const std::vector<Index>& things, F&& f) {
    const std::size_t count = things.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (i + ahead < count)
            __builtin_prefetch(data + static_cast<std::ptrdiff_t>(things[i + ahead]) * stride);
        f(data + static_cast<std::ptrdiff_t>(things[i]) * stride);
    }
}

double* pack(const double* data, int stride, const std::vector<Index>& things, double* out) {
    if (stride == 8) {
        for_things(data, 8, things, [&](const double* from) {
            std::memcpy(out, from, 8 * sizeof(double));
            out += 8;
        });
    } else {
        for_things(data, stride, things, [&](const double* from) { out = std::copy_n(from, stride, out); });
    }
    return out;
}

const double* unpack(const double* in, int stride, const std::vector<Index>& things, double* data) {
    if (stride == 8) {
        for_things(data, 8, things, [&](double* to) {
            std::memcpy(to, in, 8 * sizeof(double));
            in += 8;
        });
    } else {
        for_things(data, stride, things, [&](double* to) {
            std::copy_n(in, stride, to);
            in += stride;
        });
    }
    return in;
}

}  // namespace

void Channel::open(const Communicator& team, int tag, Talk talk) {
    release();
    team_ = &team;
    tag_ = tag;
    talk_ = talk;
    stride_ = 0;
    for (Partner& partner : partners_) {
        partner.send.clear();
        partner.receive.clear();
    }
}

Channel::~Channel() { release(); }

Channel::Channel(Channel&& other) noexcept { *this = std::move(other); }

Channel& Channel::operator=(Channel&& other) noexcept {
    release();
    team_ = other.team_;
    partners_ = std::move(other.partners_);
    tag_ = other.tag_;
    talk_ = other.talk_;
    stride_ = std::exchange(other.stride_, 0);
    out_ = std::move(other.out_);
    in_ = std::move(other.in_);
    requests_ = std::move(other.requests_);
    other.requests_.clear();
    return *this;
}

void Channel::release() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
    requests_.clear();
}

void Channel::prepare(int stride) {
    if (stride == stride_) return;
    release();
    stride_ = stride;
    std::size_t sends = 0, receives = 0;
    for (const Partner& p : partners_) {
        sends += p.send.size();
        receives += p.receive.size();
    }
    out_.resize(sends * static_cast<std::size_t>(stride));
    in_.resize(receives * static_cast<std::size_t>(stride));
    double *out = out_.data(), *in = in_.data();
    for (const Partner& p : partners_) {
        const int incoming = static_cast<int>(p.receive.size()) * stride;
        if (incoming > 0)
            MPI_Recv_init(in, incoming, MPI_DOUBLE, p.rank, tag_, team_->comm(), &requests_.emplace_back());
        in += incoming;
    }
    for (const Partner& p : partners_) {
        const int outgoing = static_cast<int>(p.send.size()) * stride;
        if (outgoing > 0)
            MPI_Send_init(out, outgoing, MPI_DOUBLE, p.rank, tag_, team_->comm(), &requests_.emplace_back());
        out += outgoing;
    }
}

void Channel::start(const double* data, int stride) {
    prepare(stride);
    double* out = out_.data();
    for (const Partner& p : partners_) {
        out = pack(data, stride, p.send, out);
        if (!p.send.empty())
            team_->count_message(talk_, p.send.size() * static_cast<std::size_t>(stride) * sizeof(double));
    }
    if (!requests_.empty()) MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
}

void Channel::finish(double* data, int stride) {
    if (!requests_.empty())
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    const double* in = in_.data();
    for (const Partner& p : partners_) in = unpack(in, stride, p.receive, data);
}

}  // namespace drystone
