// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/job.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/descriptor_broker.hpp"
#include "base/lasting.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/stall_clock.hpp"
#include "base/tuning.hpp"
#include "host_mpi/attribute.hpp"
#include "host_mpi/error.hpp"
#include "host_mpi/roll_call.hpp"

namespace telpher::host_mpi {
namespace {

// --- which ranks share the node ---

bool same_pretended_node(const job& j, int peer) {
  const long nodes = config().test_pretended_nodes;
  return nodes == 0 || j.rank * nodes / j.size == peer * nodes / j.size;
}

// What each rank tells the others, so that they can try to open its memory.
struct card {
  shared_memory_name segment;
  std::uint64_t kernel;    // hash of the running kernel's boot id; 0: unknown
  std::uint64_t nonce[2];  // only rank 0's is used
};

// Ranks with different boot ids cannot share memory. Equal boot ids prove nothing: containers on
// one machine show the same.
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

// Opens the segments of those who may share the node and are not opened yet. False: one was not to
// be had.
bool open_segments(job& j, const std::vector<card>& cards, std::vector<std::uint8_t>& opened) {
  const card& own = cards[static_cast<std::size_t>(j.rank)];
  bool all = true;
  for (int r = 0; r < j.size; ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (r == j.rank) opened[i] = 1;
    if (opened[i] || !same_pretended_node(j, r) || !may_share(own, cards[i])) continue;
    auto segment = shared_memory::open(cards[i].segment);
    opened[i] = segment.has_value();
    all = all && segment;
    if (segment) j.peers[i] = std::move(*segment);
  }
  return all;
}

// Where /proc does not show a rank (PID namespaces), all offer their segments' descriptors and try
// once more. So no rank has a thread for that where none needs it.
status open_offered_segments(job& j, std::vector<card>& cards, std::vector<std::uint8_t>& opened,
                             bool all) {
  int missing = !all, some_missing = 0;
  if (pmpi::Allreduce(&missing, &some_missing, 1, MPI_INT, MPI_MAX, j.control) != MPI_SUCCESS)
    return status::host_mpi_error;
  if (!some_missing) return status::ok;
  shared_memory::offer_all();
  static_cast<void>(j.own.offer());  // if it fails, those ranks do not share a node
  card own = cards[static_cast<std::size_t>(j.rank)];
  own.segment = j.own.name();
  if (pmpi::Allgather(&own, sizeof own, MPI_BYTE, cards.data(), sizeof own, MPI_BYTE, j.control) !=
      MPI_SUCCESS)
    return status::host_mpi_error;
  static_cast<void>(open_segments(j, cards, opened));
  return status::ok;
}

// Two ranks share a node if each could open the other's segment. The host MPI is not asked, because
// it compares host names. Containers, renamed hosts and its own settings can make that wrong in
// both directions.
status meet_node(job& j, std::size_t (*segment_bytes)()) {
  if (!j.own) TELPHER_TRY(shared_memory::create(segment_bytes(), "telpher").into(j.own));
  const auto count = static_cast<std::size_t>(j.size);
  j.peers.resize(count);
  std::vector<card> cards(count);
  const card own{j.own.name(), running_kernel(), {random_bits(), random_bits()}};
  if (pmpi::Allgather(&own, sizeof own, MPI_BYTE, cards.data(), sizeof own, MPI_BYTE, j.control) !=
      MPI_SUCCESS)
    return status::host_mpi_error;
  std::memcpy(j.nonce.data(), cards.front().nonce, sizeof own.nonce);
  std::vector<std::uint8_t> opened(count), opened_us(count);
  const bool all = open_segments(j, cards, opened);
  TELPHER_TRY(open_offered_segments(j, cards, opened, all));
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

// --- who is in the job ---

constinit lasting<roll_call> calling;

std::string text_of(const std::vector<int>& ranks) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  return ranks.size() > most ? text + ", ..." : text;
}

constexpr const char* remedy =
    "load it in all ranks (it costs those without a device nothing), or in none";

/// What all ranks of MPI_COMM_WORLD exchange first; the maximum of each member is taken.
struct summary {
  std::int64_t has_device, has_none;
  std::int64_t mark, mark_negated;    // of the settings
  std::int64_t table, table_negated;  // the same of the tuned table, 0: none
};
constexpr int summary_words = sizeof(summary) / sizeof(std::int64_t);

std::int64_t settings_mark() {
  return static_cast<std::int64_t>(std::hash<std::string>()(job_settings()) >> 1);
}

// If it is not known that all ranks carry the library, this may never complete; the wait is then
// bounded.
bool gather(MPI_Comm world, const summary& own, bool all_carry, summary& all) noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  if (pmpi::Iallreduce(&own, &all, summary_words, MPI_INT64_T, MPI_MAX, world, &request) !=
      MPI_SUCCESS)
    return false;
  const double limit = all_carry ? 0 : config().join_timeout.value;
  stall_clock clock;
  for (int done = 0;; pause(clock.polls())) {
    if (pmpi::Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done) return true;
    if (!clock.read()) continue;
    if (limit > 0 && clock.waited_us() > limit) {
      TELPHER_ERROR(
          "MPI_Init has waited %.0f s (TELPHER_JOIN_TIMEOUT) for all ranks to say that they carry "
          "Telpher, which some seem not to: %s; the job ends",
          clock.seconds(), remedy);
      end_program();
    }
    if (clock.warning_due())
      TELPHER_WARN("MPI_Init has waited %.0f s for all ranks to say that they carry Telpher",
                   clock.seconds());
  }
}

// All ranks must choose alike, so all drop theirs. The settings that came with it are not those
// whose marks were compared. False: there was something to drop.
bool drop_unequal_tables(const summary& all, int world_rank) noexcept {
  if (all.table == -all.table_negated) return true;
  tuning::drop();
  if (world_rank != 0) return false;
  if (all.has_none)
    TELPHER_INFO("the tuned table is not used: some ranks have no device");
  else
    TELPHER_WARN(
        "ranks have different tuned tables, or some have none (TELPHER_TABLE): the built-in "
        "choices are used on all; put the same file on every node, or TELPHER_TABLE=off");
  return false;
}

bool bcast(void* bytes, std::size_t count, MPI_Comm comm) noexcept {
  return pmpi::Bcast(bytes, static_cast<int>(count), MPI_BYTE, 0, comm) == MPI_SUCCESS;
}

// Each difference is logged once, by the first rank that has it.
status take_settings_of_first(const job& j) {
  std::string text = job_settings();
  std::uint64_t bytes = text.size();
  if (!bcast(&bytes, sizeof bytes, j.control)) return status::host_mpi_error;
  text.resize(bytes);
  if (!bcast(text.data(), bytes, j.control)) return status::host_mpi_error;
  const auto replaced = adopt_job_settings(text);
  constexpr int nobody = std::numeric_limits<int>::max();
  std::vector<int> mine(job_setting_count(), nobody), first(mine.size());
  for (const replaced_setting& r : replaced) mine[r.index] = j.rank;
  if (pmpi::Allreduce(mine.data(), first.data(), static_cast<int>(mine.size()), MPI_INT, MPI_MIN,
                      j.control) != MPI_SUCCESS)
    return status::host_mpi_error;
  for (const replaced_setting& r : replaced)
    if (first[r.index] == j.rank)
      TELPHER_WARN("%s is '%s' on rank %d and '%s' on rank 0: the value of rank 0 is used on all",
                   r.variable.c_str(), r.here.c_str(), j.rank, r.there.c_str());
  return status::ok;
}

// A session of our own, because the job may outlive each of the program's sessions. Its
// communicators are freed before it.
#if TELPHER_HOST_HAS_Session_init
MPI_Session& own_session() noexcept {
  static MPI_Session one = MPI_SESSION_NULL;  // set at first use: nothing of the host MPI may be
                                              // referred to at load time
  return one;
}

int make_from_session(bool whole_world, MPI_Comm* control) {
  if (own_session() == MPI_SESSION_NULL)
    if (const int rc = pmpi::Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own_session()))
      return rc;
  MPI_Group group = MPI_GROUP_NULL;
  int rc = pmpi::Group_from_session_pset(own_session(), whole_world ? "mpi://WORLD" : "mpi://SELF",
                                         &group);
  if (rc != MPI_SUCCESS) return rc;
  rc =
      pmpi::Comm_create_from_group(group, "telpher job", MPI_INFO_NULL, MPI_ERRORS_RETURN, control);
  pmpi::Group_free(&group);
  return rc;
}

