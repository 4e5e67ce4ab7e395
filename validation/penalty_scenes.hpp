// Scenes of the penalty reference: the pyramid of Olsen and Kamrin (2018), section 8.2, their beam, and small ones with
// friction.
#pragma once

#include "penalty.hpp"

namespace drystone::validation {

/// Spheres in a square pyramid: a fixed base of along x along, each layer in the pits of the one below, all neighbours
/// touching. Numbered from the base up, rows of y within rows of x, one body and one ball each.
///
/// Stiffness: Hertz's law for equal spheres of radius R, f = 4/3 E* (R/2)^(1/2) d^(3/2) with E* = E / (2 (1 - nu^2)),
/// which is the law of Zhang and Makse (2005) with their k_n = 4 G / (1 - nu) = 2 E / (1 - nu^2). For Hooke the paper
/// does not say how a modulus becomes a spring; k = k_n R here, and the forces depend on it only as 1/k.
struct Pyramid {
    int along = 20;
    double diameter = 2.5e-3;  ///< m
    double density = 2000;     ///< kg/m^3
    double young = 50e9;       ///< Pa
    double poisson = 0.2;      ///< of glass; the paper does not say
    SpringLaw law = SpringLaw::hooke;
    /// Spheres of even number are softer by 5: pairs even-even, even-odd, odd-odd have 1/5, 1/3, 1 of the stiffness
    /// (springs in series).
    bool two_materials = false;
    double friction = 0;
    double ratio = 0.8;  ///< k_T / k_N
};

PenaltyScene make_pyramid(const Pyramid& pyramid);

/// Spheres of a pyramid; the first along * along are fixed.
Index spheres_of(int along);

/// How much the forces on the base change under the 8 symmetries of the square, over the largest of them.
double asymmetry(const Pyramid& pyramid, const PenaltyResult& result);

/// Weight of the moving bodies less what fixed ones and planes bear, over that weight.
double lost_weight(const PenaltyScene& scene, const PenaltyResult& result);

/// A bar of 10 N on three supports in a row, as three ball feet on a plane, in the plane x, z; the middle one stiffer
/// by so much.
PenaltyScene make_beam(double middle);

/// A block of 10 N on three ball feet, not in a row, on a floor with friction; pushed along x and a little along y, at
/// a height.
PenaltyScene make_block(double push, double friction);

/// Balls of 1 N in a groove of two planes at 45 degrees, in the plane x, z: 1, or 3 (one at the bottom, one beside it
/// on each slope).
PenaltyScene make_groove(int balls, double friction);

}  // namespace drystone::validation
