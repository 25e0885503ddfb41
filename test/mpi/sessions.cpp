// SPDX-License-Identifier: BSD-3-Clause
// Programs with sessions: device memory on their communicators, in programs that never call
// MPI_Init and beside it, and again after everything was finalized.
//   test_sessions alone|twice|overlapping|before|beside
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "mpi_4.hpp"
#include "session_parts.hpp"

#if MPI_TEST_HAS_MPI_4

using namespace mpi_test;
using session_test::expect, session_test::expect_none, session_test::failures, session_test::place;

namespace {

/// Messages, a collective and partitions round a ring of the communicator's ranks.
void use(MPI_Comm comm, const char* what) {
  const place p(comm);
  const kind k = kinds().back();
  expect(k == kind::device, "there is no device memory");
  const int next = p.next(), before = p.before();
  for (const std::size_t bytes : {8ul, 3000ul, 400000ul}) {
    buffer out(k, bytes), in(k, bytes);
    out.fill(static_cast<std::uint64_t>(p.rank + 1));
    in.clear();
    const int n = static_cast<int>(bytes);
    MPI_Sendrecv(out.data(), n, MPI_BYTE, next, 1, in.data(), n, MPI_BYTE, before, 1, comm,
                 MPI_STATUS_IGNORE);
    expect_none(in.compare(static_cast<std::uint64_t>(before + 1), bytes), what);
    in.clear();
    MPI_Request both[2];
    MPI_Psend_init(out.data(), 2, static_cast<MPI_Count>(bytes / 2), MPI_BYTE, next, 1, comm,
                   MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(in.data(), 1, static_cast<MPI_Count>(bytes), MPI_BYTE, before, 1, comm,
                   MPI_INFO_NULL, &both[1]);
    MPI_Startall(2, both);
    MPI_Pready_range(0, 1, both[0]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    expect_none(in.compare(static_cast<std::uint64_t>(before + 1), bytes), what);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
  }
  std::array<int, 64> values{}, wanted{};
  buffer each(k, sizeof values), sum(k, sizeof values);
  values.fill(p.rank + 1);
  wanted.fill(p.size * (p.size + 1) / 2);
  each.write(reinterpret_cast<unsigned char*>(values.data()), sizeof values);
  sum.clear();
  MPI_Allreduce(each.data(), sum.data(), 64, MPI_INT, MPI_SUM, comm);
  expect_none(sum.compare(reinterpret_cast<unsigned char*>(wanted.data())), what);
}

MPI_Comm from_set(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group_from_session_pset(session, set, &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

/// Before there is a communicator.
void expect_kinds(MPI_Session handle) {
  MPI_Info info = MPI_INFO_NULL;
  char text[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  MPI_Session_get_info(handle, &info);
  MPI_Info_get(info, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, text, &found);
  MPI_Info_free(&info);
  expect(found && std::strstr(text, "system") && std::strstr(text, device_kind().c_str()),
         "the session's kinds of memory");
}

struct session {
  MPI_Session handle = MPI_SESSION_NULL;
  MPI_Comm world = MPI_COMM_NULL;
  explicit session(const char* tag) {
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &handle) != MPI_SUCCESS) {
      std::printf("FAILED sessions: MPI_Session_init\n");
      std::_Exit(1);
    }
    expect_kinds(handle);
    world = from_set(handle, "mpi://WORLD", tag);
  }
  void end() {
    MPI_Comm_free(&world);
    MPI_Session_finalize(&handle);
  }
};

/// Device memory as the buffer of a session's buffered sends.
void attach(MPI_Session handle) {
  (void)handle;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  buffer room(kinds().back(), 10000);
  void* given = nullptr;
  int bytes = 0;
  MPI_Session_attach_buffer(handle, room.data(), 10000);
  MPI_Session_detach_buffer(handle, &given, &bytes);
  expect(given == room.data() && bytes == 10000, "the session's buffer is not what was attached");
  MPI_Count large = 0;
  MPI_Session_attach_buffer_c(handle, room.data(), 10000);
  MPI_Session_detach_buffer_c(handle, &given, &large);
  expect(given == room.data() && large == 10000, "nor is it by the forms with large counts");
#endif
}

/// The world, a copy of it, this process alone and every second process.
void all_of(session& s) {
  use(s.world, "the world");
  MPI_Comm copy, half, self = from_set(s.handle, "mpi://SELF", "alone");
  MPI_Comm_dup(s.world, &copy);
  MPI_Comm_split(s.world, place(s.world).rank % 2, 0, &half);
  use(copy, "a copy");
  use(half, "a half");
  use(self, "alone");
  attach(s.handle);
  MPI_Comm_free(&self);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
}

void alone() {
  session s("first");
  all_of(s);
  s.end();
}

void overlapping() {
  session first("first"), second("second");
  use(first.world, "the first of two");
  first.end();
  use(second.world, "the second when the first has ended");
  second.end();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "alone";
  if (how == "alone") {
    alone();
  } else if (how == "twice") {
    alone();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // docs/use/limitations.md
    alone();
  } else if (how == "overlapping") {
    overlapping();
  } else if (how == "before") {  // MPI_Init while a session made the job
    session s("before");
    use(s.world, "before MPI_Init");
    MPI_Init(&argc, &argv);
    use(MPI_COMM_WORLD, "MPI_COMM_WORLD beside a session");
    MPI_Finalize();
    use(s.world, "after MPI_Finalize");
    s.end();
  } else {  // a session while MPI_Init made the job
    MPI_Init(&argc, &argv);
    session s("beside");
    all_of(s);
    s.end();
    use(MPI_COMM_WORLD, "MPI_COMM_WORLD after a session");
    MPI_Finalize();
  }
  if (failures == 0) std::printf("ok sessions/%s\n", how.c_str());
  return failures == 0 ? 0 : 1;
}

#else

int main() {
  std::puts("this MPI has no sessions");
  return 77;
}

#endif
