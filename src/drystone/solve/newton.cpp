#include "drystone/solve/newton.hpp"

#include "drystone/solve/gauss_seidel.hpp"
#include "drystone/solve/monitor.hpp"
#include "drystone/solve/shifted_system.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// The equation at one outer step, its derivatives and its linear solve.
class ProximalEquation {
public:
    explicit ProximalEquation(const Delassus& W)
        : W_(W),
          p_(W.problem()),
          A_inverse_(p_),
          D_(p_),
          factor_(Symmetry::general, W.arithmetic()),
          w_(p_.rows()) {
        for (Index i = 0; i < p_.blocks(); ++i) {
            const BlockMatrix diagonal = W.diagonal(i);
            const double floor = 1e-12 * W.inverse_mass(i);
            for (int c = 0; c < p_.cones[i].dim; ++c) w_[p_.offset[i] + c] = std::max(diagonal(c, c), floor);
            // One step per group: a disc stays a disc.
            for (const ConeGroup& g : groups_of(p_.cones[i])) {
                auto part = w_.segment(p_.offset[i] + g.start, g.size);
                part.setConstant(part.mean());
            }
        }
    }

    /// F(r) and the merit sqrt(sum stiffness |F|^2).
    double evaluate(const Vector& r, const Vector& anchor, double delta, Vector& F) {
        W_.velocity(r, u_);
        F.resize(p_.rows());
        return std::sqrt(W_.sum([&](Index i) {
            const Index at = p_.offset[i];
            const int d = p_.cones[i].dim;
            BlockVector x(d);
            for (int c = 0; c < d; ++c) x[c] = argument(at + c, r, anchor, delta);
            F.segment(at, d) = r.segment(at, d) - image(p_.cones[i], x);
            return W_.inverse_mass(i) * F.segment(at, d).squaredNorm();
        }));
    }

    /// Newton's step at r, where evaluate() was called last. False if the matrix is singular.
    bool step(const Vector& r, const Vector& anchor, double delta, const Vector& F, Vector& dr) {
        Vector rhs(p_.rows());
        for (Index i = 0; i < p_.blocks(); ++i) {
            const Index at = p_.offset[i];
            const int d = p_.cones[i].dim;
            BlockVector x(d);
            for (int c = 0; c < d; ++c) x[c] = argument(at + c, r, anchor, delta);
            const BlockMatrix S = derivative(p_.cones[i], x);
            BlockMatrix A = BlockMatrix::Identity(d, d) - (1 - delta) * S;
            BlockMatrix G = S;
            for (int c = 0; c < d; ++c) G.col(c) /= w_[at + c];
            if (W_.compliant() && W_.whitened()) {  // the part G C of G W stays in the block
                A += G * p_.compliance.segment(at, d).asDiagonal();
            }
            const Eigen::FullPivLU<BlockMatrix> lu(A);
            A_inverse_.block(i) = lu.inverse();
            D_.block(i) = lu.solve(G);
            rhs.segment(at, d) = -(A_inverse_.block(i) * F.segment(at, d));
        }
        return W_.whitened() ? step_by_bodies(rhs, dr) : step_by_blocks(rhs, dr);
    }

private:
    [[nodiscard]] double argument(Index c, const Vector& r, const Vector& anchor, double delta) const {
        return r[c] - u_[c] / w_[c] - delta * (r[c] - anchor[c]);
    }

    static BlockVector image(const Cone& cone, const BlockVector& x) {
        if (cone.kind == ConeKind::free) return x;
        BlockVector s = x;
        if (cone.kind == ConeKind::interval) {
            project(cone, {s.data(), 1});
            return s;
        }
        s[0] = std::max(0.0, x[0]);
        for (const ConeGroup& g : groups_of(cone)) {
            if (std::isinf(g.mu)) continue;
            const double radius = g.offset + g.mu * s[0], length = x.segment(g.start, g.size).norm();
            if (length > radius) s.segment(g.start, g.size) *= radius / length;
        }
        return s;
    }

    static BlockMatrix derivative(const Cone& cone, const BlockVector& x) {
        const auto d = x.size();
        BlockMatrix S = BlockMatrix::Identity(d, d);
        if (cone.kind == ConeKind::free) return S;
        if (cone.kind == ConeKind::interval) {
            S(0, 0) = x[0] > cone.coefficient[0] && x[0] < cone.coefficient[1] ? 1 : 0;
            return S;
        }
        const double pressed = x[0] > 0 ? 1 : 0;
        S(0, 0) = pressed;
        for (const ConeGroup& g : groups_of(cone)) {
            if (std::isinf(g.mu)) continue;
            const double radius = g.offset + g.mu * std::max(0.0, x[0]),
                         length = x.segment(g.start, g.size).norm();
            if (length <= radius) continue;
            const BlockVector e = x.segment(g.start, g.size) / length;
            S.block(g.start, g.start, g.size, g.size) =
                (radius / length) * (BlockMatrix::Identity(g.size, g.size) - e * e.transpose());
            S.col(0).segment(g.start, g.size) = pressed * g.mu * e;
        }
        return S;
    }

