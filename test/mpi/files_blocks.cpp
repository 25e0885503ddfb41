// SPDX-License-Identifier: BSD-3-Clause
// Calls of one rank on data of several blocks: contiguous and with gaps, in one element or many, in
// a file whose view has holes or that is atomic, and when they end or fail half way.
#include <sys/resource.h>

#include <csignal>

#include "emulated.hpp"
#include "files.hpp"

namespace {

using namespace mpi_test::files;
using mpi_test::buffer;
using mpi_test::kind;

int write_at(MPI_File f, MPI_Offset at, void* b, int n, MPI_Datatype t, MPI_Status* s) {
  return MPI_File_write_at(f, at, b, n, t, s);
}
int read_at(MPI_File f, MPI_Offset at, void* b, int n, MPI_Datatype t, MPI_Status* s) {
  return MPI_File_read_at(f, at, b, n, t, s);
}
int write_own(MPI_File f, MPI_Offset at, void* b, int n, MPI_Datatype t, MPI_Status* s) {
  seek(f, at);
  return MPI_File_write(f, b, n, t, s);
}
int read_own(MPI_File f, MPI_Offset at, void* b, int n, MPI_Datatype t, MPI_Status* s) {
  seek(f, at);
  return MPI_File_read(f, b, n, t, s);
}

/// A view with holes, in units of several bytes: blocks must end where units end.
void view(mpi_test::suite& s, kind k, const elements& e, const char* representation) {
  constexpr int per_block = 300;
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Datatype unit = MPI_DATATYPE_NULL, every = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(per_block, MPI_DOUBLE, &unit);
  MPI_Type_commit(&unit);
  MPI_Type_create_resized(unit, 0, static_cast<MPI_Aint>(s.ranks) * per_block * 8, &every);
  MPI_Type_commit(&every);
  file f(s, comm, read_write);
  std::string name = representation;
  MPI_File_set_view(f.handle, static_cast<MPI_Offset>(s.rank) * per_block * 8, unit, every,
                    name.data(), MPI_INFO_NULL);
  const bytes data = e.packed(static_cast<std::uint64_t>(s.rank + 3));
  const bytes wanted = e.laid_out(data, data.size());
  buffer b(k, e.span);
  b.write(wanted.data(), e.span);
  MPI_Status status;
  s.note("a view with holes, %s, %s memory", representation, mpi_test::name(k));
  s.expect_class(MPI_File_write_at(f.handle, 0, b.data(), e.count, e.type, &status), MPI_SUCCESS,
                 "write");
  publish(f.handle, comm);
  b.clear();
  seek(f.handle, 0);
  s.expect_class(MPI_File_read(f.handle, b.data(), e.count, e.type, &status), MPI_SUCCESS, "read");
  int count = -1;
  MPI_Get_count(&status, e.type, &count);
  s.expect_equal(count, e.count, "elements read");
  s.expect_none(b.compare(wanted.data()));
  MPI_Offset pointer = 0;
  MPI_File_get_position(f.handle, &pointer);
  s.expect_equal(pointer, e.packed_bytes / (per_block * 8), "the file pointer");
  MPI_Type_free(&unit);
  MPI_Type_free(&every);
}

int handled = 0;
void count_errors(MPI_File*, int*, ...) {
  ++handled;
}

class counted_errors {
 public:
  explicit counted_errors(MPI_File f) : file_(f) {
    handled = 0;
    MPI_File_create_errhandler(count_errors, &handler_);
    MPI_File_set_errhandler(f, handler_);
  }
  ~counted_errors() {
    MPI_File_set_errhandler(file_, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler_);
  }
  counted_errors(const counted_errors&) = delete;
  counted_errors& operator=(const counted_errors&) = delete;

