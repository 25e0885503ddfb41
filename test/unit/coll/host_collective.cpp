// SPDX-License-Identifier: BSD-3-Clause
// Staging in one process: which bytes are copied, and when. Stands in for the part of mpi/
// (requests).
#include "coll/host_collective.hpp"

#include <algorithm>
#include <cstdlib>

#include "check.hpp"
#include "one_rank.hpp"

namespace {
std::unique_ptr<telpher::staging::pending> attached;
bool attached_persistent = false;
}  // namespace

namespace telpher::staging {
void attach(const char*, MPI_Comm, MPI_Request*, std::unique_ptr<pending> work,
            bool persistent) noexcept {
  attached = std::move(work);
  attached_persistent = persistent;
}
}  // namespace telpher::staging

namespace {

using namespace telpher;

/// An array of ints in device memory, with a host view made by copies.
class device_ints {
 public:
  explicit device_ints(const std::vector<int>& values)
      : b_(one_rank::device()), count_(values.size()) {
    address_ = static_cast<int*>(*b_->allocate(0, count_ * sizeof(int)));
    put(values);
  }
  ~device_ints() { (void)b_->release(0, address_); }

  void put(const std::vector<int>& values) {
    CHECK(memory::copy_and_wait({b_, 0}, address_, values.data(), count_ * sizeof(int)) ==
          status::ok);
  }
  std::vector<int> get() const {
    std::vector<int> values(count_);
    CHECK(memory::copy_and_wait({b_, 0}, values.data(), address_, count_ * sizeof(int)) ==
          status::ok);
    return values;
  }
  int* data() const { return address_; }

 private:
  device::backend* b_;
  std::size_t count_;
  int* address_;
};

std::vector<int> counting(std::size_t n, int first = 1) {
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = first + static_cast<int>(i);
  return values;
}

/// Stands in for the host MPI with one rank: copies `n` ints.
auto move_ints(const void* from, void* to, std::size_t n) {
  return [=] {
    std::copy_n(static_cast<const int*>(from), n, static_cast<int*>(to));
    return MPI_SUCCESS;
  };
}

MPI_Datatype column(int rows, int width) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, width, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

void free_type(MPI_Datatype type) {
  MPI_Type_free(&type);
}

}  // namespace

TEST_CASE(host_buffers_pass_through) {
  one_rank::start();
  const auto from = counting(4);
  std::vector<int> to(4);
  coll::host_collective call("MPI_Allreduce", MPI_COMM_SELF, coll::effect::reduces);
  CHECK(call.input(from.data(), coll::uniform(4, MPI_INT)) == from.data());
  CHECK(call.output(to.data(), coll::uniform(4, MPI_INT)) == to.data());
  CHECK(call.input(nullptr, coll::uniform(0, MPI_INT)) == nullptr);
  CHECK_EQ(call.run(move_ints(from.data(), to.data(), 4)), MPI_SUCCESS);
  CHECK(to == from);
}

TEST_CASE(device_buffers_are_staged) {
  one_rank::start();
  REQUIRE(one_rank::device());
  const device_ints from(counting(1000)), to(std::vector<int>(1000));
  coll::host_collective call("MPI_Allreduce", MPI_COMM_SELF, coll::effect::reduces);
  const void* s = call.input(from.data(), coll::uniform(1000, MPI_INT));
  void* r = call.output(to.data(), coll::uniform(1000, MPI_INT));
  CHECK(s != from.data() && r != to.data());
  CHECK_EQ(call.run([&] { return PMPI_Allreduce(s, r, 1000, MPI_INT, MPI_SUM, MPI_COMM_SELF); }),
           MPI_SUCCESS);
  CHECK(to.get() == counting(1000));
}

TEST_CASE(in_place_reads_the_output) {
  one_rank::start();
  REQUIRE(one_rank::device());
  const device_ints both(counting(10));
  coll::host_collective call("MPI_Allreduce", MPI_COMM_SELF, coll::effect::reduces);
  const void* s = call.input(MPI_IN_PLACE, coll::uniform(10, MPI_INT));
  int* r = static_cast<int*>(call.output(both.data(), coll::uniform(10, MPI_INT)));
  CHECK(s == MPI_IN_PLACE);
  CHECK_EQ(call.run([&] {
    for (int i = 0; i < 10; ++i) r[i] *= 2;
    return MPI_SUCCESS;
  }),
           MPI_SUCCESS);
  CHECK_EQ(both.get()[9], 20);
}

TEST_CASE(empty_and_unused_buffers_are_not_touched) {
  one_rank::start();
  REQUIRE(one_rank::device());
  const device_ints buffer(counting(10));
  coll::host_collective call("MPI_Gather", MPI_COMM_SELF, coll::effect::moves);
  CHECK(call.input(buffer.data(), coll::uniform(0, MPI_DATATYPE_NULL)) == buffer.data());
  CHECK(call.output(buffer.data(), false ? coll::uniform(10, MPI_INT, call.size())
                                         : coll::nothing()) == buffer.data());
  CHECK_EQ(call.run([] { return MPI_SUCCESS; }), MPI_SUCCESS);
}

