// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of point-to-point calls. The program gets what its MPI would say without Telpher:
// that error's class, raised once, by the handler of the call's own communicator
// (MPI_COMM_WORLD's ends the job). Nothing is sent and no receive stays behind: the next message is
// as good as ever.
#include "forms.hpp"

using namespace mpi_test;

namespace {

constexpr std::size_t small = 100, large = 1000000;
constexpr int nobody = 99;  // more ranks than any run of this test has

/// A communicator like MPI_COMM_WORLD whose errors are returned, and counted where the host MPI
/// returns them also after a handler that counts: MPICH 5.0.2 gives MPI_SUCCESS then.
class counting {
 public:
  explicit counting(bool counts) : counts_(counts) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    if (counts) MPI_Comm_create_errhandler(&counting::count, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    if (counts) MPI_Errhandler_free(&handler);
  }
  counting(const counting&) = delete;
  counting& operator=(const counting&) = delete;
  ~counting() { MPI_Comm_free(&comm); }

  /// Whether so many errors were raised since the last call.
  bool raised(int n) const { return std::exchange(errors(), 0) == n || !counts_; }

  MPI_Comm comm = MPI_COMM_NULL;

 private:
  static int& errors() {
    static int n = 0;
    return n;
  }
  static void count(MPI_Comm*, int*, ...) { ++errors(); }

  bool counts_;
};

class tester {
 public:
  explicit tester(suite& s) : s_(s), peer_(s.rank ^ 1), errors_(!s.mpich) {}

  void refused(int code, int wanted, const char* what) {
    s_.expect_class(code, wanted, what);
    if (!errors_.raised(1)) s_.fail("%s: not one error", what);
  }

  /// Both ways, and the right bytes.
  void sane(kind k, std::size_t bytes) {
    buffer out(k, bytes), in(k, bytes);
    out.fill(static_cast<std::uint64_t>(s_.rank));
    in.clear();
    MPI_Status status;
    MPI_Sendrecv(out.data(), as_int(bytes), MPI_BYTE, peer_, tag, in.data(), as_int(bytes),
                 MPI_BYTE, peer_, tag, errors_.comm, &status);
    s_.expect_status(status, peer_, tag, bytes);
    s_.expect_none(in.compare(static_cast<std::uint64_t>(peer_), bytes));
    s_.expect(errors_.raised(0), "no error where nothing is wrong");
  }

  /// Every call with a count and a type that are wrong.
  void wrong_buffers(int count, MPI_Datatype type, int wanted) {
    MPI_Comm comm = errors_.comm;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    for (kind k : kinds())
      for (std::size_t bytes : {small, large}) {
        s_.note("%s of %zu bytes", name(k), bytes);
        buffer b(k, bytes), other(k, bytes);
        b.clear();
        void* const at = b.data();
        refused(MPI_Send(at, count, type, peer_, tag, comm), wanted, "Send");
        refused(MPI_Isend(at, count, type, peer_, tag, comm, &request), wanted, "Isend");
        refused(MPI_Recv(at, count, type, peer_, tag, comm, &status), wanted, "Recv");
        refused(MPI_Irecv(at, count, type, peer_, tag, comm, &request), wanted, "Irecv");
        refused(MPI_Sendrecv(at, count, type, peer_, tag, other.data(), as_int(bytes), MPI_BYTE,
                             peer_, tag, comm, &status),
                wanted, "Sendrecv that sends it");
        refused(MPI_Sendrecv(other.data(), as_int(bytes), MPI_BYTE, peer_, tag, at, count, type,
                             peer_, tag, comm, &status),
                wanted, "Sendrecv that receives it");
        refused(MPI_Sendrecv_replace(at, count, type, peer_, tag, peer_, tag, comm, &status),
                wanted, "Sendrecv_replace");
        std::vector<unsigned char> untouched(bytes, guard_byte);
        s_.expect_none(b.compare(untouched.data()));
        s_.meet(peer_);
        sane(k, bytes);
      }
  }

  void negative_counts() {
    MPI_Request request;
    int x = 5;
    wrong_buffers(-1, MPI_BYTE, MPI_ERR_COUNT);
    s_.note("no memory");
    refused(MPI_Irecv(nullptr, -1, MPI_BYTE, peer_, tag, errors_.comm, &request), MPI_ERR_COUNT,
            "Irecv");
    refused(MPI_Sendrecv_replace(&x, -1, MPI_INT, MPI_PROC_NULL, tag, MPI_PROC_NULL, tag,
                                 errors_.comm, MPI_STATUS_IGNORE),
            MPI_ERR_COUNT, "Sendrecv_replace with nobody");
  }

