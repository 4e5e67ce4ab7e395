#include "drystone/cone/judge.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/cone/complementarity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace drystone {

namespace {

using Small = std::array<double, max_block>;

/// Of one block, torques measured by its length (eq. 10). All are velocities, squared, so that neither tiny nor huge masses under- or overflow.
struct BlockError {
    double natural = 0;   ///< |stiffness e|^2, e its natural map (eq. 11); 0 if rounding can make it
    double at_stake = 0;  ///< a_i of eq. 12b, squared
    double impulse = 0;   ///< |stiffness r|^2, pulls not counted
};

/// |r - P_K(r - rho (u + s))|^2.
double natural_map(const Cone& cone, const Small& r, const Small& u, double rho, Law law) {
    Small x{};
    const double s = shift(cone, std::span(u).first(cone.dim), law);
    for (int c = 0; c < cone.dim; ++c) x[c] = r[c] - rho * (u[c] + (c == 0 ? s : 0.0));
    project(cone, std::span(x).first(cone.dim));
    double sum = 0;
    for (int c = 0; c < cone.dim; ++c) sum += (r[c] - x[c]) * (r[c] - x[c]);
    return sum;
}

/// The set of impulses of a block, times a factor: a cone stays as it is, what bounds it by itself grows.
Cone scaled(Cone cone, double factor) {
    if (cone.kind == ConeKind::truncated) cone.coefficient[1] *= factor;
    if (cone.kind == ConeKind::interval) {
        cone.coefficient[0] *= factor;
        cone.coefficient[1] *= factor;
    }
    return cone;
}

/// A block has its b at stake, but not more than so many times what no impulse at all would be wrong by: neither how fast an open contact parts nor how fast
/// a loaded one slides may make the scale of errors.
constexpr double sliding = 16;

BlockError block_error(const Delassus& W, Index i, const double* r, const double* u, Law law,
                       double roundings) {
    const Cone& original = W.problem().cones[i];
    const double length = W.length(i), stiffness = W.inverse_mass(i);
    const Cone cone = scaled(with_torques_scaled(original, length), stiffness);
    const Index row = W.problem().offset[i];
    Small rs{}, us{}, bs{}, idle{};
    idle[0] = W.problem().pull.size() > 0 ? stiffness * W.problem().pull[i] : 0.0;
    BlockError error;
    for (int c = 0; c < cone.dim; ++c) {
        const double l = is_torque(original, c) ? length : 1.0;
        rs[c] = stiffness * r[c] / l;
        us[c] = u[c] * l;
        bs[c] = W.b_without_pull(row + c) * l;
        error.impulse += (rs[c] - idle[c]) * (rs[c] - idle[c]);
    }
    error.natural = natural_map(cone, rs, us, 1.0, law);
    const double rounding = roundings * W.rounding(i);
    if (error.natural <= rounding * rounding) error.natural = 0;
    // Motors push with an impulse that is given: it is at stake too.
    if (cone.kind == ConeKind::interval) error.at_stake = natural_map(cone, idle, Small{}, 1.0, law);
    for (int c = 0; c < cone.dim; ++c) error.at_stake += bs[c] * bs[c];
    error.at_stake = std::min(error.at_stake, sliding * sliding * natural_map(cone, idle, bs, 1.0, law));
    return error;
}

/// Weight of the impulses in the scale (eq. 12). In a packing they exceed what single contacts must stop by its depth in grains, and under
/// self-stress by any factor: taken whole they would hide errors of velocity, and let diverging impulses pass for a solution.
/// A thousandth keeps them out of the scale until rounding in W r comes near.
constexpr double impulse_weight = 1e-3;

/// Velocities at stake at a body are taken to be at least this part of the largest in the problem (eq. 12a): what an impact far away
/// sends through a packing fades out somewhere. Not more: a light thing that is pressed hard (1000 N on a milligram: 10^6 m/s in a
/// millisecond) must not hide what rests elsewhere.
constexpr double faintest = 1e-12;

double ratio(double error, double scale) { return error == 0 ? 0 : scale == 0 ? 1 : error / scale; }

/// Squared velocities at stake at each body: the largest that a block has at stake, and the largest change of velocity by its impulses, among its blocks.
void find_stakes_of_bodies(const Delassus& W, const Vector& r, LawRoom& room) {
    const ConeProblem& p = W.problem();
    if (W.pull_impulse().size() > 0) {
        room.borne = r - W.pull_impulse();
        W.gather(room.borne, room.z);
    } else {
        W.gather(r, room.z);
    }
    room.change.resize(p.H.body.size());
    parallel_for(W.threads(), p.blocks(), [&](Index i) {
        Index k = p.H.start[i];
        for_each_entry(p, i, W.whitened_rows().data(), [&](Index, auto place, const BodyRowsOf& A) {
            const double* zj = room.z.data() + place.first;
            double squared = 0;
            for (int a = 0; a < A.rows(); ++a) {
                double u = 0;
                for (int c = 0; c < place.dim; ++c) u += A(a, c) * zj[c];
                if (is_torque(p.cones[i], a)) u *= W.length(i);
                squared += u * u;
            }
            room.change[k++] = std::max(room.at_stake[i], squared);
        });
    });
    room.body.assign(p.bodies(), 0.0);
    for (std::size_t k = 0; k < room.change.size(); ++k) {
        double& stake = room.body[p.H.body[k]];
        stake = std::max(stake, room.change[k]);
    }
    // A body's owner holds all of its blocks, other ranks some.
    if (W.exchange() != nullptr) W.exchange()->share_bodies(room.body.data(), 1);
}

/// Eq. 12a, squared; the mean of such squares over blocks that bear an impulse or an error (eq. 12c); and the largest error itself, squared.
struct Worst {
    double relative = 0, mean = 0, error = 0;
};

Worst worst_of(const Delassus& W, const Vector& r, LawRoom& room) {
    const ConeProblem& p = W.problem();
    double largest = 0;
    for (const double x : room.at_stake) largest = std::max(largest, x);
    if (W.whitened()) {
        find_stakes_of_bodies(W, r, room);
        for (const double x : room.body) largest = std::max(largest, x);
    }
    largest = W.largest(largest);
    Worst worst;
    std::array<ExactSum, 2> sums;
    auto& [of_squares, busy] = sums;
    for (Index i = 0; i < p.blocks(); ++i) {
        if (!W.counts(i) || (room.error[i] == 0 && room.impulse[i] == 0)) continue;
        busy.add(1);
        if (room.error[i] == 0) continue;
        worst.error = std::max(worst.error, room.error[i]);
        // Where the mass couples bodies all are near each other.
        double near = W.whitened() ? faintest * faintest * largest : largest;
        if (W.whitened())
            for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k)
                near = std::max(near, room.body[p.H.body[k]]);
        near = std::max(near, room.at_stake[i]);
        worst.relative = std::max(worst.relative, ratio(room.error[i], near));
        of_squares.add(
            ratio(room.error[i], std::max(near, impulse_weight * impulse_weight * room.impulse[i])));
    }
    W.add_up(sums);
    return {W.largest(worst.relative), ratio(of_squares.value(), busy.value()), W.largest(worst.error)};
}

}  // namespace

