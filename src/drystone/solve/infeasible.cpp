#include "drystone/solve/infeasible.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace drystone {

Cone recession_cone(const Cone& cone, Law law) {
    Cone out = cone;
    if (cone.kind == ConeKind::truncated) out = Cone::second_order(cone.dim, cone.mu());
    if (cone.kind == ConeKind::interval) {
        // A finite end stays where it was; an infinite one may be approached for ever.
        const bool down = std::isinf(cone.coefficient[0]), up = std::isinf(cone.coefficient[1]);
        out.coefficient = {down ? cone.coefficient[0] : 0.0, up ? cone.coefficient[1] : 0.0, 0.0};
    }
    if (out.has_axis()) {
        // A velocity that opens by the dilatancy may be shifted into the dual cone; no other.
        for (double& mu : out.coefficient) mu = std::isinf(mu) ? mu : cone.dilatancy_by(law) * mu;
    }
    return out;
}

namespace {

/// Takes out of a block's impulse what its compliance C would answer: the part of a proof can only be in rows with C =
/// 0. Without a normal impulse there is none in groups of finite coefficient either, or the projection would bring it
/// back.
void leave_out_compliant(const Cone& cone, const double* C, double* r) {
    for (int c = 0; c < cone.dim; ++c) {
        if (C[c] > 0) r[c] = 0;
    }
    if (!cone.has_axis() || !(C[0] > 0)) return;
    for (const ConeGroup& g : groups_of(cone)) {
        if (!std::isinf(g.mu)) std::fill_n(r + g.start, g.size, 0.0);
    }
}

}  // namespace

bool find_infeasibility(const Delassus& W, Law law, const Vector& direction, Vector& certificate,
                        const InfeasibilityTest& test) {
    const ConeProblem& p = W.problem();
    // A scale first: iterates that diverge may have grown so far that their squares overflow.
    const double largest = W.largest(direction.size() == 0 ? 0.0 : direction.lpNorm<Eigen::Infinity>());
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    Vector r = direction / largest;
    for (Index i = 0; i < p.blocks(); ++i) {
        // Euclidean, with torques made forces: the same projection that the solvers use.
        const Cone& cone = p.cones[i];
        const Cone allowed = with_torques_scaled(recession_cone(cone, law), W.length(i));
        if (W.compliant())
            leave_out_compliant(cone, p.compliance.data() + p.offset[i], r.data() + p.offset[i]);
        std::array<double, max_block> x{};
        for (int c = 0; c < cone.dim; ++c)
            x[c] = r[p.offset[i] + c] / (is_torque(cone, c) ? W.length(i) : 1.0);
        project(allowed, std::span(x).first(cone.dim));
        for (int c = 0; c < cone.dim; ++c)
            r[p.offset[i] + c] = x[c] * (is_torque(cone, c) ? W.length(i) : 1.0);
    }
    const double work = W.dot(W.b(), r);
    if (!(work < 0)) return false;
    Vector Wr(p.rows());
    W.apply(r, Wr);
    const double imbalance = std::sqrt(std::max(0.0, W.dot(r, Wr)));  // |Hw^T r|
    const double free_energy = W.sum([&](Index i) {
        double sum = 0;
        for (int c = 0; c < p.cones[i].dim; ++c) {
            const double u = W.b()[p.offset[i] + c] * (is_torque(p.cones[i], c) ? W.length(i) : 1.0);
            sum += u * u;
        }
        return sum / W.inverse_mass(i);
    });
    // Nearly orthogonal to b is no proof either: then `work` itself would be rounding.
    const double size = std::sqrt(W.sum([&](Index i) {
        double sum = 0;
        for (int c = 0; c < p.cones[i].dim; ++c) {
            const double x = r[p.offset[i] + c] / (is_torque(p.cones[i], c) ? W.length(i) : 1.0);
            sum += x * x;
        }
        return sum * W.inverse_mass(i);
    }));
    if (!(-work > 1e-10 * std::sqrt(free_energy) * size)) return false;
    const double rounding = W.sum([&](Index i) {
        double sum = 0;
        for (int c = 0; c < p.cones[i].dim; ++c)
            sum += std::abs(r[p.offset[i] + c]) / (is_torque(p.cones[i], c) ? W.length(i) : 1.0);
        return sum * W.rounding(i);
    });
    if (!(-work > rounding)) return false;
    if (!(imbalance * std::sqrt(free_energy) <= test.tolerance * -work)) return false;
    certificate = r / -work;
    return true;
}

InfeasibilityWatch::InfeasibilityWatch(const Delassus& W, Law law)
    : W_(&W), law_(law), last_(Vector::Zero(W.problem().rows())) {
    const ConeProblem& p = W.problem();
    for (Index i = 0; i < p.blocks(); ++i) {
        next_size_ =
            std::max(next_size_, 1e3 * W.b().segment(p.offset[i], p.cones[i].dim).norm() / W.inverse_mass(i));
    }
    next_size_ = W.largest(next_size_);
}

bool InfeasibilityWatch::look(const Vector& r) {
    const double size = W_->largest(r.size() == 0 ? 0.0 : r.lpNorm<Eigen::Infinity>());
    if (!(size > next_size_) || next_size_ == 0) return false;
    next_size_ = 1.2 * size;
    difference_ = r - last_;
    last_ = r;
    return find_infeasibility(*W_, law_, difference_, certificate_) ||
           find_infeasibility(*W_, law_, r, certificate_);
}

std::string describe_infeasibility(const Delassus& W, const Vector& certificate) {
    const ConeProblem& p = W.problem();
    // The blocks in which the prescribed motion works hardest against the certificate.
    std::vector<std::pair<double, Index>> work;
    for (Index i = 0; i < p.blocks(); ++i) {
        const double w =
            certificate.segment(p.offset[i], p.cones[i].dim).dot(W.b().segment(p.offset[i], p.cones[i].dim));
        if (w < 0) work.emplace_back(w, i);
    }
    std::sort(work.begin(), work.end());
    std::string blocks;
    for (std::size_t k = 0; k < std::min<std::size_t>(3, work.size()); ++k) {
        blocks += (k == 0 ? "" : ", ") + std::to_string(work[k].second);
    }
    return "no velocity satisfies all constraints: there are impulses in equilibrium against which the "
           "prescribed motion works, "
           "most in block" +
           std::string(work.size() > 1 ? "s " : " ") + blocks + (work.size() > 3 ? ", ..." : "");
}

}  // namespace drystone
