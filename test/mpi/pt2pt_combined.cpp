// SPDX-License-Identifier: BSD-3-Clause
// A rank that sends and receives in one call, messages to oneself, and from and to nobody.
#include "pt2pt.hpp"

namespace pt2pt_test {
namespace {

enum class both { sendrecv, sendrecv_replace, isendrecv, isendrecv_replace };

constexpr both combined_forms[] = {
    both::sendrecv,
    both::sendrecv_replace,
#if MPI_TEST_HAS_MPI_4
    both::isendrecv,
    both::isendrecv_replace,
#endif
};

const char* name(both f) {
  static constexpr const char* names[] = {"Sendrecv", "Sendrecv_replace", "Isendrecv",
                                          "Isendrecv_replace"};
  return names[static_cast<int>(f)];
}

MPI_Status exchange(both f, buffer& out, buffer& in, int peer, int tag) {
  const int sent = as_int(out.bytes());
  const int room = as_int(in.bytes());
  MPI_Status status{};
  MPI_Comm comm = MPI_COMM_WORLD;
  switch (f) {
    case both::sendrecv:
      MPI_Sendrecv(out.data(), sent, MPI_BYTE, peer, tag, in.data(), room, MPI_BYTE, peer, tag,
                   comm, &status);
      break;
    case both::sendrecv_replace:
      MPI_Sendrecv_replace(in.data(), sent, MPI_BYTE, peer, tag, peer, tag, comm, &status);
      break;
#if MPI_TEST_HAS_MPI_4
    case both::isendrecv: {
      MPI_Request request;
      MPI_Isendrecv(out.data(), sent, MPI_BYTE, peer, tag, in.data(), room, MPI_BYTE, peer, tag,
                    comm, &request);
      MPI_Wait(&request, &status);
      break;
    }
    case both::isendrecv_replace: {
      MPI_Request request;
      MPI_Isendrecv_replace(in.data(), sent, MPI_BYTE, peer, tag, peer, tag, comm, &request);
      MPI_Wait(&request, &status);
      break;
    }
#else
    default:
      break;
#endif
  }
  return status;
}

bool replaces(both f) {
  return f == both::sendrecv_replace || f == both::isendrecv_replace;
}

bool blocks(both f) {
  return f == both::sendrecv || f == both::sendrecv_replace;
}

/// Ranks exchange with `peer` (which may be the rank itself) in the combined forms.
void combined(suite& s, both f, int peer) {
  if (peer >= s.ranks) return;
  for (kind from : kinds())
    for (kind to : kinds()) {
      if (replaces(f) && from != to) continue;
      for (std::size_t bytes : sizes) {
        if (bytes > mebibyte + 3 && !s.opt.full) continue;
        s.note("%s to %s, %zu bytes", name(from), name(to), bytes);
        const std::uint64_t id = s.opt.seed * 1000 + bytes;
        buffer out(from, bytes, 5), in(to, bytes, 2);
        out.fill(id + static_cast<std::uint64_t>(s.rank));
        in.clear();
        if (replaces(f)) in.fill(id + static_cast<std::uint64_t>(s.rank));
        const MPI_Status status = exchange(f, out, in, peer, 12);
        // MPICH 5.0.2 leaves the status of Isendrecv as it was, also between host buffers.
        if (blocks(f) || !s.mpich) s.expect_status(status, peer, 12, bytes);
        s.expect_none(in.compare(id + static_cast<std::uint64_t>(peer), bytes));
      }
    }
}

}  // namespace

void combined_calls(suite& s) {
  for (both f : combined_forms) {
    s.run(name(f), [&] { combined(s, f, s.rank ^ 1); });
    s.run(std::string("self ") + name(f), [&] { combined(s, f, s.rank); });
  }
}

static void expect_empty(suite& s, const MPI_Status& status) {
  s.expect_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

void proc_null(suite& s) {
  for (kind k : kinds()) {
    buffer b(k, 4096);
    b.clear();
    for (const send_form& f : send_forms) {
      s.note("%s from %s", f.name, name(k));
      pending p = start(f, b.data(), b.bytes(), {MPI_PROC_NULL, 3, MPI_COMM_WORLD});
      finish(p);
    }
    for (receive_form f : receive_forms) {
      s.note("%s into %s", name(f), name(k));
      probed_size probed;
      pending p = start(f, b.data(), b.bytes(), {MPI_PROC_NULL, 3, MPI_COMM_WORLD}, probed);
      finish(p);
      // MPICH 5.0.2 gives the empty status of an inactive request here.
      if (f != receive_form::recv_init || !s.mpich) expect_empty(s, p.status);
    }
    for (both f : combined_forms) {
      s.note("%s on %s", name(f), name(k));
      buffer other(k, 4096);
      const MPI_Status status = exchange(f, other, b, MPI_PROC_NULL, 3);
      if (blocks(f) || !s.mpich) expect_empty(s, status);
    }
    std::vector<unsigned char> untouched(b.bytes(), guard_byte);
    s.expect_none(b.compare(untouched.data()));
  }
}

/// At the edge of a domain the buffer of a receive from nobody may be any address.
void no_memory(suite& s) {
  void* const nowhere = reinterpret_cast<void*>(16);
  MPI_Status status{};
  s.note("Sendrecv");
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 8, nowhere, 1000, MPI_BYTE, MPI_PROC_NULL, 8,
               MPI_COMM_WORLD, &status);
  expect_empty(s, status);
  for (receive_form f : receive_forms) {
    s.note("%s", name(f));
    probed_size probed;
    pending p = start(f, nowhere, 1000, {MPI_PROC_NULL, 8, MPI_COMM_WORLD}, probed);
    finish(p);
    if (f != receive_form::recv_init || !s.mpich) expect_empty(s, p.status);
  }
}

/// Messages to oneself, the send first and the receive first.
void to_self(suite& s, const send_form& sf, receive_form rf) {
  if (sf.ready && !posts(rf)) return;
  for (kind from : kinds())
    for (kind to : kinds())
      for (std::size_t bytes :
           {std::size_t{0}, std::size_t{9}, std::size_t{480}, std::size_t{100000}}) {
        s.note("%s to %s, %zu bytes", name(from), name(to), bytes);
        buffer out(from, bytes, 1), in(to, bytes + 33);
        out.fill(s.opt.seed + bytes);
        in.clear();
        const envelope e{s.rank, 5, MPI_COMM_WORLD};
        probed_size probed;
        pending sent, received;
        if (posts(rf)) received = start(rf, in.data(), in.bytes(), e, probed);
        sent = start(sf, out.data(), bytes, e);
        if (!posts(rf)) received = start(rf, in.data(), in.bytes(), e, probed);
        finish(received);
        finish(sent);
        if (probed.got >= 0)
          s.expect_equal(probed.got, static_cast<long long>(bytes), "probed size");
        s.expect_status(received.status, s.rank, 5, bytes);
        s.expect_none(in.compare(s.opt.seed + bytes, bytes));
      }
}

}  // namespace pt2pt_test
