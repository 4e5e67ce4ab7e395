// The Delassus operator W = H M^-1 H^T + C and the free velocity b = H M^-1 f + w (docs/theory.md, eqs 7 and 8).
//
// For separate bodies the mass is whitened away: with M^-1 = G G^T per body and Hw = H G, W = Hw Hw^T + C. Solvers then
// need one body vector for both directions, and a body that does not move has G = 0 and needs no exception. The body
// vector is z = Hw^T r, the velocity v = v_free + G z. Rows of contacts are not stored but follow from their normals
// and arms, and so do W's diagonal blocks; whoever needs Hw as numbers, to factorise or to visit, asks for
// dense_rows(). The compliance C is diagonal and knows no body: a row's part C r of u comes from its own impulse alone.
// It is in all that is said of W here, and in neither of gather and spread.
#pragma once

#include "drystone/cone/exchange.hpp"
#include "drystone/cone/factor.hpp"
#include "drystone/cone/problem.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>

namespace drystone {

/// W by rows of blocks; block (i, column[k]) begins at value[value_start[k]], row by row. Columns ascend in a row.
struct BlockSparse {
    std::vector<Index> start = {0};
    std::vector<Index> column;
    std::vector<std::int64_t> value_start;
    std::vector<double> value;
};

class Delassus {
public:
    /// Of no problem, until it is filled.
    Delassus() = default;
    /// Keeps a reference to the problem, and to the exchange (nullptr: one rank).
    explicit Delassus(const ConeProblem& problem, int threads = 1, const Exchange* exchange = nullptr) {
        refill(problem, threads, exchange);
    }
    /// A copy shares what does not depend on b, but has rooms of its own.
    Delassus(const Delassus& other);
    Delassus(Delassus&&) = default;
    Delassus& operator=(const Delassus& other) { return *this = Delassus(other); }
    Delassus& operator=(Delassus&&) = default;
    ~Delassus();
    /// The same for a problem of the next step: room of the last one is used again.
    void refill(const ConeProblem& problem, int threads = 1, const Exchange* exchange = nullptr);

    /// The operator of the convex problem with a frozen shift (eq. 9): b + s n, one number s per block. Shares all
    /// matrices. Its u, also that of complete() and of the referee, is the admissible one, H v + w + C r + s n.
    [[nodiscard]] Delassus with_frozen_shift(const Vector& s) const;
    /// The shift, one number per block; empty if there is none.
    [[nodiscard]] const Vector& frozen_shift() const { return shift_; }
    /// False for rigid contacts: then C = 0 and the problem holds none.
    [[nodiscard]] bool compliant() const { return problem_->compliance.size() > 0; }

