#include "drystone/run/output_plan.hpp"

namespace drystone {

std::span<const std::string_view> quantity_names() {
    static constexpr std::string_view names[] = {
        "energy",   "mass", "velocity", "temperature", "packing", "coordination", "fabric", "stress",
        "inertial", "flux", "overlap",  "repose",      "runout",  "discharge",    "joint",  "profile"};
    static_assert(std::size(names) == static_cast<std::size_t>(Quantity::profile) + 1);
    return names;
}

bool needs_volume(Quantity quantity) {
    return quantity == Quantity::packing || quantity == Quantity::stress || quantity == Quantity::inertial ||
           quantity == Quantity::flux;
}

}  // namespace drystone
