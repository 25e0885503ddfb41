// SPDX-License-Identifier: BSD-3-Clause
// Bad input in great numbers, to be run under AddressSanitizer: tickets, codecs' plans and streams,
// slots, settings. What comes from another process or from a user is refused with its reason, or is
// within the bounds that the rest relies on; memory is as large as the bytes in it, so that one
// byte beyond is seen.
//   fuzz_inputs [--seconds N] [--seed S] [CASE...]
// The seed is printed; the inputs of a seed are always the same, however far a run comes.
#define CHECK_NO_MAIN
#include <chrono>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <random>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "check.hpp"
#include "codec/codec.hpp"
#include "path/segment.hpp"
#include "ticket/ticket.hpp"

using namespace telpher;

namespace {

using clock_type = std::chrono::steady_clock;

std::uint64_t seed = 1;
double seconds_each = 0.5;

class numbers {
 public:
  explicit numbers(std::uint64_t stream) : random_(seed * 0x9e3779b97f4a7c15u + stream) {}
  std::uint64_t next() { return random_(); }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  /// Numbers as bugs like them: small, near powers of two, at the ends, any.
  std::uint64_t odd() {
    switch (below(5)) {
      case 0:
        return below(20);
      case 1:
        return (std::uint64_t{1} << below(64)) + below(5) - 2;
      case 2:
        return ~std::uint64_t{0} - below(20);
      case 3:
        return below(1 << 20);
      default:
        return next();
    }
  }
  void fill(std::uint8_t* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(next() >> 17);
  }
  /// Some bytes changed.
  void damage(std::uint8_t* bytes, std::size_t count) {
    for (std::size_t n = count > 0 ? below(5) : 0; n > 0; --n)
      bytes[below(count)] = static_cast<std::uint8_t>(next() >> 9);
  }

 private:
  std::mt19937_64 random_;
};

/// Calls `once(numbers&)` with one stream of numbers after the other until time is over.
template <class F>
void repeat(const char* what, F once) {
  const auto end = clock_type::now() + std::chrono::duration<double>(seconds_each);
  std::uint64_t rounds = 0;
  while (rounds < 100 || clock_type::now() < end) {
    numbers random(rounds++);
    const int before = check::failures_in_case();
    once(random);
    if (check::failures_in_case() == before) continue;
    std::printf("%s: input %llu of seed %llu\n", what, static_cast<unsigned long long>(rounds - 1),
                static_cast<unsigned long long>(seed));
    return;
  }
  std::printf("  %s: %llu inputs\n", what, static_cast<unsigned long long>(rounds));
}

constexpr ticket::nonce mark = {7, 7, 7};
constexpr int ranks = 5;
constexpr std::uint32_t slots = 32;

void check_read(const std::uint8_t* bytes, std::size_t size) {
  ticket::ticket t;
  std::memset(static_cast<void*>(&t), 0xee, sizeof t);
  if (ticket::read(bytes, size, ranks, slots, t) != status::ok) return;
  CHECK(t.bytes <= PTRDIFF_MAX);
  CHECK(t.sender >= 0 && t.sender < ranks);
  CHECK(t.slot == ticket::no_slot ? t.reply_tag >= 0 : t.slot < slots);
  if (t.slot != ticket::no_slot) CHECK(t.epoch <= path::epoch_mask);
  if (!t.coding) return;
  CHECK_EQ(codec::plain_bytes(t.coding), t.bytes);
  CHECK(t.coded_bytes <= codec::most_bytes(t.coding));
}

codec::plan any_plan(numbers& random) {
  codec::plan p;
  p.how = static_cast<codec::method>(random.below(4));
  p.kind = static_cast<codec::element>(random.below(6));
  p.dims = static_cast<std::uint8_t>(random.below(5));
  p.detail = static_cast<std::uint32_t>(random.below(3) == 0 ? random.odd() : random.below(300));
  for (std::uint64_t& e : p.extent)
    e = random.below(8) == 0 ? random.odd() : random.below(2) == 0 ? 1 : 1 + random.below(40);
  return p;
}

/// One that decode may be called with, of a few thousand elements.
codec::plan sound_plan(numbers& random) {
  for (;;) {
    codec::plan p = any_plan(random);
    if (p.how == codec::method::none || p.dims < 1 || p.dims > 3) continue;
    std::uint64_t count = 1;
    for (int d = 0; d < 3; ++d) {
      p.extent[d] = d < p.dims ? 1 + random.below(p.dims == 1 ? 5000 : 20) : 1;
      count *= p.extent[d];
    }
    const std::size_t plain = count * codec::size_of(p.kind);
    if (codec::size_of(p.kind) == 0 || p.kind > codec::element::word64) continue;
    if (p.how > codec::method::mpc) continue;
    if (codec::sound(p, plain, codec::most_bytes(p))) return p;
  }
}

}  // namespace

