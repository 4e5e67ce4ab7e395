#include "drystone/elastic/elastic_network.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// Conjugate gradients end at this fraction of the residual, or after so many steps; the latter doubles whenever it was
/// too few for springs that behaved as their linear model. Far from the answer, exact solutions of models that are
/// wrong are waste.
constexpr double most_forcing = 0.3;
/// The slope along a Newton step must fall to this fraction.
constexpr double line_search_slope = 0.2;
/// Dampers: stiffness over that of the springs at the start (the residual, within these), factor from pass to pass, and
/// what a pass may leave unbalanced of what its dampers carry.
constexpr double least_weight = 1e-6, most_weight = 0.1, weight_factor = 0.1, inner_fraction = 0.2;
/// Springs whose answer is nearer to balance than this are left to Newton's method at once, for so many steps.
constexpr double near_balance = 1e-2;
constexpr int near_steps = 20;
/// Sweeps go on to this residual, Newton's method from there.
constexpr double sweeps_down_to = 1e-3;

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block>;
using ConstRows = Eigen::Map<const Rows>;

}  // namespace

ElasticNetwork::ElasticNetwork(const Delassus& W, Law law, const LeastEnergyOptions& options,
                               const ConeSolution& solution)
    : W_(W), p_(W.problem()), options_(options) {
    find_faces(law, solution);
    const Index n = p_.rows();
    load_.resize(n);
    each_block([&](Index i) { place_on_face(faces_[i], solution.r.data() + at(i), load_.data() + at(i)); });
    f_ = load_;
    x_.setZero(n);
    anchor_.setZero(n);
    trial_.resize(n);
    opened_.setZero(p_.blocks());
    if (W.whitened()) q_.setZero(p_.dofs());
    // What the springs carry: a given impulse may balance all of it, and W has compliance in the rows of given blocks
    // alone.
    Vector carried = load_;
    each_block([&](Index i) {
        if (is_given(i)) carried.segment(at(i), p_.cones[i].dim).setZero();
    });
    load_norm_ =
        std::max(energy_norm(carried), 1e-6 * std::sqrt(W_.sum([&](Index i) {
                                           return W_.inverse_mass(i) *
                                                  carried.segment(at(i), p_.cones[i].dim).squaredNorm();
                                       })));
}

void ElasticNetwork::set_springs(const Vector& compliance) {
    each_block([&](Index i) {
        if (!is_given(i)) set_compliance(faces_[i], compliance.data() + at(i));
    });
}

void ElasticNetwork::start_from(const Vector& q) {
    q_ = q;
    W_.spread(q_, x_);
    evaluate(x_, f_);
    if (residual() < 1) return;
    q_.setZero();
    x_.setZero();
    f_ = load_;
}

Vector ElasticNetwork::slip_shifts() const {
    Vector s(p_.blocks());
    each_block([&](Index i) { s[i] = slip_shift(faces_[i], x_.data() + at(i), f_.data() + at(i)); });
    return s;
}

double ElasticNetwork::elastic_norm(const Vector& f) const {
    return std::sqrt(W_.sum([&](Index i) {
        double sum = 0;
        for (int c = 0; c < p_.cones[i].dim; ++c) sum += faces_[i].row[c] * f[at(i) + c] * f[at(i) + c];
        return sum;
    }));
}

double ElasticNetwork::energy_norm(const Vector& f) {
    W_.apply(f, work_);
    return std::sqrt(std::max(0.0, W_.dot(f, work_)));
}

double ElasticNetwork::residual() {
    rho_ = f_ - load_;
    const double norm = energy_norm(rho_);
    return residual_ = norm == 0 ? 0.0 : norm / load_norm_;
}

double ElasticNetwork::inner_residual() {
    rho_ = f_ - load_;
    each_block([&](Index i) {
        std::array<double, max_block> moved{};
        for (int c = 0; c < p_.cones[i].dim; ++c) moved[c] = x_[at(i) + c] - anchor_[at(i) + c];
        add_damping(faces_[i], moved.data(), weight_, rho_.data() + at(i));
    });
    return energy_norm(rho_) / load_norm_;
}

