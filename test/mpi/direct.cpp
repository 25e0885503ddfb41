// SPDX-License-Identifier: BSD-3-Clause
// Device pointers handed to the host MPI between nodes: to be run with TELPHER_DIRECT=on, over an
// MPI that can touch the device's memory. The path taken, and every byte.
#include "suite.hpp"

namespace {

using namespace mpi_test;

std::string_view last_path() {
  static auto* ask = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "telpher_last_path"));
  return ask ? ask() : "none";
}

constexpr std::size_t sizes[] = {70000, 100000, 3000001};  // more than TELPHER_RAW_LIMIT

void exchange(suite& s, kind from, kind to, std::size_t bytes) {
  const int peer = s.rank ^ 1;
  buffer out(from, bytes), in(to, bytes);
  out.fill(static_cast<std::uint64_t>(s.rank) + 10);
  in.clear();
  MPI_Sendrecv(out.data(), as_int(bytes), MPI_BYTE, peer, 1, in.data(), as_int(bytes), MPI_BYTE,
               peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  s.expect_none(in.compare(static_cast<std::uint64_t>(peer) + 10, bytes));
  s.expect(last_path() == "direct", "the path is direct");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  const auto all = [&](kind from, kind to) {
    for (const std::size_t bytes : sizes) exchange(s, from, to, bytes);
  };
  s.run("device to device", [&] { all(kind::device, kind::device); });
  s.run("device to host", [&] { all(kind::device, kind::host); });
  return s.finish();
}
