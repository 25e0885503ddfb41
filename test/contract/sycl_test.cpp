// SPDX-License-Identifier: BSD-3-Clause
// telpher-contract-sycl: what only a SYCL program can test. The back end is opened as in MPI_Init,
// in a program that has libsycl mapped. The contexts and queues are the program's own.
#define CHECK_NO_MAIN
#include <sycl/sycl.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/library.hpp"
#include "check.hpp"
#include "device/registry.hpp"

namespace {

using namespace telpher;
using device::memory_kind;
using device::pointer_info;

device::backend* subject = nullptr;
bool started_by_opening = true;
bool runtime_loaded_by_opening = true;

pointer_info describe(const void* address) {
  pointer_info info;
  CHECK(subject->classify(address, true, info) == status::ok);
  return info;
}

memory_kind shared_kind() {
  const char* text = std::getenv("TELPHER_SYCL_SHARED");
  return text && std::strcmp(text, "device") == 0 ? memory_kind::device : memory_kind::managed;
}

bool driver_is_loaded() {
  return bool(library::already_open("libintelocl.so")) ||
         bool(library::already_open("libur_adapter_level_zero.so.0"));
}

/// Copies on one of our streams and waits.
void move(int device, void* to, const void* from, std::size_t bytes) {
  const auto s = subject->create_stream(device);
  REQUIRE(s.has_value());
  CHECK(subject->copy(to, from, bytes, *s) == status::ok);
  CHECK(subject->synchronise(*s) == status::ok);
  subject->destroy_stream(*s);
}

TEST_CASE(opening_starts_nothing) {
  CHECK(!started_by_opening);
  CHECK(!runtime_loaded_by_opening);
}

TEST_CASE(kinds_in_the_default_context) {
  sycl::queue q;
  const struct {
    void* address;
    memory_kind kind;
  } rows[] = {{sycl::malloc_device(5000, q), memory_kind::device},
              {sycl::malloc_host(5000, q), memory_kind::pinned},
              {sycl::malloc_shared(5000, q), shared_kind()},
              {std::malloc(5000), memory_kind::host}};
  for (const auto& row : rows) {
    CHECK_EQ(describe(static_cast<char*>(row.address) + 4999).kind, row.kind);
    if (row.kind != memory_kind::device) continue;
    CHECK_EQ(describe(static_cast<char*>(row.address) + 77).base,
             reinterpret_cast<std::uintptr_t>(row.address));
    CHECK(describe(row.address).bytes >= 5000);
    CHECK_EQ(describe(row.address).device, 0);
  }
  for (int i = 0; i < 3; ++i) sycl::free(rows[i].address, q);
  CHECK_EQ(describe(rows[0].address).kind, memory_kind::host);
  std::free(rows[3].address);
}

TEST_CASE(a_registered_context_is_known_and_used) {
  constexpr std::size_t size = 100000;
  const sycl::device device;
  const sycl::context own(device);
  sycl::queue mine(own, device, sycl::property::queue::in_order{}), theirs;
  auto* in_own = sycl::malloc_device<unsigned char>(size, mine);
  auto* in_default = sycl::malloc_device<unsigned char>(size, theirs);
  const int before = subject->device_count();
  CHECK_EQ(describe(in_own).kind, memory_kind::host);  // nobody has adopted its queue

  CHECK(subject->adopt_queue(nullptr) == status::invalid_argument);
  CHECK(subject->adopt_queue(&mine) == status::ok);
  CHECK(subject->adopt_queue(&mine) == status::ok);  // again: no change
  CHECK_EQ(subject->device_count(), before + 1);
  CHECK_EQ(describe(in_own).kind, memory_kind::device);
  CHECK_EQ(describe(in_own).device, before);
  CHECK_EQ(describe(in_default).device, 0);

  std::vector<unsigned char> sent(size), found(size);
  for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<unsigned char>(i * 7 + i / 251);
  move(before, in_own, sent.data(), size);
  for (const int device_number : {0, before}) {  // between contexts, on streams of either
    std::memset(found.data(), 0, size);
    theirs.memset(in_default, 0, size).wait();
    move(device_number, in_default, in_own, size);
    move(0, found.data(), in_default, size);
    CHECK(found == sent);
  }
  sycl::free(in_own, mine);
  sycl::free(in_default, theirs);
}

TEST_CASE(a_queue_of_the_default_context_adds_nothing) {
  sycl::queue q{sycl::property::queue::in_order{}};
  auto* memory = sycl::malloc_device<int>(1000, q);
  const int before = subject->device_count();
  CHECK(subject->adopt_queue(&q) == status::ok);
  CHECK_EQ(subject->device_count(), before);
  q.memset(memory, 1, 4000).wait();
  std::vector<int> host(1000);
  move(0, host.data(), memory, 4000);
  CHECK_EQ(host[999], 0x01010101);
  sycl::free(memory, q);
}

}  // namespace

int main(int argc, char** argv) {
  device::discover();
  for (const char* why : device::absent_reasons()) std::printf("%s\n", why);
  subject = device::find(device::vendor::sycl);
  if (!subject) {
    std::printf("the SYCL back end did not open\n");
    return 1;
  }
  int on_stack = 0;
  pointer_info info;
  static_cast<void>(subject->classify(&on_stack, true, info));
  started_by_opening = subject->started() || subject->device_count() < 1;
  runtime_loaded_by_opening = driver_is_loaded();
  return check::run_all(argc, argv);
}
