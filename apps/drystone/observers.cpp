#include "observers.hpp"

#include "drystone/base/error.hpp"

#include <fmt/format.h>

#include <regex>

namespace drystone::command {

namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder, error))
        fail(folder.string(), "is not a folder and cannot be made", "give another --output");
}

/// Takes away the files in the folder whose name matches, and whose number (the first group), if there is one, is
/// `first` or later.
void remove_files(const fs::path& folder, const std::regex& ours, std::int64_t first) {
    std::error_code error;
    std::vector<fs::path> old;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        std::smatch match;
        if (!std::regex_match(name, match, ours)) continue;
        if (match.size() > 1 && match[1].matched && std::stoll(match[1].str()) < first) continue;
        old.push_back(entry.path());
    }
    for (const fs::path& file : old) fs::remove(file, error);
}

// At most 18 digits: more are not ours, and would not fit a number.
const std::regex& frames_in_folder() {
    static const std::regex frames("(?:grains|forces)_([0-9]{6,18})\\.hdf");
    return frames;
}
const std::regex& failures_in_folder() {
    static const std::regex failures("failed_step_([0-9]{1,18})\\.hdf5");
    return failures;
}
const std::regex& parts_in_folder() {
    static const std::regex parts(
        "(?:(?:grains|forces|failed_step)_[0-9]+|checkpoint|grains\\.hdf|forces\\.hdf)\\.[a-z0-9]+\\.part[0-"
        "9]*");
    return parts;
}

}  // namespace

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
    std::vector<std::string> names;
    for (const Named& one : all) names.push_back(one.name);
    return names;
}

template <int d>
Observers<d>::Observers(fs::path folder, const RunPlan<d>& plan, const Shared<d>& shared)
    : folder_(std::move(folder)),
      shared_(shared),
      wants_frames_(plan.output.frames_every > 0),
      measurements_(folder_, plan.output, plan.measures, names_of(plan.feeds.sinks),
                    names_of(plan.scene.joints)),
      frames_{{plan.output.frames_every}},
      elastic_limit_(plan.output.elastic_limit && !plan.options.step.elastic_limit),
      solving_(plan.options.step.solve) {
    if (!shared.alone() && plan.output.elastic_limit)
        fail("output.forces", "forces of the elastic limit are not found on several ranks yet",
             "run it on one rank, or set forces = \"any\"");
}

template <int d>
void Observers<d>::lock_folder() {
    make_folder(folder_);
    lock_.emplace(folder_);
}

template <int d>
void Observers<d>::clear_folder() {
    // A checkpoint of another run must not be taken for one of this.
    static const std::regex others("(?:grains|forces)\\.hdf\\.series|checkpoint\\.h5");
    for (const std::regex* ours : {&frames_in_folder(), &failures_in_folder(), &parts_in_folder(), &others})
        remove_files(folder_, *ours, 0);
    std::error_code error;
    for (const std::string& name : measurements_.file_names()) fs::remove(folder_ / name, error);
}

template <int d>
void Observers<d>::begin(const Scene<d>& scene) {
    on_first([&] {
        lock_folder();
        clear_folder();
        measurements_.begin();
    });
    if (!wants_frames_) return;
    writer_.emplace(folder_, 0, files_of(shared_.ranks));
    write_next_frame(scene, nullptr, 0);
}

template <int d>
void Observers<d>::resume(const State& state, std::int64_t steps, bool same_folder) {
    recall(state.part("frames"), frames_);
    const State lines = state.part("measurements");
    on_first([&] {
        lock_folder();
        if (same_folder) {
            measurements_.resume(lines);
            remove_files(folder_, frames_in_folder(), frames_.number);
            remove_files(folder_, failures_in_folder(), steps + 1);
            remove_files(folder_, parts_in_folder(), 0);
        } else {
            clear_folder();
            measurements_.resume_elsewhere(lines);
        }
    });
    if (wants_frames_) writer_.emplace(folder_, frames_.number, files_of(shared_.ranks));
}

template <int d>
void Observers<d>::after_step(const Scene<d>& scene, const StepMemory<d>& memory, const StepRecord& record,
                              const RunProgress& progress) {
    measure(record, scene, memory, progress);
    frames_.last_h = record.h;
    frames_.is_last = false;
    if (wants_frames_ && frames_.beat.reached(record.time, 1e-6 * record.h))
        write_next_frame(scene, &memory, record.h);
}

/// Tables of measurements are made by rank 0, to which the whole scene goes for it; steps.csv needs no more than the
/// record.
template <int d>
void Observers<d>::measure(const StepRecord& record, const Scene<d>& scene, const StepMemory<d>& memory,
                           const RunProgress& progress) {
    if (shared_.alone()) {
        measurements_.add(record, scene, memory, progress);
        return;
    }
    if (!shared_.ranks->any(shared_.first() && measurements_.looks_at_scene(record))) {
        on_first([&] { measurements_.add(record, scene, memory, progress); });
        return;
    }
    Slices<d> all = slice(scene, &memory, *shared_.part, {.contacts = true, .to_first = true});
    on_first([&] {
        const StepMemory<d> whole_memory = memory_of(all);
        Scene<d> whole = scene;
        whole.bodies = std::move(all.bodies);
        measurements_.add(record, whole, whole_memory, progress);
    });
}

template <int d>
void Observers<d>::finish(const Scene<d>& scene, const StepMemory<d>& memory) {
    on_first([&] { measurements_.flush(); });
    if (wants_frames_ && !frames_.is_last) write_next_frame(scene, &memory, frames_.last_h);
    if (writer_) writer_->finish();
}

template <int d>
State Observers<d>::state() {
    if (writer_) writer_->finish();
    State state;
    state.put("frames", state_of(frames_));
    state.put("measurements", measurements_.state());
    return shared_.alone() ? state : state_of_first(*shared_.ranks, state);
}

template <int d>
void Observers<d>::write_next_frame(const Scene<d>& scene, const StepMemory<d>* memory, double h) {
    if (!shared_.alone()) {
        writer_->write(frame_of(scene, memory, h, *shared_.part, shapes_));
    } else if (elastic_limit_ && memory != nullptr) {
        ConeSolution solution = memory->solution;
        if (find_elastic_limit(scene, solving_, *memory, solution).status != Status::solved) ++forces_missed_;
        writer_->write(scene, memory, h, &solution.r);
    } else {
        writer_->write(scene, memory, h);
    }
    ++frames_.number;
    frames_.is_last = true;
}

template class Observers<2>;
template class Observers<3>;

}  // namespace drystone::command
