// SPDX-License-Identifier: BSD-3-Clause
// The kind of an address: host memory of every sort (each thread's stack, static data, heap,
// mapped, pinned, managed), and device memory from its first byte to its last, even in an address
// range that was host memory just before, and while other threads grow and shrink the heap.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

#include "check_log.hpp"
#include "emulated.hpp"

using namespace telpher;

namespace {

int in_bss[1000];
int in_data[1000] = {1};
const int in_text[1000] = {1};

bool is_host(const void* p) {
  return !memory::classify(p).on_device();
}

}  // namespace

TEST_CASE(host_memory_of_every_sort) {
  emulated::device();
  int on_stack = 0;
  const auto small = std::make_unique<int>(1);
  const auto large = std::make_unique<char[]>(64 << 20);
  CHECK(is_host(nullptr));
  CHECK(is_host(&on_stack));
  CHECK(is_host(in_bss) && is_host(in_bss + 999) && is_host(in_data) && is_host(in_text));
  CHECK(is_host(small.get()) && is_host(large.get()) && is_host(large.get() + (64 << 20) - 1));
  std::thread([&] {
    int on_other_stack = 0;
    CHECK(is_host(&on_other_stack) && is_host(&on_stack));
  }).join();
}

TEST_CASE(pinned_and_managed_memory_count_as_host) {
  auto& d = emulated::device();
  void* pinned = *d.allocate_pinned(4096);
  void* managed = *d.allocate_managed(4096);
  CHECK(is_host(pinned) && is_host(managed));
  CHECK_EQ(d.release_pinned(pinned), status::ok);
  CHECK_EQ(d.release_managed(managed), status::ok);
}

TEST_CASE(device_memory_is_recognised) {
  const int before_the_device = 0;
  CHECK(is_host(&before_the_device));  // the stack's range was determined before
  const emulated::allocation a(100000);
  const memory::place p = memory::classify(a.data());
  CHECK(p.on_device());
  CHECK_EQ(p.device, 0);
  CHECK(p == memory::classify(a.data() + 99999));
  device::pointer_info info;
  CHECK(p == memory::classify(a.data() + 5, info));
  CHECK_EQ(info.base, reinterpret_cast<std::uintptr_t>(a.data()));
  CHECK(info.bytes >= 100000);
}

TEST_CASE(freed_device_memory_is_no_device_memory) {
  void* address = nullptr;
  {
    const emulated::allocation a(4096);
    address = a.data();
    CHECK(!is_host(address));
  }
  CHECK(is_host(address));
}

// Batch systems remove the limit of the stack. Its range must not include what is mapped below it.
TEST_CASE(with_an_unlimited_stack_too) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_STACK, &none) != 0) ::_exit(0);  // not allowed here
    ::execl("/proc/self/exe", "memory_classify", "device_memory_is_recognised", nullptr);
    ::_exit(2);
  }
  int code = -1;
  ::waitpid(child, &code, 0);
  CHECK_EQ(code, 0);
}

// A query of the heap's end must not move it. sbrk(0) moves it if a host MPI has replaced sbrk.
TEST_CASE(beside_threads_that_grow_and_shrink_the_heap) {
  emulated::device();
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([] {
      for (int i = 0; i < 2000; ++i) {
        std::vector<char> bytes(static_cast<std::size_t>(100000 + i % 7 * 5000), 'x');
        if (!is_host(bytes.data())) CHECK(!"heap memory was taken for device memory");
      }
    });
  for (std::thread& t : all) t.join();
}
