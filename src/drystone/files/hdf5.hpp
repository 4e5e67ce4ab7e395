// HDF5 files as folders of numbers: the only room that sees the library's own header.
//
// Groups are folders, datasets are files in them. Every error is a drystone::Error that names the file, the dataset and
// the cure; HDF5 prints nothing of its own meanwhile. What HDF5 hands out is checked here and by the callers. Files
// whose inner tables are garbled crash HDF5 1.10 itself: those that come from outside are tried in a child of the
// process before (hdf5_check.hpp).
//
// Threads: HDF5 is not safe to call from several threads, so every function here holds one lock of the whole process
// while it is at work. lock() holds it for longer: whoever writes a file in several calls while another thread does the
// same loses nothing but time without it.
//
// Ranks: a file may be written by several processes together. Each makes the same calls in the same order with the same
// names and sizes. Rows of a dataset are the one thing that differs: each rank has a slab of them. All other values are
// the same on all ranks, and rank 0 writes them. Nobody waits for the others in these calls, and what fails on one rank
// is thrown on that one: the caller sees to it that the others hear of it (together() in ranks.hpp). The file has the
// same bytes as if one rank had written all rows. One rank is the default, and needs no MPI: it is then neither started
// nor asked.
//
// Files are the same bytes whenever they are written: no times are kept in them.
#pragma once

#include "drystone/files/ranks.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drystone::hdf5 {

class Handle;
struct Shared;

/// Keeps other threads out of the library while it is held. Recursive: functions of this header may be called
/// meanwhile.
[[nodiscard]] std::unique_lock<std::recursive_mutex> lock();
/// For a process that was forked while the lock was held: it belongs to a thread that is not there.
void lock_anew_in_child();
/// For a program that closes all its files: nothing is closed when it ends, since what damaged files left open the
/// library cannot close, and says so on stderr. To be called before anything else of the library.
void close_nothing_at_exit();

/// A folder of a file. Copies are cheap and keep the file open.
class Group {
public:
    /// True if the group or dataset `name` is there; `name` may be a path below this group.
    [[nodiscard]] bool exists(const std::string& name) const;
    [[nodiscard]] Group open_group(const std::string& name) const;
    [[nodiscard]] Group create_group(const std::string& name) const;

    /// What is behind a name.
    enum class Kind : std::uint8_t { group, integers, reals, other };
    [[nodiscard]] Kind kind(const std::string& name) const;

    /// One number, stored as a scalar or as an array of one.
    [[nodiscard]] int read_int(const std::string& name) const;
    [[nodiscard]] double read_double(const std::string& name) const;
    /// All numbers of a dataset of any shape, last index fastest. Numbers too large for an int are refused.
    [[nodiscard]] std::vector<int> read_ints(const std::string& name) const;
    [[nodiscard]] std::vector<std::int64_t> read_longs(const std::string& name) const;
    [[nodiscard]] std::vector<double> read_doubles(const std::string& name) const;
    /// How many numbers a dataset holds, and how many rows (its first extent).
    [[nodiscard]] std::int64_t size(const std::string& name) const;
    [[nodiscard]] std::int64_t rows(const std::string& name) const;
    /// The numbers of `count` rows from `first` on.
    [[nodiscard]] std::vector<std::int64_t> read_longs(const std::string& name, std::int64_t first,
                                                       std::int64_t count) const;
    [[nodiscard]] std::vector<double> read_doubles(const std::string& name, std::int64_t first,
                                                   std::int64_t count) const;
    /// Numbers of 8 bits, as text.
    [[nodiscard]] std::string read_bytes(const std::string& name) const;
    /// Text up to the first zero byte, of fixed or variable length. The bytes are as stored, not always valid UTF-8.
    [[nodiscard]] std::string read_string(const std::string& name) const;

