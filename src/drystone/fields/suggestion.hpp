// "did you mean": what to say of a name that there is not.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace drystone {

/// The name most like the typed one: fewest letters to change, or one of which it is a part; empty if there are no
/// names.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);
/// "did you mean 'x'?" where a name is near, and otherwise "use one of a, b, c".
std::string suggestion(std::string_view typed, std::span<const std::string> names);

}  // namespace drystone
