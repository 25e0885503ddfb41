# SPDX-License-Identifier: BSD-3-Clause
# libtelpher-<abi>.so for each kind of host MPI. A library is compiled against an mpi.h, and neither
# links with an MPI nor runs its compiler wrapper: any MPI of that ABI will do at run time.

find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)

set(TELPHER_MPICH_INCLUDE "" CACHE PATH "folder of MPICH's mpi.h, if not TELPHER_MPICH_PREFIX/include")
set(TELPHER_OMPI_INCLUDE "" CACHE PATH "folder of Open MPI's mpi.h, if not TELPHER_OMPI_PREFIX/include")

# telpher_mpi_headers(<abi> INCLUDE <folder of mpi.h> [DEFINITIONS <macros>...])
# Makes the target telpher_mpi_<abi>: what code that includes host_mpi/host_mpi.hpp compiles with.
function(telpher_mpi_headers abi)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INCLUDE" "DEFINITIONS")
  set(host_mpi ${PROJECT_SOURCE_DIR}/src/host_mpi)
  set(lists ${host_mpi}/wrapped.def ${host_mpi}/used.def)
  set(folder ${PROJECT_BINARY_DIR}/host_mpi/${abi})
  file(WRITE ${folder}/probe.cpp "#include <mpi.h>\n")
  list(TRANSFORM arg_DEFINITIONS PREPEND -D OUTPUT_VARIABLE flags)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -E -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX ${flags}
            -isystem ${arg_INCLUDE} ${folder}/probe.cpp -o ${folder}/mpi.ii
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${host_mpi}/probe.py ${folder}/mpi.ii
            ${folder}/host_mpi_declared.hpp ${lists}
    COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lists} ${host_mpi}/probe.py)

  add_library(telpher_mpi_${abi} INTERFACE)
  target_include_directories(telpher_mpi_${abi} INTERFACE ${folder})
  target_include_directories(telpher_mpi_${abi} SYSTEM INTERFACE ${arg_INCLUDE})
  target_compile_definitions(telpher_mpi_${abi} INTERFACE ${arg_DEFINITIONS})
endfunction()

# telpher_abi(<abi> INCLUDE <folder of mpi.h> [DEFINITIONS <macros>...]): libtelpher-<abi>.so.
# To be called when all folders have named their sources.
function(telpher_abi abi)
  telpher_mpi_headers(${abi} ${ARGN})
  get_property(core GLOBAL PROPERTY telpher_core_sources)
  if(core AND NOT TARGET telpher_core)
    telpher_set_subsystems(${core})
    add_library(telpher_core STATIC ${core})
    target_link_libraries(telpher_core PUBLIC telpher_base telpher_kernel_cpu)
    get_property(includes GLOBAL PROPERTY telpher_core_includes)
    target_include_directories(telpher_core SYSTEM PRIVATE ${includes})
    telpher_precompile(telpher_core)
  endif()
  get_property(sources GLOBAL PROPERTY telpher_abi_sources)
  get_property(known GLOBAL PROPERTY telpher_abis)

  # What lies below mpi/ is also tested in one process, without the wrappers (test/one_rank.cmake).
  set(below ${sources})
  list(FILTER below EXCLUDE REGEX "/src/mpi/")
  list(FILTER sources INCLUDE REGEX "/src/mpi/")
  if(NOT known)  # once: the definitions add up
    telpher_set_subsystems(${below})
  endif()
  add_library(telpher_below_${abi} OBJECT ${below})
  target_link_libraries(telpher_below_${abi} PUBLIC telpher_mpi_${abi} telpher_core)

  set(exports ${PROJECT_SOURCE_DIR}/src/mpi/exports.map)
  add_library(telpher_${abi} SHARED ${sources} $<TARGET_OBJECTS:telpher_below_${abi}>)
  target_compile_definitions(telpher_${abi} PRIVATE TELPHER_SUBSYSTEM="mpi")
  target_link_libraries(telpher_${abi} PRIVATE
    telpher_mpi_${abi} $<LINK_LIBRARY:WHOLE_ARCHIVE,telpher_core> telpher_base telpher_closed)
  target_link_options(telpher_${abi} PRIVATE -Wl,--version-script=${exports} -Wl,-Bsymbolic-functions)
  set_target_properties(telpher_${abi} PROPERTIES
    OUTPUT_NAME telpher-${abi}
    LINK_DEPENDS ${exports}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  telpher_precompile(telpher_below_${abi} telpher_${abi})
  if(TELPHER_PRECOMPILE STREQUAL ALL)  # all units of mpi/ are of one subsystem: their own headers as well
    set(src ${PROJECT_SOURCE_DIR}/src)
    target_precompile_headers(telpher_${abi} PRIVATE
      "${src}/mpi/operation.hpp" "${src}/mpi/deferred.hpp" "${src}/coll/exchange/calls.hpp")
  endif()
  set_property(GLOBAL APPEND PROPERTY telpher_abis ${abi})
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INCLUDE" "DEFINITIONS")
  telpher_note("libtelpher-${abi}.so for ${arg_INCLUDE}/mpi.h")
endfunction()

# telpher_find_mpi(<variable> <MPICH|OMPI>): the folder of mpi.h, or empty if that MPI is left out.
function(telpher_find_mpi variable mpi)
  set(folder "${TELPHER_${mpi}_INCLUDE}")
  if(NOT folder AND TELPHER_${mpi}_PREFIX)
    set(folder ${TELPHER_${mpi}_PREFIX}/include)
  endif()
  if(folder AND NOT EXISTS ${folder}/mpi.h)
    message(FATAL_ERROR "no mpi.h in ${folder}; set TELPHER_${mpi}_INCLUDE to its folder")
  endif()
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()
