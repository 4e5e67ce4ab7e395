#include "drystone/solve/interior_point.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/solve/infeasible.hpp"
#include "drystone/solve/monitor.hpp"
#include "drystone/solve/shifted_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace drystone {

namespace {

/// One second-order cone s_0 >= |s_1|: s_0 = axis r_N + offset, s_1 = spread (components of one group of the block).
struct SmallCone {
    Index first = 0;   // component of r that drives s_0
    Index second = 0;  // first component of the group
    int size = 1;      // of s; 1: s_0 >= 0
    Index start = 0;   // in the stacked vectors s and z
    double axis = 1, spread = 1, offset = 0;
};

/// A r + a in Q, the whole list; cones of a block are neighbours.
struct ConicForm {
    std::vector<SmallCone> cones;
    std::vector<Index> of_block = {0};  // cones of block i: [of_block[i], of_block[i + 1])
    std::vector<std::uint8_t> fixed;    // per component of r: held at its initial value
    std::vector<std::uint8_t> free;     // per component of r: in no cone
    Index size = 0;                     // of s
    Vector fixed_value;
};

void add_cone(ConicForm& form, SmallCone cone) {
    cone.start = form.size;
    form.size += cone.size;
    form.cones.push_back(cone);
}

/// Rows are measured in the energy norm (root of stiffness, torques by length): then all cones are commensurate, which
/// the iteration itself does not ask for but its first point and its centring do.
ConicForm make_form(const Delassus& W) {
    const ConeProblem& p = W.problem();
    ConicForm form;
    form.fixed.assign(p.rows(), 0);
    form.free.assign(p.rows(), 0);
    form.fixed_value.setZero(p.rows());
    for (Index i = 0; i < p.blocks(); ++i) {
        const Cone& cone = p.cones[i];
        const double root = std::sqrt(W.inverse_mass(i)), length = W.length(i);
        const Index at = p.offset[i];
        if (cone.kind == ConeKind::free) {
            std::fill_n(form.free.begin() + at, cone.dim, 1);
        } else if (cone.kind == ConeKind::interval) {
            const double lower = cone.coefficient[0], upper = cone.coefficient[1];
            if (lower == upper) {
                form.fixed[at] = 1;
                form.fixed_value[at] = lower;
            } else {
                if (!std::isinf(lower)) add_cone(form, {at, at, 1, 0, root, root, -root * lower});
                if (!std::isinf(upper)) add_cone(form, {at, at, 1, 0, -root, root, root * upper});
                if (std::isinf(lower) && std::isinf(upper)) form.free[at] = 1;
            }
        } else {
            bool axis_bounded = false;  // r_N >= 0 follows from a disc that closes at r_N = 0
            for (const ConeGroup& g : groups_of(cone)) {
                const double unit = is_torque(cone, g.start) ? root / length : root;
                if (std::isinf(g.mu)) {
                    std::fill_n(form.free.begin() + at + g.start, g.size, 1);
                } else if (g.mu == 0 && g.offset == 0) {
                    std::fill_n(form.fixed.begin() + at + g.start, g.size, 1);
                } else {
                    add_cone(form, {at, at + g.start, 1 + g.size, 0, unit * g.mu, unit, unit * g.offset});
                    axis_bounded = axis_bounded || g.offset == 0;
                }
            }
            if (!axis_bounded) add_cone(form, {at, at, 1, 0, root, root, 0});
        }
        form.of_block.push_back(static_cast<Index>(form.cones.size()));
    }
    return form;
}

/// x_0^2 - |x_1|^2 without cancellation of the squares.
double determinant(const double* x, int n) {
    double sum = 0;
    for (int c = 1; c < n; ++c) sum += x[c] * x[c];
    const double norm = std::sqrt(sum);
    return (x[0] - norm) * (x[0] + norm);
}

using Small = std::array<double, max_block>;

/// Nesterov-Todd scaling V of one cone, V z = V^-1 s = lambda: V = eta (w_0, w_1; w_1, 1 + w_1 w_1^T / (1 + w_0)).
struct Scaling {
    double eta = 1;
    Small w = {1};
};

/// out = V x, or V^-1 x with inverse.
void scale(const Scaling& v, int n, const double* x, double* out, bool inverse) {
    const double sign = inverse ? -1 : 1, eta = inverse ? 1 / v.eta : v.eta;
    double dot = 0;
    for (int c = 1; c < n; ++c) dot += v.w[c] * x[c];
    const double first = x[0], factor = sign * first + dot / (1 + v.w[0]);
    out[0] = eta * (v.w[0] * first + sign * dot);
    for (int c = 1; c < n; ++c) out[c] = eta * (x[c] + factor * v.w[c]);
}

/// Scaling of one pair. False if s or z is not in the interior.
bool make_scaling(const double* s, const double* z, int n, Scaling& v) {
    if (n == 1) {
        if (!(s[0] > 0 && z[0] > 0)) return false;
        v.eta = std::sqrt(s[0] / z[0]);
        v.w[0] = 1;
        return true;
    }
    const double ds = determinant(s, n), dz = determinant(z, n);
    if (!(ds > 0 && dz > 0 && s[0] > 0 && z[0] > 0)) return false;
    const double rs = std::sqrt(ds), rz = std::sqrt(dz);
    double dot = 0;
    for (int c = 0; c < n; ++c) dot += (s[c] / rs) * (z[c] / rz);
    const double gamma = std::sqrt(0.5 * (1 + dot));
    double norm2 = 0;
    for (int c = 1; c < n; ++c) {
        v.w[c] = (s[c] / rs - z[c] / rz) / (2 * gamma);
        norm2 += v.w[c] * v.w[c];
    }
    v.w[0] = std::sqrt(
        1 + norm2);  // w has determinant 1 exactly, where the sum of the two would have it to rounding
    v.eta = std::sqrt(rs / rz);
    return std::isfinite(v.eta) && v.eta > 0;
}

/// Moves a scaling from lambda to the pair V s, V^-1 z, where s and z are near lambda, and lambda with it. Near a
/// solution s and z themselves lie on the boundary to more digits than a double has; their scaled forms never do. So V
/// and lambda are the state of the iteration and s, z are computed from them, not the other way round. With scalings as
/// Lorentz boosts B(w), B(w) B(w') = B(w'') R: the new w is B(w) w', and R is the Wigner rotation of the plane of w and
/// w', tan(angle / 2) = |w_1 x w'_1| / ((1 + w_0)(1 + w'_0) + w_1.w'_1), written as a Cayley transform.
bool update_scaling(const double* s, const double* z, int n, Scaling& v, double* lambda) {
    Scaling next;
    if (!make_scaling(s, z, n, next)) return false;
    Small scaled{};
    scale(next, n, z, scaled.data(), false);
    lambda[0] = scaled[0];
    if (n > 1) {
        double aa = 0, ab = 0, bb = 0, ax = 0, bx = 0;
        for (int c = 1; c < n; ++c) {
            aa += v.w[c] * v.w[c];
            ab += v.w[c] * next.w[c];
            bb += next.w[c] * next.w[c];
            ax += v.w[c] * scaled[c];
            bx += next.w[c] * scaled[c];
        }
        const double k = (1 + v.w[0]) * (1 + next.w[0]) + ab;
        const double tau2 = std::max(0.0, aa * bb - ab * ab) / (k * k);
        // T = (w_1 w'_1^T - w'_1 w_1^T) / k;  R = 1 + 2 (T + T^2) / (1 + tau^2).
        const double ta = bx / k, tb = -ax / k;                                      // T x = ta w_1 + tb w'_1
        const double tta = (ta * ab + tb * bb) / k, ttb = -(ta * aa + tb * ab) / k;  // T T x
        for (int c = 1; c < n; ++c) {
            lambda[c] = scaled[c] + 2 * ((ta + tta) * v.w[c] + (tb + ttb) * next.w[c]) / (1 + tau2);
        }
        Scaling boost = v;
        boost.eta = 1;
        Small w{};
        scale(boost, n, next.w.data(), w.data(), false);
        double norm2 = 0;
        for (int c = 1; c < n; ++c) {
            v.w[c] = w[c];
            norm2 += w[c] * w[c];
        }
        v.w[0] = std::sqrt(1 + norm2);
    }
    v.eta *= next.eta;
    return std::isfinite(v.eta) && v.eta > 0 && std::isfinite(v.w[0]) &&
           (n == 1 || determinant(lambda, n) > 0);
}

/// Jordan product.
void product(const double* x, const double* y, int n, double* out) {
    double dot = 0;
    for (int c = 0; c < n; ++c) dot += x[c] * y[c];
    for (int c = 1; c < n; ++c) out[c] = x[0] * y[c] + y[0] * x[c];
    out[0] = dot;
}

/// out with lambda o out = y.
void divide(const double* lambda, const double* y, int n, double* out) {
    if (n == 1) {
        out[0] = y[0] / lambda[0];
        return;
    }
    double dot = 0;
    for (int c = 1; c < n; ++c) dot += lambda[c] * y[c];
    out[0] = (lambda[0] * y[0] - dot) / determinant(lambda, n);
    for (int c = 1; c < n; ++c) out[c] = (y[c] - out[0] * lambda[c]) / lambda[0];
}

/// 1 / (largest step alpha with lambda + alpha d in the cone); 0 if there is no end.
double inverse_step(const double* lambda, const double* d, int n) {
    if (n == 1) return std::max(0.0, -d[0] / lambda[0]);
    const double root = std::sqrt(determinant(lambda, n));
    double first = lambda[0] * d[0];
    for (int c = 1; c < n; ++c) first -= lambda[c] * d[c];
    first /=
        root;  // with lambda / root as the unit of the Lorentz frame, d has the coordinates (first, rest) / root
    const double factor = (first + d[0]) / (lambda[0] / root + 1);
    double rest = 0;
    for (int c = 1; c < n; ++c) {
        const double x = d[c] - factor * lambda[c] / root;
        rest += x * x;
    }
    return std::max(0.0, (std::sqrt(rest) - first) / root);
}

class InteriorPoint {
public:
    InteriorPoint(const Delassus& W, const InteriorPointOptions& options)
        : W_(W), options_(options), form_(make_form(W)), system_(W), scaling_(form_.cones.size()) {
        const Index n = W.problem().rows();
        for (Vector* v : {&s_, &z_, &lambda_, &ds_, &dz_, &rp_, &q_, &t_, &kept_ds_, &kept_dz_})
            v->setZero(form_.size);
        for (Vector* v : {&u_, &rd_, &rhs_, &dr_, &kept_dr_, &candidate_}) v->setZero(n);
    }

