// What the parts of hdf5*.cpp share: identifiers that close themselves, and the library's lock and silence. Not for use
// outside of them.
#pragma once

#include "drystone/files/hdf5.hpp"

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace drystone::hdf5 {

/// One for the whole process.
std::recursive_mutex& library_mutex();

/// Keeps other threads out and switches HDF5's own error printing off while alive.
class Silence {
public:
    Silence() : guard_(library_mutex()) {
        H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    ~Silence() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

private:
    std::lock_guard<std::recursive_mutex> guard_;
    H5E_auto2_t print_ = nullptr;
    void* data_ = nullptr;
};

/// Owner of one HDF5 identifier.
class Handle {
public:
    using Closer = herr_t (*)(hid_t);
    Handle(hid_t id, Closer closer) : id_(id), close_(closer) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() {
        if (id_ < 0) return;
        const Silence silence;
        close_(id_);
    }
    [[nodiscard]] hid_t id() const { return id_; }
    [[nodiscard]] bool good() const { return id_ >= 0; }

private:
    hid_t id_;
    Closer close_;
};

/// What HDF5 gives as the innermost cause of the last failure, in brackets; empty if it says nothing.
std::string cause();

}  // namespace drystone::hdf5
