// Many random grains in a region at once, none of which overlap.
#pragma once

#include "drystone/bodies/recipe.hpp"
#include "drystone/bodies/region.hpp"

#include <variant>

namespace drystone {

/// What a body takes at the least, before it has a contact: more bodies than memory has room for are refused.
inline constexpr double bytes_per_body = 500;

/// Volume of the grains over that of the region.
struct FillFraction {
    double value = 0.3;
};
struct FillCount {
    std::int64_t value = 0;
};
using FillTarget = std::variant<FillFraction, FillCount>;

struct FillReport {
    std::int64_t count = 0;  ///< grains put in
    double fraction = 0;     ///< volume of the grains over that of the region
    int passes = 0;          ///< of pushing apart; 0: random places were free
};

/// Adds free grains to the scene. Their bounding balls are inside the region and overlap neither each other nor the
/// bodies that are there. What a grain is follows from its id alone; where it is, from all of them. Throws Error, the
/// scene unchanged, where there is no room.
template <int d>
FillReport fill(Scene<d>& scene, const Region<d>& region, const Recipe<d>& recipe, const FillTarget& target,
                const Random& random);

}  // namespace drystone
