// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/matching.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/lasting.hpp"
#include "base/settings.hpp"
#include "mpi/deferred.hpp"
#include "mpi/entry.hpp"
#include "mpi/far_partitions.hpp"
#include "mpi/partitioned_request.hpp"
#include "path/matched_partitions.hpp"

namespace telpher::partitioned {
namespace {

enum class role : std::int32_t { invitation, answer, verdict };

struct card {
  channel of;
  role as;
  std::int32_t receiver;  // rank of the job
  std::int32_t serves;
  path::matched_side side;
};

using card_key = std::tuple<channel, role, std::int32_t>;

/// Cards that have come and are not used yet.
made_at_start<std::map<card_key, card>> cards;

void listen() noexcept {
  for (card c; take_note(&c, sizeof c, card_tag());)
    cards->insert_or_assign({c.of, c.as, c.receiver}, c);
}

bool take(const channel& of, role as, int receiver, card& out) noexcept {
  const auto found = cards->find({of, as, receiver});
  if (found == cards->end()) return false;
  out = found->second;
  cards->erase(found);
  return true;
}

/// One request of a call of telpher_match.
class party {
 public:
  party(const char* call, end& e) noexcept : call_(call), end_(e) {
    buffer_ = e.one_run();
    if (e.peer() < 0 || !buffer_ || e.bytes() == 0) return;
    if (e.args().whole && e.bytes() > config().stream_matched_limit) return;
    const bool near = ticket::peers().near(e.peer());
    if (!near && e.args().whole) return;
    const memory::place where = memory::classify(buffer_);
    if (!near && where.on_device()) far_ = far_way_of(where);
    if (near || far_.queue) where_ = where;
  }

  const memory::place& where() const noexcept { return where_; }
  std::size_t room() const noexcept {
    return end_.args().whole ? path::matched_message::room_for(end_.sends(), end_.bytes())
                             : path::matched_partitions::room_for(end_.sends(), partitions());
  }
  void make(const std::shared_ptr<path::matched_room>& in) noexcept {
    if (end_.args().whole)
      own_ = std::make_unique<path::matched_message>(in, end_.sends(), buffer_, end_.bytes());
    else
      own_ = std::make_unique<path::matched_partitions>(in, end_.sends(), buffer_, end_.bytes(),
                                                        partitions(), far_);
  }
  int begin() noexcept {
    if (end_.peer() < 0) over_ = true;
    return end_.sends() && !over_ ? tell(role::invitation, own_ != nullptr) : MPI_SUCCESS;
  }
  /// True once it is known how the request goes.
  bool advance(int& rc) noexcept {
    if (!over_ && rc == MPI_SUCCESS) rc = end_.sends() ? send_side() : receive_side();
    return over_ || rc != MPI_SUCCESS;
  }
  void finish() noexcept {
    end_.matched = std::move(own_);
    TELPHER_INFO("%s: a %s of %llu bytes %s rank %d goes by %s", call_,
                 end_.sends() ? "send" : "receive", static_cast<unsigned long long>(end_.bytes()),
                 end_.sends() ? "to" : "from", end_.peer(),
                 !end_.matched ? "messages of the host MPI"
                 : far_.queue  ? "commands of the device to a thread of the host"
                               : "the devices alone");
    far_ = {};
  }

 private:
  std::uint64_t partitions() const noexcept {
    return static_cast<std::uint64_t>(end_.partitions());
  }
  int receiver() const noexcept { return end_.sends() ? end_.peer() : ticket::job().rank; }

  int tell(role as, bool serves) noexcept {
    card c{};
    c.of = end_.name();
    c.as = as;
    c.receiver = receiver();
    c.serves = serves;
    if (own_) c.side = own_->side();
    return send_note(end_, call_, &c, sizeof c, card_tag());
  }

  bool connect(const card& c) noexcept {
    const bool serves =
        own_ && c.serves && own_->connect(end_.peer(), ticket::job().rank, c.side) == status::ok;
    if (!serves) own_.reset();
    return serves;
  }

  int send_side() noexcept {
    card answer;
    if (!take(end_.name(), role::answer, receiver(), answer)) return MPI_SUCCESS;
    over_ = true;
    return tell(role::verdict, connect(answer));
  }

  int receive_side() noexcept {
    card c;
    if (take(end_.name(), role::invitation, receiver(), c)) return tell(role::answer, connect(c));
    if (!take(end_.name(), role::verdict, receiver(), c)) return MPI_SUCCESS;
    over_ = true;
    if (!c.serves) own_.reset();
    return MPI_SUCCESS;
  }

