# SPDX-License-Identifier: BSD-3-Clause
# CUDA's compiler, headers and static runtime, wherever they lie: a toolkit, or PyPI's packages, which are
# laid out differently. nvcc compiles kernels only, by a command of ours: CMake's CUDA language wants a
# whole toolkit. Used by the CUDA back end and by the HIP back end on NVIDIA's hardware.
set(TELPHER_CUDA_ROOT "" CACHE PATH "CUDA toolkit, or .../site-packages/nvidia/cu13 of PyPI's packages")
set(TELPHER_CUDA_ARCHITECTURES "" CACHE STRING "e.g. 80;90, or native: this machine's; empty: all supported ones of 70 75 80 90 100 120")
set(TELPHER_CUDA_HOW "need nvidia-cuda-nvcc, -crt, -runtime, nvidia-nvvm of PyPI or a toolkit, and -DTELPHER_CUDA_ROOT=<folder with bin/nvcc>")

# telpher_find_cuda(found): sets TELPHER_NVCC, TELPHER_CUDA_INCLUDE, TELPHER_CUDART (cached).
function(telpher_find_cuda found)
  find_program(TELPHER_NVCC nvcc HINTS ${TELPHER_CUDA_ROOT} ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES bin)
  if(TELPHER_NVCC)
    file(REAL_PATH ${TELPHER_NVCC} nvcc)
    cmake_path(GET nvcc PARENT_PATH root)
    cmake_path(GET root PARENT_PATH root)
  endif()
  find_path(TELPHER_CUDA_INCLUDE cuda_runtime_api.h HINTS ${root} ${TELPHER_CUDA_ROOT}
    PATH_SUFFIXES include targets/x86_64-linux/include)
  find_library(TELPHER_CUDART libcudart_static.a HINTS ${root} ${TELPHER_CUDA_ROOT}
    PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
  set(${found} OFF PARENT_SCOPE)
  if(TELPHER_NVCC AND TELPHER_CUDA_INCLUDE AND TELPHER_CUDART)
    set(${found} ON PARENT_SCOPE)
  endif()
endfunction()

# The architectures to compile for: the machine code of each, which all of its generation run (70 for 75, 80 for 86
# and 89, 100 for 103), and PTX of the newest for those to come.
function(telpher_cuda_architectures out)
  set(architectures ${TELPHER_CUDA_ARCHITECTURES})
  if(architectures STREQUAL native)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE found ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" architectures "${found}")
    list(TRANSFORM architectures REPLACE "\\." "")
    list(REMOVE_DUPLICATES architectures)
    list(SORT architectures COMPARE NATURAL)
    if(NOT architectures)
      message(FATAL_ERROR "TELPHER_CUDA_ARCHITECTURES=native: nvidia-smi names no GPU here; name the architectures")
    endif()
  endif()
  if(NOT architectures)
    execute_process(COMMAND ${TELPHER_NVCC} --list-gpu-arch OUTPUT_VARIABLE supported ERROR_QUIET)
    foreach(architecture 70 75 80 90 100 120)
      if(supported MATCHES "compute_${architecture}[^0-9]")
        list(APPEND architectures ${architecture})
      endif()
    endforeach()
    if(70 IN_LIST architectures)
      list(REMOVE_ITEM architectures 75)
    endif()
  endif()
  set(${out} ${architectures} PARENT_SCOPE)
endfunction()

# Kernels for all architectures take several times as much room uncompressed, which nvcc leaves them by default.
# All drivers read what fatbinary compresses. Those of CUDA 13 also read the smaller form of its nvcc.
function(telpher_nvcc_compression out)
  execute_process(COMMAND ${TELPHER_NVCC} --version OUTPUT_VARIABLE version ERROR_QUIET)
  set(${out} -Xfatbin=-compress-all PARENT_SCOPE)
  if(version MATCHES "release ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 13)
    set(${out} --compress-mode=size PARENT_SCOPE)
  endif()
endfunction()

# telpher_nvcc_object(object source [flags...]): a rule that compiles `source`.
function(telpher_nvcc_object object source)
  telpher_cuda_architectures(architectures)
  telpher_nvcc_compression(targets)
  foreach(architecture IN LISTS architectures)
    list(APPEND targets -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(GET architectures -1 newest)
  list(APPEND targets -gencode arch=compute_${newest},code=compute_${newest})
  file(REAL_PATH ${TELPHER_NVCC} nvcc)
  file(RELATIVE_PATH shown ${PROJECT_BINARY_DIR} ${object})
  add_custom_command(OUTPUT ${object}
    COMMAND ${nvcc} -x cu -std=c++20 ${TELPHER_NVCC_OPTIMISATION} -ccbin ${CMAKE_CXX_COMPILER}
      -Xcompiler -fPIC,-fvisibility=hidden ${targets} ${ARGN} -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include
      -I${TELPHER_CUDA_INCLUDE} -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "nvcc ${shown}" VERBATIM)
endfunction()

# telpher_nvcc_kernels(objects extension [flags...]): all kernels, from kernel/inst/*.<extension>.
function(telpher_nvcc_kernels out extension)
  set(inst ${PROJECT_SOURCE_DIR}/src/kernel/inst)
  set(objects ${CMAKE_CURRENT_BINARY_DIR}/kernels.${extension}.o)
  telpher_nvcc_object(${objects} ${inst}/kernels.${extension} ${ARGN})
  foreach(op IN LISTS TELPHER_REDUCTIONS)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/reduce_${op}.${extension}.o)
    telpher_nvcc_object(${object} ${inst}/reduce.${extension} -DTELPHER_REDUCE_OP=${op} ${ARGN})
    list(APPEND objects ${object})
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
