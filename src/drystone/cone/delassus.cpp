#include "drystone/cone/delassus.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/huge_pages.hpp"
#include "drystone/base/parallel_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace drystone {

namespace {

using RowMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block>;
using ConstRows = Eigen::Map<const RowMatrix>;

}  // namespace

Delassus::Delassus(const Delassus& other)
    : problem_(other.problem_),
      threads_(other.threads_),
      arithmetic_(other.arithmetic_),
      exchange_(other.exchange_),
      data_(other.data_),
      b_(other.b_),
      shift_(other.shift_) {}

Delassus::~Delassus() {
    if (!rooms_ || rooms_.use_count() == 1) return;
    for (Vector* numbers : {&b_, &shift_, &z_}) numbers->give_to(*rooms_);
}

void Delassus::refill(const ConeProblem& problem, int threads, const Exchange* exchange) {
    problem_ = &problem;
    threads_ = resolve_threads(threads);
    exchange_ = exchange;
    shift_.resize(0);
    if (!data_ || data_.use_count() > 1) data_ = std::make_shared<Data>();
    data_->components.clear();
    data_->matrix.reset();
    data_->dense.reset();
    data_->tiling.reset();
    data_->pull.resize(0);
    data_->pulled.resize(0);
    prepare_bodies();
    data_->separate = problem.separate();
    if (data_->separate) {
        find_roots();
    } else {
        factorise();
    }
    impulse_to_velocity(problem.f, data_->v_free);
    fill_blocks();
    if (largest(problem.pull.size() > 0 ? 1 : 0) > 0) {  // on any rank: a rank without blocks cannot tell
        problem.fill_pull_impulse(data_->pull);
        apply(data_->pull, data_->pulled);
    }
}

BlockMatrix Delassus::diagonal(Index i) const {
    const ConeProblem& p = *problem_;
    const int dim = p.cones[i].dim;
    BlockMatrix D = BlockMatrix::Zero(dim, dim);
    if (!whitened()) {
        const BlockSparse& W = matrix();
        for (Index k = W.start[i]; k < W.start[i + 1]; ++k)
            if (W.column[k] == i) D = ConstRows(W.value.data() + W.value_start[k], dim, dim);
        return D;
    }
    for_each_whitened(i,
                      [&](Index, auto, const BodyRowsOf& A) { D.noalias() += A.lazyProduct(A.transpose()); });
    if (compliant())
        for (int c = 0; c < dim; ++c) D(c, c) += p.compliance[p.offset[i] + c];
    return D;
}

Delassus Delassus::with_frozen_shift(const Vector& s) const {
    Delassus shifted;
    shifted.problem_ = problem_;
    shifted.threads_ = threads_;
    shifted.arithmetic_ = arithmetic_;
    shifted.exchange_ = exchange_;
    shifted.data_ = data_;
    shifted.b_.resize(b_.size(), rooms());
    shifted.rooms_ = rooms_;
    shifted.b_ = b_;
    for (Index i = 0; i < problem_->blocks(); ++i) shifted.b_[problem_->offset[i]] += s[i];
    shifted.shift_.resize(s.size(), rooms());
    shifted.shift_ = s;
    if (shift_.size() > 0) shifted.shift_ += shift_;
    return shifted;
}

void Delassus::prepare_bodies() {
    const ConeProblem& p = *problem_;
    Data& to = *data_;
    const Index bodies = p.bodies();
    to.body_start.assign(bodies + 1, 0);
    for (Index i = 0; i < p.blocks(); ++i)
        for_each_body(p, i, [&](Index body) { to.body_start[body + 1] += 1; });
    for (Index j = 0; j < bodies; ++j) to.body_start[j + 1] += to.body_start[j];
    refit(to.body_block, static_cast<std::size_t>(to.body_start[bodies]));
    refit(to.body_side, to.body_block.size());
    to.body_value.resize(p.H.body.empty() && p.tensors.body.empty() ? 0 : to.body_block.size());
    // The beginnings are moved on as places are taken: in the end each is where the next began.
    for (Index i = 0; i < p.blocks(); ++i) {
        const auto put = [&](Index body, int side) {
            const Index place = to.body_start[body]++;
            to.body_block[place] = i;
            to.body_side[place] = static_cast<std::uint8_t>(side);
            return place;
        };
        p.contacts.visit(i, [&](const auto& c) {
            if (c.a >= 0) put(c.a, 0);
            if (c.b >= 0) put(c.b, 1);
        });
        if (const Index k = p.tensor_at(i); k >= 0)
            for (Index e = p.tensors.start[k]; e < p.tensors.start[k + 1]; ++e)
                to.body_value[put(p.tensors.body[e], 3)] = e;
        for_each_entry(p, p.H, i, [&](Index body, auto, const BodyRowsOf& A) {
            to.body_value[put(body, 2)] = A.data() - p.H.value.data();
        });
    }
    for (Index j = bodies; j > 0; --j) to.body_start[j] = to.body_start[j - 1];
    to.body_start[0] = 0;
}

