#include "run_command.hpp"

#include "drystone/scenes/scene_file.hpp"

namespace drystone::command {

int run_command(const RunSceneOptions& options) {
    SceneFiles files = open_scene(options.scene);
    AnyPlan plan = read_scene(files);
    return std::visit(
        [&]<int d>(RunPlan<d>& one) {
            apply(options.overrides, one.options);
            return run_sitting<d>(options.sitting, {std::move(files), options.overrides, std::move(one)},
                                  true);
        },
        plan);
}

}  // namespace drystone::command
