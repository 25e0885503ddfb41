// SPDX-License-Identifier: BSD-3-Clause
// What only the emulated device guarantees: faults, inaccessible device memory, topologies, and a
// clean end after fork or with work in flight.
#define CHECK_NO_MAIN
#include "device/emu/emu.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/settings.hpp"
#include "contract.hpp"
#include "device/emu/topology.hpp"
#include "peer.hpp"

#if defined(__SANITIZE_ADDRESS__)
/// Asked by the leak check at the end of a process. It stops the process's threads, and in a forked
/// child it may wait for ever for those that only the parent has.
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off();
namespace {
bool is_forked_child = false;
}
int __lsan_is_turned_off() {
  return is_forked_child;
}
#endif

namespace contract {
namespace {

class scoped_faults {
 public:
  explicit scoped_faults(const char* text) { device::emu::set_faults(text); }
  ~scoped_faults() { device::emu::set_faults(""); }
};

/// Runs `body` in a forked child; returns its exit code, or minus the signal that ended it.
template <class F>
int in_child(F body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    ::alarm(20);
#if defined(__SANITIZE_ADDRESS__)
    is_forked_child = true;
#endif
    body();
    ::_exit(0);
  }
  int how = 0;
  ::waitpid(child, &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
}

TEST_CASE(freeing_memory_waits_for_every_stream_and_keeps_other_calls_out) {
  if (!subject_is_emulated()) return;
  const memory words(memory_kind::pinned, 64), m(memory_kind::device, 64);
  auto* const word = reinterpret_cast<std::uint32_t*>(words.data());
  *word = 0;
  const scoped_stream held, other;
  void* const freed = subject().allocate(0, 4096).value_or(nullptr);
  CHECK_OK(subject().wait_value(held, word, 1));
  std::atomic<bool> is_freed{false}, stops{false};
  std::atomic<int> given{0};
  std::thread frees([&] {
    CHECK_OK(subject().release(0, freed));
    is_freed = true;
  });
  std::thread gives([&] {
    for (; !stops; ++given) CHECK_OK(subject().fill(m.data(), 1, 64, other));
  });
  CHECK(eventually([&] {
    const int before = given;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return given == before;
  }));
  CHECK(!is_freed);
  const int before = given;
  std::atomic_ref(*word).store(1);
  frees.join();
  CHECK(eventually([&] { return given > before; }));
  stops = true;
  gives.join();
}

TEST_CASE(a_function_runs_as_a_kernel_in_the_order_of_its_stream) {
  struct written {
    std::uint8_t* to;
    unsigned last;
  };
  const auto run = [](const void* parameters, unsigned block, unsigned blocks) {
    const auto& w = *static_cast<const written*>(parameters);
    w.to[block] = static_cast<std::uint8_t>(w.to[blocks] + block);
    if (block + 1 == w.last) w.to[blocks] = 0;
  };
  const memory m(memory_kind::device, 64);
  const scoped_stream s;
  const written w{static_cast<std::uint8_t*>(subject().kernel_address(m.data())), 5};
  const auto launch = [&](const void* parameters, std::size_t bytes, unsigned blocks) {
    return subject().launch_function(run, parameters, bytes, blocks, s);
  };
  if (!subject_is_emulated()) {
    CHECK_EQ(launch(&w, sizeof w, 5), status::not_supported);
    return;
  }
  CHECK_OK(subject().fill(m.data(), 7, 64, s));
  CHECK_OK(launch(&w, sizeof w, 5));
  std::uint8_t got[7] = {};
  CHECK_OK(subject().copy(got, m.data(), sizeof got, s));
  CHECK_OK(subject().synchronise(s));
  const std::uint8_t wanted[7] = {7, 8, 9, 10, 11, 0, 7};
  CHECK(std::memcmp(got, wanted, sizeof got) == 0);
  CHECK_EQ(launch(&w, sizeof w, 0), status::invalid_argument);
  CHECK_EQ(launch(&w, 1 << 20, 1), status::invalid_argument);
}

TEST_CASE(the_cpu_cannot_touch_device_memory) {
  if (!subject_is_emulated()) return;
  const memory m(memory_kind::device, 100);
  CHECK_EQ(in_child([&] { *const_cast<volatile std::uint8_t*>(m.data()) = 1; }), -SIGSEGV);
}

TEST_CASE(a_call_out_of_bounds_is_refused) {
  if (!subject_is_emulated()) return;
  const scoped_stream s;
  const memory m(memory_kind::device, 100);
  bytes host(200);
  check::expect_log("copy failed: invalid value");
  CHECK_EQ(error_of(subject().copy(host.data(), m.data(), 101, s)), status::invalid_argument);
  check::expect_log("fill failed: invalid value");
  CHECK_EQ(error_of(subject().fill(m.data() + 50, 0, 51, s)), status::invalid_argument);
}

TEST_CASE(faults_strike_the_calls_they_name) {
  if (!subject_is_emulated() || config().device_copy == "kernel")
    return;  // its copies are launches
  const scoped_stream s;
  const scoped_event e;
  const memory m(memory_kind::device, 100), host(memory_kind::pinned, 4096);
  const scoped_faults faults("memcpy:2,malloc:1+,pinned:1,launch:1,event:1,register:1,ipc_get:1+");
  for (const char* line : {"copy failed: injected", "malloc failed: out of", "launch failed: inj",
                           "event record failed: inj", "pinned malloc failed: out of"})
    check::expect_log(line);
  CHECK_OK(subject().copy(m.data(), host.data(), 100, s));
  CHECK_EQ(error_of(subject().copy(m.data(), host.data(), 100, s)), status::device_error);
  CHECK_OK(subject().copy(m.data(), host.data(), 100, s));
  CHECK_EQ(error_of(subject().allocate(0, 100)), status::out_of_memory);
  CHECK_EQ(error_of(subject().allocate(0, 100)), status::out_of_memory);
  CHECK_EQ(error_of(subject().allocate_pinned(100)), status::out_of_memory);
  const kernel::linger p{};
  CHECK_EQ(error_of(subject().launch(kernel::id::linger, &p, 1, 32, s)), status::device_error);
  CHECK_EQ(error_of(subject().record(e, s)), status::device_error);
  CHECK_OK(subject().record(e, s));
  CHECK_EQ(error_of(subject().register_host(host.data(), 4096)), status::not_supported);
  CHECK_EQ(error_of(subject().ipc_export(describe(m.data()))), status::not_supported);
}

TEST_CASE(a_fault_that_cannot_be_read_is_said) {
  check::expect_log("'memcpy' is not a fault");
  check::expect_log("'what:1' is not a fault");
  check::expect_log("'malloc:0' is not a fault");
  const scoped_faults faults("memcpy,what:1,malloc:0");
}

TEST_CASE(the_setting_says_what_copies) {
  if (!subject_is_emulated()) return;
  const bool by_kernel = config().device_copy == "kernel";
  const scoped_stream s;
  const memory a(memory_kind::device, 1 << 20), b(memory_kind::device, 1 << 20),
      other(memory_kind::device, 1 << 20, 1);
  const auto before = device::emu::count();
  CHECK_OK(subject().copy(b.data(), a.data(), 1 << 20, s));
  const auto own = device::emu::count();
  CHECK_EQ(own.launches - before.launches, by_kernel ? 1 : 0);
  CHECK_EQ(own.copies - before.copies, by_kernel ? 0 : 1);
  CHECK_OK(subject().copy(other.data(), a.data(), 1 << 20, s));  // no kernel can access it
  CHECK_EQ(device::emu::count().copies - own.copies, 1);
  CHECK_OK(subject().synchronise(s));
}

TEST_CASE(a_forked_child_is_told_and_ends) {
  if (!subject_is_emulated()) return;
  const scoped_stream s;
  const memory m(memory_kind::device, 1000);
  write(m.data(), pattern(1000, 1), s);
  const int code = in_child([&] {
    const bool refused = subject().synchronise(s) == status::device_error &&
                         subject().allocate(0, 10).error() == status::device_error &&
                         !subject().started() && kind_of(m.data()) == memory_kind::host;
    std::exit(refused ? 7 : 8);
  });
  CHECK_EQ(code, 7);
}

TEST_CASE(a_process_ends_with_work_under_way) {
  if (!subject_is_emulated()) return;
  const auto start = std::chrono::steady_clock::now();
  {
    peer other;
    CHECK_OK(other.ask({peer_request::action::leave_work, 0, 0, 0, {}}).outcome);
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE(counters_have_names) {
  CHECK_EQ(device::emu::count("streams"), 0);
  CHECK(device::emu::count("copies") >= 0);
  CHECK_EQ(device::emu::count("nonsense"), -1);
}

TEST_CASE(topologies_are_read) {
  using device::distance;
  device::emu::topology t;
  std::string problem;
  CHECK(
      t.parse("# a node\ndevices 4\nname Some device\ndefault pcie 20 2.5\nlink 0-1 2 fabric 50\n"
              "link 3 0-2 none\nnuma 2-3 1\nbar off\nhost 12 3\n",
              problem));
  CHECK_EQ(t.devices, 4);
  CHECK_EQ(t.device_name, "Some device");
  CHECK(t.links[0][1].kind == distance::pcie && t.links[0][1].latency_us == 2.5);
  CHECK(t.links[2][1].kind == distance::fabric && t.links[2][1].bandwidth_gbps == 50);
  CHECK(t.links[1][3].kind == distance::unreachable);
  CHECK_EQ(t.numa[1], -1);
  CHECK_EQ(t.numa[3], 1);
  CHECK(!t.cpu_window && !t.timing);
  for (const char* bad :
       {"devices 0", "devices 17", "link 0 9 pcie", "devices 2\nlink 0 2 pcie", "default near",
        "bar maybe", "nonsense", "default pcie 1 2 3", "numa 1"}) {
    device::emu::topology u;
    CHECK(!u.parse(bad, problem));
    CHECK(problem.starts_with("line "));
  }
}

TEST_CASE(shipped_topologies_are_valid) {
  for (const char* name : {"2gpu-nvlink", "8gpu-nvlink", "pcie4", "mi250x"}) {
    std::ifstream file(std::string(TELPHER_SHARE "/topologies/") + name + ".topo");
    std::stringstream text;
    text << file.rdbuf();
    device::emu::topology t;
    std::string problem;
    CHECK(file.good() && t.parse(text.str(), problem));
  }
}

}  // namespace
}  // namespace contract
