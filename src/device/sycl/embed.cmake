# SPDX-License-Identifier: BSD-3-Clause
# cmake -D SOURCE=<src> -D "UNITS=<files below it>" -D OUTPUT=<file> -P embed.cmake
# Writes kernel_source.cpp: the kernels' headers and their SYCL units as strings.
file(GLOB headers RELATIVE ${SOURCE} ${SOURCE}/kernel/*.hpp ${SOURCE}/kernel/*.def)
function(rows_of files result)
  set(rows)
  foreach(file IN LISTS files)
    file(READ ${SOURCE}/${file} text)
    string(APPEND rows "      {\"${file}\", R\"TELPHER(${text})TELPHER\"},\n")
  endforeach()
  set(${result} "${rows}" PARENT_SCOPE)
endfunction()
rows_of("${headers}" header_rows)
rows_of("${UNITS}" unit_rows)
file(WRITE ${OUTPUT} "// Written by src/device/sycl/embed.cmake.
#include \"device/sycl/kernel_source.hpp\"

namespace telpher::device::sycl {

std::span<const source_file> kernel_headers() noexcept {
  static constexpr source_file files[] = {
${header_rows}  };
  return files;
}

std::span<const source_file> kernel_units() noexcept {
  static constexpr source_file files[] = {
${unit_rows}  };
  return files;
}

}  // namespace telpher::device::sycl
")
