#include "drystone/results/run_folder.hpp"

#include "drystone/base/error.hpp"
#include "drystone/problems/problem_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <regex>

namespace drystone {

namespace {

namespace fs = std::filesystem;

constexpr double wall_seconds_between_checkpoints = 600;

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder, error))
        fail(folder.string(), "is not a folder and cannot be made", "choose another folder");
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
        if (entry.is_regular_file(error)) old.push_back(entry.path());
    }
    for (const fs::path& file : old) fs::remove(file, error);
}

// Names that are ours (docs/results.md). At most 18 digits: more would not fit a number.
const std::regex& frames_in_folder() {
    static const std::regex frames("(?:grains|sand|forces)_([0-9]{6}|[1-9][0-9]{6,17})\\.hdf");
    return frames;
}
const std::regex& failures_in_folder() {
    static const std::regex failures("failed_step_([1-9][0-9]{0,17})\\.hdf5");
    return failures;
}
const std::regex& parts_in_folder() {
    static const std::regex parts(
        "(?:(?:grains|sand|forces)_[0-9]{6,18}\\.hdf|failed_step_[0-9]{1,18}\\.hdf5|checkpoint\\.h5|"
        "(?:grains|sand|forces)\\.hdf\\.series)\\.part[0-9]*");
    return parts;
}
/// A checkpoint of another run must not be taken for one of this.
const std::regex& others_in_folder() {
    static const std::regex others("(?:grains|sand|forces)\\.hdf\\.series|checkpoint\\.h5");
    return others;
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
    std::vector<std::string> names;
    for (const Named& one : all) names.push_back(one.name);
    return names;
}

template <class T>
void put(std::string& bytes, const T& x) {
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
}
template <class T>
T take(std::string_view& bytes) {
    T x;
    std::memcpy(&x, bytes.data(), sizeof x);
    bytes.remove_prefix(sizeof x);
    return x;
}

/// The state of rank 0, on all.
State state_of_first(const hdf5::Ranks& ranks, const State& state) {
    if (ranks.alone()) return state;
    std::string bytes;
    const auto put_all = [&](const auto& values) {
        put(bytes, static_cast<std::int64_t>(values.size()));
        for (const auto& x : values) put(bytes, x);
    };
    for (const auto& [name, numbers] : state.numbers) {
        put_all(name);
        put(bytes, static_cast<std::int64_t>(numbers.index()));
        std::visit(put_all, numbers);
    }
    bytes = hdf5::text_of_first(ranks, bytes);
    std::string_view left = bytes;
    const auto take_all = [&](auto& values) {
        values.resize(static_cast<std::size_t>(take<std::int64_t>(left)));
        for (auto& x : values) x = take<std::remove_reference_t<decltype(x)>>(left);
    };
    State out;
    while (!left.empty()) {
        std::string name;
        take_all(name);
        State::Numbers& numbers = out.numbers[name];
        if (take<std::int64_t>(left) == 1) numbers = std::vector<double>();
        std::visit(take_all, numbers);
    }
    return out;
}

}  // namespace

template <int d>
RunFolder<d>::RunFolder(fs::path folder, const Run<d>& run, FolderOptions options, const Share<d>* share)
    : folder_(std::move(folder)),
      options_(std::move(options)),
      share_(share),
      ranks_(share != nullptr ? hdf5::Ranks{share->communicator()} : hdf5::Ranks{}),
      measurements_(folder_, run.plan.output, run.plan.measures, names_of(run.plan.feeds.sinks),
                    names_of(run.plan.world.scene.joints)),
      frames_{{run.plan.output.frames_every}},
      elastic_limit_(run.plan.output.elastic_limit && !run.plan.options.step.elastic_limit),
      checkpoints_{options_.checkpoint_every.value_or(run.plan.output.checkpoints_every)},
      first_step_(run.progress.summary.steps) {
    if (share != nullptr && run.plan.output.elastic_limit)
        fail("output.forces", "forces of the elastic limit are not found on several ranks yet",
             "run it on one rank, or set forces = \"any\"");
}

template <int d>
void RunFolder<d>::lock_folder() {
    make_folder(folder_);
    lock_.emplace(folder_);
}