double LawResidual::value() const {
    if (std::isnan(mean) || std::isnan(local) || std::isnan(worst)) return std::nan("");
    return std::max({mean, local / local_allowance, worst / worst_allowance});
}

LawResidual law_residual(const Delassus& W, const Vector& r, const Vector& u, Law law) {
    LawRoom room;
    return law_residual(W, r, u, law, room);
}

LawResidual law_residual(const Delassus& W, const Vector& r, const Vector& u, Law law, LawRoom& room,
                         double roundings) {
    const ConeProblem& p = W.problem();
    for (auto* numbers : {&room.error, &room.at_stake, &room.impulse}) numbers->resize(p.blocks());
    parallel_for(W.threads(), p.blocks(), [&](Index i) {
        const BlockError e =
            block_error(W, i, r.data() + p.offset[i], u.data() + p.offset[i], law, roundings);
        room.error[i] = e.natural;
        room.at_stake[i] = e.at_stake;
        room.impulse[i] = e.impulse;
    });
    std::array<ExactSum, 3> sums;
    auto& [natural, at_stake, impulse] = sums;
    for (Index i = 0; i < p.blocks(); ++i) {
        if (!W.counts(i)) continue;
        natural.add(room.error[i] / W.inverse_mass(i));
        at_stake.add(room.at_stake[i] / W.inverse_mass(i));
        impulse.add(room.impulse[i] / W.inverse_mass(i));
    }
    W.add_up(sums);
    const double error = std::sqrt(natural.value());
    const double scale =
        std::sqrt(std::max(at_stake.value(), impulse_weight * impulse_weight * impulse.value()));
    // Impulses that have run away overflow: a scale without bound would make every error small.
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(error) || !std::isfinite(scale)) return {no_number, no_number, no_number, no_number};
    const Worst worst = worst_of(W, r, room);
    return {ratio(error, scale), std::sqrt(worst.mean), std::sqrt(worst.relative), std::sqrt(worst.error)};
}

