// Slow flow of a dense granular or yield-stress material: quadratic velocity, stress at three points a triangle
// (Daviet 2016, chapter 6).
//
//     -div(2 eta D(u) - lambda) = force                          momentum, D(u) = sym grad u
//     |lambda_T| <= yield + mu lambda_N, lambda_N >= 0           Drucker-Prager
//     lambda_T against D_T where it shears,   0 <= lambda_N  perpendicular to  D_N - zeta |D_T| >= 0
//
// lambda is positive in compression; tensors are vectors of three numbers whose first is the trace (docs/theory.md, eq.
// 33), so that lambda_N is the pressure in the plane. The strain rate of a quadratic velocity is linear in a triangle,
// and three Gauss points hold what is linear: no pseudo-inverse. All viscosities, the bulk's too, are one
// number a point.
//
// Row q of H is the strain rate at a point times c_q, and the unknown r_q is lambda there times 2 w_q / c_q, w_q the
// point's area. With c_q^2 = 4 w_q eta_q the stiffness is A = H^T H: then W = H A^-1 H^T is an orthogonal projector,
// and steps of 1 are right for every mesh and every viscosity. It is the cone problem of docs/theory.md, eqs 1 to 4,
// with M = A, v = the velocities of nodes, u = H v, and dilatancy = zeta / mu.
#pragma once

#include "drystone/base/geometry.hpp"
#include "drystone/cone/factor.hpp"
#include "drystone/cone/problem.hpp"
#include "mesh.hpp"

#include <array>
#include <functional>
#include <vector>

namespace drystone::validation {

using Numbers = Eigen::VectorXd;

struct Material {
    double mu = 0;         ///< friction: |lambda_T| <= yield + mu pressure
    double dilatancy = 0;  ///< zeta / mu, 0 to 1
    double yield = 0;      ///< stress that bears shear without pressure
};

struct FlowSetup {
    const TriangleMesh* mesh = nullptr;
    Material material;
    Numbers viscosity;  ///< one number per point: points of triangle t are 3 t, 3 t + 1, 3 t + 2
    std::function<Vec<2>(const Vec<2>& x)> force;
    /// Force of the outside on a unit length of the boundary; empty: none.
    std::function<Vec<2>(Side, const Vec<2>& x)> traction;
    /// Which components of the velocity are 0 on a side.
    std::function<std::array<bool, 2>(Side)> held;
};

/// The discrete problem. Velocities that are held have no column.
struct FlowProblem {
    const TriangleMesh* mesh = nullptr;
    std::vector<Index> column;  ///< of velocity 2 node + axis; -1: held at 0
    SparseMatrix H;             ///< 3 rows per point, scaled
    SparseMatrix H_transposed;
    SparseMatrix A;           ///< H^T H
    Numbers load;             ///< f of docs/theory.md, eq. 1
    std::vector<Cone> cones;  ///< one per point
    Numbers strain_scale;     ///< c: row of H = c times strain rate
    Numbers stress_scale;     ///< r = this times lambda
    Factor factor{Symmetry::positive_definite, Arithmetic::repeatable};

    [[nodiscard]] Index points() const { return static_cast<Index>(cones.size()); }
    /// r of a stress.
    [[nodiscard]] Numbers scaled(const Numbers& stress) const;
};

FlowProblem assemble(const FlowSetup& setup);

struct FlowOptions {
    double tolerance = 1e-7;     ///< of the residual
    int max_passes = 200;        ///< of the fixed point
    int max_iterations = 20000;  ///< of all passes
    /// Weight of the new shift against the old one. In a sheared layer the fixed point's map multiplies waves of the
    /// shift by -1.1 to 0.87 (docs/dense_flow.md): with weight 1 some never die out, 0.7 leaves -0.47 to 0.91.
    double relaxation = 0.7;
    /// Tolerance of a pass: this part of the residual that it starts from.
    double pass_fraction = 0.1;
};

struct Flow {
    Numbers velocity;  ///< 2 per node
    Numbers strain;    ///< D(u), 3 per point
    Numbers stress;    ///< lambda, 3 per point; the next solve starts from it
    int passes = 0, iterations = 0;
    /// Natural map of the exact law over the strain rates without stress (docs/theory.md, eqs 11 and 12 with omega = 1,
    /// the norm of W).
    double residual = 0;
    bool solved = false;

    [[nodiscard]] double pressure(Index point) const { return stress[3 * point]; }
    [[nodiscard]] double shear_stress(Index point) const { return stress.segment<2>(3 * point + 1).norm(); }
    [[nodiscard]] double shear_rate(Index point) const { return strain.segment<2>(3 * point + 1).norm(); }
};

/// Cadoux's fixed point around the accelerated spectral projected gradient (Daviet 2016, chapter 6 and algorithm
/// B.2), from flow.stress if it has the right size. One pass where there is no shift to freeze.
///
/// Not by room solve, whose operator forms W, which is dense here: 10^4 points would take 7 GB. On small meshes
/// as_cone_problem gives the same problem to the library's solvers and to the referee.
void solve(const FlowProblem& problem, const FlowOptions& options, Flow& flow);

/// With a velocity that is a species of one number each, and the mass A.
ConeProblem as_cone_problem(const FlowProblem& problem);

/// W by columns; small meshes only.
Eigen::MatrixXd dense_delassus(const FlowProblem& problem);

/// Linear stress at a place of a triangle, from its three points: no component is kept in the cone outside of them.
Vec<3> stress_at(const Flow& flow, Index triangle, const Vec<3>& at);
/// Velocity and its gradient (row: component) likewise.
Vec<2> velocity_at(const TriangleMesh& mesh, const Flow& flow, Index triangle, const Vec<3>& at);
Mat<2> velocity_gradient_at(const TriangleMesh& mesh, const Flow& flow, Index triangle, const Vec<3>& at);

/// Velocity through a side, outwards, over its length.
double mean_outflow(const TriangleMesh& mesh, const Flow& flow, Side side);

/// What the flow exerts on a side that is held: the whole, by virtual work, and the part of lambda, by its integral
/// along the side.
struct SideForce {
    Vec<2> whole = Vec<2>::Zero(), of_stress = Vec<2>::Zero();
};
SideForce force_on(const FlowSetup& setup, const Flow& flow, Side side);

/// ASCII file of ParaView: velocity, pressure, shear stress and shear rate at the corners of each triangle by itself.
void write_vtk(const TriangleMesh& mesh, const Flow& flow, const char* file);

}  // namespace drystone::validation
