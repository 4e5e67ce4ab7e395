// Memory that is used again and again: what one stage of a step is done with is there for the next, and a step that is
// like the one before asks the system for nothing. (std::pmr's own pools never give large blocks to another size; the
// arrays of a step are large and creep.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>
#include <vector>

namespace drystone {

/// For one thread. Arrays that take their memory here must be gone before it is.
class Rooms : public std::pmr::memory_resource {
public:
    static constexpr std::align_val_t alignment{64};  ///< a cache line
    static constexpr std::size_t most_bytes = std::numeric_limits<std::ptrdiff_t>::max();

    struct Block {
        std::byte* memory = nullptr;
        std::size_t bytes = 0;
    };

    Rooms() = default;
    Rooms(const Rooms&) = delete;
    Rooms& operator=(const Rooms&) = delete;
    ~Rooms() override {
        for (const Block& block : free_) release(block);
    }

    /// A block of its taker's own: the smallest that is large enough. It may be given back, or released.
    Block take(std::size_t bytes) {
        Block* best = nullptr;
        Block* largest = nullptr;
        for (Block& block : free_) {
            if (block.bytes >= bytes && (best == nullptr || block.bytes < best->bytes)) best = &block;
            if (largest == nullptr || block.bytes > largest->bytes) largest = &block;
        }
        Block block;
        if (best == nullptr) {
            // In the place of the largest: blocks do not become more when sizes creep.
            if (largest != nullptr) release(remove(*largest));
            block.bytes = bytes > most_bytes / 2 ? bytes : bytes + bytes / 8;
            block.memory = static_cast<std::byte*>(::operator new[](block.bytes, alignment));
        } else {
            block = remove(*best);
        }
        ++lent_;
        return block;
    }
    /// A block from here or, in the place of one, from elsewhere: more than were taken are not kept.
    void give(const Block& block) {
        if (block.memory == nullptr) return;
        if (lent_ == 0) return release(block);
        free_.push_back(block);
        --lent_;
    }
    /// That nobody has.
    [[nodiscard]] std::size_t blocks() const { return free_.size(); }
    static void release(const Block& block) { ::operator delete[](block.memory, alignment); }

private:
    Block remove(Block& block) {
        const Block out = block;
        block = free_.back();
        free_.pop_back();
        return out;
    }
    void* do_allocate(std::size_t bytes, std::size_t /*alignment*/) override {
        taken_.emplace_back();  // first: it may throw
        try {
            taken_.back() = take(bytes);
        } catch (...) {
            taken_.pop_back();
            throw;
        }
        return taken_.back().memory;
    }
    void do_deallocate(void* memory, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
        const auto found = std::find_if(taken_.begin(), taken_.end(),
                                        [&](const Block& block) { return block.memory == memory; });
        give(*found);
        *found = taken_.back();
        taken_.pop_back();
    }
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::vector<Block> free_, taken_;
    std::size_t lent_ = 0;
};

/// An array for a while, of memory from Rooms.
template <class T>
using ScratchArray = std::pmr::vector<T>;

}  // namespace drystone
