// SPDX-License-Identifier: BSD-3-Clause
#include "features.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <string>

#include "contract.hpp"
#include "kernel/reduction.hpp"
#include "peer.hpp"

namespace contract {
namespace {

const char* yes(bool holds) {
  return holds ? "yes" : "no";
}

std::string recognises(memory_kind kind) {
  void* at = kind == memory_kind::device    ? subject().allocate(0, 4096).value_or(nullptr)
             : kind == memory_kind::managed ? subject().allocate_managed(4096).value_or(nullptr)
                                            : subject().allocate_pinned(4096).value_or(nullptr);
  if (!at) return "no";
  const bool known = kind_of(at) == kind;
  static_cast<void>(kind == memory_kind::device    ? subject().release(0, at)
                    : kind == memory_kind::managed ? subject().release_managed(at)
                                                   : subject().release_pinned(at));
  return yes(known);
}

std::string registers_host_memory() {
  constexpr std::size_t size = 1 << 16;
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const bool done = subject().register_host(at, size) == status::ok;
  if (done) static_cast<void>(subject().unregister_host(at));
  ::munmap(at, size);
  return yes(done);
}

std::string keeps_flags_uncached() {
  auto at = subject().allocate_flags(0, 4096);
  if (at) static_cast<void>(subject().release(0, *at));
  return yes(at.has_value());
}

std::string exports() {
  const memory m(memory_kind::device, 1 << 20);
  const auto handle = subject().ipc_export(describe(m.data()));
  if (!handle) return "no";
  peer other;
  if (other.ask({peer_request::action::open, 0, 0, 0, *handle}).outcome != status::ok)
    return "handles, but they cannot be opened here";
  static_cast<void>(other.ask({peer_request::action::close, 0, 0, 0, {}}));
  return "yes";
}

std::string shows_memory_to_the_cpu() {
  const memory m(memory_kind::device, 1 << 16);
  const pointer_info info = describe(m.data());
  const auto window = subject().map_for_cpu(info);
  if (!window) return "no";
  subject().unmap_for_cpu(info, *window);
  return subject().windows_write_combined(0) ? "yes, write-combined" : "yes, cached";
}

std::string reaches_peers() {
  if (subject().device_count() < 2) return "one device here";
  if (!subject().peer_access(0, 1)) return "not between devices 0 and 1";
  return subject().distance_between(0, 1) == device::distance::fabric ? "yes, fabric" : "yes, PCIe";
}

std::string runs_kernels() {
  const scoped_stream s;
  const memory a(memory_kind::device, 256), b(memory_kind::device, 256);
  kernel::copy_batch k{};
  k.count = 1;
  k.pieces[0] = {a.data(), b.data(), 256};
  k.first_block[1] = 1;
  return yes(subject().launch(kernel::id::copy_batch, &k, 1, 64, s) == status::ok &&
             subject().synchronise(s) == status::ok);
}

std::string waits_in_kernels() {
  return yes(subject().kernels_may_wait(0));
}

std::string reduces() {
  return yes(subject().prepare(0, kernel::exchange_with(kernel::reduce_op::sum,
                                                        kernel::value_type::f64)) == status::ok);
}

std::string shares_host_memory() {
  return yes(subject().shares_host_memory(0));
}

struct feature {
  const char* name;
  std::string (*ask)();
  const char* tested_by;  // the name of a case of this suite
};

const feature features[] = {
    {"device memory is recognised", [] { return recognises(memory_kind::device); },
     "every_kind_is_recognised_inside_too"},
    {"pinned memory is recognised", [] { return recognises(memory_kind::pinned); },
     "every_kind_is_recognised_inside_too"},
    {"managed memory is recognised", [] { return recognises(memory_kind::managed); },
     "every_kind_is_recognised_inside_too"},
    {"existing host memory can be registered", registers_host_memory,
     "registered_memory_serves_at_its_own_address"},
    {"memory for flags", keeps_flags_uncached, "memory_for_flags_is_device_memory"},
    {"handles for other processes", exports, "another_process_reads_and_writes_an_allocation"},
    {"the CPU sees device memory (mapped copies)", shows_memory_to_the_cpu,
     "the_cpu_window_shows_the_bytes"},
    {"direct access between devices", reaches_peers, "copies_between_devices"},
    {"kernels", runs_kernels, "copy_batch_of_128_random_pieces"},
    {"reductions", reduces, "reductions_of_plain_memory"},
    {"kernels that wait for the host or a peer", waits_in_kernels,
     "kernels_that_wait_are_missing_where_they_may_not"},
    {"a segment of host memory stands for memory that peers open", shares_host_memory,
     "a_registered_segment_serves_the_kernels_of_two_processes"},
};

bool is_case(const std::string& name) {
  for (const check::test_case& one : check::cases())
    if (name == one.name) return true;
  return false;
}

}  // namespace

int write_features(const char* file) {
  const memory starts(memory_kind::device, 64);
  device::device_properties p{};
  static_cast<void>(subject().properties(0, p));
  std::FILE* out = std::string(file) == "-" ? stdout : std::fopen(file, "w");
  if (!out) return 1;
  std::fprintf(out, "{\"backend\": \"%s\", \"device\": \"%s\", \"devices\": %d, \"features\": [",
               subject().name(), p.name, subject().device_count());
  bool named_right = true;
  for (const feature& f : features) {
    if (!is_case(f.tested_by)) {
      std::fprintf(stderr, "there is no case %s\n", f.tested_by);
      named_right = false;
    }
    std::fprintf(out, "%s\n {\"name\": \"%s\", \"answer\": \"%s\", \"tested_by\": \"%s\"}",
                 &f == features ? "" : ",", f.name, f.ask().c_str(), f.tested_by);
  }
  std::fprintf(out, "]}\n");
  if (out != stdout) std::fclose(out);
  return named_right ? 0 : 1;
}

}  // namespace contract
