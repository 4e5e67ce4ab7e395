// Scenes that a test holds as text: read, or what reading them says.
#pragma once

#include "drystone/base/error.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "support/scratch.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace drystone::testing {

/// Writes the text into the scratch folder, as scene.toml.
inline std::filesystem::path write_scene(const Scratch& scratch, const std::string& text) {
    const std::filesystem::path file = scratch.file("scene.toml");
    std::ofstream(file) << text;
    return file;
}

/// Files that the scene names are looked for in the scratch folder.
template <int d>
RunPlan<d> read(const Scratch& scratch, const std::string& text, bool place = true) {
    return std::get<RunPlan<d>>(read_scene(write_scene(scratch, text), place));
}

template <int d>
RunPlan<d> read(const std::string& text) {
    return read<d>(Scratch(), text);
}

/// What is said of the faults of a scene, without the folder of the file; nothing if it was read.
inline std::string faults(const Scratch& scratch, const std::string& text) {
    try {
        read_scene(write_scene(scratch, text));
    } catch (const Error& error) {
        std::string message = error.what();
        const std::string folder = scratch.folder().string() + "/";
        for (std::size_t at; (at = message.find(folder)) != std::string::npos;)
            message.erase(at, folder.size());
        return message;
    }
    return {};
}

inline std::string faults(const std::string& text) { return faults(Scratch(), text); }

/// The same, one line each.
inline std::vector<std::string> fault_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(faults(text));
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace drystone::testing
