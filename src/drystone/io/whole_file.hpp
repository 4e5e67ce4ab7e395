// Files that appear complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace drystone {

/// Writes the pieces one after another to `path`.part and renames it. `safe`: returns only when the file and its name are on the disk, so that it
/// is there after a power cut. Throws Error that says what is wrong (no room, no permission) and removes the part; a file that was there stays.
void write_whole_file(const std::filesystem::path& path, std::initializer_list<std::string_view> pieces,
                      bool safe);

/// Writes the pieces one after another to `path` itself; half of it may be there if that fails. Errors speak of `path` without a last ".part".
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> pieces, bool safe);

/// Makes the file where there is none, and sets aside room on the disk for so many bytes: it is then at least that long, and writing to it does
/// not fill the disk.
void reserve_file(const std::filesystem::path& path, std::int64_t bytes);

/// Overwrites bytes of a file from `offset` on.
struct Patch {
    std::int64_t offset = 0;
    std::string_view bytes;
};
void patch_file(const std::filesystem::path& path, std::initializer_list<Patch> patches);

/// Gives `path`.part its final name. `safe`: as above, the file's bytes included.
void finish_part(const std::filesystem::path& path, bool safe);

}  // namespace drystone
