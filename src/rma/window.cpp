// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window.hpp"

#include <unordered_map>
#include <utility>

#include "base/lasting.hpp"
#include "path/exported.hpp"
#include "rma/rma.hpp"

namespace telpher::rma {
namespace {

std::mutex guard;
made_at_start<std::unordered_map<MPI_Win, std::unique_ptr<window>>> records;

}  // namespace

status staged_operation::finish() noexcept {
  const std::lock_guard lock(guard_);
  if (finished()) return status::ok;
  const status s = images.copy_out();
  images = staging::host_images(path::kind::none);
  finished_.store(true, std::memory_order_release);
  return s;
}

void start_windows() noexcept {
  records.make();
}

window* find_slow(MPI_Win handle) noexcept {
  const std::lock_guard lock(guard);
  const auto found = records->find(handle);
  return found == records->end() ? nullptr : found->second.get();
}

window& keep(std::unique_ptr<window> w) {
  const std::lock_guard lock(guard);
  auto& place = (*records)[w->handle];
  place = std::move(w);
  known_windows.store(static_cast<int>(records->size()), std::memory_order_relaxed);
  return *place;
}

// Two threads may make the first record of a window: the one that comes second takes the other's.
window& record_of(MPI_Win handle) {
  if (window* known = find(handle)) return *known;
  auto made = std::make_unique<window>();
  made->handle = handle;
  const std::lock_guard lock(guard);
  const auto there = records->try_emplace(handle, std::move(made)).first;
  known_windows.store(static_cast<int>(records->size()), std::memory_order_relaxed);
  return *there->second;
}

std::unique_ptr<window> take(MPI_Win handle) noexcept {
  const std::lock_guard lock(guard);
  const auto found = records->find(handle);
  if (found == records->end()) return nullptr;
  auto taken = std::move(found->second);
  records->erase(found);
  known_windows.store(static_cast<int>(records->size()), std::memory_order_relaxed);
  return taken;
}

// What a window says of itself.
int get_attr(MPI_Win win, int key, void* value, int* flag, const host_call& host) noexcept {
  window* const w = find(win);
  void* found = nullptr;
  if (!w || w->by == window::way::host || (w->dynamic() && key != MPI_WIN_MODEL))
    return host();
  else if (key == MPI_WIN_BASE)
    found = w->base;
  else if (key == MPI_WIN_SIZE)
    found = &w->bytes;
  else if (key == MPI_WIN_DISP_UNIT)
    found = &w->unit;
  else if (key == MPI_WIN_CREATE_FLAVOR)
    found = &w->flavour;
  else if (key == MPI_WIN_MODEL)
    found = &w->model;
  else
    return host();
  *static_cast<void**>(value) = found;
  *flag = 1;
  return MPI_SUCCESS;
}

status reach(const path::exported_memory& m, int process, const memory::place& here,
             reached& out) noexcept {
  const auto importer = path::importer_for(m, here);
  TELPHER_TRY(importer);
  auto mapping = path::open_exported(process, m, *importer);
  TELPHER_TRY(mapping);
  out.at = {*importer, mapping->base() + (m.address - m.base)};
  out.mapping = std::move(*mapping);
  return status::ok;
}

// On this rank's device a copy or a kernel reaches the peer's memory over their link. Without
// access from device to device the peer's own one is taken, if it is visible here.
status reach_best(const path::exported_memory& m, int process, const memory::place& here,
                  reached& out) noexcept {
  const status s = here.on_device() ? reach(m, process, here, out) : status::not_supported;
  return failed(s) ? reach(m, process, {}, out) : s;
}

}  // namespace telpher::rma
