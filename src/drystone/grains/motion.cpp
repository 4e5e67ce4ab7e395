#include "drystone/grains/motion.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/bodies/free_rotation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drystone {

namespace {

double factor_at(const std::vector<double>& times, const std::vector<double>& factors, double t) {
    if (times.empty()) return 1;
    if (t <= times.front()) return factors.front();
    if (t >= times.back()) return factors.back();
    const auto next =
        static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), t) - times.begin());
    const double share = (t - times[next - 1]) / (times[next] - times[next - 1]);
    return factors[next - 1] + share * (factors[next] - factors[next - 1]);
}

Vec<2> turned(const Vec<2>& g, const Vec<3>& /*axis*/, double angle) { return Eigen::Rotation2Dd(angle) * g; }
Vec<3> turned(const Vec<3>& g, const Vec<3>& axis, double angle) {
    return Eigen::AngleAxisd(angle, axis) * g;
}

}  // namespace

template <int d>
void drive(Scene<d>& scene, double h) {
    const double t = scene.time + 0.5 * h;
    if (const auto& turn = scene.gravity_turn) {
        const double angle = std::min(turn->rate * std::max(0.0, t - turn->begin), turn->limit);
        scene.gravity = turned(turn->start, turn->axis, std::max(angle, -turn->limit));
    }
    Bodies<d>& bodies = scene.bodies;
    for (const Drive<d>& drive : scene.drives) {
        const Index i = bodies.index_of(drive.body);
        if (i < 0) continue;
        const double factor = factor_at(drive.times, drive.factors, t);
        const double wave = std::cos(2 * std::numbers::pi * drive.frequency * t + drive.phase);
        Vec<d> velocity = factor * (drive.velocity + wave * drive.swing);
        const Spin<d> spin = factor * (drive.spin + wave * drive.swing_spin);
        if (drive.pivot) {
            // The chord of the circle, not its tangent: the body stays on it whatever the step.
            const Vec<d> arm = bodies.position[i] - *drive.pivot;
            const Pose<d> by{Vec<d>::Zero(), turn(Rotation<d>{}, Spin<d>(h * spin))};
            velocity += (matrix(by.rotation) * arm - arm) / h;
        }
        if (drive.guide) {
            // What is prescribed is across the axis; along it the body keeps its own speed.
            const Vec<d>& axis = drive.guide->axis;
            velocity += (axis.dot(bodies.velocity[i]) - axis.dot(velocity)) * axis;
        }
        bodies.velocity[i] = velocity;
        bodies.spin[i] = spin;
    }
}

template <int d>
double choose_step(const Scene<d>& scene, double longest, double displacement) {
    if (displacement <= 0) return longest;
    const Bodies<d>& bodies = scene.bodies;
    const double g = scene.gravity.norm();
    double h = longest;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i)) continue;
        // (speed + g h) h <= allowed, solved for h without cancellation. Balls may spin as they like: their surface
        // stays where it is.
        double speed = bodies.velocity[i].norm();
        if (!std::holds_alternative<Ball<d>>(scene.shape_of(i)))
            speed += bodies.spin[i].norm() * scene.outer_radius(i);
        const double allowed = displacement * scene.inner_radius(i);
        const double root = speed + std::sqrt(speed * speed + 4 * g * allowed);
        if (root > 0) h = std::min(h, 2 * allowed / root);
    }
    return h;
}

template <int d>
void free_velocities(const Scene<d>& scene, double h, double theta, int threads, Vector& v_free) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    v_free.resize(static_cast<Eigen::Index>(bodies.count()) * n);
    parallel_for(threads, bodies.count(), [&](Index i) {
        auto v = v_free.template segment<n>(static_cast<Eigen::Index>(i) * n);
        v << bodies.velocity[i], bodies.spin[i];
        if (!bodies.is_free(i)) return;  // of guided ones the contact problem knows the rest
        v.template head<d>() += h * scene.gravity;
        if (turns_alike<d>(bodies.inertia[i]) || theta == 1) return;
        const Spin<d> L = momentum_of<d>(bodies.rotation[i], bodies.inertia[i], bodies.spin[i]);
        v.template tail<spins<d>>() =
            spin_of<d>(rotation_at_impulse(bodies, i, h, theta), bodies.inertia[i], L);
    });
}