    void run(Monitor& monitor, Law certified, Vector& r, Vector& certificate);

private:
    bool start(Vector& r);
    [[nodiscard]] bool scale_all();
    void fill_F();
    void residuals(const Vector& r);
    void direction();
    [[nodiscard]] double longest_step() const;
    [[nodiscard]] bool advance(double step);
    bool check(Monitor& monitor, int iteration, const Vector& r);

    template <class Function>
    void each(Function&& f) const {
        for (std::size_t j = 0; j < form_.cones.size(); ++j) f(form_.cones[j], scaling_[j]);
    }
    void multiply_A(const Vector& r, Vector& out) const;                       // out = A r
    void add_A_transposed(const Vector& x, double factor, Vector& out) const;  // out += factor A^T x
    [[nodiscard]] double dot_cones(const Vector& a, const Vector& b) const {
        ExactSum total;
        for (const SmallCone& c : form_.cones)
            total.add(a.segment(c.start, c.size).dot(b.segment(c.start, c.size)));
        return total.value();
    }

    const Delassus& W_;
    InteriorPointOptions options_;
    ConicForm form_;
    ShiftedSystem system_;
    std::vector<Scaling> scaling_;
    Vector s_, z_, lambda_;  // slack, multiplier, both scaled
    Vector ds_, dz_;         // scaled directions V^-1 ds and V dz
    Vector rp_, q_, t_;
    Vector kept_dr_, kept_ds_, kept_dz_;
    Vector u_, rd_, rhs_, dr_, candidate_;
};

void InteriorPoint::multiply_A(const Vector& r, Vector& out) const {
    for (const SmallCone& c : form_.cones) {
        out[c.start] = c.axis * r[c.first];
        for (int k = 1; k < c.size; ++k) out[c.start + k] = c.spread * r[c.second + k - 1];
    }
}

void InteriorPoint::add_A_transposed(const Vector& x, double factor, Vector& out) const {
    for (const SmallCone& c : form_.cones) {
        out[c.first] += factor * c.axis * x[c.start];
        for (int k = 1; k < c.size; ++k) out[c.second + k - 1] += factor * c.spread * x[c.start + k];
    }
}

/// Scalings of all cones from the s and z of the first point, and lambda = V z.
bool InteriorPoint::scale_all() {
    for (std::size_t j = 0; j < form_.cones.size(); ++j) {
        const SmallCone& c = form_.cones[j];
        if (!make_scaling(s_.data() + c.start, z_.data() + c.start, c.size, scaling_[j])) return false;
        scale(scaling_[j], c.size, z_.data() + c.start, lambda_.data() + c.start, false);
    }
    return true;
}

/// F with F F^T = (A^T V^-2 A)^-1, block by block. Eliminating the groups first leaves for the normal component the sum
/// of axis^2 / (V^2)_00, all positive, so nothing cancels however flat a cone has become:
///     F = (1/root, 0; -g/root, B^-1/2),   B = V^-2 on the group,  g = B^-1 (V^-2)_10.
void InteriorPoint::fill_F() {
    const ConeProblem& p = W_.problem();
    parallel_for(W_.threads(), p.blocks(), [&](Index i) {
        auto F = system_.F.block(i);
        F.setZero();
        const Index at = p.offset[i];
        double pivot = 0;
        for (Index j = form_.of_block[i]; j < form_.of_block[i + 1]; ++j) {
            const SmallCone& c = form_.cones[j];
            const Scaling& v = scaling_[j];
            const double w0 = v.w[0];
            pivot += c.axis * c.axis * (1 / (v.eta * v.eta * (2 * w0 * w0 - 1)) + options_.regularisation);
            if (c.size == 1) continue;
            double norm2 = 0;
            for (int k = 1; k < c.size; ++k) norm2 += v.w[k] * v.w[k];
            // B^-1/2 = eta / spread times 1 across w_1 and 1 / sqrt(1 + 2 |w_1|^2) along it.
            const double along = norm2 > 0 ? (1 / std::sqrt(1 + 2 * norm2) - 1) / norm2 : 0.0;
            const int first = c.second - at;
            const double eta = v.eta / std::sqrt(1 + options_.regularisation * v.eta * v.eta);
            for (int a = 0; a < c.size - 1; ++a) {
                for (int b = 0; b < c.size - 1; ++b) {
                    F(first + a, first + b) =
                        eta / c.spread * ((a == b ? 1.0 : 0.0) + along * v.w[a + 1] * v.w[b + 1]);
                }
                F(first + a, 0) = (c.axis / c.spread) * 2 * w0 * v.w[a + 1] / (1 + 2 * norm2);  // -g
            }
        }
        if (pivot > 0) {
            F(0, 0) = 1;
            F.col(0) /= std::sqrt(pivot);
        }
        for (int c = 0; c < p.cones[i].dim; ++c) {
            if (form_.free[at + c] == 0) continue;
            const double length = is_torque(p.cones[i], c) ? W_.length(i) : 1.0;
            F(c, c) = length / std::sqrt(options_.bilateral_regularisation * W_.inverse_mass(i));
            system_.unit[at + c] = 0;
        }
    });
}

/// First point of coneqp: the least-squares solution, moved into the cones along their axes.
bool InteriorPoint::start(Vector& r) {
    const ConeProblem& p = W_.problem();
    r = form_.fixed_value;
    for (auto& v : scaling_) v = Scaling{};
    fill_F();
    if (!system_.factorise()) return false;
    W_.velocity(r, rhs_);
    multiply_A(r, s_);
    for (const SmallCone& c : form_.cones) s_[c.start] += c.offset;
    add_A_transposed(s_, 1.0, rhs_);
    rhs_ = -rhs_;
    system_.solve(rhs_, dr_);
    r += dr_;
    multiply_A(r, s_);
    for (const SmallCone& c : form_.cones) s_[c.start] += c.offset;
    z_ = -s_;
    // Size of the problem: the energy of what has to be corrected, per cone. It keeps a start on the boundary away from
    // it.
    const double size = std::max(std::sqrt(dot_cones(s_, s_) / std::max<std::size_t>(1, form_.cones.size())),
                                 std::numeric_limits<double>::min());
    for (Vector* x : {&s_, &z_}) {
        double depth = -infinity;  // how far the worst cone is outside
        for (const SmallCone& c : form_.cones) {
            depth = std::max(depth, x->segment(c.start + 1, c.size - 1).norm() - (*x)[c.start]);
        }
        if (depth < -1e-3 * size) continue;
        for (const SmallCone& c : form_.cones) (*x)[c.start] += depth + size;
    }
    return p.rows() > 0;
}

void InteriorPoint::residuals(const Vector& r) {
    W_.velocity(r, rd_);
    add_A_transposed(z_, -1.0, rd_);  // W r + b - A^T z
    multiply_A(r, rp_);
    for (const SmallCone& c : form_.cones) rp_[c.start] += c.offset;
    rp_ -= s_;  // A r + a - s
}

/// Newton direction for the complementarity right-hand side q (already divided by lambda):
///     W dr - A^T dz = -rd,   A dr - ds = -rp,   V^-1 ds + V dz = q.
void InteriorPoint::direction() {
    each([&](const SmallCone& c, const Scaling& v) {
        // t = V^-1 (q - V^-1 rp)
        Small x{};
        scale(v, c.size, rp_.data() + c.start, x.data(), true);
        for (int k = 0; k < c.size; ++k) x[k] = q_[c.start + k] - x[k];
        scale(v, c.size, x.data(), t_.data() + c.start, true);
    });
    rhs_ = -rd_;
    add_A_transposed(t_, 1.0, rhs_);
    system_.solve(rhs_, dr_);
    multiply_A(dr_, t_);
    t_ += rp_;
    each([&](const SmallCone& c, const Scaling& v) {
        scale(v, c.size, t_.data() + c.start, ds_.data() + c.start, true);
    });
    dz_ = q_ - ds_;
}

double InteriorPoint::longest_step() const {
    double inverse = 0;
    for (const SmallCone& c : form_.cones) {
        inverse = std::max(inverse, inverse_step(lambda_.data() + c.start, ds_.data() + c.start, c.size));
        inverse = std::max(inverse, inverse_step(lambda_.data() + c.start, dz_.data() + c.start, c.size));
    }
    return inverse > 0 ? 1 / inverse : infinity;
}

/// Moves V and lambda by a step along the direction, and s and z with them.
bool InteriorPoint::advance(double step) {
    for (std::size_t j = 0; j < form_.cones.size(); ++j) {
        const SmallCone& c = form_.cones[j];
        Small s{}, z{};
        for (int k = 0; k < c.size; ++k) {
            s[k] = lambda_[c.start + k] + step * ds_[c.start + k];
            z[k] = lambda_[c.start + k] + step * dz_[c.start + k];
        }
        if (!update_scaling(s.data(), z.data(), c.size, scaling_[j], lambda_.data() + c.start)) return false;
        scale(scaling_[j], c.size, lambda_.data() + c.start, s_.data() + c.start, false);
        scale(scaling_[j], c.size, lambda_.data() + c.start, z_.data() + c.start, true);
    }
    return true;
}

/// Shows the monitor the iterate, moved into K.
bool InteriorPoint::check(Monitor& monitor, int iteration, const Vector& r) {
    const ConeProblem& p = W_.problem();
    candidate_ = r;
    for (Index i = 0; i < p.blocks(); ++i) {
        project(p.cones[i], std::span(candidate_.data() + p.offset[i], p.cones[i].dim));
    }
    W_.velocity(candidate_, u_);
    return monitor.check(iteration, candidate_, u_);
}

void InteriorPoint::run(Monitor& monitor, Law certified, Vector& r, Vector& certificate) {
    if (check(monitor, 0, r)) return;
    if (!start(r)) {
        monitor.stop(Status::diverged, "the first linear system could not be factorised");
        return;
    }
    if (!scale_all()) {
        monitor.stop(Status::diverged, "there is no first point");
        return;
    }
    const double count = std::max<double>(1, static_cast<double>(form_.cones.size()));
    const double first_size = std::max(r.lpNorm<Eigen::Infinity>(), std::numeric_limits<double>::min());
    int short_steps = 0, improved_at = 0;
    double improved = infinity, narrowed = improved;
    for (int iteration = 1;; ++iteration) {
        // First, since impulses that grow without end make every residual relative to them small.
        if (r.lpNorm<Eigen::Infinity>() > 100 * first_size &&
            find_infeasibility(W_, certified, r, certificate)) {
            check(monitor, iteration, r);
            monitor.stop(Status::infeasible, describe_infeasibility(W_, certificate));
            return;
        }
        if (check(monitor, iteration, r)) return;
        const double gap = dot_cones(lambda_, lambda_) / count;
        // Of this run: a good warm start is not to be measured against. The gap too, because a contact where nothing is
        // at stake is judged by its own impulse, and stays as wrong as it was until that is all but gone.
        if (monitor.residual() < 0.5 * improved || gap < 0.1 * narrowed) {
            improved = std::min(improved, monitor.residual());
            narrowed = std::min(narrowed, gap);
            improved_at = iteration;
        }
        if (iteration >= improved_at + options_.patience) {
            monitor.stop(Status::stalled, "rounding is in the way of smaller residuals");
            return;
        }
        residuals(r);
        fill_F();
        if (!system_.factorise()) {
            monitor.stop(Status::stalled, "the linear system can no longer be factorised");
            return;
        }
        // Predictor: q = -lambda aims at complementarity zero.
        q_ = -lambda_;
        direction();
        const double reach = std::min(1.0, longest_step());
        const double sigma = std::pow(1 - reach, 3);
        // Correctors: aim at (lambda + ds) o (lambda + dz) = sigma gap e with ds o dz from the direction before. One is
        // Mehrotra's; more cost a solve each and bring the pair nearer to the central path, across the cone above all:
        // off it s and z make an angle of the root of the gap, and the impulses are wrong by that much.
        double reached = 0;
        for (int corrector = 0; corrector < std::max(1, options_.correctors); ++corrector) {
            each([&](const SmallCone& c, const Scaling&) {
                Small cross{};
                product(ds_.data() + c.start, dz_.data() + c.start, c.size, cross.data());
                cross[0] -= sigma * gap;
                divide(lambda_.data() + c.start, cross.data(), c.size, q_.data() + c.start);
            });
            q_ = -(lambda_ + q_);
            std::swap(dr_, kept_dr_);
            std::swap(ds_, kept_ds_);
            std::swap(dz_, kept_dz_);
            direction();
            const double next = std::min(1.0, options_.boundary_fraction * longest_step());
            if (corrector > 0 &&
                !(next >= 0.9 * reached)) {  // far from the path the repetition need not converge
                std::swap(dr_, kept_dr_);
                std::swap(ds_, kept_ds_);
                std::swap(dz_, kept_dz_);
                break;
            }
            reached = next;
        }
        const double step = reached;
        if (!std::isfinite(step)) {
            monitor.stop(Status::diverged, "the search direction is not a number");
            return;
        }
        if (!advance(step)) {
            monitor.stop(Status::stalled, "rounding keeps the iterate on the boundary of a cone");
            return;
        }
        r += step * dr_;
        short_steps = step < options_.shortest_step ? short_steps + 1 : 0;
        if (short_steps == 3) {
            monitor.stop(Status::stalled, "steps have become too short");
            return;
        }
    }
}

/// The problem with its cones replaced by those that may appear in a proof of infeasibility.
ConeProblem with_recession_cones(const ConeProblem& problem, Law law) {
    ConeProblem out = problem;
    for (Cone& cone : out.cones) cone = recession_cone(cone, law);
    return out;
}

}  // namespace

