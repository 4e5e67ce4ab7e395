// Random sequential addition where there is room for it: each grain goes to the first of its random places that is
// free, the largest first. That saturates at about 0.38 in space and 0.55 in the plane (Torquato, Uche and Stillinger
// 2006), and is slow long before. Beyond, all grains start at random places at once and are pushed apart pair by pair
// until none overlap, in the manner of Jodrey and Tory (1985): for equal balls that ends near 0.64 in space and 0.84 in
// the plane.
#include "drystone/grains/fill.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/machine_memory.hpp"
#include "drystone/grains/free_space.hpp"
#include "drystone/grains/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace drystone {

namespace {

// Up to these fractions of balls, few tries find a free place.
constexpr double sparse_2d = 0.42, sparse_3d = 0.28;
constexpr std::uint64_t most_tries_of_a_grain = 5000;
constexpr int most_passes = 3000;

template <int d>
double ball_volume(double radius) {
    return d == 2 ? std::numbers::pi * radius * radius : 4 * std::numbers::pi / 3 * radius * radius * radius;
}

/// The grains to be placed, by id.
template <int d>
struct Grains {
    std::vector<BodyPlan<d>> plans;
    std::vector<double> radius;  ///< of the bounding ball
    GlobalId first = 0;
    double volume = 0;  ///< of all
    double balls = 0;   ///< volume of all bounding balls

    [[nodiscard]] std::size_t count() const { return plans.size(); }
    [[nodiscard]] GlobalId id(std::size_t i) const { return first + static_cast<GlobalId>(i); }
};

template <int d>
Grains<d> draw_grains(const Scene<d>& scene, const Recipe<d>& recipe, const FillTarget& target, double room,
                      const Random& random) {
    std::vector<double> volume(scene.shapes.size(), 0.0), outer(scene.shapes.size(), 0.0);
    Grains<d> grains;
    grains.first = scene.bodies.next_id;
    const auto* fraction = std::get_if<FillFraction>(&target);
    const std::int64_t most = fraction != nullptr ? 1'000'000'000 : std::get<FillCount>(target).value;
    const double room_for = machine_memory() / bytes_per_body;
    while (static_cast<std::int64_t>(grains.count()) < most) {
        if (grains.count() == 1000) {  // enough to know how many it will be
            const double expected = fraction != nullptr ? 1000 * fraction->value * room / grains.volume
                                                        : static_cast<double>(most);
            if (expected > room_for)
                fail(fraction != nullptr ? "fraction" : "count", fmt::format("makes {:.3g} grains", expected),
                     fmt::format("take larger grains or a smaller region: this machine has memory for {:.3g}",
                                 room_for));
        }
        BodyPlan<d> plan = draw_body(recipe, random, grains.id(grains.count()));
        const auto shape = static_cast<std::size_t>(plan.shape);
        if (outer[shape] == 0) {
            volume[shape] = mass_properties<d>(scene.shapes[shape]).volume;
            outer[shape] = bounding_radius<d>(scene.shapes[shape]);
            if (!(volume[shape] > 0 && std::isfinite(volume[shape])))
                fail("shape", fmt::format("a {} is no grain", name_of<d>(scene.shapes[shape])),
                     "fill with shapes that have a volume");
        }
        const double more = volume[shape] * std::pow(plan.size, d);
        // The last grain is the one that leaves the volume nearest to what is wanted.
        if (fraction != nullptr && grains.volume + 0.5 * more > fraction->value * room) break;
        const double radius = outer[shape] * plan.size;
        grains.volume += more;
        grains.balls += ball_volume<d>(radius);
        grains.radius.push_back(radius);
        grains.plans.push_back(plan);
        if (grains.balls > room) {
            const double share = fraction != nullptr
                                     ? fraction->value * room / grains.volume
                                     : static_cast<double>(most) / static_cast<double>(grains.count());
            fail(fraction != nullptr ? "fraction" : "count",
                 fmt::format(
                     "the bounding balls of the grains would take {:.3g} times the volume of the region",
                     share * grains.balls / room),
                 "ask for fewer grains, or make the region larger");
        }
    }
    return grains;
}

template <int d>
std::vector<std::size_t> largest_first(const Grains<d>& grains) {
    std::vector<std::size_t> order(grains.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return grains.radius[a] > grains.radius[b]; });
    return order;
}