TEST_CASE(tickets) {
  repeat("tickets", [](numbers& random) {
    const std::size_t size =
        random.below(2) == 0 ? ticket::ticket_bytes : ticket::short_ticket_bytes;
    ticket::ticket t;
    random.fill(reinterpret_cast<std::uint8_t*>(&t), sizeof t);
    if (random.below(4) != 0) {
      t = {};
      t.bytes = random.odd();
      t.sender = static_cast<std::int32_t>(random.below(8)) - 1;
      t.reply_tag = static_cast<std::int32_t>(random.odd());
      t.slot = random.below(3) == 0 ? ticket::no_slot : static_cast<std::uint32_t>(random.odd());
      t.epoch = static_cast<std::uint32_t>(random.odd());
      if (random.below(2) == 0) {
        t.coding = any_plan(random);
        t.bytes = random.below(2) == 0 ? codec::size_of(t.coding.kind) * t.coding.extent[0] *
                                             t.coding.extent[1] * t.coding.extent[2]
                                       : random.odd();
        t.coded_bytes = random.odd();
      }
      ticket::seal(t, mark, size);
    }
    // In memory of its own size, at any alignment.
    const std::size_t shift = random.below(8);
    const auto bytes = std::make_unique<std::uint8_t[]>(shift + size);
    std::memcpy(bytes.get() + shift, &t, size);
    if (random.below(3) == 0) random.damage(bytes.get() + shift, size);
    ticket::is_ticket(bytes.get() + shift, mark);
    check_read(bytes.get() + shift, size);
  });
}

TEST_CASE(plans) {
  repeat("plans", [](numbers& random) {
    const codec::plan p = any_plan(random);
    const std::uint64_t count = p.extent[0] * p.extent[1] * p.extent[2];
    const std::size_t plain = random.below(4) == 0 ? random.odd() : count * codec::size_of(p.kind);
    if (!codec::sound(p, plain, random.odd())) return;
    CHECK_EQ(codec::plain_bytes(p), plain);
    CHECK(p.dims >= 1 && p.dims <= 3);
  });
}

TEST_CASE(streams) {
  repeat("streams", [](numbers& random) {
    const codec::plan p = sound_plan(random);
    const std::size_t plain = codec::plain_bytes(p), most = codec::most_bytes(p);
    std::size_t coded = most;
    if (p.how == codec::method::mpc) coded = random.below(most / 4 + 1) * 4;
    if (!codec::sound(p, plain, coded)) return;
    // As large as said, the stream at an address of 8 bytes.
    const std::unique_ptr<std::uint8_t[]> from(new std::uint8_t[coded]);
    const std::unique_ptr<std::uint8_t[]> to(new std::uint8_t[plain]);
    if (random.below(3) == 0)
      std::memset(from.get(), random.below(2) == 0 ? 0xff : 0, coded);
    else
      random.fill(from.get(), coded);
    if (p.how == codec::method::mpc && random.below(2) == 0)  // offsets that grow, mostly
      for (std::size_t i = 0; i + 4 <= coded && i / 4 <= codec::pieces(p); i += 4) {
        const auto offset = static_cast<std::uint32_t>(i / 4 * random.below(1200));
        std::memcpy(from.get() + i, &offset, 4);
      }
    random.damage(from.get(), coded);
    CHECK_EQ(codec::the_coder()->decode_on_cpu(p, from.get(), coded, to.get()), status::ok);
  });
}

TEST_CASE(slots_of_a_damaged_segment) {
  repeat("slots", [](numbers& random) {
    path::exported_memory m{};
    m.address = random.odd();
    m.base = random.below(2) == 0 ? m.address - random.below(5000) : random.odd();
    m.allocation_bytes = random.odd();
    const std::uint64_t bytes = random.odd();
    if (!m.holds(bytes)) return;
    CHECK(m.address >= m.base);
    CHECK(m.address - m.base <= m.allocation_bytes);
    CHECK(bytes <= m.allocation_bytes - (m.address - m.base));
  });
}

TEST_CASE(settings_of_any_text) {
  const std::vector<setting_row> rows = setting_rows();
  repeat("settings", [&](numbers& random) {
    static constexpr const char* words[] = {
        "",   "0", "-1", "on",   "inf", "nan", "64k",  "1e400", "2gb", "5us", "1s ", "0x1",
        "..", "|", "=",  "\xff", ";",   ":",   "%s%n", ",",     "\n",  "all", "mpc", "9e18"};
    std::vector<std::string> environment;
    for (std::size_t n = 1 + random.below(3); n > 0; --n) {
      const setting_row& row = rows[random.below(rows.size())];
      std::string variable = "TELPHER_";
      for (const char* c = row.name; *c; ++c)
        variable += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
      if (random.below(4) == 0) variable[random.below(variable.size())] ^= 1;
      std::string value;
      for (std::size_t k = random.below(4); k > 0; --k)
        value += random.below(3) == 0 ? std::string(1, static_cast<char>(random.next()))
                                      : words[random.below(std::size(words))];
      if (random.below(100) == 0) value = std::string(random.below(70000), '9');
      environment.push_back(variable + (random.below(20) == 0 ? "" : "=") + value);
    }
    std::vector<setting_problem> problems;
    const settings s = parse_settings(environment, problems);
    for (const setting_problem& p : problems) CHECK(!p.text.empty());
    CHECK(s.slots >= 16 && s.slots <= 65536);
    CHECK(s.stall_warning.value > 0);
  });
}

int main(int argc, char** argv) {
  double seconds = 2;
  int kept = 1;
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else
      argv[kept++] = argv[i];
  seconds_each = seconds / static_cast<double>(check::cases().size());
  std::printf("# seed %llu, %g s\n", static_cast<unsigned long long>(seed), seconds);
  std::fflush(stdout);
  log::configure(log::level::off, nullptr);  // each refusal is a line
  return check::run_all(kept, argv);
}
