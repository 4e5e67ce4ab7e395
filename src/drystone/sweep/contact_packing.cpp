// What ContactSweeps makes of a problem before it sweeps: which kind each block is, and the blocks as their visits read
// them.
#include "drystone/base/parallel.hpp"
#include "drystone/cone/judge.hpp"
#include "drystone/sweep/contact_sweeps.hpp"
#include "drystone/sweep/sweep_any.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace drystone {

namespace {

template <int d>
Eigen::Vector3d in_space(const Vec<d>& x) {
    Eigen::Vector3d out = Eigen::Vector3d::Zero();
    out.head<d>() = x;
    return out;
}

bool is_contact(const Cone& cone, int velocities) {
    if (cone.kind == ConeKind::ray) return true;
    return cone.kind == ConeKind::second_order && cone.dim == (velocities == 6 ? 3 : 2) &&
           std::isfinite(cone.mu());
}

bool is_wrench(const Cone& cone, int velocities) {
    return cone.kind == ConeKind::wrench && (cone.dim == 3) == (velocities == 3) &&
           std::isfinite(cone.mu() + cone.coefficient[1] + cone.coefficient[2]);
}

template <int d>
ContactFrame frame_in_space(const Vec<d>& normal) {
    ContactFrame E = ContactFrame::Identity();
    E.topLeftCorner<d, d>() = frame_of(normal);
    return E;
}

/// The components that forces have in a frame, as a vector of space.
Eigen::Vector3d in_space(const ContactFrame& E, const Cone& cone, const double* components) {
    Eigen::Vector3d out = components[0] * E.row(0).transpose();
    for (int k = 1; k < std::min<int>(3, cone.dim); ++k) out += components[k] * E.row(k).transpose();
    return out;
}

}  // namespace

bool ContactSweeps::fits(const Delassus& W, const SweepOptions& options) {
    return options.local.solver == LocalSolver::hybrid && W.whitened() && W.problem().space() != 0 &&
           (options.kernel == SweepKernel::automatic || options.kernel == SweepKernel::rigid);
}

ContactFrame ContactSweeps::frame(Index i) const {
    const ContactRows& contacts = p_->contacts;
    if (i < static_cast<Index>(contacts.space.size())) return frame_in_space<3>(contacts.space[i].normal);
    if (i < static_cast<Index>(contacts.plane.size())) return frame_in_space<2>(contacts.plane[i].normal);
    return frame_of_rows(i);
}

template <int d>
[[gnu::always_inline]] inline ContactSweeps::Geometry ContactSweeps::geometry_of(
    const ContactRow<d>& c) const {
    const auto line_of = [&](Index body) { return body >= 0 && moves_[body + 1] != 0 ? body + 1 : 0; };
    Geometry g{line_of(c.a),         line_of(c.b),         in_space<d>(c.normal),
               in_space<d>(c.arm_a), in_space<d>(c.arm_b), false};
    g.fits = solid_[g.a] != 0 && solid_[g.b] != 0;
    return g;
}

ContactSweeps::Geometry ContactSweeps::geometry_of(Index i) const {
    const ConeProblem& p = *p_;
    if (i < p.contacts.size() && p.H.first(i) == p.H.last(i)) {
        if (p.contacts.plane.empty()) return geometry_of<3>(p.contacts.space[i]);
        return geometry_of<2>(p.contacts.plane[i]);
    }
    return geometry_of_rows(i);
}

/// Alike about all axes, with the contact on the normal through its centre.
[[gnu::always_inline]] inline bool ContactSweeps::is_ball(Index at, const Eigen::Vector3d& arm,
                                                          const Eigen::Vector3d& normal) const {
    if (at == 0) return true;
    const double* body = line(at);
    if (!inertia_.empty()) {
        const Eigen::Vector3d J = inertia(at).diagonal();
        if (J[0] != body[7] || J[1] != body[7] || J[2] != body[7]) return false;
    }
    const double along = arm.dot(normal);
    const double across = (arm - along * normal).squaredNorm() * body[7];
    return across <= rounding_of_numbers * rounding_of_numbers * (body[3] + along * along * body[7]);
}

