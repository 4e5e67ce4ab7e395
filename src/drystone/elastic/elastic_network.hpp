// The springs of least_energy.hpp, their displacements and the forces they give, and the two ways to their balance.
//
// relax(): sweeps of Gauss-Seidel with momentum on the augmented Lagrangian, in the forces (elastic_sweep.hpp). Each
// pass holds the displacements q, as the multiplier, and then moves them by what is out of balance.
// descend_by_newton(): the same method seen from the displacements, the proximal method of multipliers (Rockafellar
// 1976; with Newton's method inside, Li, Sun & Toh 2018): every spring has a damper beside it, at rest where the pass
// began and `weight` times as stiff as the spring, and semismooth Newton with conjugate gradients finds the balance of
// both. Without dampers there need not be one: near an isostatic packing the admissible forces have no interior,
// displacements grow without end, and open or slipping springs leave the matrix singular. Sweeps are good at finding
// who slips and who opens, Newton at the last digits.
#pragma once

#include "drystone/base/parallel.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/elastic/elastic_sweep.hpp"
#include "drystone/elastic/least_energy.hpp"

#include <optional>

namespace drystone {

class ElasticNetwork {
public:
    /// Keeps references to W and the options. The load is that of solution.r, put on the faces.
    ElasticNetwork(const Delassus& W, Law law, const LeastEnergyOptions& options,
                   const ConeSolution& solution);

    void set_springs(const Vector& compliance);
    /// Opens each contact by s (one number per block): slip that does not dilate.
    void set_opening(const Vector& s) { opened_ = s; }
    /// Starts from displacements known from before if they are better than none.
    void start_from(const Vector& q);

    /// Goes on from where it stands until the residual is below the tolerance.
    Status balance(double tolerance, const Timer& timer, std::vector<HistoryPoint>& history);

    [[nodiscard]] const Vector& forces() const { return f_; }
    [[nodiscard]] const Vector& load() const { return load_; }
    [[nodiscard]] const Vector& displacement() const { return q_; }
    [[nodiscard]] double last_residual() const { return residual_; }
    [[nodiscard]] int sweeps() const { return sweeps_; }
    [[nodiscard]] int newton_steps() const { return newton_steps_; }
    [[nodiscard]] int conjugate_steps() const { return conjugate_steps_; }

    [[nodiscard]] Vector slip_shifts() const;
    /// sqrt(f^T C f) with the compliance of the moment.
    [[nodiscard]] double elastic_norm(const Vector& f) const;

private:
    [[nodiscard]] Index at(Index i) const { return p_.offset[i]; }
    /// The problem's own compliance has settled the impulse of this block (then of all its rows, see least_energy): no
    /// spring.
    [[nodiscard]] bool is_given(Index i) const { return W_.compliant() && p_.compliance[at(i)] > 0; }
    template <class F>
    void each_block(F&& f) const {
        parallel_for(W_.threads(), p_.blocks(), f);
    }

    void find_faces(Law law, const ConeSolution& solution);
    void evaluate(const Vector& x, Vector& f) const {
        each_block([&](Index i) { respond(faces_[i], x.data() + at(i), opened_[i], f.data() + at(i)); });
    }
    /// |Hw^T f|: the norm of M^-1 H^T f that is its kinetic energy.
    double energy_norm(const Vector& f);
    /// What the springs' answer to x_ leaves unbalanced.
    double residual();

    Status relax(double tolerance, const Timer& timer, std::vector<HistoryPoint>& history);
    void load_kernel();
    double look();

    Status descend_by_newton(double tolerance, int most_steps, const Timer& timer,
                             std::vector<HistoryPoint>& history);
    /// What springs and dampers together leave unbalanced: in rho_, and its norm.
    double inner_residual();
    void linearise();
    void prepare_bodies();
    void precondition(const Vector& r, Vector& z) const;
    void newton_direction(double forcing);
    double slope_at(double t);
    bool search_line();

    const Delassus& W_;
    const ConeProblem& p_;
    const LeastEnergyOptions& options_;
    std::vector<ElasticFace> faces_;
    Vector opened_;
    Vector load_;  // impulses on the faces near r*: their H^T load is what the springs must carry
    double load_norm_ = 0;
    Vector q_, x_, f_;  // displacements of bodies (whitened) and of blocks, forces
    double residual_ = 1;

    // Sweeps
    Tiling tiling_;
    std::optional<ElasticKernel> kernel_;
    double kernel_weight_ = 1;
    Vector multiplier_;  // kernel_weight_ times displacements of bodies
    double imbalance_ = 1, error_ = 1;
    int sweeps_ = 0;

    // Newton
    Vector anchor_;          // where the dampers are at rest
    double weight_ = 1;      // their stiffness over that of the springs
    std::vector<double> D_;  // -df/dx by blocks, with the dampers
    std::vector<std::int64_t> D_start_;
    std::vector<double> inverse_;  // of the bodies' own stiffness
    std::vector<Index> body_start_, body_block_;
    std::vector<std::int64_t> body_value_, inverse_start_;
    Vector rho_, work_, r_, z_, t_, direction_q_, direction_x_, D_direction_, step_q_, step_x_, trial_;
    int newton_steps_ = 0, conjugate_steps_ = 0;
    std::int64_t conjugate_limit_ = 200;
    bool truncated_ = false;  // conjugate gradients ended by their limit
};

}  // namespace drystone
