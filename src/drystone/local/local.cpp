#include "drystone/local/local.hpp"

#include "drystone/base/symmetric_eigen.hpp"
#include "drystone/cone/complementarity.hpp"
#include "drystone/local/guarded_root.hpp"
#include "drystone/local/secular.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace drystone {

namespace {

/// Local errors, below, are relative to the impulse; the referee counts impulses a thousandth (judge.cpp), so its 1e-10
/// may need 1e-13 here. Methods are tried until one is `accurate`; the best answer of all is good if it is
/// `acceptable`.
constexpr double accurate = 1e-14, acceptable = 1e-13;

/// Size of the natural map relative to the impulses at stake, with the block's own step: what "solved" means locally.
double local_error(const Cone& cone, const BlockMatrix& W, const BlockVector& b, const BlockVector& r,
                   Law law) {
    const double xi = static_cast<double>(W.rows()) / W.trace();
    const BlockVector u = W * r + b;
    const double scale = std::max(r.norm(), xi * b.norm());
    return scale == 0 ? 0 : natural_map(cone, u, r, xi, law).norm() / scale;
}

template <int D>
double sliding_quartic(double mu, const BlockMatrix& W, const BlockVector& b, BlockVector& r) {
    using Matrix = Eigen::Matrix<double, D, D>;
    using Tangent = Eigen::Matrix<double, D, 1>;
    const double w = W(0, 0);
    if (b[0] >= 0) {
        r.setZero();
        return -1;
    }
    const Tangent coupling = W.col(0).template tail<D>() / w;
    Matrix T = W.bottomRightCorner(D, D) - coupling * W.col(0).template tail<D>().transpose();
    T = (0.5 * (T + T.transpose())).eval();
    Matrix Q;
    Tangent t;
    symmetric_eigen(D, T.data(), t.data(), Q.data());
    const Tangent bt = Q.transpose() * (b.template tail<D>() - coupling * b[0]);
    const Tangent c = Q.transpose() * coupling;
    Secular<D> s{mu, -b[0] / w, {}, {}, {}};
    // Eigenvalues below rounding of the largest are rounding: they get that size.
    const double floor = 1e-16 * t[D - 1];
    Tangent rT;
    double rN = s.free_normal;
    for (int k = 0; k < D; ++k) {
        s.t[k] = std::max(t[k], floor);
        s.bt[k] = bt[k];
        s.coupling[k] = c[k];
        rT[k] = -bt[k] / s.t[k];
        rN -= c[k] * rT[k];
    }
    double alpha = 0;
    if (rT.norm() > mu * rN) {
        std::array<double, D> tangent{};
        alpha = solve_secular<D>(s, 0.0, rN, tangent);
        for (int k = 0; k < D; ++k) rT[k] = tangent[k];
    }
    r[0] = rN;
    r.tail(D) = Q * rT;
    return alpha;
}

// ---- Newton on the optimality system of known pressed discs
// ----------------------------------------------------------

/// Solves the n x n system M x = y in place by elimination with row exchanges; false if M is singular.
bool eliminate(double (&M)[max_block][max_block], double (&y)[max_block], int n) {
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i) {
            if (std::abs(M[i][k]) > std::abs(M[pivot][k])) pivot = i;
        }
        if (!(std::abs(M[pivot][k]) > 0)) return false;
        if (pivot != k) {
            for (int j = k; j < n; ++j) std::swap(M[k][j], M[pivot][j]);
            std::swap(y[k], y[pivot]);
        }
        const double inverse = 1 / M[k][k];
        for (int i = k + 1; i < n; ++i) {
            const double factor = M[i][k] * inverse;
            for (int j = k + 1; j < n; ++j) M[i][j] -= factor * M[k][j];
            y[i] -= factor * y[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) y[k] -= M[k][j] * y[j];
        y[k] /= M[k][k];
    }
    return true;
}

