// How contacts yield: springs of Hooke or Hertz along the normal, of Mindlin along the tangents (docs/theory.md,
// section 13, eq. 30).
//
// Used in two ways: as compliance of the step's own problem, and as the energy that singles out the forces of the stiff
// elastic limit.
#pragma once

#include "drystone/bodies/scene.hpp"
#include "drystone/collide/contact.hpp"
#include "drystone/cone/problem.hpp"
#include "drystone/elastic/least_energy.hpp"

namespace drystone {

/// Force k d (Hooke) or k d^(3/2) (Hertz) for an overlap d.
struct ContactStiffness {
    double k = 0;  ///< N/m, or N/m^(3/2)
    bool hertz = false;
    double tangential = 1;  ///< tangential stiffness over normal
};

/// From the pair's stiffness if it has one; else from the moduli of the two materials and the radii of the bodies (a
/// material without a modulus is rigid; radii of bodies that are not balls are their inner ones). Nothing if both are
/// rigid. In the plane disks of unit thickness meet along a line, whose stiffness is taken as constant, pi E* / 4.
template <int d>
std::optional<ContactStiffness> stiffness_of(const Scene<d>& scene, const Contact<d>& contact);

/// Compliance C = 1 / (h^2 k) of a contact's rows, and what is added to its normal velocity. Hertz's law is taken at
/// its tangent, at the larger of the present overlap and the one that the present approach (`closing`, m/s) would lead
/// to: at rest the present one, which makes the force exact; in an impact the later one, since a spring taken as softer
/// than it will be would store more than it is given. Torques yield by the coefficients of their friction as levers.
double soften(const ContactStiffness& spring, const Cone& cone, double gap, double closing, double h,
              Eigen::Ref<Eigen::VectorXd> compliance);

/// The springs of all contacts of the problem, for least_energy. What is rigid by the scene, contacts of pairs without
/// a spring and joints, is a thousand times stiffer than the mean of the springs that are known, so that it comes near
/// to rigid. If none is known, contacts are all alike and joints a thousand times stiffer. Hertz if all known springs
/// are (in space, Hooke and Hertz together have no common unit: scene files with both are refused).
template <int d>
Elasticity elasticity_of(const Scene<d>& scene, const ContactSet<d>& contacts, const ConeProblem& problem);

}  // namespace drystone
