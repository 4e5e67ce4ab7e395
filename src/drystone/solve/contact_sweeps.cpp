#include "drystone/solve/contact_sweeps.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/solve/sweep_any.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// Differences of this part of what is compared are rounding of those who wrote the numbers.
constexpr double rounding = 1e-13;

/// Visits ahead at which a contact, and later its bodies, are asked for: about what the last-level cache needs.
template <class Contact>
constexpr Index contact_ahead = sizeof(Contact) <= 96 ? 24 : 12;
constexpr Index bodies_ahead = 8;

/// Where velocity k of a body of 3 or 6 velocities is in its line.
int place_in_line(int velocities, int k) {
    if (velocities == 3) return k < 2 ? k : 6;
    return k < 3 ? k : k + 1;
}

template <int d>
Eigen::Vector3d in_space(const Vec<d>& x) {
    Eigen::Vector3d out = Eigen::Vector3d::Zero();
    out.head<d>() = x;
    return out;
}

/// The columns of a block's tangents in (N, T1, T2, S, R1, R2). In the plane t2 is the z axis: T = T1, R = R2.
std::array<int, max_block> places(const Cone& cone, int velocities) {
    if (velocities == 3) return {0, 1, 5};
    if (cone.dim == 5) return {0, 1, 2, 4, 5};
    return {0, 1, 2, 3, 4, 5};
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

}  // namespace

bool ContactSweeps::fits(const Delassus& W, const GaussSeidelOptions& options) {
    const int m = W.problem().common_dim();
    return options.local.solver == LocalSolver::hybrid && W.whitened() && (m == 3 || m == 6) &&
           (options.kernel == SweepKernel::automatic || options.kernel == SweepKernel::rigid);
}

void ContactSweeps::fill(const Delassus& W, Law law, const GaussSeidelOptions& options,
                         const Tiling& tiling) {
    W_ = &W;
    p_ = &W.problem();
    tiling_ = &tiling;
    associated_ = law == Law::associated;
    compliant_ = W.compliant();
    local_ = options.local;
    fill_bodies(W);
    order_blocks(options);
    parallel_for_uneven(W.threads(), static_cast<Index>(runs_.size()), 16, [&](Index n) {
        const Run& run = runs_[n];
        for (Index k = 0; k < run.count; ++k) pack(run, k, options.proximal);
    });
}

