#include "penalty.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/timer.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace drystone::validation {

namespace {

constexpr double sliding_margin = 1e-4;

/// A contact at work. Positions of the undeformed scene, so that displacements alone carry the digits.
struct Spring {
    Index ball_a, ball_b;  ///< ball_b -1: plane
    Index body_a, body_b;
    Vec<3> reach;         ///< centre of b to centre of a, undeformed; a plane: its normal
    double length, gap0;  ///< of reach; gap undeformed
    double radius_a, radius_b;
    double stiffness, friction, dashpot;  ///< dashpot: 2 sqrt(k m) times the option over sqrt(k), so sqrt(kg)
    Vec<3> stretch = Vec<3>::Zero();
    double force = 0;
    Vec<3> tangential = Vec<3>::Zero();
    Vec<3> normal = Vec<3>::Zero();
    double gap = 0;
    bool slipped = false;
};

struct Mover {
    Vec<3> u = Vec<3>::Zero(), v = Vec<3>::Zero(), w = Vec<3>::Zero();  ///< w: angular velocity
    Eigen::Quaterniond q = Eigen::Quaterniond::Identity();
    Vec<3> force = Vec<3>::Zero(), torque = Vec<3>::Zero();  ///< of contacts
    Vec<3> force_before = Vec<3>::Zero(), torque_before = Vec<3>::Zero();
};

/// Displacement, arm and velocity of a ball's centre.
struct Place {
    Vec<3> u = Vec<3>::Zero(), arm = Vec<3>::Zero(), v = Vec<3>::Zero();
};

/// Largest sum of absolute values of a row: a bound of the largest eigenvalue.
double bound(const Eigen::Matrix3d& a) { return a.cwiseAbs().rowwise().sum().maxCoeff(); }

Eigen::Matrix3d cross_matrix(const Vec<3>& a) {
    Eigen::Matrix3d m;
    m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
    return m;
}

class Relaxation {
public:
    Relaxation(const PenaltyScene& scene, const PenaltyOptions& options)
        : scene_(scene), options_(options), movers_(scene.bodies.size()), places_(scene.balls.size()) {
        for (const PenaltyContact& c : near_pairs(scene)) add(c);
        for (const PenaltyBall& ball : scene.balls) {
            turning_ = turning_ || !ball.offset.isZero();
            skin_ = std::min(skin_, 0.5 * scene.skin * ball.radius);
        }
        turning_ = turning_ || scene.friction.maxCoeff() > 0;
        for (std::size_t i = 0; i < scene.balls.size(); ++i) places_[i].arm = scene.balls[i].offset;
        for (const PenaltyBody& body : scene.bodies)
            if (!body.fixed) weight_ = std::max(weight_, (body.mass * scene.gravity + body.force).norm());
    }

    PenaltyResult run() {
        const Timer timer;
        PenaltyResult result;
        constexpr long long between = 100;
        long long calm = 0, long_enough = 1;
        long long step = 0;
        for (; step < options_.most_steps; ++step) {
            if (step % between == 0) {
                choose_step();
                if (step > options_.ramp_steps) {
                    // A swing passes through balance too: it must last for a radian of the slowest motion.
                    long_enough =
                        1 + static_cast<long long>(1 / (std::max(omega_, 1e-6 / h_) * h_ * between));
                    calm = residual() <= options_.tolerance ? calm + 1 : 0;
                    if (calm > long_enough) break;
                }
            }
            const double t =
                options_.ramp_steps > 0
                    ? std::min(1.0, static_cast<double>(step + 1) / static_cast<double>(options_.ramp_steps))
                    : 1.0;
            load_ = t * t * (3 - 2 * t);
            place_balls();
            push();
            move(t < 1 ? options_.drag : 1.0);
        }
        result.at_rest = step < options_.most_steps;
        result.steps = step;
        result.residual = residual();
        report(result);
        result.seconds = timer.seconds();
        return result;
    }

private:
    void add(const PenaltyContact& c) {
        const PenaltyBall& a = scene_.balls[c.ball_a];
        const Vec<3> at_a = scene_.bodies[a.body].position + a.offset;
        Spring s{};
        s.ball_a = c.ball_a;
        s.ball_b = c.ball_b;
        s.body_a = c.a;
        s.body_b = c.b;
        s.radius_a = a.radius;
        s.stiffness = c.stiffness * options_.scale;
        s.friction = c.friction;
        s.gap0 = s.gap = c.gap;
        s.normal = c.normal;
        double mass = scene_.bodies[c.a].fixed ? 0 : scene_.bodies[c.a].mass;
        if (c.ball_b >= 0) {
            const PenaltyBall& b = scene_.balls[c.ball_b];
            s.reach = at_a - scene_.bodies[b.body].position - b.offset;
            s.length = s.reach.norm();
            s.radius_b = b.radius;
            if (!scene_.bodies[c.b].fixed)
                mass = mass > 0 ? std::min(mass, scene_.bodies[c.b].mass) : scene_.bodies[c.b].mass;
        } else {
            s.reach = c.normal;
            s.length = 1;
        }
        s.dashpot = 2 * options_.dashpot * std::sqrt(mass);
        s.stretch.setZero();
        s.tangential.setZero();
        springs_.push_back(s);
    }

