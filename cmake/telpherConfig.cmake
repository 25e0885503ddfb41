# SPDX-License-Identifier: BSD-3-Clause
# find_package(telpher [COMPONENTS mpich|ompi|mpi_abi]): a target telpher::<ABI> for each ABI that this
# Telpher was built for. Link it in front of the MPI library; TELPHER_COMMAND is the telpher command, TELPHER_F08 the
# source of Fortran's module for streams.
#
#     find_package(telpher REQUIRED COMPONENTS ompi)
#     target_link_libraries(program PRIVATE telpher::ompi MPI::MPI_CXX)
include(${CMAKE_CURRENT_LIST_DIR}/telpherTargets.cmake)
foreach(component IN LISTS telpher_FIND_COMPONENTS)
  set(telpher_${component}_FOUND FALSE)
  if(TARGET telpher::${component})
    set(telpher_${component}_FOUND TRUE)
  elseif(telpher_FIND_REQUIRED_${component})
    set(telpher_FOUND FALSE)
    set(telpher_NOT_FOUND_MESSAGE "this Telpher has no library for ${component}")
  endif()
endforeach()
find_program(TELPHER_COMMAND telpher HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin ${CMAKE_CURRENT_LIST_DIR}/../../../../bin
  NO_CACHE NO_DEFAULT_PATH)
find_file(TELPHER_F08 telpher/telpher_f08.f90 HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../include
  ${CMAKE_CURRENT_LIST_DIR}/../../../../include NO_CACHE NO_DEFAULT_PATH)
