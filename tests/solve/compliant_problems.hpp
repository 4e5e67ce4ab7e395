// Problems with compliance, and the same problems without: what the tests of compliance hold every solver against.
#pragma once

#include "drystone/cone/delassus.hpp"
#include "solve/sample_problems.hpp"

#include <cmath>

namespace drystone::testing {

/// Compliance of each row, between `least` and `most` of its block's stiffness, evenly in the logarithm. With isotropic
/// = true all rows of a block but the first have the same.
Vector random_compliance(const ConeProblem& rigid, unsigned seed, double least, double most,
                         bool isotropic = false);

/// The same problem without compliance: each block hangs on a body of its own, whose inverse masses are the compliances
/// of the block's rows. Blocks may have no more rows than a body has velocities.
ConeProblem with_private_bodies(const ConeProblem& p);

/// Spheres that touch each other and a fixed floor (the last body, of unit radius like all others).
ConeProblem random_spheres(int bodies, int contacts, unsigned seed, double mu);

/// Bodies in the plane that touch each other and a fixed floor, which is no body here. dim 1: normal; 2: with the
/// tangent; 3: with the relative spin.
ConeProblem random_planar(int bodies, int contacts, unsigned seed, const std::function<Cone(int)>& cone);

/// W as a dense matrix, from the blocks that the operator forms.
Eigen::MatrixXd dense(const Delassus& W);

}  // namespace drystone::testing
