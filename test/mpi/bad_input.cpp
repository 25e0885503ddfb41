// SPDX-License-Identifier: BSD-3-Clause
// What must fail, and how: forged and damaged tickets, calls that do not take device memory,
// injected faults, and (cases run by bad_input.py only) a rank that dies in the middle of a
// message, or comes no more. Each has its clear error or falls back to another way with the right
// bytes; nothing crashes or hangs.
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "forms.hpp"
#include "returned_errors.hpp"

using namespace mpi_test;

namespace {

constexpr std::size_t sizes_of_tickets[] = {48, 480};

std::uint64_t identity(const suite& s, int sender, std::size_t step) {
  return mix(s.opt.seed) + step * 64 + static_cast<std::uint64_t>(sender);
}

/// Host bytes of a ticket's size that are no ticket arrive as they are, in every kind of memory.
void garbage(suite& s, std::size_t ticket_bytes) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind to : kinds())
    for (std::size_t step = 0; step < 20; ++step)
      for (receive_form f : receive_forms) {
        s.note("%s into %s, step %zu", name(f), name(to), step);
        buffer out(kind::host, ticket_bytes), in(to, ticket_bytes + 100);
        out.fill(identity(s, s.rank, step));
        if (step == 0) std::memset(out.data(), 0, ticket_bytes);
        if (step == 1) std::memset(out.data(), 0xff, ticket_bytes);
        in.clear();
        MPI_Request request;
        MPI_Isend(out.data(), as_int(ticket_bytes), MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
        probed_size probed;
        pending p = start(f, in.data(), in.bytes(), {peer, 1, MPI_COMM_WORLD}, probed);
        finish(p);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        s.expect_status(p.status, peer, 1, ticket_bytes);
        if (step >= 2) s.expect_none(in.compare(identity(s, peer, step), ticket_bytes));
      }
}

using test_ticket = int(void*, int);

