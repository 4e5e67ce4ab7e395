// A contact, or a pair that is near enough to become one.
#pragma once

#include "drystone/base/geometry.hpp"
#include "drystone/base/types.hpp"

#include <compare>
#include <vector>

namespace drystone {

/// Identity of a contact from step to step and from rank to rank: built from global ids, never from memory order.
struct ContactKey {
    GlobalId first = 0,
             second = 0;        ///< ids of the bodies, first < second (or = where a body meets its own image)
    std::uint32_t image = 0;    ///< which periodic image of the second body; 0 without periods
    std::uint32_t feature = 0;  ///< which of several points where faces meet
    auto operator<=>(const ContactKey&) const = default;
};

/// Where two shapes are closest, or overlap: what the narrow phase answers.
template <int d>
struct Touch {
    Vec<d> point;    ///< midway between the closest points
    Vec<d> normal;   ///< unit, from b to a
    double gap = 0;  ///< distance along the normal, negative where they overlap, m
    std::uint32_t feature = 0;
};

/// The arms and not the point are kept, since in a periodic domain the point is in two places. The same point for both
/// bodies makes impulses conserve angular momentum exactly, and since it lies on the normal between the closest points,
/// the normal velocity there is still the exact rate of the gap.
template <int d>
struct Contact {
    Index a = 0, b = 0;   ///< local indices of key.first and key.second
    Vec<d> arm_a, arm_b;  ///< from the centre of each body to the contact point
    Vec<d> normal;        ///< unit, from b to a
    double gap = 0;
    ContactKey key;
};

/// Sorted by key.
template <int d>
using ContactSet = std::vector<Contact<d>>;

}  // namespace drystone