double siconos_residual(const Delassus& W, const Vector& r, const Vector& u, Law law) {
    const ConeProblem& p = W.problem();
    const double error = W.sum([&](Index i) {
        Small rs{}, us{};
        std::copy_n(r.data() + p.offset[i], p.cones[i].dim, rs.begin());
        std::copy_n(u.data() + p.offset[i], p.cones[i].dim, us.begin());
        return natural_map(p.cones[i], rs, us, 1.0, law);
    });
    return ratio(std::sqrt(error), std::sqrt(std::max({W.dot(W.b(), W.b()), W.dot(r, r), W.dot(u, u)})));
}

namespace {

/// Largest squared Fischer-Burmeister value; blocks that are not second-order cones or rays do not count.
double bogus_residual(const Delassus& W, const Vector& r, const Vector& u, Law law) {
    const ConeProblem& p = W.problem();
    double largest = 0;
    for (Index i = 0; i < p.blocks(); ++i) {
        const Cone& cone = p.cones[i];
        if (!W.counts(i)) continue;
        if ((cone.kind != ConeKind::second_order && cone.kind != ConeKind::ray) || std::isinf(cone.mu()))
            continue;
        const BlockVector f = fischer_burmeister(cone, u.segment(p.offset[i], cone.dim),
                                                 r.segment(p.offset[i], cone.dim), 1.0, law);
        largest = std::max(largest, f.squaredNorm());
    }
    return W.largest(largest);
}

/// Inertia of each velocity by itself, from the diagonal of the mass; 0 where nothing moves. Makes norms of v energies.
Vector inertia(const ConeProblem& p) {
    Vector out(p.dofs());
    Index first = 0;
    const auto inverse_of = [](double x) { return x > 0 ? 1 / x : 0.0; };
    for (const Species& s : p.species) {
        auto part = out.segment(first, s.velocities());
        if (const auto* sparse = std::get_if<SparseMass>(&s.mass)) {
            part = sparse->M.diagonal();
        } else if (const auto* block = std::get_if<BlockInverseMass>(&s.mass)) {
            const int m = s.dim;
            for (Index j = 0; j < s.velocities(); ++j)
                part[j] = inverse_of(block->blocks[static_cast<std::size_t>(j / m * m + j % m) * m + j % m]);
        } else {
            part = std::get<SparseInverseMass>(s.mass).inverse.diagonal().unaryExpr(inverse_of);
        }
        first += s.velocities();
    }
    return out;
}

/// Defect of momentum and kinematics of a stored solution: v against the v that r implies, u against H v + w + C r, each in the
/// energy norm and relative to the terms that are added up in it (which may cancel: bodies come to rest).
double momentum_residual(const Delassus& W, const ConeSolution& s) {
    const ConeProblem& p = W.problem();
    const Vector mass = inertia(p);
    std::array<ExactSum, 6> sums;
    auto& [defect, of_free, of_impulses, du, scale, of_b] = sums;
    const Vector implied = W.velocity_by_momentum(s.r), free = W.velocity_by_momentum(Vector::Zero(p.rows()));
    std::vector<double> gross(p.bodies(), 0.0);  // impulses at each body, as roots of energies
    for (Index i = 0; i < p.blocks(); ++i) {
        double squared = 0;
        for (int c = 0; c < p.cones[i].dim; ++c) {
            const double r = s.r[p.offset[i] + c] / (is_torque(p.cones[i], c) ? W.length(i) : 1.0);
            squared += r * r;
        }
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k)
            gross[p.H.body[k]] += std::sqrt(W.inverse_mass(i) * squared);
    }
    for (Index j = 0; j < p.bodies(); ++j) {
        if (!W.counts_body(j)) continue;
        double wrong = 0;
        const auto [first, m] = p.place_of(j);
        for (Index k = first; k < first + m; ++k) {
            const auto energy = [&](double v) { return mass[k] * v * v; };
            wrong += energy(s.v[k] - implied[k]);
            of_free.add(energy(free[k]));
            of_impulses.add(energy(implied[k] - free[k]));
        }
        // Where impulses cancel, of a motor and what it pushes against, only their rounding is left.
        if (std::sqrt(wrong) > Delassus::unit_of_rounding * gross[j]) defect.add(wrong);
    }
    for (Index i = 0; i < p.blocks(); ++i) {
        if (!W.counts(i)) continue;
        const int d = p.cones[i].dim;
        BlockVector u = p.w.segment(p.offset[i], d), terms = u.cwiseAbs2();
        for_each_entry(p, i, p.H.value.data(), [&](Index, auto place, const BodyRowsOf& A) {
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < place.dim; ++c) {
                    const double term = A(a, c) * s.v[place.first + c];
                    u[a] += term;
                    terms[a] += term * term;
                }
            }
        });
        if (W.compliant()) {
            const BlockVector yielding =
                p.compliance.segment(p.offset[i], d).cwiseProduct(s.r.segment(p.offset[i], d));
            u += yielding;
            terms += yielding.cwiseAbs2();
        }
        if (W.frozen_shift().size() > 0) {
            u[0] += W.frozen_shift()[i];
            terms[0] += W.frozen_shift()[i] * W.frozen_shift()[i];
        }
        for (int a = 0; a < d; ++a) {
            const double length = is_torque(p.cones[i], a) ? W.length(i) : 1.0,
                         weight = length * length / W.inverse_mass(i);
            const double difference = s.u[p.offset[i] + a] - u[a];
            du.add(weight * difference * difference);
            scale.add(weight * terms[a]);
        }
        of_b.add(W.b().segment(p.offset[i], d).squaredNorm() / W.inverse_mass(i));
    }
    W.add_up(sums);
    const auto root = [](const ExactSum& sum) { return std::sqrt(sum.value()); };
    return std::max(ratio(root(defect), std::max(root(of_free), root(of_impulses))),
                    ratio(root(du), std::max(root(scale), root(of_b))));
}

}  // namespace