/// One after the other. False where a grain found no free place.
template <int d>
bool add_in_turn(Grains<d>& grains, const Places<d>& places, FreeSpace<d> space, const Random& random) {
    for (const std::size_t i : largest_first(grains)) {
        const double radius = grains.radius[i];
        std::uint64_t t = 0;
        for (; t < most_tries_of_a_grain; ++t) {
            const Vec<d> x = places.draw(random, grains.id(i), t, radius);
            if (!contains<d>(places.region, x, radius) || !space.is_free(x, radius)) continue;
            space.add(x, radius);
            grains.plans[i].pose.position = x;
            break;
        }
        if (t == most_tries_of_a_grain) return false;
    }
    return true;
}

template <int d>
Vec<d> pushed_in(const BoxRegion<d>& box, const Vec<d>& x, double radius) {
    return x.cwiseMax((box.lower.array() + radius).matrix()).cwiseMin((box.upper.array() - radius).matrix());
}
Vec<2> pushed_in(const CylinderRegion<2>& disk, const Vec<2>& x, double radius) {
    const Vec<2> arm = x - disk.centre;
    const double away = arm.norm(), most = disk.radius - radius;
    return away <= most ? x : Vec<2>(disk.centre + most / away * arm);
}
Vec<3> pushed_in(const CylinderRegion<3>& cylinder, const Vec<3>& x, double radius) {
    const Vec<3> arm = x - cylinder.centre;
    const double along = cylinder.axis.dot(arm);
    Vec<3> across = arm - along * cylinder.axis;
    const double away = across.norm(), most = cylinder.radius - radius;
    if (away > most) across *= most / away;
    return cylinder.centre + across + std::clamp(along, radius, cylinder.length - radius) * cylinder.axis;
}
Vec<3> pushed_in(const MeshRegion& region, const Vec<3>& x, double radius) {
    const Vec<3> own = matrix(region.pose.rotation).transpose() * (x - region.pose.position);
    const double outside = inside_function<3>(*region.surface, own);
    if (outside <= -radius) return x;
    // The distance to a mesh has no sign: its normal points to x from the nearest point of the surface.
    const Shape<3> ball = Ball<3>{1};
    const Vec<3> away = distance<3>({&ball, radius, {x, {}}}, {region.surface.get(), 1, region.pose}).normal;
    return x + (outside < 0 ? radius + outside : -radius - outside) * away;
}

/// All grains as balls that are pushed apart.
template <int d>
class Crowd {
public:
    Crowd(const Grains<d>& grains, const Places<d>& places, const FreeSpace<d>& space,
          const Domain<d>& domain, const Random& random)
        : places_(places), space_(space), domain_(domain) {
        const std::size_t n = grains.count();
        std::vector<Vec<d>> start(n);
        for (std::size_t i = 0; i < n; ++i) start[i] = start_of(grains, i, random);
        sort_by_place(grains, start);
        skin_ = 0.4 * *std::min_element(radius_.begin(), radius_.end());
        widest_ = widest_ball<d>(places.region);
    }

    /// Passes until no two balls overlap, and none overlaps anything else; false if that takes more than it may.
    bool push_apart() {
        // Balls are pushed a little farther than they need, and less so when that turns out to be too much.
        for (const double margin : {0.01, 0.003, 0.0005}) {
            margin_ = margin;
            pairs_are_valid_ = false;
            for (int k = 0; k < most_passes / 3; ++k) {
                if (k % 5 == 0 && all_free()) return true;
                pass();
                ++passes_;
            }
        }
        return false;
    }

    [[nodiscard]] int passes() const { return passes_; }
    /// The factor on all sizes at which none would overlap another, as they are now.
    [[nodiscard]] double reached() const {
        double least = 1;
        for (const Pair& pair : pairs_) {
            const double sum = radius_[pair.a] + radius_[pair.b];
            least = std::min(least, (x_[pair.a] - x_[pair.b] - pair.shift).norm() / sum);
        }
        return least;
    }
    void store(Grains<d>& grains) const {
        for (std::size_t k = 0; k < x_.size(); ++k) grains.plans[grain_[k]].pose.position = x_[k];
    }

private:
    struct Pair {
        Index a, b;
        Vec<d> shift;  // of b's image that is near a
    };

