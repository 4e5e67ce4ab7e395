#include "penalty_limit.hpp"

#include "drystone/base/timer.hpp"

#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <algorithm>
#include <cmath>
#include <utility>

namespace drystone::validation {

namespace {

using Matrix = Eigen::SparseMatrix<double>;

Eigen::Matrix3d cross_matrix(const Vec<3>& a) {
    Eigen::Matrix3d m;
    m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
    return m;
}

/// The system of one scene. Unknowns of a free body: 3 displacements, and 3 turns if anything can turn it.
class Network {
public:
    explicit Network(const PenaltyScene& scene)
        : scene_(scene), contacts_(near_pairs(scene)), first_(scene.bodies.size(), -1) {
        std::erase_if(contacts_, [](const PenaltyContact& c) { return c.gap > 0; });
        frictional_ = scene.friction.maxCoeff() > 0;
        turning_ = frictional_;
        for (const PenaltyBall& ball : scene.balls) turning_ = turning_ || !ball.offset.isZero();
        per_body_ = turning_ ? 6 : 3;
        for (std::size_t i = 0; i < scene.bodies.size(); ++i)
            if (!scene.bodies[i].fixed) {
                first_[i] = unknowns_;
                unknowns_ += per_body_;
            }
        load_.setZero(unknowns_);
        arm_.setOnes(unknowns_);
        for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
            const PenaltyBody& body = scene.bodies[i];
            if (body.fixed) continue;
            load_.segment<3>(first_[i]) = body.mass * scene.gravity + body.force;
            if (!turning_) continue;
            load_.segment<3>(first_[i] + 3) = body.torque;
            arm_.segment<3>(first_[i] + 3).setConstant(std::sqrt(2.5 * body.inertia.maxCoeff() / body.mass));
        }
        hold(load_);
        stiffest_ = scene.stiffness.maxCoeff();
        // Hertz's springs are linear nowhere: start from the slope at a grain's weight.
        if (scene.law == SpringLaw::hertz)
            start_ = std::pow(load_.lpNorm<Eigen::Infinity>() / stiffest_, 2.0 / 3);
    }

    [[nodiscard]] Eigen::Index unknowns() const { return unknowns_; }
    [[nodiscard]] bool symmetric() const { return !frictional_; }

    /// Unbalanced forces, torques by arm; forces go to the contacts.
    void balance(const Vector& u, Vector& r) {
        r = load_;
        for (PenaltyContact& c : contacts_) {
            const Vec<3> w = relative(c, u);
            c.gap = c.normal.dot(w);
            const double d = std::max(0.0, -c.gap);
            c.normal_force = d * secant(c, d);
            c.tangential_force.setZero();
            c.sliding = false;
            if (c.friction > 0 && d > 0) {
                const Vec<3> t = w - c.gap * c.normal;
                c.tangential_force = -scene_.ratio * secant(c, d) * t;
                const double size = c.tangential_force.norm(), most = c.friction * c.normal_force;
                c.sliding = size > most;
                if (c.sliding) c.tangential_force *= most / size;
            }
            const Vec<3> f = c.normal_force * c.normal + c.tangential_force;
            put(r, c.a, c.arm_a, f);
            if (c.b >= 0) put(r, c.b, c.arm_b, -f);
        }
        hold(r);
    }

    [[nodiscard]] double residual(const Vector& r) const {
        double largest = 0;
        for (const PenaltyContact& c : contacts_) largest = std::max(largest, c.normal_force);
        return r.cwiseQuotient(arm_).lpNorm<Eigen::Infinity>() / std::max(largest, 1e-300);
    }