 private:
  MPI_File file_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

constexpr int least_block = 512 << 10, largest_block = 2 << 20;

void expect_counted(mpi_test::suite& s, const MPI_Status& status, int wanted) {
  MPI_Count moved = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &moved);
  s.expect_equal(moved, wanted, "bytes that the status counts");
}

void expect_in_file(mpi_test::suite& s, MPI_File f, const bytes& content, int wanted) {
  bytes found(content.size(), 1);
  MPI_File_read_at(f, 0, found.data(), wanted, MPI_BYTE, MPI_STATUS_IGNORE);
  s.expect(std::equal(content.begin(), content.begin() + wanted, found.begin()),
           "the file's first blocks");
}

/// The third of four blocks does not get from or to the device, because the call of the device that
/// `fault` names fails: the call is an error, the blocks before it are where they belong, and the
/// status counts them.
void failed_midway(mpi_test::suite& s, const elements& e, const char* fault) {
  const int half = e.packed_bytes / 2;
  const file f(s, MPI_COMM_SELF, read_write);
  const counted_errors errors(f.handle);
  const bytes content = e.packed(3), laid_out = e.laid_out(content, content.size());
  void* const device = mpi_test::try_allocate(kind::device, e.span);
  MPI_Status status{};
  mpi_test::copy(kind::device, device, laid_out.data(), e.span);
  mpi_test::set_faults(fault);
  s.expect(MPI_File_write_at(f.handle, 0, device, e.count, e.type, &status) != MPI_SUCCESS,
           "a write whose third block does not get off the device");
  mpi_test::set_faults("");
  s.expect_equal(handled, 1, "calls of the file's handler");
  expect_counted(s, status, half);
  expect_in_file(s, f.handle, content, half);

  MPI_File_write_at(f.handle, 0, content.data(), e.packed_bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  bytes found(e.span, mpi_test::guard_byte);
  mpi_test::copy(kind::device, device, found.data(), e.span);
  mpi_test::set_faults(fault);
  s.expect(MPI_File_read_at(f.handle, 0, device, e.count, e.type, &status) != MPI_SUCCESS,
           "a read whose third block does not get to the device");
  mpi_test::set_faults("");
  s.expect_equal(handled, 2, "calls of the file's handler");
  expect_counted(s, status, half);
  mpi_test::copy(kind::device, found.data(), device, e.span);
  s.expect(found == e.laid_out(content, static_cast<std::size_t>(half)), "what the device holds");
  mpi_test::release(kind::device, device);
}

/// The file may not grow beyond the second of four blocks and a half. Without a handler of the
/// program's: MPICH says success, and counts all bytes, once such a one has heard of the error.
void full_midway(mpi_test::suite& s, const elements& e) {
  const int half = e.packed_bytes / 2;
  const file f(s, MPI_COMM_SELF, read_write);
  const bytes content = e.packed(5), laid_out = e.laid_out(content, content.size());
  buffer b(mpi_test::kinds().back(), e.span);
  b.write(laid_out.data(), e.span);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit least{static_cast<rlim_t>(half + half / 4), before.rlim_max};
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &least);
  MPI_Status status{};
  const int code = MPI_File_write_at(f.handle, 0, b.data(), e.count, e.type, &status);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  s.expect(code != MPI_SUCCESS, "a write beyond what the file may hold");
  expect_counted(s, status, half);
  expect_in_file(s, f.handle, content, half);
}

/// One copy for all of a small call, and of an atomic one, of which no rank may see a part: a
/// second copy would fail.
void in_one_copy(mpi_test::suite& s, const elements& e, bool atomic) {
  const file f(s, MPI_COMM_SELF, read_write);
  MPI_File_set_atomicity(f.handle, atomic);
  const bytes content = e.packed(9), laid_out = e.laid_out(content, content.size());
  buffer b(kind::device, e.span);
  b.write(laid_out.data(), e.span);
  MPI_Status status{};
  const auto expect = [&](const char* what, auto* call) {
    mpi_test::set_faults("memcpy:2");
    const int code = call(f.handle, 0, b.data(), e.count, e.type, &status);
    mpi_test::set_faults("");
    s.expect_class(code, MPI_SUCCESS, what);
    expect_counted(s, status, e.packed_bytes);
  };
  expect("write", write_at);
  expect_in_file(s, f.handle, content, e.packed_bytes);
  b.clear();
  expect("read", read_at);
  s.expect_none(b.compare(laid_out.data()));
}

/// One element of 64 MB takes host memory of two blocks. What a process takes for its first kernel
/// and its first blocks is not counted: `warm` is moved before.
void host_memory(mpi_test::suite& s, MPI_Datatype type, MPI_Datatype warm) {
  constexpr std::size_t limit = 16 << 20;
  const file f(s, MPI_COMM_SELF, read_write);
  MPI_Aint low = 0, extent = 0;
  MPI_Type_get_extent(type, &low, &extent);
  const auto span = static_cast<std::size_t>(extent);
  void* const device = mpi_test::try_allocate(kind::device, span);
  mpi_test::functions().set(device, 7, span);
  const auto most = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<std::size_t>(used.ru_maxrss) << 10;
  };
  MPI_File_write_at(f.handle, 0, device, 1, warm, MPI_STATUS_IGNORE);
  const std::size_t before = most();
  MPI_File_write_at(f.handle, 0, device, 1, type, MPI_STATUS_IGNORE);
  MPI_File_read_at(f.handle, 0, device, 1, type, MPI_STATUS_IGNORE);
  const std::size_t more = most() - before;
  s.note("%zu MB of host memory were taken", more >> 20);
  s.expect(more < limit, "a large element goes in blocks");
  mpi_test::release(kind::device, device);
}

