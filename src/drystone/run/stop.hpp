// When a run ends before its time.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace drystone {

struct StopRule {
    /// Ends when the kinetic energy of all free bodies together has been below this for `calm` s, J.
    std::optional<double> kinetic_below = {};
    double calm = 0;  ///< s
    /// Ends when the mean kinetic energy of the last `window` s differs from that of the `window` s before by less than
    /// `change` of it.
    std::optional<double> window = {};  ///< s
    double change = 0.01;
    double earliest = 0;  ///< s: not before
};

/// What the rule has seen so far: part of a checkpoint.
struct StopState {
    double calm_since = -1;      ///< s; -1: not calm
    double begin = 0;            ///< of the present window, s
    double sum = 0, weight = 0;  ///< of the present window: kinetic energy times h, h
    double last_mean = -1;       ///< of the window before, J; -1: none
};

template <class Self, class F>
requires std::same_as<std::remove_const_t<Self>, StopState>
void each_number(Self& s, F&& f) {
    f("calm_since", s.calm_since);
    f("begin", s.begin);
    f("sum", s.sum);
    f("weight", s.weight);
    f("last_mean", s.last_mean);
}

enum class StopReason : std::uint8_t { none, calm, steady };

/// To be called after each step of length h that ended at `time`.
StopReason should_stop(const StopRule& rule, double time, double h, double kinetic, StopState& state);

}  // namespace drystone