template <int d>
void RunFolder<d>::clear_folder() {
    for (const std::regex* ours :
         {&frames_in_folder(), &failures_in_folder(), &parts_in_folder(), &others_in_folder()})
        remove_files(folder_, *ours, 0);
    std::error_code error;
    for (const std::string& name : measurements_.file_names()) fs::remove(folder_ / name, error);
}

template <int d>
bool RunFolder<d>::is_result(const std::string& name) const {
    const std::vector<std::string> tables = measurements_.file_names();
    const auto matches = [&](const std::regex& ours) { return std::regex_match(name, ours); };
    return matches(frames_in_folder()) || matches(failures_in_folder()) || matches(others_in_folder()) ||
           std::find(tables.begin(), tables.end(), name) != tables.end();
}

template <int d>
std::string RunFolder<d>::earlier_result() const {
    std::vector<std::string> found;
    if (hdf5::rank_of(ranks_) == 0) {
        std::error_code unknown;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder_, unknown))
            if (const std::string name = entry.path().filename().string(); is_result(name))
                found.push_back(name);
    }
    // The best known one.
    const auto best = std::min_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::pair(a != "checkpoint.h5", a) < std::pair(b != "checkpoint.h5", b);
    });
    return hdf5::text_of_first(ranks_, best == found.end() ? std::string() : *best);
}

template <int d>
void RunFolder<d>::spare_inputs(const SceneFiles& files) const {
    std::vector<fs::path> inputs = {files.scene};
    for (const auto& [name, content] : files.others) inputs.push_back(files.path_of(name));
    std::error_code error;
    const fs::path here = fs::weakly_canonical(folder_, error);
    for (const fs::path& input : inputs) {
        const fs::path whole = fs::weakly_canonical(input, error);
        const std::string name = whole.filename().string();
        if (whole.parent_path() == here && (is_result(name) || std::regex_match(name, parts_in_folder())))
            fail(input.string(), "is read by the scene, and a file of this name is written by the run",
                 "choose another folder, or another name");
    }
}

template <int d>
void RunFolder<d>::begin(const Run<d>& run) {
    if (run.observers) {
        resume(run);
    } else {
        begin_anew(run);
    }
    save_checkpoint(run);
}

template <int d>
void RunFolder<d>::begin_anew(const Run<d>& run) {
    on_first([&] {
        spare_inputs(run.files);
        lock_folder();
        clear_folder();
        measurements_.begin();
    });
    if (!wants_frames()) return;
    writer_.emplace(folder_, 0, ranks_);
    write_next_frame(run, false);
}

template <int d>
void RunFolder<d>::resume(const Run<d>& run) {
    recall(run.observers->part("frames"), frames_);
    const State lines = run.observers->part("measurements");
    on_first([&] {
        lock_folder();
        if (options_.same) {
            measurements_.resume(lines);
            remove_files(folder_, frames_in_folder(), frames_.number);
            remove_files(folder_, failures_in_folder(), run.progress.summary.steps + 1);
            remove_files(folder_, parts_in_folder(), 0);
        } else {
            clear_folder();
            measurements_.resume_elsewhere(lines);
        }
    });
    if (wants_frames()) writer_.emplace(folder_, frames_.number, ranks_);
    checkpoints_.reached(run.plan.world.scene.time, 0);
}

template <int d>
void RunFolder<d>::after_step(const Run<d>& run, const StepRecord& record) {
    measure(run, record);
    frames_.last_h = record.h;
    frames_.is_last = false;
    if (wants_frames() && frames_.beat.reached(record.time, 1e-6 * record.h)) write_next_frame(run, true);
}

/// Tables of measurements are made by rank 0, to which the whole scene goes for it; steps.csv needs no more than the
/// record.
template <int d>
void RunFolder<d>::measure(const Run<d>& run, const StepRecord& record) {
    const Scene<d>& scene = run.plan.world.scene;
    const Sand<d>& sand = run.plan.world.sand;
    const bool first = hdf5::rank_of(ranks_) == 0;
    if (share_ == nullptr || hdf5::all_of(ranks_, !first || !measurements_.looks_at_scene(record))) {
        on_first([&] { measurements_.add(record, scene, sand, run.memory, run.progress); });
        return;
    }
    Slices<d> all = share_->slice(scene, &run.memory, {.contacts = true, .to_first = true});
    on_first([&] {
        const StepMemory<d> whole_memory = memory_of(all);
        Scene<d> whole = scene;
        whole.bodies = std::move(all.bodies);
        measurements_.add(record, whole, sand, whole_memory, run.progress);
    });
}