[[gnu::always_inline]] inline ContactSweeps::Kind ContactSweeps::kind_of(Index i, const Geometry& g,
                                                                         const SweepOptions& options) const {
    const ConeProblem& p = *p_;
    const Cone& cone = p.cones[i];
    if (p.tensor_at(i) >= 0) return is_tensor(i) ? Kind::tensor : Kind::other;
    const bool torques = is_wrench(cone, m_);
    if (!g.fits || (!torques && !is_contact(cone, m_))) return Kind::other;
    if (!associated_ && cone.dilatancy > 0) return Kind::other;
    const bool balls = is_ball(g.a, g.arm_a, g.normal) && is_ball(g.b, g.arm_b, g.normal);
    if (compliant_) {
        const auto C = p.compliance.segment(p.offset[i], cone.dim);
        for (int k = 2; k < cone.dim; ++k)
            if (C[k] != (is_torque(cone, k) ? 0.0 : C[1])) return Kind::other;
        // One that gives way between bodies that cannot move is solved all the same.
        if (g.a == 0 && g.b == 0 && !C.isZero(0.0)) return Kind::other;
    }
    if (!torques) return balls && options.kernel != SweepKernel::rigid ? Kind::ball : Kind::rigid;
    if (!balls) return Kind::other;
    return rolls(i, g, options.proximal) ? Kind::wrench : Kind::other;
}

/// True if the torques of two balls have closed forms.
bool ContactSweeps::rolls(Index i, const Geometry& g, double proximal) const {
    WrenchContact trial;
    pack(i, g, frame(i), proximal, trial);
    // Spheres have at least 2/7; far below, the closed forms would lose digits.
    constexpr double weakest = 0.01;
    const TwoDiscs& w = trial.discs;
    return w.wT * w.wR - w.cross * w.cross >= weakest * w.wT * w.wR && trial.twist_a * trial.twist_a > 0;
}

void ContactSweeps::order_blocks(const SweepOptions& options) {
    const ConeProblem& p = *p_;
    const Tiling& t = *tiling_;
    const Index visited = t.tile_start.back();
    kind_.resize(static_cast<std::size_t>(p.blocks()));
    parallel_for(W_->threads(), visited,
                 [&](Index q) { kind_[t.order[q]] = kind_of(t.order[q], geometry_of(t.order[q]), options); });
    sorted_.assign(t.order.begin(), t.order.begin() + visited);
    order_ = sorted_;
    runs_.clear();
    run_start_.assign(1, 0);
    std::array<Index, kinds> count{};
    Index row = 0, entries = 0;
    ScratchArray<Index> own(&W_->rooms());  // a tile's blocks
    others_.clear();
    for (Index tile = 0; tile < t.tiles(); ++tile) {
        const auto begin = sorted_.begin() + t.tile_start[tile],
                   end = sorted_.begin() + t.tile_start[tile + 1];
        const auto kind_at = [&](Index q) { return kind_[order_[q]]; };
        const bool mixed = std::any_of(begin, end, [&](Index i) { return kind_[i] != kind_[*begin]; });
        if (mixed) {  // those of a kind keep their order
            own.assign(begin, end);
            auto to = begin;
            for (int kind = 0; kind < kinds; ++kind)
                to = std::copy_if(own.begin(), own.end(), to,
                                  [&](Index i) { return static_cast<int>(kind_[i]) == kind; });
        }
        for (Index q = t.tile_start[tile]; q < t.tile_start[tile + 1];) {
            Run run{kind_at(q), count[static_cast<int>(kind_at(q))], 0, q, row};
            for (; q < t.tile_start[tile + 1] && kind_at(q) == run.kind; ++q) {
                const Index i = order_[q];
                ++run.count;
                if (run.kind == Kind::other) {
                    const int bodies = bodies_of(p, i);
                    others_.push_back({});
                    others_.back().block = i;
                    others_.back().first = entries;
                    others_.back().last = entries + bodies;
                    entries += bodies;
                }
                if (run.kind == Kind::other || run.kind == Kind::tensor) row += p.cones[i].dim;
            }
            if (run.kind != Kind::other && run.kind != Kind::tensor)
                row += run.count * (run.kind == Kind::wrench ? WrenchContact::numbers : BallContact::numbers);
            count[static_cast<int>(run.kind)] += run.count;
            runs_.push_back(run);
        }
        run_start_.push_back(static_cast<Index>(runs_.size()));
    }
    entries_.resize(static_cast<std::size_t>(entries));
    make_room(count, row);
}

