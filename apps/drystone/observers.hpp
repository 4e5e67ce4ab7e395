// Who looks on while a run goes: frames and measurements in its folder. One place to put more of them.
#pragma once

#include "drystone/results/checkpoint.hpp"
#include "drystone/results/frame_writer.hpp"
#include "drystone/results/measurements.hpp"
#include "folder_lock.hpp"
#include "rank_files.hpp"

#include <filesystem>
#include <optional>

namespace drystone::command {

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

/// All observers of one run in one folder.
template <int d>
class Observers {
public:
    /// Several ranks: all calls are collective; what fails on one is thrown on all.
    Observers(std::filesystem::path folder, const RunPlan<d>& plan, const Shared<d>& shared = {});
    /// Makes the folder, takes away what an earlier run left in it, and writes the first frame.
    void begin(const Scene<d>& scene);
    /// Goes on after so many steps. `same_folder`: what is in it of later steps is taken away; otherwise files begin
    /// anew there.
    void resume(const State& state, std::int64_t steps, bool same_folder);
    void after_step(const Scene<d>& scene, const StepMemory<d>& memory, const StepRecord& record,
                    const RunProgress& progress);
    /// The last line and the last frame, where they were not due anyway.
    void finish(const Scene<d>& scene, const StepMemory<d>& memory);
    /// How far all are. Returns when everything up to here is in the files.
    [[nodiscard]] State state();
    [[nodiscard]] std::int64_t frames() const { return frames_.number; }
    /// Frames of this sitting for which the elastic limit was asked for and not found.
    [[nodiscard]] std::int64_t forces_missed() const { return forces_missed_; }
    /// Wall-clock seconds that frames have taken from the run.
    [[nodiscard]] double frame_seconds() const { return writer_ ? writer_->seconds() : 0; }

private:
    void lock_folder();
    void clear_folder();
    void write_next_frame(const Scene<d>& scene, const StepMemory<d>* memory, double h);

    /// Does what one rank does for all: files of lines, and the folder.
    template <class F>
    void on_first(F&& action) {
        hdf5::together(files_of(shared_.ranks), [&] {
            if (shared_.first()) action();
        });
    }
    void measure(const StepRecord& record, const Scene<d>& scene, const StepMemory<d>& memory,
                 const RunProgress& progress);

    std::filesystem::path folder_;
    std::optional<FolderLock> lock_;  // of the first rank
    Shared<d> shared_;
    std::shared_ptr<const std::vector<Shape<d>>> shapes_;
    bool wants_frames_;
    Measurements<d> measurements_;
    std::optional<FrameWriter<d>> writer_;
    FrameProgress frames_;
    bool elastic_limit_;  // of frames alone
    SolveSettings solving_;
    std::int64_t forces_missed_ = 0;
};

}  // namespace drystone::command
