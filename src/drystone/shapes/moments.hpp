// Integrals of 1, x and x x^T over polygons and polyhedra: what mass, centre and inertia are made of.
// Internal to this room.
#pragma once

#include "drystone/shapes/shape.hpp"

namespace drystone {

template <int d>
struct Moments {
    double volume = 0;
    Vec<d> centre = Vec<d>::Zero();  ///< centre of mass
    Mat<d> second = Mat<d>::Zero();  ///< integral of (x - centre)(x - centre)^T
};

Moments<2> moments_of(const Polygon& polygon);
Moments<3> moments_of(const Polyhedron& polyhedron);

/// The inertia tensor (trace(S) 1 - S) of second moments S.
inline Mat<3> inertia_of(const Mat<3>& second) { return second.trace() * Mat<3>::Identity() - second; }

}  // namespace drystone