void ContactSweeps::make_room(const std::array<Index, kinds>& count, Index row) {
    const auto with_margin = [](Index n, Index ahead) {
        return n == 0 ? 0 : static_cast<std::size_t>(n + ahead);
    };
    refit(balls_, with_margin(count[0], contact_ahead<BallContact>));
    refit(rigid_, with_margin(count[1], contact_ahead<RigidContact>));
    refit(wrenches_, with_margin(count[2], contact_ahead<WrenchContact>));
    with_tensors(*this, [&](auto& blocks) { refit(blocks, static_cast<std::size_t>(count[4])); });
    give_.resize(compliant_ ? order_.size() : 0);
    refit(looked_, order_.size());
    r.resize(row + 1);
    r[row] = 0;
    // Behind the last run, so that tile_row of no tile at all is the end.
    runs_.push_back({Kind::other, 0, 0, static_cast<Index>(order_.size()), row});
}

[[gnu::always_inline]] inline void ContactSweeps::pack(Index i, const Geometry& g, const ContactFrame& E,
                                                       double proximal, BallContact& c) const {
    const ConeProblem& p = *p_;
    const double *A = line(g.a), *B = line(g.b);
    c = {};
    std::copy_n(g.normal.data(), 3, c.n);
    c.a = g.a;
    c.b = g.b;
    c.arm_a = g.a == 0 ? 0.0 : g.arm_a.dot(g.normal);
    c.arm_b = g.b == 0 ? 0.0 : -g.arm_b.dot(g.normal);
    c.mu = p.cones[i].kind == ConeKind::ray ? 0.0 : p.cones[i].mu();
    double wN = A[3] + B[3], wT = wN + c.arm_a * c.arm_a * A[7] + c.arm_b * c.arm_b * B[7];
    if (compliant_) {
        wN += p.compliance[p.offset[i]];
        wT += p.cones[i].dim > 1 ? p.compliance[p.offset[i] + 1] : 0.0;
    }
    const double extra = AnyKernel::proximal_term(std::min(wN, wT), W_->inverse_mass(i), proximal);
    c.inverse_wN = 1 / (wN + extra);
    c.inverse_wT = 1 / (wT + extra);
    std::copy_n(in_space(E, p.cones[i], W_->b().data() + p.offset[i]).data(), 3, c.free);
}

double ContactSweeps::inverse_inertia(Index at, const Eigen::Vector3d& arm, const Eigen::Vector3d& e,
                                      const Eigen::Vector3d& f) const {
    if (at == 0) return 0;
    const Eigen::Vector3d x = arm.cross(e), y = arm.cross(f);
    // As the matrix would do it, so that it makes no difference what other bodies there are.
    if (inertia_.empty()) {
        const Eigen::Vector3d turned = line(at)[7] * y;
        return x.dot(turned);
    }
    const Eigen::Vector3d turned = inertia(at) * y;
    return x.dot(turned);
}

