// The files that a scene is made from: the scene file itself and those that it names (surfaces, tables).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace drystone {

/// A field of the scene that is given another value than the file's: "material.stone.friction", "0.4".
struct SceneSetting {
    std::string field, value;
    int phase = -1;  ///< in which it was said, and after whose own changes it holds; -1: at the beginning
};

/// What has been read is kept, so that a checkpoint can hold it and a run can be resumed from the checkpoint alone.
struct SceneFiles {
    /// where the scene file is: for messages; other files are looked for in its folder
    std::filesystem::path scene;
    std::string text;                           ///< of the scene file
    std::map<std::string, std::string> others;  ///< contents by the name that stands in the scene file
    std::vector<SceneSetting> settings;         ///< the later of two counts
    int phase = 0;                              ///< which of [[phase]] the run is in
    double phase_begin = 0;                     ///< s
    bool sealed = false;                        ///< true: these are all; nothing is read from the disk

    /// The content of a file that the scene names. Throws Error (the file, what, the cure) if it cannot be had.
    const std::string& read(const std::string& name);
    /// The path of such a file, for messages.
    [[nodiscard]] std::filesystem::path path_of(const std::string& name) const {
        return scene.parent_path() / name;
    }
};

}  // namespace drystone
