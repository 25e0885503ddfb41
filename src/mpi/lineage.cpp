// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/lineage.hpp"

#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include "base/lasting.hpp"
#include "host_mpi/attribute.hpp"
#include "host_mpi/error.hpp"
#include "ticket/progress.hpp"

namespace telpher::mpi::lineage {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t x = (a + 0x9e3779b97f4a7c15u) ^ (b * 0xbf58476d1ce4e5b9u);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x != 0 ? x : 1;
}

/// The attribute. `children` is written by the calls that make them, of which a communicator has
/// one at a time.
struct mark {
  std::uint64_t name;
  std::uint64_t children = 0;
};

int key = MPI_KEYVAL_INVALID;

int name_duplicate(MPI_Comm, int, void*, void* parent, void* child, int* flag) {
  *flag = 0;
  if (host_mpi::no_duplicate::being_made()) return MPI_SUCCESS;
  mark* const from = static_cast<mark*>(parent);
  *static_cast<mark**>(child) = new mark{mix(from->name, ++from->children)};
  *flag = 1;
  return MPI_SUCCESS;
}

int delete_mark(MPI_Comm, int, void* of, void*) {
  delete static_cast<mark*>(of);
  return MPI_SUCCESS;
}

mark* mark_of(MPI_Comm comm) noexcept {
  mark* found = nullptr;
  int flag = 0;
  if (key == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL) return nullptr;
  pmpi::Comm_get_attr(comm, key, &found, &flag);
  return flag ? found : nullptr;
}

void name(MPI_Comm comm, std::uint64_t value) noexcept {
  pmpi::Comm_set_attr(comm, key, new mark{value});
}

// The members as a set: both groups of an intercommunicator give the same.
std::uint64_t sum_of(MPI_Group group) noexcept {
  const host_mpi::job& job = ticket::job();
  MPI_Group all = MPI_GROUP_NULL;
  int size = 0;
  pmpi::Comm_group(job.control, &all);
  pmpi::Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), inside(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (size > 0) pmpi::Group_translate_ranks(group, size, ranks.data(), all, inside.data());
  std::uint64_t sum = 0;
  for (const int r : inside) sum += mix(1, static_cast<std::uint64_t>(r));
  pmpi::Group_free(&all);
  pmpi::Group_free(&group);
  return sum;
}

std::uint64_t members_of(MPI_Comm comm) noexcept {
  MPI_Group group = MPI_GROUP_NULL;
  int inter = 0;
  pmpi::Comm_test_inter(comm, &inter);
  pmpi::Comm_group(comm, &group);
  std::uint64_t sum = sum_of(group);
  if (!inter) return sum;
  pmpi::Comm_remote_group(comm, &group);
  return mix(2, sum + sum_of(group));
}

std::mutex guard;

// How often the same ranks made a communicator from the same seed.
made_at_start<std::map<std::uint64_t, std::uint64_t>> made_before;

}  // namespace

std::uint64_t of_number(int number) noexcept {
  return mix(4, static_cast<std::uint64_t>(number));
}

std::uint64_t of_group(MPI_Comm parent, int tag) noexcept {
  return mix(name_of(parent), of_number(tag));
}

std::uint64_t of_text(const char* text) noexcept {
  std::uint64_t h = 3;
  for (; text && *text; ++text) h = mix(h, static_cast<unsigned char>(*text));
  return h;
}

void start() noexcept {
  made_before.make();
  if (pmpi::Comm_create_keyval(name_duplicate, delete_mark, &key, nullptr) != MPI_SUCCESS) {
    key = MPI_KEYVAL_INVALID;
    return;
  }
  if (host_mpi::world_model) name_world();
}

void name_world() noexcept {
  if (key == MPI_KEYVAL_INVALID) return;
  name(MPI_COMM_WORLD, of_text("MPI_COMM_WORLD"));
  name(MPI_COMM_SELF, of_text("MPI_COMM_SELF"));
}

void stop() noexcept {
  if (key == MPI_KEYVAL_INVALID) return;
  if (host_mpi::world_model) {
    pmpi::Comm_delete_attr(MPI_COMM_WORLD, key);
    pmpi::Comm_delete_attr(MPI_COMM_SELF, key);
  }
  pmpi::Comm_free_keyval(&key);
  key = MPI_KEYVAL_INVALID;
  const std::lock_guard lock(guard);
  made_before->clear();
}

std::uint64_t name_of(MPI_Comm comm) noexcept {
  const mark* const m = mark_of(comm);
  return m ? m->name : 0;
}

void made_from(MPI_Comm parent, MPI_Comm made) noexcept {
  mark* const from = mark_of(parent);
  if (!from) return;
  const std::uint64_t value = mix(from->name, ++from->children);
  if (made != MPI_COMM_NULL) name(made, value);
}

void made_among(std::uint64_t seed, MPI_Comm made) noexcept {
  if (key == MPI_KEYVAL_INVALID || made == MPI_COMM_NULL) return;
  if (!host_mpi::is_ours(ticket::job(), made)) return;
  const std::uint64_t what = mix(seed, members_of(made));
  std::uint64_t before = 0;
  {
    const std::lock_guard lock(guard);
    before = (*made_before)[what]++;
  }
  name(made, mix(what, before));
}

}  // namespace telpher::mpi::lineage
