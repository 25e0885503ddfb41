// SPDX-License-Identifier: BSD-3-Clause
// A device call that fails at one end of a message, at every point that a message passes. Both ends
// end, a receive that answers success has the right bytes, the next messages are as good as ever,
// and MPI_Finalize finds nothing left. Which way the bytes go is the matter of the settings in
// CMakeLists.txt.
#include <unistd.h>

#include <deque>

#include "emulated.hpp"
#include "suite.hpp"

using namespace mpi_test;

namespace {

constexpr std::size_t small = 8192;    // one block, which a sender copies out for a late receiver
constexpr std::size_t large = 400000;  // several blocks
constexpr std::size_t piece = 16;      // bytes between the gaps of a buffer

struct trial {
  const char* call;
  int nth;
  int at;  // rank of the end that fails
};

/// Message `id`: integers that compress well.
std::vector<unsigned char> content(int id, std::size_t bytes) {
  std::vector<int> numbers(bytes / sizeof(int));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = id * 1000 + as_int(i / 8);
  std::vector<unsigned char> made(bytes);
  std::memcpy(made.data(), numbers.data(), bytes);
  return made;
}

/// What a buffer with gaps holds with a message in it.
std::vector<unsigned char> spread(const std::vector<unsigned char>& packed) {
  std::vector<unsigned char> made(packed.size() * 2, guard_byte);
  for (std::size_t at = 0; at < packed.size(); at += piece)
    std::memcpy(&made[at * 2], &packed[at], piece);
  return made;
}

MPI_Datatype with_gaps(std::size_t bytes) {
  MPI_Datatype made;
  const int ints = as_int(piece / sizeof(int));
  MPI_Type_vector(as_int(bytes / piece), ints, 2 * ints, MPI_INT, &made);
  MPI_Type_commit(&made);
  return made;
}

/// One message from rank 0 to rank 1, errors returned. Wrong bytes behind a success are a failure.
class one_message {
 public:
  one_message(suite& all, std::size_t bytes, bool gaps)
      : s_(all), bytes_(bytes), gaps_(gaps), buffer_(kind::device, gaps ? 2 * bytes : bytes) {
    if (gaps) type_ = with_gaps(bytes);
  }
  one_message(const one_message&) = delete;
  one_message& operator=(const one_message&) = delete;
  ~one_message() {
    if (gaps_) MPI_Type_free(&type_);
  }