    /// f_N / d.
    [[nodiscard]] double secant(const Spring& s, double overlap) const {
        return scene_.law == SpringLaw::hooke ? s.stiffness : s.stiffness * std::sqrt(overlap);
    }

    /// The longest stable step: symplectic Euler with a dashpot of beta times the stiffness needs l h (h + 2 beta) < 4
    /// for the largest eigenvalue l of stiffness by mass. l is bounded by twice that of each body with its neighbours
    /// held, and that by the sum of those of its translation and rotation.
    void choose_step() {
        translation_.assign(movers_.size(), Eigen::Matrix3d::Zero());
        rotation_.assign(movers_.size(), Eigen::Matrix3d::Zero());
        double beta = 0;
        for (const Spring& s : springs_) {
            double k = s.stiffness;
            if (scene_.law == SpringLaw::hertz)  // of twice the force and of no less than one grain's weight
                k = 1.5 * std::pow(s.stiffness, 2.0 / 3) * std::cbrt(2 * s.force + weight_);
            const double kt = s.friction > 0 ? scene_.ratio * k : 0;
            const Eigen::Matrix3d nn = s.normal * s.normal.transpose();
            const Eigen::Matrix3d block = k * nn + kt * (Eigen::Matrix3d::Identity() - nn);
            beta = std::max(beta, s.dashpot / std::sqrt(k));
            const bool pair =
                s.body_b >= 0 && !scene_.bodies[s.body_a].fixed && !scene_.bodies[s.body_b].fixed;
            for (int side = 0; side < 2; ++side) {
                const Index body = side == 0 ? s.body_a : s.body_b;
                if (body < 0) continue;
                const Vec<3> arm = places_[side == 0 ? s.ball_a : s.ball_b].arm +
                                   (side == 0 ? -s.radius_a : s.radius_b) * s.normal;
                const Eigen::Matrix3d lever = cross_matrix(arm);
                translation_[body] += (pair ? 2 : 1) * block;
                rotation_[body] += (pair ? 2 : 1) * lever.transpose() * block * lever;
            }
        }
        double l = 0;
        for (std::size_t i = 0; i < movers_.size(); ++i) {
            const PenaltyBody& body = scene_.bodies[i];
            if (body.fixed) continue;
            double mine = bound(translation_[i]) / body.mass;
            if (turning_) mine += bound(rotation_[i]) / body.inertia.minCoeff();
            l = std::max(l, mine);
        }
        h_ = l > 0 ? options_.fraction * (std::sqrt(beta * beta + 4 / l) - beta) : 1e-3;
        top_ = std::sqrt(l);
    }

    void place_balls() {
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const PenaltyBall& ball = scene_.balls[i];
            const Mover& m = movers_[ball.body];
            Place& p = places_[i];
            p.u = m.u;
            p.v = m.v;
            if (turning_ && !ball.offset.isZero()) {
                const Vec<3> q = m.q.vec(), across = q.cross(ball.offset);
                const Vec<3> turned =
                    2 * (m.q.w() * across + q.cross(across));  // the turned offset less the offset
                p.arm = ball.offset + turned;
                p.u += turned;
                p.v += m.w.cross(p.arm);
            }
            if (p.u.cwiseAbs().maxCoeff() > skin_)
                fail("penalty reference", "ball " + std::to_string(i) + " moved by more than half the skin",
                     "the pile does not stand, or needs a larger skin or stiffer springs");
        }
    }

