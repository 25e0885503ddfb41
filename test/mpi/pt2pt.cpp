// SPDX-License-Identifier: BSD-3-Clause
// Every form of sending against every form of receiving, for every pair of memory kinds, all sizes
// that a protocol could switch at, offsets into the allocation, and receive buffers larger than the
// message. Nothing but the received bytes may change.
#include <cstdlib>
#include <cstring>

#include "pt2pt.hpp"

using namespace pt2pt_test;

namespace {

constexpr std::size_t large = 65536;  // from here on the combinations are always thinned

struct shape {
  std::size_t send_offset, receive_offset, slack;
};
constexpr shape shapes[] = {{0, 0, 0}, {1, 0, 600}, {8, 3, 1}};

class tester {
 public:
  explicit tester(suite& s)
      : s_(s),
        outgoing_(one_of_each_kind(5 * mebibyte + 64)),
        incoming_(one_of_each_kind(5 * mebibyte + 1024)) {}

  /// One direction at a time: even ranks to odd ones, then back.
  void all_pairs(const send_form& sf, receive_form rf) {
    ++case_;
    const int peer = s_.rank ^ 1;
    if (peer >= s_.ranks) return;
    for (int sender = 0; sender < 2; ++sender)
      for (std::size_t from = 0; from < outgoing_.size(); ++from)
        for (std::size_t to = 0; to < incoming_.size(); ++to)
          all_sizes(sf, rf, {s_.rank % 2 == sender, peer, from, to});
  }

 private:
  struct route {
    bool sends;
    int peer;
    std::size_t from, to;  // indices of the kinds
  };

  bool thinned(std::size_t size, std::size_t variant, const route& l) const {
    if (s_.opt.full || (sizes[size] < large && !thinned_)) return false;
    const std::size_t pairs = outgoing_.size() * incoming_.size();
    const std::size_t pair = l.from * incoming_.size() + l.to;
    return variant != case_ % std::size(shapes) || (pair + size + case_) % pairs != 0;
  }

  void all_sizes(const send_form& sf, receive_form rf, const route& l) {
    for (std::size_t size = 0; size < std::size(sizes); ++size)
      for (std::size_t variant = 0; variant < std::size(shapes); ++variant) {
        if (thinned(size, variant, l)) continue;
        const std::size_t bytes = sizes[size];
        const shape& sh = shapes[variant];
        const int tag = static_cast<int>((size * 8 + variant) + 1);
        s_.note("%s to %s, %zu bytes, offsets %zu %zu, slack %zu, %s",
                name(outgoing_[l.from].memory()), name(incoming_[l.to].memory()), bytes,
                sh.send_offset, sh.receive_offset, sh.slack, l.sends ? "sending" : "receiving");
        const envelope e{l.peer, tag, MPI_COMM_WORLD};
        if (l.sends)
          send(sf, rf, outgoing_[l.from], bytes, sh, e);
        else
          receive(sf, rf, incoming_[l.to], bytes, sh, e);
      }
  }

  std::uint64_t id(const envelope& e, bool sends) const {
    const int sender = sends ? s_.rank : e.peer;
    return mix(s_.opt.seed) + case_ * 4096 + static_cast<std::uint64_t>(e.tag * 64 + sender);
  }

  void send(const send_form& sf, receive_form rf, buffer& b, std::size_t bytes, const shape& sh,
            const envelope& e) {
    b.place(sh.send_offset, bytes);
    b.fill(id(e, true));
    if (sf.ready && posts(rf))
      MPI_Recv(nullptr, 0, MPI_BYTE, e.peer, 0, s_.control, MPI_STATUS_IGNORE);
    pending p = start(sf, b.data(), bytes, e);
    finish(p);
    b.fill(~id(e, true));  // what was sent must not depend on the buffer any more
  }

  void receive(const send_form& sf, receive_form rf, buffer& b, std::size_t bytes, const shape& sh,
               const envelope& e) {
    b.place(sh.receive_offset, bytes + sh.slack);
    b.clear();
    probed_size probed;
    pending p = start(rf, b.data(), bytes + sh.slack, e, probed);
    if (sf.ready && posts(rf)) MPI_Send(nullptr, 0, MPI_BYTE, e.peer, 0, s_.control);
    finish(p);
    if (probed.got >= 0) s_.expect_equal(probed.got, static_cast<long long>(bytes), "probed size");
    s_.expect_status(p.status, e.peer, e.tag, bytes);
    s_.expect_none(b.compare(id(e, false), bytes));
  }

