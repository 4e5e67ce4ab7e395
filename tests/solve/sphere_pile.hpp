// Spheres (3D) or disks (2D) as a cone problem, without the rooms of geometry: pairs apart from each other, and a pile
// on a floor.
#pragma once

#include "drystone/cone/delassus.hpp"

#include <functional>

namespace drystone::testing {

/// `count` contacts, each of two bodies that no other contact knows, of radii and masses over two decades: a sweep is
/// one visit of each. Every third contact has one body only, and every fifth of these names the held body with an
/// entry.
template <int d>
ConeProblem separate_contacts(int count, unsigned seed, const std::function<Cone(int)>& cone);

struct PileOptions {
    int across = 6, high = 6;    ///< bodies per side and layers
    double contact_gap = 0.004;  ///< pairs nearer than this (m) are contacts
    double speed = 0;            ///< of a random motion before the step, m/s
    double slope = 0;            ///< of gravity, degrees
    unsigned seed = 1;
};

/// One time step (0.005 s) of a pile: a close lattice of spheres (disks) of 0.095 to 0.1 m radius, disturbed, on a
/// rough floor.
template <int d>
ConeProblem pile(const PileOptions& o, const std::function<Cone(int)>& cone);

}  // namespace drystone::testing
