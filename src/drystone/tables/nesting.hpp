// What is looked at in the text of a scene before the TOML library sees it: it calls itself for each level of nesting,
// and 50,000 of them are more than a stack holds.
#pragma once

#include "drystone/tables/table.hpp"

#include <optional>
#include <string_view>

namespace drystone {

/// Lists and tables in braces one within the other, and parts of a name with dots (a.b.c has three). No field of a
/// scene needs more than 4.
inline constexpr int most_nested = 32;

/// Nothing if the text can be given to the library; else the place at which it is nested deeper than that, or that it
/// holds more values than this machine has memory for. One pass over the bytes that knows strings and comments, and no
/// more: what else is wrong, the library finds.
std::optional<SceneFault> find_deep_nesting(std::string_view text);

}  // namespace drystone
