// SPDX-License-Identifier: BSD-3-Clause
// What module telpher_f08 calls, as Fortran would: handles are integers, and the special addresses
// are variables. PyPI's MPICH has no Fortran bindings, so this program has two of its variables.
// test/fortran/streams.F90 comes by the module itself, where there is a compiler for it.
#include "stream_calls.hpp"

using namespace mpi_test;

#ifndef OPEN_MPI
extern "C" {
[[gnu::visibility("default")]] int MPIR_F08_MPI_IN_PLACE, MPIR_F08_MPI_BOTTOM;
}
#endif

namespace {

#ifdef OPEN_MPI
constexpr const char* in_place = "mpi_fortran_in_place_";
constexpr const char* bottom = "mpi_fortran_bottom_";
constexpr const char* status_ignore = "mpi_fortran_status_ignore_";
constexpr const char* statuses_ignore = "mpi_fortran_statuses_ignore_";
#else
constexpr const char* in_place = "MPIR_F08_MPI_IN_PLACE";
constexpr const char* bottom = "MPIR_F08_MPI_BOTTOM";
constexpr const char* status_ignore = "MPIR_F08_MPI_STATUS_IGNORE_OBJ";
constexpr const char* statuses_ignore = "MPIR_F08_MPI_STATUSES_IGNORE_OBJ";
#endif

using message = void(void* buf, const int* count, const MPI_Fint* type, const int* peer,
                     const int* tag, const MPI_Fint* comm, MPI_Fint* request, void* stream,
                     int* error);
using receive = void(void* buf, const int* count, const MPI_Fint* type, const int* peer,
                     const int* tag, const MPI_Fint* comm, void* status, void* stream, int* error);
using wait_all = void(const int* count, MPI_Fint* requests, void* statuses, void* stream,
                      int* error);
using all_reduce = void(const void* from, void* to, const int* count, const MPI_Fint* type,
                        const MPI_Fint* op, const MPI_Fint* comm, void* stream, int* error);
using all_to_all = void(const void* from, const int* counts, const int* places,
                        const MPI_Fint* types, void* to, const int* recvcounts,
                        const int* recvplaces, const MPI_Fint* recvtypes, const MPI_Fint* comm,
                        void* stream, int* error);
using barrier = void(const MPI_Fint* comm, void* stream, int* error);
using get_stream = void(const MPI_Fint* comm, void** stream, bool* flag, int* error);

MPI_Fint world, one_byte, none;  // had from MPI after MPI_Init
constexpr int n = 3000;

int sent_byte(int rank) {
  return rank + 1;
}

/// One of the MPI's variables that stand for a status which is not wanted: nothing may be written.
class unwanted {
 public:
  explicit unwanted(const char* name) : at_(dlsym(RTLD_DEFAULT, name)), before_(begins()) {}
  void* address() const { return at_; }
  bool kept() const { return begins() == before_; }