    [[nodiscard]] const ConeProblem& problem() const { return *problem_; }
    /// Memory for a while, for solvers and all others who work with the problem. An operator with a frozen shift shares
    /// it.
    [[nodiscard]] Rooms& rooms() const {
        if (!rooms_) rooms_ = std::make_shared<Rooms>();
        return *rooms_;
    }
    [[nodiscard]] int threads() const { return threads_; }
    /// Of the factorisations that solvers make. (Of a mass that couples bodies: repeatable for small pieces, fast for
    /// large ones.)
    [[nodiscard]] Arithmetic arithmetic() const { return arithmetic_; }
    void set_arithmetic(Arithmetic arithmetic) { arithmetic_ = arithmetic; }
    /// True if bodies are separate, so that Hw exists.
    [[nodiscard]] bool whitened() const { return data_->separate; }
    /// All of Hw as numbers, contacts included; made at the first call and kept. Only if whitened().
    [[nodiscard]] const BlockRows& dense_rows() const;
    /// Calls f(body, place, rows) for the rows of block i in Hw, which are made for it. Only if whitened().
    template <class F>
    void for_each_whitened(Index i, F&& f) const {
        for_each_entry(*problem_, i, [&](Index body, auto place, const BodyRowsOf& A) {
            WhiteRows rows(A.rows(), A.cols());
            whiten_rows(body, A, rows);
            f(body, place, BodyRowsOf(rows.data(), rows.rows(), rows.cols()));
        });
    }
    /// v = G z and z = G^T x of one body, dim numbers each; may be in place. Only if whitened().
    void times_root(Index body, const double* z, double* v) const { data_->root(body).times(z, v); }
    void times_transposed_root(Index body, const double* x, double* z) const {
        data_->root(body).transposed_times(x, z);
    }
    /// Free relative velocity, size rows().
    [[nodiscard]] const Vector& b() const { return b_; }
    /// b without what pulls (ConeProblem::pull) do to it, against which they cancel: b + W (pull n), what is left
    /// for impulses to stop.
    [[nodiscard]] double b_without_pull(Index row) const {
        return data_->pulled.size() > 0 ? b_[row] + data_->pulled[row] : b_[row];
    }
    /// ConeProblem::pull_impulse(); empty without pulls.
    [[nodiscard]] const Vector& pull_impulse() const { return data_->pull; }
    /// Errors that are this part of the terms that are added up are rounding: what solvers of one block reach.
    static constexpr double unit_of_rounding = 1e-13;
    /// What rounding may do to the relative velocity of block i, torques measured by length(i): of the terms of b, of
    /// pulls, and of the places that w was made from.
    [[nodiscard]] double rounding(Index i) const { return data_->rounding[i]; }
    /// Diagonal block W_ii, computed.
    [[nodiscard]] BlockMatrix diagonal(Index i) const;
    /// The mean eigenvalue of W_ii (1 / mass) once torques are measured by length(i): the scale 1 / rho_i of eq. 11.
    [[nodiscard]] double inverse_mass(Index i) const { return data_->inverse_mass[i]; }
    /// Length that turns the torques of block i into forces (eq. 10); 1 for blocks without torques.
    [[nodiscard]] double length(Index i) const { return data_->length.empty() ? 1.0 : data_->length[i]; }

    /// u = W r + b. No allocation after the first call.
    void velocity(const Vector& r, Vector& u) const;
    /// out = W r.
    void apply(const Vector& r, Vector& out) const;
    /// z = Hw^T r, the whitened body vector; only if whitened(). A body's terms are added in block order.
    void gather(const Vector& r, Vector& z) const;
    /// out_i = Hw_i z. So W r is spread(gather(r)) + C r.
    void spread(const Vector& z, Vector& out) const;
    /// v = M^-1 H^T r: what impulses do to the velocities.
    void push(const Vector& r, Vector& v) const;
    /// Solution with u and v computed from r.
    [[nodiscard]] ConeSolution complete(Vector r) const;
    void complete(Vector r, ConeSolution& solution) const;
    /// M^-1 f.
    [[nodiscard]] const Vector& v_free() const { return data_->v_free; }

    /// Calls f(block) for the blocks of a body, in their order.
    template <class F>
    void for_each_block_of(Index body, F&& f) const {
        for (Index q = data_->body_start[body]; q < data_->body_start[body + 1]; ++q) f(data_->body_block[q]);
    }
    /// The same with the body's rows: f(block, rows), rows(V, u) adds H_block,body V to u.
    template <class F>
    void for_each_rows_of(Index body, F&& f) const;

    /// M^-1 (f + H^T r) from the problem's own data, without whitening: the referee's view.
    [[nodiscard]] Vector velocity_by_momentum(const Vector& r) const;

    /// What solvers keep from one solve to the next; shared with copies. Whoever uses it takes it out and puts it back.
    [[nodiscard]] std::shared_ptr<void>& room() const { return data_->room; }
    /// The order of work of a problem that has none of its own, once it is known.
    [[nodiscard]] std::optional<Tiling>& tiling() const { return data_->tiling; }

    /// W itself; computed at the first call and kept.
    [[nodiscard]] const BlockSparse& matrix() const;

    /// Sum over blocks of a_i . b_i, the same on any number of threads and ranks.
    [[nodiscard]] double dot(const Vector& a, const Vector& b) const;
    /// sum over blocks of f(i), the same on any number of threads and ranks.
    [[nodiscard]] double sum(const std::function<double(Index)>& f) const;

