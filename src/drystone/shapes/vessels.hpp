// Vessels that hold grains, as surfaces of triangles seen from inside: scenes need no mesh file for them.
#pragma once

#include "drystone/shapes/shape.hpp"

namespace drystone {

/// The inside of a cylinder along y, its middle at the origin. The cross-section is a regular polygon with its corners
/// on the circle, with ridges ("lifters") that take grains along.
struct DrumPlan {
    double radius = 1, length = 1;  ///< m
    int segments = 64;
    bool caps = true;  ///< closed at both ends
    int lifters = 0;
    double lifter_height = 0,
           lifter_width = 0;  ///< m; inwards, and at the wall. The top is about half as wide
};

/// The inside of a funnel about z: from the outlet at z = 0 up to z = height, and straight on to z = height + rise.
/// Open at both ends.
struct HopperPlan {
    double radius = 1, outlet = 0.1;  ///< m; of the corners of a cone's polygon, half the side of a pyramid
    double height = 1, rise = 0;      ///< m
    bool pyramid = false;
    int segments = 64;  ///< of a cone
};

/// The cross-section of a drum in the plane of x and z, counter-clockwise as seen against y. Throws Error where lifters
/// meet or reach the middle.
std::vector<Vec<2>> drum_section(const DrumPlan& plan);
TriangleMesh make_drum(const DrumPlan& plan);
TriangleMesh make_hopper(const HopperPlan& plan);

}  // namespace drystone
