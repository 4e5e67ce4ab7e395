// What a run leaves in its folder: frames, measurements, checkpoints, and the problems of steps that were not solved.
#pragma once

#include "drystone/base/timer.hpp"
#include "drystone/files/folder_lock.hpp"
#include "drystone/results/checkpoint.hpp"
#include "drystone/results/frame_writer.hpp"
#include "drystone/results/measurements.hpp"
#include "drystone/world/share.hpp"

#include <filesystem>
#include <optional>

namespace drystone {

/// How far frames are: part of a checkpoint.
struct FrameProgress {
    Beat beat;
    std::int64_t number = 0;  ///< of the next
    bool is_last = false;     ///< the last step has one
    double last_h = 0;        ///< length of the last step, s
};

template <class Self, class F>
requires std::same_as<std::remove_const_t<Self>, FrameProgress>
void each_number(Self& frames, F&& f) {
    each_number(frames.beat, f);
    f("number", frames.number);
    f("is_last", frames.is_last, 1);
    f("last_h", frames.last_h);
}

/// A run that is under way, or about to begin.
template <int d>
struct Run {
    SceneFiles files;
    RunOverrides overrides;  ///< already in the plan
    RunPlan<d> plan;
    WorldMemory<d> memory = {};
    RunProgress progress = {};
    std::optional<State> observers = {};  ///< what they kept when it was stopped; none: a new run
    bool changed = false;                 ///< since it was stopped: bodies, gravity

    [[nodiscard]] bool at_end() const { return progress.at_end(plan.options, plan.world.scene.time); }
};

struct FolderOptions {
    std::string program;                          ///< the version that writes checkpoints
    std::optional<double> checkpoint_every = {};  ///< s of simulated time, instead of the plan's
    bool same = true;                             ///< a resumed run goes on in the folder in which it was
};

template <int d>
class RunFolder {
public:
    /// `share`: where several ranks have the run together, nullptr elsewhere. All calls are collective then; what fails
    /// on one rank is thrown on all.
    RunFolder(std::filesystem::path folder, const Run<d>& run, FolderOptions options,
              const Share<d>* share = nullptr);

    /// A new run: makes the folder, takes away what an earlier run left in it, and writes the first frame. A resumed
    /// one: takes away what is in it of later steps; in another folder files begin anew. Both write a checkpoint.
    void begin(const Run<d>& run);
    /// Measurements and frames that are due.
    void after_step(const Run<d>& run, const StepRecord& record);
    /// True if simulated time says so, or a clock that has gone far since the last one: ranks may differ in that.
    [[nodiscard]] bool checkpoint_due(const StepRecord& record);
    void save_checkpoint(const Run<d>& run) { save_checkpoint(run, state()); }
    /// The last line and the last frame, where they were not due anyway, and the last checkpoint, taken before them: a
    /// run that is made longer later is as if it had never ended here.
    void finish(const Run<d>& run);
    /// The problem of the last step, with its start and its solution. On one rank alone. Answers the file.
    std::filesystem::path save_problem(const Run<d>& run) const;

    [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
    /// A file that is there and that a run which begins anew takes away; empty: none. Collective.
    [[nodiscard]] std::string earlier_result() const;
    [[nodiscard]] std::filesystem::path checkpoint() const { return folder_ / "checkpoint.h5"; }
    /// Simulated time of the last checkpoint of this sitting, s.
    [[nodiscard]] std::optional<double> last_checkpoint() const { return last_checkpoint_; }
    [[nodiscard]] std::int64_t frames() const { return frames_.number; }
    /// Frames of this sitting for which the elastic limit was asked for and not found.
    [[nodiscard]] std::int64_t forces_missed() const { return forces_missed_; }
    /// Wall-clock seconds that frames have taken from the run.
    [[nodiscard]] double frame_seconds() const { return writer_ ? writer_->seconds() : 0; }

private:
    void begin_anew(const Run<d>& run);
    void resume(const Run<d>& run);
    void lock_folder();
    void clear_folder();
    /// Whether a file of this name is a frame, a measurement or the like of this run.
    [[nodiscard]] bool is_result(const std::string& name) const;
    /// Throws Error if a file from which the scene is made would be taken away or replaced.
    void spare_inputs(const SceneFiles& files) const;
    [[nodiscard]] bool wants_frames() const { return frames_.beat.every > 0; }
    void measure(const Run<d>& run, const StepRecord& record);
    void write_next_frame(const Run<d>& run, bool after_step);
    /// How far all are. Returns when everything up to here is in the files.
    [[nodiscard]] State state();
    void save_checkpoint(const Run<d>& run, const State& observers);

    /// Does what one rank does for all: files of lines, and the folder.
    template <class F>
    void on_first(F&& action) {
        hdf5::together(ranks_, [&] {
            if (hdf5::rank_of(ranks_) == 0) action();
        });
    }

    std::filesystem::path folder_;
    FolderOptions options_;
    const Share<d>* share_;
    hdf5::Ranks ranks_;
    std::optional<FolderLock> lock_;  // of the first rank
    Measurements<d> measurements_;
    std::optional<FrameWriter<d>> writer_;
    FrameState<d> sliced_;  // several ranks: of the last frame
    FrameProgress frames_;
    bool elastic_limit_;  // of frames alone
    std::int64_t forces_missed_ = 0;
    Beat checkpoints_;
    std::optional<double> last_checkpoint_;
    Timer since_checkpoint_;
    std::int64_t first_step_;
};

}  // namespace drystone
