// From particles to the grid and back, by way of cells: what a cell's particles are, as a few numbers, is all that
// nodes and rows are made from. So each particle is read once, sums have one order, and what crosses a border between
// ranks would be whole cells.
#pragma once

#include "drystone/continuum/grid.hpp"

namespace drystone {

/// Of the particles in one cell, places measured from its first corner in widths.
template <int d>
struct CellMoments {
    /// Sums of volume times x^a y^b z^c, a, b, c from 0 to 2: number a + 3 (b + 3 c).
    std::array<double, moments<d>> volume;
    /// What each corner gets: volume times velocity, and volume, by the shape functions.
    std::array<Vec<d>, corners<d>> momentum;
    std::array<double, corners<d>> share;
    std::array<double, corners<d>> cohesion;  ///< volume times cohesion, likewise
};

/// Numbers of nodes, and of cells on the way.
template <int d>
struct GridState {
    std::vector<CellMoments<d>> cells;
    std::vector<double> volume;    ///< of grains, m^3, by node
    std::vector<Vec<d>> velocity;  ///< m/s, by node: at the beginning of the step, then at its end
    std::vector<double> cohesion;  ///< Pa, by node
};

/// Nodes with less of a cell's volume than this are none: rounding of a place.
inline constexpr double least_share = 1e-14;

/// Sorts particles, numbers nodes, and gives them volumes and velocities (eq. 36).
template <int d>
void to_grid(const Sand<d>& sand, int threads, Grid<d>& grid, GridState<d>& state);

/// Particles take velocities and their gradients from the nodes, move by h (eq. 37), and change as what is around them
/// does: their frames, and cohesion by SandMaterial::cohesion_decay. `before`: the nodes' velocities as to_grid made
/// them, for flip.
template <int d>
void from_grid(const Grid<d>& grid, const std::vector<Vec<d>>& velocity, const std::vector<Vec<d>>& before,
               double h, int threads, Sand<d>& sand);

}  // namespace drystone
