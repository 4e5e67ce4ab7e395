// Loops over threads whose result does not depend on the number of threads.
//
// The only seam to OpenMP in the project. A body of a loop may write only what belongs to its own index, so the schedule
// never shows in the result. Sums go through ExactSum (exact_sum.hpp), never through an OpenMP reduction.
#pragma once

#include "drystone/base/types.hpp"

#include <omp.h>

namespace drystone {

/// Calls f(i) for i in [0, n) on up to `threads` threads; equal shares, for loops with equal work.
template <class F>
void parallel_for(int threads, Index n, F&& f) {
    if (threads <= 1 || n < 2) {
        for (Index i = 0; i < n; ++i) f(i);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (Index i = 0; i < n; ++i) f(i);
}

/// The same for loops whose items cost differently: shares of `grain` items are handed out as threads become free.
template <class F>
void parallel_for_uneven(int threads, Index n, Index grain, F&& f) {
    if (threads <= 1 || n <= grain) {
        for (Index i = 0; i < n; ++i) f(i);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, grain)
    for (Index i = 0; i < n; ++i) f(i);
}

/// Number of threads meant by a user's `threads` (0: as many as the machine offers this process).
inline int resolve_threads(int threads) { return threads > 0 ? threads : omp_get_max_threads(); }

}  // namespace drystone
