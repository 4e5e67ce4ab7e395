// Parts of space: where grains are put, taken away, counted.
#pragma once

#include "drystone/bodies/scene.hpp"

#include <memory>
#include <variant>

namespace drystone {

template <int d>
struct BoxRegion {
    Vec<d> lower = Vec<d>::Zero(), upper = Vec<d>::Ones();  ///< m; may be infinite for sinks
};

/// Between two parallel planes around an axis (in the plane: a disk, with no axis and no length).
template <int d>
struct CylinderRegion {
    Vec<d> centre = Vec<d>::Zero();     ///< of the bottom (in the plane: of the disk), m
    Vec<d> axis = Vec<d>::Unit(d - 1);  ///< unit; from the bottom upwards
    double radius = 1, length = 1;      ///< m
};

/// Inside a closed surface of triangles: made by make_mesh_region, which checks that it is one.
struct MeshRegion {
    std::shared_ptr<const Shape<3>> surface;  ///< a TriangleMesh
    Pose<3> pose;
};

/// Throws Error where the surface is not closed (each edge of two triangles that agree about the outside). One that is
/// inside out is turned.
MeshRegion make_mesh_region(Surface<3> surface, const Pose<3>& pose);

template <int d>
using Region = std::conditional_t<d == 2, std::variant<BoxRegion<2>, CylinderRegion<2>>,
                                  std::variant<BoxRegion<3>, CylinderRegion<3>, MeshRegion>>;

/// True if the ball about the point with this radius lies wholly inside.
template <int d>
bool contains(const Region<d>& region, const Vec<d>& point, double radius = 0);
template <int d>
double volume_of(const Region<d>& region);
template <int d>
Bounds<d> bounds_of(const Region<d>& region);
/// No ball with a larger radius fits. For a mesh: a bound, from its bounds.
template <int d>
double widest_ball(const Region<d>& region);

/// A box that covers a whole period has no sides in that direction: grains may stand across it.
template <int d>
Region<d> without_periodic_sides(Region<d> region, const Domain<d>& domain);

}  // namespace drystone
