# SPDX-License-Identifier: BSD-3-Clause
# telpher_test(NAME name COMMAND program [args...] [RING unit|contract|mpi|short|stress|fuzz|sycl|gpu] [RANKS 2 4]
#              [WIDE 3 8] [PATHS] [MPI mpich ompi mpi_abi] [ENV NAME=value...] [TIMEOUT seconds]
#              [ALONE] [FIRST] [PLAIN] [DEVICE_EACH] [EMULATED] [BEYOND] [MAY_SKIP])
#
# Declares a test for test/run.py. `program` is a target, or a name given to telpher_mpi_program(), or
# any other word, taken as it is ({abi}, {build} and {source} in arguments are replaced when it runs).
# A test with RANKS runs under mpirun with Telpher preloaded, once for every rank count and every MPI
# built for (those of MPI, if given). WIDE adds rank counts and PATHS adds a run with every path forced
# to `make check-mpis`. ALONE: no other test beside it. FIRST: alone and before the others, for which it makes what
# they share. PLAIN: without the preload. DEVICE_EACH: right only where every rank has a device of its own. EMULATED: of
# the emulated device alone, as tests with its variables are. BEYOND: left to `make check-mpis`, or to those who name it.
# MAY_SKIP, or a program of the list TELPHER_MAY_SKIP: it may end with the exit code 77, where there is nothing to test with.
function(telpher_test)
  cmake_parse_arguments(arg "PATHS;ALONE;FIRST;PLAIN;DEVICE_EACH;EMULATED;BEYOND;MAY_SKIP" "NAME;RING;TIMEOUT" "COMMAND;RANKS;WIDE;MPI;ENV" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_COMMAND)
    message(FATAL_ERROR "telpher_test: NAME and COMMAND are needed; not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_RING)
    set(arg_RING unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(program IN_LIST TELPHER_MAY_SKIP)
    set(arg_MAY_SKIP TRUE)
  endif()
  set(programs)
  if(arg_RANKS)
    if(NOT arg_MPI)
      set(arg_MPI ${TELPHER_ABIS})
    endif()
    foreach(abi IN LISTS arg_MPI)
      if(TARGET ${program}-${abi})
        list(APPEND programs "\"${abi}\": \"$<TARGET_FILE:${program}-${abi}>\"")
      elseif(abi IN_LIST TELPHER_ABIS AND NOT TARGET ${program})
        list(APPEND programs "\"${abi}\": \"${program}\"")
      endif()
    endforeach()
  elseif(TARGET ${program})
    list(APPEND programs "\"\": \"$<TARGET_FILE:${program}>\"")
  else()
    list(APPEND programs "\"\": \"${program}\"")
  endif()
  list(JOIN programs ", " programs)
  foreach(field COMMAND ENV)
    list(TRANSFORM arg_${field} REPLACE "([\\\\\"])" "\\\\\\1")
    list(TRANSFORM arg_${field} PREPEND "\"")
    list(TRANSFORM arg_${field} APPEND "\"")
    list(JOIN arg_${field} ", " arg_${field})
  endforeach()
  foreach(field RANKS WIDE)
    list(JOIN arg_${field} ", " arg_${field})
  endforeach()
  foreach(flag PATHS ALONE FIRST PLAIN DEVICE_EACH EMULATED BEYOND MAY_SKIP)
    string(TOLOWER "${arg_${flag}}" arg_${flag})
  endforeach()
  string(CONCAT line
    "{\"name\": \"${arg_NAME}\", \"ring\": \"${arg_RING}\", \"programs\": {${programs}}, "
    "\"arguments\": [${arg_COMMAND}], \"ranks\": [${arg_RANKS}], \"wide\": [${arg_WIDE}], "
    "\"env\": [${arg_ENV}], \"timeout\": ${arg_TIMEOUT}, \"paths\": ${arg_PATHS}, "
    "\"alone\": ${arg_ALONE}, \"first\": ${arg_FIRST}, \"plain\": ${arg_PLAIN}, "
    "\"device_each\": ${arg_DEVICE_EACH}, \"emulated\": ${arg_EMULATED}, \"beyond\": ${arg_BEYOND}, "
    "\"may_skip\": ${arg_MAY_SKIP}}\n")
  set_property(GLOBAL APPEND_STRING PROPERTY telpher_tests "${line}")
endfunction()

# telpher_unit_test(NAME SOURCES... [LINK_LIBRARIES ...]): an executable of the harness and its test.
function(telpher_unit_test name)
  cmake_parse_arguments(arg "" "" "LINK_LIBRARIES;ENV" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE telpher_options telpher_base ${arg_LINK_LIBRARIES})
  if(TARGET test_harness)
    target_precompile_headers(${name} REUSE_FROM test_harness)
  endif()
  telpher_test(NAME ${name} COMMAND ${name} RING unit ENV ${arg_ENV})
  telpher_group(core_tests ${name})
endfunction()

function(telpher_write_manifest)
  get_property(tests GLOBAL PROPERTY telpher_tests)
  set(runtimes)
  if(TELPHER_SANITIZE)
    string(REGEX MATCHALL "address|thread" kinds "${TELPHER_SANITIZE}")
    foreach(kind IN LISTS kinds)
      string(SUBSTRING ${kind} 0 1 letter)
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${letter}san.so
        OUTPUT_VARIABLE runtimes OUTPUT_STRIP_TRAILING_WHITESPACE)
    endforeach()
  endif()
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/tests.jsonl CONTENT
"{\"build\": \"${CMAKE_BINARY_DIR}\", \"source\": \"${CMAKE_SOURCE_DIR}\", \"sanitizer\": \"${TELPHER_SANITIZE}\", \
\"sanitizer_runtime\": \"${runtimes}\", \"mpich\": \"${TELPHER_MPICH_PREFIX}\", \"ompi\": \"${TELPHER_OMPI_PREFIX}\"}
${tests}")
endfunction()
