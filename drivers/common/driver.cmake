# SPDX-License-Identifier: Apache-2.0
#
# What the CMake projects of drivers in C and C++ share. Included after project(); find_package() is the driver's.
#
#   finish_driver()    what every driver links, what its library is called, where it is installed, its tests
#   add_driver_tests() one program of a driver's own tests and the harness of them all
#   add_listed_tests() one test for each line of a list

set(DDSMARK_COMMON "${CMAKE_CURRENT_LIST_DIR}")
set(common_sources batch.c config.c failure.c library.c match.c net.c policies.c text.c threads.c)
list(TRANSFORM common_sources PREPEND "${DDSMARK_COMMON}/")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, RelWithDebInfo" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# The library finds the middleware that it was built with, before and after installation.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(DDSMARK_INCLUDE_DIR "${DDSMARK_COMMON}/../../include" CACHE PATH "Where ddsmark/driver.h is")
set(DDSMARK_VERSION "" CACHE STRING "Version of the middleware that the library is named after; none: the default")
set(DDSMARK_RPATH "" CACHE STRING "Where the library looks for its middleware instead, such as $ORIGIN/..")
option(BUILD_TESTING "Build the tests" OFF)

include(GNUInstallDirs)
find_package(Threads REQUIRED)

# A macro: enable_testing() holds for the scope that calls it.
macro(finish_driver target)
  target_include_directories(${target} PRIVATE "${DDSMARK_INCLUDE_DIR}" "${DDSMARK_COMMON}")
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE DRIVER_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  # DT_RPATH, not DT_RUNPATH: it holds for what the library needs in its turn, and no LD_LIBRARY_PATH leads to another
  # version.
  target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,--disable-new-dtags)
  if(DDSMARK_RPATH)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "${DDSMARK_RPATH}" INSTALL_RPATH_USE_LINK_PATH OFF)
  endif()
  if(DDSMARK_VERSION)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME "${target}@${DDSMARK_VERSION}")
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/ddsmark")
  if(BUILD_TESTING)
    enable_testing()
    add_subdirectory(tests)
  endif()
endmacro()

# A test for each line "    TEST(name) \" of a file, which is a process of its own, with a time limit: the command, then
# the name.
function(add_listed_tests file group)
  file(READ ${file} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  string(REGEX MATCHALL "\n    TEST\\([a-z0-9_]+\\)" entries "${text}")
  foreach(entry IN LISTS entries)
    string(REGEX REPLACE "[^(]*\\(([a-z0-9_]+)\\)" "\\1" name "${entry}")
    add_test(NAME ${group}.${name} COMMAND ${ARGN} ${name})
    set_tests_properties(${group}.${name} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77)
  endforeach()
endfunction()

# `program`, which loads the driver that `target` builds. tests.h has the list; `program --list` prints it.
function(add_driver_tests program target group)
  set(harness describe.c errors.c harness.c main.c policies.c receive.c)
  list(TRANSFORM harness PREPEND "${DDSMARK_COMMON}/tests/")
  add_executable(${program} ${ARGN} ${harness})
  target_include_directories(${program} PRIVATE "${DDSMARK_INCLUDE_DIR}" . "${DDSMARK_COMMON}/tests")
  target_compile_definitions(${program} PRIVATE _GNU_SOURCE)
  target_compile_options(${program} PRIVATE -Wall -Wextra -Werror -Wstrict-prototypes)
  target_link_libraries(${program} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  add_dependencies(${program} ${target})
  add_listed_tests(tests.h ${group} $<TARGET_FILE:${program}> $<TARGET_FILE:${target}>)
endfunction()
