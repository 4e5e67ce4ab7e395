// What is measured in a packing or a flow: pure functions of a scene and of the contacts of its last step.
//
// Grains are the free bodies. A grain is in a region if its centre is. Heights are along the last axis (y or z).
// Without a region: of the whole scene, whose volume is that of the periodic cell; in directions without a period there
// is none, and what needs a volume is not a number.
//
// Contacts are those found at the beginning of the last step, impulses those of the step; force = impulse / h. Bodies
// are where they are now.
#pragma once

#include "drystone/bodies/region.hpp"
#include "drystone/grains/memory.hpp"

#include <optional>
#include <vector>

namespace drystone {

/// Whether a body is a grain, and in the region if there is one.
template <int d>
bool grain_in(const Scene<d>& scene, Index i, const Region<d>* region) {
    return scene.bodies.is_free(i) && (region == nullptr || contains<d>(*region, scene.bodies.position[i]));
}

/// A contact that carries force.
template <int d>
struct ContactForce {
    Index a = 0, b = 0;
    std::uint32_t image = 0;  ///< which periodic image of b
    Vec<d> arm_a, arm_b, normal;
    Vec<d> force;  ///< on a, N
};

/// Those of the last step whose force is more than 1e-6 of the mean: less is what a solver leaves where there is none.
template <int d>
std::vector<ContactForce<d>> contact_forces(const StepMemory<d>& memory, double h);

struct Coordination {
    std::int64_t grains = 0;    ///< in the region
    std::int64_t rattlers = 0;  ///< of them: too few contacts to be held, counted again until none is left
    /// per grain that is no rattler; contacts with rattlers do not count, those with held bodies do
    double contacts = 0;
    double neighbours = 0;  ///< the same with all contacts of one pair of bodies as one
};
/// A rattler has fewer than 2 contacts that carry force, or fewer than d + 1 where all of them are frictionless.
template <int d>
Coordination coordination(const Scene<d>& scene, const std::vector<ContactForce<d>>& forces,
                          const Region<d>* region = nullptr);

/// Mean diameter of the grains, as balls of the same volume, m; 0 if there are none.
template <int d>
double mean_diameter(const Scene<d>& scene, const Region<d>* region = nullptr);

/// Volume (area) of a region; without one of the periodic cell, not a number where it does not end.
template <int d>
double volume_in(const Scene<d>& scene, const Region<d>* region = nullptr);
/// Volume of grains in the region. Grains wholly inside count with their exact volume, balls cut by faces of a box that
/// do not meet within the ball too; of others that are cut a fixed set of 2000 points says how much is inside (to about
/// 1 % of the grain).
template <int d>
double solid_volume(const Scene<d>& scene, const Region<d>* region = nullptr);
template <int d>
double packing_fraction(const Scene<d>& scene, const Region<d>* region = nullptr);

/// Mean motion of the grains of a region: v(x) = mean + gradient (x - centre), fitted by mass; a sheared or growing
/// periodic cell knows its gradient. 0 where there are too few grains for a fit.
template <int d>
struct FlowField {
    std::int64_t grains = 0;
    double mass = 0;                   ///< kg
    Vec<d> centre = Vec<d>::Zero();    ///< of mass, m
    Vec<d> mean = Vec<d>::Zero();      ///< m/s
    Mat<d> gradient = Mat<d>::Zero();  ///< dv_i / dx_j, 1/s
    /// sqrt(2 D : D) of the deviatoric symmetric part: for simple shear the slope of the profile.
    [[nodiscard]] double shear_rate() const;
};
template <int d>
FlowField<d> flow_field(const Scene<d>& scene, const Region<d>* region = nullptr);

/// Mean square of the velocities about the mean field, per direction: |v - v(x)|^2 / d by mass, (m/s)^2.
template <int d>
double granular_temperature(const Scene<d>& scene, const Region<d>* region = nullptr);

template <int d>
struct Stress {
    Mat<d> contact = Mat<d>::Zero();  ///< Pa (N/m in the plane), positive in compression
    Mat<d> kinetic = Mat<d>::Zero();  ///< of the velocities about the mean field
    [[nodiscard]] Mat<d> total() const { return contact + kinetic; }
    [[nodiscard]] double pressure() const { return total().trace() / d; }
};
/// Mean over a volume of force times branch, as much of each branch as lies inside (Christoffersen, Mehrabadi &
/// Nemat-Nasser 1981). The branch goes from centre to centre, to the contact where the other body is held. Exact for
/// boxes and cylinders, by 64 points a branch for meshes. A region in a periodic domain must lie in the cell.
template <int d>
Stress<d> stress(const Scene<d>& scene, const std::vector<ContactForce<d>>& forces,
                 const Region<d>* region = nullptr);

/// Mean of n n^T over contacts that carry force (trace 1; zero if there is none).
template <int d>
Mat<d> fabric(const Scene<d>& scene, const std::vector<ContactForce<d>>& forces,
              const Region<d>* region = nullptr);

/// I = shear rate * diameter * sqrt(density / pressure), of the grains' mean diameter (of balls of the same volume) and
/// their own density. Infinite without pressure.
template <int d>
double inertial_number(const Scene<d>& scene, const std::vector<ContactForce<d>>& forces,
                       const Region<d>* region = nullptr);

/// Mass times velocity over volume, kg/(m^2 s) (plane: kg/(m s)): what passes through an area.
template <int d>
Vec<d> mass_flux(const Scene<d>& scene, const Region<d>* region = nullptr);

/// Deepest overlap found at the beginning of the last step, m; 0 if there is none.
template <int d>
double largest_overlap(const StepMemory<d>& memory);

}  // namespace drystone
