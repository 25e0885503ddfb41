// SPDX-License-Identifier: BSD-3-Clause
// The event core: the rank whose clock is least runs its next step. A resource (a port, a memory, a
// NIC's direction) serves in the order of arrival: it remembers when it is free again. With
// symmetry only node 0 is run; a message from another node leaves when node 0's own message with
// the same relation of places does, so channels are named by places and relation instead of ranks.
#include "schedules/simulate.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace telpher::coll {
namespace {

constexpr double us_per_byte(double gbps) {
  return 1e-3 / gbps;
}

struct resource {
  double free = 0;
  /// Serves so much work that arrives at `at`; when it is done.
  double serve(double at, double work) {
    free = std::max(free, at) + work;
    return free;
  }
};

struct gpu {
  resource in, out, memory;
};

struct nic {
  resource in, out;
};

struct actor {
  schedule plan;
  std::size_t next = 0;
  double now = 0;
  bool in_kernel = true;
  bool waiting = false;
  std::set<std::pair<space, std::uint64_t>> passed_on;  // spans that arrived compressed
};

class run {
 public:
  run(const problem& p, const maker& make, const machine& m, const pricing& how)
      : p_(p), m_(m), how_(how), nodes_((p.ranks + m.gpus - 1) / m.gpus) {
    const std::int32_t simulated =
        how.nodes == symmetry::none ? p.ranks : std::min(p.ranks, m.gpus);
    actors_.resize(static_cast<std::size_t>(simulated));
    gpus_.resize(actors_.size());
    nics_.resize(actors_.size() / static_cast<std::size_t>(m.gpus) *
                     static_cast<std::size_t>(m.nics) +
                 static_cast<std::size_t>(m.nics));
    for (std::int32_t r = 0; r < simulated; ++r) {
      actor_of(r).plan = make(p, r);
      actor_of(r).now = m.launch_us;
      ready_.push({m.launch_us, r});
    }
  }

  double operator()() {
    double end = 0;
    std::size_t done = 0;
    while (!ready_.empty()) {
      const std::int32_t r = ready_.top().second;
      ready_.pop();
      actor& a = actor_of(r);
      if (a.next == a.plan.steps.size()) {
        end = std::max(end, a.now);
        ++done;
      } else if (perform(r, a.plan.steps[a.next])) {
        ++a.next;
        ready_.push({a.now, r});
      } else {
        a.waiting = true;
      }
    }
    return done == actors_.size() ? end : -1;
  }

 private:
  using queue = std::deque<double>;

  actor& actor_of(std::int32_t r) { return actors_[static_cast<std::size_t>(r)]; }
  gpu& gpu_of(std::int32_t r) { return gpus_[static_cast<std::size_t>(r)]; }
  std::int32_t local(std::int32_t r) const { return r % m_.gpus; }
  nic& nic_of(std::int32_t r) {
    return nics_[static_cast<std::size_t>(r / m_.gpus * m_.nics + local(r) * m_.nics / m_.gpus)];
  }

  /// One name for a channel, the same at its two ends.
  std::uint64_t channel(std::int32_t from, std::int32_t to) const {
    const auto name = [](std::int32_t a, std::int32_t b, std::int32_t relation) {
      return (static_cast<std::uint64_t>(relation) << 32) | (static_cast<std::uint64_t>(a) << 16) |
             static_cast<std::uint64_t>(b);
    };
    const std::int32_t a = from / m_.gpus;
    const std::int32_t b = to / m_.gpus;
    if (how_.nodes == symmetry::none) return name(from, to, 0);
    return name(local(from), local(to),
                how_.nodes == symmetry::mirrored ? a ^ b : (b - a + nodes_) % nodes_);
  }

  /// The simulated rank that stands for this one.
  std::int32_t stand_in(std::int32_t r) const {
    return how_.nodes == symmetry::none ? r : local(r);
  }

  double bytes_of(const span& s) const {
    return static_cast<double>(s.count) * how_.bytes_per_element;
  }

  void leave_for(actor& a, bool kernel) {
    if (a.in_kernel != kernel) a.now += m_.handover_us;
    a.in_kernel = kernel;
  }

