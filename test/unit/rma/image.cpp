// SPDX-License-Identifier: BSD-3-Clause
// The image of device memory: what a merge moves between the two copies, and how many bytes it
// reads from the device and writes there.
#include "rma/image.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "check.hpp"
#include "unit/memory/importer.hpp"

using namespace telpher;

namespace {

constexpr std::size_t kilo = 1024, mega = kilo * kilo;

/// Its memory is the host's; counts what is copied.
class counting final : public importer {
 public:
  std::vector<std::byte> memory;
  std::size_t read = 0, written = 0;
  bool takes_nothing = false;  // no byte can be written

  result<device::stream> create_stream(int) noexcept override { return device::stream{this}; }
  status synchronise(device::stream) noexcept override { return status::ok; }
  status copy(void* to, const void* from, std::size_t bytes, device::stream) noexcept override {
    const auto* const at = static_cast<std::byte*>(to);
    const bool writes = at >= memory.data() && at < memory.data() + memory.size();
    if (writes && bytes > 0 && takes_nothing) return status::device_error;
    (writes ? written : read) += bytes;
    std::memcpy(to, from, bytes);
    return status::ok;
  }
  result<void*> allocate_pinned(std::size_t bytes) noexcept override { return std::malloc(bytes); }
  status release_pinned(void* address) noexcept override {
    std::free(address);
    return status::ok;
  }
};

/// A device with an image of its memory.
struct pair {
  explicit pair(std::size_t bytes) : shown(bytes) {
    device().memory.assign(bytes, std::byte{7});
    CHECK_EQ(image.start({&device(), 0}, device().memory.data(), bytes), status::ok);
    image.lie_over(shown.data());
    forget();
  }
  ~pair() { memory::shut_down(); }
  // Streams are kept for a device, so there is one.
  static counting& device() {
    static counting one;
    return one;
  }
  void forget() { device().read = device().written = 0; }
  std::byte& stored(std::size_t i) { return device().memory[i]; }
  bool same() const { return shown == device().memory; }
  bool merge_written() {
    bool found = false;
    CHECK_EQ(image.merge_written(found), status::ok);
    return found;
  }

  std::vector<std::byte> shown;
  rma::image image;
};

}  // namespace

TEST_CASE(the_image_begins_as_the_memory) {
  pair p(10 * mega + 5);
  CHECK(p.same());
}

TEST_CASE(a_merge_reads_all_and_writes_what_operations_wrote) {
  pair p(10 * mega);
  p.shown[5 * mega] = std::byte{1};
  p.stored(9 * mega) = std::byte{2};
  CHECK_EQ(p.image.merge(), status::ok);
  CHECK(p.same());
  CHECK(p.stored(5 * mega) == std::byte{1});
  CHECK(p.shown[9 * mega] == std::byte{2});
  CHECK_EQ(p.device().read, 10 * mega);
  CHECK(p.device().written <= 8 * kilo);
}

TEST_CASE(nothing_written_means_no_copy) {
  pair p(10 * mega);
  p.stored(100) = std::byte{2};
  CHECK(!p.merge_written());
  CHECK_EQ(p.device().read, 0u);
  CHECK_EQ(p.device().written, 0u);
  CHECK(p.shown[100] == std::byte{7});
}

TEST_CASE(only_the_parts_that_operations_wrote_are_read) {
  pair p(10 * mega);
  p.shown[5 * mega] = std::byte{1};
  CHECK(p.merge_written());
  CHECK(p.same());
  CHECK_EQ(p.device().read, 64 * kilo);
  CHECK(p.device().written <= 8 * kilo);
  p.forget();
  CHECK(!p.merge_written());
  CHECK_EQ(p.device().read, 0u);
}

TEST_CASE(stores_beside_an_operation_stay) {
  pair p(mega);
  p.shown[1000] = p.shown[1002] = std::byte{1};
  p.stored(1001) = std::byte{2};
  CHECK(p.merge_written());
  CHECK(p.stored(1001) == std::byte{2});
  CHECK(p.stored(1002) == std::byte{1});
  CHECK(p.same());
}

TEST_CASE(parts_beside_each_other_are_read_at_once) {
  const std::size_t bytes = 9 * mega + 100;  // more than a block, and a part that is not full
  pair p(bytes);
  std::fill(p.shown.begin(), p.shown.end(), std::byte{1});
  CHECK(p.merge_written());
  CHECK(p.same());
  CHECK_EQ(p.device().read, bytes);
  CHECK_EQ(p.device().written, bytes);
}

TEST_CASE(the_last_part_is_seen) {
  pair p(64 * kilo + 3);
  p.shown.back() = std::byte{1};
  CHECK(p.merge_written());
  CHECK(p.same());
  CHECK_EQ(p.device().read, 3u);
}

// Of each word some bytes are stored and some are not, in every mixture.
TEST_CASE(any_bytes_of_a_word_are_shown) {
  pair p(8 * 256 + 3);
  for (std::size_t i = 0; i < 8 * 256 + 3; ++i)
    if ((i / 8 >> (i % 8) & 1) != 0) p.stored(i) = std::byte{9};
  CHECK_EQ(p.image.merge(), status::ok);
  CHECK(p.same());
}

// Operations and the program write to bytes of their own, as the standard has it.
TEST_CASE(random_merges_lose_nothing) {
  constexpr std::size_t bytes = 300 * kilo + 77;
  pair p(bytes);
  std::vector<std::byte> wanted(bytes, std::byte{7});
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    for (std::size_t n = random() % 30; n > 0; --n) {
      const std::size_t at = random() % bytes;
      const std::size_t end = std::min(bytes, at + (random() % 8 == 0 ? 9000 : 5));
      for (std::size_t i = at; i < end; ++i) {
        const auto value = static_cast<std::byte>(random());
        if (p.shown[i] != p.stored(i)) continue;  // written since the last merge
        (i % 2 == 0 ? p.shown[i] : p.stored(i)) = value;
        wanted[i] = value;
      }
    }
    if (random() % 2 == 0) {
      CHECK_EQ(p.image.merge(), status::ok);
      CHECK(p.same());
    } else {
      p.merge_written();
    }
  }
  CHECK_EQ(p.image.merge(), status::ok);
  CHECK(p.same());
  CHECK(p.shown == wanted);
}

TEST_CASE(what_the_device_did_not_take_is_taken_again) {
  pair p(2 * mega);
  for (const std::size_t at : {100, 5000, 400000, 1500000}) p.shown[at] = std::byte{1};
  p.stored(6000) = std::byte{2};
  p.device().takes_nothing = true;
  CHECK_EQ(p.image.merge(), status::device_error);
  p.device().takes_nothing = false;
  CHECK(p.stored(100) == std::byte{7});
  CHECK_EQ(p.image.merge(), status::ok);
  CHECK(p.same());
  for (const std::size_t at : {100, 5000, 400000, 1500000}) CHECK(p.stored(at) == std::byte{1});
  CHECK(p.stored(6000) == std::byte{2});
}
