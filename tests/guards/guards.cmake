# trueup_guard_test(NAME engine_core_guard_test FOLDER engine/core SRCS guard_test.cpp DEPS ..)
# The tests of a folder's guards (docs/guards.md) and, in a build with switches, engine_core_mutants,
# which proves that each of them is needed.
function(trueup_guard_test)
    cmake_parse_arguments(A "" "NAME;FOLDER" "SRCS;DEPS" ${ARGN})
    trueup_test(NAME ${A_NAME} LABEL unit SRCS ${A_SRCS} DEPS ${A_DEPS})
    set_property(GLOBAL APPEND PROPERTY TRUEUP_GUARDED_FOLDERS ${A_FOLDER})
    if(TRUEUP_MUTANTS)
        string(REPLACE "_guard_test" "_mutants" mutants ${A_NAME})
        add_test(NAME ${mutants}
                 COMMAND bash "${CMAKE_SOURCE_DIR}/tests/guards/mutants.sh" $<TARGET_FILE:${A_NAME}>
                         "${CMAKE_SOURCE_DIR}" ${A_FOLDER})
        set_tests_properties(${mutants} PROPERTIES LABELS unit TIMEOUT 300)
    endif()
endfunction()
