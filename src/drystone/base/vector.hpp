// The stacked vectors of a problem: Eigen's, but they keep their room.
//
// Eigen's own vectors give their memory back whenever their size changes, and the number of contacts changes in every
// step. It has no allocator to put in the place of malloc, so this is a map of Eigen's onto memory that is owned here.
#pragma once

#include "drystone/base/rooms.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace drystone {

/// All blocks or all bodies. As Eigen::VectorXd in expressions; resizing below the largest size so far allocates
/// nothing.
class Vector : public Eigen::Map<Eigen::VectorXd, Eigen::AlignedMax> {
public:
    using Base = Eigen::Map<Eigen::VectorXd, Eigen::AlignedMax>;

    Vector() : Base(nullptr, 0) {}
    explicit Vector(Eigen::Index size) : Vector() { resize(size); }
    Vector(const Vector& other) : Vector() { *this = other; }
    Vector(Vector&& other) noexcept : Vector() { swap(other); }
    /// NOLINTNEXTLINE(google-explicit-constructor): as Eigen's own
    template <class Expression>
    Vector(const Eigen::EigenBase<Expression>& x) : Vector() {
        *this = x;
    }
    ~Vector() { Rooms::release(block_); }

    Vector& operator=(const Vector& other) {
        if (this == &other) return *this;
        resize(other.size());
        std::copy_n(other.data(), other.size(), data());
        return *this;
    }
    Vector& operator=(Vector&& other) noexcept {
        swap(other);
        return *this;
    }
    template <class Expression>
    Vector& operator=(const Eigen::EigenBase<Expression>& x) {
        if (x.size() > capacity()) {  // x may be made of what is here
            Vector larger(x.size());
            larger = x;
            swap(larger);
            return *this;
        }
        seat(x.size());
        Base::operator=(x.derived());
        return *this;
    }

    /// What is in it is lost where it must grow.
    void resize(Eigen::Index size) {
        if (size > capacity()) {
            const std::size_t bytes = bytes_of(size);
            Rooms::release(std::exchange(block_, {}));  // the old one goes first
            seat(0);
            // A little more than is asked for: sizes of steps creep.
            block_ = Rooms().take(bytes);
        }
        seat(size);
    }
    /// The same with memory of rooms, where it must grow, to which its own goes.
    void resize(Eigen::Index size, Rooms& rooms) {
        if (size > capacity()) {
            const std::size_t bytes = bytes_of(size);
            give_to(rooms);
            block_ = rooms.take(bytes);
        }
        seat(size);
    }
    /// It is empty then.
    void give_to(Rooms& rooms) {
        rooms.give(std::exchange(block_, {}));
        seat(0);
    }
    // NOLINTBEGIN(readability-identifier-naming): Eigen's names
    void conservativeResize(Eigen::Index size) {
        if (size <= capacity()) return seat(size);
        Vector larger(size);
        std::copy_n(data(), this->size(), larger.data());
        swap(larger);
    }
    using Base::setConstant;
    using Base::setOnes;
    using Base::setZero;
    Vector& setZero(Eigen::Index size) { return setConstant(size, 0.0); }
    Vector& setOnes(Eigen::Index size) { return setConstant(size, 1.0); }
    Vector& setConstant(Eigen::Index size, double value) {
        resize(size);
        Base::setConstant(value);
        return *this;
    }
    // NOLINTEND(readability-identifier-naming)

    void swap(Vector& other) noexcept {
        const Eigen::Index ours = size(), theirs = other.size();
        std::swap(block_, other.block_);
        seat(theirs);
        other.seat(ours);
    }

private:
    static std::size_t bytes_of(Eigen::Index size) {
        if (static_cast<std::size_t>(size) > Rooms::most_bytes / sizeof(double))
            throw std::bad_array_new_length();
        return static_cast<std::size_t>(size) * sizeof(double);
    }
    [[nodiscard]] Eigen::Index capacity() const {
        return static_cast<Eigen::Index>(block_.bytes / sizeof(double));
    }
    /// Eigen's way to let a map look at something else.
    void seat(Eigen::Index size) noexcept {
        ::new (static_cast<Base*>(this)) Base(reinterpret_cast<double*>(block_.memory), size);
    }

    Rooms::Block block_;
};

/// A vector for a while, of memory from rooms.
class ScratchVector : public Vector {
public:
    explicit ScratchVector(Rooms& rooms, Eigen::Index size = 0) : rooms_(rooms) { resize(size); }
    ScratchVector(Rooms& rooms, const Vector& x) : rooms_(rooms) { *this = x; }
    ScratchVector(const ScratchVector&) = delete;
    ~ScratchVector() { give_to(rooms_); }

    ScratchVector& operator=(const ScratchVector& x) { return *this = static_cast<const Base&>(x); }
    /// x is not made of what is here where that must grow.
    template <class Expression>
    ScratchVector& operator=(const Eigen::EigenBase<Expression>& x) {
        resize(x.size());
        Vector::operator=(x);
        return *this;
    }
    void resize(Eigen::Index size) { Vector::resize(size, rooms_); }

private:
    Rooms& rooms_;
};

inline void swap(Vector& a, Vector& b) noexcept { a.swap(b); }

}  // namespace drystone