  void wrong_types() {
    wrong_buffers(1, MPI_DATATYPE_NULL, MPI_ERR_TYPE);
    MPI_Datatype vector;
    MPI_Type_vector(4, 1, 2, MPI_INT, &vector);
    wrong_buffers(1, vector, MPI_ERR_TYPE);
    MPI_Type_commit(&vector);
    for (kind k : kinds()) {
      s_.note("%s, the type committed now", name(k));
      buffer b(k, small);
      b.clear();
      b.fill(1);
      s_.expect_class(MPI_Sendrecv_replace(b.data(), 1, vector, peer_, tag, peer_, tag,
                                           errors_.comm, MPI_STATUS_IGNORE),
                      MPI_SUCCESS, "Sendrecv_replace");
      s_.expect_none(b.compare(1, small));
    }
    MPI_Type_free(&vector);
  }

  void wrong_envelopes() {
    MPI_Comm comm = errors_.comm;
    MPI_Request request = MPI_REQUEST_NULL;
    for (kind k : kinds())
      for (std::size_t bytes : {small, large})
        for (const bool rank : {true, false}) {
          s_.note("%s of %zu bytes, wrong %s", name(k), bytes, rank ? "rank" : "tag");
          const int wanted = rank ? MPI_ERR_RANK : MPI_ERR_TAG, n = as_int(bytes);
          const int to = rank ? nobody : peer_, t = rank ? tag : -5;
          buffer b(k, bytes);
          b.clear();
          refused(MPI_Send(b.data(), n, MPI_BYTE, to, t, comm), wanted, "Send");
          refused(MPI_Isend(b.data(), n, MPI_BYTE, to, t, comm, &request), wanted, "Isend");
          refused(MPI_Ssend(b.data(), n, MPI_BYTE, to, t, comm), wanted, "Ssend");
          refused(MPI_Recv(b.data(), n, MPI_BYTE, to, t, comm, MPI_STATUS_IGNORE), wanted, "Recv");
          refused(MPI_Irecv(b.data(), n, MPI_BYTE, to, t, comm, &request), wanted, "Irecv");
          s_.meet(peer_);
          sane(k, bytes);
        }
  }

  /// A handler of the program's returns: the call has failed all the same, whatever MPICH says.
  void own_handler() {
    const counting own(true);
    MPI_Request request = MPI_REQUEST_NULL;
    for (std::size_t bytes : {small, large}) {
      s_.note("%zu bytes", bytes);
      buffer b(kind::device, bytes);
      const int n = as_int(bytes);
      const int code = MPI_Irecv(b.data(), n, MPI_BYTE, nobody, tag, own.comm, &request);
      s_.expect(code != MPI_SUCCESS, "MPI_Irecv fails");
      if (bytes < large) continue;  // no ticket: what the host MPI does then is its own
      s_.expect(MPI_Isend(b.data(), n, MPI_BYTE, peer_, -5, own.comm, &request) != MPI_SUCCESS,
                "MPI_Isend fails");
    }
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    s_.expect(MPI_Probe(nobody, tag, own.comm, &status) != MPI_SUCCESS, "MPI_Probe fails");
    s_.expect(MPI_Mprobe(nobody, tag, own.comm, &message, &status) != MPI_SUCCESS,
              "MPI_Mprobe fails");
    own.raised(0);  // forgets them
    sane(kind::device, large);
  }

  enum class form { sendrecv, replace, isendrecv };

  /// A call that sends and receives, and whose send is refused.
  int exchange(form f, buffer& b, buffer& in, int bytes, int to) {
    MPI_Comm comm = errors_.comm;
    switch (f) {
      case form::sendrecv:
        return MPI_Sendrecv(b.data(), bytes, MPI_BYTE, to, tag, in.data(), as_int(in.bytes()),
                            MPI_BYTE, peer_, tag, comm, MPI_STATUS_IGNORE);
      case form::replace:
        return MPI_Sendrecv_replace(b.data(), bytes, MPI_BYTE, to, tag, peer_, tag, comm,
                                    MPI_STATUS_IGNORE);
      case form::isendrecv:
        break;
    }
#if MPI_TEST_HAS_MPI_4
    MPI_Request request;
    return MPI_Isendrecv(b.data(), bytes, MPI_BYTE, to, tag, in.data(), as_int(in.bytes()),
                         MPI_BYTE, peer_, tag, comm, &request);
#else
    return exchange(form::sendrecv, b, in, bytes, to);
#endif
  }