void Delassus::whiten_rows(Index body, const BodyRowsOf& A, WhiteRows& out) const {
    const Root root = data_->root(body);
    for (Eigen::Index a = 0; a < A.rows(); ++a)
        root.transposed_times(A.data() + a * A.cols(), out.data() + a * A.cols());
}

const BlockRows& Delassus::dense_rows() const {
    if (data_->dense) return *data_->dense;
    const ConeProblem& p = *problem_;
    BlockRows rows;
    for (Index i = 0; i < p.blocks(); ++i) {
        std::int64_t numbers = 0;
        for_each_body(p, i, [&](Index body) {
            rows.body.push_back(body);
            numbers += static_cast<std::int64_t>(p.cones[i].dim) * p.place_of(body).dim;
        });
        rows.start.push_back(static_cast<Index>(rows.body.size()));
        rows.value_start.push_back(rows.value_start.back() + numbers);
    }
    rows.value.resize(static_cast<std::size_t>(rows.value_start.back()));
    parallel_for(threads_, p.blocks(), [&](Index i) {
        double* to = rows.value.data() + rows.value_start[i];
        for_each_whitened(
            i, [&](Index, auto, const BodyRowsOf& A) { to = std::copy_n(A.data(), A.size(), to); });
    });
    data_->dense = std::move(rows);
    return *data_->dense;
}

/// b, the scales and the rounding of all blocks, in one pass.
void Delassus::fill_blocks() {
    const ConeProblem& p = *problem_;
    const auto blocks = static_cast<std::size_t>(p.blocks());
    auto& scale = data_->inverse_mass;
    refit(scale, blocks);
    refit(data_->rounding, blocks);
    const bool torques =
        std::any_of(p.cones.begin(), p.cones.end(), [](const Cone& c) { return c.kind == ConeKind::wrench; });
    data_->length.assign(torques ? blocks : 0, 1.0);
    b_.resize(p.rows());
    if (!whitened()) (void)matrix();  // by one thread, before all ask for its diagonal
    parallel_for(threads_, p.blocks(), [&](Index i) { fill_block(i); });
    double largest = 0;
    for (const double x : scale) largest = std::max(largest, x);
    largest = this->largest(largest);
    // A block between bodies that cannot move has no scale of its own: it takes the largest there is (or 1).
    for (double& x : scale)
        if (!(x > 1e-30 * largest)) x = largest > 0 ? largest : 1.0;
    for (Index i = 0; i < p.pull.size(); ++i)
        data_->rounding[i] = std::max(data_->rounding[i], unit_of_rounding * inverse_mass(i) * p.pull[i]);
}

/// Of a rigid body that is alike in all directions.
Delassus::TwoInverses Delassus::two_inverses(Index body) const {
    const auto [species, k] = problem_->member(body);
    const auto* rigid = std::get_if<RigidInverseMass>(&problem_->species[species].mass);
    if (rigid == nullptr) return {.alike = false};
    const int moments = rigid->moments();
    const double* I = rigid->inertia.data() + static_cast<std::ptrdiff_t>(k) * moments;
    const bool alike = moments == 1 || (I[0] == I[2] && I[2] == I[5] && I[1] == 0 && I[3] == 0 && I[4] == 0);
    return {alike, rigid->mass[k], I[0]};
}

