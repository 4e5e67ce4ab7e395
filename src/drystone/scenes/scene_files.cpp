#include "drystone/scenes/scene_files.hpp"

#include "drystone/base/read_file.hpp"
#include "drystone/scenes/table.hpp"

namespace drystone {

const std::string& SceneFiles::read(const std::string& name) {
    const auto found = others.find(name);
    if (found != others.end()) return found->second;
    if (sealed)
        fail(path_of(name).string(), "is not in the checkpoint", "use the checkpoint as it was written");
    return others[name] = read_file(path_of(name), most_surface_bytes, "check the path and the permissions");
}

SceneFiles open_scene(const std::filesystem::path& scene) {
    SceneFiles files;
    files.scene = scene;
    try {
        files.text = read_file(scene, most_scene_bytes, "give the path of a scene file (TOML)");
    } catch (const Error& error) {
        // The name stands before all faults of a scene anyway.
        throw SceneError(scene,
                         {{0, "", std::string(error.what()).substr(harmless(scene.string()).size() + 2)}});
    }
    return files;
}

}  // namespace drystone
