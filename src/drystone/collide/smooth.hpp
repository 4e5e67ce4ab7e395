// Signed distance of smooth convex shapes (ellipse, ellipsoid, superellipsoid) to anything convex.
//
// Method: for a unit normal n from b to a, with support functions h of the shapes about their centres x_a and x_b,
//
//     f(n) = n . (x_a - x_b) - h_a(-n) - h_b(n)
//
// is the gap between the two planes of normal n that touch the shapes from the side of the other one. The distance is
// the largest f over the sphere, and where the shapes overlap a local maximum of f is a locally smallest parting
// translation. The Hessian of h is the matrix of radii of curvature, known in closed form, so this is Newton's method
// on a sphere of dimension d - 1; it stays regular when the gap passes through zero. The corners of a polytope enter as
// linear pieces of h_b, found one by one as they become active, so vertex, edge and face contacts come out of one small
// quadratic program.
//
// Accuracy, relative to the size of the larger shape, by the tests: gap to 1e-14; normal to 1e-10 and points to 1e-11
// for aspect ratios up to 10 (points of superellipsoids to 1e-9). Where a superellipsoid has flat faces (e1 or e2 < 1)
// the gap is good to 3e-11, the normal to 1e-7, and the points to 5e-2 at worst, where face meets face: there a turn of
// the normal by its last digit moves the point by far (at e = 0.2 a face is flat to 1e-16 over 2 % of its width). The
// points still face each other exactly along the normal, at the gap given. Overlaps as deep as the radii of curvature
// at a sharp edge are close to several ways out of nearly the same length; about one such pair in 10^4 was given one
// longer by 1e-6 of the size. In overlaps deeper than 0.3 of the thinner shape's half thickness several starts are
// compared; the way out is then usually, not surely, the shortest of all.
#pragma once

#include "drystone/collide/narrow.hpp"

namespace drystone {

/// At least one of a and b is an Ellipsoid or a Superellipsoid; the other is anything convex, or a HalfSpace. Does not
/// allocate, does not fail: deep overlaps, down to shapes with the same centre, give a finite answer of negative gap.
///
/// `give_up`: once the gap is known to be larger, the answer may be any lower bound of it that is above give_up, with
/// the normal and the points of that bound (gap = normal . (point_a - point_b), but the points are then not aligned
/// with it).
template <int d>
Distance<d> smooth_distance(const Placed<d>& a, const Placed<d>& b, double give_up = infinity);

/// The same for a (an Ellipsoid or a Superellipsoid) and the triangle of the corners p, q, r in world axes,
/// counter-clockwise from outside. Where they overlap, a is pushed towards the triangle's outer side where that is a
/// local way out.
Distance<3> smooth_triangle_distance(const Placed<3>& a, const Vec<3>& p, const Vec<3>& q, const Vec<3>& r,
                                     double give_up = infinity);

}  // namespace drystone
