// SPDX-License-Identifier: BSD-3-Clause
// Collectives whose types have gaps, among devices: each rank packs and unpacks on its own device,
// and the call runs as it would without gaps. Ranks have types of their own: one run of bytes at
// some, gaps at others, MPI_BOTTOM. The expected content comes from a model here, not from the host
// MPI, with what lies round and between the elements. Types are freed while non-blocking calls run.
// With coll_levels the ranks are on several nodes. TEST_UNLIKE: rank 1 has no device.
#include "coll_formulas.hpp"
#include "emulated.hpp"
#include "gapped_blocks.hpp"

namespace {

using namespace mpi_test;
using movement = collective_call;

/// A call at this rank, with what each block holds.
struct trial {
  const group& g;
  movement m;
  int units_each, root;
  bool in_place;  // where the operation has it, at the ranks that may say so
  bool by_address;
  const unit &sent, &received;
  kind send_memory = kind::device, receive_memory = kind::device;

  bool is_root() const { return g.rank == root; }
  bool sends_to_all() const {
    return m == movement::alltoall || m == movement::alltoallv ||
           ((m == movement::scatter || m == movement::scatterv) && is_root());
  }
  bool receives_from_all() const {
    return m == movement::alltoall || m == movement::alltoallv || m == movement::allgather ||
           m == movement::allgatherv ||
           ((m == movement::gather || m == movement::gatherv) && is_root());
  }
  bool receives() const { return (m != movement::gather && m != movement::gatherv) || is_root(); }
  bool rooted_gather() const { return m == movement::gather || m == movement::gatherv; }
  bool rooted_scatter() const { return m == movement::scatter || m == movement::scatterv; }
  bool in_place_here() const {
    return in_place && m != movement::bcast &&
           (is_root() || !(rooted_gather() || rooted_scatter()));
  }
  /// Units that go from one rank to another. A rank that has nothing but MPI_BOTTOM and moves
  /// nothing names no device: it leaves a communicator's first call to the host MPI.
  int times(int from, int to) const {
    if (!has_counts(m)) return units_each;
    const int which = m == movement::alltoallv ? from + to : rooted_scatter() ? to : from;
    return (which % 3 + (by_address ? 1 : 0)) * units_each;
  }
  blocks lay_out(const unit& u, kind k, bool all, bool sending) const {
    std::vector<int> counts, places;
    int end = 0;
    for (int i = 0; i < (all ? g.ranks : 1); ++i) {
      const int other = all ? i : root;
      counts.push_back(sending ? times(g.rank, other)
                               : times(m == movement::allgather ? i : other, g.rank));
      places.push_back(end);
      end +=
          counts.back() + (has_counts(m) && all && i % 2 == 0 ? 2 : 0);  // some follow each other
    }
    if (!sending && has_counts(m) && all) {  // the other way round
      for (int& p : places) p = end - p;
      for (std::size_t i = 0; i < places.size(); ++i) places[i] -= counts[i];
    }
    return {u, k, std::move(counts), std::move(places)};
  }
};

int content(int from, int to, int i, int round) {
  return (from + 1) * 100003 + (to + 1) * 1009 + i * 7 + round * 131;
}

int call(const trial& t, form f, const blocks& out, const blocks& in, MPI_Request* q) {
  const argument a(out, t.by_address), b(in, t.by_address);
  const bool here = t.in_place_here();
  call_arguments x;
  x.comm = t.g.comm;
  x.root = t.root;
  x.out = here && !t.rooted_scatter() ? MPI_IN_PLACE : a.at;
  x.in = here && t.rooted_scatter() ? MPI_IN_PLACE : b.at;
  x.out_type = a.type;
  x.in_type = b.type;
  x.sent = out.counts[0];
  x.received = in.counts[0];
  x.out_counts = out.counts.data();
  x.in_counts = in.counts.data();
  x.out_places = out.places.data();
  x.in_places = in.places.data();
  return make_call(t.m, f, x, q);
}

/// What `from` has for `to`: the same for all in a gather, from the root alone in a broadcast.
int value_for(const trial& t, int from, int to, int i, int round) {
  if (t.m == movement::bcast) return content(t.root, 0, i, round);
  const bool to_all =
      t.rooted_gather() || t.m == movement::allgather || t.m == movement::allgatherv;
  return content(from, to_all ? 0 : to, i, round);
}

void fill(const trial& t, blocks& out, blocks& in, int round) {
  const int me = t.g.rank;
  out.clear();
  in.clear();
  for (int b = 0; b < as_int(out.counts.size()); ++b)
    out.set(b, [&](int i) { return value_for(t, me, t.sends_to_all() ? b : 0, i, round); });
  // In place the buffer of the result has what is sent, too.
  const bool both =
      (t.in_place_here() && !t.rooted_scatter()) || (t.m == movement::bcast && t.is_root());
  for (int b = 0; both && b < as_int(in.counts.size()); ++b) {
    const bool all_blocks = t.m == movement::alltoall || t.m == movement::alltoallv;
    if (all_blocks || t.m == movement::bcast || b == me)
      in.set(b, [&](int i) { return value_for(t, me, all_blocks ? b : 0, i, round); });
  }
  out.load();
  in.load();
  if (!t.receives() || (t.in_place_here() && t.rooted_scatter())) return;
  for (int b = 0; b < as_int(in.counts.size()); ++b) {
    const int from = t.receives_from_all() ? b : t.root;
    in.set(b, [&](int i) { return value_for(t, from, me, i, round); });
  }
}

bool between_nodes = false;

/// Between nodes these are staged.
bool has_no_schedule(movement m) {
  return m == movement::gather || m == movement::scatter || m == movement::gatherv ||
         m == movement::scatterv;
}

bool ran_as_it_should(const trial& t) {
  const std::string path = last_path();
  if (between_nodes) return has_no_schedule(t.m) || path == "coll_levels";
  return path.starts_with("coll_") && path != "coll_staged";
}

void check(suite& s, const trial& t, form f, bool on_devices) {
  s.note("%s%s of %d units, %s to %s, root %d, form %d%s", name_of(t.m),
         t.in_place ? " in place" : "", t.units_each, t.sent.name, t.received.name, t.root,
         static_cast<int>(f), t.by_address ? ", MPI_BOTTOM" : "");
  blocks out = t.lay_out(t.sent, t.send_memory, t.sends_to_all(), true);
  blocks in = t.lay_out(t.received, t.receive_memory, t.receives_from_all(), false);
  MPI_Request q = MPI_REQUEST_NULL;
  if (f == form::persistent) call(t, f, out, in, &q);
  for (int round = 0; round < (f == form::persistent ? 2 : 1); ++round) {
    fill(t, out, in, round);
    if (f == form::persistent)
      MPI_Start(&q);
    else
      call(t, f, out, in, &q);
    if (f != form::blocking) MPI_Wait(&q, MPI_STATUS_IGNORE);
    s.expect_none(out.wrong());
    s.expect_none(in.wrong());
    if (on_devices) s.expect(ran_as_it_should(t), last_path().c_str());
  }
  if (f == form::persistent) MPI_Request_free(&q);
}

constexpr movement movements[] = {movement::bcast,     movement::gather,     movement::scatter,
                                  movement::allgather, movement::alltoall,   movement::gatherv,
                                  movement::scatterv,  movement::allgatherv, movement::alltoallv};

/// Which unit each rank has: the same, another at each, gaps at one only, gaps at all but one.
const unit& unit_of(int who, int rank, bool sends) {
  const auto& all = units();
  switch (who) {
    case 0:
      return all[1];
    case 1:
      return all[static_cast<std::size_t>((rank + (sends ? 0 : 1)) % 4)];
    case 2:
      return all[rank == 0 ? 2 : 0];
    default:
      return all[rank == 0 ? 0 : sends ? 3 : 2];
  }
}

void check_all(suite& s, form f, int who, bool by_address) {
  const group g(MPI_COMM_WORLD);
  for (const movement m : movements)
    for (const int n : {0, 1, 40, 3000})
      for (const bool in_place : {false, true}) {
        if (in_place && (m == movement::bcast || n == 1)) continue;
        if (f == form::persistent && n < 40) continue;  // a process has 256 on devices
        const bool staged = between_nodes && has_no_schedule(m);
        if (f == form::persistent && staged) continue;  // Open MPI's do not keep the types
        s.still_alive();
        const trial t{g,
                      m,
                      n,
                      (n + who) % g.ranks,
                      in_place,
                      by_address,
                      unit_of(who, g.rank, true),
                      unit_of(who, g.rank, false)};
        check(s, t, f, n > 0);
      }
}

/// Host memory at one rank: all stage. Only calls in which hosts MPIs let types differ.
void check_with_host(suite& s) {
  const group g(MPI_COMM_WORLD);
  const kind k = g.rank == 0 ? kind::host : kind::device;
  for (const movement m : {movement::gather, movement::scatter, movement::alltoall})
    for (const form f : {form::blocking, form::nonblocking}) {
      const trial t{g, m, 40, 0, false, false, unit_of(1, g.rank, true), unit_of(1, g.rank, false),
                    k, k};
      check(s, t, f, false);
      if (g.rank != 0) s.expect(last_path() == "coll_staged", "staged beside host memory");
    }
}

/// Between nodes nobody stages then: each rank adapts its own buffers, which have gaps in any
/// memory.
void check_host_between(suite& s) {
  const group g(MPI_COMM_WORLD);
  const bool unlike = std::getenv("TEST_UNLIKE") != nullptr;
  const kind k = g.rank == (unlike ? 1 : 0) ? kind::host : kind::device;
  for (const movement m : {movement::bcast, movement::allgather, movement::alltoall,
                           movement::allgatherv, movement::alltoallv})
    for (int f = 0; f < form_count; ++f)
      for (const int n : {40, 3000})
        for (const bool mixed : {false, true}) {
          if (mixed && m == movement::bcast) continue;
          // Mixed: one side of the rank's is in host memory.
          const kind sent = mixed && !unlike ? kind::device : k;
          const trial t{g,
                        m,
                        n,
                        n % g.ranks,
                        false,
                        false,
                        unit_of(1, g.rank, true),
                        unit_of(1, g.rank, false),
                        sent,
                        k};
          check(s, t, static_cast<form>(f), true);
        }
}

/// The kernel that packs, or the one that unpacks, fails at rank 0. Who needed its bytes returns an
/// error, too; who returns none has the right ones. The next call is right.
void check_failing(suite& s, form f) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const group g(comm);
  for (const bool packs : {true, false})
    for (const movement m : {movement::bcast, movement::allgather, movement::alltoall}) {
      if (!packs && m != movement::bcast) continue;
      const trial t{g,
                    m,
                    3000,
                    packs ? 0 : 1,
                    false,
                    false,
                    unit_of(0, g.rank, true),
                    unit_of(0, g.rank, false)};
      check(s, t, f, true);
      s.note("%s fails in %s", packs ? "packing" : "unpacking", name_of(m));
      blocks out = t.lay_out(t.sent, kind::device, t.sends_to_all(), true);
      blocks in = t.lay_out(t.received, kind::device, t.receives_from_all(), false);
      fill(t, out, in, 0);
      if (g.rank == 0) set_faults("launch:1");
      MPI_Request q = MPI_REQUEST_NULL;
      int code = call(t, f, out, in, &q);
      if (code == MPI_SUCCESS && f != form::blocking) code = MPI_Wait(&q, MPI_STATUS_IGNORE);
      if (g.rank == 0) set_faults("");
      if (packs || g.rank == 0)
        s.expect(code != MPI_SUCCESS, "an error here");
      else if (code == MPI_SUCCESS)  // rank 0 may still have been sending then
        s.expect_none(in.wrong());
      MPI_Barrier(s.control);
      check(s, t, f, true);
    }
  MPI_Comm_free(&comm);
}

