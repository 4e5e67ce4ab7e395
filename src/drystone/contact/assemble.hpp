// From contacts to the cone problem of one step (docs/theory.md, section 10): the one place where bodies become
// matrices.
//
// A body's block of the problem is (velocity, spin about the centre of mass, world axes), 3 numbers in the plane and 6
// in space; the problem's bodies are those of the scene that are free and touch something, then guided ones. A guided
// body moves along its axis alone: the rest of its velocity is known. A cell under a given stress is one more body,
// whose velocities are the rates of the cell (periods, then shear); contacts across its sides have a third entry. A
// contact's block is its relative velocity a minus b in the frame (n, t) or (n, t1, t2), and where rolling or spinning
// meet friction the relative spin in the same frame. Blocks of joints come after those of contacts.
#pragma once

#include "drystone/bodies/scene.hpp"
#include "drystone/collide/detect.hpp"
#include "drystone/cone/problem.hpp"
#include "drystone/contact/joint_blocks.hpp"

#include <span>

namespace drystone {

/// What the normal velocity at the end of a step must satisfy (eqs 24 and 25).
enum class Scheme : std::uint8_t {
    /// gap + h (theta u_N + (1 - theta) u_N_begin) >= 0 for all pairs that are near: no overlap at the end of the step,
    /// as far as the gap is a convex function of position. Inelastic.
    look_ahead,
    /// u_N + e u_N_begin >= 0 for the pairs that overlap at half a step: Newton restitution, small overlaps.
    moreau_jean,
};

/// What an overlap that is already there does (discrete-time drift).
enum class Drift : std::uint8_t {
    /// it must be gone at the end of the step (a deep one, of several): corrected, at the price of a little energy
    push_out,
    clamp,  ///< it must not grow: no energy is put in, nothing is corrected
};

struct AssembleOptions {
    Scheme scheme = Scheme::look_ahead;
    Drift drift = Drift::push_out;
    double h = 1e-3;   ///< time step, s
    double theta = 1;  ///< weight of the end of the step in the motion, ]0, 1]
    int threads = 1;
    /// Contacts yield by the stiffness of their pair of materials (contact/elasticity.hpp). look_ahead with theta = 1
    /// only.
    bool elastic = false;
    /// Every body of the scene is one of the problem, under the same number: what ranks exchange is known by it.
    bool all_bodies = false;
    /// Room for blocks of others than bodies, between those of contacts and those of joints: so many contacts of points
    /// with bodies, then so many tensors. Whoever asks for them fills them.
    Index touches = 0, tensors = 0;
    /// Bodies of the scene that these contacts touch, as 1 by body; empty: none.
    std::span<const std::uint8_t> touched = {};
};

/// A contact bears a pull only while its gap is below this many inner radii of the smaller body: the rounding and
/// solver noise of contacts at rest is far below it, what has parted far above.
inline constexpr double parted = 1e-4;

/// A contact that bears a pull closes this part of its gap or overlap in a step, as far as it is below `parted`; what
/// is beyond, whole. All of it, as others do, the several contacts of two glued bodies cannot close at once, and with r
/// > 0 in all of them each would have to: the pulls would fight over the last rounding.
inline constexpr double cohesive_closing = 0.03;

/// At most this many inner radii of the smaller body of an overlap are pushed out in one step.
inline constexpr double deepest_push = 0.02;

template <int d>
struct Assembled {
    ConeProblem problem;
    std::vector<JointBlocks<d>> joints;  ///< of the scene, in its order
    Index contacts = 0;                  ///< blocks that are contacts of bodies
    Index others = 0;          ///< blocks that follow these (AssembleOptions); those of joints come last
    std::vector<Index> place;  ///< by body of the scene: its number in the problem, or -1
    std::vector<Index> body;   ///< by body of the problem, but for the cell: its number in the scene
    Index rigid = 0;           ///< bodies of the problem that are rigid; then guided ones, and the cell
    Index moving = 0;          ///< all of these; what follows is not the scene's
    ContactSet<d> links;       ///< where there are joints: one link per block, for the tiling; else empty

    /// First component of the joints' impulses.
    [[nodiscard]] Index joint_offset() const { return problem.offset[contacts + others]; }
};

/// `v_free`: velocities at the end of the step without contacts, body by body.
template <int d>
void assemble(const Scene<d>& scene, const ContactSet<d>& contacts, const Vector& v_free,
              const AssembleOptions& options, Assembled<d>& out);

/// Velocities of the scene's bodies at the end of the step, body by body, and then of the cell: `v` of the problem, and
/// v_free of those that no impulse has moved, whether they are in the problem or not. `untouched`: velocities of the
/// problem without impulses.
template <int d>
void end_velocities(const Assembled<d>& assembled, const Vector& v_free, const Vector& untouched,
                    const Vector& v, int threads, Vector& out);

/// Relative velocity a minus b of the contact point for the bodies' velocities in the scene, world axes.
template <int d>
Vec<d> relative_velocity(const Scene<d>& scene, const Contact<d>& contact) {
    const Bodies<d>& bodies = scene.bodies;
    Vec<d> u = bodies.velocity[contact.a] + cross(bodies.spin[contact.a], contact.arm_a) -
               bodies.velocity[contact.b] - cross(bodies.spin[contact.b], contact.arm_b);
    if (scene.domain.changes()) u -= scene.domain.translation_velocity(periods_between(scene, contact));
    return u;
}

/// Velocity of the surface of a held body beside that of the body (a conveyor), at a place with this normal.
template <int d>
Vec<d> belt_velocity(const Scene<d>& scene, Index body, const Vec<d>& normal);

/// Impulse on body a of contact i of a solved problem, world axes, N s.
template <int d>
Vec<d> impulse_of(const Assembled<d>& assembled, const Vector& r, const Contact<d>& contact, Index i);
/// The torque beside it, about the contact's point, N m s: of rolling and spinning friction.
template <int d>
Spin<d> torque_of(const Assembled<d>& assembled, const Vector& r, const Contact<d>& contact, Index i);

}  // namespace drystone
