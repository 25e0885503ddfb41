// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/objects.hpp"

#include <dlfcn.h>

namespace telpher::host_mpi {

kind kind_of(std::string_view soname) noexcept {
  if (!soname.starts_with("libmpi")) return kind::none;
  if (soname.starts_with("libmpi_abi.so")) return kind::mpi_abi;
  if (soname == "libmpi.so.40") return kind::ompi;
  for (const char* binding : {"libmpicxx", "libmpichcxx", "libmpifort", "libmpichfort"})
    if (soname.starts_with(binding)) return kind::none;
  return soname.ends_with(".so.12") ? kind::mpich : kind::none;
}

const char* soname_of(const dl_phdr_info& object) noexcept {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  ElfW(Addr) strings = 0;
  ElfW(Xword) offset = 0;
  for (; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SONAME) offset = entry->d_un.d_val;
  }
  if (!strings || !offset) return "";
  // glibc relocates DT_STRTAB in place, unless the section is read-only.
  if (strings < object.dlpi_addr) strings += object.dlpi_addr;
  return reinterpret_cast<const char*>(strings + offset);
}

std::vector<mapped_library> mapped_mpi_libraries() {
  std::vector<mapped_library> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* list) {
        const std::string_view path = object->dlpi_name ? object->dlpi_name : "";
        if (path.find("libmpi") == path.npos) return 0;
        if (const kind k = kind_of(soname_of(*object)); k != kind::none)
          static_cast<std::vector<mapped_library>*>(list)->push_back({std::string(path), k});
        return 0;
      },
      &found);
  return found;
}

bool is_ours(const void* address) noexcept {
  Dl_info there{}, here{};
  return address && ::dladdr(address, &there) != 0 &&
         ::dladdr(reinterpret_cast<const void*>(&kind_of), &here) != 0 &&
         there.dli_fbase == here.dli_fbase;
}

}  // namespace telpher::host_mpi