    /// nullptr with one rank.
    [[nodiscard]] const Exchange* exchange() const { return exchange_; }
    /// True if this rank counts the block in sums.
    [[nodiscard]] bool counts(Index block) const {
        return exchange_ == nullptr || exchange_->visits_block[block] != 0;
    }
    [[nodiscard]] bool counts_body(Index body) const {
        return exchange_ == nullptr || exchange_->owns_body[body] != 0;
    }
    /// Blocks of the whole problem, on all ranks.
    [[nodiscard]] std::int64_t total_blocks() const {
        return exchange_ == nullptr ? problem_->blocks() : exchange_->blocks;
    }
    /// The largest over ranks of a number that each of them has.
    [[nodiscard]] double largest(double x) const { return exchange_ == nullptr ? x : exchange_->largest(x); }
    /// Sums over ranks.
    void add_up(std::span<ExactSum> sums) const {
        if (exchange_ != nullptr) exchange_->sum(sums);
    }

private:
    using WhiteRows =
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block>;

    /// G of one body, G G^T its inverse mass: dense; of a rigid body, of which the inertia's root is a number or a
    /// lower triangle, row by row; or of a point, which has none (inertia nullptr).
    struct Root {
        int dim = 6;
        const double* dense = nullptr;
        double mass = 0;
        int moments = 1;
        const double* inertia = nullptr;

        void times(const double* z, double* v) const;
        void transposed_times(const double* x, double* z) const;
    };
    /// The roots of a species.
    struct Roots {
        Index first = 0;  // body
        int dim = 6, moments = 1;
        AlignedNumbers dense;
        std::vector<double> mass, inertia;
    };

    void find_roots();
    void factorise();
    void prepare_bodies();
    void fill_blocks();
    void fill_block(Index i);
    struct TwoInverses {
        bool alike = true;
        double mass = 0, inertia = 0;
    };
    [[nodiscard]] TwoInverses two_inverses(Index body) const;
    template <int d>
    bool fill_plain_contact(Index i, const ContactRow<d>& c);
    void compute_scale(Index i);
    [[nodiscard]] double terms_of(Index i) const;
    [[nodiscard]] double contact_scale(Index i) const;
    [[nodiscard]] double tensor_scale(Index k) const;
    void whiten_rows(Index body, const BodyRowsOf& A, WhiteRows& out) const;
    void impulse_to_velocity(const Vector& impulse, Vector& v) const;
    void change_velocity(const Vector* from, const Vector& r, Vector& v) const;
    template <class F>
    void sum_impulses(const Vector& r, F&& take) const;
    template <class VelocityOf>
    void spread_block(Index i, VelocityOf& velocity_of, double* u) const;
    template <class VelocityOf>
    void spread_velocities(VelocityOf&& velocity_of, Vector& u) const;
    [[nodiscard]] BlockSparse whitened_matrix() const;
    [[nodiscard]] BlockSparse coupled_matrix() const;

    void add_compliance(BlockSparse& W) const;

    /// Velocities that a mass couples among themselves (a rod, a piece of finite elements), and its factor.
    struct Component {
        std::vector<Index> velocity;
        Factor factor;
    };

    /// What copies share: all that does not depend on b.
    struct Data {
        bool separate = true;
        std::vector<Roots> roots;                   // by species; only if separate
        std::vector<Component> components;          // of the species that have a SparseMass
        std::vector<Index> body_start, body_block;  // blocks by body, in their order
        // of these: 0 as the contact's a, 1 as its b, 2 by a general entry, 3 by one of a tensor
        std::vector<std::uint8_t> body_side;
        // where the numbers of general ones begin, which entry it is of tensors; empty if there are neither
        std::vector<std::int64_t> body_value;
        Vector v_free;
        std::vector<double> inverse_mass, length, rounding;  // length: empty where all are 1
        Vector pull, pulled;                                 // pull n and W (pull n); empty without pulls
        std::optional<BlockSparse> matrix;
        std::optional<BlockRows> dense;
        std::optional<Tiling> tiling;
        std::shared_ptr<void> room;

        [[nodiscard]] Root root(Index body) const {
            std::size_t s = roots.size() - 1;
            while (body < roots[s].first) --s;
            const Roots& r = roots[s];
            const auto k = static_cast<std::size_t>(body - r.first);
            if (!r.dense.empty()) return {r.dim, r.dense.data() + k * r.dim * r.dim};
            if (r.moments == 0) return {r.dim, nullptr, r.mass[k], 0, nullptr};
            return {r.dim, nullptr, r.mass[k], r.moments, r.inertia.data() + k * r.moments};
        }
    };

