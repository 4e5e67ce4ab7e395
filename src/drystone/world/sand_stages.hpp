// Parts of a step that know bodies and sand.
#pragma once

#include "drystone/world/stages.hpp"

namespace drystone {

/// What assemble is asked for: of the options of the step, and the room that sand needs in the problem.
template <int d>
AssembleOptions assemble_options(const StepOptions& options, double h, int threads, bool all_bodies,
                                 const Scene<d>& scene, const SandPart<d>& sand);

/// Nodes and blocks of sand, in the room that was made for them.
template <int d>
void add_sand(const Scene<d>& scene, const SandPart<d>& sand, double h, int threads, Assembled<d>& assembled);

/// After the tiles of bodies have been made without the blocks of sand: those of joints get their numbers, and sand its
/// tiles.
template <int d>
void add_sand_tiles(const SandPart<d>& sand, Assembled<d>& assembled);

/// Of the nodes in the problem.
template <int d>
Eigen::Index first_velocity(const Assembled<d>& assembled) {
    return static_cast<Eigen::Index>(assembled.moving) * body_velocities<d>;
}

/// Work of stresses, of contacts of nodes with bodies on both, and of the scheme; and the energy that particles had and
/// nodes have, gravity's work on these counted.
template <int d>
void account_before(const Scene<d>& scene, const StepMemory<d>& memory, const SandPart<d>& sand, double h,
                    StepSums& sums);
/// And what particles have after the motion.
template <int d>
void account_after(const Scene<d>& scene, const SandPart<d>& sand, StepSums& sums);

}  // namespace drystone
