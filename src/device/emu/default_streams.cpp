// SPDX-License-Identifier: BSD-3-Clause
// Streams of the program: by a handle, or a default one.
#include "device/emu/default_streams.hpp"

#include <atomic>

#include "base/pause.hpp"
#include "device/emu/emu_rt.hpp"

namespace telpher::device::emu {

namespace {

const std::shared_ptr<stream_state>& default_stream() {
  static auto* const one = new std::shared_ptr<stream_state>(
      streams::make_stream(0, priority::program, ordering::legacy));
  return *one;
}

const std::shared_ptr<stream_state>& own_default_stream() {
  struct owned {
    std::shared_ptr<stream_state> stream =
        streams::make_stream(0, priority::program, ordering::blocking);
    ~owned() { stream->close(); }
  };
  static thread_local const owned one;
  return one.stream;
}

}  // namespace

bool emu_rt::one_for_each_thread(const void* native) noexcept {
  return reinterpret_cast<std::uintptr_t>(native) == 2;
}

error emu_rt::adopt(void* native, stream_type& s, int& device) noexcept {
  s = one_for_each_thread(native) ? own_default_stream()
      : native                    ? streams::find_stream(native)
                                  : default_stream();
  if (!s) return error::invalid_value;
  device = s->device();
  return error::success;
}

error emu_rt::wait_value(const stream_type& s, std::uint32_t* word, std::uint32_t value) noexcept {
  if (s->captured() && !graphs_hold_words()) return error::not_supported;
  return s->enqueue([word, value] {
    const std::atomic_ref<std::uint32_t> seen(*word);
    for (int looks = 0; seen.load(std::memory_order_acquire) < value; ++looks) pause(looks);
  });
}

error emu_rt::write_value(const stream_type& s, std::uint32_t* word, std::uint32_t value) noexcept {
  if (s->captured() && !graphs_hold_words()) return error::not_supported;
  return s->enqueue([word, value] {
    std::atomic_ref<std::uint32_t>(*word).store(value, std::memory_order_release);
  });
}

error emu_rt::keep_for_graph(const stream_type& s, void* object, void (*release)(void*)) noexcept {
  const auto graph = s->captured();
  if (!graph) return error::not_supported;
  if (s->capture_failed()) return error::capture_failed;
  graph->keep(object, release);
  return error::success;
}

void synchronise_default_streams() noexcept {
  default_stream()->synchronise();
  own_default_stream()->synchronise();
}

}  // namespace telpher::device::emu
