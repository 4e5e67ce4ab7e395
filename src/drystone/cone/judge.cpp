#include "drystone/cone/judge.hpp"

#include "drystone/base/parallel_sum.hpp"
#include "drystone/cone/complementarity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace drystone {

namespace {

using Small = std::array<double, max_block>;

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

/// A block has its b at stake, but not more than so many times what no impulse at all would be wrong by: neither how
/// fast an open contact parts nor how fast a loaded one slides may make the scale of errors.
constexpr double sliding = 16;

/// Most blocks: a cone of forces by itself, friction finite.
bool is_plain(const Delassus& W, Index i) {
    const Cone& cone = W.problem().cones[i];
    return (cone.kind == ConeKind::ray || (cone.kind == ConeKind::second_order && !std::isinf(cone.mu()))) &&
           W.problem().pull.size() == 0;
}

/// Normal part of P_K(x) and what its tangential part is multiplied with, of x with these parts.
struct Projected {
    double normal = 0, scale = 0;
};
Projected project_plain(double mu, double normal, double across) {
    if (mu * across <= -normal) return {};  // first: of a ray with nothing across it both are true
    if (across <= mu * normal) return {normal, 1.0};
    const double y = (normal + mu * across) / (1 + mu * mu);
    return {y, across > 0 ? mu * y / across : 0.0};
}

/// What block_error says of a plain block: b, but not much more than what no impulse at all would be wrong by, |P_K(-b
/// - s n)|.
double plain_stake(const Delassus& W, Index i, Law law) {
    const ConeProblem& p = W.problem();
    const Cone& cone = p.cones[i];
    const double* b = W.b().data() + p.offset[i];
    double squared = 0;
    for (int c = 1; c < cone.dim; ++c) squared += b[c] * b[c];
    const double mu = cone.kind == ConeKind::ray ? 0.0 : cone.mu(), across = std::sqrt(squared);
    const double shifted = b[0] + (1 - cone.dilatancy_by(law)) * mu * across;
    const auto [normal, scale] = project_plain(mu, -shifted, across);
    const double idle = normal * normal + scale * scale * squared;
    return std::min(b[0] * b[0] + squared, sliding * sliding * idle);
}

BlockError plain_error(const Delassus& W, Index i, const double* r, const double* u, Law law,
                       double roundings) {
    const Cone& cone = W.problem().cones[i];
    const double mu = cone.kind == ConeKind::ray ? 0.0 : cone.mu(), stiffness = W.inverse_mass(i);
    double slip = 0, across = 0;
    for (int c = 1; c < cone.dim; ++c) {
        slip += u[c] * u[c];
        across += (stiffness * r[c] - u[c]) * (stiffness * r[c] - u[c]);
    }
    const double shifted = u[0] + (1 - cone.dilatancy_by(law)) * mu * std::sqrt(slip);
    const auto [normal, scale] = project_plain(mu, stiffness * r[0] - shifted, std::sqrt(across));
    BlockError error;
    for (int c = 0; c < cone.dim; ++c) {
        const double force = stiffness * r[c], nearest = c == 0 ? normal : scale * (force - u[c]);
        error.impulse += force * force;
        error.natural += (force - nearest) * (force - nearest);
    }
    const double rounding = roundings * W.rounding(i);
    if (error.natural <= rounding * rounding) error.natural = 0;
    error.at_stake = plain_stake(W, i, law);
    return error;
}

}  // namespace

BlockError block_error(const Delassus& W, Index i, const double* r, const double* u, Law law,
                       double roundings) {
    if (is_plain(W, i)) return plain_error(W, i, r, u, law, roundings);
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

double stake_of(const Delassus& W, Index i, Law law) {
    if (is_plain(W, i)) return plain_stake(W, i, law);
    const Small nothing{};
    return block_error(W, i, nothing.data(), nothing.data(), law).at_stake;
}

namespace {

/// Weight of the impulses in the scale (eq. 12). In a packing they exceed what single contacts must stop by its depth
/// in grains, and under self-stress by any factor: taken whole they would hide errors of velocity, and let diverging
/// impulses pass for a solution. A thousandth keeps them out of the scale until rounding in W r comes near.
constexpr double impulse_weight = 1e-3;

/// Velocities at stake at a body are taken to be at least this part of the largest in the problem (eq. 12a): what an
/// impact far away sends through a packing fades out somewhere. Not more: a light thing that is pressed hard (1000 N on
/// a milligram: 10^6 m/s in a millisecond) must not hide what rests elsewhere.
constexpr double faintest = 1e-12;

double ratio(double error, double scale) { return error == 0 ? 0 : scale == 0 ? 1 : error / scale; }

}  // namespace

void LookSums::add(double block_error, double block_impulse, double near, double most) {
    if (block_error == 0 && block_impulse == 0) return;
    ++busy;
    if (block_error == 0) return;
    error = std::max(error, block_error);
    near = std::max(near, faintest * faintest * most);
    relative = std::max(relative, ratio(block_error, near));
    squares += ratio(block_error, std::max(near, impulse_weight * impulse_weight * block_impulse));
}

LawResidual ResidualSums::residual(double squares, double busy, double relative, double error) const {
    const double natural_size = std::sqrt(natural);
    const double scale = std::sqrt(std::max(at_stake, impulse_weight * impulse_weight * impulse));
    // Impulses that have run away overflow: a scale without bound would make every error small.
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(natural_size) || !std::isfinite(scale))
        return {no_number, no_number, no_number, no_number};
    return {ratio(natural_size, scale), std::sqrt(ratio(squares, busy)), std::sqrt(relative),
            std::sqrt(error)};
}

