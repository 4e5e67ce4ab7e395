// Loops over threads whose result does not depend on the number of threads.
//
// The only seam to OpenMP in the project. A body of a loop may write only what belongs to its own index, so the
// schedule never shows in the result. Sums go through ExactSum (exact_sum.hpp), never through an OpenMP reduction. What
// a body throws is thrown by the loop: that of the lowest index that threw.
#pragma once

#include "drystone/base/types.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <mutex>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace drystone {

namespace detail {

/// Tells ThreadSanitizer, which does not see into libgomp, that threads of a region follow what came before it and
/// precede what comes after. Nothing without the sanitiser.
class RegionFence {
public:
    void publish() {
#if defined(__SANITIZE_THREAD__)
        __tsan_release(&tag_);
#endif
    }
    void receive() {
#if defined(__SANITIZE_THREAD__)
        __tsan_acquire(&tag_);
#endif
    }

private:
    [[maybe_unused]] char tag_ = 0;
};

/// What was thrown in a region of threads, to be thrown again behind it: an exception that left the region would end
/// the program.
class Failure {
public:
    /// In a handler.
    void note(Index i) {
        const std::lock_guard<std::mutex> guard(mutex_);
        if (thrown_ && at_ <= i) return;
        thrown_ = std::current_exception();
        at_ = i;
    }
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    std::mutex mutex_;
    std::exception_ptr thrown_;
    Index at_ = 0;
};

/// Not inlined under the sanitiser, so that suppressions of libgomp do not hide races in the body.
#if defined(__SANITIZE_THREAD__)
template <class F>
[[gnu::noinline]] void run_item(F& f, Index i) {
    f(i);
}
#else
template <class F>
void run_item(F& f, Index i) {
    f(i);
}
#endif

}  // namespace detail

/// Calls f(i) for i in [0, n) on up to `threads` threads; equal shares, for loops with equal work.
template <class F>
void parallel_for(int threads, Index n, F&& f) {
    if (threads <= 1 || n < 2) {
        for (Index i = 0; i < n; ++i) f(i);
        return;
    }
    detail::RegionFence fence;
    detail::Failure failure;
    fence.publish();
#pragma omp parallel num_threads(threads)
    {
        fence.receive();
#pragma omp for schedule(static) nowait
        for (Index i = 0; i < n; ++i) {
            try {
                detail::run_item(f, i);
            } catch (...) {
                failure.note(i);
            }
        }
        fence.publish();
    }
    fence.receive();
    failure.rethrow();
}

/// The same for loops whose items cost differently: shares of `grain` items are handed out as threads become free.
template <class F>
void parallel_for_uneven(int threads, Index n, Index grain, F&& f) {
    if (threads <= 1 || n <= grain) {
        for (Index i = 0; i < n; ++i) f(i);
        return;
    }
    detail::RegionFence fence;
    detail::Failure failure;
    fence.publish();
#pragma omp parallel num_threads(threads)
    {
        fence.receive();
#pragma omp for schedule(dynamic, grain) nowait
        for (Index i = 0; i < n; ++i) {
            try {
                detail::run_item(f, i);
            } catch (...) {
                failure.note(i);
            }
        }
        fence.publish();
    }
    fence.receive();
    failure.rethrow();
}

/// More are never started: the thread library crashes where it is asked for a hundred thousand.
inline constexpr int most_threads = 1024;

/// As many as the machine, or the environment, offers this process.
inline int offered_threads() { return omp_get_max_threads(); }

/// Cores that this process may use.
inline int processors() { return std::max(1, omp_get_num_procs()); }

/// Number of threads meant by a user's `threads` (0: as many as the machine offers this process).
inline int resolve_threads(int threads) {
    return std::clamp(threads > 0 ? threads : offered_threads(), 1, most_threads);
}

}  // namespace drystone
