#include "drystone/solve/fixed_point.hpp"

#include "drystone/solve/infeasible.hpp"
#include "drystone/solve/interior_point.hpp"
#include "drystone/solve/monitor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace drystone {

namespace {

/// The frozen shift of each block at velocity u.
void shift_of(const ConeProblem& p, const Vector& u, Vector& s) {
    for (Index i = 0; i < p.blocks(); ++i) {
        s[i] = shift(p.cones[i], std::span(u.data() + p.offset[i], p.cones[i].dim));
    }
}

/// True if the block's friction disc can be frozen: one group with a finite coefficient.
bool has_disc(const Cone& cone) {
    return (cone.kind == ConeKind::second_order || cone.kind == ConeKind::truncated) &&
           !std::isinf(cone.mu());
}

/// The radius of each friction disc at impulse r.
void radius_of(const ConeProblem& p, const Vector& r, Vector& s) {
    for (Index i = 0; i < p.blocks(); ++i) {
        const double offset = p.cones[i].kind == ConeKind::truncated ? p.cones[i].coefficient[1] : 0.0;
        s[i] = has_disc(p.cones[i]) ? offset + p.cones[i].mu() * std::max(0.0, r[p.offset[i]]) : 0.0;
    }
}

void freeze_discs(const Vector& radius, ConeProblem& p) {
    for (Index i = 0; i < p.blocks(); ++i) {
        if (has_disc(p.cones[i])) p.cones[i] = Cone::truncated(p.cones[i].dim, 0.0, radius[i]);
    }
}

/// Outer passes are few and dear: a dozen in a row that do not lower the best residual by a tenth will not lead
/// anywhere.
class Progress {
public:
    bool stalled(double residual) {
        if (residual < 0.9 * best_) {
            best_ = residual;
            idle_ = 0;
            return false;
        }
        return ++idle_ >= 12;
    }

private:
    double best_ = infinity;
    int idle_ = 0;
};

}  // namespace

SolveReport fixed_point(const Delassus& W, Law law, const FixedPointOptions& o, const ConvexSolver& inner,
                        const Goal& goal, Vector& r) {
    const ConeProblem& p = W.problem();
    const bool cadoux = o.map == FixedPointMap::cadoux;
    const char* name = cadoux ? "cadoux" : "haslinger";
    Monitor monitor(W, law, goal, std::numeric_limits<int>::max(), std::numeric_limits<int>::max());
    if (law != Law::coulomb) {
        monitor.stop(Status::invalid,
                     "the fixed point is for the exact law; the associated law needs one convex solve");
        return monitor.finish(name, r);
    }
    // Haslinger: the same matrices, other cones; their scales do not depend on the radius
    ConeProblem frozen;
    std::optional<Delassus> tresca;
    if (!cadoux) {
        for (Index i = 0; i < p.blocks(); ++i) {
            const bool wrench = p.cones[i].kind == ConeKind::wrench;
            if (wrench || dilates(p.cones[i])) {
                monitor.stop(
                    Status::invalid,
                    "Haslinger's fixed point knows one friction disc per block and no dilatancy; block " +
                        std::to_string(i) + (wrench ? " has rolling friction" : " dilates") +
                        ": use Cadoux's");
                return monitor.finish(name, r);
            }
        }
        frozen = p;
        tresca.emplace(frozen, W.threads(), W.exchange());
    }
    Vector u(p.rows()), s = Vector::Zero(p.blocks()), s_new = Vector::Zero(p.blocks());
    Progress progress;
    std::string last_inner;
    int iterations = 0;
    W.velocity(r, u);
    bool done = monitor.check(0, r, u);
    bool proof_tried = false;
    Vector certificate;
    // What the impulses of single contacts would be.
    double first_size = r.size() == 0 ? 0.0 : r.lpNorm<Eigen::Infinity>();
    for (Index i = 0; i < p.blocks(); ++i) {
        first_size =
            std::max(first_size, W.b().segment(p.offset[i], p.cones[i].dim).norm() / W.inverse_mass(i));
    }
    for (int outer = 1; !done; ++outer) {
        if (cadoux) {
            shift_of(p, u, s_new);
        } else {
            radius_of(p, r, s_new);
        }
        s = outer == 1 ? s_new : Vector((1 - o.relaxation) * s + o.relaxation * s_new);
        Goal inner_goal;
        inner_goal.measure = goal.measure;
        inner_goal.tolerance = std::clamp(o.inner_fraction * monitor.residual(),
                                          o.tightest_inner * goal.tolerance, o.loosest_inner);
        inner_goal.time_limit = goal.time_limit - monitor.seconds();
        if (!o.warm_start) r.setZero();
        SolveReport report;
        if (cadoux) {
            report = inner(W.with_frozen_shift(s), inner_goal, r);
        } else {
            freeze_discs(s, frozen);
            report = inner(*tresca, inner_goal, r);
        }
        iterations += std::max(1, report.iterations);
        last_inner = report.solver;
        W.velocity(r, u);
        // Impulses that grow without end make every residual relative to them small: "solved" must first stand this
        // test.
        const bool grown = r.lpNorm<Eigen::Infinity>() > 1e3 * first_size;
        if ((report.status == Status::infeasible || grown) && !proof_tried) {
            proof_tried = true;
            if (prove_infeasible(W, law, certificate)) {
                monitor.check(iterations, r, u);
                monitor.stop(Status::infeasible, describe_infeasibility(W, certificate));
                break;
            }
        }
        done = monitor.check(iterations, r, u);
        if (done) break;
        if (report.status == Status::infeasible) {
            // Of Tresca's problem or of the convex one with this shift; with others there may be room.
            monitor.stop(Status::stalled,
                         "a convex problem of the fixed point has no solution: " + report.message);
            done = true;
        } else if (report.status == Status::invalid || report.status == Status::diverged) {
            monitor.stop(report.status, "inner solve: " + report.message);
            done = true;
        } else if (progress.stalled(monitor.residual())) {
            monitor.stop(Status::stalled, "the fixed point cycles or creeps");
            done = true;
        } else if (outer >= o.max_outer) {
            monitor.stop(Status::iteration_limit, std::to_string(outer) + " passes of the fixed point");
            done = true;
        }
    }
    SolveReport report = monitor.finish(name, r);
    if (!last_inner.empty())
        report.message += std::string(report.message.empty() ? "" : "; ") + "inner solver " + last_inner;
    return report;
}

}  // namespace drystone