void ContactSweeps::fill_bodies(const Delassus& W) {
    const ConeProblem& p = *p_;
    const int m = p.common_dim();
    const auto count = static_cast<std::size_t>(p.bodies()) + 1;
    z.setZero(static_cast<Eigen::Index>(count + 1) * body_line);
    constexpr std::uintptr_t cache_line = 64;
    first_line_ = static_cast<int>((cache_line - reinterpret_cast<std::uintptr_t>(z.data()) % cache_line) %
                                   cache_line / sizeof(double));
    solid_.assign(count, 1);
    moves_.assign(count, 0);
    bool alike = true;
    for (const Species& s : p.species) {
        const auto* rigid = std::get_if<RigidInverseMass>(&s.mass);
        alike = alike && rigid != nullptr && rigid->moments() == 1;
    }
    inertia_.assign(alike ? 0 : count * inertia_line, 0.0);
    Index first = 0;
    for (const Species& s : p.species) {
        parallel_for(W.threads(), s.count, [&](Index k) {
            const Index at = first + k + 1;
            double* to = line(at);
            const double n = copies_of(W, first + k);
            const auto* rigid = std::get_if<RigidInverseMass>(&s.mass);
            if (alike) {
                to[3] = n * rigid->mass[k];
                to[7] = n * rigid->inertia[k];
                moves_[at] = to[3] != 0 || to[7] != 0 ? 1 : 0;
                return;
            }
            moves_[at] = p.moves(first + k) ? 1 : 0;
            std::array<double, 36> B;
            inverse_block(s, k, B.data());
            const int d = m - spins_of(m);
            to[3] = n * B[0];
            // Velocities of a rigid body are alike, and know nothing of its spin.
            for (int a = 0; a < m; ++a) {
                for (int b = 0; b < m; ++b) {
                    if (a >= d && b >= d) continue;
                    const double expected = a == b ? B[0] : 0.0;
                    if (!(std::abs(B[a * m + b] - expected) <= rounding * B[0])) solid_[at] = 0;
                }
            }
            if (m == 3) {
                to[7] = n * B[8];
            } else {
                const Eigen::Map<const Eigen::Matrix<double, 6, 6, Eigen::RowMajor>> whole(B.data());
                Eigen::Matrix3d J = n * whole.bottomRightCorner<3, 3>();
                const double mean = J.trace() / 3;
                if ((J - mean * Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff() <= rounding * mean) {
                    to[7] = n * B[21];
                    J = to[7] * Eigen::Matrix3d::Identity();
                }
                double* six = inertia_.data() + static_cast<std::ptrdiff_t>(at) * inertia_line;
                for (int a = 0; a < 3; ++a)
                    for (int b = a; b < 3; ++b) *six++ = J(a, b);
            }
            if (m == 3) {
                double* six = inertia_.data() + static_cast<std::ptrdiff_t>(at) * inertia_line;
                six[0] = six[3] = six[5] = to[7];
            }
        });
        first += s.count;
    }
}

ContactFrame ContactSweeps::frame(Index i) const {
    const ConeProblem& p = *p_;
    ContactFrame E = ContactFrame::Zero();
    if (i < p.contacts.size()) {
        p.contacts.visit(i, [&]<int d>(const ContactRow<d>& c) {
            E.topLeftCorner<d, d>() = frame_of(c.normal);
            if (d == 2) E(2, 2) = 1;
        });
        return E;
    }
    // The first body that moves gives it.
    bool found = false;
    for_each_entry(p, p.H, i, [&](Index body, auto place, const BodyRowsOf& A) {
        if (found || moves_[body + 1] == 0) return;
        found = true;
        const int d = place.dim - spins_of(place.dim), forces = std::min<int>(d, p.cones[i].dim);
        for (int k = 0; k < forces; ++k)
            for (int c = 0; c < d; ++c) E(k, c) = A(k, c);
        const Eigen::Vector3d n = E.row(0);
        if (forces == 1) E.row(1) = d == 3 ? n.unitOrthogonal() : Eigen::Vector3d(-n[1], n[0], 0);
        if (forces < 3) E.row(2) = d == 3 ? n.cross(Eigen::Vector3d(E.row(1))) : Eigen::Vector3d(0, 0, 1);
    });
    return E;
}

ContactSweeps::Geometry ContactSweeps::geometry_of(Index i) const {
    const ConeProblem& p = *p_;
    Geometry g;
    if (i < p.contacts.size() && p.H.first(i) == p.H.last(i)) {
        p.contacts.visit(i, [&]<int d>(const ContactRow<d>& c) {
            g.normal = in_space<d>(c.normal);
            g.arm_a = in_space<d>(c.arm_a);
            g.arm_b = in_space<d>(c.arm_b);
            const auto line_of = [&](Index body) {
                return body >= 0 && moves_[body + 1] != 0 ? body + 1 : 0;
            };
            g.a = line_of(c.a);
            g.b = line_of(c.b);
        });
        g.fits = solid_[g.a] != 0 && solid_[g.b] != 0;
        return g;
    }
    if (i < p.contacts.size() || bodies_of(p, i) < 1) return g;
    const ContactFrame E = frame(i);
    if (!((E * E.transpose() - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff() <= rounding)) return g;
    g.normal = E.row(0);
    g.arm_a = g.arm_b = Eigen::Vector3d::Zero();
    g.fits = true;
    for_each_entry(p, p.H, i, [&](Index body, auto place, const BodyRowsOf& A) {
        if (!g.fits || moves_[body + 1] == 0) return;
        const int d = place.dim - spins_of(place.dim), forces = std::min<int>(d, p.cones[i].dim);
        g.fits = g.b == 0 && solid_[body + 1] != 0;
        const double sign = g.a == 0 ? 1 : -1;
        // Rows of spins are arm x e. Summed over an orthonormal frame, e x (arm x e) is twice the arm; what rows that are not there would tell is not
        // needed.
        std::array<Eigen::Vector3d, 3> turns;
        for (int k = 0; k < forces; ++k) {
            turns[k] = d == 3 ? Eigen::Vector3d(A(k, 3), A(k, 4), A(k, 5)) : Eigen::Vector3d(0, 0, A(k, 2));
            turns[k] *= sign;
        }
        Eigen::Vector3d arm = Eigen::Vector3d::Zero();
        for (int k = 0; k < forces; ++k) arm += Eigen::Vector3d(E.row(k)).cross(turns[k]);
        if (forces == 3) arm *= 0.5;
        double error = 0, size = 1;
        for (int k = 0; k < forces; ++k) {
            const Eigen::Vector3d e = E.row(k);
            error = std::max(error, (arm.cross(e) - turns[k]).cwiseAbs().maxCoeff());
            size = std::max(size, turns[k].cwiseAbs().maxCoeff());
            for (int c = 0; c < d; ++c) error = std::max(error, std::abs(A(k, c) - sign * e[c]));
        }
        g.fits = g.fits && error <= rounding * size;
        (g.a == 0 ? g.arm_a : g.arm_b) = arm;
        (g.a == 0 ? g.a : g.b) = body + 1;
    });
    return g;
}

ContactSweeps::Kind ContactSweeps::kind_of(Index i, const GaussSeidelOptions& options) const {
    const ConeProblem& p = *p_;
    const Cone& cone = p.cones[i];
    const int m = p.common_dim();
    const bool torques = is_wrench(cone, m);
    if (!torques && !is_contact(cone, m)) return Kind::other;
    const Geometry g = geometry_of(i);
    if (!g.fits) return Kind::other;
    if (compliant_) {
        const auto C = p.compliance.segment(p.offset[i], cone.dim);
        for (int k = 2; k < cone.dim; ++k)
            if (C[k] != (is_torque(cone, k) ? 0.0 : C[1])) return Kind::other;
        // One that gives way between bodies that cannot move is solved all the same.
        if (g.a == 0 && g.b == 0 && !C.isZero(0.0)) return Kind::other;
    }
    const auto is_ball = [&](Index at, const Eigen::Vector3d& arm) {
        if (at == 0) return true;
        const double* body = line(at);
        if (!inertia_.empty()) {
            const double* J = inertia_.data() + static_cast<std::ptrdiff_t>(at) * inertia_line;
            if (J[0] != body[7] || J[3] != body[7] || J[5] != body[7]) return false;
        }
        const double along = arm.dot(g.normal);
        const double across = (arm - along * g.normal).squaredNorm() * body[7];
        return across <= rounding * rounding * (body[3] + along * along * body[7]);
    };
    const bool balls = is_ball(g.a, g.arm_a) && is_ball(g.b, g.arm_b);
    if (!torques) return balls && options.kernel != SweepKernel::rigid ? Kind::ball : Kind::rigid;
    if (!balls) return Kind::other;
    WrenchContact trial;
    pack_wrench(i, options.proximal, trial);
    // Spheres have at least 2/7; far below, the closed forms would lose digits.
    constexpr double weakest = 0.01;
    const TwoDiscs& w = trial.discs;
    return w.wT * w.wR - w.cross * w.cross >= weakest * w.wT * w.wR && trial.twist_a * trial.twist_a > 0
               ? Kind::wrench
               : Kind::other;
}

void ContactSweeps::order_blocks(const GaussSeidelOptions& options) {
    const ConeProblem& p = *p_;
    const Tiling& t = *tiling_;
    const Index visited = t.tile_start.back();
    kind_.resize(static_cast<std::size_t>(p.blocks()));
    parallel_for(W_->threads(), visited, [&](Index q) { kind_[t.order[q]] = kind_of(t.order[q], options); });
    order_.assign(t.order.begin(), t.order.begin() + visited);
    runs_.clear();
    run_start_.assign(1, 0);
    std::array<Index, kinds> count{};
    Index row = 0, entries = 0;
    others_.clear();
    for (Index tile = 0; tile < t.tiles(); ++tile) {
        const auto begin = order_.begin() + t.tile_start[tile], end = order_.begin() + t.tile_start[tile + 1];
        const auto kind_at = [&](Index q) { return kind_[order_[q]]; };
        const bool mixed = std::any_of(begin, end, [&](Index i) { return kind_[i] != kind_[*begin]; });
        if (mixed) std::stable_sort(begin, end, [&](Index i, Index j) { return kind_[i] < kind_[j]; });
        for (Index q = t.tile_start[tile]; q < t.tile_start[tile + 1];) {
            Run run{kind_at(q), count[static_cast<int>(kind_at(q))], 0, q, row};
            for (; q < t.tile_start[tile + 1] && kind_at(q) == run.kind; ++q) {
                const Index i = order_[q];
                ++run.count;
                if (run.kind == Kind::other) {
                    const int bodies = bodies_of(p, i);
                    others_.push_back({i, entries, entries + bodies, {}});
                    entries += bodies;
                    row += p.cones[i].dim;
                }
            }
            if (run.kind != Kind::other)
                row += run.count * (run.kind == Kind::wrench ? WrenchContact::numbers : BallContact::numbers);
            count[static_cast<int>(run.kind)] += run.count;
            runs_.push_back(run);
        }
        run_start_.push_back(static_cast<Index>(runs_.size()));
    }
    const auto with_margin = [](Index n, Index ahead) {
        return n == 0 ? 0 : static_cast<std::size_t>(n + ahead);
    };
    balls_.resize(with_margin(count[0], contact_ahead<BallContact>));
    rigid_.resize(with_margin(count[1], contact_ahead<RigidContact>));
    wrenches_.resize(with_margin(count[2], contact_ahead<WrenchContact>));
    entries_.resize(static_cast<std::size_t>(entries));
    give_.resize(compliant_ ? order_.size() : 0);
    r.setZero(row + 1);
    // Behind the last run, so that tile_row of no tile at all is the end.
    runs_.push_back({Kind::other, 0, 0, visited, row});
    at_stake_.clear();
}

void ContactSweeps::pack(const Run& run, Index k, double proximal) {
    const Index i = order_[run.place + k];
    if (compliant_) {
        const auto C = p_->compliance.segment(p_->offset[i], p_->cones[i].dim);
        give_[run.place + k] = {C[0], C.size() > 1 ? C[1] : 0.0};
    }
    switch (run.kind) {
        case Kind::ball:
            return pack_ball(i, proximal, balls_[run.first + k]);
        case Kind::rigid:
            return pack_rigid(i, proximal, rigid_[run.first + k]);
        case Kind::wrench:
            return pack_wrench(i, proximal, wrenches_[run.first + k]);
        case Kind::other:
            return pack_other(i, proximal, run.first + k);
    }
}

void ContactSweeps::pack_ball(Index i, double proximal, BallContact& c) const {
    const ConeProblem& p = *p_;
    const Geometry g = geometry_of(i);
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
    const ContactFrame E = frame(i);
    const int forces = std::min<int>(3, p.cones[i].dim);
    Eigen::Vector3d free = Eigen::Vector3d::Zero();
    for (int k = 0; k < forces; ++k) free += W_->b()[p.offset[i] + k] * E.row(k).transpose();
    std::copy_n(free.data(), 3, c.free);
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
    const double* six = inertia_.data() + static_cast<std::ptrdiff_t>(at) * inertia_line;
    Eigen::Matrix3d J;
    J << six[0], six[1], six[2], six[1], six[3], six[4], six[2], six[4], six[5];
    const Eigen::Vector3d turned = J * y;
    return x.dot(turned);
}

void ContactSweeps::pack_rigid(Index i, double proximal, RigidContact& c) const {
    const ConeProblem& p = *p_;
    const Geometry g = geometry_of(i);
    c = {};
    c.a = g.a;
    c.b = g.b;
    c.mu = p.cones[i].kind == ConeKind::ray ? 0.0 : p.cones[i].mu();
    c.stiffness = W_->inverse_mass(i);
    const double linear = line(g.a)[3] + line(g.b)[3];
    // Tangents: any; in the plane the first stays in it.
    Mat<3> E = frame_of(g.normal);
    if (p.common_dim() == 3) E << g.normal.transpose(), -g.normal[1], g.normal[0], 0, 0, 0, 1;
    const auto block = [&] {
        Eigen::Matrix3d W = linear * Eigen::Matrix3d::Identity();
        for (int k = 0; k < 3; ++k)
            for (int l = 0; l <= k; ++l) {
                const Eigen::Vector3d e = E.row(k), f = E.row(l);
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
    // The smallest eigenvalue is at least the determinant over the square of half the trace: known to be large enough nearly always.
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
        E = (R * E).eval();
        W = (R * W * R.transpose()).eval();
    }
    c.inverse_w = 1 / w;
    for (int k = 0; k < 2; ++k) {
        c.coupling[k] = W(k + 1, 0) / w;
        c.inverse_t[k] = 1 / std::max(W(k + 1, k + 1) - W(k + 1, 0) * W(k + 1, 0) / w, 1e-16 * c.stiffness);
    }
    const auto put = [](double* to, const Eigen::Vector3d& x) { std::copy_n(x.data(), 3, to); };
    put(c.n, g.normal);
    put(c.t, E.row(1));
    put(c.arm_a, g.arm_a);
    put(c.arm_b, g.arm_b);
    const ContactFrame F = frame(i);
    const int forces = std::min<int>(3, p.cones[i].dim);
    Eigen::Vector3d free = Eigen::Vector3d::Zero();
    for (int k = 0; k < forces; ++k) free += W_->b()[p.offset[i] + k] * F.row(k).transpose();
    put(c.free, E * free);
}

void ContactSweeps::pack_wrench(Index i, double proximal, WrenchContact& c) const {
    const ConeProblem& p = *p_;
    const Cone& cone = p.cones[i];
    const int m = p.common_dim();
    const Geometry g = geometry_of(i);
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
    const ContactFrame E = frame(i);
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
                good = good && (spin_of(k) - twist * e).norm() <= rounding * std::abs(twist);
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

void ContactSweeps::pack_other(Index i, double proximal, Index at) {
    const ConeProblem& p = *p_;
    Other& to = others_[at];
    const int dim = p.cones[i].dim, m = p.common_dim();
    to.W = BlockMatrix::Zero(dim, dim);
    Index next = to.first;
    for_each_entry(p, i, [&](Index body, auto, const BodyRowsOf& A) {
        if (moves_[body + 1] == 0) return;  // shared by tiles: not to be touched
        Entry& entry = entries_[next++];
        entry.body = body + 1;
        std::size_t s = 0;
        Index k = body;
        for (; k >= p.species[s].count; ++s) k -= p.species[s].count;
        std::array<double, 36> block;
        inverse_block(p.species[s], k, block.data());
        const double n = copies_of(*W_, body);
        for (int a = 0; a < dim; ++a) {
            for (int c = 0; c < m; ++c) {
                double push = 0;
                for (int e = 0; e < m; ++e) push += A(a, e) * block[e * m + c];
                entry.rows[a * m + c] = A(a, c);
                entry.push[a * m + c] = n * push;
            }
        }
        for (int a = 0; a < dim; ++a)
            for (int b = 0; b < dim; ++b)
                for (int c = 0; c < m; ++c) to.W(a, b) += entry.push[a * m + c] * entry.rows[b * m + c];
    });
    to.last = next;
    if (compliant_)
        for (int c = 0; c < dim; ++c) to.W(c, c) += p.compliance[p.offset[i] + c];
    to.W.diagonal().array() += AnyKernel::proximal_term(to.W, W_->inverse_mass(i), proximal);
}

template <class Contact>
void ContactSweeps::load_impulse(const Contact& c, Index i, const double* from, double* x) const {
    const Cone& cone = p_->cones[i];
    const ContactFrame E = frame(i);
    if constexpr (std::is_same_v<Contact, WrenchContact>) {
        const auto at = places(cone, p_->common_dim());
        Eigen::Matrix<double, 6, 1> local = Eigen::Matrix<double, 6, 1>::Zero();
        for (int k = 0; k < cone.dim; ++k) local[at[k]] = from[k];
        const Eigen::Vector3d force = E.transpose() * local.head<3>(),
                              torque = E.transpose() * local.tail<3>();
        std::copy_n(force.data(), 3, x);
        std::copy_n(torque.data(), 3, x + 4);
        x[3] = x[7] = 0;
    } else {
        Eigen::Vector3d force = Eigen::Vector3d::Zero();
        for (int k = 0; k < cone.dim; ++k) force += from[k] * E.row(k).transpose();
        if constexpr (std::is_same_v<Contact, RigidContact>) {
            const Eigen::Vector3d n = Eigen::Map<const Eigen::Vector3d>(c.n),
                                  t = Eigen::Map<const Eigen::Vector3d>(c.t);
            force = Eigen::Vector3d(n.dot(force), t.dot(force), n.cross(t).dot(force));
        }
        std::copy_n(force.data(), 3, x);
    }
}

template <class Contact>
void ContactSweeps::store_impulse(const Contact& c, Index i, const double* x, double* to) const {
    const Cone& cone = p_->cones[i];
    const ContactFrame E = frame(i);
    Eigen::Vector3d force = Eigen::Map<const Eigen::Vector3d>(x);
    if constexpr (std::is_same_v<Contact, WrenchContact>) {
        const auto at = places(cone, p_->common_dim());
        Eigen::Matrix<double, 6, 1> local;
        local << E * force, E * Eigen::Map<const Eigen::Vector3d>(x + 4);
        for (int k = 0; k < cone.dim; ++k) to[k] = local[at[k]];
    } else {
        if constexpr (std::is_same_v<Contact, RigidContact>) {
            const Eigen::Vector3d n = Eigen::Map<const Eigen::Vector3d>(c.n),
                                  t = Eigen::Map<const Eigen::Vector3d>(c.t);
            force = (x[0] * n + x[1] * t + x[2] * n.cross(t)).eval();
        }
        for (int k = 0; k < cone.dim; ++k) to[k] = E.row(k).dot(force);
    }
}

/// Calls f(contact, block, x) for every block that is visited; `other` blocks are their own contact.
template <class F>
void ContactSweeps::each_block(F&& f) const {
    parallel_for_uneven(W_->threads(), static_cast<Index>(runs_.size()), 16, [&](Index n) {
        const Run& run = runs_[n];
        Index row = run.row;
        for (Index k = 0; k < run.count; ++k) {
            const Index i = order_[run.place + k];
            switch (run.kind) {
                case Kind::ball:
                    f(balls_[run.first + k], i, row);
                    row += BallContact::numbers;
                    break;
                case Kind::rigid:
                    f(rigid_[run.first + k], i, row);
                    row += RigidContact::numbers;
                    break;
                case Kind::wrench:
                    f(wrenches_[run.first + k], i, row);
                    row += WrenchContact::numbers;
                    break;
                case Kind::other:
                    f(others_[run.first + k], i, row);
                    row += p_->cones[i].dim;
                    break;
            }
        }
    });
}

void ContactSweeps::load(const Vector& from) {
    each_block([&]<class Contact>(const Contact& c, Index i, Index row) {
        const double* in = from.data() + p_->offset[i];
        if constexpr (std::is_same_v<Contact, Other>) {
            std::copy_n(in, p_->cones[i].dim, r.data() + row);
        } else {
            load_impulse(c, i, in, r.data() + row);
        }
    });
    W_->push(from, change_);
    const int m = p_->common_dim();
    parallel_for(W_->threads(), p_->bodies(), [&](Index j) {
        double* to = line(j + 1);
        const double* v = change_.data() + static_cast<std::ptrdiff_t>(j) * m;
        for (int k = 0; k < m; ++k) to[place_in_line(m, k)] = v[k];
    });
}

void ContactSweeps::store(Vector& to) const {
    each_block([&]<class Contact>(const Contact& c, Index i, Index row) {
        double* out = to.data() + p_->offset[i];
        if constexpr (std::is_same_v<Contact, Other>) {
            std::copy_n(r.data() + row, p_->cones[i].dim, out);
        } else {
            store_impulse(c, i, r.data() + row, out);
        }
    });
}

Vector ContactSweeps::weights() const {
    Vector out = Vector::Zero(r.size());
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
    return out;
}

/// The velocity of a block by the lines, without b.
void ContactSweeps::add_velocity(const Other& block, std::array<double, max_block>& u) const {
    const int dim = p_->cones[block.block].dim, m = p_->common_dim();
    for (Index k = block.first; k < block.last; ++k) {
        const Entry& e = entries_[k];
        const double* body = line(e.body);
        for (int a = 0; a < dim; ++a)
            for (int c = 0; c < m; ++c) u[a] += e.rows[a * m + c] * body[place_in_line(m, c)];
    }
}

Visited ContactSweeps::visit_other(const Other& block, double* x, double* before, const double* push) {
    const Index i = block.block;
    const Cone& cone = p_->cones[i];
    const int dim = cone.dim, m = p_->common_dim();
    BlockVector old(dim), from = BlockVector::Zero(dim);
    for (int c = 0; c < dim; ++c) {
        old[c] = x[c];
        if (before != nullptr) from[c] = before[c];
        if (push != nullptr) {
            before[c] = x[c];
            old[c] = x[c] + *push * (x[c] - from[c]);
            from[c] = x[c];
        }
    }
    std::array<double, max_block> u{};
    add_velocity(block, u);
    BlockVector b(dim);
    for (int c = 0; c < dim; ++c) {
        b[c] = W_->b()[p_->offset[i] + c] + u[c];
        if (compliant_) b[c] += p_->compliance[p_->offset[i] + c] * old[c];
    }
    b -= block.W * old;
    BlockVector next = old;
    if (!solve_local(cone, block.W, b, associated_ ? Law::associated : Law::coulomb, local_, next))
        next = 0.5 * (next + old);
    if (!next.allFinite()) next = old;
    const BlockVector change = next - old;
    for (int c = 0; c < dim; ++c) x[c] = next[c];
    for (Index k = block.first; k < block.last; ++k) {
        const Entry& e = entries_[k];
        double* body = line(e.body);
        for (int a = 0; a < dim; ++a)
            for (int c = 0; c < m; ++c) body[place_in_line(m, c)] += e.push[a * m + c] * change[a];
    }
    // Torques count by the block's length, as in the referee.
    const double length = W_->length(i);
    BlockVector weighted = W_->inverse_mass(i) * change;
    for (int c = 0; c < dim; ++c)
        if (is_torque(cone, c)) weighted[c] /= length * length;
    return {weighted.dot(change), before != nullptr ? -weighted.dot(next - from) : 0.0};
}

template <class Contact, bool associated, bool compliant, bool pushed>
void ContactSweeps::visit_run(std::vector<Contact, HugePageAllocator<Contact>>& contacts, const Run& run,
                              double* before, double beta, Sleep& sleep, SweepSums& sums) {
    const SweepState state{lines(), inertia_.empty() ? nullptr : inertia_.data(), beta};
    Contact* c = contacts.data() + run.first;
    double* x = r.data() + run.row;
    double* from = before == nullptr ? nullptr : before + run.row;
    const Give* give = compliant ? give_.data() + run.place : nullptr;
    Visited here;
    Index visits = 0;
    for (Index k = 0; k < run.count; ++k, ++c, x += Contact::numbers) {
        prefetch_ahead(c, contact_ahead<Contact>, bodies_ahead, state.lines, body_line);
        if (std::is_same_v<Contact, RigidContact> && state.inertia != nullptr) {
            __builtin_prefetch(state.inertia + static_cast<std::ptrdiff_t>(c[bodies_ahead].a) * inertia_line);
            __builtin_prefetch(state.inertia + static_cast<std::ptrdiff_t>(c[bodies_ahead].b) * inertia_line);
        }
        const bool sleeps = sleep.sweeps > 0 && sleep.left[run.place + k] > 0;
        if (sleeps) {
            --sleep.left[run.place + k];
        } else if (c->a != 0 || c->b != 0) {  // between bodies that cannot move there is nothing to solve
            const Visited visited = c->template visit<associated, compliant, pushed>(state, give, x, from);
            here.step += visited.step;
            here.uphill += visited.uphill;
            ++visits;
            if (sleep.sweeps > 0 && visited.step < sleep.threshold)
                sleep.left[run.place + k] = static_cast<std::uint8_t>(sleep.sweeps);
        }
        if (from != nullptr) from += Contact::numbers;
        if (give != nullptr) ++give;
    }
    sums.step += here.step;
    sums.uphill += here.uphill;
    sums.visits += visits;
}

SweepSums ContactSweeps::visit_tile(Index tile, double* before, const double* push, Sleep& sleep) {
    SweepSums sums;
    const auto with = [&]<bool associated, bool compliant, bool pushed>() {
        for (Index n = run_start_[tile]; n < run_start_[tile + 1]; ++n) {
            const Run& run = runs_[n];
            const double beta = pushed ? *push : 0.0;
            switch (run.kind) {
                case Kind::ball:
                    visit_run<BallContact, associated, compliant, pushed>(balls_, run, before, beta, sleep,
                                                                          sums);
                    break;
                case Kind::rigid:
                    visit_run<RigidContact, associated, compliant, pushed>(rigid_, run, before, beta, sleep,
                                                                           sums);
                    break;
                case Kind::wrench:
                    visit_run<WrenchContact, associated, compliant, pushed>(wrenches_, run, before, beta,
                                                                            sleep, sums);
                    break;
                case Kind::other: {
                    Index row = run.row;
                    for (Index k = 0; k < run.count; ++k) {
                        const Other& block = others_[run.first + k];
                        std::uint8_t* left = sleep.sweeps > 0 ? &sleep.left[run.place + k] : nullptr;
                        if (left != nullptr && *left > 0) {
                            --*left;
                        } else {
                            const Visited visited = visit_other(
                                block, r.data() + row, before == nullptr ? nullptr : before + row, push);
                            sums.step += visited.step;
                            sums.uphill += visited.uphill;
                            ++sums.visits;
                            if (left != nullptr && visited.step < sleep.threshold)
                                *left = static_cast<std::uint8_t>(sleep.sweeps);
                        }
                        row += p_->cones[block.block].dim;
                    }
                    break;
                }
            }
        }
    };
    const auto with_push = [&]<bool associated, bool compliant>() {
        if (push != nullptr) {
            with.template operator()<associated, compliant, true>();
        } else {
            with.template operator()<associated, compliant, false>();
        }
    };
    if (associated_ && compliant_) {
        with_push.template operator()<true, true>();
    } else if (associated_) {
        with_push.template operator()<true, false>();
    } else if (compliant_) {
        with_push.template operator()<false, true>();
    } else {
        with_push.template operator()<false, false>();
    }
    return sums;
}

namespace {

double squared(const Eigen::Vector3d& x) { return x.squaredNorm(); }

/// |r - P_K(r - u - s n)|^2 for a Coulomb cone around n, by vectors of space.
double natural_error(const Eigen::Vector3d& n, double mu, const Eigen::Vector3d& r, const Eigen::Vector3d& u,
                     Law law) {
    const double uN = n.dot(u);
    const double slip = law == Law::coulomb && mu > 0 ? mu * (u - uN * n).norm() : 0.0;
    const Eigen::Vector3d x = r - u - slip * n;
    const double xN = n.dot(x);
    const Eigen::Vector3d xT = x - xN * n;
    const double across = mu > 0 ? xT.norm() : 0.0;
    if (mu > 0 && across <= mu * xN) return (r - x).squaredNorm();
    if (mu * across <= -xN) return r.squaredNorm();
    const double y = (xN + mu * across) / (1 + mu * mu);
    const Eigen::Vector3d nearest = y * n + (across > 0 ? mu * y / across : 0.0) * xT;
    return (r - nearest).squaredNorm();
}

}  // namespace

/// Of one block: squares of its error, of its impulse, and of what impulses have done to each of its bodies where it is.
struct ContactSweeps::Look {
    double natural = 0, impulse = 0;
};

template <class Contact>
ContactSweeps::Look ContactSweeps::look_at(const Contact& c, const Delassus& W, Law law, Index place,
                                           const double* x) {
    const Index i = order_[place];
    const Cone& cone = p_->cones[i];
    const auto at_line = [&](Index at, int k) {
        return Eigen::Vector3d(Eigen::Map<const Eigen::Vector3d>(line(at) + k));
    };
    const auto raise = [&](Index at, double stake) {
        if (at > 0) stake_[at] = std::max({stake_[at], stake, at_stake_[place]});
    };
    Look out;
    if constexpr (std::is_same_v<Contact, BallContact> || std::is_same_v<Contact, RigidContact>) {
        const Eigen::Vector3d n = Eigen::Map<const Eigen::Vector3d>(c.n);
        Eigen::Vector3d pa = at_line(c.a, 0), pb = at_line(c.b, 0), force, free;
        if constexpr (std::is_same_v<Contact, BallContact>) {
            pa += c.arm_a * at_line(c.a, 4).cross(n);
            pb -= c.arm_b * at_line(c.b, 4).cross(n);
            force = Eigen::Map<const Eigen::Vector3d>(x);
            free = Eigen::Map<const Eigen::Vector3d>(c.free);
        } else {
            pa += at_line(c.a, 4).cross(Eigen::Map<const Eigen::Vector3d>(c.arm_a));
            pb += at_line(c.b, 4).cross(Eigen::Map<const Eigen::Vector3d>(c.arm_b));
            const Eigen::Vector3d t = Eigen::Map<const Eigen::Vector3d>(c.t), s = n.cross(t);
            force = x[0] * n + x[1] * t + x[2] * s;
            free = c.free[0] * n + c.free[1] * t + c.free[2] * s;
        }
        Eigen::Vector3d u = free + pa - pb;
        if (compliant_) {
            const Give give = give_[place];
            u += give.tangential * force + (give.normal - give.tangential) * n.dot(force) * n;
        }
        force *= W.inverse_mass(i);
        if (cone.kind == ConeKind::ray) {  // has no tangents
            u = (n.dot(u) * n).eval();
            pa = (n.dot(pa) * n).eval();
            pb = (n.dot(pb) * n).eval();
        }
        out.natural = natural_error(n, c.mu, force, u, law);
        out.impulse = squared(force);
        raise(c.a, squared(pa));
        raise(c.b, squared(pb));
        const double least = W.rounding(i);
        if (out.natural <= least * least) out.natural = 0;
        return out;
    } else {
        std::array<double, max_block> u{}, impulse{};
        const auto squares = [&](const std::array<double, max_block>& v) {
            double sum = 0;
            for (int k = 0; k < cone.dim; ++k) {
                const double l = is_torque(cone, k) ? W.length(i) : 1.0;
                sum += v[k] * l * v[k] * l;
            }
            return sum;
        };
        if constexpr (std::is_same_v<Contact, WrenchContact>) {
            const ContactFrame E = frame(i);
            const Eigen::Vector3d n = Eigen::Map<const Eigen::Vector3d>(c.n);
            const auto components = [&](const Eigen::Vector3d& v, const Eigen::Vector3d& spin) {
                Eigen::Matrix<double, 6, 1> local;
                local << E * v, E * spin;
                std::array<double, max_block> out_of{};
                const auto at = places(cone, p_->common_dim());
                for (int k = 0; k < cone.dim; ++k) out_of[k] = local[at[k]];
                return out_of;
            };
            const Eigen::Vector3d wa = at_line(c.a, 4), wb = at_line(c.b, 4);
            const Eigen::Vector3d pa = at_line(c.a, 0) + c.arm_a * wa.cross(n),
                                  pb = at_line(c.b, 0) - c.arm_b * wb.cross(n);
            u = components(pa - pb, c.twist_a * wa + c.twist_b * wb);
            raise(c.a, squares(components(pa, c.twist_a * wa)));
            raise(c.b, squares(components(pb, c.twist_b * wb)));
            store_impulse(c, i, x, impulse.data());
        } else {
            const int m = p_->common_dim();
            for (Index k = c.first; k < c.last; ++k) {
                const Entry& e = entries_[k];
                const double* body = line(e.body);
                std::array<double, max_block> part{};
                for (int a = 0; a < cone.dim; ++a)
                    for (int b = 0; b < m; ++b) part[a] += e.rows[a * m + b] * body[place_in_line(m, b)];
                for (int a = 0; a < cone.dim; ++a) u[a] += part[a];
                raise(e.body, squares(part));
            }
            std::copy_n(x, cone.dim, impulse.begin());
        }
        for (int k = 0; k < cone.dim; ++k) {
            u[k] += W.b()[p_->offset[i] + k];
            if (compliant_) u[k] += p_->compliance[p_->offset[i] + k] * impulse[k];
        }
        const BlockError error = block_error(W, i, impulse.data(), u.data(), law);
        return {error.natural, error.impulse};
    }
}

LawResidual ContactSweeps::measure(const Delassus& W, Law law) {
    const Tiling& t = *tiling_;
    const int threads = W.threads();
    const auto blocks = static_cast<Index>(order_.size());
    if (at_stake_.size() != order_.size()) {
        at_stake_.resize(order_.size());
        parallel_for(threads, blocks, [&](Index q) { at_stake_[q] = stake_of(W, order_[q], law); });
    }
    error_.resize(order_.size());
    impulse_.resize(order_.size());
    stake_.assign(static_cast<std::size_t>(p_->bodies()) + 1, 0.0);
    partial_looks_.assign(static_cast<std::size_t>(t.tiles()), {});
    in_colours(t, threads, W.exchange(), stake_.data() + 1, 1, [&](Index tile) {
        LookSums sums;
        for (Index n = run_start_[tile]; n < run_start_[tile + 1]; ++n) {
            const Run& run = runs_[n];
            Index row = run.row;
            for (Index k = 0; k < run.count; ++k) {
                const Index place = run.place + k, i = order_[place];
                Look look;
                switch (run.kind) {
                    case Kind::ball:
                        look = look_at(balls_[run.first + k], W, law, place, r.data() + row);
                        row += BallContact::numbers;
                        break;
                    case Kind::rigid:
                        look = look_at(rigid_[run.first + k], W, law, place, r.data() + row);
                        row += RigidContact::numbers;
                        break;
                    case Kind::wrench:
                        look = look_at(wrenches_[run.first + k], W, law, place, r.data() + row);
                        row += WrenchContact::numbers;
                        break;
                    case Kind::other:
                        look = look_at(others_[run.first + k], W, law, place, r.data() + row);
                        row += p_->cones[i].dim;
                        break;
                }
                error_[place] = look.natural;
                impulse_[place] = look.impulse;
                const double mass = 1 / W.inverse_mass(i);
                sums.natural += look.natural * mass;
                sums.at_stake += at_stake_[place] * mass;
                sums.impulse += look.impulse * mass;
                sums.largest = std::max(sums.largest, at_stake_[place]);
            }
        }
        partial_looks_[tile] = sums;
    });
    // Every rank has its visits to a body in stake_ by now, and those of the others.
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
        LookSums& part = partial_looks_[tile];
        part = {};
        for (Index n = run_start_[tile]; n < run_start_[tile + 1]; ++n) {
            const Run& run = runs_[n];
            for (Index k = 0; k < run.count; ++k) {
                const Index place = run.place + k;
                double near = at_stake_[place];
                const auto include = [&](Index at) {
                    if (at > 0) near = std::max(near, stake_[at]);
                };
                if (run.kind == Kind::other) {
                    for (Index e = others_[run.first + k].first; e < others_[run.first + k].last; ++e)
                        include(entries_[e].body);
                } else {
                    const auto both = [&](const auto& c) {
                        include(c.a);
                        include(c.b);
                    };
                    if (run.kind == Kind::ball) both(balls_[run.first + k]);
                    if (run.kind == Kind::rigid) both(rigid_[run.first + k]);
                    if (run.kind == Kind::wrench) both(wrenches_[run.first + k]);
                }
                part.add(error_[place], impulse_[place], near, total.largest);
            }
        }
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
