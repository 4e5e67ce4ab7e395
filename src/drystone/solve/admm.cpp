#include "drystone/solve/admm.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/solve/infeasible.hpp"
#include "drystone/solve/monitor.hpp"
#include "drystone/solve/scaled_dual.hpp"
#include "drystone/solve/shifted_system.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// The step in y, told by x = Hw y alone, so that masses that couple bodies need no y. In scaled variables, with the
/// system (Q + 1/gamma) q = t / gamma:   Hw y = (t - q) / gamma,   t = r - gamma (c - u).
class VelocityStep {
public:
    explicit VelocityStep(const ScaledDual& dual)
        : dual_(dual), system_(dual.operator_of()), right_(dual.c().size()), q_(dual.c().size()) {}

    bool set_penalty(double gamma) {
        const ConeProblem& p = dual_.operator_of().problem();
        gamma_ = gamma;
        for (Index i = 0; i < p.blocks(); ++i) {
            auto F = system_.F.block(i);
            F.setZero();
            for (int c = 0; c < p.cones[i].dim; ++c)
                F(c, c) = std::sqrt(gamma) / dual_.scale()[p.offset[i] + c];
        }
        return system_.factorise();
    }

    /// x = Hw y in scaled variables.
    void operator()(const Vector& t, Vector& x) {
        right_ = t.cwiseProduct(dual_.scale()) / gamma_;
        system_.solve(right_, q_, 1e-11, 3);
        x = (t - q_.cwiseProduct(dual_.scale())) / gamma_;
    }

private:
    const ScaledDual& dual_;
    ShiftedSystem system_;
    double gamma_ = 1;
    Vector right_, q_;
};

}  // namespace

SolveReport admm(const Delassus& W, Law law, const AdmmOptions& o, const Goal& goal, Vector& r) {
    Monitor monitor(W, law, goal, o.max_iterations);
    const ScaledDual dual(W, true);
    const Eigen::Index n = r.size();
    Vector lambda(n), q(n), u(n), t(n), x(n), g(n), next(n), u_next(n), d(n), velocity(n), impulses(n);
    dual.to_scaled(r, lambda);
    dual.project(lambda);
    dual.apply(lambda, q);
    u = q + dual.c();  // of the warm start; projected implicitly by the first step
    dual.from_scaled(lambda, impulses);
    dual.velocity(q, velocity);
    if (monitor.check(0, impulses, velocity)) return monitor.finish("admm", r);
    InfeasibilityWatch infeasibility(W, law);
    VelocityStep step(dual);
    double gamma = o.penalty;
    if (!step.set_penalty(gamma)) {
        monitor.stop(Status::diverged, "the linear system could not be factorised");
        return monitor.finish("admm", r);
    }
    int balance_at = o.balance_every, wait = o.balance_every;
    for (int iteration = 1;; ++iteration) {
        t = lambda + gamma * (u - dual.c());
        step(t, x);
        // Over-relaxation mixes the new Hw y + c with the old u.
        x = o.relaxation * (x + dual.c()) + (1 - o.relaxation) * u;
        // What must lie in K* under the exact law is the velocity plus its shift, taken from the newest x; u is kept
        // without it.
        q = x - dual.c();
        dual.gradient(q, law, g);  // x + s(x) n
        next = lambda - gamma * g;
        dual.project(next);
        u_next = x + (next - lambda) / gamma;
        // Primal residual: Hw y + c - u = (lambda - lambda') / gamma; dual residual: gamma Hw^T (u' - u), here measured
        // by Gamma.
        d = next - lambda;
        const double primal = std::sqrt(W.dot(d, d)) / std::sqrt(gamma);
        d = u_next - u;
        const double dual_change = std::sqrt(W.dot(d, d)) * std::sqrt(gamma);
        lambda.swap(next);
        u.swap(u_next);
        if (iteration % std::max(1, o.check_every) == 0) {
            dual.apply(lambda, q);
            dual.from_scaled(lambda, impulses);
            dual.velocity(q, velocity);
            if (infeasibility.look(impulses)) {
                monitor.check(iteration, impulses, velocity);
                monitor.stop(Status::infeasible, describe_infeasibility(W, infeasibility.certificate()));
                break;
            }
            if (monitor.check(iteration, impulses, velocity)) break;
        }
        if (iteration == balance_at) {
            const double ratio = primal / std::max(dual_change, std::numeric_limits<double>::min());
            if (ratio > o.imbalance || ratio < 1 / o.imbalance) {
                gamma *= std::clamp(std::sqrt(ratio), 0.1, 10.0);
                gamma = std::clamp(gamma, 1e-6, 1e8);
                if (!step.set_penalty(gamma)) {
                    monitor.stop(Status::stalled, "the linear system could not be factorised");
                    break;
                }
                wait *= 2;
            }
            balance_at = iteration + wait;
        }
    }
    return monitor.finish("admm", r);
}

}  // namespace drystone