  /// The receive beside a refused send takes no message, whether it comes before or after.
  void nothing_swallowed() {
    for (kind k : kinds())
      for (std::size_t bytes : {small, large})
        for (form f : {form::sendrecv, form::replace, form::isendrecv})
          for (const bool early : {true, false}) {
            s_.note("%s of %zu bytes, form %d, %s", name(k), bytes, static_cast<int>(f),
                    early ? "the message is there" : "the message comes later");
            buffer out(k, bytes), in(k, bytes);
            out.fill(static_cast<std::uint64_t>(s_.rank));
            MPI_Request send = MPI_REQUEST_NULL;
            if (early) start_send(out, &send);
            s_.meet(peer_);
            refused(exchange(f, out, in, as_int(bytes), nobody), MPI_ERR_RANK, "the exchange");
            s_.meet(peer_);
            if (!early) start_send(out, &send);
            expect_message(in);
            MPI_Wait(&send, MPI_STATUS_IGNORE);
          }
  }

  /// More bytes than the allocation has: an error of the sender alone.
  void beyond_the_allocation() {
    constexpr std::size_t bytes = 1 << 20;
    buffer b(kind::device, bytes), in(kind::device, bytes);
    b.fill(static_cast<std::uint64_t>(s_.rank));
    s_.note("Send");
    refused(MPI_Send(b.data(), 4 * as_int(bytes), MPI_BYTE, peer_, tag, errors_.comm), MPI_ERR_ARG,
            "Send");
    sane(kind::device, bytes);
    for (form f : {form::sendrecv, form::isendrecv}) {
      s_.note("form %d", static_cast<int>(f));
      refused(exchange(f, b, in, 4 * as_int(bytes), peer_), MPI_ERR_ARG, "the exchange");
      s_.meet(peer_);
      MPI_Request send;
      start_send(b, &send);
      expect_message(in);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
  }

  /// One type over host and device memory, either one first.
  void mixed_types() {
    buffer on_host(kind::host, small), on_device(kind::device, small);
    for (bool host_first : {true, false}) {
      s_.note("%s memory first", host_first ? "host" : "device");
      int lengths[2] = {as_int(small), as_int(small)};
      MPI_Aint places[2];
      MPI_Get_address(on_host.data(), &places[host_first ? 0 : 1]);
      MPI_Get_address(on_device.data(), &places[host_first ? 1 : 0]);
      MPI_Datatype both;
      MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &both);
      MPI_Type_commit(&both);
      const int wanted = MPI_ERR_UNSUPPORTED_OPERATION;
      MPI_Request request;
      refused(MPI_Send(MPI_BOTTOM, 1, both, peer_, tag, errors_.comm), wanted, "MPI_Send");
      refused(MPI_Isend(MPI_BOTTOM, 1, both, peer_, tag, errors_.comm, &request), wanted,
              "MPI_Isend");
      refused(MPI_Recv(MPI_BOTTOM, 1, both, peer_, tag, errors_.comm, MPI_STATUS_IGNORE), wanted,
              "MPI_Recv");
      refused(MPI_Irecv(MPI_BOTTOM, 1, both, peer_, tag, errors_.comm, &request), wanted,
              "MPI_Irecv");
      unsigned char packed[2 * small];
      int position = 0;
      refused(MPI_Pack(MPI_BOTTOM, 1, both, packed, sizeof packed, &position, errors_.comm), wanted,
              "MPI_Pack");
      refused(MPI_Unpack(packed, sizeof packed, &position, MPI_BOTTOM, 1, both, errors_.comm),
              wanted, "MPI_Unpack");
      s_.expect_equal(position, 0, "position");
      MPI_Type_free(&both);
    }
    sane(kind::device, large);
  }

