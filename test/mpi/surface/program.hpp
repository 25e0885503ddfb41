// SPDX-License-Identifier: BSD-3-Clause
// Random programs over the whole of MPI. All ranks draw the same plan from the seed, a list of
// steps; each step is a call, or the two ends of a message, or an epoch of a window. A batch of
// steps is run twice: one step after the other by blocking calls on host memory, which is the
// model (plain.hpp), and then in any form, in any memory, with other steps under way. Both must
// leave every byte, and every status, alike. All ranks begin the steps in the same order, and may
// wait only for those that they have begun: so no mixture of blocking calls can stand still.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "../collective_calls.hpp"
#include "layouts.hpp"
#include "plain.hpp"

namespace surface {

using mpi_test::form;

/// Memory that a call reads or writes.
struct area {
  std::vector<unsigned char> before;  // its content
  std::vector<unsigned char> wanted;  // what the model left
  std::size_t undefined_from = SIZE_MAX;
  MPI_Aint low = 0;  // where it begins, seen from the address that is passed
  kind where = kind::host;
  std::string of;  // of which call, where the step has several
  std::optional<buffer> memory;
};

struct open_request {
  MPI_Request request = MPI_REQUEST_NULL;
  bool receives = false;  // its status is compared
  bool persistent = false;
  bool open = true;
  MPI_Status status{};
};

/// A step that runs: the addresses of its areas and its requests.
struct running {
  suite& s;
  form how = form::blocking;
  bool model = false;
  std::vector<unsigned char*> at;
  std::deque<open_request> requests;
  std::deque<plain::byte_list> packed;  // what the model's requests send
  std::vector<MPI_Status> statuses;     // of receives, in the order of their ends in the model

  MPI_Request* add(bool receives = false) {
    requests.push_back({});
    requests.back().receives = receives;
    return &requests.back().request;
  }
  /// A persistent request that was made is started.
  void start() {
    requests.back().persistent = true;
    MPI_Start(&requests.back().request);
  }
};

struct step {
  explicit step(suite& s) : real{s} {}
  std::string what;
  form how = form::blocking;
  std::vector<area> areas;
  type_list types;
  std::function<void(running&)> model;
  std::function<void(running&)> call;
  std::vector<MPI_Status> model_statuses;
  running real;
  bool collective = false;
  bool may_free_types = true;  // as soon as the call has returned
  long operations = 1;         // this rank's, at each start

  /// An area with random content, or with that which `fill` writes.
  std::size_t add_area(const span& bytes, kind where, std::uint64_t id);
  std::size_t add_area(std::vector<unsigned char> content, kind where);
};

/// What the steps have in common.
struct world {
  suite& s;
  std::vector<MPI_Comm> comms;  // some of them null at some ranks
  std::vector<MPI_Comm> topologies;
  int next_tag = 0;
  bool has_session = false;  // comms[2] is outside the job
};

/// Which memory the areas of a step have, at each rank.
class placing {
 public:
  explicit placing(random_numbers& random) : policy_(random.below(100)), seed_(random.next()) {}
  kind of(int rank, int which) const;
  /// No rank has device memory.
  bool without_device(int ranks) const;

 private:
  std::size_t policy_;
  std::uint64_t seed_;
};

/// What a maker gets: the same numbers at all ranks, and numbers of this rank.
struct draw {
  draw(std::uint64_t seed, int rank)
      : shared(seed), mine(mix(seed + 77) + static_cast<std::uint64_t>(rank)) {}
  random_numbers shared, mine;
};

/// A maker returns null at ranks that take no part in the step.
using maker = std::unique_ptr<step> (*)(world&, draw&, form);
std::unique_ptr<step> make_message(world&, draw&, form);
std::unique_ptr<step> make_exchange(world&, draw&, form);  // Sendrecv and its kin
std::unique_ptr<step> make_partitioned(world&, draw&, form);
std::unique_ptr<step> make_movement(world&, draw&, form);  // collectives that move data
std::unique_ptr<step> make_reduction(world&, draw&, form);
std::unique_ptr<step> make_neighbours(world&, draw&, form);
std::unique_ptr<step> make_packing(world&, draw&, form);  // and MPI_Reduce_local
std::unique_ptr<step> make_window(world&, draw&, form);
std::unique_ptr<step> make_file(world&, draw&, form);

/// A collective in the form that the step has, or the model's.
void make_collective(mpi_test::collective_call which, const mpi_test::call_arguments& x,
                     running& r);

}  // namespace surface