/// Of mpi://WORLD, which has no communicator yet.
void place_in_world(job& j) noexcept {
  MPI_Group world = MPI_GROUP_NULL;
  if (pmpi::Group_from_session_pset(own_session(), "mpi://WORLD", &world) != MPI_SUCCESS) return;
  pmpi::Group_rank(world, &j.world_rank);
  pmpi::Group_size(world, &j.world_size);
  pmpi::Group_free(&world);
  log::set_rank(j.world_rank, j.world_size);
}

void end_session() noexcept {
  if (own_session() != MPI_SESSION_NULL) pmpi::Session_finalize(&own_session());
}
#else
int make_from_session(bool, MPI_Comm*) {
  return MPI_ERR_OTHER;
}
void place_in_world(job&) noexcept {}
void end_session() noexcept {}
#endif

// A communicator of all processes of the world, or of this one alone.
status make_control(MPI_Comm world, bool whole_world, bool same_settings, job& j) {
  const int rc = world != MPI_COMM_WORLD
                     ? make_from_session(whole_world, &j.control)
                     : pmpi::Comm_dup(whole_world ? world : MPI_COMM_SELF, &j.control);
  if (rc != MPI_SUCCESS) return status::host_mpi_error;
  pmpi::Comm_set_errhandler(j.control, MPI_ERRORS_RETURN);
  pmpi::Comm_rank(j.control, &j.rank);
  pmpi::Comm_size(j.control, &j.size);
  int* limit = nullptr;
  int found = 0;
  pmpi::Comm_get_attr(j.control, MPI_TAG_UB, &limit, &found);
  if (found) j.tag_limit = *limit;
  return same_settings ? status::ok : take_settings_of_first(j);
}

