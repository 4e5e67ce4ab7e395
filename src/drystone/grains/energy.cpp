#include "drystone/grains/energy.hpp"

namespace drystone {

namespace {

template <int d>
Spin<d> angular_momentum(const Bodies<d>& bodies, Index i) {
    return inertia_in_world<d>(bodies.rotation[i], bodies.inertia[i]) * bodies.spin[i];
}

}  // namespace

template <int d>
Energy energy_of(const Scene<d>& scene) {
    const Bodies<d>& bodies = scene.bodies;
    Energy energy;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i)) continue;
        energy.kinetic += 0.5 * (bodies.mass[i] * bodies.velocity[i].squaredNorm() +
                                 bodies.spin[i].dot(angular_momentum(bodies, i)));
        energy.potential -= bodies.mass[i] * scene.gravity.dot(scene.unwrapped(i));
    }
    return energy;
}

template <int d>
Momentum<d> momentum_of(const Scene<d>& scene) {
    const Bodies<d>& bodies = scene.bodies;
    Momentum<d> momentum;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i)) continue;
        const Vec<d> p = bodies.mass[i] * bodies.velocity[i];
        momentum.linear += p;
        momentum.angular += torque(scene.unwrapped(i), p) + angular_momentum(bodies, i);
    }
    return momentum;
}

template Energy energy_of(const Scene<2>&);
template Energy energy_of(const Scene<3>&);
template Momentum<2> momentum_of(const Scene<2>&);
template Momentum<3> momentum_of(const Scene<3>&);

}  // namespace drystone
