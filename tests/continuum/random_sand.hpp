// Sand for tests: particles at random in a few cells on both sides of 0, none in a sliver of one.
#pragma once

#include "drystone/continuum/sand.hpp"

namespace drystone::testing {

template <int d>
Sand<d> random_sand(int particles, unsigned seed = 1);

/// Value of the shape function of the node at y at a place x, and its gradient.
template <int d>
double hat(const Vec<d>& y, const Vec<d>& width, const Vec<d>& x, Vec<d>* gradient = nullptr);

}  // namespace drystone::testing
