# SPDX-License-Identifier: BSD-3-Clause
# Programs that are compiled once for each host MPI, as a user would compile them: its mpi.h, its
# libmpi by full path with an rpath.
include_guard(GLOBAL)

# The library file of an ABI; Debian's MPICH keeps headers and library apart.
function(telpher_mpi_library abi result)
  if(abi STREQUAL ompi)
    set(candidates ${TELPHER_OMPI_PREFIX}/lib/libmpi.so)
  elseif(abi STREQUAL mpi_abi)
    set(candidates ${TELPHER_MPICH_PREFIX}/lib/libmpi_abi.so)
  else()
    set(candidates ${TELPHER_MPICH_PREFIX}/lib/libmpi.so ${TELPHER_MPICH_PREFIX}/lib/release/libmpi.so
      ${TELPHER_MPICH_PREFIX}/../libmpich.so)
  endif()
  foreach(candidate IN LISTS candidates)
    if(EXISTS ${candidate})
      cmake_path(NORMAL_PATH candidate)
      set(${result} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

# The ABIs that programs can be built for; also the suffix of a program's name.
function(telpher_mpi_abis result)
  set(abis)
  foreach(abi mpich mpi_abi ompi)
    if(abi STREQUAL mpi_abi AND NOT TELPHER_STANDARD_ABI)
      continue()
    endif()
    set(prefix ${TELPHER_MPICH_PREFIX})
    if(abi STREQUAL ompi)
      set(prefix ${TELPHER_OMPI_PREFIX})
    endif()
    if(prefix)
      telpher_mpi_library(${abi} library)
      if(library)
        list(APPEND abis ${abi})
      endif()
    endif()
  endforeach()
  set(${result} ${abis} PARENT_SCOPE)
endfunction()

set(TELPHER_PROGRAM_ABIS mpich mpi_abi ompi CACHE STRING "ABIs to build programs for")

# telpher_program_headers(NAME HEADERS...): programs of this folder, and of those below, take these precompiled
# headers for their ABI, those of the target NAME-<abi>.
macro(telpher_program_headers name)
  telpher_mpi_abis(abis)
  foreach(abi IN LISTS abis)
    telpher_precompiled(${name}-${abi} ${ARGN})
    if(TARGET ${name}-${abi})
      telpher_use_mpi(${name}-${abi} ${abi})
    endif()
  endforeach()
  set(TELPHER_PROGRAM_HEADERS ${name})
endmacro()

# telpher_mpi_program(NAME [WITH_TELPHER] SOURCES... [LINK_LIBRARIES ...] [PARTS ...] [ABIS ...]): builds
# NAME-<abi> for every ABI of TELPHER_PROGRAM_ABIS, or of ABIS. WITH_TELPHER links libtelpher-<abi>.so in
# front of the MPI library; else the program starts without it, and meets it when it is preloaded.
# PARTS are of telpher_mpi_part(). They take what telpher_program_headers() has precompiled.
function(telpher_mpi_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WITH_TELPHER" "" "LINK_LIBRARIES;PARTS;ABIS")
  if(NOT arg_ABIS)
    set(arg_ABIS ${TELPHER_PROGRAM_ABIS})
  endif()
  telpher_mpi_abis(abis)
  foreach(abi IN LISTS abis)
    set(target ${name}-${abi})
    if(NOT abi IN_LIST arg_ABIS OR (arg_WITH_TELPHER AND NOT TARGET telpher_${abi}))
      continue()
    endif()
    add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
    foreach(part IN LISTS arg_PARTS)
      target_link_libraries(${target} PRIVATE ${part}-${abi})
    endforeach()
    if(arg_WITH_TELPHER)
      target_link_libraries(${target} PRIVATE telpher_${abi})
    endif()
    telpher_use_mpi(${target} ${abi})
    target_link_libraries(${target} PRIVATE telpher_options ${arg_LINK_LIBRARIES} ${CMAKE_DL_LIBS})
    if(TELPHER_PROGRAM_HEADERS AND TARGET ${TELPHER_PROGRAM_HEADERS}-${abi})
      target_precompile_headers(${target} REUSE_FROM ${TELPHER_PROGRAM_HEADERS}-${abi})
    endif()
  endforeach()
endfunction()

# telpher_mpi_part(NAME SOURCES...): NAME-<abi>, a static library that several programs share.
function(telpher_mpi_part name)
  telpher_mpi_abis(abis)
  foreach(abi IN LISTS abis)
    add_library(${name}-${abi} STATIC EXCLUDE_FROM_ALL ${ARGN})
    telpher_use_mpi(${name}-${abi} ${abi})
    target_link_libraries(${name}-${abi} PRIVATE telpher_options)
  endforeach()
endfunction()

# telpher_mpi_flags(ABI RESULT): what a compiler that CMake does not know needs for that host MPI.
function(telpher_mpi_flags abi result)
  set(prefix ${TELPHER_MPICH_PREFIX})
  set(flags -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX)
  if(abi STREQUAL ompi)
    set(prefix ${TELPHER_OMPI_PREFIX})
  elseif(abi STREQUAL mpi_abi)
    list(APPEND flags -DMPI_ABI)
  endif()
  set(${result} -isystem ${prefix}/include ${flags} PARENT_SCOPE)
endfunction()

# telpher_use_mpi(TARGET ABI): compiles and links a target with that host MPI.
function(telpher_use_mpi target abi)
  set(prefix ${TELPHER_MPICH_PREFIX})
  if(abi STREQUAL ompi)
    set(prefix ${TELPHER_OMPI_PREFIX})
  elseif(abi STREQUAL mpi_abi)
    target_compile_definitions(${target} PRIVATE MPI_ABI)
  endif()
  telpher_mpi_library(${abi} library)
  cmake_path(GET library PARENT_PATH folder)
  # The MPI C++ bindings of old would pull in a library of their own.
  target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_include_directories(${target} SYSTEM PRIVATE ${prefix}/include)
  set_property(TARGET ${target} APPEND PROPERTY BUILD_RPATH ${folder})  # not in what is installed
  target_link_libraries(${target} PRIVATE ${library})
endfunction()
