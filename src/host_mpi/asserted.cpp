// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/asserted.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include "host_mpi/attribute.hpp"

namespace telpher::host_mpi {
namespace {

struct assertion {
  std::string kinds;
  bool host;
};

comm_attribute<assertion> assertions;

// "system,mpi:alloc_mem": a kind, and what restricts it.
bool all_are_host(std::string_view kinds) noexcept {
  while (!kinds.empty()) {
    const std::string_view kind = kinds.substr(0, kinds.find(','));
    kinds.remove_prefix(std::min(kind.size() + 1, kinds.size()));
    const std::string_view name = kind.substr(0, kind.find(':'));
    if (name != "system" && name != "mpi") return false;
  }
  return true;
}

}  // namespace

void take_assertion(MPI_Info info, MPI_Comm comm) noexcept {
  if (info == MPI_INFO_NULL || comm == MPI_COMM_NULL) return;
  char text[MPI_MAX_INFO_VAL + 1] = {};
  int found = 0;
  pmpi::Info_get(info, const_cast<char*>(assertion_key), MPI_MAX_INFO_VAL, text, &found);
  if (!found) return;
  if (assertions.attach(comm, std::make_unique<assertion>(assertion{text, all_are_host(text)})))
    any_assertion.store(true, std::memory_order_relaxed);
}

const std::string* asserted_kinds(MPI_Comm comm) noexcept {
  if (!any_assertion.load(std::memory_order_relaxed)) return nullptr;
  const assertion* const a = assertions.find(comm);
  return a ? &a->kinds : nullptr;
}

bool asserts_host_slow(MPI_Comm comm) noexcept {
  if (comm == MPI_COMM_NULL) return false;
  const assertion* const a = assertions.find(comm);
  return a && a->host;
}

}  // namespace telpher::host_mpi
