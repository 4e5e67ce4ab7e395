#include "drystone/grains/motion.hpp"

#include "drystone/base/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// True if the inertia tensor is the same in all axes (always in the plane): then spins need no care.
template <int d>
bool turns_alike(const Spin<d>& inertia) {
    if constexpr (d == 2) {
        return true;
    } else {
        return inertia[0] == inertia[1] && inertia[1] == inertia[2];
    }
}

/// I(q)^-1 x, I = R diag(moments) R^T.
template <int d>
Spin<d> spin_of(const Rotation<d>& q, const Spin<d>& moments, const Spin<d>& momentum) {
    if constexpr (d == 2) {
        return momentum.cwiseQuotient(moments);
    } else {
        const Mat<3> R = matrix(q);
        return R * (R.transpose() * momentum).cwiseQuotient(moments);
    }
}

template <int d>
Spin<d> momentum_of(const Rotation<d>& q, const Spin<d>& moments, const Spin<d>& spin) {
    if constexpr (d == 2) {
        return moments.cwiseProduct(spin);
    } else {
        const Mat<3> R = matrix(q);
        return R * moments.cwiseProduct(R.transpose() * spin);
    }
}

/// Keeps a position in [lower, lower + period) and counts the periods in `image`.
template <int d>
void wrap(const Domain<d>& domain, Vec<d>& x, Image<d>& image) {
    for (int k = 0; k < d; ++k) {
        const double period = domain.period[k];
        if (period <= 0) continue;
        while (x[k] < domain.lower[k]) {
            x[k] += period;
            --image[k];
        }
        while (x[k] >= domain.lower[k] + period) {
            x[k] -= period;
            ++image[k];
        }
    }
}

}  // namespace

template <int d>
double choose_step(const Scene<d>& scene, double longest, double displacement) {
    if (displacement <= 0) return longest;
    const Bodies<d>& bodies = scene.bodies;
    const double g = scene.gravity.norm();
    double h = longest;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i)) continue;
        // (speed + g h) h <= allowed, solved for h without cancellation.
        const double speed = bodies.velocity[i].norm(), allowed = displacement * scene.inner_radius(i);
        const double root = speed + std::sqrt(speed * speed + 4 * g * allowed);
        if (root > 0) h = std::min(h, 2 * allowed / root);
    }
    return h;
}

template <int d>
void free_velocities(const Scene<d>& scene, double h, int threads, Vector& v_free) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    v_free.resize(static_cast<Eigen::Index>(bodies.count()) * n);
    parallel_for(threads, bodies.count(), [&](Index i) {
        auto v = v_free.template segment<n>(static_cast<Eigen::Index>(i) * n);
        v << bodies.velocity[i], bodies.spin[i];
        if (!bodies.is_free(i)) return;
        v.template head<d>() += h * scene.gravity;
        if (turns_alike<d>(bodies.inertia[i])) return;
        const Spin<d> L = momentum_of<d>(bodies.rotation[i], bodies.inertia[i], bodies.spin[i]);
        const Rotation<d> half = turn(bodies.rotation[i], Spin<d>(0.5 * h * bodies.spin[i]));
        v.template tail<spins<d>>() = spin_of<d>(half, bodies.inertia[i], L);
    });
}

template <int d>
void drift(Scene<d>& scene, double h, int threads) {
    Bodies<d>& bodies = scene.bodies;
    parallel_for(threads, bodies.count(), [&](Index i) {
        bodies.position[i] += h * bodies.velocity[i];
        bodies.rotation[i] = turn(bodies.rotation[i], Spin<d>(h * bodies.spin[i]));
    });
}

template <int d>
void integrate(Scene<d>& scene, double h, double theta, const Vector& v_free, const Vector& v, int threads) {
    constexpr int n = body_velocities<d>;
    Bodies<d>& bodies = scene.bodies;
    parallel_for(threads, bodies.count(), [&](Index i) {
        if (!bodies.is_free(i)) {
            bodies.position[i] += h * bodies.velocity[i];
            bodies.rotation[i] = turn(bodies.rotation[i], Spin<d>(h * bodies.spin[i]));
            return;
        }
        const auto end = v.template segment<n>(static_cast<Eigen::Index>(i) * n);
        const Vec<d> velocity = end.template head<d>();
        const Spin<d> spin = end.template tail<spins<d>>();
        bodies.position[i] += h * (theta * velocity + (1 - theta) * bodies.velocity[i]);
        const Spin<d> by = h * (theta * spin + (1 - theta) * bodies.spin[i]);
        bodies.velocity[i] = velocity;
        if (turns_alike<d>(bodies.inertia[i])) {
            bodies.rotation[i] = turn(bodies.rotation[i], by);
            bodies.spin[i] = spin;
        } else {
            const Spin<d> gained =
                spin - v_free.template segment<spins<d>>(static_cast<Eigen::Index>(i) * n + d);
            const Spin<d> L =
                momentum_of<d>(bodies.rotation[i], bodies.inertia[i], Spin<d>(bodies.spin[i] + gained));
            bodies.rotation[i] = turn(bodies.rotation[i], by);
            bodies.spin[i] = spin_of<d>(bodies.rotation[i], bodies.inertia[i], L);
        }
        wrap(scene.domain, bodies.position[i], bodies.image[i]);
    });
    scene.time += h;
}

template double choose_step(const Scene<2>&, double, double);
template double choose_step(const Scene<3>&, double, double);
template void free_velocities(const Scene<2>&, double, int, Vector&);
template void free_velocities(const Scene<3>&, double, int, Vector&);
template void drift(Scene<2>&, double, int);
template void drift(Scene<3>&, double, int);
template void integrate(Scene<2>&, double, double, const Vector&, const Vector&, int);
template void integrate(Scene<3>&, double, double, const Vector&, const Vector&, int);

}  // namespace drystone