namespace {

/// Squared velocities at stake at each body: the largest that a block has at stake, and the largest change of velocity
/// by its impulses, among its blocks.
void find_stakes_of_bodies(const Delassus& W, const Vector& r, const Vector* v, LawRoom& room) {
    const ConeProblem& p = W.problem();
    const bool pulled = W.largest(W.pull_impulse().size() > 0 ? 1 : 0) > 0;  // on any rank
    const bool known = v != nullptr && !pulled;
    if (!known && W.pull_impulse().size() > 0) {
        room.borne = r - W.pull_impulse();
        room.change.resize(p.dofs());
        W.push(room.borne, room.change);
    } else if (!known) {
        room.change.resize(p.dofs());
        W.push(r, room.change);
    }
    room.body.resize(static_cast<std::size_t>(p.bodies()));
    parallel_for(W.threads(), p.bodies(), [&](Index j) {
        const auto [first, m] = p.place_of(j);
        Small change{};
        for (int c = 0; c < m; ++c)
            change[c] = known ? (*v)[first + c] - W.v_free()[first + c] : room.change[first + c];
        const double least = p.species[p.member(j).species].at_stake;
        double stake = least * least;
        W.for_each_rows_of(j, [&](Index i, auto&& rows) {
            Small u{};
            rows(change.data(), u.data());
            double squared = 0;
            for (int a = 0; a < p.cones[i].dim; ++a) {
                if (is_torque(p.cones[i], a)) u[a] *= W.length(i);
                squared += u[a] * u[a];
            }
            stake = std::max({stake, room.at_stake[i], squared});
        });
        room.body[j] = stake;
    });
    // A body's owner holds all of its blocks, other ranks some.
    if (W.exchange() != nullptr) W.exchange()->share_bodies(room.body.data(), 1);
}

/// Eq. 12a, squared; the mean of such squares over blocks that bear an impulse or an error (eq. 12c); and the largest
/// error itself, squared.
struct Worst {
    double relative = 0, mean = 0, error = 0;
};

Worst worst_of(const Delassus& W, const Vector& r, const Vector* v, LawRoom& room) {
    const ConeProblem& p = W.problem();
    double largest = 0;
    for (const double x : room.at_stake) largest = std::max(largest, x);
    if (W.whitened()) {
        find_stakes_of_bodies(W, r, v, room);
        for (const double x : room.body) largest = std::max(largest, x);
    } else {
        for (const Species& s : p.species) largest = std::max(largest, s.at_stake * s.at_stake);
    }
    largest = W.largest(largest);
    auto all = parallel_merge<SumsAndMaxima<2, 2>>(W.threads(), p.blocks(), [&](Index i, auto& part) {
        auto& [of_squares, busy] = part.sum;
        auto& [relative, error] = part.largest;
        if (!W.counts(i) || (room.error[i] == 0 && room.impulse[i] == 0)) return;
        busy.add(1);
        if (room.error[i] == 0) return;
        error = std::max(error, room.error[i]);
        // Where the mass couples bodies all are near each other.
        double near = W.whitened() ? faintest * faintest * largest : largest;
        if (W.whitened()) for_each_body(p, i, [&](Index body) { near = std::max(near, room.body[body]); });
        near = std::max(near, room.at_stake[i]);
        relative = std::max(relative, ratio(room.error[i], near));
        of_squares.add(
            ratio(room.error[i], std::max(near, impulse_weight * impulse_weight * room.impulse[i])));
    });
    W.add_up(all.sum);
    return {W.largest(all.largest[0]), ratio(all.sum[0].value(), all.sum[1].value()),
            W.largest(all.largest[1])};
}

}  // namespace

double LawResidual::value() const {
    if (std::isnan(mean) || std::isnan(local) || std::isnan(worst)) return std::nan("");
    return std::max({mean, local / local_allowance, worst / worst_allowance});
}