/// One contact of two rigid bodies that are alike in all directions, without torques: all that fill_block finds, from
/// what it reads once.
template <int d>
bool Delassus::fill_plain_contact(Index i, const ContactRow<d>& c) {
    const ConeProblem& p = *problem_;
    // By the contact's own numbers alone: ranks see different parts of a problem.
    if (p.H.first(i) != p.H.last(i) || p.cones[i].kind == ConeKind::wrench) return false;
    const auto in_a = c.a >= 0 ? two_inverses(c.a) : TwoInverses{},
               in_b = c.b >= 0 ? two_inverses(c.b) : TwoInverses{};
    if (!in_a.alike || !in_b.alike) return false;
    const int forces = forces_of<d>(p.cones[i]);
    Vec<d> relative = Vec<d>::Zero();
    double terms = 0, scale = 0;
    const auto side = [&](Index body, const TwoInverses& inverse, const Vec<d>& arm, double sign) {
        if (body < 0) return;
        const double* v = data_->v_free.data() + p.place_of(body).first;
        const Vec<d> velocity = Eigen::Map<const Vec<d>>(v);
        const Spin<d> spin = Eigen::Map<const Spin<d>>(v + d);
        relative += sign * (velocity + cross(spin, arm));
        terms += std::sqrt(velocity.squaredNorm()) + std::sqrt(spin.squaredNorm() * arm.squaredNorm());
        // Of a whole frame |arm x e|^2 adds up to d - 1 times |arm|^2.
        const double across = forces == d ? (d - 1) * arm.squaredNorm() : torque(arm, c.normal).squaredNorm();
        scale += forces * inverse.mass + inverse.inertia * across;
    };
    side(c.a, in_a, c.arm_a, 1);
    side(c.b, in_b, c.arm_b, -1);
    const Mat<d> E = frame_of(c.normal);
    double largest = 0;
    for (int k = 0; k < forces; ++k) {
        const double w = p.w[p.offset[i] + k];
        if (compliant()) scale += p.compliance[p.offset[i] + k];
        b_[p.offset[i] + k] = E.row(k).dot(relative) + w;
        largest = std::max(largest, std::abs(w));
    }
    data_->inverse_mass[i] = scale / forces;
    data_->rounding[i] = unit_of_rounding * (largest + terms);
    return true;
}

void Delassus::fill_block(Index i) {
    const ConeProblem& p = *problem_;
    bool done = false;
    p.contacts.visit(i, [&](const auto& c) { done = fill_plain_contact(i, c); });
    if (!done) {
        const auto free = [&](Index, auto place, double* to) {
            std::copy_n(data_->v_free.data() + place.first, place.dim, to);
        };
        spread_block(i, free, b_.data() + p.offset[i]);
        for (Index c = p.offset[i]; c < p.offset[i + 1]; ++c) b_[c] += p.w[c];
        compute_scale(i);
        data_->rounding[i] = unit_of_rounding * terms_of(i);
    }
    if (p.w_rounding.size() > 0) data_->rounding[i] += p.w_rounding[i];
}

/// The mean of the diagonal of W_ii for a tensor: of the rows of a gradient g the squares add up to (d + 1) / 4 |g|^2.
double Delassus::tensor_scale(Index k) const {
    const TensorRows& t = problem_->tensors;
    double sum = 0;
    for (Index e = t.start[k]; e < t.start[k + 1]; ++e) {
        const double root = data_->root(t.body[e]).mass;
        t.with_space([&]<int d>(const Vec<d>&) {
            sum += 0.25 * (d + 1) * root * root * t.gradient_of<d>(e).squaredNorm();
        });
    }
    return sum / problem_->cones[problem_->contacts.size() + k].dim;
}

/// inverse_mass(i) and length(i).
void Delassus::compute_scale(Index i) {
    const ConeProblem& p = *problem_;
    const Cone& cone = p.cones[i];
    if (const Index k = p.tensor_at(i); k >= 0 && whitened() && !compliant() && p.H.first(i) == p.H.last(i)) {
        data_->inverse_mass[i] = tensor_scale(k);
        return;
    }
    if (whitened() && i < p.contacts.size() && p.H.first(i) == p.H.last(i) && cone.kind != ConeKind::wrench) {
        data_->inverse_mass[i] = contact_scale(i);
        return;
    }
    const BlockMatrix D = diagonal(i);
    double force = 0, torque = 0;
    int forces = 0, turns = 0;
    for (int c = 0; c < cone.dim; ++c) {
        (is_torque(cone, c) ? torque : force) += D(c, c);
        (is_torque(cone, c) ? turns : forces) += 1;
    }
    if (turns > 0 && torque > 0 && force > 0)
        data_->length[i] = std::sqrt((force / forces) / (torque / turns));
    data_->inverse_mass[i] = force / forces;
}

