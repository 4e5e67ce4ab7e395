// The dual problem in variables made commensurate: x = S r with S diagonal, one number per block and one more for its
// torques.
//
//     min 1/2 x.Q x + c.x,  x_i in S_i K_i,    Q = S^-1 W S^-1,  c = S^-1 b.
//
// S_i is the root of the stiffness, and that over the length for torques (docs/theory.md, eq. 11), so that every
// diagonal block of Q has mean eigenvalue 1. A scalar per group of components turns a cone into a cone of the same
// kind, so projections stay Euclidean and exact.
#pragma once

#include "drystone/cone/delassus.hpp"

namespace drystone {

class ScaledDual {
public:
    /// With scaled = false S is 1 and the problem is as it was.
    ScaledDual(const Delassus& W, bool scaled);

    [[nodiscard]] const Delassus& operator_of() const { return *W_; }
    [[nodiscard]] const Vector& c() const { return c_; }
    [[nodiscard]] const Vector& scale() const { return scale_; }
    void to_scaled(const Vector& r, Vector& x) const { x = scale_.cwiseProduct(r); }
    void from_scaled(const Vector& x, Vector& r) const { r = x.cwiseQuotient(scale_); }
    /// out = Q x.
    void apply(const Vector& x, Vector& out) const;
    /// Replaces x by the nearest admissible point.
    void project(Vector& x) const;
    /// g = q + c, plus the shift of the exact law on the normal components.
    void gradient(const Vector& q, Law law, Vector& g) const;
    /// Velocity in the problem's own units from q = Q x.
    void velocity(const Vector& q, Vector& u) const { u = (q + c_).cwiseProduct(scale_); }
    /// Estimate of the largest eigenvalue of Q from below, by power iterations from a fixed start.
    [[nodiscard]] double largest_eigenvalue(int iterations = 12) const;

private:
    const Delassus* W_;
    std::vector<Cone> cones_;
    Vector scale_, c_;
    mutable Vector r_;
};

}  // namespace drystone
