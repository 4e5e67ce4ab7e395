# Eigen and the standard library are most of what a file of ours is parsed for: they are parsed once for each way of compiling.
#
# Four kinds, since a precompiled header fits only what is compiled with the same options and libraries:
#   algebra   libraries that need Eigen alone
#   library   libraries that print or build texts as well (fmt)
#   program   programs: not position-independent in the way of libraries
#   test      programs with GoogleTest
#
# Sources name what they use all the same: DRYSTONE_PRECOMPILED_HEADERS=OFF compiles them without.

set(drystone_precompiled_std
    <algorithm> <array> <cmath> <cstdint> <cstdio> <cstdlib> <filesystem> <functional> <limits> <map> <memory> <numbers> <numeric> <optional>
    <random> <span> <sstream> <string> <string_view> <utility> <variant> <vector>)
set(drystone_precompiled_algebra <Eigen/Dense> ${drystone_precompiled_std})
set(drystone_precompiled_library ${drystone_precompiled_algebra} <fmt/format.h>)
set(drystone_precompiled_program ${drystone_precompiled_library} <fstream>)
set(drystone_precompiled_test ${drystone_precompiled_program} <gtest/gtest.h>)

# drystone_precompile(<target> <kind>): the kind's headers, parsed by a target of their own at its first use.
function(drystone_precompile target kind)
    if(NOT DRYSTONE_PRECOMPILED_HEADERS)
        return()
    endif()
    set(headers drystone_headers_${kind})
    if(NOT TARGET ${headers})
        set(empty "${PROJECT_BINARY_DIR}/${headers}.cpp")
        if(NOT EXISTS "${empty}")
            file(WRITE "${empty}" "// For the target that parses the headers.\n")
        endif()
        add_library(${headers} OBJECT "${empty}")
        if(kind MATCHES "^(algebra|library)$")
            set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE ON)
        endif()
        target_compile_options(${headers} PRIVATE ${drystone_interface_options})
        target_link_libraries(${headers} PRIVATE drystone_settings Eigen3::Eigen OpenMP::OpenMP_CXX)
        if(NOT kind STREQUAL "algebra")
            target_link_libraries(${headers} PRIVATE fmt::fmt)
        endif()
        if(kind STREQUAL "test")
            target_link_libraries(${headers} PRIVATE GTest::gtest)
        endif()
        target_precompile_headers(${headers} PRIVATE ${drystone_precompiled_${kind}})
    endif()
    target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()
