#include "info_command.hpp"

#include "drystone/base/error.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/problems/problem_file.hpp"
#include "drystone/results/checkpoint.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "run.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace drystone::command {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

template <int d>
std::size_t free_bodies(const Scene<d>& scene) {
    return static_cast<std::size_t>(
        std::count(scene.bodies.motion.begin(), scene.bodies.motion.end(), Motion::free));
}

template <int d>
void tell_plan(const RunPlan<d>& plan, Json& object) {
    object["title"] = plan.title;
    object["dimension"] = d;
    object["bodies"] = plan.world.scene.bodies.count();
    object["free_bodies"] = free_bodies(plan.world.scene);
    object["shapes"] = plan.world.scene.shapes.size();
    object["end"] = plan.options.end;
    object["step"] = plan.options.step.h;
    object["solver"] = plan.solver;
    object["tolerance"] = plan.options.step.solve.goal.tolerance;
}

Json info_of_scene(const std::string& path) {
    Json object = {{"path", path}, {"kind", "scene"}};
    // Random grains are not placed: that may take as long as a run.
    const AnyPlan plan = read_scene(fs::path(path));
    std::visit(
        [&]<int d>(const RunPlan<d>& one) {
            tell_plan(one, object);
            object["sources"] = one.feeds.sources.size();
            object["sinks"] = one.feeds.sinks.size();
        },
        plan);
    return object;
}

Json info_of_checkpoint(const std::string& path) {
    const Checkpoint checkpoint = read_checkpoint(path, DRYSTONE_VERSION, plan_without_grains);
    Json object = {{"path", path}, {"kind", "checkpoint"}, {"program", checkpoint.program}};
    object["scene"] = checkpoint.files.scene.string();
    std::visit(
        [&]<int d>(const StoppedRun<d>& run) {
            tell_plan(run.plan, object);
            if (checkpoint.overrides.until) object["end"] = *checkpoint.overrides.until;
            if (checkpoint.overrides.tolerance) object["tolerance"] = *checkpoint.overrides.tolerance;
            object["time"] = run.plan.world.scene.time;
            object["steps"] = run.progress.summary.steps;
            object["unsolved"] = run.progress.summary.unsolved;
            object["frozen_shift"] = run.progress.summary.frozen;
            object["contacts"] = run.warm.key.size();
            object["frames"] = checkpoint.observers.get<std::int64_t>("frames/number").at(0);
        },
        checkpoint.run);
    object["files"] = 1 + checkpoint.files.others.size();
    for (const SceneSetting& setting : checkpoint.files.settings)
        object["settings"].push_back(setting.field + "=" + setting.value);
    return object;
}

Json info_of_frame(const std::string& path, const hdf5::Group& root) {
    Json object = {{"path", path}, {"kind", "frame"}};
    object["dimension"] = root.read_int("dimension");
    object["time"] = root.read_double("time");
    object["bodies"] = root.read_longs("bodies/id").size();
    if (root.exists("contacts/gap")) object["contacts"] = root.read_doubles("contacts/gap").size();
    return object;
}

Json info_of_problem(const std::string& path) {
    const ProblemFile file = read_problem(path);
    Json object = {{"path", path}, {"kind", "problem"}};
    if (!file.title.empty()) object["title"] = file.title;
    if (!file.description.empty()) object["description"] = file.description;
    object["blocks"] = file.problem.blocks();
    object["rows"] = file.problem.rows();
    object["bodies"] = file.problem.bodies();
    object["guesses"] = file.guesses.size();
    object["solution"] = file.solution.has_value();
    return object;
}

std::size_t lines_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return static_cast<std::size_t>(
        std::count(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>(), '\n'));
}

Json info_of_folder(const std::string& path) {
    const fs::path checkpoint = fs::path(path) / "checkpoint.h5";
    Json object;
    std::int64_t frames = 0, failures = 0;
    Json tables = Json::object();
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
        const std::string name = file.filename().string();
        if ((name.starts_with("frame_") && name.ends_with(".h5")) ||
            (name.starts_with("grains_") && name.ends_with(".hdf")))
            ++frames;
        if (name.starts_with("failed_step_") && name.ends_with(".hdf5")) ++failures;
        std::error_code error;
        if (name.ends_with(".csv") && fs::is_regular_file(file, error))
            tables[name] = std::max<std::size_t>(lines_of(file), 1) - 1;
    }
    if (fs::exists(checkpoint)) {
        object = info_of_checkpoint(checkpoint.string());
        object["path"] = path;
    } else if (frames + failures == 0 && tables.empty()) {
        fail(path, "is a folder without results of a run", "give the --output of drystone run");
    } else {
        object["path"] = path;
    }
    object["kind"] = "run";
    object["frames"] = frames;
    object["saved_problems"] = failures;
    object["lines"] = tables;
    return object;
}

bool is_hdf5(const fs::path& path) {
    constexpr std::array<char, 4> signature = {'\x89', 'H', 'D', 'F'};
    std::array<char, 4> begin{};
    std::ifstream stream(path, std::ios::binary);
    stream.read(begin.data(), begin.size());
    return begin == signature;
}

Json info_of(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error)) fail(path, "there is no such file", "see that the path is right");
    if (fs::is_directory(path, error)) return info_of_folder(path);
    if (!fs::is_regular_file(path, error))
        fail(path, "is a device or a pipe and not a file", "give a file, or the folder of a run");
    if (is_checkpoint(path)) return info_of_checkpoint(path);
    if (is_hdf5(path)) {
        const hdf5::File file = hdf5::File::open(path);
        if (file.root().exists("bodies/id")) return info_of_frame(path, file.root());
        if (file.root().exists("VTKHDF")) return {{"path", path}, {"kind", "forces of a frame"}};
        return info_of_problem(path);
    }
    if (fs::path(path).extension() != ".toml") {
        fail(path, "is no scene (*.toml), checkpoint, frame or problem",
             "give one of these, or the folder of a run");
    }
    return info_of_scene(path);
}

std::string text_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (!value.is_object()) return value.dump();
    std::string text;
    for (const auto& [name, entry] : value.items())
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, text_of(entry));
    return text.empty() ? "none" : text;
}

}  // namespace

int info_command(const InfoOptions& options) {
    int code = exit_solved;
    for (const std::string& path : options.paths) {
        try {
            const Json object = info_of(path);
            if (options.json) {
                say(json_text(object));
                continue;
            }
            say(fmt::format("{}: {}", path, object["kind"].get<std::string>()));
            for (const auto& [name, value] : object.items()) {
                if (name == "path" || name == "kind") continue;
                std::string label = name;
                std::replace(label.begin(), label.end(), '_', ' ');
                say(fmt::format("  {:<15}{}", label, text_of(value)));
            }
        } catch (const std::exception& error) {
            complain(error.what());
            code = exit_misuse;
        }
    }
    return code;
}

}  // namespace drystone::command
