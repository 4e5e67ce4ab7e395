// Memory in huge pages, for the large arrays that sweeps stream through.
//
// Hardware prefetching stops at the end of a page; with pages of 4 KiB that is every tenth contact. Linux gives huge
// pages to those who ask (madvise); elsewhere this is aligned memory and nothing more.
#pragma once

#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace drystone {

template <class T>
struct HugePageAllocator {
    using value_type = T;

    HugePageAllocator() = default;
    template <class U>
    explicit HugePageAllocator(const HugePageAllocator<U>&) {}

    T* allocate(std::size_t n) {
        constexpr std::size_t page = std::size_t{2} << 20;
        const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
        // Small arrays are not worth a page each.
        const bool large = n * sizeof(T) >= page;
        void* memory = std::aligned_alloc(large ? page : 64, large ? bytes : (n * sizeof(T) + 63) / 64 * 64);
        if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
        if (large) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: refused is no error
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }

    friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }
};

/// Resizes an array that is to be written anew: where it grows the old one goes first, and nothing is copied.
template <class Array>
void refit(Array& array, std::size_t n) {
    if (n > array.capacity()) {
        array = Array();
        array.reserve(n + n / 8);
    }
    array.resize(n);
}

}  // namespace drystone
