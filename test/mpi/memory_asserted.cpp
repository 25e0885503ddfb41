// SPDX-License-Identifier: BSD-3-Clause
// mpi_assert_memory_alloc_kinds: on a communicator that is for host memory only no pointer is
// looked up, and others are as before. The buffers are mapped memory, which lies neither in the
// heap nor in the stack. Windows and files say which kinds they take.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "emulated.hpp"
#include "suite.hpp"

using namespace mpi_test;

namespace {

constexpr int count = 5000;

class mapped {
 public:
  explicit mapped(int byte)
      : at_(static_cast<unsigned char*>(
            mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    std::memset(at_, byte, count);
  }
  ~mapped() { munmap(at_, count); }
  mapped(const mapped&) = delete;
  mapped& operator=(const mapped&) = delete;
  unsigned char* data() const { return at_; }
  bool all(int byte) const {
    return std::all_of(at_, at_ + count, [&](unsigned char c) { return c == byte; });
  }

 private:
  unsigned char* at_;
};

constexpr const char* key = "mpi_assert_memory_alloc_kinds";

struct assertion {
  explicit assertion(const char* kinds) {
    MPI_Info_create(&info);
    MPI_Info_set(info, key, kinds);
  }
  ~assertion() { MPI_Info_free(&info); }
  assertion(const assertion&) = delete;
  assertion& operator=(const assertion&) = delete;
  MPI_Info info = MPI_INFO_NULL;
};

MPI_Comm with_kinds(const char* kinds) {
  MPI_Comm made;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, assertion(kinds).info, &made);
  return made;
}

std::string value(MPI_Info info, const char* of) {
  char text[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  MPI_Info_get(info, of, MPI_MAX_INFO_VAL, text, &found);
  MPI_Info_free(&info);
  return found ? text : "";
}

bool told(MPI_Comm comm, const char* kinds) {
  MPI_Info info;
  MPI_Comm_get_info(comm, &info);
  return value(info, key) == kinds;
}

/// Windows and files name the kinds of memory that their calls take, as communicators do.
void windows_and_files(suite& s) {
  MPI_Info info;
  const auto expect = [&](const char* what) {
    const std::string kinds = value(info, "mpi_memory_alloc_kinds");
    s.note("%s has %s", what, kinds.c_str());
    s.expect(kinds.find("system") != std::string::npos, what);
    s.expect(kinds.find(device_kind()) != std::string::npos, what);
  };
  const std::string name = "/tmp/telpher-kinds-" + std::to_string(getpid());
  MPI_File file;
  MPI_File_open(MPI_COMM_SELF, name.c_str(),
                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_get_info(file, &info);
  expect("a file");
  MPI_File_close(&file);
  if (!s.makes_windows()) return;
  MPI_Win window;
  MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_get_info(window, &info);
  expect("a window");
  MPI_Win_free(&window);
}

/// Look-ups of pointers in a ring of messages and a scan, in buffers that are new to Telpher. The
/// first collective of a communicator finds out how it is served.
long long looked_up(suite& s, MPI_Comm comm) {
  MPI_Barrier(comm);
  const int next = (s.rank + 1) % s.ranks, before = (s.rank + s.ranks - 1) % s.ranks;
  mapped out(s.rank + 1), in(0), sum(0);
  const long long first = counted("classifications");
  MPI_Request r[2];
  MPI_Irecv(in.data(), count, MPI_BYTE, before, 1, comm, &r[0]);
  MPI_Isend(out.data(), count, MPI_BYTE, next, 1, comm, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  s.expect(in.all(before + 1), "a message");
  MPI_Scan(out.data(), sum.data(), count, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
  s.expect(sum.all((s.rank + 1) * (s.rank + 2) / 2), "a scan");
  return counted("classifications") - first;
}

void device_message(suite& s, MPI_Comm comm) {
  const int next = (s.rank + 1) % s.ranks, before = (s.rank + s.ranks - 1) % s.ranks;
  auto* const at = static_cast<unsigned char*>(try_allocate(kind::device, 2 * count));
  functions().set(at, s.rank + 1, count);
  MPI_Sendrecv(at, count, MPI_BYTE, next, 1, at + count, count, MPI_BYTE, before, 1, comm,
               MPI_STATUS_IGNORE);
  std::vector<unsigned char> found(count);
  functions().copy(found.data(), at + count, count);
  s.expect(found == std::vector<unsigned char>(count, static_cast<unsigned char>(before + 1)),
           "a message in device memory");
  release(kind::device, at);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  MPI_Comm host = with_kinds("system,mpi:alloc_mem");
  s.run("host memory", [&] {
    if (counted("classifications") >= 0)
      s.expect_equal(looked_up(s, host), 0, "look-ups where host memory was asserted");
    s.expect(told(host, "system,mpi:alloc_mem"), "what MPI_Comm_get_info says");
  });
  s.run("not inherited", [&] {
    MPI_Comm copy;
    MPI_Comm_dup(host, &copy);
    if (counted("classifications") >= 0)
      s.expect(looked_up(s, copy) > 0, "look-ups where nothing was asserted");
    device_message(s, copy);
    MPI_Comm_free(&copy);
  });
  s.run("made with an info", [&] {
    const assertion of_host("system");
    const int next = (s.rank + 1) % s.ranks, before = (s.rank + s.ranks - 1) % s.ranks;
    MPI_Comm made[2];
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, of_host.info, &made[0]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, of_host.info, 0, &made[1]);
    for (MPI_Comm& one : made) {
      s.expect(told(one, "system"), "what MPI_Comm_get_info says");
      if (counted("classifications") >= 0)
        s.expect_equal(looked_up(s, one), 0, "look-ups where host memory was asserted");
      MPI_Comm_free(&one);
    }
  });
  s.run("other kinds", [&] {
    MPI_Comm_set_info(host, assertion("system,telpher_emu:device").info);
    s.expect(told(host, "system,telpher_emu:device"), "what MPI_Comm_get_info says");
    device_message(s, host);
  });
  s.run("windows and files", [&] { windows_and_files(s); });
  MPI_Comm_free(&host);
  return s.finish();
}
