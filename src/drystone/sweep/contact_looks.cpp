// How wrong the impulses are while ContactSweeps sweeps, by the sweeps' own numbers: what the referee measures
// (cone/judge.hpp), at the cost of a sweep.
#include "drystone/sweep/contact_sweeps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace drystone {

namespace {

/// |r - P_K(r - u - s n)|^2 for a Coulomb cone around n, by vectors of space.
[[gnu::always_inline]] inline double natural_error(const Four& n, double mu, const Four& r, const Four& u,
                                                   Law law) {
    const double uN = dot(n, u);
    if (mu == 0) {
        const double error = std::min(dot(n, r), uN);
        return error * error;
    }
    const Four uT = u - uN * n;
    const double slip = law == Law::coulomb ? mu * std::sqrt(dot(uT, uT)) : 0.0;
    const Four x = r - u - slip * n;
    const double xN = dot(n, x);
    const Four xT = x - xN * n;
    const double across = std::sqrt(dot(xT, xT));
    Four error = r;
    if (across <= mu * xN) {
        error = r - x;
    } else if (mu * across > -xN) {
        const double y = (xN + mu * across) / (1 + mu * mu);
        error = r - y * n - (mu * y / across) * xT;
    }
    return dot(error, error);
}

}  // namespace

/// Of a contact that bears no torque: its force, and the velocities of its bodies where it is, as impulses have changed
/// them and relative with b.
struct ContactSweeps::Seen {
    Four n, force, at_a, at_b, u;
};

[[gnu::always_inline]] inline void ContactSweeps::see(const BallContact& c, const double* x,
                                                      Seen& seen) const {
    Four wa, wb, turn, free;
    load3(c.n, seen.n);
    load3(x, seen.force);
    load3(c.free, free);
    load3(line(c.a), seen.at_a);
    load3(line(c.b), seen.at_b);
    load3(line(c.a) + 4, wa);
    load3(line(c.b) + 4, wb);
    cross_product(wa, seen.n, turn);
    seen.at_a += c.arm_a * turn;
    cross_product(wb, seen.n, turn);
    seen.at_b -= c.arm_b * turn;
    seen.u = free + seen.at_a - seen.at_b;
}

[[gnu::always_inline]] inline void ContactSweeps::see(const RigidContact& c, const double* x,
                                                      Seen& seen) const {
    Four t, s, arm, spin, turn;
    load3(c.n, seen.n);
    load3(c.t, t);
    cross_product(seen.n, t, s);
    seen.force = x[0] * seen.n + x[1] * t + x[2] * s;
    const auto side = [&](Index at, const double* own_arm, Four& velocity) {
        load3(line(at), velocity);
        load3(line(at) + 4, spin);
        load3(own_arm, arm);
        cross_product(spin, arm, turn);
        velocity += turn;
    };
    side(c.a, c.arm_a, seen.at_a);
    side(c.b, c.arm_b, seen.at_b);
    seen.u = c.free[0] * seen.n + c.free[1] * t + c.free[2] * s + seen.at_a - seen.at_b;
}

/// Error and impulse of a contact without torques, and what its bodies have at stake there.
template <class Contact>
void ContactSweeps::look_at(const Contact& c, const double* x, Index place, Law law) {
    Seen seen;
    see(c, x, seen);
    if (compliant_) {
        const Give give = give_[place];
        seen.u +=
            give.tangential * seen.force + (give.normal - give.tangential) * dot(seen.n, seen.force) * seen.n;
    }
    Looked& look = looked_[place];
    seen.force *= look.inverse_mass;
    look.error = natural_error(seen.n, c.mu, seen.force, seen.u, law);
    if (look.error <= look.rounding * look.rounding) look.error = 0;
    look.impulse = dot(seen.force, seen.force);
    const auto stake = [&](const Four& velocity) {
        if (c.mu > 0) return dot(velocity, velocity);
        const double normal = dot(seen.n, velocity);  // nothing holds what is across
        return normal * normal;
    };
    raise_stake(c.a, std::max(look.at_stake, stake(seen.at_a)));
    raise_stake(c.b, std::max(look.at_stake, stake(seen.at_b)));
}

/// The same of one that bears torques, by its components.
void ContactSweeps::look_at(const WrenchContact& c, const double* x, Index place, Law law) {
    using Components = std::array<double, max_block>;
    using Vector3 = Eigen::Map<const Eigen::Vector3d>;
    const Index i = order_[place];
    const Cone& cone = p_->cones[i];
    const int m = m_;
    Looked& look = looked_[place];
    const ContactFrame E = frame(i);
    const auto components = [&](const Eigen::Vector3d& v, const Eigen::Vector3d& spin) {
        Eigen::Matrix<double, 6, 1> local;
        local << E * v, E * spin;
        Components out{};
        const auto at = places(cone, m);
        for (int k = 0; k < cone.dim; ++k) out[k] = local[at[k]];
        return out;
    };
    const auto raise = [&](Index at, const Components& v) {
        double squares = 0;
        for (int k = 0; k < cone.dim; ++k) {
            const double l = is_torque(cone, k) ? W_->length(i) : 1.0;
            squares += v[k] * l * v[k] * l;
        }
        raise_stake(at, std::max(look.at_stake, squares));
    };
    const Eigen::Vector3d n = Vector3(c.n), wa = Vector3(line(c.a) + 4), wb = Vector3(line(c.b) + 4);
    const Eigen::Vector3d pa = Vector3(line(c.a)) + c.arm_a * wa.cross(n),
                          pb = Vector3(line(c.b)) - c.arm_b * wb.cross(n);
    Components u = components(pa - pb, c.twist_a * wa + c.twist_b * wb);
    raise(c.a, components(pa, c.twist_a * wa));
    raise(c.b, components(pb, c.twist_b * wb));
    const Components impulse = components(Vector3(x), Vector3(x + 4));
    for (int k = 0; k < cone.dim; ++k) {
        u[k] += W_->b()[p_->offset[i] + k];
        if (compliant_) u[k] += p_->compliance[p_->offset[i] + k] * impulse[k];
    }
    const BlockError error = block_error(*W_, i, impulse.data(), u.data(), law);
    look.error = error.natural;
    look.impulse = error.impulse;
}