void ContactSweeps::pack(Index i, const Geometry& g, const ContactFrame& E, double proximal,
                         RigidContact& c) const {
    const ConeProblem& p = *p_;
    c = {};
    c.a = g.a;
    c.b = g.b;
    c.mu = p.cones[i].kind == ConeKind::ray ? 0.0 : p.cones[i].mu();
    c.stiffness = W_->inverse_mass(i);
    const double linear = line(g.a)[3] + line(g.b)[3];
    // Tangents: any; in the plane the first stays in it.
    Mat<3> F = frame_of(g.normal);
    if (m_ == 3) F << g.normal.transpose(), -g.normal[1], g.normal[0], 0, 0, 0, 1;
    const auto block = [&] {
        Eigen::Matrix3d W = linear * Eigen::Matrix3d::Identity();
        for (int k = 0; k < 3; ++k)
            for (int l = 0; l <= k; ++l) {
                const Eigen::Vector3d e = F.row(k), f = F.row(l);
                W(k, l) += inverse_inertia(g.a, g.arm_a, e, f) + inverse_inertia(g.b, g.arm_b, e, f);
                W(l, k) = W(k, l);
            }
        return W;
    };
    Eigen::Matrix3d W = block();
    if (compliant_) {
        W(0, 0) += p.compliance[p.offset[i]];
        const double across = p.cones[i].dim > 1 ? p.compliance[p.offset[i] + 1] : 0.0;
        W(1, 1) += across;
        W(2, 2) += across;
    }
    // The smallest eigenvalue is at least the determinant over the square of half the trace: known to be large enough
    // nearly always.
    const double half = 0.5 * W.trace();
    double smallest = half > 0 ? W.determinant() / (half * half) : 0.0;
    if (!(smallest > 1e-12 * c.stiffness)) smallest = W.selfadjointView<Eigen::Lower>().eigenvalues()[0];
    W.diagonal().array() += AnyKernel::proximal_term(smallest, c.stiffness, proximal);
    const double w = W(0, 0);
    const double t11 = W(1, 1) - W(1, 0) * W(1, 0) / w, t22 = W(2, 2) - W(2, 0) * W(2, 0) / w;
    const double t12 = W(2, 1) - W(1, 0) * W(2, 0) / w;
    // Turned so that T is diagonal.
    if (!(std::abs(t12) <= 1e-15 * (std::abs(t11) + std::abs(t22)))) {
        const double angle = 0.5 * std::atan2(2 * t12, t11 - t22), cosine = std::cos(angle),
                     sine = std::sin(angle);
        Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
        R.bottomRightCorner<2, 2>() << cosine, sine, -sine, cosine;
        F = (R * F).eval();
        W = (R * W * R.transpose()).eval();
    }
    c.inverse_w = 1 / w;
    for (int k = 0; k < 2; ++k) {
        c.coupling[k] = W(k + 1, 0) / w;
        c.inverse_t[k] = 1 / std::max(W(k + 1, k + 1) - W(k + 1, 0) * W(k + 1, 0) / w, 1e-16 * c.stiffness);
    }
    const auto put = [](double* to, const Eigen::Vector3d& x) { std::copy_n(x.data(), 3, to); };
    put(c.n, g.normal);
    put(c.t, F.row(1));
    put(c.arm_a, g.arm_a);
    put(c.arm_b, g.arm_b);
    put(c.free, F * in_space(E, p.cones[i], W_->b().data() + p.offset[i]));
}

