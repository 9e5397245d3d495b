# One function per kind of target. Every library is linked by its alias trueup::NAME, so that a typo
# fails at configure time.

add_library(trueup_flags INTERFACE)
target_include_directories(trueup_flags INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(trueup_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                              -Wsign-conversion
                                              $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
if(TRUEUP_MUTANTS)
    target_compile_definitions(trueup_flags INTERFACE TRUEUP_MUTANTS=1)
endif()
if(TRUEUP_SANITIZE)
    add_compile_options(-fsanitize=${TRUEUP_SANITIZE} -fno-omit-frame-pointer
                        -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${TRUEUP_SANITIZE})
    if(TRUEUP_SANITIZE MATCHES undefined)
        # A check at each access, where asan reports what reads or writes wrongly all the same: a fifth
        # of the time that everything takes to compile (measured). Given up: a reference to nothing
        # that is never read, and what is not aligned, which this machine does not mind.
        add_compile_options(-fno-sanitize=null,alignment,object-size)
    endif()
endif()

# What programs of the product take their memory from; sanitizers bring their own.
add_library(trueup_memory INTERFACE)
if(NOT TRUEUP_SANITIZE)
    target_link_libraries(trueup_memory INTERFACE PkgConfig::jemalloc)
    target_sources(trueup_memory INTERFACE "${CMAKE_SOURCE_DIR}/engine/base/malloc_conf.cpp")
endif()

# trueup_library(NAME core SRCS a.cpp HDRS a.h DEPS trueup::model PRIVATE_DEPS RocksDB::rocksdb)
# HDRS without a source of their name are compiled alone by all_verify_interface_header_sets.
function(trueup_library)
    cmake_parse_arguments(A "" "NAME" "SRCS;HDRS;DEPS;PRIVATE_DEPS" ${ARGN})
    set(target trueup_${A_NAME})
    if(A_SRCS)
        add_library(${target} STATIC ${A_SRCS})
        set(scope PUBLIC)
        target_link_libraries(${target} PRIVATE trueup_flags ${A_PRIVATE_DEPS})
    else()
        add_library(${target} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(${target} ${scope} "${CMAKE_SOURCE_DIR}")
    target_link_libraries(${target} ${scope} ${A_DEPS})
    # One that has a source of its name is compiled there, before anything else (clang-format sees to
    # the order).
    set(alone ${A_HDRS})
    foreach(source IN LISTS A_SRCS)
        string(REGEX REPLACE "\\.cpp$" ".h" own "${source}")
        list(REMOVE_ITEM alone "${own}")
    endforeach()
    set(with_source ${A_HDRS})
    list(REMOVE_ITEM with_source ${alone})
    target_sources(
        ${target} ${scope} FILE_SET HEADERS BASE_DIRS "${CMAKE_SOURCE_DIR}" FILES ${with_source}
                  FILE_SET alone TYPE HEADERS BASE_DIRS "${CMAKE_SOURCE_DIR}" FILES ${alone})
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON
                                               INTERFACE_HEADER_SETS_TO_VERIFY alone)
    add_library(trueup::${A_NAME} ALIAS ${target})
endfunction()

# For a folder whose code is waited for by people and servers, never by the processor: what takes long
# to compile there is not what takes long to run. A third of the time of a file (measured).
macro(trueup_compiles_fast_in_tests)
    if(TRUEUP_SANITIZE)
        add_compile_options(-O0)
    endif()
endmacro()

# trueup_test(NAME fold_test LABEL unit SRCS fold_test.cpp DEPS trueup::core)
# LABEL: unit (no I/O), scenario, simulation, integration (real parts), e2e. SERVERS: it needs real
# PostgreSQL, Kubernetes or Kafka, and has one set of them for itself while it runs. SLOW: sanitizers
# make minutes of it, so that tools/check runs it in the release build; with them it is built and run
# by tools/soak (`check_steps slow`).
set(TRUEUP_ON_SERVERS "${CMAKE_SOURCE_DIR}/tests/integration/on_servers")
file(WRITE "${CMAKE_BINARY_DIR}/tests.txt" "") # what can be built, for tools/check_steps
file(WRITE "${CMAKE_BINARY_DIR}/slow.txt" "") # of these, what is SLOW
function(trueup_test)
    cmake_parse_arguments(A "SERVERS;SLOW" "NAME;LABEL;TIMEOUT" "SRCS;DEPS" ${ARGN})
    if(NOT A_TIMEOUT)
        set(A_TIMEOUT 600)
    endif()
    add_executable(${A_NAME} ${A_SRCS})
    target_link_libraries(${A_NAME} PRIVATE trueup_flags ${A_DEPS} GTest::gtest GTest::gtest_main)
    if(TRUEUP_SANITIZE)
        # What takes long to compile is not what takes long to run: half the time of a file (measured).
        # Undefined behaviour is looked for in the product's objects, not in a test's: an eighth of it.
        # What both make of a header is the test's copy then.
        target_compile_options(${A_NAME} PRIVATE -O0 -fno-sanitize=undefined)
    endif()
    if(A_SERVERS)
        add_test(NAME ${A_NAME} COMMAND ${TRUEUP_ON_SERVERS} $<TARGET_FILE:${A_NAME}>)
        set_tests_properties(${A_NAME} PROPERTIES RESOURCE_GROUPS servers:1)
    else()
        add_test(NAME ${A_NAME} COMMAND ${A_NAME})
    endif()
    if(A_SLOW)
        file(APPEND "${CMAKE_BINARY_DIR}/slow.txt" "${A_NAME}\n")
    endif()
    if(A_SLOW AND TRUEUP_SANITIZE)
        set(A_LABEL soak)
        set_target_properties(${A_NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    else()
        file(APPEND "${CMAKE_BINARY_DIR}/tests.txt" "${A_NAME}\n")
    endif()
    set_tests_properties(${A_NAME} PROPERTIES LABELS "${A_LABEL}" TIMEOUT ${A_TIMEOUT})
    if(A_LABEL MATCHES "scenario|simulation")
        set_tests_properties(${A_NAME} PROPERTIES COST 100) # long ones first: none is left alone at the end
    endif()
endfunction()

# trueup_benchmark(NAME fold_bench SRCS fold_bench.cpp DEPS trueup::core SMOKE --items 100)
# SMOKE: arguments with which it ends in seconds; the test NAME_smoke proves that it still runs.
function(trueup_benchmark)
    cmake_parse_arguments(A "" "NAME" "SRCS;DEPS;SMOKE" ${ARGN})
    if(NOT A_SMOKE)
        set(A_SMOKE --subjects 1000 --items 10000 --runs 1)
    endif()
    add_executable(${A_NAME} ${A_SRCS})
    target_link_libraries(${A_NAME} PRIVATE trueup_flags ${A_DEPS} trueup_memory)
    add_test(NAME ${A_NAME}_smoke COMMAND ${A_NAME} ${A_SMOKE})
    set_tests_properties(${A_NAME}_smoke PROPERTIES LABELS benchmark TIMEOUT 120)
endfunction()
