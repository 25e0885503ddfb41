// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/entry.hpp"

#include <cstdlib>
#include <mutex>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/trace.hpp"
#include "codec/choice.hpp"
#include "coll/exchange/communicator.hpp"
#include "coll/between/limits.hpp"
#include "coll/between/ways.hpp"
#include "coll/exchange/selection.hpp"
#include "device/registry.hpp"
#include "device/stream_variables.hpp"
#include "mpi/explain.hpp"
#include "mpi/far_partitions.hpp"
#include "mpi/handles.hpp"
#include "mpi/lineage.hpp"
#include "mpi/message_channel.hpp"
#include "mpi/request_object.hpp"
#include "mpi/partitioned.hpp"
#include "mpi/repeated.hpp"
#include "mpi/sessions.hpp"
#include "mpi/tuned.hpp"
#include "path/compression.hpp"
#include "rma/relay.hpp"
#include "rma/window.hpp"
#include "stream/proxy.hpp"
#include "stream/settle.hpp"
#include "ticket/job_life.hpp"
#include "ticket/stash.hpp"

namespace telpher::entry {

namespace {

// The settings are checked where the program can be told; a bad value was replaced by its default.
void report_setting_problems() noexcept {
  for (const setting_problem& p : setting_problems()) {
    if (p.fatal)
      TELPHER_ERROR("%s", p.text.c_str());
    else
      TELPHER_WARN("%s", p.text.c_str());
  }
  const std::string unknown(coll::exchange::unknown_algorithm(config().coll_algorithm));
  if (!unknown.empty())
    TELPHER_WARN("TELPHER_COLL_ALGORITHM: there is no %s; telpher coll list prints what there is",
                 unknown.c_str());
  const std::string wrong(coll::between::wrong_limit(config().coll_between));
  if (!wrong.empty())
    TELPHER_WARN(
        "TELPHER_COLL_BETWEEN: %s is no collective between nodes with a size or never, such as "
        "allreduce=4m",
        wrong.c_str());
}

bool joined = false;

}  // namespace

bool has_joined() noexcept {
  return joined;
}

namespace {

// Some ranks may have gone on: a job that is half active would hang.
void insist_on(status s, MPI_Comm world) noexcept {
  if (s == status::ok) return;
  TELPHER_ERROR(
      "cannot start (%s): raise the limits of memory and files (ulimit), or lower "
      "TELPHER_STAGING_MEMORY; with TELPHER_ENABLE=off the job does without device memory",
      to_string(s));
  host_mpi::end_program(world);
}

void become_active() noexcept {
  mpi::begin_handles();
  mpi::lineage::start();
  mpi::by_messages::start();
  coll::exchange::communicator::start();
  rma::start_windows();
  partitioned::start();
  stream::start();
  stream::begin_settling();
  short_way::set(short_way::inactive, false);
  trace::begin(ticket::job().world_rank, ticket::job().world_size);
}

/// Restarts what began earlier and depends on who is in the job.
void take_world() noexcept {
  partitioned::stop();
  partitioned::start();
  if (host_mpi::world_model) mpi::lineage::name_world();
}

}  // namespace

void start(bool threaded, MPI_Comm world) noexcept {
  const bool waited = ticket::job().waits;
  if (!waited) report_setting_problems();
  joined = true;
  tuned::load();
  insist_on(ticket::start(threaded, world), world);
  coll::between::take_limits();
  codec::configured();  // says now what is wrong with its text
  if (active())
    take_world();
  else if (ticket::job().any_device)
    become_active();
  if (active()) comm_made(world);
  explain::started();
}

// Local, so any thread may come to it.
void wait_for_job() noexcept {
  static constinit std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (!config().enable || joined || ticket::job().waits) return;
  report_setting_problems();
  insist_on(ticket::wait_for_job(), MPI_COMM_NULL);
  coll::between::take_limits();
  if (!ticket::job().any_device) return;
  become_active();
  explain::waits();
}

namespace {

// Before the host MPI starts, and its threads.
void prepare() noexcept {
  if (!config().enable || joined) return;
  device::set_stream_variables();
  host_mpi::announce();
}

void start_world(int provided) noexcept {
  host_mpi::world_model = true;
  if (!joined)
    start(provided == MPI_THREAD_MULTIPLE, MPI_COMM_WORLD);
  else if (active())
    mpi::lineage::name_world();  // joined by a session
}

}  // namespace

int init(int* argc, char*** argv) noexcept {
  prepare();
  int provided = MPI_THREAD_SINGLE;
  const int rc = config().enable && config().streams
                     ? pmpi::Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                     : pmpi::Init(argc, argv);
  if (rc == MPI_SUCCESS) pmpi::Query_thread(&provided), start_world(provided);
  return rc;
}

int init_thread(int* argc, char*** argv, int required, int* provided) noexcept {
  prepare();
  if (config().enable && config().streams) required = MPI_THREAD_MULTIPLE;
  const int rc = pmpi::Init_thread(argc, argv, required, provided);
  if (rc == MPI_SUCCESS) start_world(*provided);
  return rc;
}

void shut_down() noexcept {
  explain::ending();
  joined = false;
  if (active()) {
    device::look_for_resets();
    {
      auto held = ticket::progress().lock();
      ticket::progress().wait_until(held, "MPI_Finalize, for what was enqueued in streams",
                                    [] { return stream::idle(); });
    }
    stream::stop();
    partitioned::stop_far();
    rma::relays::stop();
    stream::end_settling();
    {
      auto held = ticket::progress().lock();
      ticket::end_messages(held, mpi::sweep);
    }
    mpi::forget_repeated();
    coll::exchange::communicator::shut_down();
    coll::between::shut_down();
    partitioned::stop();
    mpi::by_messages::stop();
    mpi::lineage::stop();
    ticket::stop();
    mpi::end_handles();
    trace::end();
    short_way::set(short_way::inactive, true);
  }
}

int finalize() noexcept {
  if (!sessions::keep_job()) shut_down();
  host_mpi::world_model = false;
  return pmpi::Finalize();
}

// Operations that have ended meanwhile give their memory back when they are looked at.
int refuse_unless_freed(const host_mpi::error_owner& owner, const char* call) noexcept {
  {
    auto held = ticket::progress().lock();
    ticket::progress().poll();
  }
  if (!host_mpi::memory_is_short()) return MPI_SUCCESS;
  return fail(owner, call, status::out_of_memory, "the host's memory; what is under way goes on");
}

// A receive from nobody touches no memory. Ask on our communicator first: if the program has set
// an error handler, MPICH returns success. On an error ask again on the program's, so that its
// handler runs.
int host_refuses(MPI_Comm comm, int count, MPI_Datatype type) noexcept {
  std::byte untouched;
  const auto ask = [&](MPI_Comm on) {
    return pmpi::Recv(&untouched, count, type, MPI_PROC_NULL, 0, on, MPI_STATUS_IGNORE);
  };
  const int rc = ask(ticket::job().control);
  if (rc != MPI_SUCCESS) ask(comm);
  return rc;
}

// Ask with one element: for a count of 0 the type is not checked.
int refuse_buffer(MPI_Comm comm, const char* call, status s, MPI_Count count,
                  MPI_Datatype type) noexcept {
  const int rc = host_refuses(comm, count < 0 ? -1 : 1, type);
  return rc != MPI_SUCCESS ? rc : fail(comm, call, s, "its buffer");
}

void keep_order(MPI_Comm comm) noexcept {
  coll::exchange::communicator::keep_order(comm);
}

void comm_made(MPI_Comm comm) noexcept {
  coll::between::prepare(comm);
}

void comm_freed(MPI_Comm comm) noexcept {
  if (active()) {
    {
      auto held = ticket::progress().lock();
      ticket::stash::instance().forget(held, comm);
    }
    mpi::settle_repeated(comm);
    coll::exchange::communicator::forget(comm);
    mpi::forget_repeated(comm);
    coll::between::forget(comm);
  }
  host_mpi::note_freed(comm);
}

}  // namespace telpher::entry