void ContactSweeps::pack(Index i, const Geometry& g, const ContactFrame& E, double proximal,
                         WrenchContact& c) const {
    const ConeProblem& p = *p_;
    const Cone& cone = p.cones[i];
    const int m = m_;
    const double *A = line(g.a), *B = line(g.b);
    c = {};
    c.a = g.a;
    c.b = g.b;
    std::copy_n(g.normal.data(), 3, c.n);
    c.arm_a = g.a == 0 ? 0.0 : g.arm_a.dot(g.normal);
    c.arm_b = g.b == 0 ? 0.0 : -g.arm_b.dot(g.normal);
    c.mu = cone.mu();
    c.rolling = cone.coefficient[1];
    c.spinning = cone.dim == 6 ? cone.coefficient[2] : 0;
    c.twist_a = 1;
    c.twist_b = -1;
    if (i >= p.contacts.size()) {
        // Torque rows must be a multiple of the frame; what is not has no twist, and is another kind.
        int side = 0;
        bool good = true;
        const auto at = places(cone, m);
        const int d = m - spins_of(m), forces = d;
        c.twist_a = c.twist_b = 0;
        for_each_entry(p, p.H, i, [&](Index body, auto, const BodyRowsOf& rows) {
            if (moves_[body + 1] == 0) return;
            const auto spin_of = [&](int k) {
                return m == 6 ? Eigen::Vector3d(rows(k, 3), rows(k, 4), rows(k, 5))
                              : Eigen::Vector3d(0, 0, rows(k, 2));
            };
            const int last = cone.dim - 1;
            const double twist = spin_of(last).dot(Eigen::Vector3d(E.row(2)));
            for (int k = forces; k < cone.dim; ++k) {
                const Eigen::Vector3d e = E.row(at[k] - 3);
                good = good && (spin_of(k) - twist * e).norm() <= rounding_of_numbers * std::abs(twist);
                for (int x = 0; x < d; ++x) good = good && rows(k, x) == 0;
            }
            (side++ == 0 ? c.twist_a : c.twist_b) = twist;
        });
        if (!good) c.twist_a = 0;
    }
    double wN = A[3] + B[3];
    double wT = wN + c.arm_a * c.arm_a * A[7] + c.arm_b * c.arm_b * B[7];
    double wR = c.twist_a * c.twist_a * A[7] + c.twist_b * c.twist_b * B[7], wS = wR;
    const double cross = c.arm_a * c.twist_a * A[7] + c.arm_b * c.twist_b * B[7];
    if (compliant_) {
        wN += p.compliance[p.offset[i]];
        wT += p.compliance[p.offset[i] + 1];
    }
    // The smaller root of the symmetric 2 x 2 matrix, as determinant over the larger one.
    const double mean = 0.5 * (wT + wR), half = std::hypot(0.5 * (wT - wR), cross);
    const double smallest = std::min({wN, wT, wS, (wT * wR - cross * cross) / (mean + half)});
    c.stiffness = W_->inverse_mass(i);
    c.torque_stiffness = c.stiffness / (W_->length(i) * W_->length(i));
    const double extra = AnyKernel::proximal_term(smallest, c.stiffness, proximal);
    wN += extra;
    wT += extra;
    wR += extra;
    wS += extra;
    c.inverse_wN = 1 / wN;
    c.inverse_wS = 1 / wS;
    c.inverse_determinant = 1 / (wT * wR - cross * cross);
    c.discs = {wT, wR, cross};
    const auto at = places(cone, m);
    Eigen::Matrix<double, 6, 1> local = Eigen::Matrix<double, 6, 1>::Zero();
    for (int k = 0; k < cone.dim; ++k) local[at[k]] = W_->b()[p.offset[i] + k];
    const Eigen::Vector3d free = E.transpose() * local.head<3>(), spin = E.transpose() * local.tail<3>();
    std::copy_n(free.data(), 3, c.free);
    std::copy_n(spin.data(), 3, c.free_spin);
}

template <class Contact>
[[gnu::always_inline]] inline void ContactSweeps::load_impulse(const Contact& c, Index i,
                                                               const ContactFrame& E, const double* from,
                                                               double* x) const {
    const Cone& cone = p_->cones[i];
    if constexpr (std::is_same_v<Contact, Other>) {
        BlockVector::Map(x, cone.dim) = c.frame * BlockVector::Map(from, cone.dim);
    } else if constexpr (is_tensor_block<Contact>) {
        c.turn_in(from, x);
    } else if constexpr (std::is_same_v<Contact, WrenchContact>) {
        const auto at = places(cone, m_);
        Eigen::Matrix<double, 6, 1> local = Eigen::Matrix<double, 6, 1>::Zero();
        for (int k = 0; k < cone.dim; ++k) local[at[k]] = from[k];
        const Eigen::Vector3d force = E.transpose() * local.head<3>(),
                              torque = E.transpose() * local.tail<3>();
        std::copy_n(force.data(), 3, x);
        std::copy_n(torque.data(), 3, x + 4);
        x[3] = x[7] = 0;
    } else {
        Eigen::Vector3d force = in_space(E, cone, from);
        if constexpr (std::is_same_v<Contact, RigidContact>) force = (c.own_frame() * force).eval();
        std::copy_n(force.data(), 3, x);
    }
}