Status ElasticNetwork::balance(double tolerance, const Timer& timer, std::vector<HistoryPoint>& history) {
    // The answer to the displacements of the moment may do, after a pass or from a warm start.
    const Vector swept = f_;
    evaluate(x_, f_);
    const double answer = residual();
    if (answer <= tolerance) return Status::solved;
    if ((answer <= near_balance && tolerance < sweeps_down_to) || !W_.whitened()) {
        const int steps = W_.whitened() ? near_steps : options_.max_newton;
        const Status status = descend_by_newton(tolerance, steps, timer, history);
        if (status == Status::solved || !W_.whitened()) return status;
    } else if (answer > 0.3 || newton_steps_ + sweeps_ > 0) {
        f_ = swept;
    }
    Status status = relax(std::max(tolerance, sweeps_down_to), timer, history);
    if (residual_ <= tolerance || status == Status::diverged) return status;
    const Vector f = f_, q = q_, x = x_;
    const double before = residual_;
    const bool slow = status == Status::iteration_limit;
    status = descend_by_newton(tolerance, options_.max_newton, timer, history);
    if (status == Status::solved || residual_ < before) return status;
    f_ = f;
    q_ = q;
    x_ = x;
    residual_ = before;
    return slow ? status : relax(tolerance, timer, history);
}

void ElasticNetwork::find_faces(Law law, const ConeSolution& solution) {
    // The velocity error: the referee's residual times the root mean square velocity of the blocks at stake
    // (docs/theory.md, eq. 12), that is the natural map spread evenly over them.
    const double error = law_residual(W_, solution.r, solution.u, law).mean;
    std::array<ExactSum, 3> sums;
    auto& [free, impulse, count] = sums;
    for (Index i = 0; i < p_.blocks(); ++i) {
        double r2 = 0, b2 = 0;
        for (int c = 0; c < p_.cones[i].dim; ++c) {
            const double length = is_torque(p_.cones[i], c) ? W_.length(i) : 1.0;
            b2 += std::pow(W_.b()[at(i) + c] * length, 2);
            r2 += std::pow(solution.r[at(i) + c] / length, 2);
        }
        if (r2 == 0) continue;  // a block that parts by itself sets no scale for the others
        free.add(b2 / W_.inverse_mass(i));
        impulse.add(r2 * W_.inverse_mass(i));
        count.add(1.0);
    }
    W_.add_up(sums);
    const double velocity =
        count.value() > 0 ? std::sqrt(std::max(free.value(), 1e-6 * impulse.value()) / count.value()) : 0.0;
    // Rounding of u = H v + w stays even where the referee finds nothing to say.
    const double noise = options_.face_tolerance * std::max(error, 1e-13) * velocity;
    faces_.resize(static_cast<std::size_t>(p_.blocks()));
    each_block([&](Index i) {
        if (is_given(i)) {
            faces_[i] = given_face(p_.cones[i], solution.r.data() + at(i));
            return;
        }
        faces_[i] = face_of(p_.cones[i],
                            {solution.r.data() + at(i), solution.u.data() + at(i), W_.inverse_mass(i),
                             W_.length(i), noise * std::sqrt(W_.inverse_mass(i))},
                            law);
    });
}

void ElasticNetwork::linearise() {
    if (D_start_.empty()) {
        D_start_.assign(1, 0);
        for (const Cone& cone : p_.cones) D_start_.push_back(D_start_.back() + cone.dim * cone.dim);
        D_.resize(static_cast<std::size_t>(D_start_.back()));
    }
    each_block([&](Index i) {
        std::array<double, max_block> f{};
        respond(faces_[i], x_.data() + at(i), opened_[i], f.data(), D_.data() + D_start_[i]);
        add_damping_stiffness(faces_[i], weight_, D_.data() + D_start_[i]);
    });
    if (W_.whitened()) prepare_bodies();
}

