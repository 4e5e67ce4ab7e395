// Frames: the state of a scene at one time, for ParaView and for analysis, in two files.
//
// grains_000012.hdf: the bodies. Two views of the same state stand in it.
//
//   /VTKHDF/     what ParaView shows (vtkhdf.hpp): one cell per body that has a surface, in float32, with the fields
//   id, held (0: free, 1: not),
//                shape, material, radius (of the ball around the body, m), speed (m/s), velocity (m/s), spin (rad/s),
//                force (the largest on the body, N). Round shapes are drawn
//                the finer the fewer they are: 10,000 grains take about 15 MB, 100,000 about 60 MB. Half-spaces have no
//                surface that ends
//                and are left out.
//   /time        s                            /dimension   2 or 3
//   /bodies/     id, shape, size, material, motion (0 free, 1 held, 2 guided), position (rows), rotation (2D: angle in
//   rad; 3D: rows w, x, y, z),
//                velocity (rows), spin (2D: numbers; 3D: rows), all numbers as the run has them
//   /shapes/<k>/ type; vertices and elements (triangles; 2D: edges of a loop) of shape k at size 1. None for
//   half-spaces.
//   /contacts/   h (s); a, b (numbers of the bodies in this file), point and normal (from b to a), gap (m), impulse on
//   a (N s, rows)
//
// Contacts are those of the step that led to this state which carry an impulse or overlap; its beginning is where their
// gaps were measured. Points, normals and gaps are float32.
//
// forces_000012.hdf: /VTKHDF/ alone, lines between the centres of bodies that press on each other, with the fields
// force (N), force_vector (N, on the first body), normal_force (N), gap (m). A line ends at the contact where the other
// body is held or is touched across a period.
//
// sand_000012.hdf: where there is sand. /VTKHDF/ has a vertex per particle, with the fields id, speed (m/s), velocity
// (m/s), pressure (Pa); beside it /particles/ id, volume, position, velocity, as the run has them.
//
// Several ranks write a frame together, each the bodies and contacts that it has; rows are in the order of ranks. The
// content is the same for any number of ranks that have the same bodies and contacts one after another.
//
// Files are called .hdf since that is the ending that ParaView 5.11 knows. Beside them stand grains.hdf.series and
// forces.hdf.series (frame_writer.hpp), which give ParaView the times: open these. In ParaView 5.11 the files alone
// have their numbers as times.
#pragma once

#include "drystone/results/vtkhdf.hpp"
#include "drystone/world/slices.hpp"
#include "drystone/world/world.hpp"

#include <filesystem>
#include <memory>

namespace drystone {

/// What a frame is written from: a copy, so that the run can go on meanwhile. Several ranks: each has some of the
/// bodies (in the order of ids, rank after rank) and of the contacts (in the order of keys), and needs nothing of the
/// others.
template <int d>
struct FrameState {
    double time = 0, h = 0;
    Bodies<d> bodies;
    std::vector<double> radius;  ///< of the ball around each body, m
    std::vector<float> force;    ///< the largest on each body, N
    /// shared by frames: shapes are added to a scene, never changed; the same on all ranks
    std::shared_ptr<const std::vector<Shape<d>>> shapes;
    std::vector<PlacedContact<d>> contacts;  ///< that carry an impulse or overlap
    struct SandParticles {
        std::vector<GlobalId> id;
        std::vector<double> volume;
        std::vector<Vec<d>> position, velocity;
        std::vector<float> pressure;
    } sand;  ///< empty where there is none
};

/// Copies a scene. `memory`: of the last step, of length `h`; nullptr before the first. Reuses the room that `out` has.
template <int d>
void copy_frame(const Scene<d>& scene, const StepMemory<d>* memory, double h, FrameState<d>& out,
                const Vector* impulses = nullptr);
/// And its sand: `memory` is of the last step, or nullptr before the first.
template <int d>
void copy_sand(const Sand<d>& sand, const SandMemory<d>* memory, FrameState<d>& out);
/// Likewise from its slices, contacts among them: the rows of this rank.
template <int d>
void copy_frame(const Scene<d>& scene, Slices<d> slices, double h, FrameState<d>& out);

/// Surfaces for frames, kept from frame to frame.
template <int d>
class FrameSurfaces {
public:
    /// The finest level with which the bodies stay within the size that a frame may have.
    int choose_level(const FrameState<d>& state, const hdf5::Ranks& ranks = {});
    const CellShape<d>& surface(const FrameState<d>& state, Index shape, int level);

private:
    std::shared_ptr<const std::vector<Shape<d>>> shapes_;
    std::array<std::vector<std::unique_ptr<CellShape<d>>>, finest_level + 1> cells_;
};

/// Who writes a frame. Which rows each has follows from how many it has.
struct FrameSlabs {
    hdf5::Ranks ranks;
};

// Files appear complete or not at all. Collective where there are several ranks: what fails on one is thrown on all,
// with the same message.
template <int d>
void write_grains(const std::filesystem::path& path, const FrameState<d>& state, FrameSurfaces<d>& surfaces,
                  const FrameSlabs& slabs = {});
template <int d>
void write_forces(const std::filesystem::path& path, const FrameState<d>& state,
                  const FrameSlabs& slabs = {});
/// On one rank.
template <int d>
void write_sand_frame(const std::filesystem::path& path, const FrameState<d>& state);

/// The file of the bodies, at once. `memory`: of the last step, of length `h`; nullptr before the first.
template <int d>
void write_frame(const std::filesystem::path& path, const Scene<d>& scene, const StepMemory<d>* memory,
                 double h);

}  // namespace drystone
