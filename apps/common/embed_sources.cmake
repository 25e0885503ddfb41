# SPDX-License-Identifier: BSD-3-Clause
# cmake -D FOLDER=<apps> -D OUTPUT=<file> -P embed_sources.cmake: the kernels' text as C++ strings.
set(rows)
foreach(header common/kernel.hpp common/kernels.hpp common/kernels.def stencil3d/kernels.hpp
    ghost_exchange/kernels.hpp cg/kernels.hpp)
  file(READ ${FOLDER}/${header} text)
  string(APPEND rows "      {\"${header}\", R\"APPS(${text})APPS\"},\n")
endforeach()
file(READ ${FOLDER}/common/sycl_unit.hpp unit)
file(WRITE ${OUTPUT} "// Written by apps/common/embed_sources.cmake.
#include \"common/sycl_sources.hpp\"

namespace apps {

std::span<const source_file> kernel_headers() {
  static constexpr source_file files[] = {
${rows}  };
  return files;
}

const char* kernel_unit() {
  return R\"APPS(${unit})APPS\";
}

}  // namespace apps
")
