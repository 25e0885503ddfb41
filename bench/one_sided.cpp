// SPDX-License-Identifier: BSD-3-Clause
#include "one_sided.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "exposed_memory.hpp"

namespace telpher::bench {

namespace {

constexpr int meeting_tag = 3;
// The slots of an atomic operation's origin.
constexpr int operand = 0, result = 1, compare = 2;

constexpr bool is_put(surface_test t) {
  return t == surface_test::put_latency || t == surface_test::put_bw;
}
constexpr bool is_get(surface_test t) {
  return t == surface_test::get_latency || t == surface_test::get_bw;
}
constexpr bool is_atomic(surface_test t) {
  return t == surface_test::fop_latency || t == surface_test::cas_latency;
}

std::uint64_t seed_of(std::uint64_t seed, int slot) {
  return seed * 65536 + static_cast<std::uint64_t>(slot);
}

// The numbers of an atomic operation that is checked.
struct atomic_numbers {
  explicit atomic_numbers(std::uint64_t seed) : before(seed * 1000 + 1), given(seed * 7 + 2) {}
  std::uint64_t before, given;
};

std::span<const std::byte> bytes_of(const std::uint64_t& number) {
  return std::as_bytes(std::span(&number, 1));
}

}  // namespace

bool makes_windows(MPI_Comm comm) {
  MPI_Comm asked;
  MPI_Comm_dup(comm, &asked);
  MPI_Comm_set_errhandler(asked, MPI_ERRORS_RETURN);
  static int memory[4];
  MPI_Win window = MPI_WIN_NULL;
  int made = MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, asked, &window) == MPI_SUCCESS;
  if (made) MPI_Win_free(&window);
  MPI_Comm_free(&asked);
  MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_LAND, comm);
  return made;
}

one_sided::one_sided(memory_source& source, const pairing& pair, const one_sided_shape& s, mode how)
    : source_(source), pair_(pair), shape_(s) {
  const auto fitting =
      std::max<std::size_t>(1, s.window_memory / std::max<std::size_t>(1, s.bytes));
  depth_ = static_cast<int>(std::min(fitting, static_cast<std::size_t>(s.operations)));
  const kind window_kind = how == mode::staged ? kind::host
                           : pair.leads        ? s.origin_kind
                                               : s.target_kind;
  exposed_ =
      std::make_unique<exposed_memory>(source, window_kind, s.bytes, depth_, s.making, pair.comm);
  if (!pair.leads) return;
  const int slots = is_atomic(s.what) ? 3 : depth_;
  own_ = std::make_unique<window_buffer>(source, s.origin_kind, s.bytes, slots);
  if (how == mode::staged && s.origin_kind != kind::host)
    stage_ = std::make_unique<window_buffer>(source, kind::pinned, s.bytes, slots);
}

one_sided::~one_sided() = default;

double one_sided::run(long iterations, std::vector<double>* each) {
  if (pair_.leads) return time_all(iterations, each, [this] { iterate(shape_.operations); });
  if (each) each->resize(each->size() + static_cast<std::size_t>(iterations));
  return 0;
}

void one_sided::iterate(int operations) {
  for (int w = 0; w < operations; ++w) {
    copy_in(w);
    start(w);
  }
  MPI_Win_flush(pair_.peer, exposed_->window());
  for (int w = 0; w < operations; ++w) copy_out(w);
}

void one_sided::start(int w) {
  const MPI_Win window = exposed_->window();
  const int count = static_cast<int>(shape_.bytes);
  const MPI_Aint place = exposed_->place(w);
  const int elements = count / static_cast<int>(std::max<std::size_t>(1, shape_.type.bytes));
  switch (shape_.what) {
    case surface_test::put_latency:
    case surface_test::put_bw:
      MPI_Put(at(w), count, MPI_BYTE, pair_.peer, place, count, MPI_BYTE, window);
      break;
    case surface_test::get_latency:
    case surface_test::get_bw:
      MPI_Get(at(w), count, MPI_BYTE, pair_.peer, place, count, MPI_BYTE, window);
      break;
    case surface_test::acc_latency:
      MPI_Accumulate(at(w), elements, shape_.type.type, pair_.peer, place, elements,
                     shape_.type.type, shape_.op, window);
      break;
    case surface_test::fop_latency:
      MPI_Fetch_and_op(at(operand), at(result), MPI_UINT64_T, pair_.peer, place, MPI_SUM, window);
      break;
    case surface_test::cas_latency:
      MPI_Compare_and_swap(at(operand), at(compare), at(result), MPI_UINT64_T, pair_.peer, place,
                           window);
      break;
    default:
      fail("%s is not one-sided", name(shape_.what));
  }
}