/// Newton on the optimality system of an active set, from r: u_j = 0 where a disc is free; |r_j| = radius_j and no
/// velocity across r_j where it is pressed; u_N = 0 (less the opening by dilatancy), or r_N = 0. The multipliers, which
/// may span many decades, are eliminated, and no condition number is squared, so this also removes what rounding left
/// in a nested solve. With `adapt` discs are pressed when they overflow and freed when their velocity would pull. r
/// receives the best point met, whose local error is returned.
double active_set_newton(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law,
                         ActiveSet active, bool adapt, int steps, BlockVector& r) {
    const int d = static_cast<int>(r.size());
    const ConeGroups groups = groups_of(cone);
    const double stiffness = W.trace() / d, opening = cone.dilatancy_by(law);
    BlockVector x = r;
    double best = infinity, previous = infinity;
    int worse = 0;
    for (int k = 0;; ++k) {
        // Back onto the pressed discs: keeps the direction Newton found and makes the radius exact.
        for (int j = 0; j < groups.count; ++j) {
            const ConeGroup& g = groups.group[j];
            if (cannot_act(g)) {
                x.segment(g.start, g.size).setZero();
                continue;
            }
            const double length = x.segment(g.start, g.size).norm(), radius = g.offset + g.mu * x[0];
            if (adapt && !active.pressed[j] && length > radius) active.pressed[j] = true;
            if (!active.pressed[j]) continue;
            if (!(length > 0) || !(radius > 0) || std::isinf(radius)) return best;
            x.segment(g.start, g.size) *= radius / length;
        }
        BlockVector u = b;
        for (int c = 0; c < d; ++c) u += W.col(c) * x[c];
        const double error = local_error(cone, W, b, x, law);
        if (!std::isfinite(error)) return best;
        if (error < best) {
            best = error;
            r = x;
        }
        if (error <= 1e-15 || k == steps) return best;
        if (error >= previous && ++worse > (adapt ? 4 : 2) && best <= acceptable)
            return best;  // as far as rounding allows
        previous = error;
        double F[max_block], M[max_block][max_block];
        for (int i = 0; i < d; ++i) {
            F[i] = u[i];
            for (int c = 0; c < d; ++c) M[i][c] = W(i, c);
        }
        for (int j = 0; j < groups.count; ++j) {
            const ConeGroup& g = groups.group[j];
            const int end = g.start + g.size;
            if (cannot_act(g)) {
                for (int i = g.start; i < end; ++i) {
                    F[i] = 0;
                    for (int c = 0; c < d; ++c) M[i][c] = i == c ? stiffness : 0;
                }
                continue;
            }
            if (!active.pressed[j]) continue;
            const double length = g.offset + g.mu * x[0];
            double e[max_block], along = 0, eW[max_block] = {};
            for (int i = g.start; i < end; ++i) {
                e[i] = x[i] / length;
                along += e[i] * u[i];
            }
            if (adapt && along > 0) {
                active.pressed[j] = false;
                continue;
            }
            for (int i = g.start; i < end; ++i) {
                for (int c = 0; c < d; ++c) eW[c] += e[i] * W(i, c);
            }
            if (opening > 0 && !active.open) {
                const double zeta = opening * g.mu;
                F[0] += zeta * along;
                for (int c = 0; c < d; ++c) M[0][c] += zeta * eW[c];
                for (int i = g.start; i < end; ++i) M[0][i] += zeta * (u[i] - along * e[i]) / length;
            }
            // Rows: the velocity across e, plus the missing radius along e.
            for (int i = g.start; i < end; ++i) {
                F[i] = u[i] - along * e[i];
                for (int c = 0; c < d; ++c) M[i][c] -= e[i] * eW[c];
                for (int c = g.start; c < end; ++c) {
                    const double across = (i == c ? 1.0 : 0.0) - e[i] * e[c];
                    M[i][c] += -along / length * across - e[i] * (u[c] - along * e[c]) / length +
                               stiffness * e[i] * e[c];
                }
                M[i][0] -= stiffness * g.mu * e[i];
            }
        }
        if (active.open) {
            F[0] = 0;
            for (int c = 0; c < d; ++c) M[0][c] = c == 0 ? stiffness : 0;
        }
        if (!eliminate(M, F, d)) return best;
        const double before = x[0];
        for (int i = 0; i < d; ++i) x[i] -= F[i];
        if (!x.allFinite()) return best;
        if (active.open) {
            x[0] = 0;
        } else if (x[0] <= 0) {
            // Newton left the cone. From a positive r_N a shorter step stays inside.
            if (!adapt || !(before > 0)) return best;
            const double t = 0.9 * before / (before - x[0]);
            for (int i = 0; i < d; ++i) x[i] += (1 - t) * F[i];
        }
    }
}

