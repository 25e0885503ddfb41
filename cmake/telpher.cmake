# SPDX-License-Identifier: BSD-3-Clause
# What every folder's CMakeLists uses: compile options, per-ABI sources, the closing summary.

find_package(Threads REQUIRED)

add_library(telpher_options INTERFACE)
target_compile_options(telpher_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(telpher_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)  # wrong about std::string's operator+ (GCC bug 105651)
endif()
if(TELPHER_WERROR AND NOT TELPHER_SANITIZE)  # GCC warns wrongly of instrumented code (std::string again)
  target_compile_options(telpher_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(TELPHER_SANITIZE)
  target_compile_options(telpher_options INTERFACE
    -fsanitize=${TELPHER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  # What UndefinedBehaviorSanitizer asks of every pointer takes half as long again to compile, and AddressSanitizer sees most of it.
  if(TELPHER_SANITIZE MATCHES "address")
    target_compile_options(telpher_options INTERFACE -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr)
  endif()
  target_link_options(telpher_options INTERFACE -fsanitize=${TELPHER_SANITIZE})
endif()
target_include_directories(telpher_options INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(telpher_options INTERFACE Threads::Threads)

# A library carries its own C++ runtime and shows nothing but what it must (sanitizers need the
# shared runtime). What nobody uses of that runtime is left out: with it and with a static libgcc the
# library would ask for the glibc of this machine, so it runs on older ones (tools/package.py names which).
add_library(telpher_closed INTERFACE)
if(NOT TELPHER_SANITIZE)
  target_link_options(telpher_closed INTERFACE
    -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,--gc-sections)
endif()

set(TELPHER_COMMON_HEADERS <algorithm> <atomic> <chrono> <cstdint> <cstring> <functional> <memory> <mutex>
  <optional> <string> <unordered_map> <vector>)

# telpher_precompile(TARGETS...): the standard headers that most units read are read once a target.
# Builds without TELPHER_PRECOMPILE show what a file forgot to include.
function(telpher_precompile)
  if(TELPHER_PRECOMPILE)
    foreach(target IN LISTS ARGN)
      target_precompile_headers(${target} PRIVATE ${TELPHER_COMMON_HEADERS})
    endforeach()
  endif()
endfunction()

# telpher_precompiled(NAME HEADERS...): a target whose precompiled headers programs take (REUSE_FROM).
function(telpher_precompiled name)
  if(TELPHER_PRECOMPILE)
    set(source ${PROJECT_BINARY_DIR}/precompiled.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// a target must have a file\n")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # as programs, not as libraries
    target_compile_options(${name} PRIVATE -fPIE)
    target_link_libraries(${name} PRIVATE telpher_options)
    target_precompile_headers(${name} PRIVATE ${TELPHER_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()

# telpher_core_sources(FILES...): compiled once, part of every libtelpher-<abi>.so.
function(telpher_core_sources)
  foreach(file IN LISTS ARGN)
    set_property(GLOBAL APPEND PROPERTY telpher_core_sources ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()

# telpher_abi_sources(FILES...): compiled once for each host MPI's mpi.h.
function(telpher_abi_sources)
  foreach(file IN LISTS ARGN)
    set_property(GLOBAL APPEND PROPERTY telpher_abi_sources ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()

function(telpher_subsystem_of file result)  # the last folder of its path
  string(REPLACE /generated "" file ${file})
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET folder FILENAME folder)
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

function(telpher_set_subsystems)
  foreach(file IN LISTS ARGN)
    telpher_subsystem_of(${file} folder)
    set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS TELPHER_SUBSYSTEM="${folder}")
  endforeach()
endfunction()

# telpher_group(GROUP TARGETS...): what one ring needs built, so that it need not build everything.
function(telpher_group group)
  if(NOT TARGET telpher_${group})
    add_custom_target(telpher_${group})
  endif()
  add_dependencies(telpher_${group} ${ARGN})
endfunction()

function(telpher_note text)
  set_property(GLOBAL APPEND PROPERTY telpher_notes "${text}")
endfunction()

function(telpher_print_summary)
  get_property(notes GLOBAL PROPERTY telpher_notes)
  message(STATUS "Telpher ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}")
  foreach(note IN LISTS notes)
    message(STATUS "  ${note}")
  endforeach()
endfunction()
