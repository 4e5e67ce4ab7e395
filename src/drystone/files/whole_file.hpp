// Files that appear complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace drystone {

/// Writes the pieces one after another to `path`.part and renames it. `safe`: returns only when the file and its name
/// are on the disk, so that it is there after a power cut. Throws Error that says what is wrong (no room, no
/// permission) and removes the part; a file that was there stays. What is there and is no plain file (a link, a device,
/// a pipe) is written into, not replaced.
void write_whole_file(const std::filesystem::path& path, std::initializer_list<std::string_view> pieces,
                      bool safe);

/// Writes the pieces one after another to `path` itself; half of it may be there if that fails. Errors speak of `path`
/// without a last ".part".
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> pieces, bool safe);

/// A file that is there, open to be written to at any place: by several processes, each its own part.
class PlacedFile {
public:
    explicit PlacedFile(const std::filesystem::path& path);
    PlacedFile(PlacedFile&& other) noexcept;
    PlacedFile(const PlacedFile&) = delete;
    PlacedFile& operator=(const PlacedFile&) = delete;
    ~PlacedFile();
    void write(std::int64_t offset, std::string_view bytes);
    /// Makes it so many bytes long.
    void cut(std::int64_t length);
    /// Returns when what we have written is on the disk.
    void close();

private:
    std::filesystem::path told_;  // for messages
    int number_;
};

/// Gives `path`.part its final name. `safe`: as above, the file's bytes included.
void finish_part(const std::filesystem::path& path, bool safe);

}  // namespace drystone
