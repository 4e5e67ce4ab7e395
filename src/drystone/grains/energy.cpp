#include "drystone/grains/energy.hpp"

#include "drystone/base/exact_sum.hpp"

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
    // Exact, and of the same terms as in account_after (world/stages.cpp): the same numbers as in the record of a step.
    ExactSum kinetic, potential;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i)) continue;
        kinetic.add(0.5 * bodies.mass[i] * bodies.velocity[i].squaredNorm() +
                    0.5 * bodies.spin[i].dot(angular_momentum(bodies, i)));
        potential.add(-bodies.mass[i] * scene.gravity.dot(scene.unwrapped(i)));
    }
    return {kinetic.value(), potential.value()};
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
