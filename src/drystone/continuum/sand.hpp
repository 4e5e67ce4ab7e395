// Sand as a continuum: what it is made of, and the particles that carry it from step to step (docs/theory.md, section
// 17).
#pragma once

#include "drystone/base/geometry.hpp"
#include "drystone/base/types.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace drystone {

/// Yields where the shear stress |Dev sigma| = sqrt(J2) reaches friction times the pressure; grains that have parted
/// bear nothing.
struct SandMaterial {
    double density = 2600;      ///< of its grains, kg/m^3
    double max_fraction = 0.6;  ///< of space that grains can fill
    double friction = 0.5;      ///< at rest; see friction_of_angle
    /// The friction that fast flow tends to: mu(I) = friction + (friction_fast - friction) / (1 + I0 / I), I = grain
    /// diameter times shear rate over sqrt(pressure / density). As `friction`, or less: it does not depend on I.
    double friction_fast = 0;
    double inertial_number = 0.4;  ///< I0
    double grain_diameter = 1e-3;  ///< m, for I
    double dilatancy = 0;          ///< part of the friction, 0 to 1: how much of the shear rate it opens by
    double cohesion = 0;           ///< pressure that pulls it together where it is dense, Pa
    double cohesion_decay = 0;     ///< it falls by this power of e per unit of shear
    double yield_stress = 0;       ///< shear stress that it bears without pressure, Pa
    double viscosity = 0;          ///< stress 2 viscosity D beside that of the law, D the strain rate, Pa s

    [[nodiscard]] double friction_at(double I) const {
        if (friction_fast <= friction || !(I > 0)) return friction;
        return friction + (friction_fast - friction) / (1 + inertial_number / I);
    }
};

/// In space no friction of this law makes sand yield as an angle of repose says in all directions: at the corners of
/// Mohr and Coulomb's pyramid it is as strong in compression (circumscribed), in extension (middle), or nowhere
/// stronger (inscribed). In the plane all are sin(angle).
enum class AngleMatch : std::uint8_t { middle, inscribed, circumscribed };

/// SandMaterial::friction that belongs to an angle of internal friction, rad (eq. 35).
template <int d>
double friction_of_angle(double angle, AngleMatch match = AngleMatch::middle) {
    const double s = std::sin(angle);
    if constexpr (d == 2) return s;
    switch (match) {
        case AngleMatch::inscribed:
            return s / std::sqrt(1 + s * s / 3);
        case AngleMatch::circumscribed:
            return 2 * std::sqrt(3.0) * s / (3 - s);
        case AngleMatch::middle:
            return 2 * std::sqrt(3.0) * s / (3 + s);
    }
    return s;
}

/// How velocities go from particles to the grid and back.
enum class Transfer : std::uint8_t {
    apic,  ///< particles carry the gradient of the velocity as well
    pic,   ///< the grid's velocity is the particle's: loses most motion that is finer than the grid
    flip,  ///< the particle's changes as the grid's does: keeps noise, and dives into what is at rest
};

/// Where the law is asked for, and with it where stresses live.
enum class StressSpace : std::uint8_t {
    nodes,  ///< at each node of the grid, bilinear or trilinear in between
    cells,  ///< at the corners of each cell, another in each: what lies apart in two cells does not feel each other
    particles,  ///< at each particle: keeps cohesive features; stiff
};

/// All arrays have count() elements.
template <int d>
struct Particles {
    std::vector<GlobalId> id;
    std::vector<double> volume;    ///< of the grains in it, m^3
    std::vector<Vec<d>> position;  ///< m
    std::vector<Vec<d>> velocity;  ///< m/s
    std::vector<Mat<d>> gradient;  ///< of the velocity, 1/s: row c is that of component c
    std::vector<Mat<d>> frame;     ///< sum of a a^T over its half axes a, m^2: the place that it stands for
    std::vector<double> cohesion;  ///< Pa; empty without
    GlobalId next_id = 0;          ///< of the next one

    [[nodiscard]] Index count() const { return static_cast<Index>(id.size()); }
};

/// Calls f with each array of one, or with those of the same name of several.
template <class F, class... P>
void visit_arrays(F&& f, P&... p) {
    f(p.id...);
    f(p.volume...);
    f(p.position...);
    f(p.velocity...);
    f(p.gradient...);
    f(p.frame...);
    f(p.cohesion...);
}

struct SandOptions {
    Transfer transfer = Transfer::apic;
    StressSpace stress = StressSpace::nodes;
    /// Along each direction of a cell: of what is filled in, and of what splits and merges. With 2 places are so noisy
    /// that volume is lost (docs/theory.md, section 17).
    int particles = 3;
    bool resample = true;  ///< particles that are drawn out split, those that lie together merge
    /// A step is at most so long that no particle moves by more than this part of a cell.
    double courant = 0.5;
};

template <int d>
struct Sand {
    SandMaterial material;
    SandOptions options;
    Vec<d> cell = Vec<d>::Zero();  ///< width of the grid's cells, m; a node is at 0
    Index surface = 0;             ///< material that it is for bodies that touch it, in Scene::materials
    Particles<d> particles;

    [[nodiscard]] bool empty() const { return particles.id.empty(); }
    [[nodiscard]] bool has_grid() const { return (cell.array() > 0).all(); }
    [[nodiscard]] double cell_volume() const { return cell.prod(); }
    /// What strain rates are multiplied with to be velocities.
    [[nodiscard]] double length() const { return std::pow(cell_volume(), 1.0 / d); }
    [[nodiscard]] double mass(Index particle) const { return material.density * particles.volume[particle]; }
};

}  // namespace drystone