/// The largest of the terms of which b_i is the sum, torques measured by length(i).
double Delassus::terms_of(Index i) const {
    const ConeProblem& p = *problem_;
    const int d = p.cones[i].dim;
    std::array<double, max_block> terms{};
    for (int a = 0; a < d; ++a) terms[a] = std::abs(p.w[p.offset[i] + a]);
    // Of contacts by lengths of vectors, in whatever direction.
    p.contacts.visit(i, [&]<int n>(const ContactRow<n>& c) {
        double velocity = 0, turning = 0;
        const auto side = [&](Index body, const Vec<n>& arm) {
            if (body < 0) return;
            const auto place = p.place_of(body);
            const double* v = data_->v_free.data() + place.first;
            const double spin = spin_of<n>(place.dim, v).norm();
            velocity += Eigen::Map<const Vec<n>>(v).norm() + spin * arm.norm();
            turning += spin;
        };
        side(c.a, c.arm_a);
        side(c.b, c.arm_b);
        for (int a = 0; a < d; ++a) terms[a] += is_torque(p.cones[i], a) ? turning : velocity;
    });
    if (const Index k = p.tensor_at(i); k >= 0) {
        p.tensors.with_space([&]<int n>(const Vec<n>&) {
            double sum = 0;
            for (Index e = p.tensors.start[k]; e < p.tensors.start[k + 1]; ++e) {
                const double* v = data_->v_free.data() + p.place_of(p.tensors.body[e]).first;
                sum += Eigen::Map<const Vec<n>>(v).norm() * p.tensors.gradient_of<n>(e).norm();
            }
            for (int a = 0; a < d; ++a) terms[a] += sum;
        });
    }
    for_each_entry(p, p.H, i, [&](Index, auto place, const BodyRowsOf& A) {
        for (int a = 0; a < d; ++a)
            for (int c = 0; c < place.dim; ++c)
                terms[a] += std::abs(A(a, c) * data_->v_free[place.first + c]);
    });
    double largest = 0;
    for (int a = 0; a < d; ++a)
        largest = std::max(largest, terms[a] * (is_torque(p.cones[i], a) ? length(i) : 1.0));
    return largest;
}

/// The mean of the diagonal of W_ii for a contact that bears no torques.
double Delassus::contact_scale(Index i) const {
    const ConeProblem& p = *problem_;
    double sum = 0;
    int forces = 1;
    p.contacts.visit(i, [&]<int d>(const ContactRow<d>& c) {
        forces = forces_of<d>(p.cones[i]);
        const auto side = [&](Index body, const Vec<d>& arm) {
            if (body < 0) return;
            const Root root = data_->root(body);
            const Mat<d> E = frame_of(c.normal);
            if (root.dim == d) {
                sum += forces * root.mass * root.mass;
                return;
            }
            for (int k = 0; k < forces; ++k) {
                const Vec<d> e = E.row(k);
                std::array<double, max_block> row{};
                Eigen::Map<Vec<d>>(row.data()) = e;
                Eigen::Map<Spin<d>>(row.data() + d) = torque(arm, e);
                root.transposed_times(row.data(), row.data());
                for (int x = 0; x < body_velocities<d>; ++x) sum += row[x] * row[x];
            }
        };
        side(c.a, c.arm_a);
        side(c.b, c.arm_b);
    });
    if (compliant())
        for (int c = 0; c < forces; ++c) sum += p.compliance[p.offset[i] + c];
    return sum / forces;
}

/// Calls take(body, place, sum) with the impulses of each body, added in the order of blocks.
template <class F>
void Delassus::sum_impulses(const Vector& r, F&& take) const {
    const ConeProblem& p = *problem_;
    const Data& data = *data_;
    parallel_for(threads_, p.bodies(), [&](Index j) {
        const auto place = p.place_of(j);
        std::array<double, max_block> sum{};
        for (Index q = data.body_start[j]; q < data.body_start[j + 1]; ++q) {
            const Index i = data.body_block[q];
            const int side = data.body_side[q], dim = p.cones[i].dim;
            const double* ri = r.data() + p.offset[i];
            if (side == 2) {
                const double* A = p.H.value.data() + data.body_value[q];
                for (int a = 0; a < dim; ++a)
                    for (int c = 0; c < place.dim; ++c) sum[c] += A[a * place.dim + c] * ri[a];
                continue;
            }
            if (side == 3) {
                p.tensors.with_space([&]<int d>(const Vec<d>&) {
                    Eigen::Map<Vec<d>>(sum.data()) +=
                        half_matrix<d>(ri) * p.tensors.gradient_of<d>(data.body_value[q]);
                });
                continue;
            }
            p.contacts.visit(i, [&]<int d>(const ContactRow<d>& c) {
                const Wrench<d> on_a = in_world<d>(p.cones[i], c.normal, ri);
                const Spin<d> turn = torque(side == 0 ? c.arm_a : c.arm_b, on_a.force) + on_a.torque;
                const double sign = side == 0 ? 1 : -1;
                for (int k = 0; k < d; ++k) sum[k] += sign * on_a.force[k];
                for (int k = 0; k < spins<d>; ++k) sum[d + k] += sign * turn[k];
            });
        }
        take(j, place, sum.data());
    });
}

