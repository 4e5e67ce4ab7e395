// Frames: the state of a scene at one time in one HDF5 file, for pictures and for analysis.
//
//   /time        s                            /dimension   2 or 3
//   /bodies/     id, shape, size, motion (0 free, 1 held), position (rows), rotation (2D: angle in rad; 3D: rows w, x, y, z), velocity
//                (rows), spin (2D: numbers; 3D: rows)
//   /shapes/<k>/ type; vertices and elements (triangles; 2D: edges of a loop) of shape k at size 1. None for half-spaces.
//   /contacts/   h (s); a, b (numbers of the bodies in this file), point and normal (from b to a), gap (m), impulse on a (N s, rows)
//
// Contacts are those of the step that led to this state; its beginning is where their gaps were measured.
#pragma once

#include "drystone/grains/step.hpp"

#include <filesystem>

namespace drystone {

/// Writes a frame. The file appears complete or not at all. `memory`: of the last step, of length `h`; nullptr before the first.
template <int d>
void write_frame(const std::filesystem::path& path, const Scene<d>& scene, const StepMemory<d>* memory,
                 double h);

}  // namespace drystone
