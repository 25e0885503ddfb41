// SPDX-License-Identifier: BSD-3-Clause
// The applications' kernels for SYCL: compiled at run time from their text (a few seconds for each
// process, less with SYCL_CACHE_PERSISTENT=1), so that g++ makes this module. Queues use the
// platform's default context, as the memory of Telpher's back end does.
#include <sycl/sycl.hpp>

#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "common/module.hpp"
#include "common/sycl_sources.hpp"

namespace apps {
namespace {

namespace experimental = ::sycl::ext::oneapi::experimental;
using bundle = ::sycl::kernel_bundle<::sycl::bundle_state::executable>;

constexpr std::size_t group = 128;
constexpr std::size_t slot_bytes = 256;
constexpr std::size_t slots = 1024;  // launches between two waits

struct kernel_row {
  const char* name;
  std::size_t bytes;
};
constexpr kernel_row rows[] = {
#define APPS_KERNEL(application, name) {"apps_" #application "_" #name, sizeof(application::name)},
#include "common/kernels.def"
#undef APPS_KERNEL
};
#define APPS_KERNEL(application, name) static_assert(sizeof(application::name) <= slot_bytes);
#include "common/kernels.def"
#undef APPS_KERNEL

/// The text of a failure stays until the thread's next one.
template <class Work>
const char* guarded(Work work) {
  static thread_local std::string text;
  try {
    work();
    return nullptr;
  } catch (const std::exception& e) {
    text = e.what();
    return text.c_str();
  }
}

/// Devices in the order of Telpher's back end: GPUs of Level Zero, else other GPUs, else CPUs.
std::vector<::sycl::device> devices() {
  std::vector<::sycl::device> best;
  int best_rank = 0;
  for (const ::sycl::device& d : ::sycl::device::get_devices()) {
    const bool level_zero = d.get_backend() == ::sycl::backend::ext_oneapi_level_zero;
    const int rank = d.is_gpu() ? (level_zero ? 3 : 2) : d.is_cpu() ? 1 : 0;
    if (rank == 0 || rank < best_rank || !d.has(::sycl::aspect::usm_device_allocations)) continue;
    if (rank > best_rank) best.clear();
    best_rank = rank;
    best.push_back(d);
  }
  return best;
}

bundle compile(const ::sycl::queue& queue) {
  experimental::include_files headers;
  for (const source_file& f : kernel_headers()) headers.add(f.name, f.text);
  auto source = experimental::create_kernel_bundle_from_source(
      queue.get_context(), experimental::source_language::sycl, kernel_unit(),
      experimental::properties{headers});
  const std::vector<std::string> options{"-std=c++20", "-O3", "-ffp-contract=off", "-I."};
  return experimental::build(source, {queue.get_device()},
                             experimental::properties{experimental::build_options{options}});
}

class sycl_queue {
 public:
  explicit sycl_queue(const ::sycl::device& d)
      : queue_(d.get_platform().khr_get_default_context(), d,
               ::sycl::property_list{::sycl::property::queue::in_order{}}),
        parameters_(::sycl::malloc_host<unsigned char>(slots * slot_bytes, queue_)) {
    static bundle code = compile(queue_);  // one device a process; its questions are not const
    for (const kernel_row& row : rows) kernels_.push_back(code.ext_oneapi_get_kernel(row.name));
  }
  ~sycl_queue() { ::sycl::free(parameters_, queue_); }

  void launch(kernel_id id, const void* parameters, index items) {
    if (used_ == slots) wait();
    const auto number = static_cast<std::size_t>(id);
    void* slot = parameters_ + used_++ * slot_bytes;
    std::memcpy(slot, parameters, rows[number].bytes);
    queue_.submit([&](::sycl::handler& h) {
      h.set_arg(0, slot);
      h.set_arg(1, items);
      const std::size_t whole = (std::size_t{items} + group - 1) / group * group;
      h.parallel_for(::sycl::nd_range<1>(whole, group), kernels_[number]);
    });
  }
  void copy(void* to, const void* from, std::size_t bytes) { queue_.memcpy(to, from, bytes); }
  void wait() {
    queue_.wait_and_throw();
    used_ = 0;
  }
  ::sycl::queue& native() { return queue_; }

 private:
  ::sycl::queue queue_;
  std::vector<::sycl::kernel> kernels_;
  unsigned char* parameters_;  // read by kernels until the next wait
  std::size_t used_ = 0;
};

const char* open_queue(int device, void** queue) {
  return guarded([&] { *queue = new sycl_queue(devices().at(static_cast<std::size_t>(device))); });
}

constexpr module functions = {
    open_queue,
    [](void* queue) { delete static_cast<sycl_queue*>(queue); },
    [](void* queue, kernel_id kernel, const void* parameters, index items) -> const char* {
      return guarded([&] { static_cast<sycl_queue*>(queue)->launch(kernel, parameters, items); });
    },
    [](void* queue, void* to, const void* from, std::size_t bytes) -> const char* {
      return guarded([&] { static_cast<sycl_queue*>(queue)->copy(to, from, bytes); });
    },
    [](void* queue) -> const char* {
      return guarded([&] { static_cast<sycl_queue*>(queue)->wait(); });
    },
    [](void* queue) -> void* { return &static_cast<sycl_queue*>(queue)->native(); }};

}  // namespace
}  // namespace apps

extern "C" __attribute__((visibility("default"))) const apps::module* telpher_apps_module() {
  return &apps::functions;
}