template <int d>
void drift(Scene<d>& scene, double h, int threads) {
    Bodies<d>& bodies = scene.bodies;
    parallel_for(threads, bodies.count(), [&](Index i) {
        bodies.position[i] += h * bodies.velocity[i];
        bodies.rotation[i] = bodies.is_free(i) ? rotation_at_impulse(bodies, i, h, 0.0)
                                               : turn(bodies.rotation[i], Spin<d>(h * bodies.spin[i]));
    });
}

template <int d>
void move_cell(Scene<d>& scene, double h, const Vector& v) {
    Domain<d>& domain = scene.domain;
    const CellControl<d>& cell = scene.cell;
    if (cell.any()) {
        const auto rates = v.tail(body_velocities<d>);
        for (int k = 0; k < d; ++k)
            if (cell.stress[k]) domain.rate[k] = rates[k];
        if (cell.shear_stress) domain.shear_rate = rates[d];
    }
    domain.tilt += h * domain.shear_rate * domain.period[d - 1];
    domain.period += h * domain.rate.cwiseProduct(domain.period);
}

template <int d>
void integrate(Scene<d>& scene, double h, double theta, const Vector& v, int threads) {
    constexpr int n = body_velocities<d>;
    Bodies<d>& bodies = scene.bodies;
    parallel_for(threads, bodies.count(), [&](Index i) {
        const auto end = v.template segment<n>(static_cast<Eigen::Index>(i) * n);
        if (!bodies.is_free(i)) {
            Vec<d> velocity = bodies.velocity[i];
            if (bodies.motion[i] == Motion::guided) {
                // The problem's velocity of a guided body is along its axis alone.
                const Vec<d> axis = guide_of(scene, i).axis;
                const double begin = axis.dot(velocity), speed = axis.dot(end.template head<d>());
                bodies.velocity[i] += (speed - begin) * axis;
                velocity += theta * (speed - begin) * axis;
            }
            bodies.position[i] += h * velocity;
            bodies.rotation[i] = turn(bodies.rotation[i], Spin<d>(h * bodies.spin[i]));
            return;
        }
        const Vec<d> velocity = end.template head<d>();
        const Spin<d> spin = end.template tail<spins<d>>();
        bodies.position[i] += h * (theta * velocity + (1 - theta) * bodies.velocity[i]);
        bodies.velocity[i] = velocity;
        if (turns_alike<d>(bodies.inertia[i])) {
            bodies.rotation[i] =
                turn(bodies.rotation[i], Spin<d>(h * (theta * spin + (1 - theta) * bodies.spin[i])));
            bodies.spin[i] = spin;
        } else {
            const Rotation<d> at = rotation_at_impulse(bodies, i, h, theta);
            const Spin<d> L = momentum_of<d>(at, bodies.inertia[i], spin);
            bodies.rotation[i] = turn_freely(at, bodies.inertia[i], L, theta * h);
            bodies.spin[i] = spin_of<d>(bodies.rotation[i], bodies.inertia[i], L);
        }
    });
    move_cell(scene, h, v);
    if (scene.domain.periodic()) {
        parallel_for(threads, bodies.count(), [&](Index i) {
            if (!bodies.is_free(i)) return;
            const Image<d> away = wrap(scene.domain, bodies.position[i]);
            if (away.isZero()) return;
            // They are counted in 32 bits.
            const bool too_far = (bodies.image[i].template cast<double>() + away.template cast<double>())
                                     .cwiseAbs()
                                     .maxCoeff() > 2e9;
            if (too_far)
                fail(fmt::format("body {}", bodies.id[i]),
                     "it has gone 2e9 times through the periodic domain", "look for a wrong velocity");
            // Where the cell changes, its images move: a body that becomes the one on the other side has that one's
            // velocity.
            bodies.image[i] += away;
            bodies.velocity[i] -= scene.domain.translation_velocity(away);
        });
    }
    scene.time += h;
}

template void drive(Scene<2>&, double);
template void drive(Scene<3>&, double);
template double choose_step(const Scene<2>&, double, double);
template double choose_step(const Scene<3>&, double, double);
template void free_velocities(const Scene<2>&, double, double, int, Vector&);
template void free_velocities(const Scene<3>&, double, double, int, Vector&);
template void drift(Scene<2>&, double, int);
template void drift(Scene<3>&, double, int);
template void integrate(Scene<2>&, double, double, const Vector&, int);
template void integrate(Scene<3>&, double, double, const Vector&, int);

}  // namespace drystone
