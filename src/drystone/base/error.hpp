// The one exception: a message that names the field, the value and the cure.
#pragma once

#include "drystone/base/harmless.hpp"

#include <stdexcept>
#include <string>

namespace drystone {

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws Error("<where>: <what>; <cure>"), on one line and harmless to a terminal: names of files and what stands in
/// them are part of messages.
[[noreturn]] inline void fail(const std::string& where, const std::string& what, const std::string& cure) {
    throw Error(harmless(where + ": " + what + "; " + cure));
}

}  // namespace drystone