    Vec<d> start_of(const Grains<d>& grains, std::size_t i, const Random& random) const {
        const double radius = grains.radius[i];
        for (std::uint64_t t = 0; t < most_tries_of_a_grain; ++t) {
            const Vec<d> x = places_.draw(random, grains.id(i), t, radius);
            if (contains<d>(places_.region, x, radius) && space_.is_free(x, radius)) return x;
        }
        fail("region", fmt::format("no room was found for a grain of radius {:.4g} m", radius),
             "make the region larger, keep it clear of other bodies, or make the grains smaller");
    }

    /// Neighbours in space are neighbours in memory: rows of cells.
    void sort_by_place(const Grains<d>& grains, const std::vector<Vec<d>>& start) {
        const double cell = 3 * *std::max_element(grains.radius.begin(), grains.radius.end());
        grain_.resize(start.size());
        std::iota(grain_.begin(), grain_.end(), std::size_t{0});
        auto row = [&](std::size_t i) {
            std::array<double, d> key;
            for (int k = 0; k < d; ++k) key[static_cast<std::size_t>(k)] = std::floor(start[i][k] / cell);
            return key;
        };
        std::stable_sort(grain_.begin(), grain_.end(),
                         [&](std::size_t a, std::size_t b) { return row(a) < row(b); });
        for (const std::size_t i : grain_) {
            x_.push_back(start[i]);
            radius_.push_back(grains.radius[i]);
        }
    }

    void find_pairs() {
        BallGrid<d> grid(domain_);
        // A ball that stands for one with its margin and skin.
        auto wide = [&](std::size_t i) { return radius_[i] * (1 + margin_) + 0.5 * skin_; };
        for (std::size_t i = 0; i < x_.size(); ++i) grid.add(x_[i], wide(i));
        pairs_.clear();
        for (std::size_t i = 0; i < x_.size(); ++i) {
            const auto a = static_cast<Index>(i);
            const std::size_t begin = pairs_.size();
            grid.any_near(x_[i], wide(i), wide(i), [&](Index b, const Vec<d>& way) {
                // Each pair once: by the smaller, or the later of equals.
                const bool mine = radius_[b] > radius_[a] || (radius_[b] == radius_[a] && b < a);
                if (mine) pairs_.push_back({a, b, x_[a] - x_[b] - way});
                return false;
            });
            std::sort(pairs_.begin() + static_cast<std::ptrdiff_t>(begin), pairs_.end(),
                      [](const Pair& p, const Pair& q) { return p.b < q.b; });
        }
        searched_ = x_;
        pairs_are_valid_ = true;
    }

    void renew_pairs() {
        double farthest = 0;
        for (std::size_t i = 0; i < x_.size() && pairs_are_valid_; ++i)
            farthest = std::max(farthest, (x_[i] - searched_[i]).squaredNorm());
        if (!pairs_are_valid_ || farthest > 0.25 * skin_ * skin_) find_pairs();
    }

    void pass() {
        renew_pairs();
        for (const Pair& pair : pairs_) {
            const Vec<d> way = x_[pair.a] - x_[pair.b] - pair.shift;
            const double sum = (1 + margin_) * (radius_[pair.a] + radius_[pair.b]),
                         squared = way.squaredNorm();
            if (squared >= sum * sum) continue;
            const double away = std::sqrt(squared);
            const Vec<d> normal = away > 0 ? Vec<d>(way / away) : Vec<d>(Vec<d>::Unit(pair.a % d));
            // The larger one gives way less, as if it were heavier.
            const double ratio = std::pow(radius_[pair.a] / radius_[pair.b], d);
            const double share = radius_[pair.a] == radius_[pair.b] ? 0.5 : 1 / (1 + ratio);
            x_[pair.a] += share * (sum - away) * normal;
            x_[pair.b] -= (1 - share) * (sum - away) * normal;
        }
        for (std::size_t i = 0; i < x_.size(); ++i) {
            const double radius = std::min((1 + margin_) * radius_[i], std::max(widest_, radius_[i]));
            x_[i] = space_.pushed_out(x_[i], radius);
            push_in(i, radius);
        }
    }