void explain_alone(const job& j, const std::vector<int>& absent) {
  int speaker = 0;  // the first rank that carries the library logs
  while (std::find(absent.begin(), absent.end(), speaker) != absent.end()) ++speaker;
  if (j.world_rank != speaker) return;
  TELPHER_WARN(
      "%zu of %d ranks (%s) do without Telpher: in the others device memory goes through host "
      "memory in all messages and collectives; %s",
      absent.size(), j.world_size, text_of(absent).c_str(), remedy);
}

}  // namespace

void announce() noexcept {
  calling->announce();
}

status join(MPI_Comm world, bool has_device, bool enabled, std::size_t (*segment_bytes)(),
            job& j) noexcept {
  pmpi::Comm_rank(world, &j.world_rank);
  pmpi::Comm_size(world, &j.world_size);
  log::set_rank(j.world_rank, j.world_size);
  if (!enabled) return status::ok;
  roll_call& call = *calling;
  const roll_call::answer found = call.ask(j.world_rank, j.world_size);
  if (found == roll_call::answer::some_here) {
    TELPHER_ERROR(
        "not all ranks of this node carry Telpher, and ranks of other nodes cannot be asked "
        "without disturbing them: %s; the job ends",
        remedy);
    end_program();
  }
  const bool whole_world = found != roll_call::answer::some;
  const std::int64_t mark = settings_mark();
  const std::int64_t table = tuning::mark();
  const summary own{has_device, !has_device, mark, -mark, table, -table};
  summary all = own;
  if (whole_world && !gather(world, own, found == roll_call::answer::all, all))
    return status::host_mpi_error;
  if (whole_world) call.end();  // otherwise slower ranks may still ask
  j.any_device = all.has_device != 0;
  j.all_devices = all.has_none == 0;
  if (!j.any_device) return status::ok;
  if (!whole_world) explain_alone(j, call.absent());
  const bool one_table = drop_unequal_tables(all, j.world_rank);
  TELPHER_TRY(make_control(world, whole_world, one_table && all.mark == -all.mark_negated, j));
  return meet_node(j, segment_bytes);
}

status wait_for_job(bool has_device, std::size_t (*segment_bytes)(), job& j) noexcept {
  j.waits = true;
  j.any_device = j.all_devices = has_device;
  if (!has_device) return status::ok;
  TELPHER_TRY(make_control(MPI_COMM_NULL, false, true, j));
  place_in_world(j);
  return meet_node(j, segment_bytes);
}

void leave(job& j) noexcept {
  calling->end();
  attribute_key::free_all();
  if (j.control == MPI_COMM_NULL) return;
  pmpi::Comm_free(&j.control);
  if (j.control_alone != MPI_COMM_NULL) pmpi::Comm_free(&j.control_alone);
  end_session();
  j.any_device = j.waits = false;
  j.peers.clear();
  j.node.clear();
  j.own = shared_memory();
  descriptor_broker::instance().stop();
  forget_members();
}

}  // namespace telpher::host_mpi
