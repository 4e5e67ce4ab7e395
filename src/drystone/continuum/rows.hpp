// Sand as blocks of the cone problem (docs/theory.md, section 17).
#pragma once

#include "drystone/cone/problem.hpp"
#include "drystone/continuum/memory.hpp"

namespace drystone {

/// Stresses are impulses over this, for the volume of grains that bears them.
template <int d>
double impulse_per_stress(const Sand<d>& sand, double volume, double h) {
    return 2 * volume * h / sand.length();
}

/// Sets m.rows: of the stresses of m.sites, the strain rates times Sand::length as rows of the nodes' velocities.
template <int d>
void fill_gradients(const Sand<d>& sand, int threads, SandMemory<d>& m);

/// Appends the nodes to the bodies of the problem, m.first_body from now on: mass, and f of their velocities without
/// stresses. `fall`: the velocity that a step of gravity makes, which is at stake in sand that falls, too
/// (docs/theory.md, eq. 12a).
template <int d>
void add_nodes(const Sand<d>& sand, double fall, int threads, SandMemory<d>& m, ConeProblem& problem);

/// Fills the blocks of stresses: tensors, cones, w, what the guarded law asks for, and what cohesion does to f.
/// The blocks from m.first_tensor on are opened (open_blocks), those of contacts are complete. The rows of
/// fill_gradients become the problem's, and its old ones room for the next.
template <int d>
void fill_tensors(const Sand<d>& sand, double h, int threads, SandMemory<d>& m, ConeProblem& problem);

/// Fills the contacts of nodes with bodies, from m.first_touch on. `place`: of each body of the scene in the problem;
/// -1: it does not move freely.
template <int d>
void fill_touches(const Scene<d>& scene, const Sand<d>& sand, double h, std::span<const Index> place,
                  int threads, const SandMemory<d>& m, ConeProblem& problem);

/// Appends the tiles of these blocks to those that are there: the blocks of the grid, coloured by parity, with the
/// contacts with what does not move; contacts with bodies that do in tiles of their own.
template <int d>
void add_tiles(const SandMemory<d>& m, std::span<const Index> place, ConeProblem& problem);

/// The start of the solve, from the last step's stresses.
template <int d>
void recall(const Scene<d>& scene, const Sand<d>& sand, double h, int threads, const SandMemory<d>& m,
            const ConeProblem& problem, Vector& start);
/// And for the next: `r` and `u` of the solution.
template <int d>
void remember(const Scene<d>& scene, const Sand<d>& sand, double h, int threads, const Vector& r,
              const Vector& u, const ConeProblem& problem, SandMemory<d>& m);

/// The pressure (Pa) that a stress of SandWarmStart means, cohesion not counted.
template <int d>
double pressure_of(const Tensor<d>& stress) {
    return std::sqrt(2.0 / d) * stress[0];
}

}  // namespace drystone