    void push_in(std::size_t i, double radius) {
        if constexpr (d == 3) {
            // To ask a mesh is dear: a ball that was found deep inside is not asked about again until it has moved so
            // far.
            if (const auto* mesh = std::get_if<MeshRegion>(&places_.region)) {
                depth_.resize(x_.size(), {Vec<d>::Zero(), -1});
                auto& [where, spare] = depth_[i];
                if ((x_[i] - where).norm() < spare) return;
                const Vec<d> moved = pushed_in(*mesh, x_[i], radius);
                spare = moved == x_[i] ? radius_[i] : -1;
                while (spare > 0 && !contains<d>(places_.region, x_[i], radius + spare))
                    spare = spare > 0.1 * radius ? 0.5 * spare : -1;
                where = x_[i] = moved;
                return;
            }
        }
        x_[i] =
            std::visit([&](const auto& region) { return pushed_in(region, x_[i], radius); }, places_.region);
    }

    bool all_free() {
        renew_pairs();
        for (const Pair& pair : pairs_) {
            const double sum = radius_[pair.a] + radius_[pair.b];
            if ((x_[pair.a] - x_[pair.b] - pair.shift).squaredNorm() < sum * sum) return false;
        }
        for (std::size_t i = 0; i < x_.size(); ++i) {
            if (!contains<d>(places_.region, x_[i], radius_[i]) || !space_.is_free(x_[i], radius_[i]))
                return false;
        }
        return true;
    }

    const Places<d>& places_;
    const FreeSpace<d>& space_;
    const Domain<d>& domain_;
    std::vector<std::size_t> grain_;  // in Grains
    std::vector<Vec<d>> x_, searched_;
    std::vector<double> radius_;
    // in a mesh: where a ball was, how far it may move from there
    std::vector<std::pair<Vec<d>, double>> depth_;
    std::vector<Pair> pairs_;
    bool pairs_are_valid_ = false;
    double margin_ = 0, skin_ = 0, widest_ = 0;
    int passes_ = 0;
};

std::string asked(const FillTarget& target, double fraction) {
    if (const auto* count = std::get_if<FillCount>(&target))
        return fmt::format("{} grains, a packing fraction of {:.3g}", count->value, fraction);
    return fmt::format("a packing fraction of {:.3g}", fraction);
}

template <int d>
[[noreturn]] void fail_for_room(const Grains<d>& grains, const FillTarget& target, double room,
                                double reached) {
    const char* field = std::holds_alternative<FillCount>(target) ? "count" : "fraction";
    const double loose = grains.balls / grains.volume;
    std::string cure = "ask for less, or let a loose filling settle under gravity";
    if (loose > 1.1)
        cure += fmt::format(
            "; bounding balls must not overlap, and they are {:.2g} times as large as the grains", loose);
    fail(field,
         fmt::format("{} was wanted and {:.3g} reached", asked(target, grains.volume / room),
                     grains.volume / room * std::pow(reached, d)),
         cure);
}

}  // namespace

template <int d>
FillReport fill(Scene<d>& scene, const Region<d>& region, const Recipe<d>& recipe, const FillTarget& target,
                const Random& random) {
    const double room = volume_of<d>(region);
    if (!std::isfinite(room)) fail("region", "has no end", "give a finite region");
    Grains<d> grains = draw_grains(scene, recipe, target, room, random);
    FillReport report{static_cast<std::int64_t>(grains.count()), grains.volume / room, 0};
    if (grains.count() == 0) return report;

    const Places<d> places(region, scene.domain);
    const FreeSpace<d> space(scene, places.bounds,
                             *std::max_element(grains.radius.begin(), grains.radius.end()));
    const bool sparse = grains.balls < (d == 2 ? sparse_2d : sparse_3d) * room;
    if (!sparse || !add_in_turn(grains, places, space, random)) {
        Crowd<d> crowd(grains, places, space, scene.domain, random);
        if (!crowd.push_apart()) fail_for_room(grains, target, room, crowd.reached());
        crowd.store(grains);
        report.passes = crowd.passes();
    }
    for (const BodyPlan<d>& plan : grains.plans) scene.add_body(plan);
    return report;
}

template FillReport fill(Scene<2>&, const Region<2>&, const Recipe<2>&, const FillTarget&, const Random&);
template FillReport fill(Scene<3>&, const Region<3>&, const Recipe<3>&, const FillTarget&, const Random&);

}  // namespace drystone
