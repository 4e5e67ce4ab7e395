// What ContactSweeps makes of blocks that are tensors before it sweeps, and how it looks at them.
#include "drystone/base/symmetric_eigen.hpp"
#include "drystone/sweep/contact_sweeps.hpp"
#include "drystone/sweep/sweep_any.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

template <int d>
void TensorBlock<d>::set_matrix(const Mat<d>& Q, double proximal) {
    std::array<double, d> q;
    Mat<d> R;
    symmetric_eigen(d, Q.data(), q.data(), R.data());
    for (int j = 0; j < d; ++j) {
        for (int c = 0; c < d; ++c) axes[4 * j + c] = rows[4 * c + j] = R(c, j);
        for (int c = d; c < 4; ++c) axes[4 * j + c] = rows[4 * j + c] = 0;
    }
    // Trace and differences of the diagonal are coupled among themselves, each shear strain is alone.
    using Coupled = Eigen::Matrix<double, d, d>;
    Coupled C = Coupled::Zero();
    for (int k = 0; k < d; ++k) {
        Tensor<d> x;
        tensor_of(Mat<d>(Vec<d>::Unit(k) * Vec<d>::Unit(k).transpose()), x.data());
        C += q[k] * x.template head<d>() * x.template head<d>().transpose();
    }
    std::array<double, 3> shear{};
    if constexpr (d == 2) {
        shear[0] = 0.25 * (q[0] + q[1]);
    } else {
        shear = {0.25 * (q[0] + q[1]), 0.25 * (q[0] + q[2]), 0.25 * (q[1] + q[2])};
    }
    std::array<double, d> values;
    symmetric_eigen(d, C.data(), values.data());
    double smallest = values[0];
    for (int k = 0; k < tensor_size<d> - d; ++k) smallest = std::min(smallest, shear[k]);
    const double extra = AnyKernel::proximal_term(smallest, stiffness, proximal);
    C.diagonal().array() += extra;
    auto& [w, inverse_w, coupling, t, mu, offset, opening, alpha] = slide;
    w = C(0, 0);
    inverse_w = 1 / w;
    turn[0] = 1;
    turn[1] = 0;
    if constexpr (d == 2) {
        coupling[0] = C(1, 0) * inverse_w;
        t[0] = C(1, 1) - C(1, 0) * coupling[0];
        t[1] = shear[0] + extra;
    } else {
        const double t11 = C(1, 1) - C(1, 0) * C(1, 0) * inverse_w,
                     t22 = C(2, 2) - C(2, 0) * C(2, 0) * inverse_w,
                     t12 = C(2, 1) - C(1, 0) * C(2, 0) * inverse_w;
        const double angle = 0.5 * std::atan2(2 * t12, t11 - t22);
        const double c = turn[0] = std::cos(angle), s = turn[1] = std::sin(angle);
        coupling[0] = (c * C(1, 0) + s * C(2, 0)) * inverse_w;
        coupling[1] = (c * C(2, 0) - s * C(1, 0)) * inverse_w;
        t[0] = c * c * t11 + 2 * c * s * t12 + s * s * t22;
        t[1] = s * s * t11 - 2 * c * s * t12 + c * c * t22;
        for (int k = 0; k < 3; ++k) t[2 + k] = shear[k] + extra;
    }
    for (int k = 0; k < tensor_size<d> - 1; ++k) t[k] = std::max(t[k], 1e-16 * stiffness);
}

/// Only if all points of it move: what does not is shared by tiles.
bool ContactSweeps::is_tensor(Index i) const {
    const TensorRows& rows = p_->tensors;
    const Index k = p_->tensor_at(i);
    if (k < 0 || compliant_ || p_->H.first(i) != p_->H.last(i)) return false;
    return std::all_of(rows.body.begin() + rows.start[k], rows.body.begin() + rows.start[k + 1],
                       [&](Index body) { return moves_[body + 1] != 0; });
}

template <int d>
void ContactSweeps::pack(Index i, const Geometry& /*g*/, const ContactFrame& /*E*/, double proximal,
                         TensorBlock<d>& to) const {
    const ConeProblem& p = *p_;
    const TensorRows& rows = p.tensors;
    const Index k = p.tensor_at(i);
    const Cone& cone = p.cones[i];
    to = {};
    to.block = i;
    to.first = rows.start[k];
    to.last = rows.start[k + 1];
    to.closed =
        (cone.kind == ConeKind::second_order || cone.kind == ConeKind::truncated) && std::isfinite(cone.mu());
    to.slide.mu = cone.mu();
    to.slide.offset = cone.kind == ConeKind::truncated ? cone.coefficient[1] : 0.0;
    to.slide.opening = cone.dilatancy_by(associated_ ? Law::associated : Law::coulomb) * cone.mu();
    to.stiffness = W_->inverse_mass(i);
    Mat<d> Q = Mat<d>::Zero();
    for (Index e = to.first; e < to.last; ++e) {
        const auto g = rows.gradient_of<d>(e);
        Q.noalias() += line(rows.body[e] + 1)[3] * g * g.transpose();
    }
    to.set_matrix(Q, proximal);
    to.turn_in(W_->b().data() + p.offset[i], to.free);
}

/// Error and impulse of a tensor, and what its points have at stake there.
template <int d>
void ContactSweeps::look_at(const TensorBlock<d>& c, const double* x, Index place, Law law) {
    const TensorRows& rows = p_->tensors;
    Looked& look = looked_[place];
    Four columns[d] = {};
    for (Index e = c.first; e < c.last; ++e) {
        const Index at = rows.body[e] + 1;
        Four push;
        load4(line(at), push);
        const Vec<d> v = Eigen::Map<const Vec<d>>(line(at)), g = rows.gradient_of<d>(e);
        for (int k = 0; k < d; ++k) columns[k] += push * g[k];
        raise_stake(at, std::max(look.at_stake, strain_squared(v, g)));
    }
    std::array<double, max_block> own{}, u{}, impulse{};
    c.to_own(columns, own.data());
    for (int k = 0; k < tensor_size<d>; ++k) own[k] += c.free[k];
    c.turn_out(own.data(), u.data());
    c.turn_out(x, impulse.data());
    const BlockError error = block_error(*W_, c.block, impulse.data(), u.data(), law);
    look.error = error.natural;
    look.impulse = error.impulse;
}

#define DRYSTONE_TENSORS(d)                                                                                 \
    template struct TensorBlock<d>;                                                                         \
    template void ContactSweeps::pack(Index, const Geometry&, const ContactFrame&, double, TensorBlock<d>&) \
        const;                                                                                              \
    template void ContactSweeps::look_at(const TensorBlock<d>&, const double*, Index, Law)
DRYSTONE_TENSORS(2);
DRYSTONE_TENSORS(3);
#undef DRYSTONE_TENSORS

}  // namespace drystone