TEST_CASE(only_segments_are_written_back) {
  one_rank::start();
  REQUIRE(one_rank::device());
  const device_ints to(counting(20));
  const int counts[] = {3, 2, 4}, places[] = {12, 0, 5};
  coll::host_collective call("MPI_Allgatherv", MPI_COMM_SELF, coll::effect::moves);
  int* r = static_cast<int*>(call.output(to.data(), coll::ragged(3, counts, places, MPI_INT)));
  CHECK_EQ(call.run([&] {
    for (int i = 0; i < 15; ++i) r[i] = -1;  // gaps too
    return MPI_SUCCESS;
  }),
           MPI_SUCCESS);
  auto expected = counting(20);
  for (int b = 0; b < 3; ++b) std::fill_n(expected.begin() + places[b], counts[b], -1);
  CHECK(to.get() == expected);
}

TEST_CASE(gaps_of_types_are_kept) {
  one_rank::start();
  REQUIRE(one_rank::device());
  for (const int rows : {4, 500}) {  // blocks copied one by one, and by the kernels
    const auto n = static_cast<std::size_t>(rows) * 3;
    const MPI_Datatype type = column(rows, 3);
    const device_ints from(counting(n)), to(std::vector<int>(n, 7));
    coll::host_collective call("MPI_Bcast", MPI_COMM_SELF, coll::effect::moves);
    const auto* s = static_cast<const int*>(call.input(from.data(), coll::uniform(1, type)));
    auto* r = static_cast<int*>(call.output(to.data(), coll::uniform(1, type)));
    CHECK_EQ(call.run([&] {
      for (int i = 0; i < rows; ++i) r[3 * i] = s[3 * i];
      for (int i = 1; i < 3 * rows - 2; i += 3) r[i] = -1;
      return MPI_SUCCESS;
    }),
             MPI_SUCCESS);
    std::vector<int> expected(n, 7);
    for (std::size_t i = 0; i < n; i += 3) expected[i] = 1 + static_cast<int>(i);
    CHECK(to.get() == expected);
    free_type(type);
  }
}

TEST_CASE(absolute_addresses_with_bottom) {
  one_rank::start();
  REQUIRE(one_rank::device());
  const device_ints from(counting(8)), to(std::vector<int>(8));
  MPI_Datatype types[2];
  const int* const addresses[] = {from.data(), to.data()};
  for (int i = 0; i < 2; ++i) {
    const int length = 8;
    const auto place = reinterpret_cast<MPI_Aint>(addresses[i]);
    MPI_Type_create_hindexed(1, &length, &place, MPI_INT, &types[i]);
    MPI_Type_commit(&types[i]);
  }
  coll::host_collective call("MPI_Alltoall", MPI_COMM_SELF, coll::effect::moves);
  const void* s = call.input(MPI_BOTTOM, coll::uniform(1, types[0]));
  void* r = call.output(MPI_BOTTOM, coll::uniform(1, types[1]));
  CHECK_EQ(call.run([&] { return PMPI_Alltoall(s, 1, types[0], r, 1, types[1], MPI_COMM_SELF); }),
           MPI_SUCCESS);
  CHECK(to.get() == counting(8));
  for (MPI_Datatype t : types) free_type(t);
}

