// SPDX-License-Identifier: BSD-3-Clause
// Matched collectives of odd sizes and places, and of several types: what lies around the pieces of
// which a replay moves them, words of 4 bytes or lines of 120 (kernel/exchange_lines.hpp). Every
// element is looked at, and the bytes around the output.
#include <functional>

#include "matched_pairs.hpp"

using namespace mpi_test;

#if MPI_TEST_HAS_MPI_4

namespace {

constexpr std::size_t sizes[] = {1,    7,    8,     119,   120,   121,    479,     481,
                                 3840, 4100, 30719, 61440, 61447, 122881, 1048576, 1048583};
constexpr std::size_t margin = 64;
constexpr unsigned char untouched = 0xee;

/// Small enough for sums of 8 ranks in every type.
template <class T>
T value(int rank, std::size_t i, int round) {
  return static_cast<T>((i * 7 + i / 119 + static_cast<std::size_t>(rank * 5 + round)) % 15);
}

/// Host bytes in device memory, `shift` bytes behind a boundary of 64.
class placed {
 public:
  placed(std::size_t size, std::size_t shift)
      : size_(size), shift_(margin + shift), there_(size + 2 * margin + shift, untouched) {}
  void* data() const { return there_.data() + shift_; }
  template <class T>
  void put(const std::vector<T>& values) {
    functions().copy(data(), values.data(), values.size() * sizeof(T));
  }
  void clear() { there_.set(untouched); }
  template <class T>
  bool holds(const std::vector<T>& values) const {
    std::vector<unsigned char> expected(static_cast<std::size_t>(there_.count()), untouched),
        found(expected.size());
    std::memcpy(expected.data() + shift_, values.data(), size_);
    functions().copy(found.data(), there_.data(), found.size());
    return found == expected;
  }

 private:
  std::size_t size_, shift_;
  bytes there_;
};

/// One matched collective: its input and output in elements, and what these are in a round.
template <class T>
struct trial {
  std::size_t in_count, out_count;
  std::function<int(const void*, void*, MPI_Request*)> init;
  std::function<T(std::size_t i, int round)> given, expected;
  bool in_place = false;
};

template <class T>
void check(suite& s, const trial<T>& t, std::size_t shift) {
  const test_stream stream;
  placed in(t.in_count * sizeof(T), shift), out(t.out_count * sizeof(T), shift);
  MPI_Request request = MPI_REQUEST_NULL;
  const void* const from = t.in_place ? MPI_IN_PLACE : in.data();
  s.expect_equal(t.init(from, out.data(), &request), MPI_SUCCESS, "the request");
  s.expect_equal(STREAM_CALL(telpher_match)(1, &request), MPI_SUCCESS, "telpher_match");
  std::vector<T> given(t.in_count), expected(t.out_count);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = t.given(i, round);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = t.expected(i, round);
    out.clear();
    (t.in_place ? out : in).put(given);
    start(request, stream);
    wait(request, stream);
    stream.wait();
    s.expect(out.holds(expected), "what came");
  }
  MPI_Request_free(&request);
  MPI_Barrier(s.control);
}

template <class T>
T combined(const suite& s, MPI_Op op, std::size_t i, int round) {
  T all = value<T>(0, i, round);
  for (int r = 1; r < s.ranks; ++r) {
    const T next = value<T>(r, i, round);
    all = op == MPI_SUM ? static_cast<T>(all + next) : std::max(all, next);
  }
  return all;
}

template <class T>
void sums(suite& s, const char* name, MPI_Datatype type) {
  const auto ranks = static_cast<std::size_t>(s.ranks);
  for (const MPI_Op op : {MPI_SUM, MPI_MAX})
    for (const std::size_t shift : {std::size_t{0}, sizeof(T)})
      s.run(std::string(op == MPI_SUM ? "sums" : "maxima") + " of " + name + " at " +
                std::to_string(shift),
            [&] {
              for (const std::size_t size : sizes) {
                s.still_alive();
                s.note("%zu bytes", size);
                const std::size_t n = size / sizeof(T);
                const auto all = [&](std::size_t i, int round) {
                  return combined<T>(s, op, i, round);
                };
                const auto own = [&](std::size_t i, int round) {
                  return value<T>(s.rank, i, round);
                };
                for (const bool in_place : {false, true})
                  check<T>(s,
                           {n, n,
                            [&](const void* in, void* out, MPI_Request* r) {
                              return MPI_Allreduce_init(in, out, static_cast<int>(n), type, op,
                                                        s.control, MPI_INFO_NULL, r);
                            },
                            own, all, in_place},
                           shift);
                const std::size_t block = n / ranks;
                check<T>(s,
                         {block * ranks, block,
                          [&](const void* in, void* out, MPI_Request* r) {
                            return MPI_Reduce_scatter_block_init(in, out, static_cast<int>(block),
                                                                 type, op, s.control, MPI_INFO_NULL,
                                                                 r);
                          },
                          own,
                          [&](std::size_t i, int round) {
                            return all(static_cast<std::size_t>(s.rank) * block + i, round);
                          }},
                         shift);
              }
            });
}

void moves(suite& s) {
  using byte = unsigned char;
  const auto ranks = static_cast<std::size_t>(s.ranks), me = static_cast<std::size_t>(s.rank);
  const auto own = [&](std::size_t i, int round) { return value<byte>(s.rank, i, round); };
  for (const std::size_t shift : {0u, 1u, 4u, 8u})
    s.run("bytes at " + std::to_string(shift), [&] {
      for (const std::size_t n : sizes) {
        if (n > 300000) continue;
        s.still_alive();
        s.note("%zu bytes", n);
        const int count = static_cast<int>(n);
        check<byte>(s,
                    {n, n * ranks,
                     [&](const void* in, void* out, MPI_Request* r) {
                       return MPI_Allgather_init(in, count, MPI_BYTE, out, count, MPI_BYTE,
                                                 s.control, MPI_INFO_NULL, r);
                     },
                     own,
                     [&](std::size_t i, int round) {
                       return value<byte>(static_cast<int>(i / n), i % n, round);
                     }},
                    shift);
        check<byte>(s,
                    {n * ranks, n * ranks,
                     [&](const void* in, void* out, MPI_Request* r) {
                       return MPI_Alltoall_init(in, count, MPI_BYTE, out, count, MPI_BYTE,
                                                s.control, MPI_INFO_NULL, r);
                     },
                     own,
                     [&](std::size_t i, int round) {
                       return value<byte>(static_cast<int>(i / n), me * n + i % n, round);
                     }},
                    shift);
      }
    });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  sums<std::int8_t>(s, "int8", MPI_INT8_T);
  sums<std::int16_t>(s, "int16", MPI_INT16_T);
  sums<float>(s, "float", MPI_FLOAT);
  sums<double>(s, "double", MPI_DOUBLE);
  moves(s);
  return s.finish();
}

#else

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  if (s.rank == 0) std::puts("# this MPI has no persistent collectives");
  return s.finish();
}

#endif
