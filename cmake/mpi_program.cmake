# SPDX-License-Identifier: BSD-3-Clause
# Programs that are compiled once for each host MPI, as a user would compile them: its mpi.h, its
# libmpi by full path with an rpath.

# The ABIs that the given prefixes serve.
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

# telpher_mpi_program(NAME [WITH_TELPHER] SOURCES...): builds NAME-<abi> into bin/ for every ABI whose
# prefix is set. WITH_TELPHER links libtelpher-<abi>.so in front of the MPI library; else the program
# starts without it, and meets it when it is preloaded.
function(telpher_mpi_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WITH_TELPHER" "" "")
  telpher_mpi_abis(abis)
  foreach(abi IN LISTS abis)
    set(target ${name}-${abi})
    if(arg_WITH_TELPHER AND NOT TARGET telpher_${abi})
      continue()
    endif()
    add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
    if(arg_WITH_TELPHER)
      target_link_libraries(${target} PRIVATE telpher_${abi})
    endif()
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
