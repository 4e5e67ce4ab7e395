#include "drystone/grains/feed.hpp"

#include "drystone/grains/free_space.hpp"
#include "drystone/grains/place.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

// A grain that has found no free place among so many random ones waits for the next step.
constexpr std::uint64_t most_tries_of_a_source = 100;
// Of one source; the others wait. Nobody means more, and a rate that is a mistake does not take all memory at once.
constexpr Index most_in_a_step = 1'000'000;

template <int d>
double energy_of_body(const Scene<d>& scene, Index i) {
    const Bodies<d>& bodies = scene.bodies;
    const Spin<d>& spin = bodies.spin[i];
    return 0.5 * (bodies.mass[i] * bodies.velocity[i].squaredNorm() +
                  spin.dot(inertia_in_world<d>(bodies.rotation[i], bodies.inertia[i]) * spin)) -
           bodies.mass[i] * scene.gravity.dot(scene.unwrapped(i));
}

/// What a source owes for the time from one moment to another.
template <int d>
double due(const Source<d>& source, double from, double to) {
    return source.rate * std::max(std::min(to, source.end) - std::max(from, source.begin), 0.0);
}

/// A debt of one grain counts as due when it is due to rounding; by mass, grains come as soon as anything is owed.
template <int d>
bool is_due(const Source<d>& source, double owed, std::int64_t fed) {
    return owed > (source.by_mass ? 0 : 1 - 1e-9) && fed < source.most;
}

/// Puts in grains until nothing is owed or there is no room.
template <int d>
void pour_one(Scene<d>& scene, const Source<d>& source, std::size_t s, const Random& random, FeedState& state,
              FeedChange& change) {
    auto owes = [&] { return is_due(source, state.owed[s], state.fed[s]); };
    if (!owes()) return;
    const Places<d> places(source.region, scene.domain);
    FreeSpace<d> space(scene, places.bounds, largest_radius(scene, source.recipe));
    for (Index poured = 0; owes() && poured < most_in_a_step; ++poured) {
        BodyPlan<d> plan = draw_body(source.recipe, random, scene.bodies.next_id);
        const double radius = plan.size * bounding_radius<d>(scene.shapes[plan.shape]);
        std::uint64_t t = 0;
        for (; t < most_tries_of_a_source; ++t) {
            plan.pose.position = places.draw(random, scene.bodies.next_id, t, radius);
            if (contains<d>(places.region, plan.pose.position, radius) &&
                space.is_free(plan.pose.position, radius))
                break;
        }
        if (t == most_tries_of_a_source) return;
        space.add(plan.pose.position, radius);
        const Index i = scene.add_body(plan);
        const double mass = scene.bodies.mass[i];
        state.owed[s] -= source.by_mass ? mass : 1;
        ++state.fed[s];
        state.fed_mass[s] += mass;
        ++change.came;
        change.energy += energy_of_body(scene, i);
    }
}

}  // namespace

template <int d>
void find_drained(const Scene<d>& scene, const Feeds<d>& feeds, std::span<const std::uint8_t> counted,
                  std::vector<std::uint8_t>& gone, std::vector<ExactSum>& sums) {
    gone.assign(static_cast<std::size_t>(scene.bodies.count()), 0);
    sums.assign(2 * feeds.sinks.size() + 1, {});
    if (feeds.sinks.empty()) return;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (!scene.bodies.is_free(i)) continue;
        for (std::size_t s = 0; s < feeds.sinks.size(); ++s) {
            if (!contains<d>(feeds.sinks[s].region, scene.bodies.position[i], 0)) continue;
            gone[i] = 1;
            if (counted.empty() || counted[i] != 0) {
                sums[2 * s].add(1);
                sums[2 * s + 1].add(scene.bodies.mass[i]);
                sums.back().add(energy_of_body(scene, i));
            }
            break;
        }
    }
}

template <int d>
void drain(Scene<d>& scene, const std::vector<std::uint8_t>& gone, const std::vector<ExactSum>& sums,
           FeedState& state, FeedChange& change) {
    const std::size_t sinks = sums.size() / 2;
    state.drained.resize(sinks, 0);
    state.drained_mass.resize(sinks, 0.0);
    for (std::size_t s = 0; s < sinks; ++s) {
        const auto count = static_cast<std::int64_t>(sums[2 * s].value());
        state.drained[s] += count;
        state.drained_mass[s] += sums[2 * s + 1].value();
        change.went += count;
    }
    change.energy -= sums.back().value();
    if (std::any_of(gone.begin(), gone.end(), [](std::uint8_t x) { return x != 0; }))
        scene.bodies.remove(gone);
}

template <int d>
bool pours(const Scene<d>& scene, const Feeds<d>& feeds, double h, const FeedState& state) {
    for (std::size_t s = 0; s < feeds.sources.size(); ++s) {
        const bool known = s < state.owed.size();
        const double owed = (known ? state.owed[s] : 0) + due(feeds.sources[s], scene.time, scene.time + h);
        if (is_due(feeds.sources[s], owed, known ? state.fed[s] : 0)) return true;
    }
    return false;
}

template <int d>
void pour(Scene<d>& scene, const Feeds<d>& feeds, double h, FeedState& state, FeedChange& change) {
    const std::size_t sources = feeds.sources.size();
    state.owed.resize(sources, 0.0);
    state.fed.resize(sources, 0);
    state.fed_mass.resize(sources, 0.0);
    state.missed.resize(sources, 0.0);
    const Random random(feeds.seed);
    for (std::size_t s = 0; s < sources; ++s) {
        const Source<d>& source = feeds.sources[s];
        state.owed[s] += due(source, scene.time, scene.time + h);
        pour_one(scene, source, s, random, state, change);
        const double most = most_owed(source);
        if (state.owed[s] <= most) continue;
        if (state.fed[s] < source.most) state.missed[s] += state.owed[s] - most;
        state.owed[s] = most;
    }
}

template <int d>
void take_back(const Feeds<d>& feeds, double from, double to, FeedState& state) {
    for (std::size_t s = 0; s < feeds.sources.size(); ++s) {
        const double back = due(feeds.sources[s], from, to);
        // What was owed at most was owed after what was missed.
        const double from_missed =
            state.owed[s] >= most_owed(feeds.sources[s]) ? std::min(back, state.missed[s]) : 0.0;
        state.missed[s] -= from_missed;
        state.owed[s] -= back - from_missed;
    }
}

#define DRYSTONE_FEED(d)                                                                           \
    template void find_drained(const Scene<d>&, const Feeds<d>&, std::span<const std::uint8_t>,    \
                               std::vector<std::uint8_t>&, std::vector<ExactSum>&);                \
    template void drain(Scene<d>&, const std::vector<std::uint8_t>&, const std::vector<ExactSum>&, \
                        FeedState&, FeedChange&);                                                  \
    template bool pours(const Scene<d>&, const Feeds<d>&, double, const FeedState&);               \
    template void pour(Scene<d>&, const Feeds<d>&, double, FeedState&, FeedChange&);               \
    template void take_back(const Feeds<d>&, double, double, FeedState&)
DRYSTONE_FEED(2);
DRYSTONE_FEED(3);
#undef DRYSTONE_FEED

}  // namespace drystone
