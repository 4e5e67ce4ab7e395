// Processes that write or read one file together, and how they stay together when something goes wrong on one of them.
//
// Whatever several ranks do together they do in phases. Each phase ends with all of them knowing whether it went well
// on all (together()): a rank that threw alone would leave the others waiting for ever. MPI is never started here, and
// one rank alone never asks it anything.
#pragma once

#include "drystone/base/error.hpp"

#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace drystone::hdf5 {

/// Who opens a file together.
struct Ranks {
    /// The MPI_Comm of all of them, by its address (so that this header needs no MPI); nullptr: this process alone.
    const void* communicator = nullptr;

    [[nodiscard]] bool alone() const { return communicator == nullptr; }
};

/// Which rows of a dataset are ours: those from `first` on, as many as are handed over, of `total` in all. One rank:
/// {0, n}.
struct Slab {
    std::int64_t first = 0, total = 0;
};

/// Our number among the ranks, and how many there are: 0 and 1 for one alone.
int rank_of(const Ranks& ranks);
int count_of(const Ranks& ranks);
/// The ranks, or nobody else where there is only one: it then needs no MPI.
Ranks others_of(const Ranks& ranks);

// Collective: called by all ranks.

/// Throws the same Error on all ranks if any has a failure to tell: that of the first of them. Empty: all is well here.
void agree(const Ranks& ranks, const std::string& failure);
/// The sum of each number over the ranks, in place.
void add_up(const Ranks& ranks, std::span<std::int64_t> numbers);
/// Rows in the order of ranks, of which we have `count`.
Slab slab_of(const Ranks& ranks, std::int64_t count);
/// True if it is so on all ranks.
bool all_of(const Ranks& ranks, bool here);
/// The text of rank 0.
std::string text_of_first(const Ranks& ranks, const std::string& text);

/// Does `action` on each rank (which must not wait for others in it) and throws the same Error on all if it threw on
/// any.
template <class F>
void together(const Ranks& ranks, F&& action) {
    if (ranks.alone()) {
        std::forward<F>(action)();
        return;
    }
    std::string failure;
    try {
        std::forward<F>(action)();
    } catch (const std::bad_alloc&) {
        failure = "rank " + std::to_string(rank_of(ranks)) +
                  ": there is no more memory; take more ranks, on more machines";
    } catch (const std::exception& error) {
        failure = error.what();
        if (failure.empty()) failure = "unknown error";
    }
    agree(ranks, failure);
}

}  // namespace drystone::hdf5
