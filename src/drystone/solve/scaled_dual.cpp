#include "drystone/solve/scaled_dual.hpp"

#include "drystone/base/parallel.hpp"

#include <cmath>

namespace drystone {

ScaledDual::ScaledDual(const Delassus& W, bool scaled) : W_(&W), cones_(W.problem().cones) {
    const ConeProblem& p = W.problem();
    scale_.setOnes(p.rows());
    r_.setZero(p.rows());
    if (scaled) {
        for (Index i = 0; i < p.blocks(); ++i) {
            Cone& cone = cones_[i];
            const double root = std::sqrt(W.inverse_mass(i));
            for (int c = 0; c < cone.dim; ++c)
                scale_[p.offset[i] + c] = is_torque(cone, c) ? root / W.length(i) : root;
            cone = with_torques_scaled(cone, W.length(i));
            if (cone.kind == ConeKind::truncated) cone.coefficient[1] *= root;
            if (cone.kind == ConeKind::interval) {
                cone.coefficient[0] *= root;
                cone.coefficient[1] *= root;
            }
        }
    }
    c_ = W.b().cwiseQuotient(scale_);
}

void ScaledDual::apply(const Vector& x, Vector& out) const {
    from_scaled(x, r_);
    W_->apply(r_, out);
    out = out.cwiseQuotient(scale_);
}

void ScaledDual::project(Vector& x) const {
    const ConeProblem& p = W_->problem();
    parallel_for(W_->threads(), p.blocks(), [&](Index i) {
        drystone::project(cones_[i], std::span(x.data() + p.offset[i], cones_[i].dim));
    });
}

void ScaledDual::gradient(const Vector& q, Law law, Vector& g) const {
    g = q + c_;
    if (law == Law::associated) return;
    const ConeProblem& p = W_->problem();
    parallel_for(W_->threads(), p.blocks(), [&](Index i) {
        if (!cones_[i].has_axis()) return;
        double* gi = g.data() + p.offset[i];
        gi[0] += shift(cones_[i], std::span<const double>(gi, cones_[i].dim));
    });
}

double ScaledDual::largest_eigenvalue(int iterations) const {
    const Eigen::Index n = c_.size();
    Vector x(n), y(n);
    // A start that is no eigenvector of anything. It follows from the direction of the block's own velocity, coarsely,
    // and neither from its place (which differs on ranks) nor from units.
    const ConeProblem& p = W_->problem();
    for (Index i = 0; i < p.blocks(); ++i) {
        const auto c = c_.segment(p.offset[i], p.cones[i].dim);
        const double norm = c.norm();
        for (int k = 0; k < p.cones[i].dim; ++k) {
            const double direction = norm > 0 ? std::round(16 * c[k] / norm) : 0.0;
            x[p.offset[i] + k] = 0.5 + std::fmod(0.6180339887498949 * (direction + 17 + 7 * k), 1.0);
        }
    }
    double value = 0;
    for (int k = 0; k < iterations; ++k) {
        const double norm = std::sqrt(W_->dot(x, x));
        if (!(norm > 0)) return 1;
        x /= norm;
        apply(x, y);
        value = W_->dot(x, y);
        x.swap(y);
    }
    return value > 0 ? value : 1;
}

}  // namespace drystone
