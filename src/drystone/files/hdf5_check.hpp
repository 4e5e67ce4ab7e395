// Whether HDF5 can read a file without harm, found out where it does none: in a process of its own.
//
// HDF5 1.10 trusts the tables inside a file. On one whose tables are garbled, by accident or by ill will, it divides by
// zero, follows wild pointers or goes round in circles, and takes with it whoever called it. To check the tables before
// it sees them would mean to write the library again. So a file that comes from outside is first read by a child of
// this process, which does with it what the readers will do (hdf5.hpp) and leaves: if it dies, or takes too long, the
// file is refused. The child is a copy of the parent, library and memory, so that what goes well in it goes well in the
// parent. That costs 5 to 8 ms, 35 ms more for each GB that the parent holds, and no more for a large file than for a
// small one: rows that are stored as they are, without compression, need not be read.
//
// The child is made while nobody is in the library, never calls MPI or OpenMP, and leaves by _exit: nothing of the
// parent's is flushed or closed by it. Where several ranks read a file, one of them checks and tells the others.
#pragma once

#include <cstdint>
#include <filesystem>

namespace drystone::hdf5 {

/// Throws Error if HDF5 crashes on the file, does not come to an end with it or cannot list all that is in it, or if
/// parts of it are in other files (external links and storage, virtual datasets: a file could name any other of this
/// machine). What else HDF5 complains of is left to the readers, who know what they want of the file.
void check_in_child(const std::filesystem::path& path);

/// True if a type of HDF5 is one of the usual integers or real numbers, of 1 to 8 bytes, to the bit; of others (of size
/// 0, with bits left out) the library's conversions are not to be trusted.
bool is_plain_number(std::int64_t type);

}  // namespace drystone::hdf5
