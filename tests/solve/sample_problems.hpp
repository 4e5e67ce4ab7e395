// Small contact problems that the tests of all solvers share: the references of the theory and random rigid bodies.
#pragma once

#include "drystone/cone/delassus.hpp"
#include "drystone/solve/solve.hpp"

#include <functional>
#include <initializer_list>
#include <vector>

namespace drystone::testing {

Goal goal_of(double tolerance);

SolveSettings settings_of(const SolverOptions& solver, Law law, double tolerance);

/// A problem given by its Delassus matrix W and free velocity b: H = 1, f = 0, w = b.
ConeProblem explicit_problem(const Eigen::MatrixXd& W, const Vector& b, const std::vector<Cone>& cones);

Vector vector_of(std::initializer_list<double> values);

/// A published reference: the problem and its impulses under both laws (an empty vector where none is given).
struct Reference {
    ConeProblem problem;
    Vector coulomb, convex;
};

/// The single-contact references of the validation list of the discrete theory (item 4) and its two contacts (item 5).
std::vector<Reference> references();

/// Rows (dim x 6) of a contact at lever arm `arm` with axes `frame` (normal first); dim 6 adds the relative spin,
/// normal first.
Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor> contact_rows(const Eigen::Matrix3d& frame,
                                                                       const Eigen::Vector3d& arm, int dim,
                                                                       double sign);

struct RandomOptions {
    int bodies = 12;
    int contacts = 24;
    unsigned seed = 1;
    double speed = 1;  ///< of the bodies before the contacts act, m/s
    double scale = 1;  ///< of all masses, kg
};

/// Rigid bodies in 3D with random places, masses and velocities that touch each other and a fixed floor (the last
/// body); cone(k) is the cone of contact k (dim 1, 3 or 6; `free` blocks of dim 3 are ball joints). w = 0: rest
/// satisfies every constraint.
ConeProblem random_bodies(const RandomOptions& o, const std::function<Cone(int)>& cone);

/// For random_bodies: the kinds of cones in turn.
Cone cone_of_every_kind(int k);

/// A body of unit mass and inertia, without forces or contacts.
ConeProblem unit_body();

/// A body of unit mass between two walls that approach each other at `speed` (m/s) from below and above.
ConeProblem squeezed_body(double speed, double mu);

}  // namespace drystone::testing