// --- by hand ---

void one_sided::copy(int slot, bool in) {
  void* host = stage_->slot(slot);
  void* device = own_->slot(slot);
  source_.copy(in ? host : device, in ? device : host, shape_.bytes);
}

void one_sided::copy_in(int w) {
  if (!stage_ || is_get(shape_.what)) return;
  copy(w, true);
  if (shape_.what == surface_test::cas_latency) copy(compare, true);
}

void one_sided::copy_out(int w) {
  if (!stage_) return;
  if (is_get(shape_.what)) copy(w, false);
  if (is_atomic(shape_.what)) copy(result, false);
}

// --- checks ---

// No more operations than slots: if one slot were written twice, the first could not be checked.
double one_sided::run_checked(std::uint64_t seed, std::string& wrong) {
  if (is_atomic(shape_.what))
    fill_atomic(seed);
  else
    fill(seed);
  exposed_->synchronise();
  meet();
  const double start = MPI_Wtime();
  if (pair_.leads) iterate(depth_);
  const double seconds = MPI_Wtime() - start;
  meet();
  exposed_->synchronise();
  if (is_atomic(shape_.what))
    check_atomic(seed, wrong);
  else
    check(seed, wrong);
  meet();
  return seconds * shape_.operations / depth_;
}

// What each of the two ranks puts into the sum: the same as into that of a collective.
data_plan one_sided::contribution(int rank) const {
  data_plan p;
  form how = form::blocking;
  find_collective("allreduce", p.which, how);
  p.type = shape_.type;
  p.op = shape_.op;
  p.block_bytes = shape_.bytes;
  p.rank = rank;
  p.size = 2;
  return p;
}

void one_sided::fill(std::uint64_t seed) {
  for (int w = 0; w < depth_; ++w) {
    const std::uint64_t moved = seed_of(seed, w), other = ~moved;
    if (shape_.what == surface_test::acc_latency) {
      const auto given = contribution(pair_.leads ? 0 : 1).sent(seed);
      (pair_.leads ? *own_ : exposed_->buffer()).write(w, given);
    } else if (pair_.leads) {
      own_->write(w, is_put(shape_.what) ? moved : other);
    } else {
      exposed_->buffer().write(w, is_put(shape_.what) ? other : moved);
    }
  }
}

void one_sided::check(std::uint64_t seed, std::string& wrong) {
  for (int w = 0; w < depth_ && wrong.empty(); ++w) {
    const std::uint64_t moved = seed_of(seed, w);
    if (shape_.what != surface_test::acc_latency)
      (pair_.leads ? *own_ : exposed_->buffer()).holds(w, moved, wrong);
    else if (pair_.leads)
      own_->holds(w, contribution(0).sent(seed), wrong);
    else
      exposed_->buffer().holds(w, contribution(0).expected(seed), wrong);
  }
}

void one_sided::fill_atomic(std::uint64_t seed) {
  const atomic_numbers n(seed);
  const std::uint64_t nothing = ~n.before;
  if (!pair_.leads) return exposed_->buffer().write(0, bytes_of(n.before));
  own_->write(operand, bytes_of(n.given));
  own_->write(result, bytes_of(nothing));
  own_->write(compare, bytes_of(n.before));
}

void one_sided::check_atomic(std::uint64_t seed, std::string& wrong) {
  const atomic_numbers n(seed);
  const bool adds = shape_.what == surface_test::fop_latency;
  const std::uint64_t after = adds ? n.before + n.given : n.given;
  if (pair_.leads)
    own_->holds(result, bytes_of(n.before), wrong);
  else
    exposed_->buffer().holds(0, bytes_of(after), wrong);
}

void one_sided::meet() {
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, pair_.peer, meeting_tag, nullptr, 0, MPI_BYTE, pair_.peer,
               meeting_tag, pair_.comm, MPI_STATUS_IGNORE);
}

}  // namespace telpher::bench
