// Fuzzer of the scene reader: any text is a scene or is refused with Error.

#include "drystone/base/error.hpp"
#include "drystone/scenes/scene_file.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    drystone::SceneFiles files;
    files.scene = "fuzz.toml";
    files.text.assign(reinterpret_cast<const char*>(data), size);
    // No file of this machine is read; one small surface is there to be named.
    files.others["a.obj"] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    files.sealed = true;
    try {
        drystone::read_scene(files, false);
    } catch (const drystone::Error&) {
    }
    return 0;
}
