#include "drystone/run/scene_files.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/read_file.hpp"

namespace drystone {

const std::string& SceneFiles::read(const std::string& name) {
    const auto found = others.find(name);
    if (found != others.end()) return found->second;
    if (sealed)
        fail(path_of(name).string(), "is not in the checkpoint", "use the checkpoint as it was written");
    return others[name] = read_file(path_of(name), most_surface_bytes, "check the path and the permissions");
}

}  // namespace drystone