    /// Separate bodies: (1 + Hw^T D Hw) q = Hw^T rhs, dr = rhs - D Hw q; compliance is in D and rhs.
    bool step_by_bodies(const Vector& rhs, Vector& dr) {
        const BlockRows& white = W_.dense_rows();
        triplets_.clear();
        for (Index j = 0; j < p_.dofs(); ++j) triplets_.emplace_back(j, j, 1.0);
        for (Index i = 0; i < p_.blocks(); ++i) {
            for_each_entry(p_, white, i, [&](Index, auto one, const BodyRowsOf& A) {
                for_each_entry(p_, white, i, [&](Index, auto other, const BodyRowsOf& B) {
                    const BlockMatrix block = A.transpose() * D_.block(i) * B;
                    for (int a = 0; a < one.dim; ++a) {
                        for (int c = 0; c < other.dim; ++c)
                            triplets_.emplace_back(one.first + a, other.first + c, block(a, c));
                    }
                });
            });
        }
        system_.resize(p_.dofs(), p_.dofs());
        system_.setFromTriplets(triplets_.begin(), triplets_.end());
        if (!factor_.factorise(system_)) return false;
        Vector q, velocity;
        W_.gather(rhs, q);
        factor_.solve(q);
        W_.spread(q, velocity);
        dr = rhs;
        for (Index i = 0; i < p_.blocks(); ++i) {
            dr.segment(p_.offset[i], p_.cones[i].dim) -=
                D_.block(i) * velocity.segment(p_.offset[i], p_.cones[i].dim);
        }
        return dr.allFinite();
    }

    /// A mass that couples bodies: (1 + D W) dr = rhs.
    bool step_by_blocks(const Vector& rhs, Vector& dr) {
        const BlockSparse& W = W_.matrix();
        triplets_.clear();
        for (Index j = 0; j < p_.rows(); ++j) triplets_.emplace_back(j, j, 1.0);
        for (Index i = 0; i < p_.blocks(); ++i) {
            const int d = p_.cones[i].dim;
            for (Index k = W.start[i]; k < W.start[i + 1]; ++k) {
                const Index j = W.column[k];
                const int e = p_.cones[j].dim;
                const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>
                    block(W.value.data() + W.value_start[k], d, e);
                const BlockMatrix product = D_.block(i) * block;
                for (int a = 0; a < d; ++a) {
                    for (int c = 0; c < e; ++c)
                        triplets_.emplace_back(p_.offset[i] + a, p_.offset[j] + c, product(a, c));
                }
            }
        }
        system_.resize(p_.rows(), p_.rows());
        system_.setFromTriplets(triplets_.begin(), triplets_.end());
        if (!factor_.factorise(system_)) return false;
        dr = rhs;
        factor_.solve(dr);
        return dr.allFinite();
    }

    const Delassus& W_;
    const ConeProblem& p_;
    BlockDiagonal A_inverse_, D_;
    Factor factor_;
    Vector w_, u_;
    std::vector<Eigen::Triplet<double>> triplets_;
    SparseMatrix system_;
};

}  // namespace

SolveReport newton(const Delassus& W, Law law, const NewtonOptions& options, const Goal& goal, Vector& r) {
    Monitor monitor(W, law, goal, options.max_iterations, options.max_iterations);
    Vector u;
    W.velocity(r, u);
    if (monitor.check(0, r, u)) return monitor.finish("newton", r);
    if (law != Law::coulomb) {
        monitor.stop(Status::invalid,
                     "Newton is for the exact law; use the interior point for the associated one");
        return monitor.finish("newton", r);
    }
    if (W.problem().dilates()) {
        monitor.stop(Status::invalid,
                     "Newton is for blocks without dilatancy; use sweeps or Cadoux's fixed point");
        return monitor.finish("newton", r);
    }
    GaussSeidelOptions sweeps;
    Goal warm_goal;
    warm_goal.tolerance = goal.tolerance;
    warm_goal.measure = goal.measure;
    warm_goal.time_limit = 0.5 * goal.time_limit;
    if (options.warm_up_momentum > 0) {
        sweeps.acceleration = Acceleration::momentum;
        sweeps.max_iterations = options.warm_up_momentum;
        gauss_seidel(W, law, sweeps, warm_goal, r);
    }
    sweeps.acceleration = Acceleration::none;
    run_sweeps(W, law, sweeps, options.warm_up_plain, r);
    W.velocity(r, u);

    ProximalEquation equation(W);
    Vector anchor, F, trial, trial_F, dr;
    double delta = options.proximal;
    double milestone = INFINITY;
    int milestone_at = 0;
    for (int factorisations = 0; !monitor.check(factorisations, r, u);) {
        if (monitor.best_residual() < 0.5 * milestone) {
            milestone = monitor.best_residual();
            milestone_at = factorisations;
        } else if (factorisations - milestone_at > options.patience) {
            monitor.stop(Status::stalled, "Newton steps no longer lower the residual");
            break;
        }
        anchor = r;
        const double initial = equation.evaluate(r, anchor, delta, F);
        double merit = initial;
        int inner = 0;
        bool success = false;
        for (; inner < 8 && factorisations < options.max_iterations && monitor.seconds() < goal.time_limit;
             ++inner) {
            ++factorisations;
            if (!equation.step(r, anchor, delta, F, dr)) break;
            double t = 1, trial_merit = INFINITY;
            for (int halving = 0; halving < 8; ++halving, t *= 0.5) {
                trial = r + t * dr;
                trial_merit = equation.evaluate(trial, anchor, delta, trial_F);
                if (trial_merit <= (1 - 1e-3 * t) * merit) break;
            }
            if (!(trial_merit < merit)) break;
            r.swap(trial);
            F.swap(trial_F);
            merit = trial_merit;
            equation.evaluate(r, anchor, delta, F);
            if (merit < 0.1 * initial) {
                success = true;
                ++inner;
                break;
            }
            if (t < 0.03) break;
        }
        if (success) {
            if (inner <= 3) delta = std::max(options.least_proximal, 0.5 * delta);
            if (inner >= 6) delta *= 1.2;
        } else if (merit > 0.5 * initial) {
            r = anchor;
            delta = std::min(1.0, 4 * delta);
        } else {
            delta = std::min(1.0, 2 * delta);
        }
        run_sweeps(W, law, sweeps, options.sweeps_between, r);
        W.velocity(r, u);
    }
    return monitor.finish("newton", r);
}

}  // namespace drystone