/// Removes what rounding left: Newton with the active set found, then, where a disc is neither clearly free nor clearly
/// pressed, with every other one; the smallest error wins. Returns it.
double polish(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law, const ActiveSet& active,
              BlockVector& r) {
    const BlockVector start = r;
    double best = local_error(cone, W, b, r, law);
    if (!(best >= 0)) best = infinity;
    auto attempt = [&](const ActiveSet& set, bool adapt) {
        BlockVector x = start;
        active_set_newton(cone, W, b, law, set, adapt, 12, x);
        project(cone, {x.data(), static_cast<std::size_t>(x.size())});
        const double error = local_error(cone, W, b, x, law);
        if (error < best) {
            best = error;
            r = x;
        }
        return best <= accurate;
    };
    if (attempt(active, false) || attempt(active, true)) return best;
    const ConeGroups groups = groups_of(cone);
    for (int set = 0; set < (2 << groups.count); ++set) {
        ActiveSet other;
        other.open = (active.open ? 1 : 0) != (set >> groups.count);
        bool valid = true;
        for (int j = 0; j < groups.count; ++j) {
            other.pressed[j] = (set >> j & 1) != 0;
            valid = valid &&
                    !(other.pressed[j] && (cannot_act(groups.group[j]) || std::isinf(groups.group[j].mu)));
        }
        if (valid && attempt(other, false)) return best;
    }
    return best;
}

/// True if r = 0 obeys the law, within the rounding of b.
bool obeyed_at_rest(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law) {
    const double xi = static_cast<double>(W.rows()) / W.trace();
    return natural_map(cone, b, BlockVector::Zero(b.size()), xi, law).norm() <= 4e-16 * xi * b.norm();
}

/// Any cone with an axis and any law: Newton from the warm start where that is enough, else the guarded root, more and
/// more accurately, and a polish. Returns the local error.
double solve_general(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law, BlockVector& r) {
    const auto d = r.size();
    const std::span<double> data{r.data(), static_cast<std::size_t>(d)};
    const double xi = static_cast<double>(d) / W.trace();
    const ConeGroups groups = groups_of(cone);
    const BlockVector warm = r;
    if (obeyed_at_rest(cone, W, b, law)) {
        r.setZero();  // so no cone without offsets is open below
        return 0;
    }
    // Newton from the discs that the natural map presses at the warm start, then at rest, then from full sticking.
    BlockVector answer = BlockVector::Zero(d);
    double best = local_error(cone, W, b, answer, law);
    for (int start = warm[0] > 0 ? 0 : 1; start < 3; ++start) {
        ActiveSet active;
        r.setZero();
        if (start < 2) {
            if (start == 0) r = warm;
            const BlockVector u = W * r + b;
            const BlockVector z = r - xi * u;
            r = z;
            r[0] -= xi * shift(cone, {u.data(), static_cast<std::size_t>(d)}, law);
            project(cone, data);
            for (int j = 0; j < groups.count; ++j) {
                const ConeGroup& g = groups.group[j];
                active.pressed[j] =
                    !std::isinf(g.mu) && z.segment(g.start, g.size).norm() > g.offset + g.mu * r[0];
            }
            if (!(r[0] > 0)) continue;
        } else {
            r[0] = std::max(std::abs(b[0]) / W(0, 0), xi * b.norm());
        }
        active_set_newton(cone, W, b, law, active, true, 12, r);
        project(cone, data);
        const double error = local_error(cone, W, b, r, law);
        if (error <= accurate) return error;
        if (error < best) {
            best = error;
            answer = r;
        }
    }
    for (int pass = 0; pass < 4 && !(best <= accurate); ++pass) {
        r = warm;  // not the last pass's answer: if rounding misled it, that is no place to start
        if (pass == 3) r.setZero();
        const ActiveSet active = pass == 0   ? solve_guarded(cone, W, b, law, 1e-3, r)
                                 : pass == 1 ? solve_guarded(cone, W, b, law, 1e-15, r)
                                             : solve_guarded_long(cone, W, b, law, 1e-18, r);
        if (!r.allFinite()) continue;
        BlockVector x = r;
        const double error = polish(cone, W, b, law, active, x);
        if (error < best) {
            best = error;
            answer = x;
        }
    }
    r = answer;
    return best;
}

