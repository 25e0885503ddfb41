// SPDX-License-Identifier: BSD-3-Clause
// Which message a receive or a probe gets: wildcards, order between messages of one sender whatever
// their sizes and kinds of memory, tags out of order, communicators of every sort, and probes that
// must report the payload's size. Host messages of exactly a ticket's size are part of every case.
#include <algorithm>

#include "forms.hpp"

using namespace mpi_test;

namespace {

constexpr std::size_t sizes[] = {0, 3, 48, 479, 480, 481, 2000, 480, 20000, 480, 150000};

/// What one sender sends as its i-th message; the receiver computes the same.
struct plan {
  std::size_t bytes;
  kind from, to;
  std::uint64_t id;
};

kind any_kind(random_numbers& random) {
  return kinds()[random.below(kinds().size())];
}

std::vector<plan> make_plan(const suite& s, int sender, std::size_t count, std::uint64_t salt) {
  random_numbers random(mix(s.opt.seed + salt) + static_cast<std::uint64_t>(sender));
  std::vector<plan> list(count);
  for (plan& p : list)
    p = {sizes[random.below(std::size(sizes))], any_kind(random), any_kind(random), random.next()};
  return list;
}

/// Messages under way from this rank; the buffers live until they are completed.
class outbox {
 public:
  void send(const plan& p, const envelope& e) {
    buffers_.emplace_back(p.from, p.bytes);
    buffers_.back().fill(p.id);
    requests_.emplace_back();
    MPI_Isend(buffers_.back().data(), as_int(p.bytes), MPI_BYTE, e.peer, e.tag, e.comm,
              &requests_.back());
  }
  void finish() {
    MPI_Waitall(as_int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    buffers_.clear();
  }

 private:
  std::vector<buffer> buffers_;
  std::vector<MPI_Request> requests_;
};

constexpr std::size_t room = 160000;

/// Receives one message in any form and checks it.
void receive_planned(suite& s, const plan& p, receive_form f, const envelope& from, int source,
                     int tag) {
  s.note("%s, %zu bytes, %s to %s, from %d tag %d", name(f), p.bytes, name(p.from), name(p.to),
         source, tag);
  buffer in(p.to, room);
  in.clear();
  probed_size probed;
  pending r = start(f, in.data(), room, from, probed);
  finish(r);
  if (probed.got >= 0) s.expect_equal(probed.got, static_cast<long long>(p.bytes), "probed size");
  s.expect_status(r.status, source, tag, p.bytes);
  s.expect_none(in.compare(p.id, p.bytes));
}

/// Rank 0 takes everything with both wildcards; each sender's messages must come in order.
void any_source_any_tag(suite& s, receive_form f, MPI_Comm comm) {
  constexpr std::size_t each = 24;
  if (s.rank != 0) {
    outbox out;
    int tag = 0;
    for (const plan& p : make_plan(s, s.rank, each, 1)) out.send(p, {0, tag++ % 5, comm});
    out.finish();
    return;
  }
  std::vector<std::vector<plan>> plans(static_cast<std::size_t>(s.ranks));
  for (int r = 1; r < s.ranks; ++r) plans[static_cast<std::size_t>(r)] = make_plan(s, r, each, 1);
  std::vector<std::size_t> next(static_cast<std::size_t>(s.ranks), 0);
  random_numbers random(s.opt.seed);
  for (std::size_t i = 0; i < each * (static_cast<std::size_t>(s.ranks) - 1); ++i) {
    s.note("%s, message %zu", name(f), i);
    buffer in(any_kind(random), room);
    in.clear();
    probed_size probed;
    pending r = start(f, in.data(), room, {MPI_ANY_SOURCE, MPI_ANY_TAG, comm}, probed);
    finish(r);
    const auto source = static_cast<std::size_t>(r.status.MPI_SOURCE);
    if (!s.expect(source > 0 && source < plans.size() && next[source] < each, "status source"))
      return;
    const plan& p = plans[source][next[source]];
    s.expect_status(r.status, as_int(source), as_int(next[source]++ % 5), p.bytes);
    if (probed.got >= 0) s.expect_equal(probed.got, static_cast<long long>(p.bytes), "probed size");
    s.expect_none(in.compare(p.id, p.bytes));
  }
}

/// Receives with wildcards are posted first, more than one sender fills them.
void posted_wildcards(suite& s) {
  constexpr std::size_t each = 16;
  MPI_Barrier(s.control);
  if (s.rank != 0) {
    MPI_Barrier(s.control);
    outbox out;
    for (const plan& p : make_plan(s, s.rank, each, 2)) out.send(p, {0, 9, MPI_COMM_WORLD});
    out.finish();
    return;
  }
  const std::size_t total = each * static_cast<std::size_t>(s.ranks - 1);
  random_numbers random(s.opt.seed);
  std::vector<buffer> in;
  std::vector<MPI_Request> requests(total);
  for (std::size_t i = 0; i < total; ++i) {
    in.emplace_back(any_kind(random), room);
    in.back().clear();
    MPI_Irecv(in.back().data(), as_int(room), MPI_BYTE, MPI_ANY_SOURCE, i % 2 ? 9 : MPI_ANY_TAG,
              MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Barrier(s.control);
  std::vector<MPI_Status> statuses(total);
  MPI_Waitall(as_int(total), requests.data(), statuses.data());
  std::vector<std::size_t> next(static_cast<std::size_t>(s.ranks), 0);
  for (std::size_t i = 0; i < total; ++i) {
    const int source = statuses[i].MPI_SOURCE;
    if (!s.expect(source > 0 && source < s.ranks, "status source")) return;
    const std::vector<plan> plans = make_plan(s, source, each, 2);
    const plan& p = plans[next[static_cast<std::size_t>(source)]++ % each];
    s.note("receive %zu, %zu bytes from %d", i, p.bytes, source);
    s.expect_status(statuses[i], source, 9, p.bytes);
    s.expect_none(in[i].compare(p.id, p.bytes));
  }
}

/// One sender, one tag, every size and kind next to every other: no message overtakes another.
void order(suite& s, receive_form f) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  constexpr std::size_t count = 60;
  outbox out;
  for (const plan& p : make_plan(s, s.rank, count, 3)) out.send(p, {peer, 4, MPI_COMM_WORLD});
  for (const plan& p : make_plan(s, peer, count, 3))
    receive_planned(s, p, f, {peer, 4, MPI_COMM_WORLD}, peer, 4);
  out.finish();
}

/// The same with all receives posted before, and waited for backwards.
void posted_order(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  constexpr std::size_t count = 60;
  const std::vector<plan> expected = make_plan(s, peer, count, 4);
  std::vector<buffer> in;
  std::vector<MPI_Request> requests(count);
  for (std::size_t i = 0; i < count; ++i) {
    in.emplace_back(expected[i].to, expected[i].bytes);
    in.back().clear();
    MPI_Irecv(in.back().data(), as_int(expected[i].bytes), MPI_BYTE, peer, 4, MPI_COMM_WORLD,
              &requests[i]);
  }
  outbox out;
  for (const plan& p : make_plan(s, s.rank, count, 4)) out.send(p, {peer, 4, MPI_COMM_WORLD});
  for (std::size_t i = count; i-- > 0;) {
    s.note("receive %zu, %zu bytes, %s to %s", i, expected[i].bytes, name(expected[i].from),
           name(expected[i].to));
    MPI_Status status;
    MPI_Wait(&requests[i], &status);
    s.expect_status(status, peer, 4, expected[i].bytes);
    s.expect_none(in[i].compare(expected[i].id, expected[i].bytes));
  }
  out.finish();
}

/// Tags are received in another order than they were sent.
void tags_out_of_order(suite& s, receive_form f) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  constexpr std::size_t count = 40;
  outbox out;
  int tag = 100;
  for (const plan& p : make_plan(s, s.rank, count, 5)) out.send(p, {peer, tag++, MPI_COMM_WORLD});
  const std::vector<plan> expected = make_plan(s, peer, count, 5);
  std::vector<std::size_t> sequence(count);
  for (std::size_t i = 0; i < count; ++i) sequence[i] = i;
  random_numbers random(s.opt.seed);
  for (std::size_t i = count; i > 1; --i) std::swap(sequence[i - 1], sequence[random.below(i)]);
  for (std::size_t i : sequence) {
    const int wanted = 100 + as_int(i);
    receive_planned(s, expected[i], f, {peer, wanted, MPI_COMM_WORLD}, peer, wanted);
  }
  out.finish();
}

/// The same source and tag in many communicators at once, received in the reverse order.
void communicators(suite& s, receive_form f) {
  std::vector<MPI_Comm> comms(6);
  for (std::size_t i = 0; i < comms.size(); ++i) {
    if (i % 2 == 0)
      MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    else  // the ranks backwards
      MPI_Comm_split(MPI_COMM_WORLD, 0, -s.rank, &comms[i]);
  }
  const auto world_to_comm = [&](std::size_t i, int rank) {
    return i % 2 == 0 ? rank : s.ranks - 1 - rank;
  };
  const int peer = s.rank ^ 1;
  if (peer < s.ranks) {
    outbox out;
    const std::vector<plan> sent = make_plan(s, s.rank, comms.size(), 6);
    for (std::size_t i = 0; i < comms.size(); ++i)
      out.send(sent[i], {world_to_comm(i, peer), 1, comms[i]});
    const std::vector<plan> expected = make_plan(s, peer, comms.size(), 6);
    for (std::size_t i = comms.size(); i-- > 0;) {
      const int source = world_to_comm(i, peer);
      receive_planned(s, expected[i], f, {MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i]}, source, 1);
    }
    out.finish();
  }
  for (MPI_Comm& c : comms) MPI_Comm_free(&c);
}

/// Communicators are freed while a message in them is still under way.
void freed_communicator(suite& s) {
  constexpr std::size_t rounds = 12;
  const int peer = s.rank ^ 1;
  for (std::size_t i = 0; i < rounds; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const plan mine = make_plan(s, s.rank, rounds, 7)[i], theirs = make_plan(s, peer, rounds, 7)[i];
    s.note("%zu bytes, %s to %s", theirs.bytes, name(theirs.from), name(theirs.to));
    buffer in(theirs.to, theirs.bytes);
    in.clear();
    MPI_Request request = MPI_REQUEST_NULL;
    outbox out;
    if (peer < s.ranks) {
      MPI_Irecv(in.data(), as_int(theirs.bytes), MPI_BYTE, peer, 1, comm, &request);
      out.send(mine, {peer, 1, comm});
    }
    MPI_Comm_free(&comm);
    if (peer >= s.ranks) continue;
    MPI_Status status;
    MPI_Wait(&request, &status);
    s.expect_status(status, peer, 1, theirs.bytes);
    s.expect_none(in.compare(theirs.id, theirs.bytes));
    out.finish();
  }
}

/// Even ranks and odd ranks as the two groups of an intercommunicator.
void intercommunicator(suite& s, receive_form f) {
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, s.rank % 2, s.rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - s.rank % 2, 77, &inter);
  const int peer = s.rank ^ 1;
  if (peer < s.ranks) {
    const int remote = peer / 2;
    outbox out;
    for (const plan& p : make_plan(s, s.rank, 20, 8)) out.send(p, {remote, 6, inter});
    for (const plan& p : make_plan(s, peer, 20, 8))
      receive_planned(s, p, f, {MPI_ANY_SOURCE, 6, inter}, remote, 6);
    out.finish();
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/// A probe says the size of each message and may be repeated; nothing is lost by it.
void repeated_probes(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  outbox out;
  for (const plan& p : make_plan(s, s.rank, 30, 9)) out.send(p, {peer, 8, MPI_COMM_WORLD});
  for (const plan& p : make_plan(s, peer, 30, 9)) {
    s.note("%zu bytes, %s to %s", p.bytes, name(p.from), name(p.to));
    MPI_Status status;
    int flag = 0;
    for (int i = 0; i < 3; ++i) {
      MPI_Probe(i == 1 ? MPI_ANY_SOURCE : peer, i == 2 ? MPI_ANY_TAG : 8, MPI_COMM_WORLD, &status);
      s.expect_status(status, peer, 8, p.bytes);
    }
    while (flag == 0) MPI_Iprobe(peer, 8, MPI_COMM_WORLD, &flag, &status);
    s.expect_status(status, peer, 8, p.bytes);
    receive_planned(s, p, receive_form::recv, {peer, 8, MPI_COMM_WORLD}, peer, 8);
  }
  int flag = 1;
  MPI_Iprobe(peer, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  s.expect_equal(flag, 0, "a probe where nothing is left");
  out.finish();
}

/// A probe finds a message of exactly a ticket's size; then a receive with wildcards, one with
/// another tag, and the probed one itself take their messages in the right order.
void probe_then_others(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind from : kinds())
    for (kind to : kinds()) {
      s.note("%s to %s", name(from), name(to));
      const auto id = [&](int sender, int i) {
        return s.opt.seed + static_cast<unsigned>(sender * 8 + i);
      };
      const auto planned = [&](int sender, int i, std::size_t bytes) {
        return plan{bytes, from, to, id(sender, i)};
      };
      outbox out;
      out.send(planned(s.rank, 0, 480), {peer, 1, MPI_COMM_WORLD});
      out.send(planned(s.rank, 1, 480), {peer, 2, MPI_COMM_WORLD});
      out.send(planned(s.rank, 2, 480), {peer, 1, MPI_COMM_WORLD});
      out.send(planned(s.rank, 3, 9000), {peer, 1, MPI_COMM_WORLD});
      MPI_Status status;
      MPI_Probe(peer, 1, MPI_COMM_WORLD, &status);
      s.expect_status(status, peer, 1, 480);
      receive_planned(s, planned(peer, 1, 480), receive_form::recv, {peer, 2, MPI_COMM_WORLD}, peer,
                      2);
      receive_planned(s, planned(peer, 0, 480), receive_form::irecv,
                      {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD}, peer, 1);
      MPI_Message message;
      MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, &status);
      s.expect_status(status, peer, 1, 480);
      receive_planned(s, planned(peer, 3, 9000), receive_form::recv_init, {peer, 1, MPI_COMM_WORLD},
                      peer, 1);
      buffer in(to, 480);
      in.clear();
      MPI_Mrecv(in.data(), 480, MPI_BYTE, &message, &status);
      s.expect(message == MPI_MESSAGE_NULL, "the message handle becomes null");
      s.expect_status(status, peer, 1, 480);
      s.expect_none(in.compare(id(peer, 2), 480));
      out.finish();
    }
}

/// Rank 0 matches messages of several senders with Mprobe, keeps them open and receives them mixed
/// with ordinary receives, last first.
void open_messages(suite& s) {
  constexpr std::size_t each = 12;
  if (s.rank != 0) {
    outbox out;
    for (const plan& p : make_plan(s, s.rank, each, 10)) out.send(p, {0, 3, MPI_COMM_WORLD});
    out.finish();
    return;
  }
  struct open_message {
    MPI_Message handle;
    int source;
    plan planned;
  };
  std::vector<open_message> open;
  for (int source = 1; source < s.ranks; ++source) {
    const std::vector<plan> plans = make_plan(s, source, each, 10);
    for (std::size_t i = 0; i < each; ++i) {
      const envelope from{source, 3, MPI_COMM_WORLD};
      if (i % 3 == 2) {
        receive_planned(s, plans[i], receive_form::recv, from, source, 3);
        continue;
      }
      MPI_Message handle;
      MPI_Status status;
      MPI_Mprobe(source, 3, MPI_COMM_WORLD, &handle, &status);
      s.expect_status(status, source, 3, plans[i].bytes);
      open.push_back({handle, source, plans[i]});
    }
  }
  std::reverse(open.begin(), open.end());
  for (open_message& m : open) {
    s.note("an open message of %zu bytes from %d", m.planned.bytes, m.source);
    buffer in(m.planned.to, m.planned.bytes);
    in.clear();
    MPI_Request request;
    MPI_Status status;
    MPI_Imrecv(in.data(), as_int(m.planned.bytes), MPI_BYTE, &m.handle, &request);
    MPI_Wait(&request, &status);
    s.expect_status(status, m.source, 3, m.planned.bytes);
    s.expect_none(in.compare(m.planned.id, m.planned.bytes));
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  for (receive_form f : receive_forms) {
    const std::string form = name(f);
    s.run("any source, any tag: " + form, [&] { any_source_any_tag(s, f, MPI_COMM_WORLD); });
    s.run("order: " + form, [&] { order(s, f); });
    s.run("tags out of order: " + form, [&] { tags_out_of_order(s, f); });
    s.run("communicators: " + form, [&] { communicators(s, f); });
    s.run("intercommunicator: " + form, [&] { intercommunicator(s, f); });
  }
  s.run("posted wildcards", [&] { posted_wildcards(s); });
  s.run("posted order", [&] { posted_order(s); });
  s.run("freed communicator", [&] { freed_communicator(s); });
  s.run("repeated probes", [&] { repeated_probes(s); });
  s.run("probe, then others", [&] { probe_then_others(s); });
  s.run("open messages", [&] { open_messages(s); });
  return s.finish();
}