    void push() {
        for (Mover& m : movers_) {
            m.force_before = m.force;
            m.torque_before = m.torque;
            m.force.setZero();
            m.torque.setZero();
        }
        for (Spring& s : springs_) {
            const Place& a = places_[s.ball_a];
            Vec<3> shift = a.u, v = a.v;
            if (s.ball_b >= 0) {
                shift -= places_[s.ball_b].u;
                v -= places_[s.ball_b].v;
                const Vec<3> now = s.reach + shift;
                const double length = now.norm();
                s.gap = s.gap0 + (2 * s.reach + shift).dot(shift) / (length + s.length);
                s.normal = now / length;
            } else {
                s.gap = s.gap0 + s.normal.dot(shift);
            }
            const bool keeps = options_.slider == Slider::proportional;
            if (s.gap >= 0) {
                s.force = 0;
                s.tangential.setZero();
                if (!keeps || s.friction == 0) {
                    s.stretch.setZero();
                    continue;
                }
            }
            const double overlap = std::max(0.0, -s.gap), k = secant(s, overlap);
            const double v_n = s.normal.dot(v);
            s.force = k * overlap;
            const double dashpot = s.dashpot * std::sqrt(k);
            Vec<3> total = std::max(0.0, s.force - (overlap > 0 ? dashpot * v_n : 0)) * s.normal;
            // To the middle of the overlap from both sides.
            const double arm_a = -(s.radius_a + 0.5 * s.gap), arm_b = s.radius_b + 0.5 * s.gap;
            if (s.friction > 0) {
                Vec<3> spin = arm_a * movers_[s.body_a].w;
                if (s.body_b >= 0) spin -= arm_b * movers_[s.body_b].w;
                Vec<3> v_t = v + spin.cross(s.normal);
                v_t -= s.normal.dot(v_t) * s.normal;
                s.stretch += moved_ * v_t - s.normal.dot(s.stretch) * s.normal;
                const double k_t = scene_.ratio * k, most = s.friction * s.force;
                s.tangential = -k_t * s.stretch;
                const double size = s.tangential.norm();
                if (size > most) {
                    s.tangential *= most / size;
                    if (!keeps) s.stretch = -s.tangential / k_t;
                    if (overlap > 0) s.slipped = true;
                }
                if (overlap > 0 && size <= most) total -= dashpot * v_t;
                total += s.tangential;
            }
            Mover& m = movers_[s.body_a];
            m.force += total;
            if (turning_) m.torque += (a.arm + arm_a * s.normal).cross(total);
            if (s.body_b >= 0) {
                Mover& n = movers_[s.body_b];
                n.force -= total;
                if (turning_) n.torque -= (places_[s.ball_b].arm + arm_b * s.normal).cross(total);
            }
        }
    }

    /// Symplectic Euler with drag. The slowest motion shows in Rayleigh's quotient of the velocities, once the faster
    /// ones have died (Underwood 1983, adaptive dynamic relaxation).
    void move(double drag) {
        double work = 0, energy = 0;
        for (std::size_t i = 0; i < movers_.size(); ++i) {
            const PenaltyBody& body = scene_.bodies[i];
            const Mover& m = movers_[i];
            if (body.fixed) continue;
            work -= m.v.dot(m.force - m.force_before);
            energy += body.mass * m.v.squaredNorm();
            if (turning_) {
                work -= m.w.dot(m.torque - m.torque_before);
                energy += m.w.dot(body.inertia.cwiseProduct(m.w));
            }
        }
        const double square = energy > 0 ? work / (energy * moved_) : 0;
        omega_ = std::clamp(square > 0 ? std::sqrt(square) : 0.0, 1e-4 * top_, 0.5 * top_);
        const double slow = 1 / (1 + 2 * drag * omega_ * h_);
        moved_ = h_;
        for (std::size_t i = 0; i < movers_.size(); ++i) {
            const PenaltyBody& body = scene_.bodies[i];
            if (body.fixed) continue;
            Mover& m = movers_[i];
            m.v =
                slow * (m.v + h_ / body.mass * (m.force + load_ * (body.mass * scene_.gravity + body.force)));
            if (body.planar) m.v.y() = 0;
            m.u += h_ * m.v;
            if (!turning_) continue;
            m.w = slow * (m.w + h_ * (m.torque + load_ * body.torque).cwiseQuotient(body.inertia));
            if (body.planar) m.w.x() = m.w.z() = 0;
            const Vec<3> half = 0.5 * h_ * m.w;
            m.q = Eigen::Quaterniond(1, half.x(), half.y(), half.z()) * m.q;
            m.q.normalize();
        }
    }

