// HDF5 files that several ranks write together, and that appear complete or not at all.
#pragma once

#include "drystone/files/hdf5.hpp"

#include <functional>

namespace drystone {

/// Creates `path`.part, lets `write` fill it (the same calls on all ranks; it may not wait for the others), closes it,
/// lets rank 0 look at it (`finish`, which gets the name of the part) and gives it its final name. `safe`: returns only
/// when it is on the disk. If anything fails on any rank, all throw the same Error, the part is removed and a file that
/// was there stays. `before`: bytes left free for a header, as for File::create. Not for one rank alone.
void write_shared_file(const std::filesystem::path& path, const hdf5::Ranks& ranks, std::int64_t before,
                       const std::function<void(const hdf5::Group&)>& write,
                       const std::function<void(const std::filesystem::path&)>& finish, bool safe);

}  // namespace drystone
