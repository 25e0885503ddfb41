// SPDX-License-Identifier: BSD-3-Clause
// Compressed messages between two pretended nodes: floats within the codec's error, everything else
// exactly, into every kind of memory, in every order, and truncation as ever. The settings of
// CMakeLists.txt force zfp for floats and doubles, mpc for integers, from 16 KiB on.
#include <cmath>

#include "behind.hpp"
#include "suite.hpp"

namespace {

using mpi_test::as_int;
using mpi_test::buffer;
using mpi_test::kind;

constexpr std::size_t threshold = 16384;  // TELPHER_COMPRESSION_THRESHOLD of CMakeLists.txt

template <class T>
T value_at(std::size_t i, std::uint64_t id) {
  return static_cast<T>(std::sin(static_cast<double>(i) / 50 + static_cast<double>(id)) * 1000);
}

template <class T>
std::vector<T> values(std::size_t count, std::uint64_t id) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = value_at<T>(i, id);
  return made;
}

template <class T>
void load(buffer& b, const std::vector<T>& from) {
  b.write(reinterpret_cast<const unsigned char*>(from.data()), from.size() * sizeof(T));
}

template <class T>
std::vector<T> content(const buffer& b, std::size_t count) {
  std::vector<T> found(count);
  mpi_test::copy(b.memory(), found.data(), b.data(), count * sizeof(T));
  return found;
}

template <class T>
double worst_error(const std::vector<T>& a, const std::vector<T>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return worst;
}

/// Rank 0 sends, the last rank, which is on the other node, receives in `to`.
template <class T>
void one_way(mpi_test::suite& s, MPI_Datatype type, kind to, std::size_t count, bool lossy,
             MPI_Comm comm = MPI_COMM_WORLD) {
  const int last = s.ranks - 1;
  const auto sent = values<T>(count, count);
  s.note("%zu values to %s", count, mpi_test::name(to));
  if (s.rank == 0) {
    buffer b(kind::device, count * sizeof(T));
    load(b, sent);
    MPI_Send(b.data(), as_int(count), type, last, 5, comm);
    s.expect(content<T>(b, count) == sent, "the send buffer is as it was");
  } else if (s.rank == last) {
    buffer b(to, (count + 3) * sizeof(T));
    b.clear();
    MPI_Status status;
    MPI_Recv(b.data(), as_int(count + 3), type, 0, 5, comm, &status);
    s.expect_status(status, 0, 5, count * sizeof(T));
    const double error = worst_error(content<T>(b, count), sent);
    if (lossy) {
      s.expect(error > 0, "some value differs: the message was compressed");
      s.expect(error < 1, "every value is within the error");
    } else {
      s.expect(error == 0, "every value is exact");
    }
  }
}

template <class T>
void every_size(mpi_test::suite& s, const char* name, MPI_Datatype type, bool lossy) {
  for (const kind to : mpi_test::kinds())
    s.run(std::string(name) + " to " + mpi_test::name(to), [&] {
      for (const std::size_t count :
           {threshold / sizeof(T), std::size_t{4099}, std::size_t{300001}})
        one_way<T>(s, type, to, count, lossy);
      one_way<T>(s, type, to, threshold / sizeof(T) - 1, false);
    });
}

void many_in_flight(mpi_test::suite& s) {
  constexpr int messages = 12;
  constexpr std::size_t count = 20000;
  const int last = s.ranks - 1;
  if (s.rank != 0 && s.rank != last) return;
  const int peer = last - s.rank;
  std::vector<buffer> out, in;
  std::vector<MPI_Request> requests(2 * messages);
  for (int m = 0; m < messages; ++m) {
    out.emplace_back(kind::device, count * sizeof(double));
    in.emplace_back(m % 2 ? kind::device : kind::host, count * sizeof(double));
    load(out.back(), values<double>(count, static_cast<std::uint64_t>(m + s.rank)));
  }
  for (int m = 0; m < messages; ++m)  // tags the other way round
    MPI_Irecv(in[static_cast<std::size_t>(m)].data(), as_int(count), MPI_DOUBLE, peer,
              messages - 1 - m, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(m)]);
  for (int m = 0; m < messages; ++m) {
    const auto i = static_cast<std::size_t>(m);
    auto* send = m % 3 ? MPI_Isend : MPI_Issend;
    send(out[i].data(), as_int(count), MPI_DOUBLE, peer, m, MPI_COMM_WORLD,
         &requests[i + messages]);
  }
  MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
  for (int m = 0; m < messages; ++m) {
    const auto wanted = values<double>(count, static_cast<std::uint64_t>(messages - 1 - m + peer));
    const auto got = content<double>(in[static_cast<std::size_t>(m)], count);
    s.expect(worst_error(got, wanted) < 1, "a message of many");
  }
}

void truncation(mpi_test::suite& s) {
  constexpr std::size_t count = 10000;
  const int last = s.ranks - 1;
  if (s.rank == 0) {
    buffer b(kind::device, count * 4);
    load(b, values<float>(count, 1));
    MPI_Send(b.data(), as_int(count), MPI_FLOAT, last, 0, MPI_COMM_WORLD);
  } else if (s.rank == last) {
    buffer b(kind::device, count * 2);
    b.clear();
    MPI_Errhandler old;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int code =
        MPI_Recv(b.data(), as_int(count / 2), MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, old);
    MPI_Errhandler_free(&old);
    s.expect_class(code, MPI_ERR_TRUNCATE, "half the room");
    s.expect_none(b.compare(0, 0));
  }
}

