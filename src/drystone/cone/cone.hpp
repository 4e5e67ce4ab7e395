// The sets K of one block: what an impulse may be.
//
// All kinds but `free` and `interval` share one shape: a normal component x[0] >= 0 and up to three groups of further
// components, each held in a disc that widens with the normal one (docs/theory.md, eq. 5):
//     |x_j| <= offset_j + mu_j x[0]         for each group j.
// So one projection, one shift and one local solver serve a ray (no group), a Coulomb cone (one group), a truncated
// cone (one group with an offset) and the wrench cone with rolling and spinning friction (two or three groups).
#pragma once

#include "drystone/base/types.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace drystone {

enum class ConeKind : std::uint8_t {
    ray,           ///< x >= 0: frictionless contact
    second_order,  ///< |x_T| <= mu x_N: Coulomb contact, or Drucker-Prager yield
    truncated,     ///< x_N >= 0, |x_T| <= offset + mu x_N: Tresca (mu = 0), cohesive Drucker-Prager
    wrench,        ///< |x_T| <= mu x_N, |x_R| <= rolling x_N, |x_S| <= spinning x_N
    free,          ///< all of R^d: bilateral constraint
    interval,      ///< lower <= x <= upper: dry friction in a joint, motor limits
};

enum class Law : std::uint8_t {
    coulomb,     ///< each block's own: the velocity is shifted by s(u) (De Saxce), eq. 4
    associated,  ///< convex relaxation: no shift; whatever slides opens, by as much as its friction allows
};

/// A disc constraint of a cone: components [start, start + size) have norm at most offset + mu x[0].
struct ConeGroup {
    int start = 1;
    int size = 0;
    double mu = 0;
    double offset = 0;
};

struct ConeGroups {
    std::array<ConeGroup, 3> group;
    int count = 0;
    [[nodiscard]] const ConeGroup* begin() const { return group.data(); }
    [[nodiscard]] const ConeGroup* end() const { return group.data() + count; }
};

struct Cone {
    ConeKind kind = ConeKind::ray;
    std::uint8_t dim = 1;                    ///< 1 to 6
    std::array<double, 3> coefficient = {};  ///< see the factories; wrench: mu, rolling (m), spinning (m)
    /// What slides opens with u_N = dilatancy sum_j mu_j |u_j|: 0 is Coulomb's law, 1 the associated one; dense sand is
    /// between.
    double dilatancy = 0;

    static Cone ray() { return {}; }
    /// mu in [0, infinity].
    static Cone second_order(int dim, double mu);
    /// offset in [0, infinity), an impulse.
    static Cone truncated(int dim, double mu, double offset);
    /// dim 3: (N, T, R) in 2D; dim 5: (N, T, T, R, R), no spinning law; dim 6: (N, T, T, S, R, R).
    /// `rolling` and `spinning` are lengths.
    static Cone wrench(int dim, double mu, double rolling, double spinning);
    static Cone free(int dim);
    static Cone interval(double lower, double upper);

    /// True for the kinds that have a normal component and groups.
    [[nodiscard]] bool has_axis() const { return kind != ConeKind::free && kind != ConeKind::interval; }
    [[nodiscard]] double mu() const { return coefficient[0]; }
    /// The dilatancy that a law gives it.
    [[nodiscard]] double dilatancy_by(Law law) const { return law == Law::associated ? 1.0 : dilatancy; }
};

/// The disc constraints of a cone with an axis (none for a ray, `free` and `interval`).
ConeGroups groups_of(const Cone& cone);

/// True if its dilatancy says anything: something has friction, and it is finite.
bool dilates(const Cone& cone);

/// The same cone with the torque components divided by a length (`wrench`: rolling and spinning become numbers).
Cone with_torques_scaled(const Cone& cone, double length);
/// True if component c of the cone is a torque (an angular velocity in u).
bool is_torque(const Cone& cone, int c);

/// Replaces x by the nearest point of K (eq. 6).
void project(const Cone& cone, std::span<double> x);

/// Replaces x by the nearest point of K*, the dual of K (for `truncated` and `interval`, which are not cones: the dual
/// of their recession cone, which is where velocities live).
void project_dual(const Cone& cone, std::span<double> x);

/// Distance of x from K.
double distance(const Cone& cone, std::span<const double> x);

/// The De Saxce shift s(u) = (1 - dilatancy) sum_j mu_j |u_j| that a block's own law adds to the normal velocity (eq.
/// 4). Groups with an infinite coefficient have u_j = 0 at a solution and add nothing; nor do groups with mu = 0.
double shift(const Cone& cone, std::span<const double> u);

/// The shift by a law.
inline double shift(const Cone& cone, std::span<const double> u, Law law) {
    return law == Law::coulomb ? shift(cone, u) : 0.0;
}

}  // namespace drystone