namespace {

MPI_Datatype at_address(const void* address, int ints) {
  const auto place = reinterpret_cast<MPI_Aint>(address);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &ints, &place, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

// Host MPIs take equal addresses for MPI_IN_PLACE or for an error. Pools return the same memory for
// images of the same size, so the second call's addresses follow from the first one's.
TEST_CASE(images_of_a_call_have_different_addresses) {
  one_rank::start();
  REQUIRE(one_rank::device());
  constexpr int ints = 16;
  constexpr std::ptrdiff_t room = 64 << 20;  // on either side, because pools lie near each other
  auto all = one_rank::device()->allocate(0, 2 * room * sizeof(int));
  REQUIRE(all);
  int* const first = static_cast<int*>(*all) + room;
  std::ptrdiff_t apart = 0;  // distance, in ints, of the buffer that stands in for MPI_BOTTOM
  for (int round = 0; round < 2; ++round) {
    int* const second = first + apart;
    REQUIRE(std::abs(apart) + ints <= room);
    const MPI_Datatype types[] = {at_address(first, ints), at_address(second, ints)};
    coll::host_collective call("MPI_Ialltoallw", MPI_COMM_SELF, coll::effect::moves);
    const auto* s = static_cast<const char*>(call.input(MPI_BOTTOM, coll::uniform(1, types[0])));
    auto* r = static_cast<char*>(call.output(MPI_BOTTOM, coll::uniform(1, types[1])));
    CHECK(s != r);
    CHECK_EQ(call.run(move_ints(s + reinterpret_cast<std::uintptr_t>(first),
                                r + reinterpret_cast<std::uintptr_t>(second), ints)),
             MPI_SUCCESS);
    if (round == 0) apart = (r - s) / static_cast<std::ptrdiff_t>(sizeof(int));
    for (MPI_Datatype t : types) free_type(t);
  }
  CHECK(one_rank::device()->release(0, *all) == status::ok);
}

// A host buffer that lies at the address of another buffer's image is staged as well.
TEST_CASE(an_image_stands_at_no_other_buffers_address) {
  one_rank::start();
  REQUIRE(one_rank::device());
  const device_ints from(counting(8));
  std::vector<int> there(4096);
  const MPI_Datatype type = at_address(from.data(), 8);
  coll::host_collective call("MPI_Ialltoallw", MPI_COMM_SELF, coll::effect::moves);
  const void* s = call.input(MPI_BOTTOM, coll::uniform(1, type));
  // Only the elements, not the address itself, lie in memory of the program.
  const auto place = reinterpret_cast<std::uintptr_t>(there.data());
  const int length = 8;
  const auto apart = static_cast<MPI_Aint>(place - reinterpret_cast<std::uintptr_t>(s));
  MPI_Datatype far = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &length, &apart, MPI_INT, &far);
  MPI_Type_commit(&far);
  auto* r = static_cast<char*>(call.output(const_cast<void*>(s), coll::uniform(1, far)));
  CHECK(r != s);
  CHECK_EQ(call.run(move_ints(
               static_cast<const char*>(s) + reinterpret_cast<std::uintptr_t>(from.data()),
               r + apart, 8)),
           MPI_SUCCESS);
  CHECK(std::vector<int>(there.begin(), there.begin() + 8) == counting(8));
  free_type(type);
  free_type(far);
}

TEST_CASE(results_of_a_nonblocking_call_come_at_completion) {
  one_rank::start();
  REQUIRE(one_rank::device());
  const device_ints from(counting(50)), to(std::vector<int>(50));
  MPI_Request request = MPI_REQUEST_NULL;
  {
    coll::host_collective call("MPI_Iallreduce", MPI_COMM_SELF, coll::effect::reduces);
    const void* s = call.input(from.data(), coll::uniform(50, MPI_INT));
    void* r = call.output(to.data(), coll::uniform(50, MPI_INT));
    CHECK_EQ(call.start(&request,
                        [&] {
                          move_ints(s, r, 50)();
                          // An incomplete request: a receive that nobody has answered yet.
                          return PMPI_Irecv(nullptr, 0, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
                        }),
             MPI_SUCCESS);
  }
  REQUIRE(attached != nullptr);
  CHECK(!attached_persistent);
  CHECK(to.get() == std::vector<int>(50));
  PMPI_Send(nullptr, 0, MPI_INT, 0, 5, MPI_COMM_SELF);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(attached->after_completion() == status::ok);
  CHECK(to.get() == counting(50));
  attached.reset();
}

TEST_CASE(a_complete_request_needs_no_attachment) {
  one_rank::start();
  REQUIRE(one_rank::device());
  const device_ints from(counting(5)), to(std::vector<int>(5));
  MPI_Request request = MPI_REQUEST_NULL;
  coll::host_collective call("MPI_Iallreduce", MPI_COMM_SELF, coll::effect::reduces);
  const void* s = call.input(from.data(), coll::uniform(5, MPI_INT));
  void* r = call.output(to.data(), coll::uniform(5, MPI_INT));
  CHECK_EQ(call.start(&request,
                      [&] {
                        move_ints(s, r, 5)();
                        return PMPI_Irecv(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF,
                                          &request);
                      }),
           MPI_SUCCESS);
  CHECK(attached == nullptr);
  CHECK(to.get() == counting(5));
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST_CASE(a_persistent_call_reads_its_inputs_at_each_start) {
  one_rank::start();
  REQUIRE(one_rank::device());
  device_ints from(counting(5));
  const device_ints to(std::vector<int>(5));
  MPI_Request request = MPI_REQUEST_NULL;
  const void* s = nullptr;
  void* r = nullptr;
  {
    coll::host_collective call("MPI_Allreduce_init", MPI_COMM_SELF, coll::effect::reduces);
    s = call.input(from.data(), coll::uniform(5, MPI_INT));
    r = call.output(to.data(), coll::uniform(5, MPI_INT));
    CHECK_EQ(call.init(&request, [] { return MPI_SUCCESS; }), MPI_SUCCESS);
  }
  REQUIRE(attached != nullptr);
  CHECK(attached_persistent);
  for (int round = 0; round < 3; ++round) {
    from.put(counting(5, round));
    CHECK(attached->before_start() == status::ok);
    move_ints(s, r, 5)();
    CHECK(attached->after_completion() == status::ok);
    CHECK(to.get() == counting(5, round));
  }
  attached.reset();
}
