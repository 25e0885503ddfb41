// SPDX-License-Identifier: BSD-3-Clause
// Files by way of the vendor's library, which test/gds has for the emulated device: which calls
// take it, that offsets and the file's pointer are right, and what happens when it moves only a
// part, or fails. With TELPHER_GDS=auto, or where the library does not serve the file, the same
// calls go through host memory.
#include <sys/vfs.h>

#include <cstdint>
#include <cstring>

#include "emulated.hpp"
#include "files.hpp"

namespace {

using namespace mpi_test::files;
using mpi_test::buffer;
using mpi_test::kind;

/// Of the library, which Telpher opens by the same name.
using control = long(std::size_t bytes, long fails);
control* library() {
  void* opened = dlopen("libemulated-gds.so", RTLD_NOW);
  return opened ? reinterpret_cast<control*>(dlsym(opened, "emulated_gds")) : nullptr;
}

std::string setting(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

/// Whether the library is to be used for files in /tmp. It is the emulated device's alone.
bool is_served() {
  if (std::strcmp(mpi_test::backend_name(), "emu") != 0) return false;
  if (!setting("TEST_GDS_FAULT").empty()) return false;
  if (setting("TELPHER_GDS") != "auto") return true;
  struct statfs found {};
  statfs("/tmp", &found);
  const auto type = static_cast<unsigned long>(found.f_type);
  return setting("TEST_GDS_SERVES") == "all" && (type == 0xef53 || type == 0x58465342);
}

int write_at(MPI_File f, MPI_Offset at, void* b, int n, MPI_Datatype t, MPI_Status* s) {
  return MPI_File_write_at(f, at, b, n, t, s);
}
int read_at(MPI_File f, MPI_Offset at, void* b, int n, MPI_Datatype t, MPI_Status* s) {
  return MPI_File_read_at(f, at, b, n, t, s);
}

/// With its own pointer, which then stands behind the data.
int moved_to(MPI_File f, MPI_Offset wanted, int code) {
  MPI_Offset pointer = 0;
  MPI_File_get_position(f, &pointer);
  return pointer == wanted ? code : MPI_ERR_OTHER;
}
int write_own(MPI_File f, MPI_Offset at, void* b, int n, MPI_Datatype t, MPI_Status* s) {
  int size = 0;
  MPI_Type_size(t, &size);
  seek(f, at);
  return moved_to(f, at + MPI_Offset{size} * n, MPI_File_write(f, b, n, t, s));
}
int read_own(MPI_File f, MPI_Offset at, void* b, int n, MPI_Datatype t, MPI_Status* s) {
  int size = 0;
  MPI_Type_size(t, &size);
  seek(f, at);
  return moved_to(f, at + MPI_Offset{size} * n, MPI_File_read(f, b, n, t, s));
}

class test {
 public:
  explicit test(mpi_test::suite& s) : s_(s) {}

  /// Runs `body`, which uses the library or not. A call of it moves at most `bytes`; that of number
  /// `fails` and later ones fail.
  template <class Body>
  void expect(const std::string& name, bool used, std::size_t bytes, long fails, Body&& body) {
    s_.run(name, [&] {
      if (library_) library_(bytes, fails);
      body();
      if (!library_) return;  // a vendor's own tells nothing
      const long calls = library_(SIZE_MAX, 0);
      s_.expect((calls > 0) == (used && served_), "the library is used where it can be");
    });
  }

 private:
  mpi_test::suite& s_;
  control* library_ = library();
  bool served_ = is_served();
};

/// Behind other bytes, in units of 8: the pointer counts units. All is as the host reads it.
void displaced(mpi_test::suite& s, const elements& e) {
  constexpr MPI_Offset begins = 1003, skipped = 5;
  const file f(s, MPI_COMM_SELF, read_write);
  char native[] = "native";
  MPI_File_set_view(f.handle, begins, MPI_DOUBLE, MPI_DOUBLE, native, MPI_INFO_NULL);
  const bytes data = e.packed(9);
  buffer b(kind::device, data.size());
  b.write(data.data(), data.size());
  MPI_Status status;
  seek(f.handle, skipped);
  s.expect_class(MPI_File_write(f.handle, b.data(), e.count, e.type, &status), MPI_SUCCESS,
                 "write");
  int count = -1;
  MPI_Get_count(&status, e.type, &count);
  s.expect_equal(count, e.count, "elements written");
  MPI_Offset pointer = 0;
  MPI_File_get_position(f.handle, &pointer);
  s.expect_equal(pointer, skipped + e.count, "the file pointer");

  MPI_File_set_view(f.handle, 0, MPI_BYTE, MPI_BYTE, native, MPI_INFO_NULL);
  bytes found(data.size());
  MPI_File_read_at(f.handle, begins + skipped * 8, found.data(), e.packed_bytes, MPI_BYTE,
                   MPI_STATUS_IGNORE);
  s.expect_none(mpi_test::difference(found.data(), data.data(), data.size(), "the file"));
}

/// Writes the elements, without gaps, and reads them again.
void there_and_back(mpi_test::suite& s, const file& f, const elements& e, std::uint64_t number) {
  const bytes data = e.packed(number);
  buffer b(kind::device, data.size());
  b.write(data.data(), data.size());
  MPI_File_write_at(f.handle, 0, b.data(), e.count, e.type, MPI_STATUS_IGNORE);
  b.clear();
  MPI_File_read_at(f.handle, 0, b.data(), e.count, e.type, MPI_STATUS_IGNORE);
  s.expect_none(b.compare(data.data()));
}

/// A view of every second block of 800 bytes.
void view_with_holes(mpi_test::suite& s, const elements& e) {
  MPI_Datatype run = MPI_DATATYPE_NULL, every = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(100, MPI_DOUBLE, &run);
  MPI_Type_create_resized(run, 0, 1600, &every);
  MPI_Type_commit(&every);
  const file f(s, MPI_COMM_SELF, read_write);
  char native[] = "native";
  MPI_File_set_view(f.handle, 0, MPI_DOUBLE, every, native, MPI_INFO_NULL);
  there_and_back(s, f, e, 4);
  MPI_Type_free(&run);
  MPI_Type_free(&every);
}

/// Atomic calls are one call of the host MPI.
void atomic(mpi_test::suite& s, const elements& e) {
  const file f(s, MPI_COMM_SELF, read_write);
  if (MPI_File_set_atomicity(f.handle, 1) != MPI_SUCCESS) return;
  there_and_back(s, f, e, 6);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::suite s(&argc, &argv, 1);
  MPI_Datatype rows = MPI_DATATYPE_NULL;
  MPI_Type_vector(3000, 500, 501, MPI_DOUBLE, &rows);
  MPI_Type_commit(&rows);
  const elements small(MPI_DOUBLE, 1000), large(MPI_DOUBLE, 1'500'001), gaps(rows, 1);
  const pair at{"at", write_at, read_at}, own{"own pointer", write_own, read_own};
  constexpr std::size_t all = SIZE_MAX, some = (3 << 20) + 3;
  const kind device = mpi_test::kinds().back();
  test t(s);
  for (const pair& p : {at, own}) {
    const std::string name = p.name;
    t.expect(name, true, all, 0, [&] { both_ways(s, p, large, device); });
    t.expect(name + ", in parts", true, some, 0, [&] { both_ways(s, p, large, device); });
    // A write and a read take four calls each. After the one that fails the file has no others.
    for (const long fails : {1, 3, 5, 6})
      t.expect(name + ", call " + std::to_string(fails) + " fails", true, some, fails,
               [&] { both_ways(s, p, large, device); });
  }
  t.expect("end of file", true, all, 0, [&] { end_of_file(s, at, large, device); });
  t.expect("end of file, in parts", true, some, 0, [&] { end_of_file(s, at, large, device); });
  t.expect("displaced", true, all, 0, [&] { displaced(s, large); });
  t.expect("displaced, call 3 fails", true, some, 3, [&] { displaced(s, large); });
  t.expect("small", false, all, 0, [&] { both_ways(s, at, small, device); });
  t.expect("gaps", false, all, 0, [&] { both_ways(s, at, gaps, device); });
  t.expect("host memory", false, all, 0, [&] { both_ways(s, at, large, kind::host); });
  t.expect("a view with holes", false, all, 0, [&] { view_with_holes(s, large); });
  t.expect("atomic", false, all, 0, [&] { atomic(s, large); });
  MPI_Type_free(&rows);
  return s.finish();
}
