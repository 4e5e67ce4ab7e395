# Embeds scenes/templates/*.toml into a target: they are written to a source file when the build is configured, as raw strings.

function(drystone_embed_templates target)
    file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scenes/templates/*.toml")
    list(SORT files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    set(entries "")
    foreach(file IN LISTS files)
        cmake_path(GET file STEM name)
        file(READ "${file}" text)
        string(APPEND entries "    {\"${name}\", R\"toml(${text})toml\"},\n")
    endforeach()
    set(source "${PROJECT_BINARY_DIR}/templates.cpp")
    file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"#include \"templates.hpp\"

namespace drystone::command {

namespace {
constexpr Template all[] = {
@entries@};
}

const std::span<const Template> templates = all;

}  // namespace drystone::command
")
    target_sources(${target} PRIVATE "${source}")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/apps/drystone")
endfunction()
