// SPDX-License-Identifier: BSD-3-Clause
// Programs with sessions whose communicators have not all processes: device memory on those that
// are made before the first one of all processes, used before and after it, and where there is
// never such a one.
//   test_sessions_apart never|across|init|thread|again
// TEST_UNLIKE=device: rank 1 has no device; slots: rank 0 has fewer message slots.
#include <dlfcn.h>

#include <chrono>
#include <thread>

#include "mpi_4.hpp"
#include "on_any_comm.hpp"
#include "session_parts.hpp"

#if MPI_TEST_HAS_MPI_4

using namespace session_test;
using namespace mpi_test;

namespace {

MPI_Session session = MPI_SESSION_NULL;

void open_session() {
  MPI_Info threads;
  MPI_Info_create(&threads);
  MPI_Info_set(threads, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session_init(threads, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Info_free(&threads);
}

template <class Member>
MPI_Group group_of(Member&& member) {
  MPI_Group world, part;
  int size = 0;
  std::vector<int> ranks;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_size(world, &size);
  for (int r = 0; r < size; ++r)
    if (member(r, size)) ranks.push_back(r);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &part);
  MPI_Group_free(&world);
  return part;
}

int rank_in_world() {
  MPI_Group world;
  int rank = 0;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_rank(world, &rank);
  MPI_Group_free(&world);
  return rank;
}

/// Of the processes for which `member` is true; null on the others.
template <class Member>
MPI_Comm made_of(const char* tag, Member&& member) {
  MPI_Group group = group_of(member);
  int rank = MPI_UNDEFINED;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group_rank(group, &rank);
  if (rank != MPI_UNDEFINED)
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

MPI_Comm world_comm() {
  return made_of("all", [](int, int) { return true; });
}

/// This process alone, every second one, and all but the last.
struct parts {
  MPI_Comm self, half, most;
  explicit parts(const std::string& tag) {
    const int me = rank_in_world();
    self = made_of((tag + " self").c_str(), [&](int r, int) { return r == me; });
    half = made_of((tag + " half").c_str(), [&](int r, int) { return r % 2 == me % 2; });
    most = made_of((tag + " most").c_str(), [](int r, int size) { return r + 1 < size; });
  }
  void use_all(const char* when) const {
    const std::string at = std::string(" ") + when;
    use(self, ("this process" + at).c_str());
    use(half, ("a half" + at).c_str());
    if (most != MPI_COMM_NULL) use(most, ("all but one" + at).c_str());
  }
  void free() {
    for (MPI_Comm* c : {&self, &half, &most})
      if (*c != MPI_COMM_NULL) MPI_Comm_free(c);
  }
};

void use_derived(MPI_Comm from, const char* when) {
  const std::string at = std::string(" of a half, ") + when;
  MPI_Comm copy, split;
  MPI_Comm_dup(from, &copy);
  MPI_Comm_split(from, 0, -place(from).rank, &split);
  use(copy, ("a copy" + at).c_str());
  use(split, ("a split" + at).c_str());
  MPI_Comm_free(&copy);
  MPI_Comm_free(&split);
}

/// The first ranks of both halves exchange a message.
void use_between(const char* tag) {
  const int side = rank_in_world() % 2;
  MPI_Group own = group_of([&](int r, int) { return r % 2 == side; });
  MPI_Group other = group_of([&](int r, int) { return r % 2 != side; });
  MPI_Comm comm;
  MPI_Intercomm_create_from_groups(own, 0, other, 0, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                   &comm);
  MPI_Group_free(&own);
  MPI_Group_free(&other);
  if (place(comm).rank == 0) {
    buffer out(kinds().back(), 100000), in(kinds().back(), 100000);
    out.fill(static_cast<std::uint64_t>(side));
    in.clear();
    MPI_Sendrecv(out.data(), 100000, MPI_BYTE, 0, 1, in.data(), 100000, MPI_BYTE, 0, 1, comm,
                 MPI_STATUS_IGNORE);
    expect_none(in.compare(static_cast<std::uint64_t>(1 - side), 100000), "between the halves");
  }
  MPI_Comm_free(&comm);
}

void expect_class(int code, int wanted, const char* what) {
  if (code != MPI_SUCCESS) MPI_Error_class(code, &code);
  expect(code == wanted, what);
}

/// What cannot be done outside the job alone: an error, before any other rank is asked.
void refused(MPI_Comm comm) {
  constexpr std::size_t bytes = 4096;
  buffer shown(kinds().back(), bytes);
  shown.clear();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_memory_alloc_kinds", device_kind().c_str());
  void* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  expect_class(MPI_Win_allocate_shared(bytes, 1, info, comm, &base, &win), MPI_ERR_RMA_SHARED,
               "a shared window outside the job");
  MPI_Info_free(&info);
  MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  expect_class(MPI_Win_attach(win, shown.data(), bytes), MPI_ERR_RMA_ATTACH,
               "memory of a dynamic window outside the job");
  MPI_Win_free(&win);
  MPI_Win_create(shown.data(), bytes, 1, MPI_INFO_NULL, comm, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  using for_kernels = int(MPI_Win, const void**);
  auto* const device = reinterpret_cast<for_kernels*>(dlsym(RTLD_DEFAULT, "telpher_win_device"));
  const void* handle = nullptr;
  expect_class(device(win, &handle), MPI_ERR_UNSUPPORTED_OPERATION,
               "a window in kernels outside the job");
  int *model = nullptr, there = 0;
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &there);
  expect(there && *model == MPI_WIN_SEPARATE, "the memory model");
  MPI_Win_free(&win);
}

void never() {
  open_session();
  parts early("early");
  early.use_all("without a whole");
  if (!host_has_partitions) expect_none(on_any_comm::refusal(early.half), "partitions");
  if (kinds().back() == kind::device) refused(early.self);
  use_derived(early.half, "without a whole");
  use_between("between");
  early.free();
  MPI_Session_finalize(&session);
}

/// Messages whose one half, and persistent requests that, were begun before the job was joined.
struct under_way {
  MPI_Comm comm;
  place p;
  buffer out, in, again, repeated;
  MPI_Request receive, send, forms[2];

  explicit under_way(MPI_Comm c)
      : comm(c),
        p(c),
        out(kinds().back(), 400000),
        in(kinds().back(), 400000),
        again(kinds().back(), 400000),
        repeated(kinds().back(), 400000) {
    out.fill(static_cast<std::uint64_t>(p.rank + 1));
    for (buffer* b : {&in, &again, &repeated}) b->clear();
    MPI_Irecv(in.data(), 400000, MPI_BYTE, p.before(), 10, comm, &receive);
    MPI_Isend(out.data(), 400000, MPI_BYTE, p.next(), 11, comm, &send);
    MPI_Send_init(out.data(), 400000, MPI_BYTE, p.next(), 12, comm, &forms[0]);
    MPI_Recv_init(repeated.data(), 400000, MPI_BYTE, p.before(), 12, comm, &forms[1]);
    check_repeated("before");
  }
  void check_repeated(const char* when) {
    MPI_Startall(2, forms);
    MPI_Waitall(2, forms, MPI_STATUSES_IGNORE);
    check(repeated, (std::string("a persistent request ") + when).c_str());
  }
  void check(buffer& b, const char* what) const {
    expect_none(b.compare(static_cast<std::uint64_t>(p.before() + 1), b.bytes()), what);
    b.clear();
  }
  void end() {
    MPI_Send(out.data(), 400000, MPI_BYTE, p.next(), 10, comm);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    check(in, "a receive from before");
    MPI_Recv(again.data(), 400000, MPI_BYTE, p.before(), 11, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    check(again, "a send from before");
    check_repeated("after");
    MPI_Request_free(&forms[0]);
    MPI_Request_free(&forms[1]);
  }
};

/// A copy of a communicator that all but the first rank have, and use, before the job is joined.
struct copy_across {
  MPI_Comm comm = MPI_COMM_NULL;
  place p;
  buffer out, in;
  MPI_Request copied, both[2];

  explicit copy_across(MPI_Comm from)
      : p(from), out(kinds().back(), 400000), in(kinds().back(), 400000) {
    out.fill(static_cast<std::uint64_t>(p.rank + 1));
    in.clear();
    MPI_Comm_idup(from, &comm, &copied);
    if (p.rank > 0) post();
  }
  void post() {
    MPI_Wait(&copied, MPI_STATUS_IGNORE);
    MPI_Irecv(in.data(), 400000, MPI_BYTE, p.before(), 13, comm, &both[0]);
    MPI_Isend(out.data(), 400000, MPI_BYTE, p.next(), 13, comm, &both[1]);
  }
  void end() {
    if (p.rank == 0) post();
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    expect_none(in.compare(static_cast<std::uint64_t>(p.before() + 1), in.bytes()),
                "a message on a copy across the whole");
  }
};

/// Many messages at once, each of which may take a slot.
void burst(MPI_Comm comm) {
  constexpr int count = 100, bytes = 20000;
  const place p(comm);
  std::vector<buffer> out, in;
  std::vector<MPI_Request> all(2 * count);
  for (int i = 0; i < count; ++i) {
    out.emplace_back(kinds().back(), bytes);
    in.emplace_back(kinds().back(), bytes);
    out.back().fill(static_cast<std::uint64_t>(1000 * p.rank + i));
    in.back().clear();
    const auto at = static_cast<std::size_t>(i);
    MPI_Isend(out.back().data(), bytes, MPI_BYTE, p.next(), i, comm, &all[2 * at]);
    MPI_Irecv(in.back().data(), bytes, MPI_BYTE, p.before(), i, comm, &all[2 * at + 1]);
  }
  MPI_Waitall(2 * count, all.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i)
    expect_none(in[static_cast<std::size_t>(i)].compare(
                    static_cast<std::uint64_t>(1000 * p.before() + i), bytes),
                "one of many messages");
}

void across() {
  open_session();
  parts early("early");
  early.use_all("before the whole");
  copy_across copied(early.half);
  MPI_Comm split;
  MPI_Comm_split(early.half, 0, 0, &split);
  under_way on_half(early.half), on_self(early.self);
  MPI_Comm world = world_comm();
  copied.end();
  burst(world);
  on_half.end();
  on_self.end();
  use(world, "the whole");
  early.use_all("after the whole");
  use(copied.comm, "a copy across the whole");
  use(split, "a split from before the whole");
  use_derived(early.half, "after the whole");
  parts late("late");
  late.use_all("made after the whole");
  use_between("between, after the whole");
  MPI_Comm_free(&copied.comm);
  MPI_Comm_free(&split);
  late.free();
  early.free();
  MPI_Comm_free(&world);
  MPI_Session_finalize(&session);
}

void init(int* argc, char*** argv) {
  open_session();
  parts early("early");
  early.use_all("before MPI_Init");
  under_way on_half(early.half);
  MPI_Init(argc, argv);
  use(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  on_half.end();
  early.use_all("after MPI_Init");
  early.free();
  MPI_Session_finalize(&session);
  use(MPI_COMM_WORLD, "MPI_COMM_WORLD after the session");
  MPI_Finalize();
}

/// The job is joined while another thread waits in a call on a communicator from before.
void thread() {
  open_session();
  parts early("early");
  const place p(early.half);
  buffer out(kinds().back(), 100000), in(kinds().back(), 100000);
  out.fill(static_cast<std::uint64_t>(p.rank + 1));
  in.clear();
  std::thread receiver([&] {
    MPI_Recv(in.data(), 100000, MPI_BYTE, p.before(), 20, early.half, MPI_STATUS_IGNORE);
    MPI_Barrier(early.half);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  MPI_Comm world = world_comm();
  burst(world);
  MPI_Send(out.data(), 100000, MPI_BYTE, p.next(), 20, early.half);
  burst(world);
  receiver.join();
  expect_none(in.compare(static_cast<std::uint64_t>(p.before() + 1), 100000), "another thread's");
  use(world, "the whole");
  early.use_all("after the whole");
  early.free();
  MPI_Comm_free(&world);
  MPI_Session_finalize(&session);
}

void set_unlike(const std::string& what) {
  const char* rank = std::getenv("PMI_RANK");
  if (rank == nullptr) rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) return;
  if (what == "device" && std::atoi(rank) == 1) setenv("TELPHER_BACKEND", "none", 1);
  if (what == "slots" && std::atoi(rank) == 0) setenv("TELPHER_SLOTS", "16", 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "never";
  const char* const unlike = std::getenv("TEST_UNLIKE");
  if (unlike) set_unlike(unlike);
  if (!unlike) expect(kinds().back() == kind::device, "there is no device memory");
  if (how == "never") {
    never();
  } else if (how == "across") {
    across();
  } else if (how == "init") {
    init(&argc, &argv);
  } else if (how == "thread") {
    thread();
  } else {  // one after another
    never();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // docs/use/limitations.md
    across();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    never();
  }
  if (failures == 0) std::printf("ok sessions_apart/%s\n", how.c_str());
  return failures == 0 ? 0 : 1;
}

#else

int main() {
  std::puts("this MPI has no sessions");
  return 77;
}

#endif