template <class Contact>
[[gnu::always_inline]] inline void ContactSweeps::store_impulse(const Contact& c, Index i, const double* x,
                                                                double* to) const {
    const Cone& cone = p_->cones[i];
    const ContactFrame E = frame(i);
    Eigen::Vector3d force = Eigen::Map<const Eigen::Vector3d>(x);
    if constexpr (std::is_same_v<Contact, WrenchContact>) {
        const auto at = places(cone, m_);
        Eigen::Matrix<double, 6, 1> local;
        local << E * force, E * Eigen::Map<const Eigen::Vector3d>(x + 4);
        for (int k = 0; k < cone.dim; ++k) to[k] = local[at[k]];
    } else {
        if constexpr (std::is_same_v<Contact, RigidContact>)
            force = (c.own_frame().transpose() * force).eval();
        for (int k = 0; k < cone.dim; ++k) to[k] = E.row(k).dot(force);
    }
}

/// The block at a place in the order of work, its impulse at `row`, and what looks need of it.
template <class Block>
[[gnu::always_inline]] inline void ContactSweeps::pack(Index place, const Geometry& g, const ContactFrame& E,
                                                       double proximal, const Vector& from, Index row,
                                                       Block& to) {
    const Index i = order_[place];
    if (compliant_) {
        const auto C = p_->compliance.segment(p_->offset[i], p_->cones[i].dim);
        give_[place] = {C[0], C.size() > 1 ? C[1] : 0.0};
    }
    looked_[place] = {.inverse_mass = W_->inverse_mass(i),
                      .rounding = W_->rounding(i),
                      .at_stake = stake_of(*W_, i, associated_ ? Law::associated : Law::coulomb)};
    const double* in = from.data() + p_->offset[i];
    pack(i, g, E, proximal, to);
    load_impulse(to, i, E, in, r.data() + row);
}

void ContactSweeps::pack_run(const Run& run, double proximal, const Vector& from) {
    Index row = run.row;
    const auto each = [&](auto& blocks) {
        for (Index k = 0; k < run.count; ++k) {
            const Index i = order_[run.place + k];
            const bool contact = run.kind != Kind::other && run.kind != Kind::tensor;
            pack(run.place + k, contact ? geometry_of(i) : Geometry{}, contact ? frame(i) : ContactFrame{},
                 proximal, from, row, blocks[run.first + k]);
            row += numbers_of(run.kind, i);
        }
    };
    of_kind(*this, run.kind, each);
}

/// Where all are contacts of balls they are packed in one pass, with their impulses. False where there is another: all
/// is to be packed anew.
bool ContactSweeps::fill_balls(const SweepOptions& options, const Vector& from) {
    const ConeProblem& p = *p_;
    const Tiling& t = *tiling_;
    if (options.kernel == SweepKernel::rigid || !inertia_.empty() || !p.H.body.empty() ||
        p.contacts.size() != p.blocks())
        return false;
    order_ = std::span(t.order).first(static_cast<std::size_t>(t.tile_start.back()));
    runs_.clear();
    run_start_.resize(static_cast<std::size_t>(t.tiles()) + 1);
    for (Index tile = 0; tile < t.tiles(); ++tile) {
        const Index first = t.tile_start[tile], count = t.tile_start[tile + 1] - first;
        run_start_[tile + 1] = tile + 1;
        runs_.push_back({Kind::ball, first, count, first, first * BallContact::numbers});
    }
    run_start_[0] = 0;
    const auto visited = static_cast<Index>(order_.size());
    make_room({visited, 0, 0, 0, 0}, visited * BallContact::numbers);
    std::atomic<bool> all{true};
    const auto pack_all = [&]<int d>(const std::vector<ContactRow<d>>& contacts) {
        parallel_for_uneven(W_->threads(), t.tiles(), 16, [&](Index tile) {
            for (Index q = t.tile_start[tile]; q < t.tile_start[tile + 1]; ++q) {
                constexpr Index ahead = 12, bodies = 4;
                if (q + ahead < visited) {
                    const Index soon = order_[q + ahead];
                    __builtin_prefetch(&contacts[soon]);
                    __builtin_prefetch(&contacts[soon].arm_b);
                    __builtin_prefetch(&p.cones[soon]);
                    __builtin_prefetch(from.data() + p.offset[soon]);
                    __builtin_prefetch(W_->b().data() + p.offset[soon]);
                    const ContactRow<d>& next = contacts[order_[q + bodies]];
                    __builtin_prefetch(line(next.a + 1));
                    __builtin_prefetch(line(next.b + 1));
                }
                const Index i = order_[q];
                const Geometry g = geometry_of<d>(contacts[i]);
                if (kind_of(i, g, options) != Kind::ball) all.store(false, std::memory_order_relaxed);
                if (!all.load(std::memory_order_relaxed)) return;
                pack(q, g, frame_in_space<d>(contacts[i].normal), options.proximal, from,
                     q * BallContact::numbers, balls_[q]);
            }
        });
    };
    if (p.contacts.plane.empty()) {
        pack_all(p.contacts.space);
    } else {
        pack_all(p.contacts.plane);
    }
    return all.load();
}