/// Inverse of each body's own block of the Newton matrix.
void ElasticNetwork::prepare_bodies() {
    const BlockRows& white = W_.dense_rows();
    const double* whitened = white.value.data();
    const Index bodies = p_.bodies();
    if (body_start_.empty()) {
        body_start_.assign(static_cast<std::size_t>(bodies) + 1, 0);
        for (Index body : white.body) ++body_start_[body + 1];
        for (Index j = 0; j < bodies; ++j) body_start_[j + 1] += body_start_[j];
        body_block_.resize(white.body.size());
        body_value_.resize(white.body.size());
        std::vector<Index> next(body_start_.begin(), body_start_.end() - 1);
        for (Index i = 0; i < p_.blocks(); ++i) {
            for_each_entry(p_, white, i, [&](Index body, auto, const BodyRowsOf& H) {
                const Index place = next[body]++;
                body_block_[place] = i;
                body_value_[place] = H.data() - whitened;
            });
        }
        inverse_start_.assign(1, 0);
        for (Index j = 0; j < bodies; ++j)
            inverse_start_.push_back(inverse_start_.back() + p_.place_of(j).dim * p_.place_of(j).dim);
        inverse_.resize(static_cast<std::size_t>(inverse_start_.back()));
    }
    parallel_for(W_.threads(), bodies, [&](Index j) {
        const int m = p_.place_of(j).dim;
        Rows A = Rows::Zero(m, m);
        for (Index k = body_start_[j]; k < body_start_[j + 1]; ++k) {
            const Index i = body_block_[k];
            const int d = p_.cones[i].dim;
            const ConstRows H(whitened + body_value_[k], d, m);
            const Rows DH = ConstRows(D_.data() + D_start_[i], d, d).lazyProduct(H);
            A.noalias() += H.transpose().lazyProduct(DH);
        }
        Eigen::Map<Rows> inverse(inverse_.data() + inverse_start_[j], m, m);
        const double trace = A.trace();
        if (!(trace > 0)) {
            inverse.setZero();
            return;
        }
        // Directions in which a body is held by nothing (the spin of a smooth sphere) carry no load either.
        A.diagonal().array() += 1e-7 * trace;
        inverse = BlockMatrix(A).llt().solve(BlockMatrix::Identity(m, m));
    });
}

void ElasticNetwork::precondition(const Vector& r, Vector& z) const {
    z.resize(r.size());
    parallel_for(W_.threads(), p_.bodies(), [&](Index j) {
        const auto [first, m] = p_.place_of(j);
        const double* A = inverse_.data() + inverse_start_[j];
        for (int a = 0; a < m; ++a) {
            double sum = 0;
            for (int c = 0; c < m; ++c) sum += A[a * m + c] * r[first + c];
            z[first + a] = sum;
        }
    });
    if (W_.exchange() != nullptr) W_.exchange()->share_bodies(z.data(), p_.common_dim());
}

/// Conjugate gradients for Hw^T D Hw p = Hw^T rho; p in step_q_, Hw p in step_x_. The residual is kept as an impulse
/// rho, of which the residual proper is Hw^T rho: then every product is a sum over blocks, which is exact on any number
/// of ranks. If the mass couples bodies, there is no p, and Hw Hw^T = W takes the place of the preconditioner.
void ElasticNetwork::newton_direction(double forcing) {
    const bool bodies = W_.whitened();
    step_x_.setZero(p_.rows());
    if (bodies) step_q_.setZero(p_.dofs());
    D_direction_.resize(p_.rows());
    double product = 0, first = 0;
    truncated_ = true;
    for (std::int64_t k = 0; k < conjugate_limit_; ++k) {
        if (bodies) {
            W_.gather(rho_, r_);
            precondition(r_, z_);
            W_.spread(z_, t_);
        } else {
            W_.apply(rho_, t_);
        }
        const double next = W_.dot(rho_, t_);
        if (k == 0) first = next;
        truncated_ = next > forcing * forcing * first;
        if (!truncated_) break;
        const double beta = k == 0 ? 0.0 : next / product;
        product = next;
        if (k == 0) {
            direction_x_ = t_;
            if (bodies) direction_q_ = z_;
        } else {
            direction_x_ = t_ + beta * direction_x_;
            if (bodies) direction_q_ = z_ + beta * direction_q_;
        }
        each_block([&](Index i) {
            const int d = p_.cones[i].dim;
            const double* D = D_.data() + D_start_[i];
            for (int a = 0; a < d; ++a) {
                double sum = 0;
                for (int c = 0; c < d; ++c) sum += D[a * d + c] * direction_x_[at(i) + c];
                D_direction_[at(i) + a] = sum;
            }
        });
        const double curvature = W_.dot(direction_x_, D_direction_);
        if (!(curvature > 0)) break;
        const double alpha = product / curvature;
        if (!std::isfinite(alpha)) break;
        step_x_ += alpha * direction_x_;
        if (bodies) step_q_ += alpha * direction_q_;
        rho_ -= alpha * D_direction_;
        ++conjugate_steps_;
    }
}

