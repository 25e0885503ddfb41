// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/job.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/thread_local.hpp"

namespace telpher::host_mpi {
namespace {

// --- which ranks share the node ---

bool same_pretended_node(const job& j, int peer) {
  const long nodes = config().pretended_nodes;
  return nodes == 0 || j.rank * nodes / j.size == peer * nodes / j.size;
}

// What a rank says of itself so that others can try to open its memory.
struct card {
  shared_memory_name segment;
  std::uint64_t kernel;  // hash of the running kernel's boot id; 0: not known
};

// Two different boot ids are proof that nothing can be shared. Equal ones prove nothing: containers
// of one machine show the same.
std::uint64_t running_kernel() {
  char id[64] = {};
  const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t n = ::read(file, id, sizeof id);
  ::close(file);
  return n > 0 ? std::hash<std::string_view>{}({id, static_cast<std::size_t>(n)}) : 0;
}

bool may_share(const card& own, const card& other) {
  return own.kernel == 0 || other.kernel == 0 || own.kernel == other.kernel;
}

// Two ranks share a node if each could open the other's segment. The host MPI is not asked: it goes
// by host names, which containers, renamed hosts and its own settings make wrong both ways.
status meet_node(job& j) {
  const auto count = static_cast<std::size_t>(j.size);
  std::vector<card> cards(count);
  const card own{j.own.name(), running_kernel()};
  if (pmpi::Allgather(&own, sizeof own, MPI_BYTE, cards.data(), sizeof own, MPI_BYTE, j.control) !=
      MPI_SUCCESS)
    return status::host_mpi_error;
  std::vector<std::uint8_t> opened(count), opened_us(count);
  for (int r = 0; r < j.size; ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (r == j.rank) {
      opened[i] = 1;
      continue;
    }
    if (!same_pretended_node(j, r) || !may_share(own, cards[i])) continue;
    auto segment = shared_memory::open(cards[i].segment);
    opened[i] = segment.has_value();
    if (segment) j.peers[i] = std::move(*segment);
  }
  if (pmpi::Alltoall(opened.data(), 1, MPI_BYTE, opened_us.data(), 1, MPI_BYTE, j.control) !=
      MPI_SUCCESS)
    return status::host_mpi_error;
  for (int r = 0; r < j.size; ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (opened[i] && opened_us[i])
      j.node.push_back(r);
    else
      j.peers[i] = shared_memory();
  }
  TELPHER_DEBUG("%zu of %d ranks share this node", j.node.size(), j.size);
  return status::ok;
}

// --- world ranks of a communicator's ranks ---

std::mutex guard;
// Counts what was forgotten: a thread's last translation is good while it stands.
std::atomic<unsigned> forgotten{0};
using rank_list = std::shared_ptr<const std::vector<int>>;
std::unordered_map<MPI_Comm, rank_list>& translations() {
  static auto* one = new std::unordered_map<MPI_Comm, rank_list>;
  return *one;
}

std::vector<int> translate(MPI_Comm comm) {
  int inter = 0;
  pmpi::Comm_test_inter(comm, &inter);
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  if (inter)
    pmpi::Comm_remote_group(comm, &group);
  else
    pmpi::Comm_group(comm, &group);
  pmpi::Comm_group(MPI_COMM_WORLD, &world);
  int n = 0;
  pmpi::Group_size(group, &n);
  std::vector<int> ranks(static_cast<std::size_t>(n)), out(ranks.size());
  for (int i = 0; i < n; ++i) ranks[static_cast<std::size_t>(i)] = i;
  if (n > 0) pmpi::Group_translate_ranks(group, n, ranks.data(), world, out.data());
  for (int& r : out)
    if (r == MPI_UNDEFINED) r = -1;
  pmpi::Group_free(&group);
  pmpi::Group_free(&world);
  return out;
}

}  // namespace

status join(bool has_device, bool enabled, std::size_t segment_bytes, job& j) noexcept {
  pmpi::Comm_rank(MPI_COMM_WORLD, &j.rank);
  pmpi::Comm_size(MPI_COMM_WORLD, &j.size);
  log::set_rank(j.rank, j.size);
  int mine[3] = {has_device, !has_device, !enabled}, any[3] = {};
  if (pmpi::Allreduce(mine, any, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS)
    return status::host_mpi_error;
  j.any_device = any[0] && !any[2];
  j.all_devices = j.any_device && !any[1];
  if (!j.any_device) return status::ok;

  if (pmpi::Comm_dup(MPI_COMM_WORLD, &j.control) != MPI_SUCCESS) return status::host_mpi_error;
  pmpi::Comm_set_errhandler(j.control, MPI_ERRORS_RETURN);
  int* limit = nullptr;
  int found = 0;
  pmpi::Comm_get_attr(j.control, MPI_TAG_UB, &limit, &found);
  if (found) j.tag_limit = *limit;
  const std::uint64_t bits[2] = {random_bits(), random_bits()};
  std::memcpy(j.nonce.data(), bits, sizeof bits);
  pmpi::Bcast(j.nonce.data(), static_cast<int>(j.nonce.size()), MPI_BYTE, 0, j.control);
  j.peers.resize(static_cast<std::size_t>(j.size));
  auto own = shared_memory::create(segment_bytes, "telpher");
  TELPHER_TRY(own);
  j.own = std::move(*own);
  return meet_node(j);
}

void leave(job& j) noexcept {
  if (j.control == MPI_COMM_NULL) return;
  pmpi::Barrier(j.control);  // nobody reads a segment after this
  pmpi::Comm_free(&j.control);
  j.peers.clear();
  j.node.clear();
  j.own = shared_memory();
  std::lock_guard lock(guard);
  forgotten.fetch_add(1, std::memory_order_relaxed);
  translations().clear();
}

namespace {

struct translation {
  MPI_Comm comm;
  const std::vector<int>* ranks;  // the table's
  unsigned forgotten;
};
constinit thread_local TELPHER_NEAR_TLS translation last{};

// Under the guard.
const rank_list& listed(MPI_Comm comm) noexcept {
  rank_list& ranks = translations()[comm];
  if (!ranks) ranks = std::make_shared<const std::vector<int>>(translate(comm));
  return ranks;
}

[[gnu::cold, gnu::noinline]] const std::vector<int>& ranks_of_slow(MPI_Comm comm) noexcept {
  std::lock_guard lock(guard);
  const rank_list& ranks = listed(comm);
  last = {comm, ranks.get(), forgotten.load(std::memory_order_relaxed)};
  return *ranks;
}

const std::vector<int>& ranks_of(MPI_Comm comm) noexcept {
  if (last.ranks && last.comm == comm &&
      last.forgotten == forgotten.load(std::memory_order_relaxed)) [[likely]]
    return *last.ranks;
  return ranks_of_slow(comm);
}

}  // namespace

int world_rank(const job& j, MPI_Comm comm, int rank) noexcept {
  if (comm == MPI_COMM_WORLD) return rank >= 0 && rank < j.size ? rank : -1;
  const auto& ranks = ranks_of(comm);
  const auto i = static_cast<std::size_t>(rank);
  return rank >= 0 && i < ranks.size() ? ranks[i] : -1;
}

std::shared_ptr<const std::vector<int>> world_ranks(MPI_Comm comm) noexcept {
  std::lock_guard lock(guard);
  return listed(comm);
}

// Members are added up after mixing, so that their order, which an intercommunicator's sides see
// differently, does not matter.
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
  return sum >> 12;  // exact as a JSON number
}

void forget(MPI_Comm comm) noexcept {
  std::lock_guard lock(guard);
  forgotten.fetch_add(1, std::memory_order_relaxed);
  translations().erase(comm);
}

}  // namespace telpher::host_mpi