SolveReport interior_point(const Delassus& W, Law law, const InteriorPointOptions& options, const Goal& goal,
                           Vector& r) {
    Monitor monitor(W, law, goal, options.max_iterations);
    if (law != Law::associated) {
        monitor.stop(Status::invalid,
                     "the interior point solves the associated law only; use it inside the fixed point");
        return monitor.finish("interior-point", r);
    }
    InteriorPoint solver(W, options);
    Vector certificate;
    solver.run(monitor, Law::associated, r, certificate);
    return monitor.finish("interior-point", r);
}

bool prove_infeasible(const Delassus& W, Law law, Vector& certificate, const InteriorPointOptions& options) {
    const ConeProblem copy = with_recession_cones(W.problem(), law);
    Delassus relaxed(copy, W.threads());
    relaxed.set_arithmetic(W.arithmetic());
    // b may carry a frozen shift that the problem's own data do not.
    Vector extra(copy.blocks());
    for (Index i = 0; i < copy.blocks(); ++i) extra[i] = W.b()[copy.offset[i]] - relaxed.b()[copy.offset[i]];
    const Delassus shifted = relaxed.with_frozen_shift(extra);
    Goal goal;
    goal.tolerance = 1e-8;
    Vector r = Vector::Zero(copy.rows());
    Monitor monitor(shifted, Law::associated, goal, options.max_iterations);
    InteriorPoint solver(shifted, options);
    Vector found;
    solver.run(monitor, Law::associated, r, found);
    const SolveReport report = monitor.finish("feasibility", r);
    if (report.status != Status::infeasible) return false;
    return find_infeasibility(W, law, found, certificate);
}

}  // namespace drystone