    const ConeProblem* problem_ = nullptr;
    int threads_ = 1;
    Arithmetic arithmetic_ = Arithmetic::fast;
    const Exchange* exchange_ = nullptr;
    mutable std::shared_ptr<Rooms> rooms_;
    std::shared_ptr<Data> data_;
    Vector b_;
    Vector shift_;
    mutable Vector z_;
};

inline void Delassus::Root::times(const double* z, double* v) const {
    std::array<double, max_block> x;
    std::copy_n(z, dim, x.begin());
    if (dense != nullptr) {
        for (int a = 0; a < dim; ++a) {
            double sum = 0;
            for (int c = 0; c < dim; ++c) sum += dense[a * dim + c] * x[c];
            v[a] = sum;
        }
        return;
    }
    const int d = moments == 0 ? dim : dim - spins_of(dim);
    for (int c = 0; c < d; ++c) v[c] = mass * x[c];
    if (moments <= 1) {
        for (int c = d; c < dim; ++c) v[c] = *inertia * x[c];
        return;
    }
    v[3] = inertia[0] * x[3];
    v[4] = inertia[1] * x[3] + inertia[2] * x[4];
    v[5] = inertia[3] * x[3] + inertia[4] * x[4] + inertia[5] * x[5];
}

inline void Delassus::Root::transposed_times(const double* from, double* z) const {
    std::array<double, max_block> x;
    std::copy_n(from, dim, x.begin());
    if (dense != nullptr) {
        for (int c = 0; c < dim; ++c) {
            double sum = 0;
            for (int a = 0; a < dim; ++a) sum += dense[a * dim + c] * x[a];
            z[c] = sum;
        }
        return;
    }
    const int d = moments == 0 ? dim : dim - spins_of(dim);
    for (int c = 0; c < d; ++c) z[c] = mass * x[c];
    if (moments <= 1) {
        for (int c = d; c < dim; ++c) z[c] = *inertia * x[c];
        return;
    }
    z[3] = inertia[0] * x[3] + inertia[1] * x[4] + inertia[3] * x[5];
    z[4] = inertia[2] * x[4] + inertia[4] * x[5];
    z[5] = inertia[5] * x[5];
}

/// u += the rows of a contact on one of its bodies, of so many velocities, times these.
template <int d>
void add_contact_velocity(const Cone& cone, const Vec<d>& normal, const Vec<d>& arm, double sign,
                          int velocities, const double* V, double* u) {
    const Eigen::Map<const Vec<d>> v(V);
    const Spin<d> spin = spin_of<d>(velocities, V);
    const Wrench<d> motion{sign * (v + cross(spin, arm)), sign * spin};
    std::array<double, max_block> part;
    in_frame<d>(cone, normal, motion, part.data());
    for (int c = 0; c < cone.dim; ++c) u[c] += part[c];
}

template <class F>
void Delassus::for_each_rows_of(Index body, F&& f) const {
    const ConeProblem& p = *problem_;
    for (Index q = data_->body_start[body]; q < data_->body_start[body + 1]; ++q) {
        const Index i = data_->body_block[q];
        const int side = data_->body_side[q], m = p.place_of(body).dim;
        if (side < 2) {
            p.contacts.visit(i, [&]<int d>(const ContactRow<d>& c) {
                f(i, [&](const double* V, double* u) {
                    add_contact_velocity<d>(p.cones[i], c.normal, side == 0 ? c.arm_a : c.arm_b,
                                            side == 0 ? 1.0 : -1.0, m, V, u);
                });
            });
            continue;
        }
        if (side == 3) {
            p.tensors.with_space([&]<int d>(const Vec<d>&) {
                f(i, [&](const double* V, double* u) {
                    Tensor<d> part;
                    const Mat<d> L = Eigen::Map<const Vec<d>>(V) *
                                     p.tensors.template gradient_of<d>(data_->body_value[q]).transpose();
                    tensor_of(L, part.data());
                    for (int a = 0; a < tensor_size<d>; ++a) u[a] += part[a];
                });
            });
            continue;
        }
        f(i, [&](const double* V, double* u) {
            const double* A = p.H.value.data() + data_->body_value[q];
            for (int a = 0; a < p.cones[i].dim; ++a)
                for (int c = 0; c < m; ++c) u[a] += A[a * m + c] * V[c];
        });
    }
}

}  // namespace drystone
