#include "drystone/run/stop.hpp"

#include <cmath>

namespace drystone {

namespace {

/// Times are sums of steps: a span counts as over when it is over to rounding.
bool is_over(double span, double wanted, double h) { return span >= wanted - 1e-6 * h; }

bool is_calm(const StopRule& rule, double time, double h, double kinetic, StopState& state) {
    if (!rule.kinetic_below) return false;
    if (!(kinetic < *rule.kinetic_below)) {
        state.calm_since = -1;
        return false;
    }
    if (state.calm_since < 0) state.calm_since = time;
    return is_over(time - state.calm_since, rule.calm, h);
}

bool is_steady(const StopRule& rule, double time, double h, double kinetic, StopState& state) {
    if (!rule.window) return false;
    if (state.weight == 0) state.begin = time - h;
    state.sum += h * kinetic;
    state.weight += h;
    if (!is_over(state.weight, *rule.window, h)) return false;
    const double mean = state.sum / state.weight, last = state.last_mean;
    state.last_mean = mean;
    state.sum = state.weight = 0;
    state.begin = time;
    return last >= 0 && std::abs(mean - last) <= rule.change * last;
}

}  // namespace

StopReason should_stop(const StopRule& rule, double time, double h, double kinetic, StopState& state) {
    // Both look at every step, so that what they have seen does not depend on `earliest` or on each other.
    const bool calm = is_calm(rule, time, h, kinetic, state);
    const bool steady = is_steady(rule, time, h, kinetic, state);
    if (!is_over(time, rule.earliest, h)) return StopReason::none;
    if (calm) return StopReason::calm;
    return steady ? StopReason::steady : StopReason::none;
}

}  // namespace drystone
