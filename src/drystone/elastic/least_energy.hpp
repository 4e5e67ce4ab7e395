// Unique forces: of all impulses that give the velocities of a solution, the ones of the stiff elastic limit.
//
// Where W is singular, impulses of rigid contacts are not unique (a beam on three supports). Olsen and Kamrin (2018,
// "Resolving force indeterminacy in contact dynamics using compatibility conditions") take those that elastic contacts
// have as their stiffness goes to infinity. They treat contacts without friction; here the same is done for every cone.
// Given (r*, u*, v*):
//
//     minimise 1/2 f^T C f   over  f_i in the face of K_i that the law allows at u_i* (elastic_face.hpp),  H^T f = H^T
//     r*.
//
// The dual unknown is the displacement q of the bodies: the network of springs itself, one spring per block, loaded by
// H^T r*. In it f_i = respond(H_i q). Found by an augmented Lagrangian: sweeps in the forces until most of it is
// settled, then proximal semismooth Newton in the displacements (elastic_network.hpp). Everything is done by blocks, so
// that sums are exact and the result is the same bits on any number of threads and ranks.
//
// A block that yields by the problem's own compliance C' has u_i = H_i v + w_i + C'_i r_i, so the velocities say what
// r_i is: it stays, as part of the load, and the springs are those of the other blocks.
//
// What it costs: packings near isostaticity are networks with very soft modes. At a tolerance of 1e-3 settled piles of
// spheres take thousands of sweeps, many times what a step with a warm start takes; 1e-6 takes several times as long
// again, and may not be reached where hundreds of springs slip. The answer is then `iteration_limit` or `stalled`, and
// r is left as it was unless it is near.
#pragma once

#include "drystone/solve/report.hpp"

namespace drystone {

struct Elasticity {
    /// Size rows(), > 0, the same in all rows of a group (the tangential rows of a contact). Hooke: displacement per
    /// force (m/N) or per impulse; only ratios matter. Hertz: the normal rows of contacts hold 1/k of f = k d^(3/2),
    /// their other rows the ratio of the compliance there to the normal one (torque rows: ratio per square metre);
    /// joints stay linear.
    Vector compliance;
    bool hertz = false;
};

struct LeastEnergyOptions {
    /// Of |H^T (f - r*)| / |H^T r*| in the energy norm, and, where f comes from sweeps, of a bound on the error of
    /// balanced forces in the norm of their elastic energy (elastic_relax.cpp). 1e-3 is enough for pictures of force
    /// chains (in settled piles forces are then right to about 1e-2, because what is out of balance counts several
    /// times), 1e-8 for validation. With Hertz or slip = coulomb, outer passes end when the forces change by less than
    /// ten times this, in the norm of their energy.
    double tolerance = 1e-6;
    int max_sweeps = 20000;  ///< in one outer pass
    int max_newton = 200;    ///< steps, in one outer pass
    int max_outer = 60;      ///< passes on Hertz' compliance and on the slip's shift
    /// How springs slip that reach the boundary of their cone: associated (the energy is minimal; slip opens the
    /// contact) or coulomb (slip leaves the normal displacement alone: a fixed point, not a minimum).
    Law slip = Law::associated;
    /// A contact slides, or is open, if its velocity exceeds this multiple of the velocity error that the referee sees
    /// in the solution.
    double face_tolerance = 10;
};

/// Replaces solution.r if it succeeds, or comes within ten times the tolerance; else r stays and the status says so. u
/// and v stay (they are those of the old r up to the tolerances). `warm_q`: displacements in the whitened coordinates
/// of the bodies, size dofs(), read if the size fits and written; only for separate bodies. Blocks with compliance of
/// their own in the problem keep their impulses; if all have it, nothing is done, and if one has it in some of its rows
/// only, the status is `invalid`. Of the report, `iterations` counts sweeps and Newton steps, `residual.momentum` is
/// what `tolerance` speaks of and `residual.law` is the referee's view of the new r beside the old u; `message` counts
/// each, and the conjugate gradients.
SolveReport least_energy(const Delassus& W, Law law, const Elasticity& elasticity,
                         const LeastEnergyOptions& options, ConeSolution& solution, Vector* warm_q = nullptr);

}  // namespace drystone