    [[nodiscard]] double residual() const {
        double largest = 0, unbalanced = 0;
        for (const Spring& s : springs_) largest = std::max(largest, s.force);
        for (std::size_t i = 0; i < movers_.size(); ++i) {
            const PenaltyBody& body = scene_.bodies[i];
            if (body.fixed) continue;
            Vec<3> force = movers_[i].force + load_ * (body.mass * scene_.gravity + body.force);
            Vec<3> torque = movers_[i].torque + load_ * body.torque;
            if (body.planar) force.y() = torque.x() = torque.z() = 0;
            unbalanced = std::max(unbalanced, force.norm());
            if (turning_) unbalanced = std::max(unbalanced, torque.norm() / arm_of(body));
        }
        return largest > 0 ? unbalanced / largest : 1;
    }

    /// Radius of a solid sphere of the same mass and inertia.
    [[nodiscard]] static double arm_of(const PenaltyBody& body) {
        return std::sqrt(2.5 * body.inertia.maxCoeff() / body.mass);
    }

    void report(PenaltyResult& result) const {
        result.force.assign(movers_.size(), Vec<3>::Zero());
        for (const Spring& s : springs_) {
            PenaltyContact c;
            c.a = s.body_a;
            c.b = s.body_b;
            c.ball_a = s.ball_a;
            c.ball_b = s.ball_b;
            c.normal = s.normal;
            c.gap = s.gap;
            c.arm_a = places_[s.ball_a].arm - (s.radius_a + 0.5 * s.gap) * s.normal;
            if (s.ball_b >= 0) c.arm_b = places_[s.ball_b].arm + (s.radius_b + 0.5 * s.gap) * s.normal;
            c.stiffness = s.stiffness;
            c.friction = s.friction;
            c.normal_force = s.force;
            c.tangential_force = s.tangential;
            // A swing of the last digits may have left the cone's surface by a hair.
            c.sliding = s.friction > 0 && s.force > 0 &&
                        s.tangential.norm() >= (1 - sliding_margin) * s.friction * s.force;
            c.slipped = s.slipped;
            const Vec<3> force = s.force * s.normal + s.tangential;
            result.force[s.body_a] += force;
            if (s.body_b >= 0) result.force[s.body_b] -= force;
            result.overlap = std::max(result.overlap, -s.gap);
            result.slipped += s.slipped && s.force > 0 ? 1 : 0;
            result.sliding += c.sliding ? 1 : 0;
            result.contacts.push_back(c);
        }
        const std::vector<PenaltyContact> before = near_pairs(scene_);
        for (std::size_t i = 0; i < before.size(); ++i) result.contacts[i].plane = before[i].plane;
        for (const Mover& m : movers_) {
            result.displacement.push_back(m.u);
            // Not by way of the angle of q, whose cosine has lost the digits of a small turn.
            const double sine = m.q.vec().norm();
            const double angle = 2 * std::atan2(sine, m.q.w());
            result.turn.push_back(sine > 0 ? Vec<3>(angle / sine * m.q.vec()) : Vec<3>(Vec<3>::Zero()));
        }
    }