void ContactSweeps::fill(const Delassus& W, Law law, const SweepOptions& options, const Tiling& tiling,
                         const Vector& from) {
    W_ = &W;
    p_ = &W.problem();
    m_ = p_->space() == 2 ? body_velocities<2> : body_velocities<3>;
    tiling_ = &tiling;
    associated_ = law == Law::associated;
    compliant_ = W.compliant();
    local_ = options.local;
    fill_bodies(W);
    if (!fill_balls(options, from)) {
        order_blocks(options);
        parallel_for_uneven(W.threads(), static_cast<Index>(runs_.size()), 16,
                            [&](Index n) { pack_run(runs_[n], options.proximal, from); });
    }
    load_lines(from);
}

/// Calls f(contact, block, row) for every block that is visited; `other` blocks are their own contact.
template <class F>
void ContactSweeps::each_block(F&& f) const {
    parallel_for_uneven(W_->threads(), static_cast<Index>(runs_.size()), 16, [&](Index n) {
        const Run& run = runs_[n];
        Index row = run.row;
        const auto each = [&](const auto& blocks) {
            for (Index k = 0; k < run.count; ++k) {
                const Index i = order_[run.place + k];
                f(blocks[run.first + k], i, row);
                row += numbers_of(run.kind, i);
            }
        };
        of_kind(*this, run.kind, each);
    });
}

void ContactSweeps::load(const Vector& from) {
    each_block([&]<class Contact>(const Contact& c, Index i, Index row) {
        constexpr bool framed = !std::is_same_v<Contact, Other> && !is_tensor_block<Contact>;
        load_impulse(c, i, framed ? frame(i) : ContactFrame{}, from.data() + p_->offset[i], r.data() + row);
    });
    load_lines(from);
}

void ContactSweeps::store(Vector& to) const {
    each_block([&]<class Contact>(const Contact& c, Index i, Index row) {
        double* out = to.data() + p_->offset[i];
        if constexpr (std::is_same_v<Contact, Other>) {
            const int dim = p_->cones[i].dim;
            BlockVector::Map(out, dim) = c.frame.transpose() * BlockVector::Map(r.data() + row, dim);
        } else if constexpr (is_tensor_block<Contact>) {
            c.turn_out(r.data() + row, out);
        } else {
            store_impulse(c, i, r.data() + row, out);
        }
    });
}

void ContactSweeps::weights(Vector& out) const {
    out.setZero(r.size());
    each_block([&]<class Contact>(const Contact& c, Index i, Index row) {
        if constexpr (std::is_same_v<Contact, BallContact>) {
            for (int k = 0; k < 3; ++k) out[row + k] = c.weight(lines());
        } else if constexpr (std::is_same_v<Contact, RigidContact>) {
            for (int k = 0; k < 3; ++k) out[row + k] = c.stiffness;
        } else if constexpr (std::is_same_v<Contact, WrenchContact>) {
            for (int k = 0; k < 8; ++k) out[row + k] = k < 4 ? c.stiffness : c.torque_stiffness;
        } else {
            for (int k = 0; k < p_->cones[i].dim; ++k) {
                const double length = is_torque(p_->cones[i], k) ? W_->length(i) : 1.0;
                out[row + k] = W_->inverse_mass(i) / (length * length);
            }
        }
    });
}

}  // namespace drystone
