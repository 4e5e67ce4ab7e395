#include "drystone/solve/guarded.hpp"

#include <algorithm>

namespace drystone {

namespace {

double shift_at(const ConeProblem& p, Index i, const Vector& u) {
    return shift(p.cones[i], std::span(u.data() + p.offset[i], p.cones[i].dim));
}

}  // namespace

Vector guarded_shift(const Delassus& W, const Vector& r) {
    const ConeProblem& p = W.problem();
    Vector u, s(p.blocks());
    W.velocity(r, u);
    for (Index i = 0; i < p.blocks(); ++i) s[i] = shift_at(p, i, u);
    return p.shift_before.size() == s.size() ? Vector(s.cwiseMin(p.shift_before)) : s;
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