    /// Minus the derivative of the forces; `all`: as if every contact were closed and stuck, for the start.
    void stiffness(const Vector& u, bool all, Matrix& K) {
        entries_.clear();
        for (const PenaltyContact& c : contacts_) {
            const Eigen::Matrix3d k = block(c, relative(c, u), all);
            Eigen::Matrix<double, 3, 12> h;
            h << Eigen::Matrix3d::Identity(), -cross_matrix(c.arm_a), -Eigen::Matrix3d::Identity(),
                cross_matrix(c.arm_b);
            const Eigen::Matrix<double, 12, 12> full = h.transpose() * k * h;
            const Index at[2] = {first_[c.a], c.b >= 0 ? first_[c.b] : -1};
            for (int p = 0; p < 2; ++p)
                for (int q = 0; q < 2; ++q) {
                    if (at[p] < 0 || at[q] < 0) continue;
                    for (int i = 0; i < per_body_; ++i)
                        for (int j = 0; j < per_body_; ++j)
                            entries_.emplace_back(at[p] + i, at[q] + j, full(6 * p + i, 6 * q + j));
                }
        }
        // A little stiffness to the ground holds what nothing else does; it does not enter the balance, so not the
        // result.
        for (std::size_t i = 0; i < first_.size(); ++i) {
            if (first_[i] < 0) continue;
            for (int j = 0; j < per_body_; ++j) {
                const double arm = arm_[first_[i] + j];
                const bool held = scene_.bodies[i].planar && (j == 1 || j == 3 || j == 5);
                entries_.emplace_back(first_[i] + j, first_[i] + j,
                                      (held ? 1e3 : 1e-10) * slope() * arm * arm);
            }
        }
        K.resize(unknowns_, unknowns_);
        K.setFromTriplets(entries_.begin(), entries_.end());
    }

    /// Displacements fall as 1/k (Hooke) or k^(-2/3) (Hertz).
    [[nodiscard]] Vector gather(const PenaltyResult& near, double scale) const {
        const double factor = scene_.law == SpringLaw::hooke ? scale : std::pow(scale, 2.0 / 3);
        Vector u(unknowns_);
        for (std::size_t i = 0; i < first_.size(); ++i) {
            if (first_[i] < 0) continue;
            u.segment<3>(first_[i]) = factor * near.displacement[i];
            if (turning_) u.segment<3>(first_[i] + 3) = factor * near.turn[i];
        }
        return u;
    }

    void report(const Vector& u, PenaltyResult& result) const {
        result.contacts = contacts_;
        result.force.assign(first_.size(), Vec<3>::Zero());
        result.displacement.assign(first_.size(), Vec<3>::Zero());
        result.turn.assign(first_.size(), Vec<3>::Zero());
        for (const PenaltyContact& c : contacts_) {
            const Vec<3> f = c.normal_force * c.normal + c.tangential_force;
            result.force[c.a] += f;
            if (c.b >= 0) result.force[c.b] -= f;
            result.overlap = std::max(result.overlap, -c.gap);
            result.sliding += c.sliding ? 1 : 0;
        }
        result.slipped = result.sliding;
        for (PenaltyContact& c : result.contacts) c.slipped = c.sliding;
        for (std::size_t i = 0; i < first_.size(); ++i) {
            if (first_[i] < 0) continue;
            result.displacement[i] = u.segment<3>(first_[i]);
            if (turning_) result.turn[i] = u.segment<3>(first_[i] + 3);
        }
    }

private:
    [[nodiscard]] double secant(const PenaltyContact& c, double d) const {
        return scene_.law == SpringLaw::hooke ? c.stiffness : c.stiffness * std::sqrt(d);
    }

    [[nodiscard]] double slope() const {
        return scene_.law == SpringLaw::hooke ? stiffest_ : stiffest_ * std::sqrt(start_);
    }

    [[nodiscard]] Vec<3> relative(const PenaltyContact& c, const Vector& u) const {
        Vec<3> w = at(u, c.a, c.arm_a);
        if (c.b >= 0) w -= at(u, c.b, c.arm_b);
        return w;
    }

    [[nodiscard]] Vec<3> at(const Vector& u, Index body, const Vec<3>& arm) const {
        if (first_[body] < 0) return Vec<3>::Zero();
        Vec<3> w = u.segment<3>(first_[body]);
        if (turning_) w += u.segment<3>(first_[body] + 3).cross(arm);
        return w;
    }

    void put(Vector& r, Index body, const Vec<3>& arm, const Vec<3>& f) const {
        if (first_[body] < 0) return;
        r.segment<3>(first_[body]) += f;
        if (turning_) r.segment<3>(first_[body] + 3) += arm.cross(f);
    }

