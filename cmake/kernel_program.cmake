# SPDX-License-Identifier: BSD-3-Clause
# Programs with kernels of their own, from one source (telpher/device.h): for the emulated device by the ordinary
# compiler, and for GPUs by the compilers that src/device/<vendor>/CMakeLists.txt has found.
include_guard(GLOBAL)
include(mpi_program)

# telpher_kernel_program(NAME SOURCE [FLAGS...]): NAME-<abi>, NAME_cuda-<abi> and NAME_hip-<abi>. FLAGS are for the GPUs'
# compilers, which know nothing of this folder's targets.
function(telpher_kernel_program name source)
  telpher_mpi_program(${name} WITH_TELPHER ${source})
  cmake_path(ABSOLUTE_PATH source)
  set(flags -I${PROJECT_SOURCE_DIR}/include ${ARGN})
  foreach(abi IN LISTS TELPHER_PROGRAM_ABIS)
    if(NOT TARGET ${name}-${abi})
      continue()
    endif()
    telpher_mpi_flags(${abi} mpi)
    if(TARGET telpher_cuda)
      set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}_cuda-${abi}.o)
      telpher_nvcc_object(${object} ${source} ${flags} ${mpi})
      telpher_link_kernel_program(${name}_cuda ${abi} ${object} ${TELPHER_CUDART} rt)
    endif()
    if(TARGET telpher_hip)
      set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}_hip-${abi}.o)
      list(TRANSFORM TELPHER_HIP_KNOWN PREPEND --offload-arch= OUTPUT_VARIABLE targets)
      add_custom_command(OUTPUT ${object}
        COMMAND ${TELPHER_HIPCC} -x hip -std=c++20 ${TELPHER_KERNEL_OPTIMISATION} -fPIC ${targets} ${flags} ${mpi}
          -MD -MF ${object}.d -c ${source} -o ${object}
        DEPENDS ${source} DEPFILE ${object}.d COMMENT "hipcc ${name}" VERBATIM)
      telpher_link_kernel_program(${name}_hip ${abi} ${object} ${TELPHER_AMDHIP})
    endif()
  endforeach()
endfunction()

function(telpher_link_kernel_program name abi object)  # further arguments: the vendor's libraries
  add_executable(${name}-${abi} ${object})
  set_target_properties(${name}-${abi} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name}-${abi} PRIVATE telpher_${abi})
  telpher_use_mpi(${name}-${abi} ${abi})
  target_link_libraries(${name}-${abi} PRIVATE ${ARGN} Threads::Threads ${CMAKE_DL_LIBS})
  telpher_group(vendor_parts ${name}-${abi})
endfunction()
