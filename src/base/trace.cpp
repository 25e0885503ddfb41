// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/lasting.hpp"
#include "base/library.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"

namespace telpher::trace {

namespace {

constexpr std::size_t flush_bytes = 64 << 10;

// --- the file ---

struct output {
  std::mutex guard;
  descriptor file;
  std::vector<char> pending;  // lines that are not written yet
};
constinit lasting<output> out;

std::atomic<int> threads{0};
int thread_number() noexcept {
  thread_local const int own = threads.fetch_add(1);
  return own;
}

void flush() noexcept {
  std::vector<char>& pending = out->pending;
  const int to = out->file.get();
  if (to < 0) errno = EBADF;
  for (std::size_t done = 0; done < pending.size();) {
    const ssize_t n = to < 0 ? -1 : ::write(to, pending.data() + done, pending.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    TELPHER_WARN("cannot write the trace: %m; it ends here");
    out->file = {};
    break;
  }
  pending.clear();
}

[[gnu::format(printf, 1, 2)]] void write_line(const char* format, ...) noexcept {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int bytes = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (bytes < 0 || bytes >= static_cast<int>(sizeof line)) return;
  std::lock_guard lock(out->guard);
  if (!out->file) return;
  out->pending.insert(out->pending.end(), line, line + bytes);
  if (out->pending.size() >= flush_bytes) flush();
}

std::string first_line(const char* path) {
  char text[128] = "";
  if (std::FILE* f = std::fopen(path, "r")) {
    if (!std::fgets(text, sizeof text, f)) text[0] = '\0';
    std::fclose(f);
  }
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

// A name without '%r' gets the rank as suffix, so that no two ranks write the same file.
bool open_file(std::string path, int rank) noexcept {
  if (path.empty()) return false;
  if (const auto at = path.find("%r"); at != std::string::npos)
    path.replace(at, 2, std::to_string(rank));
  else
    path += '.' + std::to_string(rank);
  out->file = descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!out->file) TELPHER_WARN("cannot open %s: %m; no trace is written", path.c_str());
  return static_cast<bool>(out->file);
}

// Ranks with the same boot id read the same clock.
void write_head(int rank, int size) noexcept {
  char host[64] = "";
  ::gethostname(host, sizeof host - 1);
  write_line(
      "{\"k\":\"head\",\"format\":1,\"rank\":%d,\"size\":%d,\"host\":\"%s\",\"boot\":\"%s\","
      "\"pid\":%d,\"t\":%llu,\"real\":%lld}\n",
      rank, size, host, first_line("/proc/sys/kernel/random/boot_id").c_str(),
      static_cast<int>(::getpid()), static_cast<unsigned long long>(now_ns()),
      static_cast<long long>(::time(nullptr)));
}

// --- profiler ranges ---

int (*push_range)(const char*) = nullptr;
int (*pop_range)() = nullptr;

struct ranges {
  const char* name;
  const char* libraries[3];
  const char* push;
  const char* pop;
};
constexpr ranges known[] = {
    {"nvtx",
     {"libnvToolsExt.so.1", "libnvtx3interop.so.1", "libnvtx3interop.so"},
     "nvtxRangePushA",
     "nvtxRangePop"},
    {"roctx",
     {"librocprofiler-sdk-roctx.so.1", "libroctx64.so.4", "libroctx64.so"},
     "roctxRangePushA",
     "roctxRangePop"},
};

bool open_ranges(std::string_view wanted) noexcept {
  for (const ranges& r : known) {
    if (wanted != r.name) continue;
    for (const char* name : r.libraries) {
      std::string why;
      const library l = library::open(name, why);
      if (l && l.find(r.push, push_range) && l.find(r.pop, pop_range)) return true;
      push_range = nullptr;
    }
    TELPHER_WARN("none of %s, %s, %s can be opened: no %s ranges", r.libraries[0], r.libraries[1],
                 r.libraries[2], r.name);
  }
  return false;
}

}  // namespace

void begin(int rank, int size) noexcept {
  const bool writes = open_file(config().trace, rank);
  if (writes) write_head(rank, size);
  const bool marks = open_ranges(config().trace_ranges.text());
  short_way::set(short_way::tracing, writes || marks);
}

void end() noexcept {
  if (!on()) return;
  short_way::set(short_way::tracing, false);
  std::lock_guard lock(out->guard);
  if (!out->file) return;
  flush();
  out->file = {};
}

// --- events ---

facts& facts::add(const char* key, long long value) noexcept {
  const auto room = sizeof text_ - static_cast<std::size_t>(used_);
  const int n = std::snprintf(text_ + used_, room, ",\"%s\":%lld", key, value);
  if (n > 0 && static_cast<std::size_t>(n) < room)
    used_ += n;
  else
    text_[used_] = '\0';
  return *this;
}

facts& facts::add(const char* key, const char* value) noexcept {
  const auto room = sizeof text_ - static_cast<std::size_t>(used_);
  const int n = std::snprintf(text_ + used_, room, ",\"%s\":\"%s\"", key, value);
  if (n > 0 && static_cast<std::size_t>(n) < room)
    used_ += n;
  else
    text_[used_] = '\0';
  return *this;
}

void span::open(const char* name, const facts& what) noexcept {
  name_ = name;
  facts_ = what;
  if (push_range) push_range(name);
  begin_ns_ = now_ns();
}

void span::close() noexcept {
  record("call", name_, begin_ns_, now_ns(), facts_);
  if (pop_range) pop_range();
}

void record(const char* kind, const char* name, std::uint64_t begin_ns, std::uint64_t end_ns,
            const facts& what) noexcept {
  write_line("{\"k\":\"%s\",\"n\":\"%s\",\"th\":%d,\"t\":%llu,\"e\":%llu%s}\n", kind, name,
             thread_number(), static_cast<unsigned long long>(begin_ns),
             static_cast<unsigned long long>(end_ns), what.text());
}

}  // namespace telpher::trace
