// A file whose rows are written by many: HDF5 keeps its tables in memory, and only says where the rows belong. Not for
// use outside hdf5*.cpp.
//
// This is a driver of HDF5 (H5FD_class_t, "Virtual File Layer" in its manual). The library's own driver for MPI is not
// used: once a write has failed under it (a full disk), ranks crash in closing the file or wait for each other for ever
// (tried with HDF5 1.10.8 and Open MPI 4.1). Here each rank makes the same tables in its memory, without asking the
// others, and writes its rows itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace drystone::hdf5 {

/// What HDF5 has written: pieces by their addresses, which do not overlap.
struct Layout {
    std::map<std::uint64_t, std::string> pieces;
    std::uint64_t length = 0;  ///< of the whole file, as HDF5 sees it

    void write(std::uint64_t address, std::string_view bytes);
    /// Bytes that nobody has written are zeros.
    void read(std::uint64_t address, std::uint64_t size, char* to) const;
    /// Takes bytes away.
    void drop(std::uint64_t address, std::uint64_t size);
};

/// Properties (of H5P_FILE_ACCESS) of a file that is kept in `layout`, which must live longer. To be closed by the
/// caller; negative if that failed.
std::int64_t layout_access(Layout& layout);

}  // namespace drystone::hdf5
