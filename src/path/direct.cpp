// SPDX-License-Identifier: BSD-3-Clause
#include "path/direct.hpp"

#include <algorithm>
#include <vector>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "device/registry.hpp"
#include "host_mpi/test.hpp"
#include "path/block_plan.hpp"
#include "path/measured_choice.hpp"
#include "path/pipelined.hpp"

namespace telpher::path {
namespace {

// The host MPI's counts are int.
constexpr std::size_t piece_bytes = std::size_t{1} << 30;

enum permission : int { no = 0, measured = 1, always = 2 };

struct state {
  permission permitted = no;
  bool host_says_so = false;
  choices_by_size choices;  // by a byte's cost
};
lasting<state> the_state;

// Asks the program's MPI: MPICH and its descendants by a device type, Open MPI by name.
bool host_takes(const char* query, int mpich_type) noexcept {
  if (const auto ask = host_mpi::find_function<int(int, int*)>("MPIX_GPU_query_support")) {
    int yes = 0;
    return ask(mpich_type, &yes) == MPI_SUCCESS && yes;
  }
  const auto ask = host_mpi::find_function<int()>(query);
  return ask && ask();
}

bool host_takes(device::vendor v) noexcept {
  switch (v) {
    case device::vendor::cuda:
      return host_takes("MPIX_Query_cuda_support", 0);
    case device::vendor::sycl:
      return host_takes("MPIX_Query_ze_support", 1);
    case device::vendor::hip:
      return host_takes("MPIX_Query_rocm_support", 2);
    case device::vendor::emu:
      return config().test_emu_cpu_access;
    case device::vendor::none:
      break;
  }
  return false;
}

bool host_takes_all() noexcept {
  const auto& all = device::backends();
  return std::all_of(all.begin(), all.end(),
                     [](device::backend* b) { return host_takes(b->owner()); });
}

permission own_permission(bool host_says_so) noexcept {
  if (config().direct != "on") return host_says_so ? measured : no;
  for (device::backend* b : device::backends())
    if (b->owner() == device::vendor::emu && !host_says_so) {
      TELPHER_WARN("TELPHER_DIRECT=on: no MPI can touch the emulated device's memory");
      return no;
    }
  return always;
}

class handed_over final : public mover {
 public:
  template <class Start>
  handed_over(const region& r, const Start& start) noexcept
      : plan_(r.bytes, piece_bytes, 0, piece_bytes, true) {
    requests_.resize(plan_.count(), MPI_REQUEST_NULL);
    for (std::size_t k = 0; k < plan_.count(); ++k)
      if (start(r.data + plan_.offset(k), static_cast<int>(plan_.size(k)), &requests_[k]) !=
          MPI_SUCCESS)
        started_ = status::host_mpi_error;
  }
  status poll() noexcept override {
    TELPHER_TRY(started_);
    for (; done_ < requests_.size(); ++done_) TELPHER_TRY(host_mpi::test(requests_[done_]));
    return status::ok;
  }
  kind moved_by() const noexcept override { return kind::direct; }
  std::size_t moved() const noexcept override { return done_; }
  bool needs_us() const noexcept override { return false; }

 private:
  block_plan plan_;
  std::vector<MPI_Request> requests_;
  std::size_t done_ = 0;
  status started_ = status::ok;
};

}  // namespace

void direct::start(MPI_Comm control) noexcept {
  const bool says_so = config().direct != "off" && host_takes_all();
  int mine[2] = {own_permission(says_so), says_so}, all[2] = {};
  if (pmpi::Allreduce(mine, all, 2, MPI_INT, MPI_MIN, control) != MPI_SUCCESS) return;
  the_state->permitted = static_cast<permission>(all[0]);
  the_state->host_says_so = all[1] != 0;
  if (the_state->permitted != no)
    TELPHER_DEBUG("device pointers may go to the host MPI between nodes");
}

bool direct::serves() noexcept {
  return the_state->permitted != no && allowed(kind::direct);
}

bool direct::host_says_so() noexcept {
  return the_state->host_says_so;
}

bool direct::wanted(std::size_t bytes) noexcept {
  return the_state->permitted == always || forced() == kind::direct ||
         the_state->choices.of(bytes).next() == measured_choice::second;
}

void direct::learn(std::size_t bytes, bool by_this, std::uint64_t ns) noexcept {
  if (bytes == 0) return;
  the_state->choices.of(bytes).learn(by_this ? measured_choice::second : measured_choice::first,
                                     static_cast<double>(ns) / static_cast<double>(bytes));
}

std::unique_ptr<mover> send_direct(const wire& w, const region& from) noexcept {
  return std::make_unique<handed_over>(from, [&](const void* at, int n, MPI_Request* r) {
    return pmpi::Isend(at, n, MPI_BYTE, w.peer, w.block_tag(), w.control, r);
  });
}

std::unique_ptr<mover> receive_direct(const wire& w, const region& to) noexcept {
  return std::make_unique<handed_over>(to, [&](void* at, int n, MPI_Request* r) {
    return pmpi::Irecv(at, n, MPI_BYTE, w.peer, w.block_tag(), w.control, r);
  });
}

}  // namespace telpher::path
