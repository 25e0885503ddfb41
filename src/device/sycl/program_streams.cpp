// SPDX-License-Identifier: BSD-3-Clause
// The program's queues.
#include <sycl/sycl.hpp>

#include "device/sycl/backend.hpp"
#include "device/sycl/guarded.hpp"
#include "device/sycl/host_event.hpp"
#include "device/sycl/queue.hpp"

namespace telpher::device::sycl {
namespace {

// The words by which a queue and we tell each other how far we are lie in the first context.
const char* unfit(const ::sycl::queue& q) {
  if (!q.is_in_order()) return "it is not in order (sycl::property::queue::in_order)";
  if (q.get_context() != places::instance().at(0).context)
    return "it is not in the default context of the devices that Telpher uses";
  return nullptr;
}

}  // namespace

result<stream> backend::adopt_stream(void* native, int& device) noexcept {
  // SYCL has no default queue; other vendors' handles of theirs are small numbers.
  if (reinterpret_cast<std::uintptr_t>(native) < 4096) return status::invalid_argument;
  TELPHER_TRY(places::instance().start());
  stream made;
  TELPHER_TRY(guarded("queue of the program", [&] {
    const auto& q = *static_cast<const ::sycl::queue*>(native);
    const char* const why = unfit(q);
    device = why ? -1 : places::instance().number_of(q);
    if (device < 0) {
      TELPHER_ERROR("sycl queue %p: %s", native, why ? why : "its device is not used");
      return status::invalid_argument;
    }
    made.handle = new work_queue(device, q);
    return status::ok;
  }));
  return made;
}

result<stream> backend::create_program_stream(int device) noexcept {
  if (!valid(device)) return status::invalid_argument;
  TELPHER_TRY(places::instance().start());
  stream made;
  TELPHER_TRY(guarded("queue", [&] {
    const place& where = places::instance().at(device);
    made.handle = new work_queue(
        device, ::sycl::queue(where.context, where.device,
                              ::sycl::property_list{::sycl::property::queue::in_order{}}));
    return status::ok;
  }));
  return made;
}

void* backend::native_stream(stream s) noexcept {
  return &queue_of(s).native();
}

bool backend::is_captured(stream s) noexcept {
  namespace graphs = ::sycl::ext::oneapi::experimental;
  bool recording = false;
  const status asked = guarded("queue state", [&] {
    recording = queue_of(s).native().ext_oneapi_get_state() == graphs::queue_state::recording;
    return status::ok;
  });
  return asked == status::ok && recording;
}

bool backend::streams_wait(int device) noexcept {
  if (!valid(device) || !started()) return false;
  return guarded("events of the host", [&] {
           return host_event::possible(places::instance().at(device)) ? status::ok
                                                                      : status::not_supported;
         }) == status::ok;
}

status backend::wait_value(stream s, std::uint32_t* word, std::uint32_t value) noexcept {
  return guarded("wait for a word", [&] {
    queue_of(s).wait_for(word, value);
    return status::ok;
  });
}

status backend::write_value(stream s, std::uint32_t* word, std::uint32_t value) noexcept {
  return guarded("write of a word", [&] {
    queue_of(s).write(word, value);
    return status::ok;
  });
}

status backend::write_and_wait(stream s, std::uint32_t* written, std::uint32_t* awaited,
                               std::uint32_t value) noexcept {
  TELPHER_TRY(write_value(s, written, value));
  return wait_value(s, awaited, value);
}

}  // namespace telpher::device::sycl
