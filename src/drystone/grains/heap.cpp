#include "drystone/grains/heap.hpp"

#include "drystone/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

namespace drystone {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double near = 0.02;  // of the smaller inner radius: grains that touch

template <int d>
Bounds<d> bounds_of_body(const Scene<d>& scene, Index i) {
    return bounds<d>(scene.shape_of(i), scene.bodies.size[i], scene.bodies.pose(i));
}

/// Slope of the line fitted to points with a first number from `low` to `high`; not a number for fewer than 3.
double slope_of(const std::vector<std::pair<double, double>>& points, double low, double high) {
    double n = 0, x = 0, y = 0;
    for (const auto& [r, h] : points) {
        if (r < low || r > high) continue;
        n += 1;
        x += r;
        y += h;
    }
    if (n < 3) return nan;
    x /= n;
    y /= n;
    double xx = 0, xy = 0;
    for (const auto& [r, h] : points) {
        if (r < low || r > high) continue;
        xx += (r - x) * (r - x);
        xy += (r - x) * (h - y);
    }
    return xx > 0 ? xy / xx : nan;
}

/// A grain that has left and flies on for ever makes a profile as long as its way.
constexpr std::int64_t most_bins = 1'000'000;
[[noreturn]] void refuse_bins(double bins, double width) {
    fail("measure.width", fmt::format("the grains lie in {:.3g} bins of {:.3g} m", bins, width),
         "give a larger width, or a region that leaves out the grains that have gone far away");
}

double degrees(double slope) { return std::atan(slope) * 180 / std::numbers::pi; }

}  // namespace

template <int d>
HeapProfile<d> heap_profile(const Scene<d>& scene, double width, const Region<d>* region) {
    const Bodies<d>& bodies = scene.bodies;
    HeapProfile<d> profile;
    const FlowField<d> field = flow_field(scene, region);
    if (field.grains == 0) return profile;
    profile.centre = field.centre;
    profile.width = width > 0 ? width : 2 * mean_diameter(scene, region);
    // Cells: whole multiples of the width from the axis (plane: from x = 0).
    Vec<d> origin = Vec<d>::Zero();
    if (d == 3) origin = field.centre;
    std::map<std::array<std::int64_t, d - 1>, double> tops;
    profile.base = infinity;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!grain_in(scene, i, region)) continue;
        const Bounds<d> box = bounds_of_body(scene, i);
        std::array<std::int64_t, d - 1> cell;
        for (int k = 0; k + 1 < d; ++k) {
            const double place = std::floor((bodies.position[i][k] - origin[k]) / profile.width);
            // Farther out the bin of a place is lost in rounding.
            if (!(std::abs(place) < 1e12)) refuse_bins(std::abs(place), profile.width);
            cell[k] = static_cast<std::int64_t>(place);
        }
        const auto [at, fresh] = tops.try_emplace(cell, box.upper[d - 1]);
        if (!fresh) at->second = std::max(at->second, box.upper[d - 1]);
        profile.base = std::min(profile.base, box.lower[d - 1]);
    }
    std::int64_t first = 0, last = 0;
    if constexpr (d == 2) {
        first = tops.begin()->first[0];
        last = tops.rbegin()->first[0];
        profile.begin = static_cast<double>(first) * profile.width;
    }
    for (const auto& [cell, top] : tops) {
        double squares = 0, place = 0;
        for (const std::int64_t k : cell) {
            place = (static_cast<double>(k) + 0.5) * profile.width;
            squares += place * place;
        }
        if constexpr (d == 3) {
            place = std::sqrt(squares);
            last = std::max(last, static_cast<std::int64_t>(place / profile.width));
        }
        profile.cells.emplace_back(place, top - profile.base);
    }
    if (last - first >= most_bins) refuse_bins(static_cast<double>(last - first), profile.width);
    std::vector<double> count(static_cast<std::size_t>(last - first + 1), 0.0);
    profile.heights.assign(count.size(), 0.0);
    for (const auto& [place, height] : profile.cells) {
        const auto bin = static_cast<std::size_t>(std::floor((place - profile.begin) / profile.width));
        profile.heights[bin] += height;
        count[bin] += 1;
    }
    for (std::size_t k = 0; k < count.size(); ++k) {
        profile.heights[k] = count[k] > 0 ? profile.heights[k] / count[k] : nan;
        if (count[k] > 0) profile.height = std::max(profile.height, profile.heights[k]);
    }
    return profile;
}

