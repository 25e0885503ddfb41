// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/memory_kinds.hpp"

#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "base/text.hpp"
#include "device/registry.hpp"
#include "host_mpi/asserted.hpp"
#include "host_mpi/info_value.hpp"

namespace telpher::mpi {
namespace {

constexpr const char* key = "mpi_memory_alloc_kinds";

// A kind without restrictors stands for all of them; programs look for either spelling.
const char* kinds_of(device::vendor v) noexcept {
  switch (v) {
    case device::vendor::cuda:
      return "cuda,cuda:host,cuda:device,cuda:managed";
    case device::vendor::hip:
      return "rocm,rocm:host,rocm:device,rocm:managed";
    case device::vendor::sycl:
      return "level_zero,level_zero:host,level_zero:device,level_zero:shared";
    case device::vendor::emu:
      return "telpher_emu,telpher_emu:host,telpher_emu:device,telpher_emu:managed";
    case device::vendor::none:
      break;
  }
  return nullptr;
}

// Every MPI takes these two; hosts older than MPI 4.1 do not say so.
constexpr const char* kinds_of_every_mpi = "system,mpi";

std::string value_in(MPI_Info info) {
  std::string kinds;
  return host_mpi::info_value(info, key, kinds) ? kinds : kinds_of_every_mpi;
}

// Kinds are listed for each vendor with its name first: "cuda,cuda:host,...".
bool has_vendor(std::string_view name) noexcept {
  for (device::backend* b : device::backends()) {
    const char* const kinds = kinds_of(b->owner());
    if (kinds && std::string_view(kinds).substr(0, name.size() + 1) == std::string(name) + ",")
      return true;
  }
  return false;
}

}  // namespace

bool asks_for_device_memory(MPI_Info info) noexcept {
  if (info == MPI_INFO_NULL) return false;
  const std::string text = value_in(info);
  std::string_view rest = text, kind;
  while (take_part(rest, kind, ',')) {
    const std::string_view name = kind.substr(0, kind.find(':'));
    if (name == "system" || name == "mpi") return false;
    if (!name.empty() && has_vendor(name))
      return name == kind || kind.substr(name.size()).starts_with(":device");
  }
  return false;
}

int comm_get_info(MPI_Comm comm, MPI_Info* info_used) noexcept {
  const int rc = pmpi::Comm_get_info(comm, info_used);
  if (rc != MPI_SUCCESS || device::backends().empty()) return rc;
  if (const std::string* const asserted = host_mpi::asserted_kinds(comm))
    pmpi::Info_set(*info_used, const_cast<char*>(host_mpi::assertion_key), asserted->c_str());
  return add_kinds(*info_used);
}

#if TELPHER_HOST_HAS_Session_get_info
int session_get_info(MPI_Session session, MPI_Info* info_used) noexcept {
  const int rc = pmpi::Session_get_info(session, info_used);
  if (rc != MPI_SUCCESS || !config().enable) return rc;
  device::discover();
  return device::active_backend() ? add_kinds(*info_used) : rc;
}
#endif

int add_kinds(MPI_Info info_used) noexcept {
  if (device::backends().empty()) return MPI_SUCCESS;
  std::string kinds = value_in(info_used);
  for (device::backend* b : device::backends())
    if (const char* more = kinds_of(b->owner())) kinds += std::string(",") + more;
  return pmpi::Info_set(info_used, key, kinds.c_str());
}

}  // namespace telpher::mpi