MPI_Datatype committed(MPI_Datatype t) {
  MPI_Type_commit(&t);
  return t;
}
MPI_Datatype run(int count, MPI_Datatype of) {
  MPI_Datatype t = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, of, &t);
  return committed(t);
}
MPI_Datatype vector(int blocks, int length, int stride, MPI_Datatype of = MPI_INT) {
  MPI_Datatype t = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, length, stride, of, &t);
  return committed(t);
}
/// One after the other, `gap` bytes apart.
MPI_Datatype runs(const std::vector<int>& lengths, MPI_Aint first, int gap) {
  std::vector<MPI_Aint> places;
  for (const int length : lengths) {
    places.push_back(first);
    first += length + gap;
  }
  MPI_Datatype t = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(mpi_test::as_int(lengths.size()), lengths.data(), places.data(),
                           MPI_BYTE, &t);
  return committed(t);
}
MPI_Datatype cube() {
  const int sizes[] = {130, 120, 90}, inner[] = {120, 115, 80}, starts[] = {3, 2, 1};
  MPI_Datatype t = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes, inner, starts, MPI_ORDER_C, MPI_DOUBLE, &t);
  return committed(t);
}
/// Rows of unlike lengths.
std::vector<int> ragged() {
  std::vector<int> lengths(43'000);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = 200 + mpi_test::as_int(i % 7);
  return lengths;
}

/// `one` and `with_gaps` have four blocks.
void faults(mpi_test::suite& s, int block, MPI_Datatype one, MPI_Datatype with_gaps) {
  const std::string size = std::to_string(block >> 10) + " KB/";
  const elements many{MPI_BYTE, 4 * block}, gaps{with_gaps, 1};
  s.run(size + "failed midway", [&] { failed_midway(s, many, "memcpy:3"); });
  s.run(size + "failed midway, one element", [&] { failed_midway(s, {one, 1}, "memcpy:3"); });
  s.run(size + "failed midway, gaps", [&] { failed_midway(s, gaps, "launch:3"); });
  s.run(size + "full midway", [&] { full_midway(s, many); });
  s.run(size + "full midway, gaps", [&] { full_midway(s, gaps); });
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::suite s(&argc, &argv, 1);
  const bool emulated = mpi_test::held() >= 0;
  MPI_Datatype large = run(64 << 20, MPI_BYTE), large_gaps = vector(4096, 4096, 4112);
  MPI_Datatype four_blocks = run(4 * largest_block, MPI_BYTE), with_gaps = vector(512, 4096, 4112);
  if (emulated) {
    s.run("host memory", [&] { host_memory(s, large, four_blocks); });
    s.run("host memory, gaps", [&] { host_memory(s, large_gaps, with_gaps); });
  }
  struct {
    const char* name;
    MPI_Datatype type;
    int count;
  } const cases[] = {
      {"many", run(1, MPI_DOUBLE), 1'100'001},
      {"one", run(1'100'001, MPI_DOUBLE), 1},
      {"many from an offset on", runs({12'000}, 4'000, 0), 740},
      {"many vectors", vector(100, 11, 13), 2000},
      {"one vector", vector(200'000, 11, 13), 1},
      {"one subarray", cube(), 1},
      {"ragged rows", runs(ragged(), 0, 3), 1},
      {"two large runs", runs({4'500'001, 4'300'000}, 8, 5), 1},
      {"two blocks", run(1, MPI_BYTE), 2 * least_block},
      {"not in pages", run(1, MPI_BYTE), 5'000'003},
      {"some vectors", vector(100, 11, 13), 700},
  };
  const pair at{"at", write_at, read_at}, own{"own pointer", write_own, read_own};
  const kind last = mpi_test::kinds().back();
  for (const auto& c : cases)
    s.run(c.name, [&] {
      const elements e(c.type, c.count);
      both_ways(s, at, e, last);
      both_ways(s, own, e, last);
      end_of_file(s, at, e, last);
    });
  MPI_Datatype strided = vector(1110, 1000, 1001, MPI_DOUBLE);
  for (const kind k : {kind::host, last}) {
    const std::string memory = mpi_test::name(k);
    s.run("view/" + memory, [&] { view(s, k, {MPI_DOUBLE, 1'110'000}, "native"); });
    s.run("view, gaps/" + memory, [&] { view(s, k, {strided, 1}, "native"); });
    s.run("external32/" + memory, [&] { view(s, k, {MPI_DOUBLE, 1'110'000}, "external32"); });
    if (s.mpich)  // Open MPI writes other bytes, of host memory too
      s.run("external32, gaps/" + memory, [&] { view(s, k, {strided, 1}, "external32"); });
  }
  MPI_Type_free(&strided);
  if (emulated) {
    faults(s, largest_block, four_blocks, with_gaps);
    MPI_Datatype least_blocks = run(4 * least_block, MPI_BYTE), gaps = vector(1024, 512, 513);
    faults(s, least_block, least_blocks, gaps);
    s.run("small", [&] { in_one_copy(s, {MPI_BYTE, 2 * least_block - 1}, false); });
    s.run("atomic", [&] { in_one_copy(s, {least_blocks, 1}, true); });
    MPI_Type_free(&least_blocks);
    MPI_Type_free(&gaps);
  }
  for (auto c : cases) MPI_Type_free(&c.type);
  MPI_Type_free(&large);
  MPI_Type_free(&large_gaps);
  MPI_Type_free(&four_blocks);
  MPI_Type_free(&with_gaps);
  return s.finish();
}
