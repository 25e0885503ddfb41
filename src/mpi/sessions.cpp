// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/sessions.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/lasting.hpp"
#include "base/settings.hpp"
#include "host_mpi/job.hpp"
#include "mpi/entry.hpp"
#include "mpi/info_key.hpp"
#include "mpi/lineage.hpp"

namespace telpher::sessions {

#if TELPHER_HOST_HAS_Session_init

namespace {

// Sessions are opened and closed by any thread; the job is joined and left by one at a time, since
// both are collective.
std::mutex guard;
bool made_job = false;

lasting<std::vector<MPI_Session>> open;

std::size_t open_count() noexcept {
  const std::lock_guard lock(guard);
  return open->size();
}

/// Whether the communicator has all processes that were started with this one.
bool has_whole_world(MPI_Comm comm) noexcept {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  {
    const std::lock_guard lock(guard);
    if (open->empty() ||
        pmpi::Group_from_session_pset(open->back(), "mpi://WORLD", &world) != MPI_SUCCESS)
      return false;
  }
  int same = MPI_UNEQUAL;
  pmpi::Comm_group(comm, &group);
  pmpi::Group_compare(group, world, &same);
  pmpi::Group_free(&group);
  pmpi::Group_free(&world);
  return same != MPI_UNEQUAL;
}

}  // namespace

bool keep_job() noexcept {
  return made_job && open_count() > 0;
}

int init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) noexcept {
  if (config().enable && !entry::has_joined()) host_mpi::announce();
  const int rc = pmpi::Session_init(info, errhandler, session);
  if (rc != MPI_SUCCESS) return rc;
  const std::lock_guard lock(guard);
  open->push_back(*session);
  return rc;
}

int finalize(MPI_Session* session) noexcept {
  bool last = false;
  {
    const std::lock_guard lock(guard);
    std::erase(*open, *session);
    last = open->empty();
  }
  if (last && (made_job || ticket::job().waits) && !host_mpi::world_model) {
    made_job = false;
    entry::shut_down();
  }
  const entry::blocking_call guard_of_call;
  return pmpi::Session_finalize(session);
}

int comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                           MPI_Errhandler errhandler, MPI_Comm* newcomm) noexcept {
  int rc = MPI_SUCCESS;
  {
    const entry::blocking_call guard_of_call;
    rc = pmpi::Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
  }
  if (rc != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return rc;
  // Any session may be used by several threads.
  const bool first = !entry::has_joined() && has_whole_world(*newcomm);
  if (first) {
    made_job = true;
    entry::start(true, *newcomm);
  } else {
    entry::wait_for_job();
  }
  entry::noting(rc, newcomm);
  if (!entry::active()) return rc;
  mpi::lineage::made_among(mpi::lineage::of_text(stringtag), *newcomm);
  mpi::take_keys(info, *newcomm);
  if (!first) entry::comm_made(*newcomm);
  return rc;
}

int intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote,
                                 int remote_leader, const char* stringtag, MPI_Info info,
                                 MPI_Errhandler errhandler, MPI_Comm* newcomm) noexcept {
  int rc = MPI_SUCCESS;
  {
    const entry::blocking_call guard_of_call;
    rc = pmpi::Intercomm_create_from_groups(local, local_leader, remote, remote_leader, stringtag,
                                            info, errhandler, newcomm);
  }
  if (rc != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return rc;
  entry::wait_for_job();
  entry::noting(rc, newcomm);
  if (entry::active()) mpi::lineage::made_among(mpi::lineage::of_text(stringtag), *newcomm);
  return rc;
}

#else

bool keep_job() noexcept {
  return false;
}

#endif

}  // namespace telpher::sessions
