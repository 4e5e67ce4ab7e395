#include "drystone/run/balance.hpp"

#include "drystone/run/simulate.hpp"

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
    gross_work +=
        std::abs(record.work.contacts) + std::abs(record.work.joints) + std::abs(record.work.scheme);
}

double EnergyBalance::error(const RunSummary& summary, double fall) const {
    const double nowhere = end.total() - begin.total() - summary.work.contacts - summary.work.joints -
                           summary.work.scheme - summary.fed_energy;
    const double rounding =
        8 * std::numeric_limits<double>::epsilon() * (std::abs(begin.total()) + std::abs(end.total()));
    const double scale =
        std::max({largest_kinetic, std::abs(end.potential - begin.potential), gross_work, fall});
    return scale > 0 ? std::max(0.0, std::abs(nowhere) - rounding) / scale : 0;
}

}  // namespace drystone
