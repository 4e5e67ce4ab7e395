// Siconos' nonsmooth Gauss-Seidel, called through its public C interface on the same W, b and mu as Drystone's solvers.
//
// Siconos is optional (Debian: libsiconos-numerics-dev). Without it the benchmarks still build and say so.
#pragma once

#include "drystone/cone/delassus.hpp"

namespace drystone {

struct SiconosRun {
    bool converged = false;  ///< by Siconos' own test
    int sweeps = 0;
    double seconds = 0;  ///< in the solver alone; the matrix is made before
    double own_residual = 0;
    Vector r;
};

/// True if Siconos was there when this was compiled.
bool siconos_available();

/// NSGS with local solver 550 (Alart-Curnier Newton per contact), from zero, until `tolerance` in Siconos' own measure
/// or about `seconds`. All blocks must be Coulomb contacts in 3D.
SiconosRun run_siconos_nsgs(const Delassus& W, double tolerance, double seconds);

}  // namespace drystone