/// u is computed in another way here than in solvers: what they may take for rounding is to be no error here.
constexpr double judges_roundings = 2;

Residual judge(const Delassus& W, const ConeSolution& solution, Law law) {
    Residual out;
    const ConeProblem& p = W.problem();
    if (solution.r.size() != p.rows() || solution.u.size() != p.rows() || solution.v.size() != p.dofs() ||
        (solution.shift.size() > 0 && solution.shift.size() != p.blocks())) {
        out.value = out.law.mean = out.law.local = out.law.worst = out.momentum = std::nan("");
        return out;
    }
    if (solution.shift.size() > 0) {
        ConeSolution shifted = solution;
        shifted.shift.resize(0);
        for (Index i = 0; i < p.blocks(); ++i) shifted.u[p.offset[i]] += solution.shift[i];
        return judge(W.with_frozen_shift(solution.shift), shifted, Law::associated);
    }
    LawRoom room;
    out.law = law_residual(W, solution.r, solution.u, law, room, judges_roundings);
    out.momentum = momentum_residual(W, solution);
    out.value = std::isnan(out.law.value()) || std::isnan(out.momentum)
                    ? std::nan("")
                    : std::max(out.law.value(), out.momentum);
    out.siconos = siconos_residual(W, solution.r, solution.u, law);
    out.bogus = bogus_residual(W, solution.r, solution.u, law);
    return out;
}

Residual judge(const ConeProblem& problem, const ConeSolution& solution, Law law) {
    return judge(Delassus(problem), solution, law);
}

}  // namespace drystone
