// SPDX-License-Identifier: BSD-3-Clause
// The proxy without MPI: operations that threads enqueue at once, in streams of their own and in
// one. Each has its turn in its stream's order, and a stream that waits goes on behind it. What an
// operation writes in the proxy's thread, and its caller reads when the stream has passed, is plain
// memory: ThreadSanitizer sees whether something orders the two.
#include "stream/proxy.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "unit/memory/emulated.hpp"

using namespace telpher;

namespace {

constexpr int threads = 4;

class program_stream {
 public:
  program_stream() : made_(*emulated::device().create_program_stream(0)) {}
  ~program_stream() { emulated::device().destroy_stream(made_); }
  program_stream(const program_stream&) = delete;
  program_stream& operator=(const program_stream&) = delete;
  void* native() const { return emulated::device().native_stream(made_); }
  void wait() const { CHECK_EQ(emulated::device().synchronise(made_), status::ok); }

 private:
  device::stream made_;
};

/// What the operations of one thread have done, in plain memory.
struct record {
  int begun = 0, over = 0, out_of_order = 0;
};

/// Over after some polls.
class counted final : public stream::operation {
 public:
  counted(record& of, int number, int polls, int code = 0) noexcept
      : of_(of), number_(number), polls_(polls), code_(code) {}
  int begin() noexcept override {
    of_.out_of_order += of_.begun++ != number_;
    return code_;
  }
  bool poll(int& code) noexcept override {
    code = 0;
    if (polls_-- > 0) return false;
    ++of_.over;
    return true;
  }

 private:
  record& of_;
  int number_, polls_, code_;
};

/// A write of a word by the stream itself, which says that the operation is over.
class writing final : public stream::launched {
 public:
  writing(std::uint32_t* word, std::uint32_t value, record& of) noexcept
      : word_(word), value_(value), of_(of) {}
  status launch(device::stream s) noexcept override {
    return emulated::device().write_value(s, word_, value_);
  }
  bool poll(int& code) noexcept override {
    code = 0;
    if (std::atomic_ref(*word_).load(std::memory_order_acquire) < value_) return false;
    ++of_.over;
    return true;
  }

 private:
  std::uint32_t* word_;
  std::uint32_t value_;
  record& of_;
};

template <class Body>
void in_threads(const Body& body) {
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) running.emplace_back([&body, t] { body(t); });
  for (std::thread& one : running) one.join();
}

void give(void* native, std::unique_ptr<stream::operation> op, bool holds) {
  CHECK_EQ(stream::enqueue(native, std::move(op), holds).s, status::ok);
}

/// The proxy from its start to its end.
class running {
 public:
  running() {
    emulated::device();
    stream::start();
  }
  ~running() { end(); }
  void end() {
    while (!stream::idle()) std::this_thread::yield();
    stream::stop();
  }
};

}  // namespace

TEST_CASE(a_stream_for_each_thread) {
  running proxy;
  std::vector<program_stream> streams(threads);
  std::vector<record> records(threads);
  in_threads([&](int t) {
    record& r = records[static_cast<std::size_t>(t)];
    const program_stream& s = streams[static_cast<std::size_t>(t)];
    constexpr int operations = 400;
    for (int i = 0; i < operations; ++i) {
      const bool looks = i % 50 == 49, holds = i % 3 != 0 || looks;
      give(s.native(), std::make_unique<counted>(r, i, i % 5), holds);
      if (!looks) continue;
      s.wait();
      CHECK_EQ(r.begun, i + 1);  // it is the last one, and all before it have begun
    }
  });
  proxy.end();
  for (const record& r : records) {
    CHECK_EQ(r.over, 400);
    CHECK_EQ(r.out_of_order, 0);
  }
}

TEST_CASE(one_stream_of_all_threads) {
  running proxy;
  const program_stream one;
  std::vector<record> records(threads);
  in_threads([&](int t) {
    record& r = records[static_cast<std::size_t>(t)];
    for (int i = 0; i < 300; ++i) {
      give(one.native(), std::make_unique<counted>(r, i, 1), true);
      if (i % 100 != 99) continue;
      one.wait();
      CHECK_EQ(r.over, i + 1);
    }
  });
  for (const record& r : records) CHECK_EQ(r.out_of_order, 0);
}

TEST_CASE(launched_ones_among_them) {
  running proxy;
  std::vector<program_stream> streams(threads);
  std::vector<record> waiting(threads), launched(threads);
  std::vector<std::uint32_t*> words;
  for (int t = 0; t < threads; ++t)
    words.push_back(static_cast<std::uint32_t*>(*emulated::device().allocate_pinned(64)));
  for (std::uint32_t* word : words) *word = 0;
  in_threads([&](int t) {
    const auto at = static_cast<std::size_t>(t);
    void* const native = streams[at].native();
    for (int i = 0; i < 200; ++i) {
      give(native, std::make_unique<counted>(waiting[at], i, 2), true);
      device::adopted_stream s(native);
      const auto value = static_cast<std::uint32_t>(i + 1);
      CHECK_EQ(stream::launch(s, native, std::make_unique<writing>(words[at], value, launched[at]),
                              i % 2 == 0)
                   .s,
               status::ok);
    }
    streams[at].wait();
    CHECK_EQ(waiting[at].over, 200);
  });
  proxy.end();
  for (const record& r : launched) CHECK_EQ(r.over, 200);
  for (std::uint32_t* word : words) CHECK_EQ(emulated::device().release_pinned(word), status::ok);
}

/// The stream goes on behind an operation that has failed; its first code is kept for it.
TEST_CASE(failures_belong_to_their_stream) {
  running proxy;
  std::vector<program_stream> streams(threads);
  std::vector<record> records(threads);
  in_threads([&](int t) {
    const auto at = static_cast<std::size_t>(t);
    void* const native = streams[at].native();
    for (int i = 0; i < 20; ++i)
      give(native, std::make_unique<counted>(records[at], i, 0, i == 7 ? 100 + t : 0), true);
    streams[at].wait();
    CHECK_EQ(records[at].over, 19);
    CHECK_EQ(stream::take_failure(native), 100 + t);
    CHECK_EQ(stream::take_failure(native), 0);
  });
}

TEST_CASE(it_starts_again) {
  const program_stream one;
  for (int again = 0; again < 20; ++again) {
    running proxy;
    record r;
    give(one.native(), std::make_unique<counted>(r, 0, 3), true);
    one.wait();
    CHECK_EQ(r.over, 1);
  }
}
