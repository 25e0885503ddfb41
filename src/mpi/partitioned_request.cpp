// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/partitioned_request.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "mpi/entry.hpp"
#include "mpi/send.hpp"

namespace telpher::partitioned {

// --- both ends ---

end::end(const init_args& a, int peer, MPI_Request place) noexcept
    : stream_request(a.comm), args_(a), peer_(peer), place_(place) {
  type_ = datatype::duplicate_of(a.type, ticket::job().control);
  if (type_ != MPI_DATATYPE_NULL) args_.type = type_;
  const auto l = datatype::layout_of(args_.type);
  layout_ = datatype::hold(l ? *l : *datatype::layout_of(MPI_BYTE));
}

end::~end() {
  if (type_ != MPI_DATATYPE_NULL) pmpi::Type_free(&type_);
}

bool end::abandon() noexcept {
  if (active_) return false;
  pmpi::Request_free(&place_);
  return true;
}

bool end::complete(std::size_t message) noexcept {
  if (complete_[message]) return true;
  if (!messages_[message] || !messages_[message]->check()) return false;
  complete_[message] = true;
  return true;
}

bool end::all_complete() noexcept {
  while (asked_ < messages_.size() && complete(asked_)) ++asked_;
  return asked_ == messages_.size();
}

void end::begin(int messages) noexcept {
  const auto n = static_cast<std::size_t>(messages);
  messages_.clear();
  messages_.resize(n);
  complete_.assign(n, false);
  asked_ = 0;
}

int end::end_messages() noexcept {
  int first = MPI_SUCCESS;
  for (auto& m : messages_) {
    const int rc = m ? m->finish(MPI_STATUS_IGNORE) : MPI_SUCCESS;
    if (first == MPI_SUCCESS) first = rc;
  }
  messages_.clear();
  active_ = false;
  return first;
}

std::byte* end::one_run() const noexcept {
  const bool one = layout_->one_run(args_.count * args_.partitions) && !layout_->blocks.empty();
  return one ? static_cast<std::byte*>(args_.buffer) + layout_->true_lower_bound : nullptr;
}

void end::fill_received(MPI_Status* out, std::uint64_t bytes) const noexcept {
  mpi::fill_empty(out);
  if (out == MPI_STATUS_IGNORE) return;
  out->MPI_SOURCE = peer_ < 0 ? MPI_PROC_NULL : args_.peer;
  out->MPI_TAG = peer_ < 0 ? MPI_ANY_TAG : args_.tag;
  pmpi::Status_set_elements_x(out, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

int end::may_start() const noexcept {
  return matched ? refuse_start() : MPI_SUCCESS;
}

int end::refuse_partition(const char* call, int partition, int count) const noexcept {
  char why[80];
  std::snprintf(why, sizeof why, "partition %d of %d does not exist", partition, count);
  return misused(call, MPI_ERR_ARG, why);
}

// The bytes live until the host MPI has sent them.
int send_note(const end& from, const char* call, const void* bytes, std::size_t count,
              int tag) noexcept {
  auto copy = memory::buffer::host(count, nullptr);
  if (!copy) return entry::fail(from.args().comm, call, copy.error(), "a note to the other rank");
  std::memcpy(copy->data(), bytes, count);
  MPI_Request native = MPI_REQUEST_NULL;
  const int rc = pmpi::Isend(copy->data(), static_cast<int>(count), MPI_BYTE, from.peer(), tag,
                             own_comm(), &native);
  if (rc != MPI_SUCCESS) return from.misused(call, rc, "the host MPI refused a note");
  mpi::keep_abandoned(std::make_unique<mpi::native_send>(native, std::move(*copy)));
  return MPI_SUCCESS;
}

bool take_note(void* bytes, std::size_t count, int tag) noexcept {
  int there = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  return pmpi::Improbe(MPI_ANY_SOURCE, tag, own_comm(), &there, &message, MPI_STATUS_IGNORE) ==
             MPI_SUCCESS &&
         there &&
         pmpi::Mrecv(bytes, static_cast<int>(count), MPI_BYTE, &message, MPI_STATUS_IGNORE) ==
             MPI_SUCCESS;
}

// --- the sender ---

sender::sender(const init_args& a, int peer, const channel& c, MPI_Request place) noexcept
    : end(a, peer, place) {
  const int count = peer < 0 ? 0 : a.partitions;
  group_ = std::max(1, (count + most_messages - 1) / most_messages);
  hello_.from = c;
  hello_.bytes = bytes();
  hello_.message_bytes = partition_bytes() * static_cast<std::uint64_t>(group_);
  hello_.messages = (count + group_ - 1) / group_;
  hello_.first_tag = -1;
}

sender::~sender() {
  for (auto& copy : copies_) mpi::keep_abandoned(std::move(copy));
  if (hello_.first_tag >= 0) give_tags(peer_, hello_.first_tag);
}

int sender::greet() noexcept {
  if (greeted_ || peer_ < 0) return MPI_SUCCESS;
  hello_.first_tag = take_tags(peer_, hello_.messages);
  if (hello_.first_tag < 0)
    return misused(
        "MPI_Start", MPI_ERR_OTHER,
        "the host MPI's tags do not suffice for so many partitions under way to one rank");
  const int rc = send_note(*this, "MPI_Start", &hello_, sizeof hello_, hello_tag());
  greeted_ = rc == MPI_SUCCESS;
  return rc;
}

int sender::partitions_in(std::size_t message) const noexcept {
  return std::min(group_, args_.partitions - static_cast<int>(message) * group_);
}

int sender::start() noexcept {
  if (const int rc = may_start()) return rc;
  if (const int rc = greet()) return rc;
  look_at_copies();
  begin(hello_.messages);
  ready_.assign(static_cast<std::size_t>(args_.partitions), false);
  missing_.resize(messages_.size());
  for (std::size_t i = 0; i < missing_.size(); ++i) missing_[i] = partitions_in(i);
  unsent_ = messages_.size();
  active_ = true;
  return args_.whole ? ready(args_.call, 0) : MPI_SUCCESS;
}

int sender::send(std::size_t message) noexcept {
  const auto first = message * static_cast<std::size_t>(group_);
  const auto count = static_cast<std::uint64_t>(args_.count);
  const pt2pt::send_args a{"MPI_Pready",
                           element(first * count),
                           static_cast<MPI_Count>(count) * partitions_in(message),
                           args_.type,
                           peer_,
                           hello_.first_tag + static_cast<int>(message),
                           own_comm(),
                           pt2pt::send_mode::standard,
                           errors_.get()};
  if (!met_) return send_copy(message, a);
  int rc = MPI_SUCCESS;
  messages_[message] = mpi::start_send(a, false, &rc);
  if (messages_[message]) --unsent_;
  return rc;
}

// Tickets need no copy: they see to receivers that are blocked. What the host MPI reads through the
// CPU's window on a device is small and needs none either.
int sender::send_copy(std::size_t message, const pt2pt::send_args& a) noexcept {
  int rc = MPI_SUCCESS;
  std::unique_ptr<mpi::request_object> op;
  if (mpi::inspect(a).on_device())
    op = mpi::start_send(a, false, &rc);
  else if (auto copy = mpi::detach_bytes(a, &rc))
    op = mpi::start_detached(a, std::move(*copy), &rc);
  if (!op) return rc;
  --unsent_;
  const auto* const native = dynamic_cast<const mpi::native_send*>(op.get());
  if (native && native->holds_bytes()) {
    copies_.push_back(std::move(op));
    complete_[message] = true;
  } else {
    messages_[message] = std::move(op);
  }
  return MPI_SUCCESS;
}

void sender::look_at_copies() noexcept {
  std::erase_if(copies_, [&](auto& copy) {
    if (!copy->check()) return false;
    copy->finish_quietly();
    return met_ = true;
  });
}

// A partition that could not be sent may be marked again.
int sender::ready(const char* call, int partition) noexcept {
  if (!active_)
    return misused(call, MPI_ERR_REQUEST, "the request is not active: MPI_Start comes first");
  const auto p = static_cast<std::size_t>(partition);
  if (ready_[p]) return misused(call, MPI_ERR_ARG, "the partition was marked ready before");
  ready_[p] = true;
  if (peer_ < 0) return MPI_SUCCESS;
  const std::size_t message = p / static_cast<std::size_t>(group_);
  if (--missing_[message] > 0) return MPI_SUCCESS;
  const int rc = send(message);
  if (rc == MPI_SUCCESS) return rc;
  ready_[p] = false;
  ++missing_[message];
  return host_mpi::raise(errors_.owner(), rc);
}

bool sender::check() noexcept {
  return !active_ || (unsent_ == 0 && all_complete());
}

int sender::finish(MPI_Status* out) noexcept {
  mpi::fill_empty(out);
  if (in_stream) return refuse_wait();
  if (!active_) return MPI_SUCCESS;
  const int rc = end_messages();
  return rc == MPI_SUCCESS ? rc : host_mpi::raise(errors_.owner(), rc);
}

// --- the receiver ---

receiver::receiver(const init_args& a, int peer, const channel& c, MPI_Request place) noexcept
    : end(a, peer, place), channel_(c), matched_(peer < 0) {}

receiver::~receiver() {
  await_no_more(*this);
}

int receiver::start() noexcept {
  if (const int rc = may_start()) return rc;
  error_ = MPI_SUCCESS;
  active_ = true;
  begin(0);
  if (matched_)
    post();
  else
    await_hello(*this);
  return MPI_SUCCESS;
}

void receiver::matched(const hello& h) noexcept {
  hello_ = h;
  matched_ = true;
  if (h.bytes > bytes())
    way_ = way::thrown_away;
  else if (!layout_->one_run(args_.count * args_.partitions) && layout_->size > 0)
    way_ = h.message_bytes % layout_->size == 0 ? way::elements : way::packed;
  if (active_) post();
}

status receiver::prepare_packed() noexcept {
  if ((way_ != way::packed && way_ != way::thrown_away) || packed_) return status::ok;
  if (way_ == way::packed)
    where_ = memory::classify(static_cast<const std::byte*>(args_.buffer) +
                              layout_->blocks.front().offset);
  TELPHER_TRY(memory::buffer::in(where_, hello_.bytes).into(packed_));
  return status::ok;
}

pt2pt::receive_args receiver::place_of(std::size_t message) noexcept {
  const std::uint64_t first = message * hello_.message_bytes;
  const bool last = message + 1 == static_cast<std::size_t>(hello_.messages);
  const std::uint64_t n = last ? hello_.bytes - first : hello_.message_bytes;
  pt2pt::receive_args a{"MPI_Precv_init", nullptr, static_cast<MPI_Count>(n),
                        MPI_BYTE,         peer_,   hello_.first_tag + static_cast<int>(message),
                        own_comm()};
  if (way_ == way::elements) {
    a.buffer = element(first / layout_->size);
    a.count = static_cast<MPI_Count>(n / layout_->size);
    a.type = args_.type;
  } else if (way_ == way::bytes) {
    a.buffer = static_cast<std::byte*>(args_.buffer) + layout_->true_lower_bound +
               static_cast<std::int64_t>(first);
  } else {
    a.buffer = static_cast<std::byte*>(packed_.data()) + first;
  }
  return a;
}

// A message that cannot be received is complete, with an error.
void receiver::post() noexcept {
  begin(hello_.messages);
  unpacked_.assign(static_cast<std::size_t>(args_.partitions), way_ != way::packed);
  if (const status s = prepare_packed(); s != status::ok) {
    note(host_mpi::fail(host_mpi::error_owner::nobody(), "MPI_Start", s,
                        "memory for the partitions of a type with gaps"));
    complete_.assign(messages_.size(), true);
    return;
  }
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    int rc = MPI_SUCCESS;
    messages_[i] = mpi::start_receive(place_of(i), &rc);
    if (messages_[i]) continue;
    note(rc);
    complete_[i] = true;
  }
}

void receiver::unpack(int partition) noexcept {
  const auto p = static_cast<std::size_t>(partition);
  const std::uint64_t first = p * partition_bytes();
  if (unpacked_[p] || first + partition_bytes() > hello_.bytes) return;
  unpacked_[p] = true;
  const void* const from = static_cast<const std::byte*>(packed_.data()) + first;
  void* const to = element(p * static_cast<std::uint64_t>(args_.count));
  const auto on_device = [&]() -> status {
    auto s = memory::stream(where_, memory::stream_role::kernel);
    TELPHER_TRY(s);
    TELPHER_TRY(datatype::unpack(*where_.owner, *layout_, from, to, args_.count, *s));
    return where_.owner->synchronise(*s);
  };
  if (!where_.on_device())
    datatype::unpack_host(*layout_, from, 0, partition_bytes(), to);
  else if (const status s = on_device(); s != status::ok)
    note(host_mpi::fail(host_mpi::error_owner::nobody(), "MPI_Precv_init", s,
                        "unpacking a partition"));
}

// Those that the sender's bytes do not fill are here when everything is.
bool receiver::arrived(int partition) noexcept {
  if (!active_) return true;
  if (!matched_) return false;
  const std::uint64_t bytes = partition_bytes(), size = hello_.message_bytes;
  const std::uint64_t first = static_cast<std::uint64_t>(partition) * bytes, last = first + bytes;
  if (bytes == 0 || last > hello_.bytes) return check();
  for (std::uint64_t m = first / size; m * size < last; ++m)
    if (!complete(m)) return false;
  unpack(partition);
  return true;
}

bool receiver::check() noexcept {
  if (!active_) return true;
  if (!matched_ || !all_complete()) return false;
  for (int p = 0; p < args_.partitions; ++p) unpack(p);
  return true;
}

void receiver::fill(MPI_Status* out) noexcept {
  if (active_)
    fill_received(out, hello_.bytes);
  else
    mpi::fill_empty(out);
}

int receiver::finish(MPI_Status* out) noexcept {
  fill(out);
  if (in_stream) return refuse_wait();
  if (!active_) return MPI_SUCCESS;
  note(end_messages());
  if (error_ != MPI_SUCCESS) return host_mpi::raise(errors_.owner(), error_);
  if (way_ != way::thrown_away) return MPI_SUCCESS;
  char why[120];
  std::snprintf(why, sizeof why, "the sender's partitions have %llu bytes, the receiver's %llu",
                static_cast<unsigned long long>(hello_.bytes),
                static_cast<unsigned long long>(bytes()));
  return misused("MPI_Precv_init", MPI_ERR_TRUNCATE, why);
}

}  // namespace telpher::partitioned