  suite& s_;
  // More ranks and forced paths come on top of a run with every combination: some of each are
  // enough.
  const bool thinned_ = s_.ranks > 2 || std::getenv("TELPHER_PATH") != nullptr;
  std::vector<buffer> outgoing_, incoming_;
  std::size_t case_ = 0;
};

/// Open MPI 4.1 itself delivers other bytes of a buffered send of host memory that is started
/// again.
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
constexpr bool host_mpi_restarts_bsend = false;
#else
constexpr bool host_mpi_restarts_bsend = true;
#endif

/// A receive with room for more bytes than an int counts takes what comes, little as it is.
void roomy_receives(suite& s) {
  constexpr int room = (1 << 28) + 1000;
  const kind to = kinds().back();
  void* const in = try_allocate(to, std::size_t{room} * sizeof(double));
  int mine = in != nullptr, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, s.control);
  // The emulated device has that much memory only where a test asks for it.
  s.expect(all != 0 || s.opt.words.empty(), "an allocation of 2 GiB");
  const int peer = s.rank ^ 1;
  for (kind from : kinds())
    for (int doubles : {1, 60, 20000}) {
      if (all == 0 || peer >= s.ranks) continue;
      const std::size_t bytes = static_cast<std::size_t>(doubles) * sizeof(double);
      std::vector<unsigned char> got(bytes), wanted(bytes);
      write_pattern(s.opt.seed + bytes + static_cast<unsigned>(peer), wanted.data(), bytes);
      buffer out(from, bytes);
      out.fill(s.opt.seed + bytes + static_cast<unsigned>(s.rank));
      for (receive_form f : {receive_form::recv, receive_form::irecv, receive_form::mrecv}) {
        s.note("%s from %s, %zu bytes", name(f), name(from), bytes);
        MPI_Request sent, received;
        MPI_Status status{};
        MPI_Message message;
        copy(to, in, got.data(), bytes);
        const bool posts_first = f == receive_form::irecv;
        if (posts_first) MPI_Irecv(in, room, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &received);
        MPI_Isend(out.data(), doubles, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &sent);
        if (posts_first) {
          MPI_Wait(&received, &status);
        } else if (f == receive_form::recv) {
          MPI_Recv(in, room, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &status);
        } else {
          MPI_Mprobe(peer, 9, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
          MPI_Mrecv(in, room, MPI_DOUBLE, &message, &status);
        }
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        s.expect_status(status, peer, 9, bytes);
        copy(to, got.data(), in, bytes);
        s.expect_none(difference(got.data(), wanted.data(), bytes, "content"));
        std::fill(got.begin(), got.end(), static_cast<unsigned char>(0));
      }
    }
  if (in != nullptr) release(to, in);
}

/// A persistent pair started many times, with new content each time, by Start and by Startall.
void restarts(suite& s, const send_form& sf) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind from : kinds()) {
    if (sf.buffered && from != kind::device && !host_mpi_restarts_bsend) continue;
    for (kind to : kinds())
      for (std::size_t bytes :
           {std::size_t{0}, std::size_t{100}, std::size_t{480}, std::size_t{70000}}) {
        s.note("%s to %s, %zu bytes", name(from), name(to), bytes);
        buffer out(from, bytes), in(to, bytes + 16);
        MPI_Request requests[2];
        MPI_Recv_init(in.data(), as_int(bytes + 16), MPI_BYTE, peer, 7, MPI_COMM_WORLD,
                      &requests[0]);
        sf.requesting(out.data(), as_int(bytes), MPI_BYTE, peer, 7, MPI_COMM_WORLD, &requests[1]);
        for (std::uint64_t round = 0; round < 6; ++round) {
          const std::uint64_t id = s.opt.seed + round * 16;
          out.fill(id + static_cast<std::uint64_t>(s.rank));
          in.clear();
          if (sf.ready || round % 2 == 0) {
            MPI_Start(&requests[0]);
            if (sf.ready) s.meet(peer);
            MPI_Start(&requests[1]);
          } else {
            MPI_Startall(2, requests);
          }
          MPI_Status statuses[2];
          MPI_Waitall(2, requests, statuses);
          s.expect_status(statuses[0], peer, 7, bytes);
          s.expect_none(in.compare(id + static_cast<std::uint64_t>(peer), bytes));
          s.expect(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL,
                   "a persistent request survives its completion");
        }
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
      }
  }
}

/// No bytes, and a null buffer, from and to every kind.
void nothing(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind k : kinds()) {
    buffer b(k, 64);
    b.clear();
    for (void* out : {static_cast<void*>(b.data()), static_cast<void*>(nullptr)})
      for (void* in : {static_cast<void*>(b.data()), static_cast<void*>(nullptr)}) {
        s.note("%s, %s to %s", name(k), out ? "buffer" : "null", in ? "buffer" : "null");
        MPI_Status status;
        MPI_Sendrecv(out, 0, MPI_DOUBLE, peer, 1, in, 0, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD,
                     &status);
        s.expect_status(status, peer, 1, 0);
      }
    s.expect_none(b.compare(0, 0));
  }
}

// MPI 4.1: a communicator's info names the kinds of memory that its calls take.
void memory_kinds(suite& s) {
  if (kinds().back() != kind::device) return;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm_get_info(MPI_COMM_WORLD, &info);
  char text[MPI_MAX_INFO_VAL + 1] = {};
  int found = 0;
  MPI_Info_get(info, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, text, &found);
  MPI_Info_free(&info);
  s.note("mpi_memory_alloc_kinds is %s", text);
  s.expect(found && std::strstr(text, "system") && std::strstr(text, "mpi"), "the host's kinds");
  s.expect(std::strstr(text, ":device") != nullptr, "a kind of device memory");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  {
    const attached_buffer attached(12 * mebibyte);
    tester t(s);
    for (const send_form& sf : send_forms)
      for (receive_form rf : receive_forms) {
        if (sf.ready && !posts(rf)) continue;
        const std::string pair = std::string(sf.name) + " " + name(rf);
        s.run(pair, [&] { t.all_pairs(sf, rf); });
        s.run("self " + pair, [&] {
          if (sf.blocking == nullptr || sf.buffered || posts(rf)) to_self(s, sf, rf);
        });
      }
    for (const send_form& sf : send_forms)
      if (sf.persistent) s.run(std::string("restart ") + sf.name, [&] { restarts(s, sf); });
    combined_calls(s);
    s.run("MPI_PROC_NULL", [&] { proc_null(s); });
    s.run("MPI_PROC_NULL, no memory", [&] { no_memory(s); });
    s.run("nothing", [&] { nothing(s); });
    s.run("roomy receives", [&] { roomy_receives(s); });
    s.run("memory kinds", [&] { memory_kinds(s); });
  }
  return s.finish();
}
