// HDF5 files as folders of numbers: the only room that sees the library's own header.
//
// Groups are folders, datasets are files in them. Every error is a drystone::Error that names the file, the dataset and the
// cure; HDF5 prints nothing of its own meanwhile. HDF5 is not safe to call from several threads: use one thread at a time.
// What HDF5 hands out is checked here and by the callers; files whose inner tables are garbled can still crash HDF5 1.10 itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace drystone::hdf5 {

class Handle;

/// A folder of a file. Copies are cheap and keep the file open.
class Group {
public:
    /// True if the group or dataset `name` is there; `name` may be a path below this group.
    [[nodiscard]] bool exists(const std::string& name) const;
    [[nodiscard]] Group open_group(const std::string& name) const;
    [[nodiscard]] Group create_group(const std::string& name) const;

    /// One number, stored as a scalar or as an array of one.
    [[nodiscard]] int read_int(const std::string& name) const;
    [[nodiscard]] double read_double(const std::string& name) const;
    /// All numbers of a dataset of any shape, last index fastest. Numbers too large for an int are refused.
    [[nodiscard]] std::vector<int> read_ints(const std::string& name) const;
    [[nodiscard]] std::vector<double> read_doubles(const std::string& name) const;
    /// Text up to the first zero byte, of fixed or variable length. The bytes are as stored, not always valid UTF-8.
    [[nodiscard]] std::string read_string(const std::string& name) const;

    /// A number is stored as an array of one, text with a closing zero byte, as FCLib does.
    void write_int(const std::string& name, int value) const;
    void write_double(const std::string& name, double value) const;
    /// Arrays; rows of `columns` numbers each where that is not 0.
    void write_ints(const std::string& name, std::span<const int> values, int columns = 0) const;
    void write_doubles(const std::string& name, std::span<const double> values, int columns = 0) const;
    void write_longs(const std::string& name, std::span<const std::int64_t> values) const;
    void write_string(const std::string& name, const std::string& text) const;

    /// "file.hdf5: /path/name", for messages about what was read.
    [[nodiscard]] std::string where(const std::string& name = "") const;

private:
    friend class File;
    Group(std::shared_ptr<Handle> file, std::shared_ptr<Handle> group, std::string path,
          std::filesystem::path file_name, std::uintmax_t file_size);
    void write(const std::string& name, std::int64_t memory_type, std::int64_t space, const void* data) const;
    template <class T>
    [[nodiscard]] std::vector<T> read(const std::string& name) const;

    std::shared_ptr<Handle> file_, group_;
    std::string path_;  // within the file; empty for the root
    std::filesystem::path file_name_;
    std::uintmax_t file_size_ = 0;  // bytes on disk when opened for reading, 0 when created
};

class File {
public:
    /// Opens for reading.
    static File open(const std::filesystem::path& path);
    /// Creates the file; one of that name is replaced.
    static File create(const std::filesystem::path& path);

    [[nodiscard]] const Group& root() const { return root_; }
    /// Writes out what is buffered and fails if that fails (a full disk). Without it, closing happens when the last Group is
    /// gone and cannot fail.
    void flush() const;

private:
    explicit File(Group root) : root_(std::move(root)) {}
    Group root_;
};

}  // namespace drystone::hdf5
