// The scenes of scenes/templates/, embedded when the build is configured (cmake/Templates.cmake).
#pragma once

#include <span>
#include <string_view>

namespace drystone::command {

struct Template {
    std::string_view name, text;
};

/// In the order of their names.
extern const std::span<const Template> templates;

}  // namespace drystone::command
