// SPDX-License-Identifier: BSD-3-Clause
// A random stress against a reference model. All ranks draw the same plan from the seed: batches of
// messages with sizes, memory kinds, tags, communicators, wildcards and forms. Every message has a
// number; all ranks walk through the numbers in the same order, start what is theirs (receives
// possibly earlier) and complete it now or later. That order is what makes any mixture of blocking
// forms free of deadlock. Wildcards are used only where matching is determined by MPI's order, or,
// in "wild" pairs, where the sender's order says afterwards what each receive must have got.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <tuple>

#include "stress_plan.hpp"

using namespace stress_test;

namespace {

/// Buffers of each kind, kept for reuse; now and then one is really freed and allocated anew.
class buffer_shelf {
 public:
  buffer take(kind k, std::size_t bytes, random_numbers& random) {
    std::vector<buffer>& shelf = shelves_[static_cast<std::size_t>(k)][bytes > small];
    const std::size_t offset = random.below(16);
    if (shelf.empty() || random.chance(3)) {
      if (!shelf.empty()) shelf.pop_back();
      shelf.emplace_back(k, (bytes > small ? 1u << 21 : small) + 16u);
    }
    buffer b = std::move(shelf.back());
    shelf.pop_back();
    b.place(offset, bytes);
    return b;
  }
  void put_back(buffer&& b) {
    std::vector<buffer>& shelf = shelves_[static_cast<std::size_t>(b.memory())][b.bytes() > small];
    if (shelf.size() < 64) shelf.push_back(std::move(b));
  }

 private:
  static constexpr std::size_t small = 8192;
  std::vector<buffer> shelves_[4][2];
};

/// One end of a message on this rank.
struct operation {
  const message* m;
  bool sends;
  std::size_t position;  // a wait may block from here on in the batch; see usable() for wild pairs
  buffer memory;
  pending state;
  bool done = false;
};

class worker {
 public:
  worker(suite& s, int thread, const MPI_Comm* comms)
      : s_(s),
        comms_(comms),
        plan_(mix(s.opt.seed) + static_cast<std::uint64_t>(thread)),
        own_(mix(s.opt.seed + 7) + static_cast<std::uint64_t>(thread * 1000 + s.rank)) {}

  void run(long messages) {
    for (long count = 0; count < messages; count += static_cast<long>(batch_size))
      run_batch(make_batch(plan_, s_.ranks));
  }

  long received = 0;
  long long received_bytes = 0;

 private:
  void run_batch(const batch& b) {
    operations_.clear();
    wild_.clear();
    for (std::size_t i = 0; i < b.messages.size(); ++i)
      if (b.messages[i].early && b.messages[i].destination == s_.rank) receive(b, i);
    for (position_ = 0; position_ < b.messages.size(); ++position_) {
      const message& m = b.messages[position_];
      const bool wild = b.mode(m.destination, m.comm) == pair_mode::wild;
      if (m.source == s_.rank) send(m, wild ? batch_size : position_);
      if (m.destination == s_.rank && !m.early) receive(b, position_);
      if (own_.chance(25)) complete_some();
    }
    position_ = batch_size;
    while (open_count() > 0) complete_some();
    check_wild(b);
    for (operation& o : operations_) shelf_.put_back(std::move(o.memory));
    s_.note("the barrier behind a batch");
    s_.still_alive();
    MPI_Barrier(comms_[0]);  // no message of the next batch may meet a wildcard of this one
  }

  void send(const message& m, std::size_t position) {
    s_.note("position %zu, %s of %zu bytes from %s to rank %d, tag %d", position_, m.send->name,
            m.bytes, name(m.from), m.destination, m.tag);
    operation o{&m, true, position, shelf_.take(m.from, m.bytes, own_), {}};
    o.memory.fill(m.id);
    o.state = start(*m.send, o.memory.data(), m.bytes, {m.destination, m.tag, comms_[m.comm]});
    operations_.push_back(std::move(o));
    if (!operations_.back().state.open) close(operations_.back());
  }