// ---- Newton on a complementarity function
// ------------------------------------------------------------------------------

enum class Damping : std::uint8_t { none, optimistic, line_search };

bool newton(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law, bool fischer,
            Damping damping, BlockVector& r) {
    const double xi = static_cast<double>(W.rows()) / W.trace();
    const double scale = std::max(r.norm(), xi * b.norm());
    if (scale == 0) return true;
    auto evaluate = [&](const BlockVector& at) {
        const BlockVector u = W * at + b;
        return fischer ? fischer_burmeister_derivatives(cone, u, at, xi, law)
                       : alart_curnier_derivatives(cone, u, at, xi);
    };
    BlockVector best = r;
    double best_error = infinity;
    for (int k = 0; k < 100; ++k) {
        const Complementarity F = evaluate(r);
        const double error = F.value.norm() / scale;
        if (!std::isfinite(error)) break;
        if (error < best_error) {
            best_error = error;
            best = r;
        }
        if (error <= 1e-15) break;
        const BlockMatrix J = F.by_r + F.by_u * W;
        const Eigen::FullPivLU<BlockMatrix> lu(J);
        BlockVector step =
            lu.isInvertible() ? BlockVector(-lu.solve(F.value)) : BlockVector(-J.transpose() * F.value);
        const BlockVector gradient = J.transpose() * F.value;
        if (damping == Damping::optimistic && step.dot(gradient) > -1e-2 * step.norm() * gradient.norm())
            step *= 0.5;
        if (damping == Damping::line_search) {
            double t = 1;
            while (t > 1e-6 &&
                   !(evaluate(r + t * step).value.squaredNorm() <= (1 - 1e-4 * t) * F.value.squaredNorm()))
                t *= 0.5;
            step *= t;
        }
        r += step;
    }
    r = best;
    return best_error <= 1e-12;
}

/// A wrench in forces alone: torques are divided by the length that makes their part of W as large as that of the
/// forces.
bool solve_wrench(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law, BlockVector& r) {
    double force = 0, torque = 0;
    for (int c = 0; c < cone.dim; ++c) (is_torque(cone, c) ? torque : force) += W(c, c);
    const int torques = cone.dim == 3 ? 1 : cone.dim - 3;
    const double length = std::sqrt(force / (cone.dim - torques) / (torque / torques));
    BlockVector scale = BlockVector::Ones(cone.dim);
    scale.tail(torques).setConstant(length);
    Cone scaled = with_torques_scaled(cone, length);
    r.array() /= scale.array();
    const BlockMatrix Ws = scale.asDiagonal() * W * scale.asDiagonal();
    const BlockVector bs = b.array() * scale.array();
    const bool good = solve_general(scaled, Ws, bs, law, r) <= acceptable;
    r.array() *= scale.array();
    return good;
}

