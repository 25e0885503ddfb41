// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/calls.hpp"

#include <array>
#include <cmath>
#include <new>

#include "base/log.hpp"
#include "codec/accounting.hpp"
#include "coll/between/packed.hpp"
#include "host_mpi/error.hpp"
#include "path/path.hpp"

namespace telpher::coll::between {
namespace {

/// The other ranks are on their way.
void give_up(const char* name, MPI_Comm comm) noexcept {
  TELPHER_ERROR("%s: no memory for its schedule, while the other ranks run theirs", name);
  pmpi::Abort(comm, 1);
}

/// All ranks learn how wrong sums of compressed values may be: a sum has a part of every other
/// node, each with an error, and then one of its own.
status count_errors(const site& s, std::optional<int> own) noexcept {
  constexpr int none = -(1 << 20);
  const int mine = own.value_or(none);
  int worst = none;
  MPI_Request r = MPI_REQUEST_NULL;
  if (pmpi::Iallreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, s.room->wire, &r) != MPI_SUCCESS)
    return status::host_mpi_error;
  auto& e = ticket::progress();
  auto held = e.lock();
  int complete = 0, code = MPI_SUCCESS;
  e.wait_until(held, "the bound of compressed sums", [&] {
    code = pmpi::Test(&r, &complete, MPI_STATUS_IGNORE);
    return complete || code != MPI_SUCCESS;
  });
  if (code == MPI_SUCCESS && worst > none)
    codec::count_error(codec::method::zfp,
                       static_cast<double>(s.among.nodes.size()) * std::ldexp(1.0, worst));
  return code == MPI_SUCCESS ? status::ok : status::host_mpi_error;
}

/// `mine`: if it has failed, this rank takes part so that no other waits for it.
status run(site& s, call&& c, bool sums, status mine) {
  if (s.room->abandoned()) return status::peer_lost;
  const char* const name = c.name;
  const bool rounds = static_cast<bool>(c.how);
  runner one(*s.room, std::move(c), mine);
  auto& e = ticket::progress();
  {
    auto held = e.lock();
    e.enlist(one);
    e.wait_until(held, name, [&] { return one.done(); });
  }
  if (!rounds || !sums || s.room->abandoned()) return one.outcome();
  const status counted = count_errors(s, one.error_exponent());
  return failed(one.outcome()) ? one.outcome() : counted;
}

}  // namespace

bool run_blocking(const char* name, MPI_Comm comm, const exchange::arguments& a,
                  std::uint64_t bytes, int* code) noexcept {
  const auto way = agree(name, comm, a, bytes);
  if (!way) return false;
  try {
    site& s = *way->at;
    std::optional<packed_buffers> packed;
    if (!lies_plain(a)) packed.emplace(a, block_bytes(a, bytes), way->all.grain);
    auto made = call_of(name, packed ? packed->arguments() : a, *s.room, s.among, s.plans, way->all,
                        way->how);
    if (!made) return false;
    const std::uint64_t volume = made->bytes;
    s.settle(name, false);
    const status mine = packed ? packed->load() : status::ok;
    status came = run(s, std::move(*made), is_reduction(a.what), mine);
    if (packed && !failed(came)) came = packed->store();
    *code = failed(came) ? host_mpi::fail(comm, name, came, "a collective between nodes failed")
                         : MPI_SUCCESS;
    if (!failed(came) && !packed) path::count(path::kind::coll_levels, volume);
  } catch (const std::bad_alloc&) {
    give_up(name, comm);
  }
  return true;
}

// Types and operations of the program's may be gone when the call returns.
std::shared_ptr<crossing> start(const char* name, site& s, exchange::arguments&& a,
                                exchange::host_form&& host) noexcept {
  const bool at_once = !a.lasting || !a.possible;
  if (!host) {
    give_up(name, s.comm);
    return nullptr;
  }
  try {
    auto made =
        std::make_shared<crossing>(name, *s.room, s.among, s.plans, std::move(a), std::move(host));
    auto held = ticket::progress().lock();
    s.crossings.add(held, made, at_once);
    return made;
  } catch (const std::bad_alloc&) {
    give_up(name, s.comm);
    return nullptr;
  }
}

namespace {

class rounds final : public persistent_rounds {
 public:
  rounds(site& channel, exchange::arguments&& a) noexcept
      : channel_(channel), arguments_(std::move(a)) {}
  ~rounds() override { channel_.in_use = false; }

  std::shared_ptr<deferred_call> start(ticket::held_lock& held, const char* call,
                                       host_start&& host) noexcept override {
    try {
      auto made = std::make_shared<crossing>(call, *channel_.room, channel_.among, channel_.plans,
                                             exchange::arguments(arguments_), std::move(host));
      channel_.crossings.add(held, made, false);
      return made;
    } catch (const std::bad_alloc&) {
      give_up(call, channel_.room->wire);
      return nullptr;
    }
  }

 private:
  site& channel_;
  exchange::arguments arguments_;
};

}  // namespace

std::unique_ptr<persistent_rounds> make_rounds(const char* name, MPI_Comm comm,
                                               exchange::arguments&& a,
                                               std::uint64_t bytes) noexcept {
  a.lasting = true;  // the host MPI's request keeps the types
  const auto way = agree_on_request(name, comm, a, bytes);
  site* const channel = way ? take_channel(*way, a.where) : nullptr;
  return channel ? std::make_unique<rounds>(*channel, std::move(a)) : nullptr;
}

}  // namespace telpher::coll::between
