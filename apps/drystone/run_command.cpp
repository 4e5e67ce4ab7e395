#include "run_command.hpp"

#include "drystone/scenes/scene_file.hpp"
#include "drystone/scenes/settings.hpp"
#include "interrupt.hpp"
#include "resume_command.hpp"

namespace drystone::command {

int run_files(SceneFiles files, const RunOverrides& overrides, const SittingOptions& sitting) {
    AnyPlan plan = read_scene(files);
    const InterruptWatch watch;  // between its phases, too
    return std::visit(
        [&]<int d>(RunPlan<d>& one) {
            apply(overrides, one.options);
            return through_phases(
                sitting, run_sitting<d>(sitting, {std::move(files), overrides, std::move(one)}, true));
        },
        plan);
}

int run_command(const RunSceneOptions& options) {
    SceneFiles files = open_scene(options.scene);
    for (const std::string& text : options.settings) files.settings.push_back(setting_of(text));
    return run_files(std::move(files), options.overrides, options.sitting);
}

}  // namespace drystone::command
