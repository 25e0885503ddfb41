// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

#include <unistd.h>

#include <algorithm>

namespace telpher::bench {

namespace {

constexpr int data_tag = 1;
constexpr int answer_tag = 2;

std::uint64_t seed_of(std::uint64_t seed, int sender, int slot) {
  return (seed * 4096 + static_cast<std::uint64_t>(sender)) * 65536 +
         static_cast<std::uint64_t>(slot);
}

}  // namespace

const char* name(test t) noexcept {
  static constexpr const char* names[] = {"latency", "multi_lat", "bw", "bibw", "mbw_mr"};
  return names[static_cast<int>(t)];
}

pairing pair_up(MPI_Comm comm, int pairs) {
  pairing p;
  int size = 0;
  MPI_Comm_rank(comm, &p.rank);
  MPI_Comm_size(comm, &size);
  if (size < 2 * pairs) fail("%d pairs need %d ranks; there are %d", pairs, 2 * pairs, size);
  p.pairs = pairs;
  p.leads = p.rank < pairs;
  p.active = p.rank < 2 * pairs;
  p.peer = p.leads ? p.rank + pairs : p.rank - pairs;
  MPI_Comm_split(comm, p.active ? 0 : MPI_UNDEFINED, p.rank, &p.comm);
  return p;
}

void part(MPI_Comm comm, pairing& pair) {
  MPI_Request all_done;
  MPI_Ibarrier(comm, &all_done);
  for (int done = 0; !done;) {
    MPI_Test(&all_done, &done, MPI_STATUS_IGNORE);
    if (!pair.active && !done) ::usleep(2000);
  }
  if (pair.comm != MPI_COMM_NULL) MPI_Comm_free(&pair.comm);
}

exchange::exchange(memory_source& source, const pairing& pair, const shape& s, mode how)
    : source_(source), pair_(pair), shape_(s), layout_(s.type, s.bytes) {
  const bool both_ways = one_at_a_time(s.what) || s.what == test::bibw;
  const kind own = pair.leads ? s.leader_kind : s.peer_kind;
  messages_ = one_at_a_time(s.what) ? 1 : s.window;
  const auto fitting =
      std::max<std::size_t>(1, s.window_memory / std::max<std::size_t>(1, layout_.span()));
  depth_ = static_cast<int>(std::min<std::size_t>(fitting, static_cast<std::size_t>(messages_)));
  const auto make = [&](kind k, int slots) {
    return std::make_unique<window_buffer>(source, k, layout_.span(), slots, &layout_.blocks());
  };
  if (both_ways || pair.leads) send_ = make(own, depth_);
  if (both_ways || !pair.leads) receive_ = make(own, depth_);
  if (how == mode::staged && own != kind::host) {
    stage_offset_ = sends() ? depth_ : 0;
    stage_ = make(kind::pinned, both_ways ? 2 * depth_ : depth_);
  }
  send_requests_.assign(static_cast<std::size_t>(depth_), MPI_REQUEST_NULL);
  receive_requests_.assign(static_cast<std::size_t>(depth_), MPI_REQUEST_NULL);
  if (s.persistent) init_requests();
  if (in_stream(how)) stream_ = std::make_unique<stream>(source, s.stream_work);
  enqueues_ = how == mode::enqueued;
}

void exchange::init_requests() {
  for (int w = 0; w < depth_; ++w) {
    const auto at = static_cast<std::size_t>(w);
    if (sends())
      MPI_Send_init(send_address(w), layout_.count(), layout_.type(), pair_.peer, data_tag,
                    pair_.comm, &send_requests_[at]);
    if (receives())
      MPI_Recv_init(receive_address(w), layout_.count(), layout_.type(), pair_.peer, data_tag,
                    pair_.comm, &receive_requests_[at]);
  }
}

exchange::~exchange() {
  if (!shape_.persistent) return;
  for (const bool sending : {true, false})
    for (MPI_Request& r : requests(sending))
      if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
}

void exchange::iterate() {
  if (one_at_a_time(shape_.what))
    ping_pong();
  else
    pass_window(messages_);
}

double exchange::run(long iterations, std::vector<double>* each) {
  const double start = MPI_Wtime();
  const double seconds = time_all(iterations, each, [this] { iterate(); });
  if (!stream_) return seconds;
  stream_->wait();
  return MPI_Wtime() - start;
}

double exchange::run_checked(std::uint64_t seed, std::string& wrong) {
  // No more messages than slots: if a slot received two messages, the first could not be checked.
  const int messages = std::min(messages_, depth_);
  for (int w = 0; w < messages; ++w) {
    if (sends()) send_->write(w, seed_of(seed, pair_.rank, w));
    if (receives()) receive_->write(w, ~seed_of(seed, pair_.peer, w));
  }
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, pair_.peer, answer_tag, nullptr, 0, MPI_BYTE, pair_.peer,
               answer_tag, pair_.comm, MPI_STATUS_IGNORE);
  const double start = MPI_Wtime();
  if (one_at_a_time(shape_.what))
    ping_pong();
  else
    pass_window(messages);
  if (stream_) stream_->wait();
  const double seconds = MPI_Wtime() - start;
  for (int w = 0; receives() && w < messages && wrong.empty(); ++w)
    receive_->holds(w, seed_of(seed, pair_.peer, w), wrong);
  return seconds * messages_ / messages;
}

