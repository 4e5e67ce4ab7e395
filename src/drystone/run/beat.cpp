#include "drystone/run/beat.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

bool Beat::reached(double time, double slack) {
    if (every <= 0) return true;
    if (time < every * static_cast<double>(next) - slack) return false;
    // Beats a billion times shorter than a step are counted no further than a number goes, and none is missed for it.
    next = static_cast<std::int64_t>(std::min(std::floor((time + slack) / every), 9e18)) + 1;
    return true;
}

}  // namespace drystone
