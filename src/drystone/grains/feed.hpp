// Grains that come and go: sources (feeders, hoppers) and sinks.
#pragma once

#include "drystone/base/exact_sum.hpp"
#include "drystone/bodies/recipe.hpp"
#include "drystone/bodies/region.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace drystone {

/// Puts new grains at random places of a region where they overlap nothing, at a rate, as long as there is room.
template <int d>
struct Source {
    std::string name;
    Region<d> region;
    Recipe<d> recipe;
    double rate = 0;                                               ///< per s: grains, or kg
    bool by_mass = false;                                          ///< rate is in kg/s
    double begin = 0, end = infinity;                              ///< s
    std::int64_t most = std::numeric_limits<std::int64_t>::max();  ///< grains in all
};

/// What a source owes at most after a step, grains or kg: what found no room is owed for a second, so that a source
/// that was blocked for long does not burst.
template <int d>
double most_owed(const Source<d>& source) {
    return source.by_mass ? source.rate : std::max(source.rate, 1.0);
}

/// Takes away the free bodies, and the particles of sand, whose centre is in a region.
template <int d>
struct Sink {
    std::string name;
    Region<d> region;
};

template <int d>
struct Feeds {
    std::vector<Source<d>> sources;
    std::vector<Sink<d>> sinks;
    std::uint64_t seed = 1;  ///< of the scene

    [[nodiscard]] bool empty() const { return sources.empty() && sinks.empty(); }
};

/// What sources and sinks have done so far: part of a checkpoint. One number per source or sink.
struct FeedState {
    std::vector<double> owed;           ///< by each source and not yet put in for want of room: grains, or kg
    std::vector<std::int64_t> fed;      ///< grains put in by each source
    std::vector<double> fed_mass;       ///< kg
    std::vector<double> missed;         ///< never to be put in, for want of room: grains, or kg
    std::vector<std::int64_t> drained;  ///< grains taken away by each sink
    std::vector<double> drained_mass;   ///< kg
};

/// What a restart needs (run/state.hpp).
template <class Self, class F>
requires std::same_as<std::remove_const_t<Self>, FeedState>
void each_number(Self& s, F&& f) {
    f("owed", s.owed);
    f("fed", s.fed);
    f("fed_mass", s.fed_mass);
    f("missed", s.missed);
    f("drained", s.drained);
    f("drained_mass", s.drained_mass);
}

/// What one feeding changed.
struct FeedChange {
    std::int64_t came = 0, went = 0;  ///< grains
    double energy = 0;                ///< J: of grains that came, minus that of grains that went

    [[nodiscard]] bool any() const { return came > 0 || went > 0; }
};

// Before a step of length h, in this order; where anything changed, local indices have changed too, and neighbours must
// be searched anew.

/// Marks the bodies that are in a sink, and adds up those that are counted (all where `counted` is empty): per sink
/// their number and their mass, and last the energy of all. Exact, so that ranks can add up theirs.
template <int d>
void find_drained(const Scene<d>& scene, const Feeds<d>& feeds, std::span<const std::uint8_t> counted,
                  std::vector<std::uint8_t>& gone, std::vector<ExactSum>& sums);
/// Takes away what was found, with sums of all ranks.
template <int d>
void drain(Scene<d>& scene, const std::vector<std::uint8_t>& gone, const std::vector<ExactSum>& sums,
           FeedState& state, FeedChange& change);
/// True if a source has grains to put in before the end of a step of length h.
template <int d>
bool pours(const Scene<d>& scene, const Feeds<d>& feeds, double h, const FeedState& state);
/// Puts in what is due until the end of a step of length h.
template <int d>
void pour(Scene<d>& scene, const Feeds<d>& feeds, double h, FeedState& state, FeedChange& change);

/// Takes back what a feeding took to be due from one time to another, where the step turned out to be shorter.
template <int d>
void take_back(const Feeds<d>& feeds, double from, double to, FeedState& state);

}  // namespace drystone
