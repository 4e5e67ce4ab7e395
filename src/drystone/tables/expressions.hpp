// Numbers that a scene works out: [let] names some, and a text that begins with "=" stands for one.
#pragma once

#include "drystone/tables/table.hpp"

namespace drystone {

/// Puts numbers in the place of all texts that begin with "=", and takes [let] away. Notes what cannot be worked out.
///
///     [let]
///     width = 0.2
///     height = "= 2 * width"
///
/// Numbers, names of [let], pi; + - * / ^ and parentheses; sqrt, abs, exp, log, floor, ceil, round, min, max, and sin,
/// cos, tan of degrees.
void work_out(Value& root, Faults& faults);

}  // namespace drystone