    void hold(Vector& r) const {
        for (std::size_t i = 0; i < first_.size(); ++i) {
            if (first_[i] < 0 || !scene_.bodies[i].planar) continue;
            for (const int j : {1, 3, 5})
                if (j < per_body_) r[first_[i] + j] = 0;
        }
    }

    /// Minus the derivative of the force on a by the relative displacement.
    [[nodiscard]] Eigen::Matrix3d block(const PenaltyContact& c, const Vec<3>& w, bool all) const {
        const Eigen::Matrix3d nn = c.normal * c.normal.transpose(), tt = Eigen::Matrix3d::Identity() - nn;
        const double gap = c.normal.dot(w);
        const double d = all ? start_ : std::max(0.0, -gap), k = secant(c, d);
        const double ratio = c.friction > 0 ? scene_.ratio : 0;
        if (all) return k * nn + ratio * k * tt;
        if (d == 0) return Eigen::Matrix3d::Zero();
        const bool hertz = scene_.law == SpringLaw::hertz;
        const double tangent = hertz ? 1.5 * k : k;  // -d f_N / d gap
        if (ratio == 0) return tangent * nn;
        const Vec<3> t = w - gap * c.normal;
        const double size = t.norm();
        if (ratio * k * size > c.friction * c.normal_force) {
            const Vec<3> e = t / size;
            // f_T = -mu f_N e: it grows with f_N, and turns with t.
            return tangent * nn - c.friction * tangent * e * c.normal.transpose() +
                   c.friction * c.normal_force / size * (tt - e * e.transpose());
        }
        // f_T = -ratio k(d) t, with d k / d gap = -k / (2 d) for Hertz.
        Eigen::Matrix3d stuck = tangent * nn + ratio * k * tt;
        if (hertz) stuck -= ratio * k / (2 * d) * t * c.normal.transpose();
        return stuck;
    }

    const PenaltyScene& scene_;
    std::vector<PenaltyContact> contacts_;
    std::vector<Index> first_;  // unknown of each body, -1: fixed
    std::vector<Eigen::Triplet<double>> entries_;
    Vector load_, arm_;  // arm_: 1 for forces, a length for torques
    double stiffest_ = 0, start_ = 0;
    Index unknowns_ = 0;
    int per_body_ = 3;
    bool frictional_ = false, turning_ = false;
};

/// K x = r. Returns false where K is singular.
bool solve(const Matrix& K, bool symmetric, const Vector& r, Vector& x) {
    if (symmetric) {
        const Eigen::SimplicialLDLT<Matrix> factor(K);
        if (factor.info() != Eigen::Success) return false;
        x = factor.solve(r);
    } else {
        Eigen::SparseLU<Matrix> factor(K);
        if (factor.info() != Eigen::Success) return false;
        x = factor.solve(r);
    }
    return x.allFinite();
}

}  // namespace

PenaltyResult stiff_limit(const PenaltyScene& scene, const LimitOptions& options, const PenaltyResult* near,
                          double scale) {
    const Timer timer;
    PenaltyResult result;
    Network network(scene);
    Vector u = Vector::Zero(network.unknowns()), r, step, next_r;
    Matrix K;
    bool fine = true;
    if (near != nullptr) {
        u = network.gather(*near, scale);
    } else {
        network.balance(u, r);
        network.stiffness(u, true, K);
        fine = solve(K, network.symmetric(), r, u);
    }
    network.balance(u, r);
    result.residual = network.residual(r);
    while (fine && result.residual > options.tolerance && result.steps < options.most_steps) {
        ++result.steps;
        network.stiffness(u, false, K);
        fine = solve(K, network.symmetric(), r, step);
        if (!fine) break;
        // Whole steps change the set of closed contacts and may raise the residual on the way; only where it explodes
        // are they cut.
        double length = 1;
        for (int cut = 0; cut < 6; ++cut, length *= 0.5) {
            network.balance(u + length * step, next_r);
            if (next_r.norm() < (result.steps < 20 ? 2.0 : 1.0) * r.norm()) break;
        }
        u += length * step;
        network.balance(u, r);
        result.residual = network.residual(r);
    }
    result.at_rest = fine && result.residual <= options.tolerance;
    network.report(u, result);
    result.seconds = timer.seconds();
    return result;
}

}  // namespace drystone::validation