    const PenaltyScene& scene_;
    const PenaltyOptions& options_;
    std::vector<Mover> movers_;
    std::vector<Place> places_;
    std::vector<Spring> springs_;
    std::vector<Eigen::Matrix3d> translation_, rotation_;  // of choose_step, kept for their memory
    double h_ = 0, moved_ = 0, load_ = 0;                  // moved_: the step that led to where bodies are, s
    double omega_ = 0, top_ = 1;  // of the slowest motion, as seen; bound of the fastest; rad/s
    double weight_ = 0;           // the largest load of one body, N
    double skin_ = 1e300;         // how far balls may move, m
    bool turning_ = false;        // frictionless balls do not turn
};

void check(const PenaltyScene& scene) {
    const auto materials = scene.stiffness.rows();
    const auto known = [&](Index m) { return m >= 0 && m < materials; };
    if (materials == 0 || scene.stiffness.cols() != materials || scene.friction.rows() != materials ||
        scene.friction.cols() != materials)
        fail("penalty scene: stiffness, friction", "are not square tables of one size",
             "give a row and a column to each material");
    if (!(scene.stiffness.minCoeff() > 0))
        fail("penalty scene: stiffness", "is not positive", "give the stiffness of each pair of materials");
    for (const PenaltyBall& ball : scene.balls)
        if (ball.body < 0 || ball.body >= static_cast<Index>(scene.bodies.size()) || !known(ball.material) ||
            !(ball.radius > 0))
            fail("penalty scene: balls", "name a body or material that is not there, or have no radius",
                 "check body, material and radius");
    for (const PenaltyPlane& plane : scene.planes)
        if (!known(plane.material) || std::abs(plane.normal.norm() - 1) > 1e-12)
            fail("penalty scene: planes",
                 "name a material that is not there, or have a normal not of length 1",
                 "check material and normal");
}

}  // namespace

std::vector<PenaltyContact> near_pairs(const PenaltyScene& scene) {
    check(scene);
    std::vector<PenaltyContact> contacts;
    const auto centre = [&](const PenaltyBall& ball) -> Vec<3> {
        return scene.bodies[ball.body].position + ball.offset;
    };
    const auto keep = [&](PenaltyContact& c, Index material_b) {
        const PenaltyBall& a = scene.balls[c.ball_a];
        if (c.gap > scene.skin * a.radius) return;
        if (std::abs(c.gap) <= scene.rounding * a.radius) c.gap = 0;
        c.a = a.body;
        c.arm_a = a.offset - (a.radius + 0.5 * c.gap) * c.normal;
        c.stiffness = scene.stiffness(a.material, material_b);
        c.friction = scene.friction(a.material, material_b);
        contacts.push_back(c);
    };
    // Every pair is looked at: a few thousand balls, once.
    const auto count = static_cast<Index>(scene.balls.size());
    for (Index i = 0; i < count; ++i) {
        const PenaltyBall& a = scene.balls[i];
        const bool fixed = scene.bodies[a.body].fixed;
        for (Index j = i + 1; j < count; ++j) {
            const PenaltyBall& b = scene.balls[j];
            if (a.body == b.body || (fixed && scene.bodies[b.body].fixed)) continue;
            const Vec<3> reach = centre(a) - centre(b);
            const double most = a.radius + b.radius + scene.skin * a.radius;
            if (reach.squaredNorm() > most * most) continue;
            PenaltyContact c;
            c.ball_a = i;
            c.ball_b = j;
            c.b = b.body;
            c.gap = reach.norm() - a.radius - b.radius;
            c.normal = reach.normalized();
            c.arm_b = b.offset + (b.radius + 0.5 * c.gap) * c.normal;
            keep(c, b.material);
        }
        if (fixed) continue;
        for (std::size_t p = 0; p < scene.planes.size(); ++p) {
            PenaltyContact c;
            c.ball_a = i;
            c.plane = static_cast<Index>(p);
            c.normal = scene.planes[p].normal;
            c.gap = c.normal.dot(centre(a) - scene.planes[p].point) - a.radius;
            keep(c, scene.planes[p].material);
        }
    }
    return contacts;
}

PenaltyResult relax(const PenaltyScene& scene, const PenaltyOptions& options) {
    return Relaxation(scene, options).run();
}

}  // namespace drystone::validation
