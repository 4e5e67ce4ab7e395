#include "drystone/io/scene_files.hpp"

#include "drystone/base/error.hpp"
#include "drystone/io/scene_table.hpp"

#include <fstream>
#include <iterator>

namespace drystone {

namespace {

std::string read_all(const std::filesystem::path& file, const char* cure) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) fail(file.string(), "it is a folder", cure);
    std::ifstream stream(file, std::ios::binary);
    if (!stream) fail(file.string(), "cannot be opened", cure);
    std::string bytes(std::istreambuf_iterator<char>(stream), {});
    if (stream.bad()) fail(file.string(), "reading stopped early", "check the disk");
    return bytes;
}

}  // namespace

const std::string& SceneFiles::read(const std::string& name) {
    const auto found = others.find(name);
    if (found != others.end()) return found->second;
    if (sealed)
        fail(path_of(name).string(), "is not in the checkpoint", "use the checkpoint as it was written");
    return others[name] = read_all(path_of(name), "check the path and the permissions");
}

SceneFiles open_scene(const std::filesystem::path& scene) {
    SceneFiles files;
    files.scene = scene;
    try {
        files.text = read_all(scene, "give the path of a scene file (TOML)");
    } catch (const Error&) {
        throw SceneError(scene, {{0, "", "cannot be opened; give the path of a scene file (TOML)"}});
    }
    return files;
}

}  // namespace drystone
