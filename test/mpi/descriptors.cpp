// SPDX-License-Identifier: BSD-3-Clause
// A program without standard streams, as daemons are, finds none of Telpher's files at 0 to 2; and
// one that closes what it did not open and puts files of its own there loses no message, and
// nothing is written to its files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mpi.h>

#include <string>

#include "memory.hpp"

using namespace mpi_test;

namespace {

int rank = 0;
int report = -1;  // standard error as it was
bool failed = false;

void expect(bool good, const char* what) {
  if (good) return;
  failed = true;
  dprintf(report, "FAILED rank %d: %s\n", rank, what);
}

std::string file_at(int number) {
  char target[512] = "";
  (void)!readlink(("/proc/self/fd/" + std::to_string(number)).c_str(), target, sizeof target - 1);
  return target;
}

bool telphers(int number) {
  return file_at(number).find("telpher") != std::string::npos;
}

// Small enough for windows, and too large.
void exchange(const char* when) {
  for (const std::size_t bytes : {5000, 300'000}) {
    void* const out = try_allocate(kind::device, bytes);
    void* const in = try_allocate(kind::device, bytes);
    std::vector<unsigned char> data(bytes), got(bytes);
    write_pattern(static_cast<std::uint64_t>(rank), data.data(), bytes);
    copy(kind::device, out, data.data(), bytes);
    MPI_Sendrecv(out, static_cast<int>(bytes), MPI_BYTE, rank ^ 1, 1, in, static_cast<int>(bytes),
                 MPI_BYTE, rank ^ 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    copy(kind::device, got.data(), in, bytes);
    write_pattern(static_cast<std::uint64_t>(rank ^ 1), data.data(), bytes);
    expect(got == data, when);
    release(kind::device, out);
    release(kind::device, in);
  }
}

}  // namespace

int main(int argc, char** argv) {
  report = fcntl(2, F_DUPFD_CLOEXEC, 90);
  for (const int stream : {0, 1, 2}) close(stream);
  void* const early = try_allocate(kind::device, 1000);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect(early != nullptr, "device memory");
  exchange("messages without standard streams");
  for (const int stream : {0, 1, 2}) expect(!telphers(stream), "a file of Telpher's at 0 to 2");

  char own[] = "/tmp/own-file-XXXXXX";
  const int file = mkstemp(own);
  unlink(own);
  int replaced = 0;
  for (int number = 3; number < 1024; ++number)
    if (telphers(number) && ++replaced) dup2(file, number);
  expect(replaced > 0, "no descriptor of Telpher's was found");
  exchange("messages after the descriptors were closed");
  release(kind::device, early);
  MPI_Barrier(MPI_COMM_WORLD);
  struct stat info {};
  expect(fstat(file, &info) == 0 && info.st_size == 0, "the program's file was written to");
  MPI_Finalize();
  expect(fstat(file, &info) == 0 && info.st_size == 0, "the program's file was written to");
  int left = 0;
  for (int number = 3; number < 1024; ++number) {
    struct stat there {};
    left += number != file && fstat(number, &there) == 0 && there.st_ino == info.st_ino &&
            there.st_dev == info.st_dev;
  }
  expect(left == replaced, "the program's descriptors were closed");
  if (!failed && rank == 0) dprintf(report, "ok descriptors\n");
  return failed ? 1 : 0;
}
