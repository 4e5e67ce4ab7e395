# benchmarks/<name>.cpp becomes build/<preset>/benchmarks/<name>; benchmarks/common/*.cpp is what they share.

file(GLOB drystone_common_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/benchmarks/common/*.cpp")
add_library(drystone_benchmark_common STATIC ${drystone_common_sources})
target_link_libraries(drystone_benchmark_common PUBLIC drystone_results drystone_problems drystone_grains drystone_algebra PRIVATE drystone_settings)
target_include_directories(drystone_benchmark_common PUBLIC "${PROJECT_SOURCE_DIR}/benchmarks")
drystone_precompile(drystone_benchmark_common program)
if(TARGET drystone_siconos)
    target_link_libraries(drystone_benchmark_common PRIVATE drystone_siconos)
    target_compile_definitions(drystone_benchmark_common PRIVATE DRYSTONE_HAVE_SICONOS=1)
else()
    message(STATUS "Benchmarks run without Siconos: libsiconos-numerics-dev was not found")
endif()

file(GLOB drystone_benchmark_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/benchmarks/*.cpp")
foreach(source IN LISTS drystone_benchmark_sources)
    cmake_path(GET source STEM name)
    # The target has a prefix so that no benchmark can collide with another target; the program has not.
    add_executable(benchmark_${name} ${source})
    set_target_properties(benchmark_${name} PROPERTIES OUTPUT_NAME ${name}
                          RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
    target_link_libraries(benchmark_${name} PRIVATE drystone_benchmark_common drystone_settings fmt::fmt)
    target_compile_definitions(benchmark_${name} PRIVATE DRYSTONE_DATA_DIR="${DRYSTONE_DATA}")
    drystone_precompile(benchmark_${name} program)
endforeach()
# The one that runs under mpirun.
target_link_libraries(benchmark_ranks PRIVATE drystone_distributed CLI11::CLI11 nlohmann_json::nlohmann_json)
