// What the two halves of checkpoint files share. Not for use outside checkpoint*.cpp.
#pragma once

#include "drystone/run/simulate.hpp"

namespace drystone {

/// The numbers of a run's progress in the order in which they are stored.
struct ProgressNumbers {
    std::vector<std::int64_t> counts;
    std::vector<double> sums;
};
ProgressNumbers numbers_of(const RunProgress& progress);

}  // namespace drystone