void as_bytes_to_an_odd_address(mpi_test::suite& s, kind to) {
  constexpr std::size_t count = 5000;
  const int last = s.ranks - 1;
  const auto sent = values<float>(count, 2);
  if (s.rank == 0) {
    buffer b(kind::device, count * 4);
    load(b, sent);
    MPI_Send(b.data(), as_int(count), MPI_FLOAT, last, 0, MPI_COMM_WORLD);
  } else if (s.rank == last) {
    buffer b(to, count * 4, 3);
    b.clear();
    MPI_Recv(b.data(), as_int(count * 4), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s.expect(worst_error(content<float>(b, count), sent) < 1, "values at an odd address");
  }
}

void derived_types_stay_exact(mpi_test::suite& s) {
  constexpr int blocks = 5000;
  const int last = s.ranks - 1;
  MPI_Datatype type;
  MPI_Type_vector(blocks, 1, 2, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  const auto sent = values<float>(2 * blocks, 3);
  if (s.rank == 0) {
    buffer b(kind::device, sent.size() * 4);
    load(b, sent);
    MPI_Send(b.data(), 1, type, last, 0, MPI_COMM_WORLD);
  } else if (s.rank == last) {
    buffer b(kind::device, blocks * 4);
    MPI_Recv(b.data(), blocks, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const auto got = content<float>(b, blocks);
    bool exact = true;
    for (std::size_t i = 0; i < blocks; ++i) exact = exact && got[i] == sent[2 * i];
    s.expect(exact, "a derived type");
  }
  MPI_Type_free(&type);
}

/// Freed where Telpher does not see it. Another one with the same handle has no choice of its own.
void choice_ends_with_communicator(mpi_test::suite& s, MPI_Comm comm) {
  constexpr std::size_t count = 50000;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "telpher_compression", "off");
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
  one_way<float>(s, MPI_FLOAT, kind::device, count, false, comm);
  const MPI_Comm freed = comm;
  mpi_test::host_comm_free(&comm);
  std::vector<MPI_Comm> next;
  for (int same = 0; next.size() < 100 && !same;) {
    MPI_Comm_dup(MPI_COMM_WORLD, &next.emplace_back());
    same = next.back() == freed;
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  if (s.rank == 0) std::printf("# the handle came again %d times\n", next.back() == freed);
  one_way<float>(s, MPI_FLOAT, kind::device, count, true, next.back());
  for (MPI_Comm& one : next) MPI_Comm_free(&one);
}

void info_key(mpi_test::suite& s) {
  constexpr std::size_t count = 50000;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "telpher_compression", "off");
  MPI_Comm comm;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  one_way<float>(s, MPI_FLOAT, kind::device, count, false, comm);
  one_way<float>(s, MPI_FLOAT, kind::device, count, true);
  MPI_Info_set(info, "telpher_compression", "float=zfp:rate=20");
  MPI_Comm_set_info(comm, info);
  one_way<float>(s, MPI_FLOAT, kind::device, count, true, comm);
  one_way<double>(s, MPI_DOUBLE, kind::device, count, false, comm);
  MPI_Info_free(&info);
  choice_ends_with_communicator(s, comm);
}

// The sender goes on into a barrier of the host MPI before anybody asks for the message.
void sender_does_not_wait(mpi_test::suite& s) {
  constexpr std::size_t count = 50000;
  const int last = s.ranks - 1;
  const auto sent = values<float>(count, 4);
  buffer b(kind::device, count * 4);
  MPI_Request request = MPI_REQUEST_NULL;
  if (s.rank == 0) {
    load(b, sent);
    MPI_Isend(b.data(), as_int(count), MPI_FLOAT, last, 0, MPI_COMM_WORLD, &request);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (s.rank == last) {
    MPI_Status status;
    MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
    s.expect_status(status, 0, 0, count * 4);
    MPI_Recv(b.data(), as_int(count), MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s.expect(worst_error(content<float>(b, count), sent) < 1, "a buffered message");
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::suite s(&argc, &argv, 2);
  every_size<float>(s, "float", MPI_FLOAT, true);
  every_size<double>(s, "double", MPI_DOUBLE, true);
  every_size<int>(s, "int", MPI_INT, false);
  every_size<long long>(s, "long long", MPI_LONG_LONG, false);
  s.run("many in flight", [&] { many_in_flight(s); });
  s.run("truncation", [&] { truncation(s); });
  s.run("odd address, host", [&] { as_bytes_to_an_odd_address(s, kind::host); });
  s.run("odd address, device", [&] { as_bytes_to_an_odd_address(s, kind::device); });
  s.run("derived types", [&] { derived_types_stay_exact(s); });
  s.run("info key", [&] { info_key(s); });
  s.run("sender does not wait", [&] { sender_does_not_wait(s); });
  return s.finish();
}