 private:
  std::uint64_t begins() const {
    std::uint64_t word = 0;
    std::memcpy(&word, at_, sizeof word);
    return word;
  }
  void* at_;
  std::uint64_t before_;
};

/// Around the ring, with and without statuses.
void messages(suite& s) {
  const int left = (s.rank + s.ranks - 1) % s.ranks, right = (s.rank + 1) % s.ranks, two = 2;
  for (const bool ignored : {true, false}) {
    s.note(ignored ? "statuses ignored" : "statuses");
    const test_stream stream;
    bytes out(n, 0), in(n, 0);
    const int tag = ignored;
    MPI_Fint requests[2] = {-1, -1};
    MPI_Status statuses[2];
    stream.set(out.data(), sent_byte(s.rank), n);
    int codes[3] = {-1, -1, -1};
    stream_call<message>("telpher_f08_irecv_enqueue")(in.data(), &n, &one_byte, &left, &tag, &world,
                                                      requests, stream, codes);
    stream_call<message>("telpher_f08_isend_enqueue")(out.data(), &n, &one_byte, &right, &tag,
                                                      &world, requests + 1, stream, codes + 1);
    s.expect(requests[0] != none && requests[1] != none, "requests");
    const unwanted nothing(statuses_ignore);
    void* const where = ignored ? nothing.address() : statuses;
    stream_call<wait_all>("telpher_f08_waitall_enqueue")(&two, requests, where, stream, codes + 2);
    for (const int code : codes) s.expect_equal(code, MPI_SUCCESS, "a code");
    s.expect(requests[0] == none && requests[1] == none, "requests that are waited for");
    stream.wait();
    s.expect(in.all(sent_byte(left)), "what came");
    s.expect(nothing.kept(), "MPI_STATUSES_IGNORE");
    if (!ignored) s.expect_status(statuses[0], left, tag, n);
  }
}

/// At an absolute address, with the status ignored; the codes are ignored, too.
void absolute(suite& s) {
  const int peer = s.rank ^ 1, tag = 5, one = 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  bytes data(n, 0);
  MPI_Aint at = 0;
  MPI_Get_address(data.data(), &at);
  MPI_Datatype placed;
  MPI_Type_create_hindexed(1, &n, &at, MPI_BYTE, &placed);
  MPI_Type_commit(&placed);
  const MPI_Fint type = MPI_Type_c2f(placed);
  void* const nowhere = dlsym(RTLD_DEFAULT, bottom);
  const unwanted nothing(status_ignore);
  if (s.rank < peer) {
    stream.set(data.data(), 7, n);
    STREAM_CALL(telpher_send_enqueue)(data.data(), n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, stream);
  } else {
    stream_call<receive>("telpher_f08_recv_enqueue")(nowhere, &one, &type, &peer, &tag, &world,
                                                     nothing.address(), stream, nullptr);
  }
  stream.wait();
  s.expect(data.all(7), "what came to MPI_BOTTOM");
  s.expect(nothing.kept(), "MPI_STATUS_IGNORE");
  MPI_Type_free(&placed);
}

void collectives(suite& s) {
  const test_stream stream;
  const int block = n / s.ranks;
  bytes out(n, 0), in(n, 0);
  int code = -1;
  const MPI_Fint type = MPI_Type_c2f(MPI_UNSIGNED_CHAR), op = MPI_Op_c2f(MPI_SUM);
  stream.set(in.data(), sent_byte(s.rank), n);
  stream_call<all_reduce>("telpher_f08_allreduce_enqueue")(dlsym(RTLD_DEFAULT, in_place), in.data(),
                                                           &n, &type, &op, &world, stream, &code);
  s.expect_equal(code, MPI_SUCCESS, "the code of an allreduce");
  stream.wait();
  s.expect(in.all(s.ranks * (s.ranks + 1) / 2), "a sum in place");

  const std::vector<int> counts(static_cast<std::size_t>(s.ranks), block);
  const std::vector<MPI_Fint> types(static_cast<std::size_t>(s.ranks), one_byte);
  std::vector<int> places;
  for (int r = 0; r < s.ranks; ++r) places.push_back(r * block);
  stream.set(out.data(), sent_byte(s.rank), n);
  stream_call<all_to_all>("telpher_f08_alltoallw_enqueue")(
      out.data(), counts.data(), places.data(), types.data(), in.data(), counts.data(),
      places.data(), types.data(), &world, stream, &code);
  s.expect_equal(code, MPI_SUCCESS, "the code of an alltoallw");
  stream.wait();
  for (int r = 0; r < s.ranks; ++r)
    s.expect(
        in.all(sent_byte(r), static_cast<std::size_t>(r * block), static_cast<std::size_t>(block)),
        "a block of alltoallw");
  stream_call<all_to_all>("telpher_f08_alltoallw_enqueue")(
      dlsym(RTLD_DEFAULT, in_place), nullptr, nullptr, nullptr, in.data(), counts.data(),
      places.data(), types.data(), &world, stream, &code);
  s.expect_equal(code, MPI_SUCCESS, "the code of an alltoallw in place");
  stream.wait();
  s.expect(in.all(sent_byte(s.rank), 0, static_cast<std::size_t>(block * s.ranks)),
           "the blocks back in place");
}

void named(suite& s) {
  const test_stream stream;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const MPI_Fint handle = MPI_Comm_c2f(comm);
  void* found = nullptr;
  bool flag = true;
  stream_call<get_stream>("telpher_f08_stream_get")(&handle, &found, &flag, nullptr);
  s.expect(!flag && !found, "no stream");
  stream_call<barrier>("telpher_f08_stream_set")(&handle, stream, nullptr);
  stream_call<get_stream>("telpher_f08_stream_get")(&handle, &found, &flag, nullptr);
  s.expect(flag && found == stream, "the stream that was named");
  MPI_Comm_free(&comm);
}

/// An MPI without the variables: a call might take one for a buffer. (Debian's MPICH has them.)
void refused(suite& s) {
  const test_stream stream;
  int code = MPI_SUCCESS;
  MPI_Errhandler suites;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &suites);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  stream_call<barrier>("telpher_f08_barrier_enqueue")(&world, stream, &code);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, suites);
  MPI_Errhandler_free(&suites);
  stream.wait();
  s.expect_class(code, dlsym(RTLD_DEFAULT, in_place) ? MPI_SUCCESS : MPI_ERR_OTHER,
                 "a call over an MPI without Fortran bindings");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  world = MPI_Comm_c2f(MPI_COMM_WORLD);
  one_byte = MPI_Type_c2f(MPI_BYTE);
  none = MPI_Request_c2f(MPI_REQUEST_NULL);
  if (std::getenv("TEST_VARIABLES")) {
    s.run("refused", [&] { refused(s); });
    return s.finish();
  }
  s.run("messages", [&] { messages(s); });
  s.run("absolute", [&] { absolute(s); });
  s.run("collectives", [&] { collectives(s); });
  s.run("named", [&] { named(s); });
  return s.finish();
}