  /// False: the step must wait for another rank.
  bool perform(std::int32_t r, const step& s) {
    actor& a = actor_of(r);
    switch (s.kind) {
      case step_kind::copy:
      case step_kind::reduce:
        leave_for(a, true);
        a.now = move(r, s);
        return true;
      case step_kind::signal:
        leave_for(a, true);
        put(signals_[channel(r, s.peer)], a.now + m_.signal_us, s.peer);
        return true;
      case step_kind::wait:
        return take(a, signals_[channel(s.peer, r)], true, 0);
      case step_kind::send:
        send(r, s);
        return true;
      case step_kind::receive: {
        const double decoding =
            how_.compression > 1 ? bytes_of(s.to) * us_per_byte(m_.decode_gbps) : 0;
        if (!take(a, messages_[channel(s.peer, r)], false, m_.message_us + decoding)) return false;
        if (how_.compression > 1) a.passed_on.insert({s.to.where, s.to.offset});
        return true;
      }
    }
    return true;
  }

  /// When a copy or reduction is done: its slowest resource decides.
  double move(std::int32_t r, const step& s) {
    const double now = actor_of(r).now;
    double end = now;
    double own_bytes = 0;
    const auto across = [&](std::int32_t from, std::int32_t to, double bytes) {
      const double port = bytes * us_per_byte(m_.port_gbps);
      end = std::max({end, gpu_of(from).out.serve(now, port), gpu_of(to).in.serve(now, port),
                      now + bytes * us_per_byte(m_.between(local(from), local(to)))});
    };
    for (const span& from : s.sources) {
      if (from.rank == r)
        own_bytes += bytes_of(from);
      else
        across(stand_in(from.rank), r, bytes_of(from));
    }
    if (s.to.rank == r)
      own_bytes += bytes_of(s.to);
    else
      across(r, stand_in(s.to.rank), bytes_of(s.to));
    return std::max(end, gpu_of(r).memory.serve(now, own_bytes * us_per_byte(m_.memory_gbps)));
  }

  void send(std::int32_t r, const step& s) {
    actor& a = actor_of(r);
    leave_for(a, false);
    const span& from = s.sources[0];
    const double bytes = bytes_of(from);
    a.now += m_.message_us;
    const bool as_it_came =
        !is_reduction(p_.what) && a.passed_on.count({from.where, from.offset}) > 0;
    if (how_.compression > 1 && !as_it_came) a.now += bytes * us_per_byte(m_.encode_gbps);
    const double work = bytes / how_.compression * us_per_byte(m_.nic_gbps);
    const double left = nic_of(r).out.serve(a.now, work);
    const std::int32_t to = stand_in(s.peer);
    // The receiving NIC takes the bytes as they come, unless others keep it busy.
    const double arrived = nic_of(to).in.serve(left + m_.nic_us - work, work);
    put(messages_[channel(r, s.peer)], arrived, s.peer);
  }

  void put(queue& where, double at, std::int32_t peer) {
    where.push_back(at);
    const std::int32_t to = stand_in(peer);
    actor& other = actor_of(to);
    if (!other.waiting) return;
    other.waiting = false;
    ready_.push({std::max(other.now, at), to});
  }

  bool take(actor& a, queue& from, bool kernel, double cost) {
    if (from.empty()) return false;
    leave_for(a, kernel);
    a.now = std::max(a.now, from.front()) + cost;
    from.pop_front();
    return true;
  }

  const problem& p_;
  const machine& m_;
  const pricing& how_;
  std::int32_t nodes_;
  std::vector<actor> actors_;
  std::vector<gpu> gpus_;
  std::vector<nic> nics_;
  std::unordered_map<std::uint64_t, queue> signals_;
  std::unordered_map<std::uint64_t, queue> messages_;
  std::priority_queue<std::pair<double, std::int32_t>, std::vector<std::pair<double, std::int32_t>>,
                      std::greater<>>
      ready_;
};

}  // namespace

double simulate(const problem& p, const maker& make, const machine& m, const pricing& how) {
  return run(p, make, m, how)();
}

}  // namespace telpher::coll
