// Reads a scene and says how many bodies it has.
#include <drystone/scenes/scene_file.hpp>

#include <cstdio>

int main(int /*count*/, char** words) {
    using namespace drystone;
    const AnyPlan plan = read_scene(words[1]);
    return std::visit(
        [](const auto& one) {
            std::printf("%s: %d bodies\n", one.title.c_str(),
                        static_cast<int>(one.world.scene.bodies.count()));
            return one.world.scene.bodies.count() > 0 ? 0 : 1;
        },
        plan);
}
