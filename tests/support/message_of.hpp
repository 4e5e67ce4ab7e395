// What a failing call says.
#pragma once

#include "drystone/base/error.hpp"

#include <string>

namespace drystone::testing {

/// The message of the Error that `action` throws, or "no error".
std::string message_of(auto&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace drystone::testing
