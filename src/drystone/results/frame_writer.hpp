// Frames written in the background: the run copies its state and goes on.
#pragma once

#include "drystone/results/frame_file.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

namespace drystone {

/// "grains_000012.hdf", "forces_000012.hdf", "sand_000012.hdf".
std::string grains_file_name(std::int64_t number);
std::string forces_file_name(std::int64_t number);
std::string sand_file_name(std::int64_t number);
/// Regular expression (ECMAScript) of all names that a FrameWriter makes: what an earlier run left behind.
inline constexpr const char* frame_file_pattern =
    R"((grains|forces|sand)(_[0-9]{6,}\.hdf|\.hdf\.series)(\.part)?)";

/// Writes grains_NNNNNN.hdf and forces_NNNNNN.hdf, where there is sand sand_NNNNNN.hdf, and grains.hdf.series,
/// forces.hdf.series and sand.hdf.series, which tell ParaView their times. One thread writes; at most one frame waits
/// for it, and the run waits where that is not enough.
///
/// Several ranks write their frames together, at once and by the thread that calls (MPI is not called from another):
/// the constructor, write() and finish() are collective then. What goes wrong on one rank is thrown on all by the same
/// call. Rank 0 keeps the times.
template <int d>
class FrameWriter {
public:
    /// `next`: number of the first frame that will be written; the times of those before are read from their files (a
    /// resumed run).
    explicit FrameWriter(std::filesystem::path folder, std::int64_t next = 0, const hdf5::Ranks& ranks = {});
    FrameWriter(const FrameWriter&) = delete;
    FrameWriter& operator=(const FrameWriter&) = delete;
    /// Waits for what is under way; what went wrong since the last call is lost. Use finish().
    ~FrameWriter();

    /// Hands over the next frame. `memory`: of the last step, of length `h`; nullptr before the first. Throws what went
    /// wrong with an earlier frame (the message names the file), in which case this one is not written.
    void write(const Scene<d>& scene, const StepMemory<d>* memory, double h,
               const Vector* impulses = nullptr);
    /// The same with sand, which goes into the next frame that is written of a scene: before it. `memory`: of the last
    /// step.
    void add(const Sand<d>& sand, const SandMemory<d>* memory) { copy_sand(sand, memory, spare_); }
    /// Likewise, of a state that is ready; it is copied where the frame is not written at once.
    void write(const FrameState<d>& state);
    /// Waits until all frames are on the disk, and throws what went wrong.
    void finish();
    /// Number of the next frame: part of a checkpoint, after finish().
    [[nodiscard]] std::int64_t next() const { return next_; }
    /// Wall-clock seconds that write() has taken from the run: copies, and waiting for the disk.
    [[nodiscard]] double seconds() const { return seconds_; }

private:
    [[nodiscard]] bool at_once() const { return !ranks_.alone(); }
    void hand_over();
    void work();
    void write_one(const FrameState<d>& state, std::int64_t number);
    void write_series() const;
    void throw_if_failed();

    std::filesystem::path folder_;
    hdf5::Ranks ranks_;
    std::int64_t next_ = 0;
    double seconds_ = 0;
    FrameState<d> spare_;  // the caller's, to copy into

    std::mutex mutex_;
    std::condition_variable changed_;
    bool waiting_full_ = false, busy_ = false, stop_ = false;
    FrameState<d> waiting_;
    std::int64_t waiting_number_ = 0;
    std::exception_ptr error_;

    // Of the thread alone, or of the caller while the thread rests.
    FrameSurfaces<d> surfaces_;
    std::vector<std::pair<std::int64_t, double>> times_;  // number, s
    bool has_sand_ = false;
    std::thread thread_;
};

}  // namespace drystone
