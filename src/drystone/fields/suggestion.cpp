#include "drystone/fields/suggestion.hpp"

#include "drystone/base/edit_distance.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace drystone {

namespace {

/// Letters to change; a part of a name that is long enough to mean something counts as one mistake.
std::size_t unlikeness(std::string_view typed, std::string_view name) {
    if (typed.size() > 100) return typed.size();  // no name is like it, and to compare would take long
    const bool part = typed.size() >= 3 && name.find(typed) != std::string_view::npos;
    return part && typed != name ? 1 : edit_distance(typed, name);
}

}  // namespace

std::string nearest_name(std::string_view typed, std::span<const std::string> names) {
    const auto nearer = [&](const std::string& a, const std::string& b) {
        return unlikeness(typed, a) < unlikeness(typed, b);
    };
    const auto nearest = std::min_element(names.begin(), names.end(), nearer);
    return nearest == names.end() ? std::string() : *nearest;
}

std::string suggestion(std::string_view typed, std::span<const std::string> names) {
    if (names.empty()) return "leave it out";
    const std::string nearest = nearest_name(typed, names);
    // A word of which half is wrong was not meant to be the other, unless it is as short as two letters.
    if (!typed.empty() && 2 * unlikeness(typed, nearest) < std::max(typed.size(), std::size_t{3}))
        return fmt::format("did you mean '{}'?", nearest);
    return fmt::format("use {}{}", names.size() == 1 ? "" : "one of ", fmt::join(names, ", "));
}

}  // namespace drystone
