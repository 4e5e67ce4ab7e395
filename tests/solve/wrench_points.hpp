// Random and degenerate points with wrench cones of all dimensions, for holding projections against something else.
#pragma once

#include "drystone/cone/cone.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace drystone::testing {

struct PointAndCone {
    Cone cone;
    std::vector<double> x;
};

enum class Coefficients : std::uint8_t {
    all,       ///< 0, 1e-9, 1e6 and infinity among ordinary ones
    ordinary,  ///< 0, infinity, and from `spread` to 1 / spread
    finite,    ///< the same without infinity
};

constexpr double spread = 0.05;

inline double random_coefficient(std::mt19937& engine, Coefficients range) {
    const auto uniform = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine);
    };
    switch (std::uniform_int_distribution<int>(0, 9)(engine)) {
        case 0:
            return 0;
        case 1:
            return range == Coefficients::all ? 1e-9 : 0.1;
        case 2:
            return range == Coefficients::all ? 1e6 : 1;
        case 3:
            return range == Coefficients::finite ? 1 : infinity;
        case 4:
        case 5:
            return range == Coefficients::all ? std::pow(10, uniform(-3, 3))
                                              : std::pow(spread, uniform(-1, 1));
        default:
            return uniform(spread, 2);
    }
}

constexpr int kinds_of_points = 12;

/// True if points of a kind lie where the active limits change, so that a multiplier and its limit vanish together.
inline bool is_degenerate(int kind) { return kind == 0 || (kind >= 3 && kind <= 7) || kind == 9; }

/// Number `index` of a sequence of points of about the given norm; the kinds take turns.
inline PointAndCone wrench_point(std::mt19937& engine, int index, double norm, Coefficients range) {
    std::normal_distribution<double> normal;
    const auto uniform = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine);
    };
    constexpr int dims[] = {3, 5, 6};
    PointAndCone out;
    const int dim = dims[(index / kinds_of_points) % 3];
    const double mu = random_coefficient(engine, range), rolling = random_coefficient(engine, range),
                 spinning = random_coefficient(engine, range);
    out.cone = Cone::wrench(dim, mu, rolling, spinning);
    const ConeGroups groups = groups_of(out.cone);
    out.x.resize(static_cast<std::size_t>(dim));
    std::vector<double>& x = out.x;
    x[0] = normal(engine);
    /// A group in a random direction, of the given length.
    const auto set = [&](const ConeGroup& g, double length) {
        const double angle = uniform(0, 6.283185307179586);
        x[g.start] = g.size == 1 ? std::copysign(length, angle - 3.14) : length * std::cos(angle);
        if (g.size == 2) x[g.start + 1] = length * std::sin(angle);
    };
    for (const ConeGroup& g : groups) set(g, std::abs(normal(engine)));
    // Lengths that are limits are cut off where a coefficient is too large for that.
    const auto limit = [](const ConeGroup& g, double y) { return std::min(g.mu * y, 30.0); };
    switch (index % kinds_of_points) {
        case 0:  // on the axis, either side
            for (const ConeGroup& g : groups) set(g, 0);
            break;
        case 1:  // so far below that the answer is 0
            x[0] = -1;
            for (const ConeGroup& g : groups) set(g, 0.3 / (1 + std::min(g.mu, 1e9)));
            break;
        case 2:  // one group is zero
            set(groups.group[index / 36 % groups.count], 0);
            break;
        case 3:  // every group on its limit
            x[0] = std::abs(x[0]);
            for (const ConeGroup& g : groups) set(g, limit(g, x[0]));
            break;
        case 4:  // all groups leave their limits at the same normal part
            x[0] = -std::abs(x[0]);
            for (const ConeGroup& g : groups) set(g, limit(g, 1.5));
            break;
        case 5: {  // on the boundary of the polar cone, where the answer turns from 0
            double sum = 0;
            for (const ConeGroup& g : groups) {
                const double length = uniform(0, 1) / std::max(1.0, std::min(g.mu, 1e12));
                set(g, length);
                if (std::isfinite(g.mu)) sum += g.mu * length;
            }
            x[0] = -sum;
            break;
        }
        case 6:  // components over many decades
            for (double& c : x) c *= std::pow(10, uniform(-6, 0));
            break;
        case 7:  // just outside of every limit
            x[0] = std::abs(x[0]);
            for (const ConeGroup& g : groups) set(g, limit(g, x[0]) * (1 + 1e-12));
            break;
        case 8:  // inside
            x[0] = std::abs(x[0]);
            for (const ConeGroup& g : groups) set(g, uniform(0, 1) * limit(g, x[0]));
            break;
        case 9:  // normal part zero
            x[0] = 0;
            break;
        default:
            break;
    }
    for (double& c : x) c *= norm;
    return out;
}

}  // namespace drystone::testing
