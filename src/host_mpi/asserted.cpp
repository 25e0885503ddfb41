// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/asserted.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "host_mpi/attribute.hpp"
#include "host_mpi/info_value.hpp"

namespace telpher::host_mpi {
namespace {

struct assertion {
  std::string kinds;
  bool host;
};

comm_attribute<assertion> assertions;

// "system,mpi:alloc_mem": a kind, and what restricts it.
bool all_are_host(std::string_view kinds) noexcept {
  std::string_view kind;
  while (take_part(kinds, kind, ',')) {
    const std::string_view name = kind.substr(0, kind.find(':'));
    if (name != "system" && name != "mpi") return false;
  }
  return true;
}

}  // namespace

void take_assertion(MPI_Info info, MPI_Comm comm) noexcept {
  std::string kinds;
  if (comm == MPI_COMM_NULL || !info_value(info, assertion_key, kinds)) return;
  const bool host = all_are_host(kinds);
  if (assertions.attach(comm, std::make_unique<assertion>(assertion{std::move(kinds), host})))
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
