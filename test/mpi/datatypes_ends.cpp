// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes whose end comes before that of what uses them, also where Telpher cannot see
// it, and which have attributes of the program's.
#include <dlfcn.h>

#include "type_layouts.hpp"

using namespace mpi_test;

namespace {

/// A type that is freed while a message of it is under way.
void freed_type(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  with_all_kinds([&](kind from, kind to) {
    s.note("%s to %s", name(from), name(to));
    MPI_Datatype type;
    MPI_Type_vector(50, 3, 7, MPI_INT, &type);
    MPI_Type_commit(&type);
    const layout l(type, 20);
    buffer out(from, l.span), in(to, l.span);
    put(out, l, s.opt.seed + static_cast<std::uint64_t>(s.rank));
    in.clear();
    MPI_Request r[2];
    MPI_Irecv(in.data(), 20, type, peer, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out.data(), 20, type, peer, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Type_free(&type);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    s.expect_none(check(in, l, s.opt.seed + static_cast<std::uint64_t>(peer), l.place.size()));
  });
}

int attribute_copies = 0, attribute_ends = 0;
int copy_attribute(MPI_Datatype, int, void*, void* in, void* out, int* flag) {
  ++attribute_copies;
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}
int end_attribute(MPI_Datatype, int, void*, void*) {
  ++attribute_ends;
  return MPI_SUCCESS;
}

/// What begins after its call keeps a type of its own, of which the type's attributes know nothing.
void attributes_stay_alone(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  int key = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(copy_attribute, end_attribute, &key, nullptr);
  for (const kind k : kinds())
    for (const bool collective : {false, true}) {
      s.note("%s, %s", name(k), collective ? "a collective" : "persistent");
      attribute_copies = attribute_ends = 0;
      MPI_Datatype type;
      MPI_Type_vector(50, 3, 7, MPI_INT, &type);
      MPI_Type_commit(&type);
      MPI_Type_set_attr(type, key, nullptr);
      const layout l(type, 20);
      buffer out(k, l.span), in(k, l.span * static_cast<std::size_t>(s.ranks));
      put(out, l, s.opt.seed + static_cast<std::uint64_t>(s.rank));
      MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      if (collective) {
        MPI_Iallgather(out.data(), 20, type, in.data(), 20, type, MPI_COMM_WORLD, &r[0]);
        MPI_Type_free(&type);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
      } else {
        in.clear();
        MPI_Recv_init(in.data(), 20, type, peer, 4, MPI_COMM_WORLD, &r[0]);
        MPI_Send_init(out.data(), 20, type, peer, 4, MPI_COMM_WORLD, &r[1]);
        MPI_Type_free(&type);
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]);
        s.expect_equal(attribute_ends, 1, "ends of the attribute");
      }
      s.expect_equal(attribute_copies, 0, "copies of the attribute");
    }
  MPI_Type_free_keyval(&key);
}

/// The host MPI's own function, as a library finds it that asked the MPI library's handle.
decltype(&MPI_Type_free) host_type_free() {
  for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"})
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD))
      return reinterpret_cast<decltype(&MPI_Type_free)>(dlsym(library, "MPI_Type_free"));
  return &MPI_Type_free;
}

// Every other one is made with large counts, as mpi4py makes all of them.
MPI_Datatype vector_type(int step) {
  MPI_Datatype type;
#if MPI_VERSION >= 4
  if (step % 2 == 0) {
    MPI_Type_vector_c(50, step, 7, MPI_INT, &type);
    return type;
  }
#endif
  MPI_Type_vector(50, step, 7, MPI_INT, &type);
  return type;
}

/// Types that are freed where Telpher cannot see it: the next one is likely to get the same handle.
void freed_past_wrappers(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  with_all_kinds([&](kind from, kind to) {
    for (int step = 1; step <= 6; ++step) {
      s.note("%s to %s, step %d", name(from), name(to), step);
      MPI_Datatype type = vector_type(step);
      MPI_Type_commit(&type);
      const layout l(type, 20);
      buffer out(from, l.span), in(to, l.span);
      put(out, l, s.opt.seed + static_cast<std::uint64_t>(s.rank));
      in.clear();
      MPI_Sendrecv(out.data(), 20, type, peer, 4, in.data(), 20, type, peer, 4, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      s.expect_none(check(in, l, s.opt.seed + static_cast<std::uint64_t>(peer), l.place.size()));
      host_type_free()(&type);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  s.run("freed type", [&] { freed_type(s); });
  s.run("freed past the wrappers", [&] { freed_past_wrappers(s); });
  s.run("attributes stay alone", [&] { attributes_stay_alone(s); });
  return s.finish();
}
