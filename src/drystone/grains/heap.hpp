// The form of a heap: profile, angle of repose, run-out. Heights are along the last axis.
#pragma once

#include "drystone/grains/measure.hpp"

namespace drystone {

/// The surface of a heap over cells of equal width: the top of the highest grain whose centre is in each. In space the
/// cells are squares, and the profile is their mean over rings about the heap's axis: rings alone would favour the
/// outer ones, which hold more grains.
template <int d>
struct HeapProfile {
    Vec<d> centre = Vec<d>::Zero();  ///< of mass; the axis of the heap in space
    double base = 0;                 ///< lowest point of a grain: heights are above it, m
    double height = 0;               ///< of the highest bin, m
    double width = 0;                ///< of a bin and of a cell, m
    double begin = 0;  ///< where the first bin begins: x in the plane, 0 in space (distance from the axis)
    std::vector<double> heights;  ///< by bin; not a number where it has no grain
    /// The cells: distance from the axis (plane: x) and height of those that hold a grain.
    std::vector<std::pair<double, double>> cells;
};
/// `width` = 0: twice the mean diameter of the grains.
template <int d>
HeapProfile<d> heap_profile(const Scene<d>& scene, double width = 0, const Region<d>* region = nullptr);

/// Angles of the flanks to the horizontal, degrees: lines fitted to the cells between where the profile passes 80 % and
/// 20 % of its height. Not a number where a flank has fewer than 3 cells (a heap against a wall has one flank).
struct Repose {
    double left = 0, right = 0;  ///< both the same in space, where the fit is over all directions
    double mean = 0;             ///< of those that are numbers
};
template <int d>
Repose angle_of_repose(const HeapProfile<d>& profile);

/// How far grains reach, to their rims.
template <int d>
struct RunOut {
    std::int64_t connected_grains = 0;  ///< of the largest group of grains that touch
    double connected_left = 0, connected_right = 0,
           connected_radius = 0;  ///< of this group: smallest and largest x, m
    double left = 0, right = 0,
           radius = 0;  ///< of all grains; radius: distance from the centre of mass's axis, m
};
/// Grains touch that carry force or are nearer than 0.02 of the smaller inner radius.
template <int d>
RunOut<d> run_out(const Scene<d>& scene, const StepMemory<d>& memory, const Region<d>* region = nullptr);

}  // namespace drystone