LawResidual law_residual(const Delassus& W, const Vector& r, const Vector& u, Law law) {
    LawRoom room(W.rooms());
    return law_residual(W, r, u, law, room);
}

LawResidual law_residual(const Delassus& W, const Vector& r, const Vector& u, Law law, LawRoom& room,
                         double roundings, const Vector* v) {
    const ConeProblem& p = W.problem();
    for (auto* numbers : {&room.error, &room.at_stake, &room.impulse}) numbers->resize(p.blocks());
    auto all = parallel_merge<SumsAndMaxima<3>>(W.threads(), p.blocks(), [&](Index i, auto& part) {
        const BlockError e =
            block_error(W, i, r.data() + p.offset[i], u.data() + p.offset[i], law, roundings);
        room.error[i] = e.natural;
        room.at_stake[i] = e.at_stake;
        room.impulse[i] = e.impulse;
        if (!W.counts(i)) return;
        part.sum[0].add(e.natural / W.inverse_mass(i));
        part.sum[1].add(e.at_stake / W.inverse_mass(i));
        part.sum[2].add(e.impulse / W.inverse_mass(i));
    });
    W.add_up(all.sum);
    const auto& [natural, at_stake, impulse] = all.sum;
    const double error = std::sqrt(natural.value());
    const double scale =
        std::sqrt(std::max(at_stake.value(), impulse_weight * impulse_weight * impulse.value()));
    // Impulses that have run away overflow: a scale without bound would make every error small.
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(error) || !std::isfinite(scale)) return {no_number, no_number, no_number, no_number};
    const Worst worst = worst_of(W, r, v, room);
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

/// Inertia of each velocity of a body by itself, from the diagonal of the mass; 0 where nothing moves. Makes norms of v
/// energies.
class Inertia {
public:
    explicit Inertia(const ConeProblem& p) : p_(p) {
        for (const Species& s : p.species) {
            Vector& own = coupled_.emplace_back();
            if (const auto* sparse = std::get_if<SparseMass>(&s.mass)) own = sparse->M.diagonal();
            if (const auto* sparse = std::get_if<SparseInverseMass>(&s.mass))
                own = sparse->inverse.diagonal().unaryExpr(&inverse_of);
        }
    }

    void of_body(Index body, double* inertia) const {
        const auto [s, k] = p_.member(body);
        const Species& species = p_.species[s];
        const int m = species.dim;
        if (!species.separate()) {
            std::copy_n(coupled_[s].data() + static_cast<std::ptrdiff_t>(k) * m, m, inertia);
            return;
        }
        std::array<double, max_block * max_block> block;
        inverse_block(species, k, block.data());
        for (int c = 0; c < m; ++c) inertia[c] = inverse_of(block[c * m + c]);
    }

private:
    static double inverse_of(double x) { return x > 0 ? 1 / x : 0.0; }

    const ConeProblem& p_;
    std::vector<Vector> coupled_;  // by species
};

/// Impulses, and the velocities that are said to belong to them.
struct Impulses {
    const Vector &r, &u, &v;
};

