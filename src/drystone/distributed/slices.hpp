// A scene in rows: what ranks hand over to those who write files, or to one of them that measures.
//
// While a run goes on, a rank has bodies from anywhere in the order of ids. Files want them in that order, rank after
// rank. So each body goes to the rank that has its range of ids, each contact and each remembered impulse to the rank
// of its first body. Rows are then the same, one after the other, for any number of ranks.
#pragma once

#include "drystone/distributed/part.hpp"

namespace drystone {

/// The rows of this rank among those of all.
struct Rows {
    std::int64_t first = 0, total = 0;
};

template <int d>
struct SlicedContact {
    Contact<d> contact;                 ///< local indices mean nothing
    std::int64_t row_a = 0, row_b = 0;  ///< of its bodies, among all
    Vec<d> x_a, x_b;                    ///< their centres now, m
    bool free_a = true, free_b = true;
    Cone cone;
    std::array<double, max_block> r{};  ///< impulses of its block
    double pull = 0;
    Vec<d> impulse;  ///< on a, N s
};

template <int d>
struct Slices {
    Bodies<d> bodies;  ///< in the order of ids
    Rows body_rows;
    std::vector<double> largest_impulse;     ///< by body: norm of the largest on it, N s
    std::vector<SlicedContact<d>> contacts;  ///< in the order of keys
    WarmStart<d> warm;  ///< in the order of keys; torques for all or, on all ranks, for none
    Rows warm_rows;
};

struct SliceOptions {
    bool warm = false, contacts = false;
    bool to_first = false;  ///< all to rank 0
};

/// Collective. `memory`: of the last step, or nullptr before the first.
template <int d>
Slices<d> slice(const Scene<d>& scene, const StepMemory<d>* memory, const Part<d>& part,
                const SliceOptions& options);

/// The other way: what was read in rows becomes what this rank owns, with the warm start where its bodies are.
/// Afterwards the first step makes parts. Collective.
template <int d>
void join(Scene<d>& scene, Part<d>& part, WarmStart<d>& warm);

/// On rank 0, of slices that were all sent there: the memory of a step, as far as measurements look at it.
template <int d>
StepMemory<d> memory_of(const Slices<d>& slices);

}  // namespace drystone
