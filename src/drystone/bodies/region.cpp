#include "drystone/bodies/region.hpp"

#include "drystone/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drystone {

namespace {

template <int d>
bool holds(const BoxRegion<d>& box, const Vec<d>& x, double radius) {
    return (x.array() - radius >= box.lower.array()).all() && (x.array() + radius <= box.upper.array()).all();
}

bool holds(const CylinderRegion<2>& disk, const Vec<2>& x, double radius) {
    return (x - disk.centre).norm() + radius <= disk.radius;
}
bool holds(const CylinderRegion<3>& cylinder, const Vec<3>& x, double radius) {
    const Vec<3> arm = x - cylinder.centre;
    const double along = cylinder.axis.dot(arm);
    return along >= radius && along <= cylinder.length - radius &&
           (arm - along * cylinder.axis).norm() + radius <= cylinder.radius;
}

bool holds(const MeshRegion& region, const Vec<3>& x, double radius) {
    const Vec<3> own = matrix(region.pose.rotation).transpose() * (x - region.pose.position);
    // The bounds decide at once for most points outside.
    const Bounds<3>& box = std::get<TriangleMesh>(*region.surface).tree.front().bounds;
    if (!(own.array() - radius >= box.lower.array()).all() ||
        !(own.array() + radius <= box.upper.array()).all())
        return false;
    return inside_function<3>(*region.surface, own) <= -radius;
}

/// Six times the volume that the triangles enclose, if they are counter-clockwise from outside.
double six_volumes(const std::vector<Vec<3>>& vertices, const std::vector<std::array<Index, 3>>& triangles) {
    // About one of its own points: far from the origin, digits would be lost.
    const Vec<3> origin = vertices[triangles.front()[0]];
    double sum = 0;
    for (const auto& t : triangles)
        sum += (vertices[t[0]] - origin).dot((vertices[t[1]] - origin).cross(vertices[t[2]] - origin));
    return sum;
}

template <int d>
double volume(const BoxRegion<d>& box) {
    return (box.upper - box.lower).prod();
}
double volume(const CylinderRegion<2>& disk) { return std::numbers::pi * disk.radius * disk.radius; }
double volume(const CylinderRegion<3>& cylinder) {
    return std::numbers::pi * cylinder.radius * cylinder.radius * cylinder.length;
}
double volume(const MeshRegion& region) {
    const auto& mesh = std::get<TriangleMesh>(*region.surface);
    return six_volumes(mesh.vertices, mesh.triangles) / 6;
}

template <int d>
Bounds<d> box_around(const BoxRegion<d>& box) {
    return {box.lower, box.upper};
}
Bounds<2> box_around(const CylinderRegion<2>& disk) {
    return {disk.centre.array() - disk.radius, disk.centre.array() + disk.radius};
}
Bounds<3> box_around(const CylinderRegion<3>& cylinder) {
    // A disk with this normal reaches as far along an axis of the world as the sine of the angle between the two.
    const Vec<3> wide = cylinder.radius * (1 - cylinder.axis.array().square()).max(0).sqrt().matrix();
    const Vec<3> top = cylinder.centre + cylinder.length * cylinder.axis;
    return {cylinder.centre.cwiseMin(top) - wide, cylinder.centre.cwiseMax(top) + wide};
}
Bounds<3> box_around(const MeshRegion& region) { return bounds<3>(*region.surface, 1, region.pose); }

}  // namespace

MeshRegion make_mesh_region(Surface<3> surface, const Pose<3>& pose) {
    TriangleMesh mesh = make_mesh(surface.vertices, surface.elements);
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        for (std::size_t k = 0; k < 3; ++k) {
            if (mesh.neighbours[t][k] >= 0) continue;
            const Vec<3>&a = mesh.vertices[mesh.triangles[t][k]],
                  &b = mesh.vertices[mesh.triangles[t][(k + 1) % 3]];
            fail("mesh",
                 fmt::format("the edge from ({}, {}, {}) to ({}, {}, {}) is not shared by two triangles that "
                             "agree about the outside",
                             a[0], a[1], a[2], b[0], b[1], b[2]),
                 "give a closed surface, all triangles counter-clockwise from outside");
        }
    }
    if (six_volumes(mesh.vertices, mesh.triangles) < 0) {
        // Closed, but inside out.
        auto triangles = mesh.triangles;
        for (auto& t : triangles) std::swap(t[1], t[2]);
        mesh = make_mesh(mesh.vertices, std::move(triangles));
    }
    return {std::make_shared<const Shape<3>>(std::move(mesh)), pose};
}

template <int d>
bool contains(const Region<d>& region, const Vec<d>& point, double radius) {
    return std::visit([&](const auto& r) { return holds(r, point, radius); }, region);
}

template <int d>
double volume_of(const Region<d>& region) {
    return std::visit([](const auto& r) { return volume(r); }, region);
}

template <int d>
Bounds<d> bounds_of(const Region<d>& region) {
    return std::visit([](const auto& r) { return box_around(r); }, region);
}

template <int d>
double widest_ball(const Region<d>& region) {
    if (const auto* cylinder = std::get_if<CylinderRegion<d>>(&region))
        return d == 2 ? cylinder->radius : std::min(cylinder->radius, 0.5 * cylinder->length);
    const Bounds<d> box = bounds_of<d>(region);
    return 0.5 * (box.upper - box.lower).minCoeff();
}

template <int d>
Region<d> without_periodic_sides(Region<d> region, const Domain<d>& domain) {
    auto* box = std::get_if<BoxRegion<d>>(&region);
    for (int k = 0; k < d && box != nullptr; ++k) {
        if (!(domain.period[k] > 0) || box->upper[k] - box->lower[k] < (1 - 1e-9) * domain.period[k])
            continue;
        box->lower[k] = -infinity;
        box->upper[k] = infinity;
    }
    return region;
}

#define DRYSTONE_INSTANTIATE(d)                                         \
    template bool contains<d>(const Region<d>&, const Vec<d>&, double); \
    template double volume_of<d>(const Region<d>&);                     \
    template Bounds<d> bounds_of<d>(const Region<d>&);                  \
    template double widest_ball<d>(const Region<d>&);                   \
    template Region<d> without_periodic_sides<d>(Region<d>, const Domain<d>&);
DRYSTONE_INSTANTIATE(2)
DRYSTONE_INSTANTIATE(3)
#undef DRYSTONE_INSTANTIATE

}  // namespace drystone
