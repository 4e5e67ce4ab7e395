#include "drystone/solve/projected_gradient.hpp"

#include "drystone/solve/infeasible.hpp"
#include "drystone/solve/monitor.hpp"
#include "drystone/solve/scaled_dual.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// Nesterov's sequence: theta and the factor beta of the momentum.
struct Momentum {
    double theta = 1;
    double next() {
        const double square = theta * theta;
        const double following = 0.5 * (theta * std::sqrt(square + 4) - square);
        const double beta = theta * (1 - theta) / (square + following);
        theta = following;
        return beta;
    }
    void restart() { theta = 1; }
};

/// What all variants share: the watch over residual, paper's stop and infeasibility.
class Watch {
public:
    Watch(const ScaledDual& dual, Law law, const ProjectedGradientOptions& options, Monitor& monitor)
        : dual_(dual),
          options_(options),
          monitor_(monitor),
          infeasibility_(dual.operator_of(), law),
          r_(dual.c().size()),
          u_(dual.c().size()) {}

    /// Looks at x with q = Q x; true if the iteration must end. The first and every check_every-th are shown to the
    /// monitor.
    bool look(int iteration, const Vector& x, const Vector& q) {
        if (iteration % std::max(1, options_.check_every) != 0) return false;
        return show(iteration, x, q);
    }

    /// The paper's stopping test, in the variables of the iteration.
    bool paper_stop(int iteration, const Vector& x_old, const Vector& x, const Vector& q) {
        if (options_.paper_stop <= 0) return false;
        const Delassus& W = dual_.operator_of();
        u_ = x - x_old;
        const double step = std::sqrt(W.dot(u_, u_)), size = std::sqrt(W.dot(x_old, x_old));
        if (!(step / (size + 1) <= options_.paper_stop)) return false;
        if (!show(iteration, x, q))
            monitor_.stop(Status::stalled, "ended by the stopping test of the paper, which is no residual");
        return true;
    }

private:
    bool show(int iteration, const Vector& x, const Vector& q) {
        dual_.from_scaled(x, r_);
        dual_.velocity(q, u_);
        // Impulses that grow without end make every residual relative to them small: look for a proof first.
        if (infeasibility_.look(r_)) {
            monitor_.check(iteration, r_, u_);
            monitor_.stop(Status::infeasible,
                          describe_infeasibility(dual_.operator_of(), infeasibility_.certificate()));
            return true;
        }
        return monitor_.check(iteration, r_, u_);
    }

    const ScaledDual& dual_;
    const ProjectedGradientOptions& options_;
    Monitor& monitor_;
    InfeasibilityWatch infeasibility_;
    Vector r_, u_;
};

/// PGD and the APGD family. Q y is never computed: y is a combination of two iterates whose products are known, so one
/// product per iteration gives the gradient, the line search and the residual.
void accelerated(const ScaledDual& dual, Law law, const ProjectedGradientOptions& o, double step,
                 Watch& watch, Vector& x) {
    const Delassus& W = dual.operator_of();
    const bool momentum = o.variant != GradientVariant::pgd;
    const bool adapt = o.variant == GradientVariant::apgd_as || o.variant == GradientVariant::apgd_asr;
    const bool restart = o.variant == GradientVariant::apgd_ar || o.variant == GradientVariant::apgd_asr;
    const Eigen::Index n = x.size();
    Vector q(n), y(n), qy(n), g(n), x_new(n), q_new(n), d(n);
    dual.project(x);
    dual.apply(x, q);
    y = x;
    qy = q;
    double lipschitz = 1 / step;
    Momentum nesterov;
    if (watch.look(0, x, q)) return;
    for (int iteration = 1;; ++iteration) {
        dual.gradient(qy, law, g);
        if (adapt && iteration > 1)
            lipschitz *= o.lipschitz_decay;  // the first step is the one that was asked for
        for (int trial = 0;; ++trial) {
            x_new = y - g / lipschitz;
            dual.project(x_new);
            dual.apply(x_new, q_new);
            if (!adapt || trial == 60) break;
            // f(x') <= f(y) + grad f(y).(x' - y) + L/2 |x' - y|^2; of the quadratic f only (x' - y).Q (x' - y) / 2 is
            // left.
            d = x_new - y;
            const double square = W.dot(d, d);
            qy.swap(q_new);  // q_new - qy without a further vector
            const double curvature = W.dot(d, qy) - W.dot(d, q_new);
            qy.swap(q_new);
            if (curvature <= lipschitz * square) break;
            lipschitz *= 2;
        }
        d = x_new - x;
        const bool uphill = restart && W.dot(g, d) > 0;
        if (watch.paper_stop(iteration, x, x_new, q_new)) {
            x = x_new;
            return;
        }
        if (watch.look(iteration, x_new, q_new)) return;
        if (uphill) nesterov.restart();
        const double beta = momentum && !uphill ? nesterov.next() : 0.0;
        y = x_new + beta * (x_new - x);
        qy = q_new + beta * (q_new - q);
        x.swap(x_new);
        q.swap(q_new);
    }
}