bool solve_hybrid(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law, BlockVector& r) {
    if (cone.kind == ConeKind::wrench) return solve_wrench(cone, W, b, law, r);
    if (cone.kind == ConeKind::second_order && cone.dilatancy_by(law) == 0 && cone.mu() > 0 &&
        !std::isinf(cone.mu())) {
        const BlockVector start = r;
        const double alpha = solve_sliding_quartic(cone.mu(), W, b, r);
        const double error = local_error(cone, W, b, r, law);
        // An impulse lost in the rounding of b is none: kept, it would be all error and no signal.
        if (r.norm() < 1e-10 * b.norm() / W.trace() && obeyed_at_rest(cone, W, b, law)) {
            r.setZero();
            return true;
        }
        if (error <= accurate) return true;
        ActiveSet active;
        active.pressed[0] = alpha > 0;
        BlockVector polished = r;
        if (std::isfinite(error) && polish(cone, W, b, law, active, polished) <= accurate) {
            r = polished;
            return true;
        }
        r = start;
    }
    return solve_general(cone, W, b, law, r) <= acceptable;
}

bool solve_frictionless(const BlockMatrix& W, const BlockVector& b, const LocalOptions& options,
                        BlockVector& r) {
    const double w = W(0, 0), p = r[0];
    const double u = w * p + b[0];
    switch (options.solver) {
        case LocalSolver::sal:
        case LocalSolver::sbp:
            r.setZero();
            r[0] = std::max(0.0, p - options.step / w * u);
            return true;
        case LocalSolver::pdas:
            r.setZero();
            r[0] = p - u / w >= 0 ? p - u / w : 0.0;
            return true;
        default: {
            double x = p;
            for (int k = 0; k < 10; ++k) {  // generalised Newton: exact after one step, the second confirms
                const double next = x - (w * x + b[0]) / w > 0 ? -b[0] / w : 0.0;
                if (next == x) break;
                x = next;
            }
            r.setZero();
            r[0] = x;
            return true;
        }
    }
}

}  // namespace

double solve_sliding_quartic(double mu, const BlockMatrix& W, const BlockVector& b, BlockVector& r) {
    r.resize(b.size());
    switch (b.size()) {
        case 2:
            return sliding_quartic<1>(mu, W, b, r);
        case 3:
            return sliding_quartic<2>(mu, W, b, r);
        case 4:
            return sliding_quartic<3>(mu, W, b, r);
        case 5:
            return sliding_quartic<4>(mu, W, b, r);
        default:
            return sliding_quartic<5>(mu, W, b, r);
    }
}

bool solve_local(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law,
                 const LocalOptions& options, BlockVector& r) {
    if (cone.kind == ConeKind::free) {
        r = -W.ldlt().solve(b);
        return r.allFinite();
    }
    if (cone.kind == ConeKind::interval) {
        r[0] = -b[0] / W(0, 0);
        project(cone, {r.data(), 1});
        return true;
    }
    const bool has_jordan_product = cone.kind == ConeKind::second_order || cone.kind == ConeKind::ray;
    switch (options.solver) {
        case LocalSolver::hybrid:
            return solve_hybrid(cone, W, b, law, r);
        case LocalSolver::fischer_burmeister:
            if (!has_jordan_product) return solve_hybrid(cone, W, b, law, r);
            return newton(cone, W, b, law, true, Damping::optimistic, r);
        case LocalSolver::alart_curnier:
            if (cone.dilatancy > 0) return solve_hybrid(cone, W, b, law, r);
            return newton(cone, W, b, law, false, Damping::none, r);
        case LocalSolver::damped_alart_curnier:
            if (cone.dilatancy > 0) return solve_hybrid(cone, W, b, law, r);
            return newton(cone, W, b, law, false, Damping::line_search, r);
        default:
            return solve_frictionless(W, b, options, r);
    }
}

}  // namespace drystone
