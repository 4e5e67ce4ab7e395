// Blocks that have no visit of their own (contact_sweeps.hpp): general rows on any number of bodies.
//
// A cone with one disc has the closed form of local/slide.hpp in the frame where T = W_TT - W_TN W_TN^T / W_NN is
// diagonal. That frame is found once; rows, b and impulses are kept in it. What is left goes by solve_local.
#include "drystone/base/symmetric_eigen.hpp"
#include "drystone/sweep/contact_sweeps.hpp"
#include "drystone/sweep/sweep_any.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace drystone {

/// u += rows times the velocity of a line.
template <int fours>
[[gnu::always_inline]] inline void ContactSweeps::Entry::add_velocity(const double* line, Four* u) const {
    for (int c = 0; c < 6; ++c) {
        const double v = line[place_in_line(6, c)];
        for (int f = 0; f < fours; ++f) {
            Four column;
            load4(rows.data() + 4 * (fours * c + f), column);
            u[f] += column * v;
        }
    }
}

[[gnu::always_inline]] inline void ContactSweeps::Entry::add_impulse(int dim, const double* change,
                                                                     double* line) const {
    Four v, spin, by;
    load4(line, v);
    load4(line + 4, spin);
    for (int a = 0; a < dim; ++a) {
        load4(push.data() + 8 * a, by);
        v += by * change[a];
        load4(push.data() + 8 * a + 4, by);
        spin += by * change[a];
    }
    // No velocities, and not to be lost where a change is no number.
    v[3] = line[3];
    spin[3] = line[7];
    store4(line, v);
    store4(line + 4, spin);
}

bool ContactSweeps::has_closed_form(Index i) const {
    const Cone& cone = p_->cones[i];
    const bool one_disc = cone.kind == ConeKind::second_order || cone.kind == ConeKind::truncated;
    return !compliant_ && (cone.kind == ConeKind::ray || (one_disc && std::isfinite(cone.mu())));
}

/// The frame for W of the components, which is turned into it, and `slide`.
void ContactSweeps::set_frame(Other& block) const {
    const Index i = block.block;
    const Cone& cone = p_->cones[i];
    const int across = cone.dim - 1;
    block.frame = BlockMatrix::Identity(cone.dim, cone.dim);
    block.closed = has_closed_form(i);
    if (!block.closed) return;
    BlockMatrix& W = block.W;
    auto& slide = block.slide;
    const double smallest = 1e-16 * W_->inverse_mass(i);  // below is rounding
    slide = {};
    slide.w = W(0, 0);
    slide.inverse_w = 1 / slide.w;
    std::fill(std::begin(slide.t), std::end(slide.t), W_->inverse_mass(i));
    if (cone.kind != ConeKind::ray) {
        slide.mu = cone.mu();
        slide.offset = cone.kind == ConeKind::truncated ? cone.coefficient[1] : 0.0;
        slide.opening = cone.dilatancy_by(associated_ ? Law::associated : Law::coulomb) * cone.mu();
    }
    if (across == 0) return;
    BlockMatrix T = W.bottomRightCorner(across, across);
    T -= W.bottomLeftCorner(across, 1) * W.topRightCorner(1, across) * slide.inverse_w;
    T = (0.5 * (T + T.transpose())).eval();
    BlockMatrix axes(across, across);
    symmetric_eigen(across, T.data(), slide.t, axes.data());
    block.frame.bottomRightCorner(across, across) = axes.transpose();
    W = (block.frame * W * block.frame.transpose()).eval();
    for (int k = 0; k < across; ++k) {
        slide.t[k] = std::max(slide.t[k], smallest);
        slide.coupling[k] = W(k + 1, 0) * slide.inverse_w;
    }
}

void ContactSweeps::pack(Index i, const Geometry& /*g*/, const ContactFrame& /*E*/, double proximal,
                         Other& to) {
    const ConeProblem& p = *p_;
    const int dim = p.cones[i].dim, m = m_, width = 4 * fours_of(dim);
    to.W = BlockMatrix::Zero(dim, dim);
    std::array<BlockMatrix, 2> parts;  // rows, and what they do to the body
    Index next = to.first;
    const auto each = [&](auto&& f) {
        for_each_entry(p, i, [&](Index body, auto place, const BodyRowsOf& A) {
            if (moves_[body + 1] == 0) return;  // shared by tiles: not to be touched
            const int n_v = place.dim;
            const auto [species, k] = p.member(body);
            std::array<double, 36> block;
            inverse_block(p.species[species], k, block.data());
            auto& [rows, push] = parts;
            rows = push = BlockMatrix::Zero(dim, m);  // of a point the spin is not there
            rows.leftCols(n_v) = A;
            const double n = copies_of(*W_, body);
            for (int a = 0; a < dim; ++a)
                for (int c = 0; c < n_v; ++c) {
                    double sum = 0;
                    for (int e = 0; e < n_v; ++e) sum += A(a, e) * block[e * n_v + c];
                    push(a, c) = n * sum;
                }
            f(body);
        });
    };
    each([&](Index /*body*/) {
        const auto& [rows, push] = parts;
        for (int a = 0; a < dim; ++a)
            for (int b = 0; b < dim; ++b)
                for (int c = 0; c < m; ++c) to.W(a, b) += push(a, c) * rows(b, c);
    });
    if (compliant_)
        for (int c = 0; c < dim; ++c) to.W(c, c) += p.compliance[p.offset[i] + c];
    to.W.diagonal().array() += AnyKernel::proximal_term(to.W, W_->inverse_mass(i), proximal);
    set_frame(to);
    each([&](Index body) {
        auto& [rows, push] = parts;
        rows = (to.frame * rows).eval();
        push = (to.frame * push).eval();
        Entry& entry = entries_[next++];
        entry = {};
        entry.body = body + 1;
        for (int a = 0; a < dim; ++a)
            for (int c = 0; c < m; ++c) {
                const int place = place_in_line(m, c), column = place < 3 ? place : place - 1;
                entry.rows[column * width + a] = rows(a, c);
                entry.push[a * 8 + place] = push(a, c);
            }
    });
    to.last = next;
    to.free.fill(0);
    BlockVector::Map(to.free.data(), dim) = to.frame * BlockVector::Map(W_->b().data() + p.offset[i], dim);
}

