// HDF5 files that several ranks write together, and that appear complete or not at all.
#pragma once

#include "drystone/io/hdf5.hpp"

#include <functional>

namespace drystone {

/// Room that the inner tables of a file take, bytes, at most, with so many groups of a few datasets each.
constexpr std::int64_t room_of_tables(std::size_t groups) {
    return (std::int64_t{1} << 18U) + (std::int64_t{1} << 13U) * static_cast<std::int64_t>(groups);
}

/// Creates `path`.part, lets `write` fill it (the same calls on all ranks), closes it, lets rank 0 look at it (`finish`, which gets the name of the
/// part) and gives it its final name. `safe`: returns only when it is on the disk. If anything fails on any rank, all throw the same Error,
/// the part is removed and a file that was there stays. Not for one rank alone.
void write_shared_file(const std::filesystem::path& path, const hdf5::Ranks& ranks,
                       const hdf5::Creation& creation, const std::function<void(const hdf5::Group&)>& write,
                       const std::function<void(const std::filesystem::path&)>& finish, bool safe);

}  // namespace drystone