/// A rank blocks in the host MPI before the others have begun: all stage the call, whose types are
/// gone. The next one runs between nodes again.
void check_blocked(suite& s) {
  const group g(MPI_COMM_WORLD);
  for (const int n : {40, 3000}) {
    const trial t{g,
                  movement::alltoall,
                  n,
                  0,
                  false,
                  false,
                  unit_of(1, g.rank, true),
                  unit_of(1, g.rank, false)};
    check(s, t, form::nonblocking, true);
    s.note("blocked, %d units", n);
    blocks out = t.lay_out(t.sent, kind::device, true, true);
    blocks in = t.lay_out(t.received, kind::device, true, false);
    fill(t, out, in, 0);
    MPI_Request q = MPI_REQUEST_NULL;
    if (g.rank == 0) call(t, form::nonblocking, out, in, &q);
    MPI_Barrier(s.control);
    if (g.rank != 0) call(t, form::nonblocking, out, in, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    s.expect_none(in.wrong());
    s.expect(last_path() == "coll_staged", "staged");
    check(s, t, form::nonblocking, true);
  }
}

/// No memory for a packed copy, or for the event behind the packing, at one rank: all stage, and
/// the next call is the devices' again.
void check_without_memory(suite& s) {
  const group g(MPI_COMM_WORLD);
  int larger = between_nodes ? 6000 : 500;  // each of a size that the pool has not got
  for (const std::string fault : {"malloc:1+", "launch:1"})
    for (const movement m : {movement::gather, movement::scatter, movement::alltoall}) {
      if (between_nodes && (m != movement::alltoall || fault == "launch:1")) continue;
      const int n = fault == "malloc:1+" ? larger *= 3 : 100;
      const trial t{g, m, n, 0, false, false, unit_of(0, g.rank, true), unit_of(0, g.rank, false)};
      s.note("%s in %s", fault.c_str(), name_of(m));
      blocks out = t.lay_out(t.sent, kind::device, t.sends_to_all(), true);
      blocks in = t.lay_out(t.received, kind::device, t.receives_from_all(), false);
      fill(t, out, in, 0);
      if (g.rank == 0) set_faults(fault.c_str());
      call(t, form::blocking, out, in, nullptr);
      if (g.rank == 0) set_faults("");
      s.expect_none(in.wrong());
      s.expect(last_path() == "coll_staged", "staged");
      check(s, t, form::blocking, true);
    }
}

void take_device() {
  const char* rank = std::getenv("PMI_RANK");
  if (rank == nullptr) rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr && std::strcmp(rank, "1") == 0) setenv("TELPHER_BACKEND", "none", 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("TEST_UNLIKE") != nullptr) take_device();
  suite s(&argc, &argv, 2);
  between_nodes = take_wanted_path(s) == "coll_levels";
  const char* const whose[] = {"alike", "each another", "gaps at one", "gaps at all but one"};
  for (int f = 0; f < form_count; ++f)
    for (int who = 0; who < 4; ++who) {
      s.run(std::string(form_names[f]) + "/" + whose[who],
            [&] { check_all(s, static_cast<form>(f), who, false); });
      if (who == 1)
        s.run(std::string(form_names[f]) + "/MPI_BOTTOM",
              [&] { check_all(s, static_cast<form>(f), who, true); });
    }
  s.run("host memory at one", [&] { between_nodes ? check_host_between(s) : check_with_host(s); });
  if (between_nodes) s.run("blocked", [&] { check_blocked(s); });
  for (const form f : {form::blocking, form::nonblocking})
    if (between_nodes && held() >= 0)
      s.run(std::string(form_names[static_cast<int>(f)]) + "/failing",
            [&] { check_failing(s, f); });
  if (held() >= 0) s.run("no memory", [&] { check_without_memory(s); });
  return s.finish();
}
