// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/descriptor.hpp"

namespace telpher::log {

std::atomic<level> threshold{level::warn};

namespace {

constexpr int line_bytes = 2048;

std::atomic<int> own_rank{-1};
std::atomic<int> world_size{-1};
// Files opened earlier stay open: other threads may be writing to them.
struct open_log {
  descriptor file;
  const open_log* before;
};
std::atomic<const open_log*> newest{nullptr};  // null: standard error
std::atomic<unsigned long> warning_count{0};
std::atomic<void (*)(level, const char*)> observer_function{nullptr};
char pattern[512];
char path_in_use[600];

const char* name(level l) {
  static constexpr const char* names[] = {"off", "error", "warn", "info", "debug", "trace"};
  return names[static_cast<int>(l)];
}

// False if the file cannot be opened.
bool open_file() noexcept {
  const int opened = ::open(path_in_use, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (opened < 0) return false;
  newest.store(new open_log{descriptor(opened), newest.load()});
  return true;
}

// A pattern with '%r' is opened when the rank is known, one without at once.
void open_sink(const char* rank) {
  std::string path(pattern);
  if (const auto at = path.find("%r"); at != std::string::npos) {
    if (!rank) return;
    path.replace(at, 2, rank);
  }
  std::snprintf(path_in_use, sizeof path_in_use, "%s", path.c_str());
  if (!open_file()) std::fprintf(stderr, "[telpher] cannot open log file %s: %m\n", path_in_use);
}

// The descriptor that lines go to. If the program closed the log file's descriptor, the file is
// opened again.
int sink() noexcept {
  const open_log* const now = newest.load();
  if (!now) return STDERR_FILENO;
  if (const int number = now->file.get(); number >= 0) return number;
  return open_file() ? newest.load()->file.get() : STDERR_FILENO;
}

}  // namespace

void configure(level threshold_level, const char* file) noexcept {
  threshold.store(threshold_level);
  if (!file || !*file) return;
  std::snprintf(pattern, sizeof pattern, "%s", file);
  open_sink(nullptr);
}

void set_rank(int rank, int size) noexcept {
  own_rank.store(rank);
  world_size.store(size);
  if (std::strstr(pattern, "%r")) open_sink(std::to_string(rank).c_str());
}

void observe(void (*observer)(level, const char*)) noexcept {
  observer_function.store(observer);
}

unsigned long warnings() noexcept {
  return warning_count.load();
}

void write(level l, const char* subsystem, const char* format, ...) noexcept {
  char line[line_bytes];
  int used;
  const int rank = own_rank.load(std::memory_order_relaxed);
  if (rank < 0)
    used = std::snprintf(line, sizeof line, "[telpher -/- %s %s] ", subsystem, name(l));
  else
    used = std::snprintf(line, sizeof line, "[telpher %d/%d %s %s] ", rank,
                         world_size.load(std::memory_order_relaxed), subsystem, name(l));
  const int prefix = used;
  va_list args;
  va_start(args, format);
  used += std::vsnprintf(line + used, sizeof line - static_cast<size_t>(used) - 1, format, args);
  va_end(args);
  if (used > line_bytes - 2) used = line_bytes - 2;
  line[used] = '\0';
  if (l <= level::warn) {
    warning_count.fetch_add(1);
    if (auto* f = observer_function.load()) f(l, line + prefix);
  }
  line[used++] = '\n';
  // One write per line keeps the lines of several ranks whole. A failed write is ignored.
  [[maybe_unused]] const auto written = ::write(sink(), line, static_cast<size_t>(used));
}

}  // namespace telpher::log