  const char* call_;
  end& end_;
  std::byte* buffer_;
  memory::place where_;
  path::far_way far_;  // of a partitioned request
  std::unique_ptr<path::matched_end> own_;
  bool over_ = false;
};

/// Those on one device share a room. Without memory for it they are served by the host MPI.
void make_rooms(std::vector<party>& all) noexcept {
  for (party& first : all) {
    if (!first.where().on_device()) continue;
    const memory::place where = first.where();
    std::size_t bytes = 0, ends = 0;
    for (const party& p : all)
      if (p.where() == where) bytes += p.room(), ++ends;
    if (&first !=
        &*std::find_if(all.begin(), all.end(), [&](const party& p) { return p.where() == where; }))
      continue;  // its room was made with the first one's
    const auto room = path::matched_room::make(where, bytes, ends);
    if (!room) continue;
    for (party& p : all)
      if (p.where() == where) p.make(*room);
  }
}

using collective = mpi::persistent_collective;
using mpi::find_stream_request;
using mpi::refuse_request;

/// Of the host MPI alone: a persistent collective may be, and stays so.
bool is_hosts(MPI_Request request) noexcept {
  return request != MPI_REQUEST_NULL && !mpi::find(request);
}

int check(const char* call, int count, const MPI_Request requests[]) noexcept {
  if (count < 0)
    return host_mpi::fail_with(MPI_COMM_SELF, call, MPI_ERR_COUNT, "a negative number of requests");
  for (int i = 0; i < count; ++i) {
    mpi::stream_request* const r = find_stream_request(requests[i]);
    if (!r && !is_hosts(requests[i]))
      return refuse_request(
          call, MPI_ERR_REQUEST, i,
          "it is no persistent collective, no partitioned request, and was not made by "
          "telpher_matched_send_init or telpher_matched_recv_init");
    if (r && r->matched_at())
      return refuse_request(call, MPI_ERR_REQUEST, i, "it was matched before");
    if (r && r->active()) return refuse_request(call, MPI_ERR_REQUEST, i, "it is active");
    for (int j = 0; j < i; ++j)
      if (requests[j] == requests[i])
        return refuse_request(call, MPI_ERR_REQUEST, i, "it is in the list twice");
  }
  return MPI_SUCCESS;
}

/// The agreements on collectives of a call of telpher_match, and what came of them.
class collectives_to_match {
 public:
  void add(collective& c) noexcept {
    if (auto begun = c.match()) all_.push_back({&c, std::move(begun)});
  }
  bool advance() noexcept {
    bool over = true;
    for (one& o : all_) over = o.agreement->advance() && over;
    return over;
  }
  void finish(const char* call) noexcept {
    for (one& o : all_) {
      o.of->replay = o.agreement->take();
      TELPHER_INFO("%s: a persistent collective goes by %s", call,
                   o.of->replay ? "the devices alone" : "rounds of the progress engine");
    }
  }

 private:
  struct one {
    collective* of;
    std::unique_ptr<coll::exchange::matching> agreement;
  };
  std::vector<one> all_;
};

}  // namespace

int match(const char* call, int count, const MPI_Request requests[]) noexcept {
  ticket::visit v;
  if (const int rc = check(call, count, requests)) return rc;
  std::vector<party> all;
  all.reserve(static_cast<std::size_t>(count));
  collectives_to_match collectives;
  for (int i = 0; i < count; ++i) {
    mpi::stream_request* const r = find_stream_request(requests[i]);
    if (end* const e = as_end(r))
      all.emplace_back(call, *e);
    else if (r)
      collectives.add(*static_cast<collective*>(r));
  }
  make_rooms(all);
  int rc = MPI_SUCCESS;
  for (party& p : all)
    if (rc == MPI_SUCCESS) rc = p.begin();
  ticket::progress().wait_until(v.held, call, [&] {
    listen();
    bool over = collectives.advance();
    for (party& p : all) over = p.advance(rc) && over;
    return over;
  });
  collectives.finish(call);
  if (rc != MPI_SUCCESS) return rc;
  for (party& p : all) p.finish();
  return MPI_SUCCESS;
}

void start_cards() noexcept {
  cards.make();
}
void forget_cards() noexcept {
  cards->clear();
}

}  // namespace telpher::partitioned