  void prepare(int id) {
    id_ = id;
    if (s_.rank != 0) return buffer_.clear();
    const auto bytes = gaps_ ? spread(content(id, bytes_)) : content(id, bytes_);
    buffer_.write(bytes.data(), bytes.size());
  }
  int start(MPI_Request* request) {
    const int count = gaps_ ? 1 : as_int(bytes_ / sizeof(int));
    const MPI_Datatype type = gaps_ ? type_ : MPI_INT;
    if (s_.rank == 0) return MPI_Isend(buffer_.data(), count, type, 1, 1, MPI_COMM_WORLD, request);
    return MPI_Irecv(buffer_.data(), count, type, 0, 1, MPI_COMM_WORLD, request);
  }
  void check(int code) {
    if (s_.rank == 0 || code != MPI_SUCCESS) return;
    const auto wanted = content(id_, bytes_);
    s_.expect_none(buffer_.compare(gaps_ ? spread(wanted).data() : wanted.data()));
  }
  /// Blocking; the code.
  int pass(int id, const char* faults, bool late) {
    prepare(id);
    s_.meet(1 - s_.rank);
    if (late && s_.rank == 1) usleep(3000);
    set_faults(faults);
    MPI_Request request = MPI_REQUEST_NULL;
    int code = start(&request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    set_faults("");
    check(code);
    return code;
  }

 private:
  suite& s_;
  std::size_t bytes_;
  bool gaps_;
  buffer buffer_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int id_ = 0;
};

std::string fault_of(const suite& s, const trial& t, const char* behind = "") {
  return s.rank == t.at ? std::string(t.call) + ":" + std::to_string(t.nth) + behind : "";
}

/// Whether a sender packs block by block, so that no fault of its keeps the message from its
/// receiver.
bool packs_in_blocks() {
  const char* forced = std::getenv("TELPHER_PATH");
  return forced && std::string_view(forced) == "pipelined";
}

/// The n-th call fails, alone or with all that follow it. How often one did.
long long one_fails(suite& s, const char* call, int at, bool gaps) {
  int errors = 0;
  const fault_count struck;
  for (const std::size_t bytes : {small, large})
    for (const char* behind : {"", "+"}) {
      one_message m(s, bytes, gaps && (s.rank == 1 || packs_in_blocks()));
      for (int nth = 1; nth <= 5; ++nth) {
        s.note("%zu bytes, %s:%d%s", bytes, call, nth, behind);
        const std::string faults = fault_of(s, {call, nth, at}, behind);
        errors += m.pass(nth, faults.c_str(), bytes == small) != MPI_SUCCESS;
        s.note("%zu bytes, behind %s:%d%s", bytes, call, nth, behind);
        s.expect_class(m.pass(100 + nth, "", false), MPI_SUCCESS, "the next message");
      }
    }
  std::printf("# rank %d, %s at rank %d: %d errors, %lld strikes\n", s.rank, call, at, errors,
              struck.so_far());
  return struck.so_far();
}

/// Where a fault must have struck, or nothing was tested. By path (TELPHER_PATH), for messages with
/// and without gaps together.
bool must_strike(std::string_view call, int at) {
  struct row {
    std::string_view path, call;
    bool ends[2];  // the sender, the receiver
  };
  static constexpr row rows[] = {
      {"", "memcpy", {false, true}},
      {"", "event", {false, true}},
      {"", "launch", {false, true}},
      {"", "kernel", {false, true}},
      {"", "die", {false, true}},
      {"ipc_put", "memcpy", {true, false}},
      {"staged", "memcpy", {true, true}},
      {"staged", "event", {true, true}},
      {"staged", "launch", {false, true}},
      {"pipelined", "memcpy", {true, true}},
      {"pipelined", "event", {true, true}},
      {"pipelined", "launch", {true, true}},
      {"pipelined", "kernel", {true, true}},
      {"batch", "die", {false, true}},
      {"linger", "die", {false, true}},
  };
  const char* const forced = std::getenv("TELPHER_PATH");
  for (const row& r : rows)
    if (r.path == (forced ? forced : "") && r.call == call) return r.ends[at];
  return false;
}

/// The kernel that packs dies behind MPI_Isend, which does not wait for it. A smaller message would
/// not be packed (TELPHER_STRIDED_LIMIT).
void packing_dies(suite& s) {
  constexpr std::size_t too_large = 300000 * piece;
  for (const std::size_t bytes : {small, too_large}) {
    s.note("%zu bytes", bytes);
    one_message m(s, bytes, s.rank == 0);
    m.prepare(1);
    s.meet(1 - s.rank);
    set_faults(s.rank == 0 ? "die:1" : "");
    MPI_Request request = MPI_REQUEST_NULL;
    s.expect_class(m.start(&request), MPI_SUCCESS, "the start of the message");
    s.expect(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS, "an error at both ends");
    set_faults("");
    s.expect_class(m.pass(2, "", false), MPI_SUCCESS, "the next message");
  }
}

/// Of several messages under way some fail.
void some_fail(suite& s, const char* call, int at) {
  constexpr int count = 5;
  for (const std::size_t bytes : {small, large})
    for (int nth = 1; nth <= 10; nth += 3) {
      s.note("%zu bytes, %s:%d", bytes, call, nth);
      std::deque<one_message> all;
      std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
      for (int i = 0; i < count; ++i) all.emplace_back(s, bytes, s.rank == 1 && i % 2).prepare(i);
      s.meet(1 - s.rank);
      set_faults(fault_of(s, {call, nth, at}).c_str());
      for (std::size_t i = 0; i < count; ++i)
        s.expect_class(all[i].start(&requests[i]), MPI_SUCCESS, "the start of a message");
      std::vector<int> codes;
      for (MPI_Request& r : requests) codes.push_back(MPI_Wait(&r, MPI_STATUS_IGNORE));
      set_faults("");
      for (std::size_t i = 0; i < count; ++i) all[i].check(codes[i]);
      s.note("%zu bytes, behind %s:%d", bytes, call, nth);
      s.expect_class(all[1].pass(50, "", false), MPI_SUCCESS, "the next message");
    }
}

/// At one rank the kernel of a collective dies. All ranks end, and the next call is right.
void kernels_of_collectives_die(suite& s, int at, const char* behind) {
  for (const std::size_t count : {std::size_t{10}, std::size_t{100000}})
    for (int nth = 1; nth <= 3; ++nth) {
      buffer in(kind::device, count * sizeof(int)), out(kind::device, count * sizeof(int));
      const std::vector<int> ones(count, 1), sums(count, s.ranks);
      in.write(reinterpret_cast<const unsigned char*>(ones.data()), count * sizeof(int));
      const auto sum = [&] {
        return MPI_Allreduce(in.data(), out.data(), as_int(count), MPI_INT, MPI_SUM,
                             MPI_COMM_WORLD);
      };
      s.note("%zu numbers, die:%d", count, nth);
      MPI_Barrier(s.control);
      set_faults(fault_of(s, {"die", nth, at}, behind).c_str());
      int errors = 0;
      for (int i = 0; i < 3; ++i) errors += sum() != MPI_SUCCESS;
      set_faults("");
      if (nth == 1) s.expect(errors > 0, "an error at this rank");
      MPI_Barrier(s.control);
      s.note("%zu numbers, behind die:%d", count, nth);
      out.clear();
      s.expect_class(sum(), MPI_SUCCESS, "the next sum");
      s.expect_none(out.compare(reinterpret_cast<const unsigned char*>(sums.data())));
    }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (const char* call : {"memcpy", "event", "malloc", "pinned", "launch", "kernel", "die"})
    for (const int at : {0, 1}) {
      const std::string where =
          std::string(call) + (at == 0 ? " at the sender" : " at the receiver");
      long long struck = 0;
      s.run(where, [&] { struck += one_fails(s, call, at, false); });
      s.run(where + ", gaps", [&] { struck += one_fails(s, call, at, true); });
      if (must_strike(call, at))
        s.run(where + ", struck", [&] { s.expect(s.rank != at || struck > 0, "a fault struck"); });
      s.run(where + ", several under way", [&] { some_fail(s, call, at); });
    }
  s.run("packing dies", [&] { packing_dies(s); });
  for (const int at : {0, 1})
    for (const char* behind : {"", "+"})
      s.run(std::string("die in collectives at rank ") + std::to_string(at) + behind,
            [&] { kernels_of_collectives_die(s, at, behind); });
  return s.finish();
}
