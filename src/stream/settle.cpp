// SPDX-License-Identifier: BSD-3-Clause
#include "stream/settle.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "device/adopted_stream.hpp"
#include "device/registry.hpp"
#include "host_mpi/attribute.hpp"
#include "memory/memory.hpp"
#include "stream/proxy.hpp"

namespace telpher::stream {
namespace {

constexpr const char* info_key = "telpher_stream";

enum class mode { off, automatic, stream, device };
mode chosen = mode::automatic;

int keys[2] = {MPI_KEYVAL_INVALID, MPI_KEYVAL_INVALID};  // by role
int& key_of(role r) noexcept {
  return keys[r == role::settles ? 0 : 1];
}

std::mutex guard;
// A stream that ordinary calls wait for, and how many communicators name it.
struct settled_stream {
  void* native;
  int users;
};
lasting<std::vector<settled_stream>> settled;
lasting<std::vector<memory::place>> seen_places;

void update() noexcept {
  short_way::set(short_way::settling, chosen == mode::stream || chosen == mode::device ||
                                          (chosen == mode::automatic && !settled->empty()));
}

void count(void* native, int by) noexcept {
  std::lock_guard lock(guard);
  auto at = std::ranges::find(*settled, native, &settled_stream::native);
  if (at == settled->end()) at = settled->insert(at, {native, 0});
  if ((at->users += by) <= 0) settled->erase(at);
  update();
}

// --- attributes ---

int copy_attribute(MPI_Comm, int key, void*, void* value, void* copied, int* flag) {
  *flag = 0;
  if (host_mpi::no_duplicate::being_made()) return MPI_SUCCESS;
  const auto& from = *static_cast<const named*>(value);
  *static_cast<void**>(copied) = new named(from);
  *flag = 1;
  if (key == key_of(role::settles)) count(from.native, 1);
  return MPI_SUCCESS;
}

int delete_attribute(MPI_Comm, int key, void* value, void*) {
  const auto* const gone = static_cast<const named*>(value);
  if (key == key_of(role::settles)) count(gone->native, -1);
  delete gone;
  return MPI_SUCCESS;
}

// --- waiting ---

// Streams end without our knowledge: one that is not known any more has no work.
void wait_for_stream(void* native) noexcept {
  device::adopted_stream s(native);
  if (s.get() && !s.is_captured()) static_cast<void>(s.owner()->synchronise(*s.get()));
}

// Managed memory is the host MPI's to move, but a kernel may be writing it.
memory::place used_by_device(const void* buffer) noexcept {
  if (!buffer || memory::surely_host(buffer)) return {};
  device::pointer_info info;
  for (device::backend* b : device::backends())
    if (b->started() && b->classify(buffer, false, info) == status::ok &&
        info.kind != device::memory_kind::host)
      return info.kind == device::memory_kind::pinned || info.device < 0
                 ? memory::place{b, 0}
                 : memory::place{b, info.device};
  return {};
}

std::vector<memory::place> places_of(std::initializer_list<const void*> buffers) noexcept {
  std::vector<memory::place> found;
  for (const void* b : buffers)
    if (const memory::place p = used_by_device(b);
        p.on_device() && std::find(found.begin(), found.end(), p) == found.end())
      found.push_back(p);
  std::lock_guard lock(guard);
  for (const memory::place& p : found)
    if (std::ranges::find(*seen_places, p) == seen_places->end()) seen_places->push_back(p);
  return buffers.size() == 0 ? *seen_places : found;
}

void say_once_unserved(const device::backend& owner) noexcept {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    TELPHER_ERROR(
        "TELPHER_SYNC=device: %s cannot wait for all work of a device, so calls wait for nothing; "
        "name the streams (telpher_stream_set) and set auto or stream",
        owner.name());
}

/// Waits for what TELPHER_SYNC names of the devices. False if there are none.
bool settle_devices(const std::vector<memory::place>& places) noexcept {
  for (const memory::place& p : places) {
    if (chosen == mode::device && p.owner->synchronise_device(p.device) == status::not_supported)
      say_once_unserved(*p.owner);
    if (chosen == mode::stream) static_cast<void>(p.owner->synchronise_default(p.device));
  }
  return !places.empty();
}

std::vector<void*> streams_for(MPI_Comm comm) noexcept {
  named own;
  if (comm != MPI_COMM_NULL)
    return stream_of(comm, role::settles, own) ? std::vector{own.native} : std::vector<void*>();
  std::vector<void*> all;
  std::lock_guard lock(guard);
  for (const auto& [native, users] : *settled) all.push_back(native);
  return all;
}

}  // namespace

void begin_settling() noexcept {
  const auto text = config().sync;
  chosen = text == "off"      ? mode::off
           : text == "stream" ? mode::stream
           : text == "device" ? mode::device
                              : mode::automatic;
  for (const role r : {role::settles, role::enqueues})
    if (pmpi::Comm_create_keyval(copy_attribute, delete_attribute, &key_of(r), nullptr) !=
        MPI_SUCCESS)
      key_of(r) = MPI_KEYVAL_INVALID;
  std::lock_guard lock(guard);
  update();
}

void end_settling() noexcept {
  short_way::set(short_way::settling, false);
  for (const role r : {role::settles, role::enqueues})
    if (key_of(r) != MPI_KEYVAL_INVALID) pmpi::Comm_free_keyval(&key_of(r));
}

int name_stream(MPI_Comm comm, role r, const named& stream) noexcept {
  if (key_of(r) == MPI_KEYVAL_INVALID) return MPI_ERR_OTHER;
  auto* const kept = new named(stream);
  const int code = pmpi::Comm_set_attr(comm, key_of(r), kept);
  if (code != MPI_SUCCESS) {
    delete kept;
    return code;
  }
  if (r == role::settles) count(stream.native, 1);
  return code;
}

int forget_stream(MPI_Comm comm, role r) noexcept {
  named own;
  return stream_of(comm, r, own) ? pmpi::Comm_delete_attr(comm, key_of(r)) : MPI_SUCCESS;
}

bool stream_of(MPI_Comm comm, role r, named& out) noexcept {
  if (key_of(r) == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL) return false;
  void* value = nullptr;
  int flag = 0;
  if (pmpi::Comm_get_attr(comm, key_of(r), &value, &flag) != MPI_SUCCESS || !flag) return false;
  out = *static_cast<const named*>(value);
  return true;
}

void name_by(MPI_Info info, MPI_Comm comm) noexcept {
  if (info == MPI_INFO_NULL) return;
  char text[64] = "";
  int there = 0;
  pmpi::Info_get(info, const_cast<char*>(info_key), sizeof text - 1, text, &there);
  if (!there) return;
  void* native = nullptr;
  if (std::sscanf(text, "%p", &native) != 1) {
    TELPHER_ERROR("info key %s: \"%s\" is no stream; give its handle as %%p prints it", info_key,
                  text);
    return;
  }
  name_stream(comm, role::settles, {native, 0});
}

// Enqueued operations have their order from the stream: the proxy never waits.
void settle(MPI_Comm comm, std::initializer_list<const void*> buffers) noexcept {
  if (in_proxy() || !settle_devices(places_of(buffers)) || chosen == mode::device) return;
  for (void* native : streams_for(comm)) wait_for_stream(native);
}

void settle_send(MPI_Comm comm, const void* buffer) noexcept {
  if (memory::classify(buffer).on_device() && chosen != mode::device) {
    if (!in_proxy()) static_cast<void>(settle_devices(places_of({buffer})));
  } else {
    settle(comm, {buffer});
  }
}

void settle(const used& u) noexcept {
  if (u.as == used::how::nothing) return;
  if (u.as == used::how::sends)
    settle_send(u.comm, u.buffer);
  else if (u.buffer)
    settle(u.comm, {u.buffer});
  else
    settle(u.comm, {});
}

void work_before::look(MPI_Comm comm) noexcept {
  named own;
  if (in_proxy() || chosen == mode::device || !stream_of(comm, role::settles, own)) return;
  device::adopted_stream& s = stream_.emplace(own.native);
  if (!s.get() || s.is_captured()) return;
  auto made = memory::pooled_event::acquire({s.owner(), s.device()});
  if (!made || failed(made->record(*s.get()))) {
    wait_for_stream(own.native);
  } else if (made->query() == status::would_block) {
    event = std::move(*made);
    event.hold_stream();
  }
}

// A queue of SYCL's that was adopted ends when what was launched there has ended.
bool work_before::serves(const memory::place& where) const noexcept {
  return where == memory::place{stream_->owner(), stream_->device()} &&
         where.owner->owner() != device::vendor::sycl;
}

}  // namespace telpher::stream
