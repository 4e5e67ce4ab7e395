#include "drystone/run/balance.hpp"

#include "drystone/continuum/motion.hpp"
#include "drystone/run/simulate.hpp"
#include "drystone/world/share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace drystone {

void EnergyBalance::start(const Energy& energy) {
    begin = end = energy;
    largest_kinetic = energy.kinetic;
    begun = true;
}

void EnergyBalance::add(const StepRecord& record) {
    end = record.energy;
    largest_kinetic = std::max(largest_kinetic, record.energy.kinetic);
    gross_work += std::abs(record.work.contacts) + std::abs(record.work.joints) +
                  std::abs(record.work.scheme) + std::abs(record.work.stress) +
                  std::abs(record.work.transfer);
}

void EnergyBalance::change(const Energy& now, RunSummary& summary) {
    summary.fed_energy += now.total() - end.total();
    end = now;
}

double EnergyBalance::error(const RunSummary& summary, double fall) const {
    const double nowhere = end.total() - begin.total() - summary.work.contacts - summary.work.joints -
                           summary.work.scheme - summary.work.stress - summary.work.transfer -
                           summary.fed_energy;
    const double rounding =
        8 * std::numeric_limits<double>::epsilon() * (std::abs(begin.total()) + std::abs(end.total()));
    const double scale =
        std::max({largest_kinetic, std::abs(end.potential - begin.potential), gross_work, fall});
    return scale > 0 ? std::max(0.0, std::abs(nowhere) - rounding) / scale : 0;
}

template <int d>
Energy energy_now(const Scene<d>& scene, const Share<d>* share, const Sand<d>* sand) {
    if (!share) {
        Energy energy = energy_of(scene);
        if (sand == nullptr) return energy;
        ExactSum kinetic, potential;
        account(scene, *sand, kinetic, potential);
        return {energy.kinetic + kinetic.value(), energy.potential + potential.value()};
    }
    StepSums sums;
    account_after(scene, {share->counted_bodies(scene), {}}, sums);
    share->sum(sums.sums);
    return {sums.kinetic.value(), sums.potential.value()};
}

template <int d>
double energy_of_a_fall(const World<d>& world, double h, const Share<d>* share) {
    const Scene<d>& scene = world.scene;
    const std::vector<std::uint8_t> here = share ? share->counted_bodies(scene) : std::vector<std::uint8_t>();
    const Counted counted{here, {}};
    ExactSum mass;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (scene.bodies.is_free(i) && counted.body(i)) mass.add(scene.bodies.mass[i]);
    if (share) share->sum({&mass, 1});
    for (Index i = 0; i < world.sand.particles.count(); ++i) mass.add(world.sand.mass(i));
    const double speed = scene.gravity.norm() * h;
    return 0.5 * mass.value() * speed * speed;
}

template Energy energy_now(const Scene<2>&, const Share<2>*, const Sand<2>*);
template Energy energy_now(const Scene<3>&, const Share<3>*, const Sand<3>*);
template double energy_of_a_fall(const World<2>&, double, const Share<2>*);
template double energy_of_a_fall(const World<3>&, double, const Share<3>*);

}  // namespace drystone
