# SPDX-License-Identifier: BSD-3-Clause
# telpher_one_rank_test(NAME SOURCES... [ENV NAME=value...]): a unit test that calls the host MPI in one process, with the
# emulated device, for each MPI; links what it needs of datatype/ and coll/.
function(telpher_one_rank_test name)
  cmake_parse_arguments(arg "" "" "ENV" ${ARGN})
  foreach(abi IN LISTS TELPHER_ABIS)
    telpher_one_rank_library(${abi})
    set(target ${name}_${abi})
    add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
    telpher_use_mpi(${target} ${abi})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/test/unit/datatype)
    target_link_libraries(${target} PRIVATE telpher_one_rank_${abi})
    add_dependencies(${target} telpher_emu)
    telpher_test(NAME ${target} COMMAND ${target} RING unit
      ENV TELPHER_BACKEND=emu TELPHER_PLUGIN_PATH={build}/lib ${arg_ENV})
  endforeach()
endfunction()

function(telpher_one_rank_library abi)
  if(TARGET telpher_one_rank_${abi})
    return()
  endif()
  add_library(telpher_one_rank_${abi} STATIC ${PROJECT_SOURCE_DIR}/test/one_rank.cpp
    $<TARGET_OBJECTS:telpher_below_${abi}>)
  target_link_libraries(telpher_one_rank_${abi} PUBLIC telpher_mpi_${abi} telpher_core)
endfunction()