/// u = sum over the bodies of block i of its rows times velocity_of(body, place).
template <class VelocityOf>
void Delassus::spread_block(Index i, VelocityOf& velocity_of, double* u) const {
    const ConeProblem& p = *problem_;
    const Cone& cone = p.cones[i];
    std::array<double, max_block> v;
    std::fill_n(u, cone.dim, 0.0);
    p.contacts.visit(i, [&]<int d>(const ContactRow<d>& c) {
        Wrench<d> motion;
        const auto add = [&](Index body, const Vec<d>& arm, double sign) {
            if (body < 0) return;
            const auto place = p.place_of(body);
            velocity_of(body, place, v.data());
            const Spin<d> spin = spin_of<d>(place.dim, v.data());
            motion.force += sign * (Eigen::Map<const Vec<d>>(v.data()) + cross(spin, arm));
            motion.torque += sign * spin;
        };
        add(c.a, c.arm_a, 1);
        add(c.b, c.arm_b, -1);
        in_frame<d>(cone, c.normal, motion, u);
    });
    if (const Index k = p.tensor_at(i); k >= 0) {
        p.tensors.with_space([&]<int d>(const Vec<d>&) {
            Mat<d> L = Mat<d>::Zero();
            for (Index e = p.tensors.start[k]; e < p.tensors.start[k + 1]; ++e) {
                velocity_of(p.tensors.body[e], p.place_of(p.tensors.body[e]), v.data());
                L.noalias() += Eigen::Map<const Vec<d>>(v.data()) * p.tensors.gradient_of<d>(e).transpose();
            }
            tensor_of(L, u);
        });
    }
    for_each_entry(p, p.H, i, [&](Index body, auto place, const BodyRowsOf& A) {
        velocity_of(body, place, v.data());
        for (int a = 0; a < cone.dim; ++a)
            for (int c = 0; c < place.dim; ++c) u[a] += A(a, c) * v[c];
    });
}

template <class VelocityOf>
void Delassus::spread_velocities(VelocityOf&& velocity_of, Vector& u) const {
    u.resize(problem_->rows());
    parallel_for(threads_, problem_->blocks(),
                 [&](Index i) { spread_block(i, velocity_of, u.data() + problem_->offset[i]); });
}

void Delassus::gather(const Vector& r, Vector& z) const {
    z.resize(problem_->dofs());
    sum_impulses(r, [&](Index body, auto place, const double* sum) {
        times_transposed_root(body, sum, z.data() + place.first);
    });
    if (exchange_ != nullptr) exchange_->share_bodies(z.data(), problem_->common_dim());
}

void Delassus::spread(const Vector& z, Vector& out) const {
    spread_velocities([&](Index body, auto place, double* v) { times_root(body, z.data() + place.first, v); },
                      out);
}

/// M^-1 (from + H^T r), `from` nothing where it is nullptr.
void Delassus::change_velocity(const Vector* from, const Vector& r, Vector& v) const {
    const ConeProblem& p = *problem_;
    v.resize(p.dofs());
    if (!whitened()) {
        ScratchVector impulse(rooms(), p.dofs());
        sum_impulses(r, [&](Index, auto place, const double* sum) {
            std::copy_n(sum, place.dim, impulse.data() + place.first);
        });
        if (exchange_ != nullptr) exchange_->share_bodies(impulse.data(), p.common_dim());
        if (from != nullptr) impulse += *from;
        impulse_to_velocity(impulse, v);
        return;
    }
    sum_impulses(r, [&](Index body, auto place, double* sum) {
        if (from != nullptr)
            for (int c = 0; c < place.dim; ++c) sum[c] += (*from)[place.first + c];
        const auto [species, k] = p.member(body);
        times_inverse_mass(p.species[species], k, sum, v.data() + place.first);
    });
    // A body's owner has all of its impulses.
    if (exchange_ != nullptr) exchange_->share_bodies(v.data(), p.common_dim());
}

void Delassus::push(const Vector& r, Vector& v) const { change_velocity(nullptr, r, v); }