template <int d>
bool RunFolder<d>::checkpoint_due(const StepRecord& record) {
    const bool by_time = checkpoints_.every > 0 && checkpoints_.reached(record.time, 1e-6 * record.h);
    return by_time || since_checkpoint_.seconds() >= wall_seconds_between_checkpoints;
}

template <int d>
void RunFolder<d>::finish(const Run<d>& run) {
    const State before = state();
    if (run.progress.summary.steps > first_step_ || !run.observers) {
        on_first([&] { measurements_.flush(); });
        if (wants_frames() && !frames_.is_last) write_next_frame(run, true);
        if (writer_) writer_->finish();
    }
    save_checkpoint(run, before);
}

template <int d>
State RunFolder<d>::state() {
    if (writer_) writer_->finish();
    State state;
    state.put("frames", state_of(frames_));
    state.put("measurements", measurements_.state());
    return state_of_first(ranks_, state);
}

template <int d>
void RunFolder<d>::save_checkpoint(const Run<d>& run, const State& observers) {
    const Scene<d>& scene = run.plan.world.scene;
    const auto write = [&](const Bodies<d>& bodies, const WarmStart<d>& warm, const StateSlabs& slabs) {
        RunState<d> state{run.files, run.overrides, scene, bodies, warm, run.progress, observers};
        if (!run.plan.world.sand.cell.isZero(0)) {
            state.sand = &run.plan.world.sand;
            state.sand_warm = &run.memory.sand.warm;
        }
        write_checkpoint<d>(checkpoint(), state, options_.program, slabs);
    };
    if (share_ == nullptr) {
        write(scene.bodies, run.memory.warm, {});
    } else {
        const Slices<d> rows = share_->slice(scene, &run.memory, {.warm = true});
        write(
            rows.bodies, rows.warm,
            {ranks_, rows.body_rows.first, rows.body_rows.total, rows.warm_rows.first, rows.warm_rows.total});
    }
    last_checkpoint_ = scene.time;
    since_checkpoint_ = Timer();
}

template <int d>
fs::path RunFolder<d>::save_problem(const Run<d>& run) const {
    const std::int64_t number = run.progress.summary.steps;
    const fs::path file = folder_ / fmt::format("failed_step_{}.hdf5", number);
    ProblemFile saved;
    saved.problem = run.memory.assembled.problem;
    saved.guesses = {Delassus(saved.problem).complete(run.memory.start), run.memory.solution};
    saved.title = run.plan.title;
    saved.description = fmt::format("step {} of the scene {}, at time {} s", number,
                                    run.files.scene.filename().string(), run.plan.world.scene.time);
    write_problem(file, saved);
    return file;
}

template <int d>
void RunFolder<d>::write_next_frame(const Run<d>& run, bool after_step) {
    const Scene<d>& scene = run.plan.world.scene;
    const StepMemory<d>* memory = after_step ? &run.memory : nullptr;
    const double h = after_step ? frames_.last_h : 0;
    if (share_ == nullptr && !run.plan.world.sand.empty())
        writer_->add(run.plan.world.sand, after_step ? &run.memory.sand : nullptr);
    if (share_ != nullptr) {
        copy_frame(scene, share_->slice(scene, memory, {.contacts = true}), h, sliced_);
        writer_->write(sliced_);
    } else if (elastic_limit_ && after_step) {
        ConeSolution solution = memory->solution;
        const SolveSettings& solving = run.plan.options.step.solve;
        if (find_elastic_limit(scene, solving, *memory, solution).status != Status::solved) ++forces_missed_;
        writer_->write(scene, memory, h, &solution.r);
    } else {
        writer_->write(scene, memory, h);
    }
    ++frames_.number;
    frames_.is_last = true;
}

template class RunFolder<2>;
template class RunFolder<3>;

}  // namespace drystone
