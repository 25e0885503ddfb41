// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/entry.hpp"

#include <cstdlib>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "mpi/explain.hpp"
#include "mpi/operation.hpp"
#include "ticket/engine.hpp"

namespace telpher::entry {

std::atomic<bool> active_flag{false};

namespace {

// The settings are checked where the program can be told; a bad value was replaced by its default.
void report_setting_problems() noexcept {
  for (const setting_problem& p : setting_problems()) {
    if (p.fatal) TELPHER_ERROR("%s", p.text.c_str());
    else TELPHER_WARN("%s", p.text.c_str());
  }
}

void start(int provided) noexcept {
  report_setting_problems();
  ticket::engine& e = ticket::the_engine();
  const status s = e.start(provided == MPI_THREAD_MULTIPLE);
  if (s != status::ok) {
    // Some ranks may have gone on: a job that is half active would hang.
    TELPHER_ERROR("cannot start (%s); run with TELPHER_ENABLE=off to do without", to_string(s));
    pmpi::Abort(MPI_COMM_WORLD, 1);
  }
  if (e.job().any_device) active_flag.store(true);
  explain::started();
}

int error_class(status s) noexcept {
  switch (s) {
    case status::truncated: return MPI_ERR_TRUNCATE;
    case status::invalid_argument: return MPI_ERR_ARG;
    case status::out_of_memory: return MPI_ERR_NO_MEM;
    case status::not_supported: return MPI_ERR_UNSUPPORTED_OPERATION;
    default: return MPI_ERR_OTHER;
  }
}

int raise(MPI_Comm comm, int code) noexcept {
  pmpi::Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, code);
  return code;
}

}  // namespace

int init(int* argc, char*** argv) noexcept {
  const int rc = pmpi::Init(argc, argv);
  int provided = MPI_THREAD_SINGLE;
  if (rc == MPI_SUCCESS) pmpi::Query_thread(&provided), start(provided);
  return rc;
}

int init_thread(int* argc, char*** argv, int required, int* provided) noexcept {
  const int rc = pmpi::Init_thread(argc, argv, required, provided);
  if (rc == MPI_SUCCESS) start(*provided);
  return rc;
}

namespace {

// Memory of requests that the program freed while they were active is in use until they are done.
void finish_abandoned() noexcept {
  ticket::engine& e = ticket::the_engine();
  auto held = e.lock();
  e.wait_until(held, "MPI_Finalize (requests freed while active)", [] {
    mpi::sweep();
    return mpi::abandoned() == 0;
  });
}

}  // namespace

int finalize() noexcept {
  explain::ending();
  if (active()) {
    finish_abandoned();
    ticket::the_engine().stop();
    active_flag.store(false);
  }
  return pmpi::Finalize();
}

blocking_call::blocking_call() noexcept {
  if (!active()) return;
  ticket::engine& e = ticket::the_engine();
  auto held = e.lock();
  e.detach(held);
  e.own().header().blocked.fetch_add(1, std::memory_order_release);
}

blocking_call::~blocking_call() {
  if (active()) ticket::the_engine().own().header().blocked.fetch_sub(1, std::memory_order_release);
}

int fail(MPI_Comm comm, const char* call, status s, const char* detail) noexcept {
  TELPHER_ERROR("%s: %s%s%s", call, to_string(s), detail && *detail ? ": " : "", detail ? detail : "");
  return raise(comm, error_class(s));
}

int refuse_device_memory(MPI_Comm comm, const char* call,
                         std::initializer_list<const void*> buffers) noexcept {
  for (const void* b : buffers) {
    if (!memory::classify(b).on_device()) continue;
    TELPHER_ERROR("%s cannot take device memory (address %p) yet: pass a host buffer and copy", call, b);
    return raise(comm, MPI_ERR_UNSUPPORTED_OPERATION);
  }
  return MPI_SUCCESS;
}

void comm_freed(MPI_Comm comm) noexcept { host_mpi::forget(comm); }

}  // namespace telpher::entry