/// Tickets are looked for only where a device message has been.
void begin_tickets(int peer, int tag) {
  buffer first(kinds().back(), 70000), there(kinds().back(), 70000);
  MPI_Sendrecv(first.data(), 70000, MPI_BYTE, peer, tag, there.data(), 70000, MPI_BYTE, peer, tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// What the peer's next ticket is, in a form that is none.
void tell_of_ticket(suite& s, int peer, const std::vector<unsigned char>& own,
                    std::vector<unsigned char>& theirs) {
  std::vector<unsigned char> told(own), heard(own.size());
  std::reverse(told.begin(), told.end());
  MPI_Sendrecv(told.data(), as_int(told.size()), MPI_BYTE, peer, 1, heard.data(),
               as_int(heard.size()), MPI_BYTE, peer, 1, s.control, MPI_STATUS_IGNORE);
  std::reverse_copy(heard.begin(), heard.end(), theirs.begin());
}

/// Where a receive has failed, a ticket may have come into the buffer, and nothing behind it.
void expect_ticket_alone(suite& s, const buffer& in, std::size_t ticket_bytes) {
  std::vector<unsigned char> held(in.bytes(), guard_byte);
  copy(in.memory(), held.data(), in.data(), ticket_bytes);
  s.expect_none(in.compare(held.data()));
}

/// A ticket with the job's nonce whose other bytes were changed: an MPI error, or the plain bytes
/// if the nonce itself was hit, but never a wild copy; and the next message is as good as ever.
void damaged_tickets(suite& s, test_ticket* make, std::size_t ticket_bytes) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const returned_errors returned;
  begin_tickets(peer, 2);
  int errors = 0;
  for (kind to : kinds())
    for (std::size_t at = 0; at < ticket_bytes; at += 3) {
      s.note("byte %zu of a ticket changed, into %s", at, name(to));
      std::vector<unsigned char> ticket(ticket_bytes), theirs(4000, guard_byte);
      s.expect_equal(make(ticket.data(), as_int(ticket_bytes)), 0, "telpher_test_ticket");
      ticket[at] = static_cast<unsigned char>(ticket[at] ^ (1u << (at % 8)));
      tell_of_ticket(s, peer, ticket, theirs);
      buffer in(to, 4000), out(to, 4000), after(to, 4000);
      in.clear();
      after.clear();
      out.fill(identity(s, s.rank, at));
      MPI_Request requests[2];
      MPI_Isend(ticket.data(), as_int(ticket_bytes), MPI_BYTE, peer, 2, MPI_COMM_WORLD,
                &requests[0]);
      MPI_Isend(out.data(), 4000, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Status status;
      const int code = MPI_Recv(in.data(), 4000, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &status);
      if (code == MPI_SUCCESS) {
        s.expect_status(status, peer, 2, ticket_bytes);
        s.expect_none(in.compare(theirs.data()));
      } else {
        ++errors;
        expect_ticket_alone(s, in, ticket_bytes);
      }
      s.expect_class(MPI_Recv(after.data(), 4000, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &status),
                     MPI_SUCCESS, "the message behind");
      s.expect_none(after.compare(identity(s, peer, at), 4000));
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  s.expect(errors > 0, "a damaged ticket is an error");
}

/// A whole, valid ticket sent as host bytes a second time: its slot is not ready, so an error.
/// A ticket cut short has another size than a ticket and is plain bytes.
void replayed_and_truncated_tickets(suite& s, test_ticket* make, std::size_t ticket_bytes) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const returned_errors returned;
  begin_tickets(peer, 3);
  std::vector<unsigned char> ticket(ticket_bytes);
  s.expect_equal(make(ticket.data(), as_int(ticket_bytes)), 0, "telpher_test_ticket");
  for (kind to : kinds()) {
    s.note("a replayed ticket into %s", name(to));
    buffer in(to, 4000);
    in.clear();
    for (int cut : {0, 1, 47}) {
      MPI_Request request;
      MPI_Isend(ticket.data(), as_int(ticket_bytes) - cut, MPI_BYTE, peer, 3, MPI_COMM_WORLD,
                &request);
      MPI_Status status;
      const int code = MPI_Recv(in.data(), 4000, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &status);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (cut == 0)
        s.expect(code != MPI_SUCCESS, "a ticket that nobody has sent is an error");
      else
        s.expect_status(status, peer, 3, ticket_bytes - static_cast<std::size_t>(cut));
    }
  }
}

void expect_refusal(suite& s, int code, const char* call) {
  s.note("%s with device memory", call);
  s.expect(code != MPI_SUCCESS, "an error");
}

/// Calls that do not take device memory: an error; bad_input.py looks for the line that names the
/// call.
void refused_calls(suite& s) {
  const returned_errors returned;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_memory_alloc_kinds", mpi_test::device_kind().c_str());
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  // Device memory at some ranks only.
  const MPI_Info asks = s.rank == 0 ? info : MPI_INFO_NULL;
  expect_refusal(s, MPI_Win_allocate_shared(4096, 1, asks, MPI_COMM_WORLD, &base, &window),
                 "MPI_Win_allocate_shared");
  MPI_Info_free(&info);
}

/// MPI_IN_PLACE where it means nothing, beside device memory: an error, and the buffer keeps its
/// bytes.
void misplaced_in_place(suite& s) {
  const returned_errors returned;
  constexpr std::size_t bytes = 4096;
  constexpr int count = bytes / sizeof(int);
  buffer b(kinds().back(), bytes);
  b.clear();
  b.fill(identity(s, s.rank, 0));
  const auto expect_error = [&](const char* call, int code) {
    s.note("%s", call);
    s.expect(code != MPI_SUCCESS, "an error");
    s.expect_none(b.compare(identity(s, s.rank, 0), bytes));
  };
  const auto expect_buffer_error = [&](const char* call, int code) {
    expect_error(call, code);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    s.expect_equal(error_class, MPI_ERR_BUFFER, "the error's class");
  };
  expect_buffer_error("MPI_Reduce_local, input",
                      MPI_Reduce_local(MPI_IN_PLACE, b.data(), count, MPI_INT, MPI_SUM));
  expect_buffer_error("MPI_Reduce_local, output",
                      MPI_Reduce_local(b.data(), MPI_IN_PLACE, count, MPI_INT, MPI_SUM));
  expect_error("MPI_Scatter, input", MPI_Scatter(MPI_IN_PLACE, count, MPI_INT, b.data(), count,
                                                 MPI_INT, 0, MPI_COMM_SELF));
}

/// Right bytes under injected faults (TELPHER_TEST_EMU_FAULTS is set by the test's row).
void right_in_spite_of_faults(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (int round = 0; round < 5; ++round)
    for (kind from : kinds())
      for (kind to : kinds())
        for (std::size_t bytes :
             {std::size_t{100}, std::size_t{480}, std::size_t{20000}, std::size_t{900000}}) {
          s.note("round %d, %s to %s, %zu bytes", round, name(from), name(to), bytes);
          buffer out(from, bytes), in(to, bytes);
          const std::size_t step = bytes + static_cast<std::size_t>(round);
          out.fill(identity(s, s.rank, step));
          in.clear();
          MPI_Status status;
          MPI_Sendrecv(out.data(), as_int(bytes), MPI_BYTE, peer, 4, in.data(), as_int(bytes),
                       MPI_BYTE, peer, 4, MPI_COMM_WORLD, &status);
          s.expect_status(status, peer, 4, bytes);
          s.expect_none(in.compare(identity(s, peer, step), bytes));
        }
}

/// A device allocation larger than the device fails with an error code, and nothing else breaks.
void out_of_memory(suite& s) {
  void* address = nullptr;
  const int error = functions().allocate(&address, std::size_t{1} << 50, TELPHER_MEMORY_DEVICE);
  s.expect(error != 0, "an impossible allocation is refused");
  right_in_spite_of_faults(s);
}

/// Rank 1 dies while its peers have messages with it under way; the launcher must end the job.
[[noreturn]] void die_in_transfer(suite& s) {
  std::vector<buffer> out, in;
  std::vector<MPI_Request> requests;
  const kind k = kinds().back();
  for (int i = 0; i < 8; ++i) {
    const int peer = (s.rank + 1) % s.ranks, source = (s.rank + s.ranks - 1) % s.ranks;
    out.emplace_back(k, 3000000);
    in.emplace_back(k, 3000000);
    requests.resize(requests.size() + 2);
    MPI_Irecv(in.back().data(), 3000000, MPI_BYTE, source, i, MPI_COMM_WORLD,
              &requests[requests.size() - 2]);
    MPI_Isend(out.back().data(), 3000000, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests.back());
  }
  if (s.rank == 1) std::raise(SIGKILL);
  for (;;) {  // more messages, none of which can complete for ever
    MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    MPI_Recv(in[0].data(), 8, MPI_BYTE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/// Rank 1 begins to receive and stands still in the middle. Rank 0 gets an MPI error
/// (TELPHER_TRANSFER_TIMEOUT).
[[noreturn]] void stand_still(const suite& s) {
  constexpr int bytes = 60000000;
  const buffer one(kinds().back(), bytes);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(s.control);
  if (s.rank == 0) {
    const int code = MPI_Send(one.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    std::printf("%s\n", code == MPI_SUCCESS ? "nothing happened" : "an MPI error");
    std::fflush(stdout);
    usleep(300000);  // a launcher may lose what is said just before
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Request request;
  MPI_Irecv(one.data(), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
  for (int i = 0, ended = 0; i < 5; ++i, usleep(2000))
    MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
  for (;;) pause();
}

/// Rank 1 makes some calls and then no more; a device message or a sum of rank 0 waits for it. The
/// library must end the job (TELPHER_WAIT_TIMEOUT).
[[noreturn]] void wait_for_nobody(const suite& s, bool collective) {
  const buffer out(kinds().back(), 4096), in(kinds().back(), 4096);
  for (int call = 0; s.rank == 0 || call < 3; ++call) {
    if (collective)
      MPI_Allreduce(out.data(), in.data(), 1024, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (s.rank < 2)
      MPI_Sendrecv(out.data(), 4096, MPI_BYTE, 1 - s.rank, 1, in.data(), 4096, MPI_BYTE, 1 - s.rank,
                   1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.opt.words.empty() && s.opt.words[0].starts_with("nobody"))
    wait_for_nobody(s, s.opt.words[0] == "nobody-in-a-sum");
  if (!s.opt.words.empty() && s.opt.words[0] == "die") die_in_transfer(s);
  if (!s.opt.words.empty() && s.opt.words[0] == "stand-still") stand_still(s);
  const bool device = kinds().back() == kind::device;
  s.run("garbage of a ticket's size", [&] {
    for (const std::size_t bytes : sizes_of_tickets) garbage(s, bytes);
  });
  if (auto* make = reinterpret_cast<test_ticket*>(dlsym(RTLD_DEFAULT, "telpher_test_ticket"))) {
    s.run("damaged tickets", [&] {
      for (const std::size_t bytes : sizes_of_tickets) damaged_tickets(s, make, bytes);
    });
    s.run("replayed and truncated tickets", [&] {
      for (const std::size_t bytes : sizes_of_tickets)
        replayed_and_truncated_tickets(s, make, bytes);
    });
  } else if (s.rank == 0) {
    std::printf("# skipped: tickets, no telpher_test_ticket in this process\n");
  }
  if (device) {
    s.run("refused calls", [&] { refused_calls(s); });
    s.run("misplaced MPI_IN_PLACE", [&] { misplaced_in_place(s); });
    s.run("out of memory", [&] { out_of_memory(s); });
  }
  s.run("right in spite of faults", [&] { right_in_spite_of_faults(s); });
  return s.finish();
}