template <int d>
Repose angle_of_repose(const HeapProfile<d>& profile) {
    const auto bins = static_cast<std::ptrdiff_t>(profile.heights.size());
    const auto middle = [&](std::ptrdiff_t k) {
        return profile.begin + (static_cast<double>(k) + 0.5) * profile.width;
    };
    const auto flank = [&](std::ptrdiff_t from, std::ptrdiff_t by) {
        const auto height = [&](std::ptrdiff_t k) { return profile.heights[static_cast<std::size_t>(k)]; };
        std::ptrdiff_t k = from;
        while (k >= 0 && k < bins && !(height(k) < 0.8 * profile.height)) k += by;
        const std::ptrdiff_t begin = k;
        while (k >= 0 && k < bins && !(height(k) < 0.2 * profile.height)) k += by;
        if (k == begin) return nan;
        const double low = std::min(middle(begin), middle(k - by)),
                     high = std::max(middle(begin), middle(k - by));
        const double half = 0.5 * profile.width;
        return degrees(-static_cast<double>(by) * slope_of(profile.cells, low - half, high + half));
    };
    Repose repose{nan, nan, nan};
    if (bins == 0) return repose;
    std::ptrdiff_t peak = 0;
    for (std::ptrdiff_t k = 0; k < bins; ++k)
        if (profile.heights[static_cast<std::size_t>(k)] == profile.height) {
            peak = k;
            break;
        }
    repose.right = flank(d == 2 ? peak : 0, 1);
    repose.left = d == 2 ? flank(peak, -1) : repose.right;
    double sum = 0, count = 0;
    for (const double angle : {repose.left, repose.right}) {
        if (std::isnan(angle)) continue;
        sum += angle;
        count += 1;
    }
    if (count > 0) repose.mean = sum / count;
    return repose;
}

template <int d>
RunOut<d> run_out(const Scene<d>& scene, const StepMemory<d>& memory, const Region<d>* region) {
    const Bodies<d>& bodies = scene.bodies;
    RunOut<d> result;
    std::vector<Index> parent(bodies.id.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](Index i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    for (std::size_t i = 0; i < memory.contacts.size(); ++i) {
        const Contact<d>& c = memory.contacts[i];
        if (!bodies.is_free(c.a) || !bodies.is_free(c.b)) continue;
        const double reach = near * std::min(scene.inner_radius(c.a), scene.inner_radius(c.b));
        if (c.gap > reach &&
            impulse_of(memory.assembled, memory.solution.r, c, static_cast<Index>(i)).isZero(0))
            continue;
        const Index a = root(c.a), b = root(c.b);
        if (a != b) parent[std::max(a, b)] = std::min(a, b);
    }
    std::vector<std::int64_t> members(bodies.id.size(), 0);
    Index largest = -1;
    for (Index i = 0; i < bodies.count(); ++i)
        if (grain_in(scene, i, region)) ++members[root(i)];
    for (Index i = 0; i < bodies.count(); ++i)
        if (members[i] > 0 && (largest < 0 || members[i] > members[largest])) largest = i;
    if (largest < 0) return result;
    result.connected_grains = members[largest];
    const Vec<d> centre = flow_field(scene, region).centre;
    result.left = result.connected_left = infinity;
    result.right = result.connected_right = -infinity;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!grain_in(scene, i, region)) continue;
        const Bounds<d> box = bounds_of_body(scene, i);
        const double left = box.lower[0], right = box.upper[0];
        const Vec<d> way = bodies.position[i] - centre;
        const double radius = way.template head<d - 1>().norm() + scene.outer_radius(i);
        result.left = std::min(result.left, left);
        result.right = std::max(result.right, right);
        result.radius = std::max(result.radius, radius);
        if (root(i) != largest) continue;
        result.connected_left = std::min(result.connected_left, left);
        result.connected_right = std::max(result.connected_right, right);
        result.connected_radius = std::max(result.connected_radius, radius);
    }
    return result;
}

#define DRYSTONE_INSTANTIATE(d)                                                      \
    template HeapProfile<d> heap_profile(const Scene<d>&, double, const Region<d>*); \
    template Repose angle_of_repose(const HeapProfile<d>&);                          \
    template RunOut<d> run_out(const Scene<d>&, const StepMemory<d>&, const Region<d>*);
DRYSTONE_INSTANTIATE(2)
DRYSTONE_INSTANTIATE(3)
#undef DRYSTONE_INSTANTIATE

}  // namespace drystone
