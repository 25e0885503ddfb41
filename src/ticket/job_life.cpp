// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/job_life.hpp"

#include <numeric>

#include "device/registry.hpp"
#include "host_mpi/error.hpp"
#include "host_mpi/received.hpp"
#include "path/direct.hpp"
#include "path/inbox.hpp"
#include "path/unpack.hpp"
#include "path/copier.hpp"
#include "ticket/plain_receives.hpp"
#include "ticket/receives.hpp"
#include "ticket/sends.hpp"
#include "ticket/stash.hpp"

namespace telpher::ticket {

namespace {

void make_all() noexcept {
  the_peers.make();
  the_progress_engine.make(peers());
  the_send_list.make(peers(), progress());
  the_receive_list.make(peers(), progress());
  the_plain_receives.make();
  the_stash.make(receives());
}

void open_segments() noexcept {
  peer_table& p = peers();
  const auto held = progress().lock();
  p.open();
  progress().nap(config().nap == "auto" ? p.crowded() : config().nap == "on");
  path::burst::permit(!p.crowded() && !device::find(device::vendor::emu));
}

}  // namespace

status start(bool threaded, MPI_Comm world) noexcept {
  make_all();
  peer_table& p = peers();
  if (!p.job().any_device) progress().start(threaded);  // else there may be locks
  if (config().enable) device::discover();
  host_mpi::job found;
  TELPHER_TRY(p.find(world, found));
  {
    const auto held = progress().lock();
    p.enter(std::move(found));
    if (!p.job().any_device) return status::ok;
    path::start_inboxes();
    p.lay_out_own();
  }
  progress().meet_node("MPI_Init");  // every segment is laid out
  open_segments();
  path::rdma::start(p.job().control, p.job().size);
  path::direct::start(p.job().control);
  return status::ok;
}

status wait_for_job() noexcept {
  make_all();
  progress().start(true);  // any session may be used by several threads
  device::discover();
  host_mpi::job found;
  TELPHER_TRY(peers().wait_for_job(found));
  peers().enter(std::move(found));
  if (!job().any_device) return status::ok;
  path::start_inboxes();
  peers().lay_out_own();
  open_segments();
  return status::ok;
}

void stop() noexcept {
  if (!job().any_device) return;
  auto held = progress().lock();
  receives().leave_rest();
  plain().forget_all();
  peers().stop_bell();
  path::rdma::stop();
  path::close_inboxes();
  path::copier::shut_down();
  path::stop_unpacking();
  datatype::shut_down();
  peers().leave();
}

namespace {

void wait_for_all(held_lock& held, void (*meanwhile)()) noexcept {
  MPI_Request all_here = MPI_REQUEST_NULL;
  if (pmpi::Ibarrier(job().control, &all_here) != MPI_SUCCESS) return;
  int here = 0;
  progress().wait_until(held, "MPI_Finalize", [&] {
    meanwhile();
    return pmpi::Test(&all_here, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS || here != 0;
  });
}

/// Receives a message of anybody's, if there is one, and throws it away. False: the host MPI
/// failed.
bool throw_one_away(MPI_Comm comm, bool& there) {
  int flag = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status s;
  progress().listen();
  if (pmpi::Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &s) != MPI_SUCCESS)
    return false;
  there = flag != 0;
  if (!there) return true;
  std::vector<std::byte> scratch(host_mpi::bytes_of(s));
  return pmpi::Mrecv(scratch.data(), static_cast<int>(scratch.size()), MPI_BYTE, &message,
                     MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

// Collective. Blocks that were sent ahead for messages without a receive: a host MPI may not end
// while they lie on the private communicator. Doorbells lie there too.
void take_unasked() noexcept {
  if (peers().all_near()) return;
  const MPI_Comm control = job().control;
  std::vector<int> sent(static_cast<std::size_t>(job().size)), here(sent.size());
  sends().add_unasked(sent);
  if (pmpi::Alltoall(sent.data(), 1, MPI_INT, here.data(), 1, MPI_INT, control) != MPI_SUCCESS)
    return;
  bool there = false;
  for (int left = std::accumulate(here.begin(), here.end(), 0); left > 0; left -= there)
    if (!throw_one_away(control, there)) return;
}

// Messages that the program has not received. MPICH refuses to end while one lies on
// MPI_COMM_WORLD. Without Telpher it has mostly not seen them by then; waiting for all has shown
// them to it.
void take_unreceived() noexcept {
  if (!host_mpi::world_model) return;
  bool there = true;
  while (there && throw_one_away(MPI_COMM_WORLD, there)) {
  }
}

}  // namespace

// Once all ranks are here no receive will be posted. A posted receive may have its message in the
// host MPI. When all ranks have taken these, the sends that are left have no receiver.
void end_messages(held_lock& held, void (*meanwhile)()) noexcept {
  wait_for_all(held, meanwhile);
  receives().check_all();
  progress().wait_until(held, "MPI_Finalize (messages on their way)", [&] {
    meanwhile();
    return receives().arriving() == 0;
  });
  wait_for_all(held, meanwhile);
  sends().look_at_all();
  progress().poll();  // hears the last answers
  progress().wait_until(held, "MPI_Finalize (sends)", [] { return !sends().copying(); });
  take_unasked();
  take_unreceived();
  sends().leave_rest();
}

}  // namespace telpher::ticket
