// SPDX-License-Identifier: BSD-3-Clause
// From ranks of a communicator to ranks of the job.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/thread_local.hpp"
#include "host_mpi/attribute.hpp"
#include "host_mpi/job.hpp"

namespace telpher::host_mpi {
namespace {

/// The job ranks of one communicator's ranks.
struct members {
  std::vector<int> ranks;
  bool ours = false;
  bool before_job = false;  // the communicator was made before the job was joined
};

std::vector<int> translate(MPI_Group& group, MPI_Group job_group) {
  int n = 0;
  pmpi::Group_size(group, &n);
  std::vector<int> ranks(static_cast<std::size_t>(n)), out(ranks.size());
  for (int i = 0; i < n; ++i) ranks[static_cast<std::size_t>(i)] = i;
  if (n > 0) pmpi::Group_translate_ranks(group, n, ranks.data(), job_group, out.data());
  for (int& r : out)
    if (r == MPI_UNDEFINED) r = -1;
  pmpi::Group_free(&group);
  return out;
}

/// Before the job is joined.
members all_outside(MPI_Comm comm) {
  int inter = 0, n = 0;
  pmpi::Comm_test_inter(comm, &inter);
  inter ? pmpi::Comm_remote_size(comm, &n) : pmpi::Comm_size(comm, &n);
  return {std::vector<int>(static_cast<std::size_t>(n), -1), false, true};
}

members members_of(const job& j, MPI_Comm comm) {
  if (j.waits) return all_outside(comm);
  const auto all_inside = [](const std::vector<int>& ranks) {
    return std::find(ranks.begin(), ranks.end(), -1) == ranks.end();
  };
  int inter = 0;
  pmpi::Comm_test_inter(comm, &inter);
  MPI_Group inside = MPI_GROUP_NULL, local = MPI_GROUP_NULL, remote = MPI_GROUP_NULL;
  pmpi::Comm_group(j.control == MPI_COMM_NULL ? MPI_COMM_WORLD : j.control, &inside);
  pmpi::Comm_group(comm, &local);
  members m{translate(local, inside), false};
  m.ours = all_inside(m.ranks);
  if (inter) {
    pmpi::Comm_remote_group(comm, &remote);
    m.ranks = translate(remote, inside);
    m.ours = m.ours && all_inside(m.ranks);
  }
  pmpi::Group_free(&inside);
  return m;
}

// --- the table ---

// A translation lives as long as its communicator: it hangs on it. What was made before the job was
// joined is outside, with its duplicates, whenever they are used. So these share it.
using member_list = std::shared_ptr<const members>;
struct translation {
  explicit translation(member_list m) noexcept : of(std::move(m)) {}
  translation(const translation&) = default;
  ~translation();
  bool passes_on() const noexcept { return of->before_job; }
  member_list of;
};
host_mpi::comm_attribute<translation> translations;

// Counts the translations that were dropped. A thread's cached translation is valid while this is
// unchanged.
std::atomic<unsigned> dropped{0};
translation::~translation() {
  dropped.fetch_add(1, std::memory_order_relaxed);
}

struct last_used {
  MPI_Comm comm;
  const members* found;  // owned by the communicator
  unsigned dropped;
};
constinit thread_local TELPHER_NEAR_TLS last_used last{};

// One thread makes translations at a time, so that a communicator gets its own once.
std::mutex making;

member_list listed(const job& j, MPI_Comm comm) noexcept {
  std::lock_guard lock(making);
  if (const translation* made = translations.find(comm)) return made->of;
  auto found = std::make_shared<const members>(members_of(j, comm));
  if (!translations.attach(comm, std::make_unique<translation>(found)))
    new member_list(found);  // nobody will say when the communicator ends
  return found;
}

[[gnu::cold, gnu::noinline]] const members& find_slow(const job& j, MPI_Comm comm,
                                                      unsigned now) noexcept {
  last = {comm, listed(j, comm).get(), now};
  return *last.found;
}

const members& find_members(const job& j, MPI_Comm comm) noexcept {
  const unsigned now = dropped.load(std::memory_order_relaxed);
  if (last.found && last.comm == comm && last.dropped == now) [[likely]]
    return *last.found;
  return find_slow(j, comm, now);
}

}  // namespace

void note_made(const job& j, MPI_Comm made) noexcept {
  if (j.waits && made != MPI_COMM_NULL) static_cast<void>(listed(j, made));
}

void forget_members() noexcept {
  dropped.fetch_add(1, std::memory_order_relaxed);
}

int world_rank(const job& j, MPI_Comm comm, int rank) noexcept {
  if (comm == MPI_COMM_WORLD && j.size == j.world_size)
    return rank >= 0 && rank < j.size ? rank : -1;
  const auto& ranks = find_members(j, comm).ranks;
  const auto i = static_cast<std::size_t>(rank);
  return rank >= 0 && i < ranks.size() ? ranks[i] : -1;
}

bool is_ours(const job& j, MPI_Comm comm) noexcept {
  return find_members(j, comm).ours;
}

std::shared_ptr<const std::vector<int>> world_ranks(const job& j, MPI_Comm comm) noexcept {
  const member_list found = listed(j, comm);
  return {found, &found->ranks};
}

// Hashes of the members are added after mixing. So their order does not matter; the two sides of an
// intercommunicator see different orders.
std::uint64_t group_key(const job& j, MPI_Comm comm) noexcept {
  if (comm == MPI_COMM_WORLD) return 0;
  int inter = 0, size = 0;
  pmpi::Comm_test_inter(comm, &inter);
  if (inter)
    pmpi::Comm_remote_size(comm, &size);
  else
    pmpi::Comm_size(comm, &size);
  std::uint64_t sum = static_cast<std::uint64_t>(inter);
  for (int r = 0; r < size && !inter; ++r) {
    const auto member = static_cast<std::uint64_t>(world_rank(j, comm, r) + 1);
    const std::uint64_t mixed = member * 0x9e3779b97f4a7c15u;
    sum += (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
  }
  return sum >> 12;  // small enough to be exact as a JSON number
}

}  // namespace telpher::host_mpi