void ContactSweeps::look_at_run(const Run& run, Law law) {
    const double* x = r.data() + run.row;
    const auto each = [&](const auto& blocks) {
        for (Index k = 0; k < run.count; ++k) {
            if constexpr (requires { blocks[0].a; }) {
                const auto& soon = blocks[run.first + k + bodies_ahead];  // blocks go on past the last
                for (const std::ptrdiff_t at : {soon.a, soon.b}) {
                    __builtin_prefetch(line(static_cast<Index>(at)));
                    __builtin_prefetch(stake_.data() + at, 1);
                }
            }
            look_at(blocks[run.first + k], x, run.place + k, law);
            x += numbers_of(run.kind, order_[run.place + k]);
        }
    };
    of_kind(*this, run.kind, each);
}

/// The most that is at stake at a block and its bodies.
double ContactSweeps::stake_near(const Run& run, Index k) const {
    double near = looked_[run.place + k].at_stake;
    const auto include = [&](Index at) {
        if (at > 0) near = std::max(near, stake_[at]);
    };
    const auto both = [&](const auto& c) {
        include(c.a);
        include(c.b);
    };
    switch (run.kind) {
        case Kind::ball:
            both(balls_[run.first + k]);
            break;
        case Kind::rigid:
            both(rigid_[run.first + k]);
            break;
        case Kind::wrench:
            both(wrenches_[run.first + k]);
            break;
        case Kind::tensor:
            with_tensors(*this, [&](const auto& blocks) {
                const auto& block = blocks[run.first + k];
                for (Index e = block.first; e < block.last; ++e) include(p_->tensors.body[e] + 1);
            });
            break;
        case Kind::other: {
            const Other& block = others_[run.first + k];
            for (Index e = block.first; e < block.last; ++e) include(entries_[e].body);
        }
    }
    return near;
}

LawResidual ContactSweeps::measure(Law law) {
    const Delassus& W = *W_;
    const Tiling& t = *tiling_;
    const int threads = W.threads();
    stake_.assign(1, 0.0);
    for (const Species& s : p_->species) stake_.insert(stake_.end(), s.count, s.at_stake * s.at_stake);
    partial_looks_.assign(static_cast<std::size_t>(t.tiles()), {});
    in_colours(t, threads, nullptr, nullptr, 0, false, [&](Index tile) {
        LookSums sums;
        for (Index n = run_start_[tile]; n < run_start_[tile + 1]; ++n) {
            look_at_run(runs_[n], law);
            for (Index k = 0; k < runs_[n].count; ++k) {
                const Looked& look = looked_[runs_[n].place + k];
                const double mass = 1 / look.inverse_mass;
                sums.natural += look.error * mass;
                sums.at_stake += look.at_stake * mass;
                sums.impulse += look.impulse * mass;
                sums.largest = std::max(sums.largest, look.at_stake);
            }
        }
        partial_looks_[tile] = sums;
    });
    if (W.exchange() != nullptr) W.exchange()->raise(stake_.data() + 1);
    ResidualSums total;
    std::array<ExactSum, 3> sums;
    for (const LookSums& part : partial_looks_) {
        sums[0].add(part.natural);
        sums[1].add(part.at_stake);
        sums[2].add(part.impulse);
        total.largest = std::max(total.largest, part.largest);
    }
    W.add_up(sums);
    total.natural = sums[0].value();
    total.at_stake = sums[1].value();
    total.impulse = sums[2].value();
    for (const double stake : stake_) total.largest = std::max(total.largest, stake);
    total.largest = W.largest(total.largest);
    parallel_for_uneven(threads, t.tiles(), 16, [&](Index tile) {
        LookSums part;
        for (Index n = run_start_[tile]; n < run_start_[tile + 1]; ++n) {
            const Run& run = runs_[n];
            for (Index k = 0; k < run.count; ++k) {
                const Looked& look = looked_[run.place + k];
                part.add(look.error, look.impulse, stake_near(run, k), total.largest);
            }
        }
        partial_looks_[tile] = part;
    });
    std::array<ExactSum, 2> means;
    double relative = 0, error = 0;
    for (const LookSums& part : partial_looks_) {
        means[0].add(part.squares);
        means[1].add(part.busy);
        relative = std::max(relative, part.relative);
        error = std::max(error, part.error);
    }
    W.add_up(means);
    return total.residual(means[0].value(), means[1].value(), W.largest(relative), W.largest(error));
}

}  // namespace drystone
