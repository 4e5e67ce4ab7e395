// Checkpoints: all that a run needs to go on as if it had never stopped, in one file.
//
//   bytes 0 to 511   a header in text, padded with newlines:
//                        drystone checkpoint
//                        version 7
//                        program <version of drystone that wrote it>
//                        length <bytes of the whole file>
//                        xxh3 <128 bits in hexadecimal: of the whole file, with these 32 digits as zeros>
//   from byte 512    HDF5 (which allows for such a block before it, so that its tools open the file):
//     /dimension     2 or 3               /time (s), /gravity
//     /scene/        name, text: of the scene file; others/<k>/name, content: of the files that it names;
//                    settings/<k>/field, value, phase: what was said instead of the file; phase, phase_begin: where
//                    the run is
//     /overrides/    what the command line said instead of the scene: until, steps, tolerance, where given
//     /bodies/       id, shape, size, material, motion, mass, inertia, position, image, rotation, velocity, spin;
//                    next_id
//     /domain/       lower, period, tilt, rate, shear_rate
//     /warm/         the impulses from which the next step's solve begins: key (first, second, image, feature),
//                    impulse, torque (none, or for each), joints, h
//     /sand/         where there is sand: its particles, and what its next solve begins with (sand_rows.hpp)
//     /progress/     sums of the run; balance/, feed/, stop/: what the balance, sources and sinks, and the stop rule
//                    keep
//     /observers/    frames/, measurements/: how far they are and what they keep. Each number under its name
//                    (run/state.hpp)
//
// Several ranks write one file together, each its slab of the rows of /bodies and /warm; it is the same file, byte for
// byte, as one rank writes that has all of them.
//
// Numbers are kept bit for bit. Nothing of the clock or of the machine is in it: two runs of one scene write the same
// bytes.
#pragma once

#include "drystone/files/ranks.hpp"
#include "drystone/run/plan.hpp"
#include "drystone/run/scene_files.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace drystone {

/// Of the format. To be raised with any change of what is written.
inline constexpr int checkpoint_version = 7;

namespace hdf5 {
class Group;
}

/// What a checkpoint is written from.
template <int d>
struct RunState {
    const SceneFiles& files;
    const RunOverrides& overrides;
    const Scene<d>& scene;    ///< but for its bodies
    const Bodies<d>& bodies;  ///< those of the scene, or the rows of them that this rank writes
    const WarmStart<d>& warm;
    const RunProgress& progress;
    const State& observers;  ///< what they keep, and how far their files are
    // Of worlds with sand (on one rank).
    const Sand<d>* sand = nullptr;
    const SandWarmStart<d>* sand_warm = nullptr;
};

/// Which rows of a state are here where several ranks have it together: bodies in the order of their ids, the warm
/// start in the order of its keys, rank after rank. All else of a state is the same on all ranks.
struct StateSlabs {
    hdf5::Ranks ranks;
    std::int64_t first_body = 0, bodies = -1;  ///< number of the first row here; of all (-1: all are here)
    std::int64_t first_warm = 0, warm = -1;
};

/// Writes a checkpoint; the file appears complete, and safe on the disk, or not at all (the one that was there stays).
/// `program`: the version. Several ranks: collective; state.bodies and state.warm hold the rows of this rank, and
/// torques are there for all keys on all ranks or for none. What fails on one rank is thrown on all, with the same
/// message.
template <int d>
void write_checkpoint(const std::filesystem::path& path, const RunState<d>& state, const std::string& program,
                      const StateSlabs& slabs = {});

/// A run where it was when the checkpoint was written. The plan is that of the scene's text, with the bodies, the
/// domain, the gravity and the time of the checkpoint; overrides are not yet in it. Several ranks: each has an even
/// share of the rows of bodies and warm start.
template <int d>
struct StoppedRun {
    RunPlan<d> plan;
    WarmStart<d> warm;
    SandWarmStart<d> sand_warm = {};
    RunProgress progress;
    StateSlabs slabs;
};

struct Checkpoint {
    std::string program;  ///< version that wrote it
    SceneFiles files;
    RunOverrides overrides;
    State observers;
    std::variant<StoppedRun<2>, StoppedRun<3>> run;
};

/// True if the file begins as a checkpoint does, whole or not.
bool is_checkpoint(const std::filesystem::path& path);

/// What is to be different from what was left.
struct RunChanges {
    bool next_phase = false;  ///< the present one is over
    /// Fields that may change while a run goes on; that they may is for the caller to see.
    std::vector<SceneSetting> settings = {};
};

/// Makes the plan of a scene from its files, without the grains, which the checkpoint has (scenes/scene_file.hpp).
using PlanReader = std::function<AnyPlan(SceneFiles&)>;

/// Reads a checkpoint. `program`: the version that reads, for messages. Throws Error, with one message, on a file that
/// is no checkpoint, cut short, altered, of another version of the format, or whose numbers do not fit its scene:
/// nothing of it is used then. Several ranks: collective; of n rows rank k of N gets those from k n / N to (k + 1) n /
/// N, and all throw the same Error if one does.
Checkpoint read_checkpoint(const std::filesystem::path& path, const std::string& program,
                           const PlanReader& read_plan, const hdf5::Ranks& ranks = {},
                           const RunChanges& changes = {});

/// The files of the scene alone, and what was set instead of them: which run it is of. Throws Error as read_checkpoint
/// does, but where only numbers do not fit the scene.
SceneFiles read_files_of_checkpoint(const std::filesystem::path& path, const std::string& program);

/// The same out of what stands behind the header.
SceneFiles read_files_of_checkpoint(const hdf5::Group& root);

/// What stands behind the header: everything is checked but the header. The file is opened by each rank for itself.
Checkpoint read_checkpoint_content(const hdf5::Group& root, const PlanReader& read_plan,
                                   const hdf5::Ranks& ranks = {}, const RunChanges& changes = {});

}  // namespace drystone
