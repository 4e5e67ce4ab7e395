// Between ranks and files: a run's part in memory becomes rows for those who write them.
#pragma once

#include "drystone/distributed/slices.hpp"
#include "drystone/results/checkpoint.hpp"
#include "drystone/results/frame_file.hpp"

namespace drystone::command {

/// Ranks as files know them.
hdf5::Ranks files_of(const Communicator* ranks);

/// What one rank has of a run that several share; without `part` the run is not shared.
template <int d>
struct Shared {
    const Communicator* ranks = nullptr;
    Part<d>* part = nullptr;

    [[nodiscard]] bool alone() const { return ranks == nullptr; }
    [[nodiscard]] bool first() const { return alone() || ranks->rank() == 0; }
};

// Collective.

template <int d>
FrameState<d> frame_of(const Scene<d>& scene, const StepMemory<d>* memory, double h, const Part<d>& part,
                       std::shared_ptr<const std::vector<Shape<d>>>& shapes);

/// Writes the checkpoint of a run that several ranks share.
template <int d>
void write_checkpoint_of(const std::filesystem::path& path, const SceneFiles& files,
                         const RunOverrides& overrides, Scene<d>& scene, const StepMemory<d>& memory,
                         const RunProgress& progress, const State& observers, const Part<d>& part,
                         const std::string& program);

/// The state of rank 0, on all.
State state_of_first(const Communicator& ranks, const State& state);

}  // namespace drystone::command
