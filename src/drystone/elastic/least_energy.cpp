#include "drystone/elastic/least_energy.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/elastic/elastic_network.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace drystone {

namespace {

/// Hertz: contacts with less than this fraction of the mean force are springs of the compliance they would have there.
constexpr double least_hertz_force = 1e-4;

/// C_i = k^(-2/3) f^(-1/3), the secant of Hertz' law; other rows of a contact in the given ratio to it.
Vector hertz_compliance(const ConeProblem& p, const Delassus& W, const Vector& given, const Vector& f) {
    const double contacts =
        W.sum([&](Index i) { return p.cones[i].has_axis() && f[p.offset[i]] > 0 ? 1.0 : 0.0; });
    const double total =
        W.sum([&](Index i) { return p.cones[i].has_axis() ? std::max(0.0, f[p.offset[i]]) : 0.0; });
    const double least = total > 0 ? least_hertz_force * total / contacts : 1.0;
    Vector C = given;
    parallel_for(W.threads(), p.blocks(), [&](Index i) {
        if (!p.cones[i].has_axis()) return;
        const Index first = p.offset[i];
        C[first] = std::cbrt(given[first] * given[first] / std::max(f[first], least));
        for (int c = 1; c < p.cones[i].dim; ++c) C[first + c] = given[first + c] * C[first];
    });
    return C;
}

/// Of a block, in the problem itself.
Index rows_that_yield(const ConeProblem& p, Index i) {
    if (p.compliance.size() == 0) return 0;
    return (p.compliance.segment(p.offset[i], p.cones[i].dim).array() > 0).count();
}

std::optional<std::string> fault_of(const ConeProblem& p, const Elasticity& e, const ConeSolution& s) {
    if (e.compliance.size() != p.rows()) {
        return "compliance has " + std::to_string(e.compliance.size()) +
               " numbers; give one for each of the " + std::to_string(p.rows()) + " rows";
    }
    if (s.r.size() != p.rows() || s.u.size() != p.rows() || !s.r.allFinite() || !s.u.allFinite())
        return "the solution to start from has no finite r and u of the problem's size; solve it first";
    for (Index i = 0; i < p.blocks(); ++i) {
        const Index given = rows_that_yield(p, i);
        if (given > 0 && given < p.cones[i].dim) {
            return "block " + std::to_string(i) + " yields in some of its rows (" + std::to_string(given) +
                   " of " + std::to_string(int(p.cones[i].dim)) +
                   "), so that part of its impulse is unique and part is not; give the problem compliance in "
                   "all rows of a block or in none";
        }
        const double* C = e.compliance.data() + p.offset[i];
        for (int c = 0; c < p.cones[i].dim; ++c) {
            if (!(C[c] > 0) || !std::isfinite(C[c])) {
                return "compliance of row " + std::to_string(c) + " of block " + std::to_string(i) + " is " +
                       std::to_string(C[c]) + "; use a positive number";
            }
        }
        for (const ConeGroup& g : groups_of(p.cones[i])) {
            for (int c = g.start + 1; c < g.start + g.size; ++c) {
                if (C[c] != C[g.start]) {
                    return "compliance differs in rows " + std::to_string(g.start) + " and " +
                           std::to_string(c) + " of block " + std::to_string(i) +
                           "; friction is isotropic, use one number for both";
                }
            }
        }
    }
    return std::nullopt;
}

}  // namespace

SolveReport least_energy(const Delassus& W, Law law, const Elasticity& elasticity,
                         const LeastEnergyOptions& options, ConeSolution& solution, Vector* warm_q) {
    const Timer timer;
    const ConeProblem& p = W.problem();
    SolveReport report;
    report.solver = "least_energy";
    // A sum, so that all ranks come to the same end.
    if (W.sum([&](Index i) { return rows_that_yield(p, i) < p.cones[i].dim ? 1.0 : 0.0; }) == 0) {
        report.status = Status::solved;
        report.message = "all blocks have compliance of their own, so their impulses are unique already";
        return report;
    }
    if (auto fault = fault_of(p, elasticity, solution)) {
        report.message = std::move(*fault);
        return report;
    }
    ElasticNetwork network(W, law, options, solution);
    const bool coulomb = options.slip == Law::coulomb, passes = elasticity.hertz || coulomb;
    Vector f = network.load(), opened;
    network.set_springs(elasticity.hertz ? hertz_compliance(p, W, elasticity.compliance, f)
                                         : elasticity.compliance);
    if (warm_q != nullptr && W.whitened() && warm_q->size() == p.dofs() && warm_q->allFinite())
        network.start_from(*warm_q);
    double change = 1;
    int pass = 0;
    for (;; ++pass) {
        // A pass need not be more exact than the next one changes things; the last ones are ten times better than what
        // is asked, where that costs Newton steps and not thousands of sweeps.
        const double last = options.tolerance < 1e-4 ? 0.1 * options.tolerance : options.tolerance;
        const double inner = passes ? std::max(last, std::min(1e-2, 0.03 * change)) : options.tolerance;
        report.status = network.balance(inner, timer, report.history);
        if (!passes || report.status != Status::solved) break;
        const double size = network.elastic_norm(network.forces());
        change = size > 0 ? network.elastic_norm(network.forces() - f) / size : 0.0;
        f = network.forces();
        if (pass > 0 && change <= 10 * options.tolerance && network.last_residual() <= options.tolerance)
            break;
        if (pass + 1 >= options.max_outer) {
            report.status = Status::iteration_limit;
            break;
        }
        if (elasticity.hertz) network.set_springs(hertz_compliance(p, W, elasticity.compliance, f));
        if (coulomb) network.set_opening(network.slip_shifts());
    }
    // Forces that do not balance are worse than forces that are not unique.
    if (report.status == Status::solved || network.last_residual() <= 10 * options.tolerance)
        solution.r = network.forces();
    if (warm_q != nullptr && W.whitened()) *warm_q = network.displacement();
    report.iterations = network.sweeps() + network.newton_steps();
    report.residual.momentum = network.last_residual();
    report.residual.law = law_residual(W, solution.r, solution.u, law);
    report.residual.value = std::max(report.residual.momentum, report.residual.law.value());
    report.message = std::to_string(network.sweeps()) + " sweeps, " + std::to_string(network.newton_steps()) +
                     " Newton steps, " + std::to_string(network.conjugate_steps()) +
                     " conjugate gradient steps";
    if (passes) {
        report.message += ", " + std::to_string(pass + 1) + " passes";
        if (report.status == Status::iteration_limit && pass + 1 >= options.max_outer)
            report.message += "; forces still change by " + std::to_string(change) + " per pass";
    }
    if (report.status != Status::solved)
        report.message +=
            "; forces that are not balanced to ten times the tolerance are not handed out, r stays";
    report.seconds = timer.seconds();
    return report;
}

}  // namespace drystone
