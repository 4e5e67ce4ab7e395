// The Delassus operator W = H M^-1 H^T + C and the free velocity b = H M^-1 f + w (docs/theory.md, eqs 7 and 8).
//
// For separate bodies the mass is whitened away: with M^-1 = G G^T per body and Hw = H G, W = Hw Hw^T + C. Solvers then need one
// set of matrices for both directions, half the memory traffic of H beside M^-1 H^T, and a body that does not move has
// G = 0 and needs no exception. The body vector is z = Hw^T r, the velocity v = v_free + G z. The compliance C is diagonal and
// knows no body: a row's part C r of u comes from its own impulse alone. It is in all that is said of W here, and in neither
// of gather and spread.
#pragma once

#include "drystone/cone/exchange.hpp"
#include "drystone/cone/factor.hpp"
#include "drystone/cone/problem.hpp"

#include <functional>
#include <optional>

namespace drystone {

/// W by rows of blocks; block (i, column[k]) begins at value[value_start[k]], row by row. Columns ascend in a row.
struct BlockSparse {
    std::vector<Index> start = {0};
    std::vector<Index> column;
    std::vector<std::int64_t> value_start;
    std::vector<double> value;
};

/// Begins where Eigen's own vectors do: which terms of a product it takes together follows from where its result lies, and so would the last bit.
using AlignedNumbers = std::vector<double, Eigen::aligned_allocator<double>>;

class Delassus {
public:
    /// Keeps a reference to the problem, and to the exchange (nullptr: one rank).
    explicit Delassus(const ConeProblem& problem, int threads = 1, const Exchange* exchange = nullptr);

    /// The operator of the convex problem with a frozen shift (eq. 9): b + s n, one number s per block. Shares all matrices.
    /// Its u, also that of complete() and of the referee, is the admissible one, H v + w + C r + s n.
    [[nodiscard]] Delassus with_frozen_shift(const Vector& s) const;
    /// The shift, one number per block; empty if there is none.
    [[nodiscard]] const Vector& frozen_shift() const { return shift_; }
    /// False for rigid contacts: then C = 0 and the problem holds none.
    [[nodiscard]] bool compliant() const { return problem_->compliance.size() > 0; }

    [[nodiscard]] const ConeProblem& problem() const { return *problem_; }
    [[nodiscard]] int threads() const { return threads_; }
    /// Of the factorisations that solvers make. (Of a mass that couples bodies: repeatable for small pieces, fast for large ones.)
    [[nodiscard]] Arithmetic arithmetic() const { return arithmetic_; }
    void set_arithmetic(Arithmetic arithmetic) { arithmetic_ = arithmetic; }
    /// True if bodies are separate, so that Hw exists.
    [[nodiscard]] bool whitened() const { return data_->separate; }
    /// Hw, laid out like problem().H.value. Only if whitened().
    [[nodiscard]] const AlignedNumbers& whitened_rows() const { return data_->Hw; }

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
    /// What rounding may do to the relative velocity of block i, torques measured by length(i): of the terms of b, of pulls, and of the
    /// places that w was made from.
    [[nodiscard]] double rounding(Index i) const { return data_->rounding[i]; }
    /// Diagonal block W_ii.
    [[nodiscard]] BlockMatrix diagonal(Index i) const {
        const int d = problem_->cones[i].dim;
        return Eigen::Map<const Eigen::MatrixXd>(data_->diagonal.data() + data_->diagonal_start[i], d, d);
    }
    /// The mean eigenvalue of W_ii (1 / mass) once torques are measured by length(i): the scale 1 / rho_i of eq. 11.
    [[nodiscard]] double inverse_mass(Index i) const { return data_->inverse_mass[i]; }
    /// Length that turns the torques of block i into forces (eq. 10); 1 for blocks without torques.
    [[nodiscard]] double length(Index i) const { return data_->length[i]; }

    /// u = W r + b. No allocation after the first call.
    void velocity(const Vector& r, Vector& u) const;
    /// out = W r.
    void apply(const Vector& r, Vector& out) const;
    /// z = Hw^T r, the whitened body vector; only if whitened(). A body's terms are added in block order.
    void gather(const Vector& r, Vector& z) const;
    /// out_i = Hw_i z. So W r is spread(gather(r)) + C r.
    void spread(const Vector& z, Vector& out) const;
    /// Solution with u and v computed from r.
    [[nodiscard]] ConeSolution complete(const Vector& r) const;

    /// M^-1 (f + H^T r) from the problem's own data, without whitening: the referee's view.
    [[nodiscard]] Vector velocity_by_momentum(const Vector& r) const {
        return impulse_to_velocity(problem_->f + body_impulse(r));
    }

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
    void whiten();
    void factorise();
    void prepare_bodies();
    void compute_scales();
    [[nodiscard]] Vector impulse_to_velocity(const Vector& impulse) const;
    [[nodiscard]] Vector body_impulse(const Vector& r) const;
    void apply_H(const Vector& v, Vector& u) const;
    [[nodiscard]] BlockSparse whitened_matrix() const;
    [[nodiscard]] BlockSparse coupled_matrix() const;
    /// The root G of a body's inverse mass; only if whitened().
    [[nodiscard]] BodyRowsOf root_of(Index body) const;
    void add_compliance();  // to the diagonal blocks
    void compute_rounding();
    void add_compliance(BlockSparse& W) const;

    /// Velocities that a mass couples among themselves (a rod, a piece of finite elements), and its factor.
    struct Component {
        std::vector<Index> velocity;
        Factor factor;
    };

    /// What copies share: all that does not depend on b.
    struct Data {
        bool separate = true;
        AlignedNumbers Hw;                          // whitened rows
        AlignedNumbers G;                           // per body, row by row
        std::vector<std::int64_t> G_start;          // by species
        std::vector<Component> components;          // of the species that have a SparseMass
        std::vector<Index> body_start, body_block;  // entries of H by body, in block order
        std::vector<std::int64_t> body_value;       // where their numbers begin
        Vector v_free;
        AlignedNumbers diagonal;
        std::vector<std::int64_t> diagonal_start;
        Vector inverse_mass, length, rounding;
        Vector pull, pulled;  // pull n and W (pull n); empty without pulls
        std::optional<BlockSparse> matrix;
    };

    const ConeProblem* problem_;
    int threads_;
    Arithmetic arithmetic_ = Arithmetic::fast;
    const Exchange* exchange_;
    std::shared_ptr<Data> data_;
    Vector b_;
    Vector shift_;
    mutable Vector z_;
};

}  // namespace drystone
