# Everything Drystone takes from outside. Imported targets are SYSTEM: their headers raise no warnings of ours.

# Eigen 3.4 and Eigen 5 both do. Their version files accept only requests within one major version, so neither
# "3.4" nor "3.4...<6" finds both: ask for any, then look.
find_package(Eigen3 REQUIRED)
if(Eigen3_VERSION VERSION_LESS 3.4 OR Eigen3_VERSION VERSION_GREATER_EQUAL 6)
    message(FATAL_ERROR "Eigen ${Eigen3_VERSION} was found; Drystone needs at least 3.4 and less than 6")
endif()
find_package(OpenMP REQUIRED COMPONENTS CXX)
if(drystone_with_grains)
    find_package(fmt REQUIRED)
endif()
if(drystone_with_command)
    find_package(CLI11 REQUIRED)
    find_package(nlohmann_json REQUIRED)
endif()

if(drystone_with_files OR drystone_with_distributed)
    # The sequential MUMPS brings stand-ins for a few functions of MPI (MPI_Init among them), and the first of a name is the one that is called: so
    # MPI stands before all else, among the options.
    find_package(MPI REQUIRED COMPONENTS C)
    add_library(drystone_mpi INTERFACE)
    target_link_libraries(drystone_mpi INTERFACE MPI::MPI_C)
    target_link_options(drystone_mpi INTERFACE LINKER:--no-as-needed ${MPI_C_LIBRARIES})
    target_compile_definitions(drystone_mpi INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
endif()

if(drystone_with_files)
    # HDF5 with MPI: one file is written by many ranks at once. A build folder that was configured with the serial library remembers
    # it, so what was found then is forgotten first.
    if(DEFINED CACHE{HDF5_C_COMPILER_EXECUTABLE} AND NOT DRYSTONE_HDF5_IS_PARALLEL)
        get_cmake_property(drystone_cached CACHE_VARIABLES)
        list(FILTER drystone_cached INCLUDE REGEX "^HDF5_")
        foreach(name IN LISTS drystone_cached)
            unset(${name} CACHE)
        endforeach()
    endif()
    set(HDF5_PREFER_PARALLEL TRUE)
    find_package(HDF5 REQUIRED COMPONENTS C)
    if(NOT HDF5_IS_PARALLEL)
        message(FATAL_ERROR "The HDF5 that was found (${HDF5_C_LIBRARIES}) was built without MPI. Install libhdf5-openmpi-dev "
                            "(tools/install-dependencies does), or set HDF5_ROOT to an HDF5 with MPI.")
    endif()
    set(DRYSTONE_HDF5_IS_PARALLEL TRUE CACHE INTERNAL "The HDF5_ variables in this cache are those of a library with MPI")

    # CMake's own HDF5 target does not exist in every version; the variables do.
    add_library(drystone_hdf5 INTERFACE)
    target_include_directories(drystone_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
    target_link_libraries(drystone_hdf5 INTERFACE drystone_mpi ${HDF5_C_LIBRARIES})
    target_compile_definitions(drystone_hdf5 INTERFACE ${HDF5_C_DEFINITIONS})

    # Checksums of checkpoints.
    find_path(DRYSTONE_XXHASH_INCLUDE xxhash.h REQUIRED)
    find_library(DRYSTONE_XXHASH_LIBRARY xxhash REQUIRED)
    mark_as_advanced(DRYSTONE_XXHASH_INCLUDE DRYSTONE_XXHASH_LIBRARY)
    add_library(drystone_xxhash INTERFACE)
    target_include_directories(drystone_xxhash SYSTEM INTERFACE "${DRYSTONE_XXHASH_INCLUDE}")
    target_link_libraries(drystone_xxhash INTERFACE "${DRYSTONE_XXHASH_LIBRARY}")

    # TOML for scene files. The compiled library, and not the header-only form, which would take seconds in every file that reads one.
    find_path(DRYSTONE_TOML_INCLUDE toml++/toml.h REQUIRED)
    find_library(DRYSTONE_TOML_LIBRARY tomlplusplus REQUIRED)
    mark_as_advanced(DRYSTONE_TOML_INCLUDE DRYSTONE_TOML_LIBRARY)
    add_library(drystone_toml INTERFACE)
    target_include_directories(drystone_toml SYSTEM INTERFACE "${DRYSTONE_TOML_INCLUDE}")
    target_link_libraries(drystone_toml INTERFACE "${DRYSTONE_TOML_LIBRARY}")
    target_compile_definitions(drystone_toml INTERFACE TOML_HEADER_ONLY=0 TOML_SHARED_LIB=1)
endif()

if(drystone_with_distributed)
    # Zoltan cuts space into parts. Its CMake file asks for the compilers it was built with; the library alone is enough.
    find_path(DRYSTONE_ZOLTAN_INCLUDE zoltan.h PATH_SUFFIXES trilinos REQUIRED)
    find_library(DRYSTONE_ZOLTAN_LIBRARY NAMES trilinos_zoltan zoltan REQUIRED)
    mark_as_advanced(DRYSTONE_ZOLTAN_INCLUDE DRYSTONE_ZOLTAN_LIBRARY)
    add_library(drystone_zoltan INTERFACE)
    target_include_directories(drystone_zoltan SYSTEM INTERFACE "${DRYSTONE_ZOLTAN_INCLUDE}")
    target_link_libraries(drystone_zoltan INTERFACE drystone_mpi "${DRYSTONE_ZOLTAN_LIBRARY}")
endif()

if(drystone_with_grains)
    # Qhull, reentrant C interface. Its CMake file names the target differently from version to version; the library does not.
    find_path(DRYSTONE_QHULL_INCLUDE libqhull_r/qhull_ra.h REQUIRED)
    find_library(DRYSTONE_QHULL_LIBRARY qhull_r REQUIRED)
    mark_as_advanced(DRYSTONE_QHULL_INCLUDE DRYSTONE_QHULL_LIBRARY)
    add_library(drystone_qhull INTERFACE)
    target_include_directories(drystone_qhull SYSTEM INTERFACE "${DRYSTONE_QHULL_INCLUDE}")
    target_link_libraries(drystone_qhull INTERFACE "${DRYSTONE_QHULL_LIBRARY}")

    # Random numbers by counter: headers alone.
    find_path(DRYSTONE_RANDOM123_INCLUDE Random123/philox.h REQUIRED)
    mark_as_advanced(DRYSTONE_RANDOM123_INCLUDE)
    add_library(drystone_random123 INTERFACE)
    target_include_directories(drystone_random123 SYSTEM INTERFACE "${DRYSTONE_RANDOM123_INCLUDE}")
endif()

# MUMPS, sequential. Its sequential and its MPI builds share the header dmumps_c.h and differ in the libraries.
set(DRYSTONE_MUMPS_TARGET "")
if(DRYSTONE_WITH_MUMPS STREQUAL "AUTO" OR DRYSTONE_WITH_MUMPS)
    find_path(DRYSTONE_MUMPS_INCLUDE dmumps_c.h PATH_SUFFIXES mumps_seq mumps)
    find_library(DRYSTONE_MUMPS_LIBRARY dmumps_seq)
    find_library(DRYSTONE_MUMPS_COMMON_LIBRARY mumps_common_seq)
    mark_as_advanced(DRYSTONE_MUMPS_INCLUDE DRYSTONE_MUMPS_LIBRARY DRYSTONE_MUMPS_COMMON_LIBRARY)
    if(DRYSTONE_MUMPS_INCLUDE AND DRYSTONE_MUMPS_LIBRARY AND DRYSTONE_MUMPS_COMMON_LIBRARY)
        add_library(drystone_mumps INTERFACE)
        target_include_directories(drystone_mumps SYSTEM INTERFACE "${DRYSTONE_MUMPS_INCLUDE}")
        target_link_libraries(drystone_mumps INTERFACE "${DRYSTONE_MUMPS_LIBRARY}" "${DRYSTONE_MUMPS_COMMON_LIBRARY}")
        target_compile_definitions(drystone_mumps INTERFACE DRYSTONE_HAVE_MUMPS=1)
        set(DRYSTONE_MUMPS_TARGET drystone_mumps)
        message(STATUS "Sparse factorisation: MUMPS, ${DRYSTONE_MUMPS_LIBRARY}")
    elseif(NOT DRYSTONE_WITH_MUMPS STREQUAL "AUTO")
        message(FATAL_ERROR "DRYSTONE_WITH_MUMPS=ON, but dmumps_c.h or the library dmumps_seq was not found. "
                            "Install libmumps-seq-dev, or set DRYSTONE_WITH_MUMPS=AUTO to fall back to Eigen's LDLT.")
    endif()
endif()
if(NOT DRYSTONE_MUMPS_TARGET)
    message(STATUS "Sparse factorisation: Eigen's LDLT (no MUMPS)")
endif()

# Oracles for tests and benchmarks. The library never depends on them.
# Both packages ship CMake files that ask for much more than is used here, so only the library itself is looked for.
function(drystone_find_oracle name header suffixes library)
    string(TOUPPER ${name} upper)
    find_path(DRYSTONE_${upper}_INCLUDE ${header} PATH_SUFFIXES ${suffixes})
    find_library(DRYSTONE_${upper}_LIBRARY ${library})
    find_path(DRYSTONE_CSPARSE_INCLUDE cs.h PATH_SUFFIXES suitesparse)
    mark_as_advanced(DRYSTONE_${upper}_INCLUDE DRYSTONE_${upper}_LIBRARY DRYSTONE_CSPARSE_INCLUDE)
    if(DRYSTONE_${upper}_INCLUDE AND DRYSTONE_${upper}_LIBRARY AND DRYSTONE_CSPARSE_INCLUDE)
        add_library(drystone_${name} INTERFACE)
        target_include_directories(drystone_${name} SYSTEM INTERFACE
                                   "${DRYSTONE_${upper}_INCLUDE}" "${DRYSTONE_CSPARSE_INCLUDE}")
        target_link_libraries(drystone_${name} INTERFACE "${DRYSTONE_${upper}_LIBRARY}")
    endif()
endfunction()

if(DRYSTONE_TESTS)
    find_package(GTest REQUIRED)
    find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
    drystone_find_oracle(fclib fclib.h "" fclib)
    if(TARGET drystone_fclib)
        target_link_libraries(drystone_fclib INTERFACE drystone_hdf5)
    endif()
    drystone_find_oracle(fcl fcl/config.h "" fcl)
endif()
if(DRYSTONE_BENCHMARKS)
    drystone_find_oracle(siconos NonSmoothDrivers.h siconos/numerics siconos_numerics)
    if(TARGET drystone_siconos)
        find_library(DRYSTONE_SICONOS_EXTERNALS siconos_externals)
        mark_as_advanced(DRYSTONE_SICONOS_EXTERNALS)
        target_include_directories(drystone_siconos SYSTEM INTERFACE "${DRYSTONE_SICONOS_INCLUDE}/..")
        if(DRYSTONE_SICONOS_EXTERNALS)
            target_link_libraries(drystone_siconos INTERFACE "${DRYSTONE_SICONOS_EXTERNALS}")
        endif()
        target_link_libraries(drystone_siconos INTERFACE drystone_hdf5)
    endif()
endif()
