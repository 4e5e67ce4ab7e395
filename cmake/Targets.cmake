# How our own code is compiled, and the function that makes a tower.

# --- What both we and whoever links us must compile with -------------------------------------------------
# Eigen's alignment depends on the instruction set, so it is part of the interface.
# Floating point is IEEE: no -ffast-math, here or anywhere. The one relaxation is that sqrt() and its like do
# not set errno; it changes no value.
set(drystone_interface_options -fno-math-errno)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    if(DRYSTONE_ARCH STREQUAL "native")
        list(APPEND drystone_interface_options -march=native)
    elseif(DRYSTONE_ARCH MATCHES "^v[234]$")
        list(APPEND drystone_interface_options -march=x86-64-${DRYSTONE_ARCH})
    else()
        message(FATAL_ERROR "DRYSTONE_ARCH is '${DRYSTONE_ARCH}'; it must be v2, v3 or native")
    endif()
elseif(DRYSTONE_ARCH STREQUAL "native")
    list(APPEND drystone_interface_options -mcpu=native)
endif()

# --- What only our own sources are compiled with ---------------------------------------------------------
add_library(drystone_settings INTERFACE)
target_compile_features(drystone_settings INTERFACE cxx_std_20)
target_compile_options(drystone_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The compiler looks for garbage only beyond a gigabyte: a tenth of its time.
    target_compile_options(drystone_settings INTERFACE --param=ggc-min-heapsize=1048576)
    # GCC 12 sees overlapping copies in std::string's operator+ that are not there (GCC bug 105651), and unset or out-of-range
    # elements in Eigen's small matrices of run-time size once they are inlined. 
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(drystone_settings INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-maybe-uninitialized)
    endif()
endif()
# Position-independent code may be called by others; nobody replaces our functions, so that calls among them can still be inlined.
target_compile_options(drystone_settings INTERFACE -fno-semantic-interposition)
if(DRYSTONE_WARNINGS_AS_ERRORS)
    target_compile_options(drystone_settings INTERFACE -Werror)
endif()
if(DRYSTONE_EXTRA_WARNINGS)
    target_compile_options(drystone_settings INTERFACE
                           -Woverloaded-virtual -Wold-style-cast -Wcast-qual -Wcast-align -Wformat=2 -Wextra-semi -Wundef)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(drystone_settings INTERFACE -Wduplicated-cond -Wduplicated-branches -Wlogical-op)
    endif()
endif()
if(DRYSTONE_ASSERTIONS)
    # -UNDEBUG comes after the -DNDEBUG of the Release flags and so undoes it.
    list(APPEND drystone_interface_options -UNDEBUG)
    target_compile_definitions(drystone_settings INTERFACE _GLIBCXX_ASSERTIONS)
endif()

# --- For the whole tree ----------------------------------------------------------------------------------
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
if(DRYSTONE_SANITIZE)
    string(REPLACE ";" "," drystone_sanitize "${DRYSTONE_SANITIZE}")
    add_compile_options(-fsanitize=${drystone_sanitize} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${drystone_sanitize})
    if(drystone_sanitize MATCHES "undefined")
        # What the address sanitiser and the assertions of Eigen and libstdc++ find as well is half of the compile time.
        add_compile_options(-fno-sanitize=null,alignment,object-size,vptr,pointer-overflow
                            -fno-sanitize-recover=undefined)
    endif()
endif()
if(DRYSTONE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(DRYSTONE_CCACHE_PROGRAM ccache)
    mark_as_advanced(DRYSTONE_CCACHE_PROGRAM)
    if(DRYSTONE_CCACHE_PROGRAM)
        # In the build folder; it may keep what was compiled with a precompiled header, as none of ours looks at the time of compiling.
        set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_DIR=${PROJECT_BINARY_DIR}/ccache"
                                        CCACHE_SLOPPINESS=pch_defines,time_macros "${DRYSTONE_CCACHE_PROGRAM}")
        add_compile_options(-fpch-preprocess)
    endif()
endif()

# drystone_unite(<target> <n>): its sources are compiled n at a time, as one. Most of a compilation is templates of Eigen and of the standard
# library, which they share. What one source keeps to itself (unnamed namespaces) must then have other names than its neighbours'.
function(drystone_unite target files)
    if(DRYSTONE_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            # A class with a member from an unnamed namespace is warned of where it is not in the main file.
            target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
        endif()
    endif()
endfunction()

# drystone_add_tower(<tower> COMPONENT <component> ROOMS <room>... LINKS <target>... [PRIVATE_LINKS <target>...])
# The library drystone_<tower> from src/drystone/<room>/*.cpp, also known as Drystone::<tower>, static unless BUILD_SHARED_LIBS is on. It is
# installed with its headers where its component is. PRIVATE_LINKS that are targets of ours (cmake/Dependencies.cmake) are installed with it:
# a static library needs them at the end.
function(drystone_add_tower tower)
    cmake_parse_arguments(arg "" "COMPONENT" "ROOMS;LINKS;PRIVATE_LINKS" ${ARGN})
    if(NOT drystone_with_${arg_COMPONENT})
        return()
    endif()
    set(sources "")
    foreach(room IN LISTS arg_ROOMS)
        file(GLOB found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/drystone/${room}/*.cpp")
        list(APPEND sources ${found})
    endforeach()
    set(target drystone_${tower})
    if(sources)
        add_library(${target} ${sources})
        set(scope PUBLIC)
        target_link_libraries(${target} PRIVATE "$<BUILD_INTERFACE:drystone_settings>" ${arg_PRIVATE_LINKS})
        if(arg_COMPONENT STREQUAL "algebra")
            drystone_precompile(${target} algebra)
        else()
            drystone_precompile(${target} library)
        endif()
        drystone_unite(${target} 8)
        # What is inlined in sweeps, and so how fast they are, is not left to who stands beside them.
        set(alone ${sources})
        list(FILTER alone INCLUDE REGEX "/(local|sweep)/|/solve/gauss_seidel")
        set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION}
                                                   SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    else()  # headers alone
        add_library(${target} INTERFACE)
        set(scope INTERFACE)
    endif()
    add_library(Drystone::${tower} ALIAS ${target})
    target_include_directories(${target} ${scope} "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>"
                                                "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_compile_features(${target} ${scope} cxx_std_20)
    target_compile_options(${target} ${scope} ${drystone_interface_options})
    target_link_libraries(${target} ${scope} ${arg_LINKS})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${tower})

    set(ours ${arg_LINKS} ${arg_PRIVATE_LINKS})
    list(FILTER ours INCLUDE REGEX "^drystone_(hdf5|zoltan|xxhash|qhull|toml|random123|mumps)$")
    foreach(one IN LISTS ours)
        get_target_property(done ${one} DRYSTONE_INSTALLED)
        if(NOT done)
            string(REPLACE "drystone_" "" name ${one})
            set_target_properties(${one} PROPERTIES EXPORT_NAME ${name} DRYSTONE_INSTALLED TRUE)
            install(TARGETS ${one} EXPORT Drystone_${arg_COMPONENT})
        endif()
    endforeach()
    install(TARGETS ${target} EXPORT Drystone_${arg_COMPONENT})
    foreach(room IN LISTS arg_ROOMS)
        install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/drystone/${room}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/drystone"
                FILES_MATCHING PATTERN "*.hpp")
    endforeach()
endfunction()

# What find_package(Drystone) reads, once all towers are there.
function(drystone_install_package)
    include(CMakePackageConfigHelpers)
    set(folder "${CMAKE_INSTALL_LIBDIR}/cmake/Drystone")
    if(TARGET drystone_mpi)  # of two components
        set_target_properties(drystone_mpi PROPERTIES EXPORT_NAME mpi)
        install(TARGETS drystone_mpi EXPORT Drystone_mpi)
        install(EXPORT Drystone_mpi NAMESPACE Drystone:: DESTINATION "${folder}")
    endif()
    foreach(component IN ITEMS algebra grains files distributed)
        if(drystone_with_${component})
            install(EXPORT Drystone_${component} NAMESPACE Drystone:: DESTINATION "${folder}")
        endif()
    endforeach()
    configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/DrystoneConfig.cmake.in" "${PROJECT_BINARY_DIR}/DrystoneConfig.cmake"
                                  INSTALL_DESTINATION "${folder}")
    write_basic_package_version_file("${PROJECT_BINARY_DIR}/DrystoneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
    install(FILES "${PROJECT_BINARY_DIR}/DrystoneConfig.cmake" "${PROJECT_BINARY_DIR}/DrystoneConfigVersion.cmake" DESTINATION "${folder}")
endfunction()