  void receive(const batch& b, std::size_t position) {
    const message& m = b.messages[position];
    s_.note("position %zu, %s of %zu bytes into %s from rank %d, tag %d, mode %d", position_,
            name(m.receive), m.bytes, name(m.to), m.source, m.tag,
            static_cast<int>(b.mode(m.destination, m.comm)));
    operation o{&m, false, position, shelf_.take(m.to, m.room, own_), {}};
    o.memory.clear();
    probed_size probed;
    o.state = start(
        m.receive, o.memory.data(), m.room,
        {m.any_source ? MPI_ANY_SOURCE : m.source, m.any_tag ? MPI_ANY_TAG : m.tag, comms_[m.comm]},
        probed);
    const bool wild = b.mode(m.destination, m.comm) == pair_mode::wild;
    if (probed.got >= 0 && !wild)
      s_.expect_equal(probed.got, static_cast<long long>(m.bytes), "probed size");
    if (wild) wild_.push_back(operations_.size());
    operations_.push_back(std::move(o));
    if (!operations_.back().state.open) close(operations_.back());
  }

  /// The operation is complete: checks it, or leaves that to check_wild. A send's buffer is spoilt,
  /// which must not change what arrives.
  void close(operation& o) {
    o.done = true;
    finish(o.state);  // a persistent request is freed here
    if (o.sends) {
      o.memory.clear();
    } else if (!(o.m->any_source && o.m->any_tag)) {
      check(o, *o.m);
    }
  }

  void check(const operation& o, const message& m) {
    s_.note("check of %s, %zu bytes, %s to %s, rank %d, tag %d", name(o.m->receive), m.bytes,
            name(m.from), name(o.m->to), m.source, m.tag);
    s_.expect_status(o.state.status, m.source, m.tag, m.bytes);
    s_.expect_none(o.memory.compare(m.id, m.bytes));
    ++received;
    received_bytes += static_cast<long long>(m.bytes);
  }

  /// In the order of posting, the receives of a wild pair took each sender's messages in order.
  void check_wild(const batch& b) {
    std::map<std::pair<std::size_t, int>, std::vector<const message*>> sent;
    for (const message& m : b.messages)
      if (m.destination == s_.rank) sent[{m.comm, m.source}].push_back(&m);
    std::map<std::pair<std::size_t, int>, std::size_t> next;
    for (std::size_t index : wild_) {
      const operation& o = operations_[index];
      const std::pair<std::size_t, int> key{o.m->comm, o.state.status.MPI_SOURCE};
      const std::vector<const message*>& list = sent[key];
      std::size_t& at = next[key];
      if (!s_.expect(at < list.size(), "a wild receive got a message that nobody sent")) return;
      check(o, *list[at++]);
    }
  }

  std::size_t open_count() const {
    std::size_t n = 0;
    for (const operation& o : operations_) n += !o.done;
    return n;
  }

  /// Completes some open operations by one of MPI's calls, chosen at random. Only operations whose
  /// message has had its turn may be waited for.
  void complete_some() {
    std::vector<operation*> chosen;
    const bool testing = own_.chance(40);
    for (operation& o : operations_)
      if (!o.done && (testing || o.position <= position_) && own_.chance(60)) chosen.push_back(&o);
    if (chosen.empty()) return;
    for (std::size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[own_.below(i)]);
    std::vector<MPI_Request> requests;
    for (operation* o : chosen) requests.push_back(o->state.request);
    const message& first = *chosen[0]->m;
    s_.note("position %zu, completion of %zu operations, the first a %s at %zu, %d to %d, tag %d",
            position_, chosen.size(), chosen[0]->sends ? first.send->name : name(first.receive),
            chosen[0]->position, first.source, first.destination, first.tag);
    std::vector<MPI_Status> statuses(chosen.size());
    std::vector<int> indices;
    if (testing)
      test(requests, statuses, indices);
    else
      wait(requests, statuses, indices);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto at = static_cast<std::size_t>(indices[i]);
      chosen[at]->state.status = statuses[i];
      chosen[at]->state.open = false;
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i]->state.request = requests[i];
    for (int index : indices) close(*chosen[static_cast<std::size_t>(index)]);
  }

  /// `indices` become those completed, `statuses` are in the same order.
  void wait(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses,
            std::vector<int>& indices) {
    const int n = as_int(requests.size());
    int count = 1;
    indices.assign(requests.size(), 0);
    switch (own_.below(4)) {
      case 0:
        MPI_Wait(&requests[0], &statuses[0]);
        break;
      case 1:
        MPI_Waitany(n, requests.data(), &indices[0], &statuses[0]);
        break;
      case 2:
        MPI_Waitsome(n, requests.data(), &count, indices.data(), statuses.data());
        break;
      default:
        MPI_Waitall(n, requests.data(), statuses.data());
        for (int i = 0; i < n; ++i) indices[static_cast<std::size_t>(i)] = i;
        count = n;
    }
    indices.resize(static_cast<std::size_t>(count));
  }

