#include "drystone/solve/guarded.hpp"

#include "drystone/cone/judge.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

double shift_at(const ConeProblem& p, Index i, const Vector& u) {
    return shift(p.cones[i], std::span(u.data() + p.offset[i], p.cones[i].dim));
}

bool is_bonded(const ConeProblem& p, Index i) { return p.pull.size() > 0 && p.pull[i] > 0; }

}  // namespace

Vector guarded_shift(const Delassus& W, const Vector& r) {
    const ConeProblem& p = W.problem();
    Vector s;
    s.resize(p.blocks(), W.rooms());
    ScratchVector u(W.rooms(), p.rows());
    W.velocity(r, u);
    for (Index i = 0; i < p.blocks(); ++i) s[i] = shift_at(p, i, u);
    // A bond that begins to slide would open by all of its shift, and be lost.
    if (p.shift_before.size() == s.size())
        for (Index i = 0; i < p.blocks(); ++i)
            if (!is_bonded(p, i)) s[i] = std::min(s[i], p.shift_before[i]);
    return s;
}

bool opens_bonds(const Delassus& W, const Vector& frozen, const Vector& r, double tolerance) {
    const ConeProblem& p = W.problem();
    if (W.largest(p.pull.size() > 0 ? 1 : 0) == 0) return false;
    ScratchVector u(W.rooms(), p.rows());
    W.velocity(r, u);
    double opens = 0;
    for (Index i = 0; i < p.blocks(); ++i) {
        if (!is_bonded(p, i) || r[p.offset[i]] <= 0) continue;
        double at_stake = 0;
        for (Index k = p.offset[i]; k < p.offset[i] + p.cones[i].dim; ++k)
            at_stake = std::max(at_stake, std::abs(W.b_without_pull(k)));
        if (shift_at(p, i, u) - frozen[i] > worst_allowance * tolerance * at_stake) opens = 1;
    }
    return W.largest(opens) > 0;
}

SolveReport::ShiftError shift_error(const Delassus& W, const ConeSolution& solution, double residual) {
    const ConeProblem& p = W.problem();
    SolveReport::ShiftError error;
    error.residual = residual;
    for (Index i = 0; i < p.blocks(); ++i) {
        if (!W.counts(i) || !p.cones[i].has_axis() || solution.r[p.offset[i]] <= 0) continue;
        const double more = shift_at(p, i, solution.u) - solution.shift[i];
        error.opening = std::max(error.opening, more);
        error.closing = std::max(error.closing, -more);
    }
    error.opening = W.largest(error.opening);
    error.closing = W.largest(error.closing);
    return error;
}

}  // namespace drystone
