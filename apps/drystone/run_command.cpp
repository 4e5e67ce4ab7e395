#include "run_command.hpp"

#include "drystone/scenes/scene_file.hpp"
#include "drystone/scenes/settings.hpp"
#include "resume_command.hpp"

namespace drystone::command {

int run_command(const RunSceneOptions& options) {
    SceneFiles files = open_scene(options.scene);
    for (const std::string& text : options.settings) files.settings.push_back(setting_of(text));
    AnyPlan plan = read_scene(files);
    return std::visit(
        [&]<int d>(RunPlan<d>& one) {
            apply(options.overrides, one.options);
            return through_phases(
                options.sitting,
                run_sitting<d>(options.sitting, {std::move(files), options.overrides, std::move(one)}, true));
        },
        plan);
}

}  // namespace drystone::command
