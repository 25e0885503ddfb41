# SPDX-License-Identifier: BSD-3-Clause
# cmake -D SOURCE=<src> -D UNIT=<file below it> -D OUTPUT=<file> -P embed.cmake
# Writes kernel_source.cpp: the kernels' headers and their SYCL unit as strings.
file(GLOB headers RELATIVE ${SOURCE} ${SOURCE}/kernel/*.hpp ${SOURCE}/kernel/*.def)
set(rows)
foreach(header IN LISTS headers)
  file(READ ${SOURCE}/${header} text)
  string(APPEND rows "    {\"${header}\", R\"TELPHER(${text})TELPHER\"},\n")
endforeach()
file(READ ${SOURCE}/${UNIT} unit)
file(WRITE ${OUTPUT} "// Written by src/device/sycl/embed.cmake.
#include \"device/sycl/kernel_source.hpp\"

namespace telpher::device::sycl {

std::span<const source_file> kernel_headers() noexcept {
  static constexpr source_file files[] = {
${rows}  };
  return files;
}

const char* kernel_unit() noexcept {
  return R\"TELPHER(${unit})TELPHER\";
}

}  // namespace telpher::device::sycl
")
