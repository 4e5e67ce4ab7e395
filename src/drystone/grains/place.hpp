// Random places in a region.
#pragma once

#include "drystone/bodies/random.hpp"
#include "drystone/bodies/recipe.hpp"
#include "drystone/bodies/region.hpp"

#include <array>
#include <cmath>

namespace drystone {

/// Where balls can be put in a region: its bounds, and the region without the sides that a periodic domain does not
/// have.
template <int d>
struct Places {
    Region<d> region;
    Bounds<d> bounds;
    std::array<bool, d> ends{};  ///< false: the region has no sides in this direction

    Places(const Region<d>& where, const Domain<d>& domain)
        : region(without_periodic_sides<d>(where, domain)), bounds(bounds_of<d>(where)) {
        const Bounds<d> open = bounds_of<d>(region);
        for (int k = 0; k < d; ++k) ends[static_cast<std::size_t>(k)] = std::isfinite(open.lower[k]);
    }

    /// Try number t for the centre of the grain with this id: uniform over the bounds that are left to a ball. It may
    /// lie outside the region.
    [[nodiscard]] Vec<d> draw(const Random& random, GlobalId id, std::uint64_t t, double radius) const {
        Vec<d> x;
        for (int k = 0; k < d; ++k) {
            const double margin = ends[static_cast<std::size_t>(k)] ? radius : 0;
            x[k] = random.between(bounds.lower[k] + margin, bounds.upper[k] - margin,
                                  static_cast<std::uint64_t>(id),
                                  draws::place + 4 * t + static_cast<std::uint64_t>(k));
        }
        return x;
    }
};

}  // namespace drystone