    /// A number is stored as an array of one, text with a closing zero byte, as FCLib does.
    void write_int(const std::string& name, int value) const;
    void write_double(const std::string& name, double value) const;
    /// Arrays; rows of `columns` numbers each where that is not 0.
    void write_ints(const std::string& name, std::span<const int> values, int columns = 0) const;
    void write_doubles(const std::string& name, std::span<const double> values, int columns = 0) const;
    void write_longs(const std::string& name, std::span<const std::int64_t> values) const;
    /// In 32 and 8 bits, for files that are looked at (VTKHDF).
    void write_floats(const std::string& name, std::span<const float> values, int columns = 0) const;
    void write_bytes(const std::string& name, std::span<const std::uint8_t> values) const;
    /// Attributes of the group itself; text of fixed length without a closing byte, as VTKHDF has it.
    void write_attribute(const std::string& name, std::span<const std::int64_t> values) const;
    void write_attribute(const std::string& name, const std::string& text) const;
    void write_string(const std::string& name, const std::string& text) const;
    /// Any bytes, zeros too, as numbers of 8 bits.
    void write_bytes(const std::string& name, std::string_view bytes) const;
    /// Our rows of `columns` numbers each; 0: a plain array.
    void write_rows(const std::string& name, std::span<const double> values, int columns, Slab slab) const;
    void write_rows(const std::string& name, std::span<const std::int64_t> values, int columns,
                    Slab slab) const;
    void write_rows(const std::string& name, std::span<const int> values, int columns, Slab slab) const;
    void write_rows(const std::string& name, std::span<const float> values, int columns, Slab slab) const;
    void write_rows(const std::string& name, std::span<const std::uint8_t> values, int columns,
                    Slab slab) const;
    /// The names of all members, sorted.
    [[nodiscard]] std::vector<std::string> names() const;

    /// "file.hdf5: /path/name", for messages about what was read.
    [[nodiscard]] std::string where(const std::string& name = "") const;

private:
    friend class File;
    Group(std::shared_ptr<Handle> file, std::shared_ptr<Handle> group, std::string path,
          std::filesystem::path file_name, std::uintmax_t file_size,
          std::shared_ptr<Shared> shared = nullptr);
    void write(const std::string& name, std::int64_t memory_type, std::int64_t space, const void* data) const;
    void attach(const std::string& name, std::int64_t type, std::int64_t space, const void* data) const;
    void write_slab(const std::string& name, std::int64_t memory_type, std::size_t size, int columns,
                    Slab slab, const void* data) const;
    [[noreturn]] void refuse_count(const std::string& name) const;
    template <class T>
    [[nodiscard]] std::vector<T> read(const std::string& name, std::int64_t first = 0,
                                      std::int64_t count = -1) const;

    std::shared_ptr<Shared> shared_;  // nullptr: nobody else writes to the file. Lives longer than the file.
    std::shared_ptr<Handle> file_, group_;
    std::string path_;  // within the file; empty for the root
    std::filesystem::path file_name_;
    std::uintmax_t file_size_ = 0;  // bytes on disk when opened for reading, 0 when created
};

/// Where a file comes from.
enum class Source : std::uint8_t {
    outside,  ///< to be checked before it is opened (check_in_child)
    checked,  ///< it was, by this rank or another
};

class File {
public:
    /// Opens for reading. Several ranks: collective; the first checks the file.
    static File open(const std::filesystem::path& path, const Ranks& ranks = {},
                     Source source = Source::outside);
    /// Opens a file that is in memory. `name` is for messages.
    static File open_image(const std::string& name, std::span<const char> bytes);
    /// Creates the file; one of that name is replaced. One rank makes it in memory, and flush() writes it: HDF5 1.10
    /// cannot get rid of a file that it cannot finish because the disk is full, and crashes later. Several ranks:
    /// collective. `before`: bytes that are left free in front of what HDF5 sees, for a header; such a file can be
    /// opened all the same if they are 512, 1024, 2048, ...
    static File create(const std::filesystem::path& path, const Ranks& ranks = {}, std::int64_t before = 0);
    /// Creates a file in memory. `name` is for messages.
    static File create_image(const std::string& name);

    [[nodiscard]] const Group& root() const { return root_; }
    /// Writes the file out and fails if that fails (a full disk). To be called once, at the end: without it there is no
    /// file. Several ranks: what this rank writes is on the disk; the file is whole when all have done so.
    void flush() const;
    /// The bytes of a file that is in memory, as they would be on disk. Good until the file is changed or closed.
    [[nodiscard]] std::string_view bytes() const;

private:
    explicit File(Group root) : root_(std::move(root)) {}
    Group root_;
};

}  // namespace drystone::hdf5