  void test(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses,
            std::vector<int>& indices) {
    const int n = as_int(requests.size());
    int flag = 0, count = 0;
    indices.assign(requests.size(), 0);
    switch (own_.below(5)) {
      case 0:
        MPI_Test(&requests[0], &flag, &statuses[0]);
        count = flag;
        break;
      case 1:
        MPI_Testany(n, requests.data(), &indices[0], &flag, &statuses[0]);
        count = flag;
        break;
      case 2:
        MPI_Testsome(n, requests.data(), &count, indices.data(), statuses.data());
        break;
      case 3:
        MPI_Request_get_status(requests[0], &flag, &statuses[0]);
        // The status is taken from here: MPICH 5.0.2 makes a persistent request inactive by this
        // call.
        if (flag != 0) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        count = flag;
        break;
      default:
        MPI_Testall(n, requests.data(), &flag, statuses.data());
        for (int i = 0; i < n; ++i) indices[static_cast<std::size_t>(i)] = i;
        count = flag != 0 ? n : 0;
    }
    indices.resize(static_cast<std::size_t>(count));
  }

  suite& s_;
  const MPI_Comm* comms_;
  random_numbers plan_, own_;  // the same on all ranks, and this rank's
  buffer_shelf shelf_;
  std::vector<operation> operations_;
  std::vector<std::size_t> wild_;  // receives of wild pairs in the order of posting
  std::size_t position_ = 0;
};

/// Every thread has its own communicators and its own plan.
void stress(suite& s, long messages) {
  const int threads = s.opt.threads;
  std::vector<MPI_Comm> comms(communicators * static_cast<std::size_t>(threads));
  for (MPI_Comm& c : comms) MPI_Comm_dup(MPI_COMM_WORLD, &c);
  std::vector<std::unique_ptr<worker>> workers;
  for (int t = 0; t < threads; ++t)
    workers.push_back(
        std::make_unique<worker>(s, t, &comms[communicators * static_cast<std::size_t>(t)]));
  std::vector<std::thread> running;
  for (int t = 1; t < threads; ++t)
    running.emplace_back([&, t] { workers[static_cast<std::size_t>(t)]->run(messages / threads); });
  workers[0]->run(messages / threads);
  for (std::thread& t : running) t.join();
  long long mine[2] = {0, 0}, all[2] = {0, 0};
  for (const auto& w : workers) {
    mine[0] += w->received;
    mine[1] += w->received_bytes;
  }
  s.note("the totals");
  MPI_Reduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, 0, s.control);
  if (s.rank == 0)
    std::printf("# %lld messages, %lld MB, %d threads a rank\n", all[0], all[1] / 1000000, threads);
  const auto batches =
      (messages / threads + static_cast<long>(batch_size) - 1) / static_cast<long>(batch_size);
  if (s.rank == 0)
    s.expect_equal(all[0], batches * static_cast<long>(batch_size) * threads, "messages received");
  for (MPI_Comm& c : comms) MPI_Comm_free(&c);
}

/// Telpher's own count of records that are still alive, where the library offers it to tests.
void no_leak(suite& s) {
  auto* outstanding = reinterpret_cast<long (*)()>(dlsym(RTLD_DEFAULT, "telpher_outstanding"));
  if (outstanding == nullptr) return;
  long left = outstanding();
  for (int attempt = 0; attempt < 200 && left != 0; ++attempt) {
    int flag = 0;  // lets the library make progress
    MPI_Iprobe(MPI_ANY_SOURCE, 0, s.control, &flag, MPI_STATUS_IGNORE);
    usleep(5000);
    left = outstanding();
  }
  s.expect_equal(left, 0, "records left");
}

}  // namespace

int main(int argc, char** argv) {
  const options o = parse(argc, argv);
  suite s(&argc, &argv, 1, o.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED);
  if (o.threads > 1 && !s.has_threads()) return s.finish();
  {
    const attached_buffer attached(std::size_t{16} << 20);
    s.run("stress", [&] { stress(s, o.messages > 0 ? o.messages : 20000); });
  }
  s.run("no leak", [&] { no_leak(s); });
  return s.finish();
}
