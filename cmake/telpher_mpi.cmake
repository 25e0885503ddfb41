# SPDX-License-Identifier: BSD-3-Clause
# The host MPIs that programs (tests, bench, examples) are built for. Defines TELPHER_ABIS, for each of
# them an interface target telpher_host_<abi> that compiles and links a program for it, and
# telpher_mpi_program(). The library itself needs the headers only and never links a host MPI.
include_guard(GLOBAL)

function(telpher_add_host_mpi abi prefix library)
  if(NOT EXISTS ${prefix}/include/mpi.h OR NOT EXISTS ${library})
    telpher_note("programs for ${abi}: left out, no include/mpi.h or library in ${prefix}")
    return()
  endif()
  add_library(telpher_host_${abi} INTERFACE)
  target_include_directories(telpher_host_${abi} SYSTEM INTERFACE ${prefix}/include)
  target_link_libraries(telpher_host_${abi} INTERFACE ${library})
  cmake_path(GET library PARENT_PATH folder)
  if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    target_link_options(telpher_host_${abi} INTERFACE -Wl,-rpath,${folder})
  endif()
  set(TELPHER_ABIS ${TELPHER_ABIS} ${abi} PARENT_SCOPE)
  telpher_note("programs for ${abi}: ${library}")
endfunction()

set(TELPHER_ABIS)
if(TELPHER_MPICH_PREFIX)
  set(library ${TELPHER_MPICH_PREFIX}/lib/libmpi.so)
  if(NOT EXISTS ${library})  # Debian keeps headers and library apart
    set(library ${TELPHER_MPICH_PREFIX}/../libmpich.so)
  endif()
  telpher_add_host_mpi(mpich ${TELPHER_MPICH_PREFIX} ${library})
  if(EXISTS ${TELPHER_MPICH_PREFIX}/lib/libmpi_abi.so)
    telpher_add_host_mpi(mpi_abi ${TELPHER_MPICH_PREFIX} ${TELPHER_MPICH_PREFIX}/lib/libmpi_abi.so)
    target_compile_definitions(telpher_host_mpi_abi INTERFACE MPI_ABI)
  endif()
endif()
if(TELPHER_OMPI_PREFIX)
  telpher_add_host_mpi(ompi ${TELPHER_OMPI_PREFIX} ${TELPHER_OMPI_PREFIX}/lib/libmpi.so)
endif()
# Folders beside the one that included this file see the list too.
set(TELPHER_ABIS ${TELPHER_ABIS} CACHE INTERNAL "ABIs that programs are built for")

# telpher_mpi_program(NAME SOURCES...): executables NAME-<abi> for every ABI; LINK_LIBRARIES as given.
function(telpher_mpi_program name)
  cmake_parse_arguments(arg "" "" "LINK_LIBRARIES" ${ARGN})
  foreach(abi IN LISTS TELPHER_ABIS)
    add_executable(${name}-${abi} ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${name}-${abi} PRIVATE telpher_options telpher_host_${abi} ${arg_LINK_LIBRARIES})
    target_compile_definitions(${name}-${abi} PRIVATE TELPHER_ABI_NAME="${abi}")
  endforeach()
endfunction()