/// Defect of momentum and kinematics of a stored solution: v against the v that r implies, u against H v + w + C r,
/// each in the energy norm and relative to the terms that are added up in it (which may cancel: bodies come to rest).
double momentum_residual(const Delassus& W, const Impulses& s) {
    const ConeProblem& p = W.problem();
    const Inertia inertia(p);
    const Vector implied = W.velocity_by_momentum(s.r);
    const Vector& free = W.v_free();
    auto of_bodies = parallel_merge<SumsAndMaxima<3>>(W.threads(), p.bodies(), [&](Index j, auto& part) {
        if (!W.counts_body(j)) return;
        auto& [defect, of_free, of_impulses] = part.sum;
        double gross = 0;  // of its impulses, as roots of energies
        bool touched = false;
        W.for_each_block_of(j, [&](Index i) {
            touched = true;
            double squared = 0;
            for (int c = 0; c < p.cones[i].dim; ++c) {
                const double r = s.r[p.offset[i] + c] / (is_torque(p.cones[i], c) ? W.length(i) : 1.0);
                squared += r * r;
            }
            gross += std::sqrt(W.inverse_mass(i) * squared);
        });
        if (!touched) return;  // the problem might as well be without it
        double wrong = 0;
        const auto [first, m] = p.place_of(j);
        Small mass{};
        inertia.of_body(j, mass.data());
        for (int c = 0; c < m; ++c) {
            const Index k = first + c;
            const auto energy = [&](double v) { return mass[c] * v * v; };
            wrong += energy(s.v[k] - implied[k]);
            of_free.add(energy(free[k]));
            of_impulses.add(energy(implied[k] - free[k]));
        }
        // Where impulses cancel, of a motor and what it pushes against, only their rounding is left.
        if (std::sqrt(wrong) > Delassus::unit_of_rounding * gross) defect.add(wrong);
    });
    auto of_blocks = parallel_merge<SumsAndMaxima<3>>(W.threads(), p.blocks(), [&](Index i, auto& part) {
        if (!W.counts(i)) return;
        auto& [du, scale, of_b] = part.sum;
        const int d = p.cones[i].dim;
        BlockVector u = p.w.segment(p.offset[i], d), terms = u.cwiseAbs2();
        // The terms of contacts are taken vector by vector: each row has its share of their squares.
        p.contacts.visit(i, [&]<int n>(const ContactRow<n>& c) {
            Wrench<n> motion;
            double squares = 0, turning = 0;
            const auto side = [&](Index body, const Vec<n>& arm, double sign) {
                if (body < 0) return;
                const auto place = p.place_of(body);
                const double* V = s.v.data() + place.first;
                const Vec<n> velocity = Eigen::Map<const Vec<n>>(V);
                const Spin<n> spin = spin_of<n>(place.dim, V);
                const Vec<n> by_spin = cross(spin, arm);
                motion.force += sign * (velocity + by_spin);
                motion.torque += sign * spin;
                squares += velocity.squaredNorm() + by_spin.squaredNorm();
                turning += spin.squaredNorm();
            };
            side(c.a, c.arm_a, 1);
            side(c.b, c.arm_b, -1);
            Small relative{};
            in_frame<n>(p.cones[i], c.normal, motion, relative.data());
            for (int a = 0; a < d; ++a) {
                u[a] += relative[a];
                terms[a] += is_torque(p.cones[i], a) ? turning / (d - n) : squares / forces_of<n>(p.cones[i]);
            }
        });
        const auto add_rows = [&](Index, auto place, const BodyRowsOf& A) {
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < place.dim; ++c) {
                    const double term = A(a, c) * s.v[place.first + c];
                    u[a] += term;
                    terms[a] += term * term;
                }
            }
        };
        if (p.tensor_at(i) >= 0) {
            for_each_entry(p, i, add_rows);
        } else {
            for_each_entry(p, p.H, i, add_rows);
        }
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
    });
    std::array<ExactSum, 6> sums;
    for (std::size_t k = 0; k < 3; ++k) {
        sums[k] = of_bodies.sum[k];
        sums[3 + k] = of_blocks.sum[k];
    }
    W.add_up(sums);
    auto& [defect, of_free, of_impulses, du, scale, of_b] = sums;
    const auto root = [](const ExactSum& sum) { return std::sqrt(sum.value()); };
    return std::max(ratio(root(defect), std::max(root(of_free), root(of_impulses))),
                    ratio(root(du), std::max(root(scale), root(of_b))));
}

}  // namespace

/// u is computed in another way here than in solvers: what they may take for rounding is to be no error here.
constexpr double judges_roundings = 2;

namespace {

Residual judge_impulses(const Delassus& W, const Impulses& s, Law law, bool thorough) {
    Residual out;
    LawRoom room(W.rooms());
    out.law = law_residual(W, s.r, s.u, law, room, judges_roundings, &s.v);
    if (thorough) out.momentum = momentum_residual(W, s);
    out.value = std::isnan(out.law.value()) || std::isnan(out.momentum)
                    ? std::nan("")
                    : std::max(out.law.value(), out.momentum);
    if (!thorough) return out;
    out.siconos = siconos_residual(W, s.r, s.u, law);
    out.bogus = bogus_residual(W, s.r, s.u, law);
    return out;
}

}  // namespace

Residual judge(const Delassus& W, const ConeSolution& solution, Law law, bool thorough) {
    const ConeProblem& p = W.problem();
    if (solution.r.size() != p.rows() || solution.u.size() != p.rows() || solution.v.size() != p.dofs() ||
        (solution.shift.size() > 0 && solution.shift.size() != p.blocks())) {
        Residual out;
        out.value = out.law.mean = out.law.local = out.law.worst = out.momentum = std::nan("");
        return out;
    }
    if (solution.shift.size() == 0)
        return judge_impulses(W, {solution.r, solution.u, solution.v}, law, thorough);
    ScratchVector u(W.rooms(), solution.u);
    for (Index i = 0; i < p.blocks(); ++i) u[p.offset[i]] += solution.shift[i];
    return judge_impulses(W.with_frozen_shift(solution.shift), {solution.r, u, solution.v}, Law::associated,
                          thorough);
}

Residual judge(const ConeProblem& problem, const ConeSolution& solution, Law law) {
    return judge(Delassus(problem), solution, law);
}

}  // namespace drystone
