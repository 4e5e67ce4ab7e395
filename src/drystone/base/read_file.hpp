// A whole file in memory, where it is one and not too long.
#pragma once

#include "drystone/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace drystone {

/// What a scene (256 MiB) and the files that it names, surfaces and tables (1 GiB), may have at most. A million bodies
/// one by one are 100 MiB.
inline constexpr std::uintmax_t most_scene_bytes = std::uintmax_t{1} << 28U;
inline constexpr std::uintmax_t most_surface_bytes = std::uintmax_t{1} << 30U;

/// The bytes of a file. Throws Error on what is no file (a folder, a device without end, a pipe, which may have nobody
/// at its other end) and on one of more than `most` bytes. What the shell hands over may be a pipe: /dev/stdin, and
/// /dev/fd/63 for <(...). `cure`: what to do if it cannot be opened.
inline std::string read_file(const std::filesystem::path& file, std::uintmax_t most,
                             const std::string& cure) {
    namespace fs = std::filesystem;
    const std::string name = file.string();
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (fs::is_directory(status)) fail(name, "it is a folder", cure);
    const bool handed_over = name == "/dev/stdin" || name.starts_with("/dev/fd/");
    if (fs::exists(status) && !fs::is_regular_file(status) && !handed_over)
        fail(name, "it is a device or a pipe and not a file", "give a file, or /dev/stdin");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) fail(name, fs::exists(status) ? "cannot be opened" : "there is no such file", cure);
    std::string bytes;
    // Without asking for the size before: a pipe has none, and a file may grow meanwhile.
    std::string piece(std::size_t{1} << 20U, '\0');
    while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())), stream.gcount() > 0) {
        bytes.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
        if (bytes.size() > most)
            fail(name, "has more than " + std::to_string(most >> 20U) + " MiB, the most that is read",
                 "see that it is the right file, or split it");
    }
    if (stream.bad()) fail(name, "reading stopped early", "check the disk");
    return bytes;
}

}  // namespace drystone