// --- latency ---

void exchange::ping_pong() {
  if (pair_.leads) send_blocking();
  receive_blocking();
  if (!pair_.leads) send_blocking();
}

void exchange::send_blocking() {
  if (stream_) stream_->work();
  if (enqueues_)
    return stream_->send(send_address(0), layout_.count(), layout_.type(), pair_.peer, data_tag,
                         pair_.comm);
  if (stream_) stream_->wait();
  if (staged()) source_.copy(stage_->slot(0), send_->slot(0), layout_.span());
  if (shape_.persistent) {
    MPI_Start(&send_requests_[0]);
    MPI_Wait(&send_requests_[0], MPI_STATUS_IGNORE);
    return;
  }
  MPI_Send(send_address(0), layout_.count(), layout_.type(), pair_.peer, data_tag, pair_.comm);
}

void exchange::receive_blocking() {
  if (enqueues_)
    return stream_->receive(receive_address(0), layout_.count(), layout_.type(), pair_.peer,
                            data_tag, pair_.comm);
  if (shape_.persistent) {
    MPI_Start(&receive_requests_[0]);
    MPI_Wait(&receive_requests_[0], MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(receive_address(0), layout_.count(), layout_.type(), pair_.peer, data_tag, pair_.comm,
             MPI_STATUS_IGNORE);
  }
  if (staged()) source_.copy(receive_->slot(0), receive_address(0), layout_.span());
}

// --- bandwidth ---

// Posts all receives, then all sends, then waits. If the window is larger than the number of slots,
// at most depth_ messages are in flight each way.
void exchange::pass_window(int messages) {
  for (int w = 0; receives() && w < depth_; ++w) post_receive(w);
  for (int w = 0; w < messages; ++w) {
    if (receives() && w >= depth_) {
      finish_receive(w - depth_);
      post_receive(w);
    }
    if (sends()) post_send(w);
  }
  if (receives() && !staged()) MPI_Waitall(depth_, receive_requests_.data(), MPI_STATUSES_IGNORE);
  for (int w = messages - depth_; receives() && staged() && w < messages; ++w) finish_receive(w);
  if (sends()) MPI_Waitall(depth_, send_requests_.data(), MPI_STATUSES_IGNORE);
  int answer = 0;
  if (pair_.leads)
    MPI_Recv(&answer, 1, MPI_INT, pair_.peer, answer_tag, pair_.comm, MPI_STATUS_IGNORE);
  else
    MPI_Send(&answer, 1, MPI_INT, pair_.peer, answer_tag, pair_.comm);
}

void exchange::post_send(int w) {
  MPI_Request& request = send_requests_[static_cast<std::size_t>(w % depth_)];
  if (w >= depth_) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (staged()) source_.copy(stage_->slot(w % depth_), send_->slot(w), layout_.span());
  if (shape_.persistent)
    MPI_Start(&request);
  else
    MPI_Isend(send_address(w), layout_.count(), layout_.type(), pair_.peer, data_tag, pair_.comm,
              &request);
}

void exchange::post_receive(int w) {
  MPI_Request& request = receive_requests_[static_cast<std::size_t>(w % depth_)];
  if (shape_.persistent)
    MPI_Start(&request);
  else
    MPI_Irecv(receive_address(w), layout_.count(), layout_.type(), pair_.peer, data_tag, pair_.comm,
              &request);
}

void exchange::finish_receive(int w) {
  MPI_Wait(&receive_requests_[static_cast<std::size_t>(w % depth_)], MPI_STATUS_IGNORE);
  if (staged()) source_.copy(receive_->slot(w), receive_address(w), layout_.span());
}

}  // namespace telpher::bench