  /// No elements of a type that is none, or not committed: what the host MPI takes is taken.
  void no_elements() {
    MPI_Datatype uncommitted;
    MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
    for (const MPI_Datatype type : {MPI_DATATYPE_NULL, uncommitted}) {
      const int taken = host_code(type);
      s_.note("%s type: host MPI %s", type == uncommitted ? "uncommitted" : "null",
              taken == MPI_SUCCESS ? "takes it" : "refuses it");
      for (int i = 0; i < 6; ++i) sane_start(i);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Status status;
      MPI_Message found;
      const auto expect = [&](int code, const char* what) {
        s_.expect_class(code, taken, what);
        if (!errors_.raised(taken != MPI_SUCCESS)) s_.fail("%s: the handler's calls", what);
        if (code != MPI_SUCCESS) return false;
        if (request != MPI_REQUEST_NULL) MPI_Wait(&request, &status);
        return true;
      };
      int got = 0;
      got += expect(MPI_Recv(nullptr, 0, type, peer_, tag, errors_.comm, &status), "MPI_Recv");
      got += expect(MPI_Irecv(nullptr, 0, type, peer_, tag, errors_.comm, &request), "MPI_Irecv");
      got += expect(MPI_Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, nullptr, 0, type, peer_,
                                 tag, errors_.comm, &status),
                    "MPI_Sendrecv");
      MPI_Mprobe(peer_, tag, errors_.comm, &found, &status);
      if (expect(MPI_Mrecv(nullptr, 0, type, &found, &status), "MPI_Mrecv"))
        ++got;
      else if (found != MPI_MESSAGE_NULL)
        got += MPI_Mrecv(nullptr, 0, MPI_BYTE, &found, &status) == MPI_SUCCESS;
      if (expect(MPI_Recv_init(nullptr, 0, type, peer_, tag, errors_.comm, &request),
                 "MPI_Recv_init") &&
          request != MPI_REQUEST_NULL) {
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        MPI_Request_free(&request);
        ++got;
      }
      expect(MPI_Sendrecv_replace(nullptr, 0, type, MPI_PROC_NULL, tag, MPI_PROC_NULL, tag,
                                  errors_.comm, &status),
             "MPI_Sendrecv_replace");
      for (; got < 6; ++got)
        MPI_Recv(nullptr, 0, MPI_BYTE, peer_, tag, errors_.comm, MPI_STATUS_IGNORE);
      MPI_Waitall(6, empty_, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&uncommitted);
  }

 private:
  static constexpr int tag = 6;

  /// The host MPI's own, which PMPI_Recv is not: that name is Telpher's, too.
  static decltype(&PMPI_Recv) host_recv() {
    for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"})
      if (void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD))
        return reinterpret_cast<decltype(&PMPI_Recv)>(dlsym(library, "PMPI_Recv"));
    return &PMPI_Recv;
  }
  /// The class of what the host MPI says of no elements of a type.
  int host_code(MPI_Datatype type) {
    int found = host_recv()(nullptr, 0, type, MPI_PROC_NULL, tag, errors_.comm, MPI_STATUS_IGNORE);
    if (!errors_.raised(found != MPI_SUCCESS)) s_.fail("the host MPI's own error");
    if (found != MPI_SUCCESS) MPI_Error_class(found, &found);
    return found;
  }
  void sane_start(int i) {
    MPI_Isend(nullptr, 0, MPI_BYTE, peer_, tag, errors_.comm, &empty_[i]);
  }

  void start_send(buffer& out, MPI_Request* request) {
    MPI_Isend(out.data(), as_int(out.bytes()), MPI_BYTE, peer_, tag, errors_.comm, request);
  }
  void expect_message(buffer& in) {
    in.clear();
    MPI_Status status;
    MPI_Recv(in.data(), as_int(in.bytes()), MPI_BYTE, peer_, tag, errors_.comm, &status);
    s_.expect_status(status, peer_, tag, in.bytes());
    s_.expect_none(in.compare(static_cast<std::uint64_t>(peer_), in.bytes()));
  }

  suite& s_;
  int peer_;
  counting errors_;
  MPI_Request empty_[6];
};

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  {
    tester t(s);
    s.run("negative counts", [&] { t.negative_counts(); });
    s.run("wrong types", [&] { t.wrong_types(); });
    s.run("no elements", [&] { t.no_elements(); });
    s.run("wrong envelopes", [&] { t.wrong_envelopes(); });
    s.run("nothing swallowed", [&] { t.nothing_swallowed(); });
    if (kinds().back() == kind::device) {
      s.run("beyond the allocation", [&] { t.beyond_the_allocation(); });
      s.run("mixed types", [&] { t.mixed_types(); });
      s.run("own handler", [&] { t.own_handler(); });
    }
  }
  return s.finish();
}