/// By the general solver of one block.
[[gnu::noinline]] void ContactSweeps::solve_any(const Other& block, const double* u, const double* old,
                                                double* next) const {
    const Cone& cone = p_->cones[block.block];
    const BlockVector was = BlockVector::Map(old, cone.dim);
    const BlockVector b = BlockVector::Map(u, cone.dim) - block.W * was;
    BlockVector found = was;
    if (!solve_local(cone, block.W, b, associated_ ? Law::associated : Law::coulomb, local_, found))
        found = 0.5 * (found + was);
    std::copy_n(found.data(), cone.dim, next);
}

template <int fours>
Visited ContactSweeps::visit_other(Other& block, double* x, double* before, const double* push) {
    constexpr int width = 8;
    const Index i = block.block;
    const Cone& cone = p_->cones[i];
    const int dim = cone.dim;
    Four velocity[fours] = {};
    for (Index k = block.first; k < block.last; ++k)
        entries_[k].add_velocity<fours>(line(entries_[k].body), velocity);
    double u[width] = {}, old[width] = {}, from[width] = {}, next[width] = {}, change[width];
    for (int f = 0; f < fours; ++f) store4(u + 4 * f, velocity[f]);
    for (int c = 0; c < dim; ++c) {
        old[c] = x[c];
        if (before != nullptr) from[c] = before[c];
        if (push != nullptr) {
            before[c] = x[c];
            old[c] = x[c] + *push * (x[c] - from[c]);
            from[c] = x[c];
        }
        u[c] += block.free[c];
        if (compliant_) u[c] += p_->compliance[p_->offset[i] + c] * old[c];
    }
    if (!(block.closed && block.slide.solve_from(u, old, next))) solve_any(block, u, old, next);
    if (!std::all_of(next, next + dim, [](double part) { return std::isfinite(part); }))
        std::copy_n(old, dim, next);
    // Torques count by the block's length, as in the referee.
    const double stiffness = W_->inverse_mass(i), length = W_->length(i);
    Visited out;
    for (int c = 0; c < dim; ++c) {
        change[c] = next[c] - old[c];
        x[c] = next[c];
        double weighted = stiffness * change[c];
        if (cone.kind == ConeKind::wrench && is_torque(cone, c)) weighted /= length * length;
        out.step += weighted * change[c];
        if (before != nullptr) out.uphill -= weighted * (next[c] - from[c]);
    }
    for (Index k = block.first; k < block.last; ++k)
        entries_[k].add_impulse(dim, change, line(entries_[k].body));
    return out;
}

void ContactSweeps::visit_others(const Run& run, double* before, const double* push, Sleep& sleep,
                                 SweepSums& sums) {
    Index row = run.row;
    for (Index k = 0; k < run.count; ++k) {
        Other& block = others_[run.first + k];
        const int dim = p_->cones[block.block].dim;
        double* x = r.data() + row;
        double* from = before == nullptr ? nullptr : before + row;
        std::uint8_t* left = sleep.sweeps > 0 ? &sleep.left[run.place + k] : nullptr;
        row += dim;
        if (left != nullptr && *left > 0) {
            --*left;
            continue;
        }
        const Visited visited =
            fours_of(dim) == 1 ? visit_other<1>(block, x, from, push) : visit_other<2>(block, x, from, push);
        sums.step += visited.step;
        sums.uphill += visited.uphill;
        ++sums.visits;
        if (left != nullptr && visited.step < sleep.threshold)
            *left = static_cast<std::uint8_t>(sleep.sweeps);
    }
}

/// Error and impulse of a block, and what its bodies have at stake there.
void ContactSweeps::look_at(const Other& c, const double* x, Index place, Law law) {
    const Cone& cone = p_->cones[c.block];
    const double length = W_->length(c.block);
    Looked& look = looked_[place];
    std::array<double, max_block> u = c.free;
    for (Index k = c.first; k < c.last; ++k) {
        const Entry& e = entries_[k];
        std::array<Four, 2> sums{};
        if (fours_of(cone.dim) == 1) {
            e.add_velocity<1>(line(e.body), sums.data());
        } else {
            e.add_velocity<2>(line(e.body), sums.data());
        }
        double squares = 0;
        for (int a = 0; a < cone.dim; ++a) {
            const double part = sums[a / 4][a % 4], l = is_torque(cone, a) ? length : 1.0;
            u[a] += part;
            squares += part * l * part * l;
        }
        raise_stake(e.body, std::max(look.at_stake, squares));
    }
    if (compliant_)
        for (int a = 0; a < cone.dim; ++a) u[a] += p_->compliance[p_->offset[c.block] + a] * x[a];
    const BlockError error = block_error(*W_, c.block, x, u.data(), law);
    look.error = error.natural;
    look.impulse = error.impulse;
}

}  // namespace drystone
