// Particles that have been drawn out become two, and those that lie together one, so that all of the sand stays known
// by about as many of them as in the beginning (docs/theory.md, section 17).
#pragma once

#include "drystone/continuum/grid.hpp"

namespace drystone {

/// What a particle stands for after its surroundings have moved by h with the gradient L (eq. 39).
template <int d>
Mat<d> deformed(const Mat<d>& frame, const Mat<d>& L, double h) {
    const Mat<d> step = h * L, G = Mat<d>::Identity() + step + 0.5 * step * step;
    const Mat<d> out = G * frame * G.transpose();
    return 0.5 * (out + out.transpose());
}

/// Splits and merges, where that would change one particle of a hundred. Mass, momentum and the centre of mass stay.
/// `grid`: as sort_particles made it; the particles may have moved since. Those of a cell come one after the other in
/// memory then. What is too small to be split is cut to the longest axes that there may be.
template <int d>
void resample(const Grid<d>& grid, int threads, Sand<d>& sand);

}  // namespace drystone