/// ASPG: x carries the momentum and may leave the cones slightly; hat is feasible. Its residual is looked at where it
/// stands.
void spectral(const ScaledDual& dual, Law law, const ProjectedGradientOptions& o, double step, Watch& watch,
              Vector& x) {
    const Delassus& W = dual.operator_of();
    const Eigen::Index n = x.size();
    Vector q(n), g(n), hat(n), hat_new(n), x_new(n), q_new(n), d(n), dg(n);
    dual.project(x);
    dual.apply(x, q);
    hat = x;
    double xi = step;
    Momentum nesterov;
    if (watch.look(0, x, q)) return;
    dual.gradient(q, law, g);
    for (int iteration = 1;; ++iteration) {
        hat_new = x - xi * g;
        dual.project(hat_new);
        d = hat_new - hat;
        if (W.dot(d, g) < 0) {
            const double beta = nesterov.next();
            x_new = hat_new + beta * d;
        } else {
            nesterov.restart();
            x_new = hat_new;
        }
        dual.apply(x_new, q_new);
        if (watch.paper_stop(iteration, x, x_new, q_new)) {
            x = x_new;
            return;
        }
        if (watch.look(iteration, x_new, q_new)) return;
        // Barzilai-Borwein from the changes of x and of u = Q x (without the shift, which is not smooth).
        d = x_new - x;
        dg = q_new - q;
        const double square = W.dot(dg, dg), product = W.dot(d, dg);
        if (square > 0 && product > 0)
            xi = std::clamp(product / square, o.smallest_step * step, o.largest_step * step);
        x.swap(x_new);
        q.swap(q_new);
        hat.swap(hat_new);
        dual.gradient(q, law, g);
    }
}

}  // namespace

const char* name_of(GradientVariant variant) {
    switch (variant) {
        case GradientVariant::pgd:
            return "pgd";
        case GradientVariant::apgd:
            return "apgd";
        case GradientVariant::apgd_as:
            return "apgd_as";
        case GradientVariant::apgd_ar:
            return "apgd_ar";
        case GradientVariant::apgd_asr:
            return "apgd_asr";
        case GradientVariant::aspg:
            return "aspg";
    }
    return "unknown";
}

SolveReport projected_gradient(const Delassus& W, Law law, const ProjectedGradientOptions& options,
                               const Goal& goal, Vector& r) {
    Monitor monitor(W, law, goal, options.max_iterations, options.patience);
    const ScaledDual dual(W, options.scaled);
    // The power iteration finds the largest eigenvalue from below; a tenth more keeps the fixed step on the safe side.
    const double step = options.step > 0 ? options.step : 1 / (1.1 * dual.largest_eigenvalue());
    Watch watch(dual, law, options, monitor);
    Vector x;
    dual.to_scaled(r, x);
    if (options.variant == GradientVariant::aspg) {
        spectral(dual, law, options, step, watch, x);
    } else {
        accelerated(dual, law, options, step, watch, x);
    }
    return monitor.finish(name_of(options.variant), r);
}

}  // namespace drystone
