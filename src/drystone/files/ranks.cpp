#include "drystone/files/ranks.hpp"

#include <mpi.h>

#include <algorithm>

namespace drystone::hdf5 {

namespace {

MPI_Comm communicator_of(const Ranks& ranks) { return *static_cast<const MPI_Comm*>(ranks.communicator); }

std::string text_of(const Ranks& ranks, int owner, std::string text) {
    const MPI_Comm all = communicator_of(ranks);
    auto size = static_cast<std::int64_t>(text.size());
    MPI_Bcast(&size, 1, MPI_INT64_T, owner, all);
    text.resize(static_cast<std::size_t>(size));
    // MPI counts in 32 bits.
    constexpr std::int64_t piece = std::int64_t{1} << 30U;
    for (std::int64_t at = 0; at < size; at += piece)
        MPI_Bcast(text.data() + at, static_cast<int>(std::min(piece, size - at)), MPI_CHAR, owner, all);
    return text;
}

}  // namespace

int rank_of(const Ranks& ranks) {
    int rank = 0;
    if (!ranks.alone()) MPI_Comm_rank(communicator_of(ranks), &rank);
    return rank;
}

int count_of(const Ranks& ranks) {
    int count = 1;
    if (!ranks.alone()) MPI_Comm_size(communicator_of(ranks), &count);
    return count;
}

Ranks others_of(const Ranks& ranks) { return count_of(ranks) == 1 ? Ranks{} : ranks; }

void agree(const Ranks& ranks, const std::string& failure) {
    if (ranks.alone()) {
        if (!failure.empty()) throw Error(failure);
        return;
    }
    const int count = count_of(ranks);
    int mine = failure.empty() ? count : rank_of(ranks), first = count;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, communicator_of(ranks));
    if (first < count) throw Error(text_of(ranks, first, failure));
}

void add_up(const Ranks& ranks, std::span<std::int64_t> numbers) {
    if (ranks.alone()) return;
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_SUM,
                  communicator_of(ranks));
}

Slab slab_of(const Ranks& ranks, std::int64_t count) {
    Slab slab{0, count};
    if (ranks.alone()) return slab;
    MPI_Exscan(&count, &slab.first, 1, MPI_INT64_T, MPI_SUM, communicator_of(ranks));
    // MPI leaves the first rank's answer as it was.
    if (rank_of(ranks) == 0) slab.first = 0;
    add_up(ranks, {&slab.total, 1});
    return slab;
}

bool all_of(const Ranks& ranks, bool here) {
    int answer = here ? 1 : 0;
    if (!ranks.alone()) MPI_Allreduce(MPI_IN_PLACE, &answer, 1, MPI_INT, MPI_MIN, communicator_of(ranks));
    return answer != 0;
}

std::string text_of_first(const Ranks& ranks, const std::string& text) {
    return ranks.alone() ? text : text_of(ranks, 0, text);
}

}  // namespace drystone::hdf5
