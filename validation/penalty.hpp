// Grains with springs at their contacts, moved explicitly until they rest: the reference that forces of rigid grains
// are judged by (Olsen and Kamrin 2018, section 8: their DEM). Apart from the library on purpose: it shares no code
// with the rigid step.
//
// Law of a contact of overlap d and pair stiffness k, normal n from b to a, forces on a:
//
//     f_N = k d (Hooke) or k d^(3/2) (Hertz), plus a dashpot while it moves
//     f_T = -k_T s,  k_T = ratio * f_N / d,  |f_T| <= mu f_N,  s the tangential stretch, which turns with the normal
//
// Positions are kept as displacements from the scene as given, and gaps are computed from those: an overlap of 1e-12 of
// a radius, which stiff grains have, would drown in the rounding of the positions themselves.
//
// Loading: gravity and the bodies' own forces grow together and smoothly from zero, slowly against the grains' slowest
// swing. With friction the rest state depends on that path, and this is the one where all contacts load in proportion.
#pragma once

#include "drystone/base/geometry.hpp"
#include "drystone/base/types.hpp"

#include <vector>

namespace drystone::validation {

enum class SpringLaw { hooke, hertz };

/// What a slipping contact remembers.
enum class Slider {
    history,       ///< the stretch that its force stands for; the rest is lost, as in a DEM
    /// the whole stretch since the beginning, the force alone is cut: the same where loads grow in proportion (the
    /// deformation theory of plasticity), and free of what the way to rest adds
    proportional,
};

/// Motion is small: the inertia keeps the axes and values of the scene as given.
struct PenaltyBody {
    Vec<3> position = Vec<3>::Zero();  ///< of the centre of mass, m
    double mass = 1;                   ///< kg
    Vec<3> inertia = Vec<3>::Ones();   ///< about the axes x, y, z, kg m^2
    bool fixed = false;
    bool planar = false;             ///< moves in the plane x, z and turns about y
    Vec<3> force = Vec<3>::Zero();   ///< on the centre of mass beside its weight, N
    Vec<3> torque = Vec<3>::Zero();  ///< N m
};

struct PenaltyBall {
    Index body = 0;
    Vec<3> offset = Vec<3>::Zero();  ///< from the body's centre of mass, m
    double radius = 1;               ///< m
    Index material = 0;
};

/// Solid below, where normal . (x - point) < 0. Fixed.
struct PenaltyPlane {
    Vec<3> point = Vec<3>::Zero();
    Vec<3> normal = Vec<3>::UnitZ();
    Index material = 0;
};

struct PenaltyScene {
    std::vector<PenaltyBody> bodies;
    std::vector<PenaltyBall> balls;
    std::vector<PenaltyPlane> planes;
    Vec<3> gravity = Vec<3>(0, 0, -9.81);
    SpringLaw law = SpringLaw::hooke;
    Eigen::MatrixXd stiffness;  ///< k of each pair of materials, N/m (Hooke) or N/m^(3/2) (Hertz)
    Eigen::MatrixXd friction;   ///< mu of each pair of materials
    double ratio = 0.8;         ///< k_T / k_N
    /// Gaps up to this, in radii, are those of touching balls placed with rounded coordinates: exactly zero.
    double rounding = 1e-9;
    /// pairs with a larger gap, in radii, never meet; a fault if balls move more than half of it
    double skin = 0.1;
};

struct PenaltyOptions {
    double scale = 1;               ///< all stiffnesses times this
    long long ramp_steps = 20'000;  ///< the load grows from zero to one in so many steps
    long long most_steps = 1'000'000;
    /// of rest: largest unbalanced force of a body (torque by arm) over largest contact force
    double tolerance = 1e-12;
    /// Of the contacts, in units of 2 sqrt(k m), the paper's. With memory, too large a one holds back what should slip,
    /// and too small a one lets a large pile with friction flutter and leave its symmetric state.
    double dashpot = 0.1;
    double drag = 0.1;  ///< on all bodies while the load grows, 1: critical for the slowest motion; then 1
    double fraction = 0.7;  ///< time step in units of the longest stable one (by a bound)
    Slider slider = Slider::history;
};

/// A pair that touches, or did at the beginning.
struct PenaltyContact {
    Index a = 0, b = -1;  ///< bodies; b is -1 for a plane
    Index ball_a = 0, ball_b = -1;
    Index plane = -1;                                       ///< -1 for a pair of balls
    Vec<3> arm_a = Vec<3>::Zero(), arm_b = Vec<3>::Zero();  ///< from the centres of mass to the contact point
    Vec<3> normal = Vec<3>::UnitZ();                        ///< unit, from b to a
    double gap = 0;                                         ///< m, negative: overlap
    double stiffness = 0, friction = 0;
    double normal_force = 0;                   ///< on a along the normal, N
    Vec<3> tangential_force = Vec<3>::Zero();  ///< on a, N
    bool sliding = false;                      ///< at rest: on the cone's surface
    bool slipped = false;                      ///< at any time while it bore load
};

struct PenaltyResult {
    bool at_rest = false;
    long long steps = 0;
    double residual = 0;  ///< as the tolerance
    double seconds = 0;
    double overlap = 0;                    ///< largest, m
    std::vector<PenaltyContact> contacts;  ///< by ball_a and ball_b, then planes
    std::vector<Vec<3>> force;             ///< of all contacts on each body, fixed ones included, N
    std::vector<Vec<3>> displacement;      ///< of each body, m
    std::vector<Vec<3>> turn;              ///< rotation vector of each body, rad
    Index slipped = 0, sliding = 0;        ///< contacts that bear load at rest
};

/// Pairs of the scene that are nearer than the skin, undeformed, without forces. Faults name what is wrong with the
/// scene.
std::vector<PenaltyContact> near_pairs(const PenaltyScene& scene);

/// To rest from the scene as given, without load.
PenaltyResult relax(const PenaltyScene& scene, const PenaltyOptions& options);

}  // namespace drystone::validation
