// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window.hpp"

#include <unordered_map>
#include <utility>

#include "path/pull.hpp"

namespace telpher::rma {
namespace {

std::mutex guard;
std::unordered_map<MPI_Win, std::unique_ptr<window>>& records() noexcept {
  static auto* one = new std::unordered_map<MPI_Win, std::unique_ptr<window>>;
  return *one;
}

}  // namespace

status staged_operation::finish() noexcept {
  const std::lock_guard lock(guard_);
  if (finished()) return status::ok;
  const status s = images.copy_out();
  images = coll::staging(path::kind::none);
  finished_.store(true, std::memory_order_release);
  return s;
}

window* find_slow(MPI_Win handle) noexcept {
  const std::lock_guard lock(guard);
  const auto found = records().find(handle);
  return found == records().end() ? nullptr : found->second.get();
}

window& keep(std::unique_ptr<window> w) {
  const std::lock_guard lock(guard);
  auto& place = records()[w->handle];
  place = std::move(w);
  known_windows.store(static_cast<int>(records().size()), std::memory_order_relaxed);
  return *place;
}

// Two threads may make the first record of a window: the one that comes second takes the other's.
window& record_of(MPI_Win handle) {
  if (window* known = find(handle)) return *known;
  auto made = std::make_unique<window>();
  made->handle = handle;
  const std::lock_guard lock(guard);
  const auto there = records().try_emplace(handle, std::move(made)).first;
  known_windows.store(static_cast<int>(records().size()), std::memory_order_relaxed);
  return *there->second;
}

std::unique_ptr<window> take(MPI_Win handle) noexcept {
  const std::lock_guard lock(guard);
  const auto found = records().find(handle);
  if (found == records().end()) return nullptr;
  auto taken = std::move(found->second);
  records().erase(found);
  known_windows.store(static_cast<int>(records().size()), std::memory_order_relaxed);
  return taken;
}

// On this rank's device a copy or a kernel reaches the peer's memory over their link. Without
// access from device to device the peer's own one is taken, if it is visible here.
status reach(const path::exported_memory& m, int process, const memory::place& here,
             reached& out) noexcept {
  status s = status::not_supported;
  for (const memory::place& user : {here, memory::place{}}) {
    const auto importer = path::importer_for(m, user);
    if (!importer) continue;
    auto mapping = path::open_exported(process, m, *importer);
    if (!mapping) {
      s = mapping.error();
      continue;
    }
    out.at = {*importer, mapping->base() + (m.address - m.base)};
    out.mapping = std::move(*mapping);
    return status::ok;
  }
  return s;
}

}  // namespace telpher::rma