Vector Delassus::velocity_by_momentum(const Vector& r) const {
    Vector v;
    change_velocity(&problem_->f, r, v);
    return v;
}

void Delassus::impulse_to_velocity(const Vector& impulse, Vector& v) const {
    const ConeProblem& p = *problem_;
    v.resize(impulse.size());
    Index first = 0;
    for (const Species& s : p.species) {
        if (s.separate()) {
            parallel_for(threads_, s.count, [&](Index j) {
                const auto at = first + static_cast<std::ptrdiff_t>(j) * s.dim;
                times_inverse_mass(s, j, impulse.data() + at, v.data() + at);
            });
        } else if (const auto* sparse = std::get_if<SparseInverseMass>(&s.mass)) {
            v.segment(first, s.velocities()) = sparse->inverse * impulse.segment(first, s.velocities());
        }
        first += s.velocities();
    }
    for (const Component& c : data_->components) {
        ScratchVector part(rooms(), static_cast<Eigen::Index>(c.velocity.size()));
        for (std::size_t k = 0; k < c.velocity.size(); ++k)
            part[static_cast<Eigen::Index>(k)] = impulse[c.velocity[k]];
        c.factor.solve(part);
        for (std::size_t k = 0; k < c.velocity.size(); ++k)
            v[c.velocity[k]] = part[static_cast<Eigen::Index>(k)];
    }
}

void Delassus::apply(const Vector& r, Vector& out) const {
    if (whitened()) {
        z_.resize(problem_->dofs(), rooms());
        gather(r, z_);
        spread(z_, out);
        if (compliant()) out += problem_->compliance.cwiseProduct(r);
        return;
    }
    const ConeProblem& p = *problem_;
    const BlockSparse& W = matrix();
    out.resize(p.rows());
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const int d = p.cones[i].dim;
        std::array<double, max_block> sum{};
        for (Index k = W.start[i]; k < W.start[i + 1]; ++k) {
            const int e = p.cones[W.column[k]].dim;
            const double* A = W.value.data() + W.value_start[k];
            const double* rj = r.data() + p.offset[W.column[k]];
            for (int a = 0; a < d; ++a) {
                for (int c = 0; c < e; ++c) sum[a] += A[a * e + c] * rj[c];
            }
        }
        for (int a = 0; a < d; ++a) out[p.offset[i] + a] = sum[a];
    });
}

void Delassus::velocity(const Vector& r, Vector& u) const {
    apply(r, u);
    u += b_;
}

ConeSolution Delassus::complete(Vector r) const {
    ConeSolution solution;
    complete(std::move(r), solution);
    return solution;
}

void Delassus::complete(Vector r, ConeSolution& solution) const {
    const ConeProblem& p = *problem_;
    solution.r = std::move(r);
    solution.shift.resize(0);
    solution.v.resize(p.dofs(), rooms());
    solution.u.resize(p.rows(), rooms());
    if (whitened()) {
        push(solution.r, solution.v);
        solution.v += data_->v_free;
    } else {
        change_velocity(&p.f, solution.r, solution.v);
    }
    auto velocity_of = [&](Index, auto place, double* to) {
        std::copy_n(solution.v.data() + place.first, place.dim, to);
    };
    parallel_for(threads_, p.blocks(), [&](Index i) {
        const Index first = p.offset[i];
        spread_block(i, velocity_of, solution.u.data() + first);
        for (Index c = first; c < p.offset[i + 1]; ++c) {
            solution.u[c] += p.w[c];
            if (compliant()) solution.u[c] += p.compliance[c] * solution.r[c];
        }
        if (shift_.size() > 0) solution.u[first] += shift_[i];
    });
}

double Delassus::sum(const std::function<double(Index)>& f) const {
    auto all = parallel_merge<SumsAndMaxima<1>>(threads_, problem_->blocks(), [&](Index i, auto& part) {
        if (counts(i)) part.sum[0].add(f(i));
    });
    add_up(all.sum);
    return all.sum[0].value();
}

double Delassus::dot(const Vector& a, const Vector& b) const {
    const ConeProblem& p = *problem_;
    auto all = parallel_merge<SumsAndMaxima<1>>(threads_, p.blocks(), [&](Index i, auto& part) {
        if (!counts(i)) return;
        double product = 0;
        for (Index c = p.offset[i]; c < p.offset[i + 1]; ++c) product += a[c] * b[c];
        part.sum[0].add(product);
    });
    add_up(all.sum);
    return all.sum[0].value();
}

}  // namespace drystone