/// Slope of the energy at x + t step: (load - f) . step.
double ElasticNetwork::slope_at(double t) {
    each_block([&](Index i) {
        const int d = p_.cones[i].dim;
        std::array<double, max_block> x{};
        for (int c = 0; c < d; ++c) x[c] = x_[at(i) + c] + t * step_x_[at(i) + c];
        respond(faces_[i], x.data(), opened_[i], trial_.data() + at(i));
        for (int c = 0; c < d; ++c) x[c] -= anchor_[at(i) + c];
        add_damping(faces_[i], x.data(), weight_, trial_.data() + at(i));
    });
    work_ = load_ - trial_;
    return W_.dot(work_, step_x_);
}

/// Along the step the energy is convex, so its slope increases: bracket its root and close in on it (regula falsi,
/// Illinois). Slopes and not values are compared, because near the minimum values differ by less than rounding.
bool ElasticNetwork::search_line() {
    const double start = slope_at(0);
    if (!(start < 0)) return false;
    double low = 0, low_slope = start, high = 0, high_slope = 0;
    double t = 1;
    bool bracketed = false;
    int side = 0;
    for (int k = 0; k < 60; ++k) {
        const double slope = slope_at(t);
        if (!std::isfinite(slope)) return false;
        if (std::abs(slope) <= line_search_slope * -start) break;
        if (slope < 0) {
            low = t;
            low_slope = slope;
            if (side == -1) high_slope *= 0.5;
            side = -1;
        } else {
            high = t;
            high_slope = slope;
            bracketed = true;
            if (side == 1) low_slope *= 0.5;
            side = 1;
        }
        t = bracketed ? low + (high - low) * low_slope / (low_slope - high_slope) : 2 * t;
    }
    if (truncated_ && t == 1) conjugate_limit_ = std::min<std::int64_t>(2 * conjugate_limit_, 1 << 30);
    x_ += t * step_x_;
    if (W_.whitened()) {
        q_ += t * step_q_;
        W_.spread(q_, x_);  // so that rounding does not lead x away from the displacements of bodies
    }
    evaluate(x_, f_);
    return true;
}

Status ElasticNetwork::descend_by_newton(double tolerance, int most_steps, const Timer& timer,
                                         std::vector<HistoryPoint>& history) {
    evaluate(x_, f_);
    double best = residual();
    weight_ = std::clamp(residual_, least_weight, most_weight);
    anchor_ = x_;
    double inner = inner_residual(), before = inner, forcing = most_forcing;
    int best_at = 0;
    for (int k = 0;; ++k) {
        history.push_back({sweeps_ + newton_steps_, timer.seconds(), residual_});
        if (!std::isfinite(residual_)) return Status::diverged;
        if (residual_ <= tolerance) return Status::solved;
        if (residual_ < 0.9 * best) {
            best = residual_;
            best_at = k;
        }
        if (k - best_at > 100) return Status::stalled;  // the energy falls, the residual need not
        if (k >= most_steps) return Status::iteration_limit;
        if (k > 0 && (inner <= inner_fraction * residual_ || inner <= 0.5 * tolerance)) {
            // Nearly all that is out of balance hangs on the dampers: they yield, and are softer from now on.
            weight_ *= weight_factor;
            anchor_ = x_;
            inner = inner_residual();
            forcing = most_forcing;
        } else if (k > 0) {
            forcing = std::min(most_forcing, 0.9 * (inner / before) * (inner / before));
        }
        forcing = std::min(most_forcing, std::max(forcing, 0.1 * tolerance / inner));
        before = inner;
        linearise();
        newton_direction(forcing);
        ++newton_steps_;
        if (!search_line()) return Status::stalled;
        residual();
        inner = inner_residual();
    }
}

}  // namespace drystone
