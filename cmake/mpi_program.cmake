# SPDX-License-Identifier: BSD-3-Clause
# Programs that are compiled once for each host MPI, as a user would compile them: its mpi.h, its
# libmpi by full path with an rpath, and nothing of Telpher but the public header.

# What an ABI takes from its prefix; the loop variable is the suffix of the program's name.
function(telpher_mpi_abis result)
  set(abis)
  if(TELPHER_MPICH_PREFIX)
    list(APPEND abis mpich)
    if(EXISTS ${TELPHER_MPICH_PREFIX}/lib/libmpi_abi.so)
      list(APPEND abis mpi_abi)
    endif()
  endif()
  if(TELPHER_OMPI_PREFIX)
    list(APPEND abis ompi)
  endif()
  set(${result} ${abis} PARENT_SCOPE)
endfunction()

# telpher_mpi_program(NAME SOURCES...): builds NAME-<abi> into bin/ for every ABI whose prefix is set.
function(telpher_mpi_program name)
  telpher_mpi_abis(abis)
  foreach(abi IN LISTS abis)
    set(target ${name}-${abi})
    add_executable(${target} ${ARGN})
    telpher_use_mpi(${target} ${abi})
    target_link_libraries(${target} PRIVATE telpher_options ${CMAKE_DL_LIBS})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  endforeach()
endfunction()

# telpher_use_mpi(TARGET ABI): compiles and links a target with that host MPI.
function(telpher_use_mpi target abi)
  set(prefix ${TELPHER_MPICH_PREFIX})
  set(library libmpi.so)
  if(abi STREQUAL ompi)
    set(prefix ${TELPHER_OMPI_PREFIX})
  elseif(abi STREQUAL mpi_abi)
    set(library libmpi_abi.so)
    target_compile_definitions(${target} PRIVATE MPI_ABI)
  endif()
  # The MPI C++ bindings of old would pull in a library of their own.
  target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_include_directories(${target} SYSTEM PRIVATE ${prefix}/include)
  target_link_options(${target} PRIVATE LINKER:-rpath,${prefix}/lib)
  target_link_libraries(${target} PRIVATE ${prefix}/lib/${library})
endfunction()
