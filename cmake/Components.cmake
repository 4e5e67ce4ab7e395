# Which components are built, drystone_with_<component>, and what they need of each other.
#
#   algebra       the solvers: cone problems, no bodies
#   grains        rigid bodies: shapes, contacts, the step, runs
#   files         scene files, results, problem files
#   distributed   one simulation on several MPI ranks
#   command       the program `drystone`; tests and benchmarks need it too

set(DRYSTONE_COMPONENTS "all" CACHE STRING "What is built: all, or some of algebra;grains;files;distributed")

set(drystone_needs_of_grains algebra)
set(drystone_needs_of_files grains)
set(drystone_needs_of_distributed grains)
set(drystone_needs_of_command files distributed)

set(drystone_known_components algebra grains files distributed command)
set(drystone_wanted ${DRYSTONE_COMPONENTS})
if("all" IN_LIST drystone_wanted)
    set(drystone_wanted command)
endif()
while(drystone_wanted)
    list(POP_FRONT drystone_wanted component)
    if(NOT component IN_LIST drystone_known_components)
        list(JOIN drystone_known_components ", " drystone_names)
        message(FATAL_ERROR "DRYSTONE_COMPONENTS: there is no component '${component}'; give all, or some of ${drystone_names}")
    endif()
    set(drystone_with_${component} TRUE)
    list(APPEND drystone_wanted ${drystone_needs_of_${component}})
endwhile()

if(NOT drystone_with_command)
    foreach(option IN ITEMS TESTS BENCHMARKS)
        if(DRYSTONE_${option})
            message(STATUS "DRYSTONE_${option} is off: it needs all components")
            set(DRYSTONE_${option} OFF)
        endif()
    endforeach()
endif()
