// SPDX-License-Identifier: BSD-3-Clause
// The vendor's library as a transport: which calls use it, which it supports, when it is opened,
// and the life of its communicator on the emulated device, even if a peer never comes.
#include "coll/vendor/communicator.hpp"

#include <unistd.h>

#include <cstring>

#include "../memory/emulated.hpp"
#include "base/settings.hpp"
#include "coll/exchange/selection.hpp"

using namespace telpher;
using namespace telpher::coll;
using exchange::transport;

namespace {

constexpr std::uint64_t mib = 1 << 20;

transport chosen(operation what, int ranks, std::uint64_t bytes, bool library = true) {
  problem p;
  p.what = what;
  p.ranks = ranks;
  const bool blocks = what == operation::reduce_scatter_block || what == operation::allgather;
  p.count = bytes / 4 / (blocks ? static_cast<std::uint64_t>(ranks) : 1);
  exchange::facts f;
  f.unit = 4;
  f.exportable = true;
  f.library = library;
  const exchange::choice c = exchange::choose(p, f, 0);
  CHECK(c);
  return c.by;
}

reduction reducing(kernel::reduce_op op, kernel::value_type type) {
  return {true, op, type};
}

/// The path of the emulated device's library, as a setting; it lies beside the plug-ins' folder.
std::string library_setting() {
  const char* plugins = std::getenv("TELPHER_PLUGIN_PATH");
  return std::string("TELPHER_CCL=") + (plugins ? plugins : ".") +
         "/../test/lib/libemulated-ccl.so";
}

status until_decided(vendor::communicator& c, status (vendor::communicator::*ask)()) {
  status s = status::would_block;
  for (int i = 0; i < 20000 && s == status::would_block; ++i) {
    s = (c.*ask)();
    ::usleep(100);
  }
  return s;
}

}  // namespace

TEST_CASE(the_table_asks_for_it_where_it_was_measured_to_be_faster) {
  struct {
    operation what;
    int ranks;
    std::uint64_t mibs;
    bool library;
  } const rows[] = {
      {operation::allreduce, 4, 8, false},
      {operation::allreduce, 4, 16, false},
      {operation::allreduce, 3, 64, true},
      {operation::allreduce, 2, 64, false},
      {operation::allreduce, 5, 64, false},
      {operation::reduce, 4, 1, false},
      {operation::reduce, 4, 4, false},
      {operation::reduce, 4, 16, false},
      {operation::reduce, 4, 64, true},
      {operation::bcast, 4, 16, false},
      {operation::bcast, 4, 64, true},
      {operation::reduce_scatter_block, 4, 4, false},
      {operation::reduce_scatter_block, 4, 64, false},
      {operation::reduce_scatter_block, 2, 64, false},
      {operation::allgather, 4, 64, false},
  };
  for (const auto& r : rows) {
    CHECK_EQ(chosen(r.what, r.ranks, r.mibs * mib) == transport::vendor, r.library);
    CHECK(chosen(r.what, r.ranks, r.mibs * mib, false) != transport::vendor);
  }
}

TEST_CASE(the_transport_can_be_forced_and_kept_out) {
  {
    const scoped_settings forced({"TELPHER_COLL_TRANSPORT=vendor"});
    CHECK(chosen(operation::allreduce, 8, 4) == transport::vendor);
    CHECK(chosen(operation::allreduce, 8, 4, false) != transport::vendor);
  }
  const scoped_settings other({"TELPHER_COLL_TRANSPORT=exchange"});
  CHECK(chosen(operation::allreduce, 4, 64 * mib) == transport::exchange);
}

TEST_CASE(what_the_library_has) {
  using kernel::reduce_op;
  using kernel::value_type;
  const reduction sum = reducing(reduce_op::sum, value_type::f32);
  CHECK(vendor::supports(operation::allreduce, false, sum));
  CHECK(vendor::supports(operation::allreduce, true, sum));
  CHECK(vendor::supports(operation::reduce_scatter_block, false, sum));
  CHECK(!vendor::supports(operation::reduce_scatter_block, true, sum));
  CHECK(!vendor::supports(operation::scan, false, sum));
  CHECK(!vendor::supports(operation::allreduce, false, reducing(reduce_op::bor, value_type::u32)));
  CHECK(!vendor::supports(operation::allreduce, false, reducing(reduce_op::max, value_type::i16)));
  CHECK(!vendor::supports(operation::allreduce, false, reducing(reduce_op::sum, value_type::c32)));
  CHECK(vendor::supports(operation::bcast, false, {}));
  CHECK(vendor::supports(operation::allgather, true, {}));
  CHECK(!vendor::supports(operation::alltoall, true, {}));
  CHECK(!vendor::supports(operation::allgatherv, false, {}));
}

TEST_CASE(no_library_without_a_setting_for_this_device) {
  device::backend& emu = emulated::device();
  for (const char* setting : {"TELPHER_CCL=auto", "TELPHER_CCL=on", "TELPHER_CCL=off"}) {
    const scoped_settings s({setting});
    CHECK(vendor::library::for_backend(emu) == nullptr);
  }
}

TEST_CASE(a_call_on_the_emulated_device) {
  const scoped_settings s({library_setting()});
  const memory::place where{&emulated::device(), 0};
  vendor::communicator c;
  REQUIRE(c.open(where) != 0);
  vendor::unique_id id{};
  REQUIRE(c.make_id(id));
  REQUIRE(c.join(id, 1, 0));
  REQUIRE(until_decided(c, &vendor::communicator::joined) == status::ok);
  CHECK(c.ready());
  const float three = 3;
  emulated::allocation from(sizeof three), to(sizeof three);
  CHECK_EQ(memory::copy_and_wait(where, from.data(), &three, sizeof three), status::ok);
  const auto stream = memory::stream(where, memory::stream_role::kernel);
  REQUIRE(stream);
  const vendor::call call{operation::allreduce,
                          1,
                          0,
                          0,
                          false,
                          from.data(),
                          to.data(),
                          4,
                          reducing(kernel::reduce_op::sum, kernel::value_type::f32)};
  CHECK_EQ(c.start(call, *stream), status::ok);
  CHECK_EQ(until_decided(c, &vendor::communicator::poll), status::ok);
  float got = 0;
  CHECK_EQ(memory::copy_and_wait(where, &got, to.data(), sizeof got), status::ok);
  CHECK_EQ(got, three);
  c.abort();
  CHECK(!c.ready());
}

TEST_CASE(a_peer_that_never_joins_is_not_waited_for) {
  const scoped_settings s({library_setting()});
  vendor::communicator c;
  REQUIRE(c.open({&emulated::device(), 0}) != 0);
  vendor::unique_id id{};
  REQUIRE(c.make_id(id));
  REQUIRE(c.join(id, 2, 0));
  ::usleep(20000);
  CHECK_EQ(c.joined(), status::would_block);
  c.abort();
  CHECK(!c.ready());
}
