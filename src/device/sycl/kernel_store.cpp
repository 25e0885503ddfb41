// SPDX-License-Identifier: BSD-3-Clause
#include "device/sycl/kernel_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "base/log.hpp"

namespace telpher::device::sycl {
namespace {

constexpr std::uint64_t magic = 0x31304c4359534854;  // changes with the layout of the file
constexpr std::size_t largest_file = std::size_t{256} << 20;

struct file_header {
  std::uint64_t magic;
  std::uint64_t identity_bytes;
  std::uint64_t content_bytes;
  std::uint64_t checksum;  // of both parts
};

std::uint64_t fnv(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

bool ours_alone(const struct stat& s) {
  return s.st_uid == ::geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Creates the folder and its missing parents, accessible to the user only.
bool make_folder(const std::string& folder) {
  for (std::size_t at = folder.find('/', 1); at != std::string::npos; at = folder.find('/', at + 1))
    ::mkdir(folder.substr(0, at).c_str(), 0700);
  ::mkdir(folder.c_str(), 0700);
  struct stat s {};
  return ::lstat(folder.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && ours_alone(s);
}

std::string user_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') return std::string(cache) + "/telpher";
  const char* home = std::getenv("HOME");
  return home && home[0] == '/' ? std::string(home) + "/.cache/telpher" : std::string();
}

bool read_all(int file, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::read(file, to, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(int file, const char* from, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(file, from, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_file(int file, const std::string& identity, std::vector<char>& content) {
  struct stat s {};
  file_header h{};
  if (::fstat(file, &s) != 0 || !S_ISREG(s.st_mode) || !ours_alone(s)) return false;
  if (!read_all(file, reinterpret_cast<char*>(&h), sizeof h)) return false;
  const auto bytes = static_cast<std::uint64_t>(s.st_size);
  if (h.magic != magic || h.identity_bytes != identity.size() || bytes > largest_file ||
      h.content_bytes != bytes - sizeof h - identity.size())
    return false;
  std::string found(identity.size(), '\0');
  content.resize(h.content_bytes);
  return read_all(file, found.data(), found.size()) && found == identity &&
         read_all(file, content.data(), content.size()) &&
         fnv({content.data(), content.size()}, fnv(found)) == h.checksum;
}

}  // namespace

kernel_store::kernel_store(const std::string& setting, std::string identity)
    : identity_(std::move(identity)) {
  if (setting == "off") return;
  const std::string folder = setting.empty() ? user_folder() : setting;
  if (folder.empty() || !make_folder(folder)) {
    TELPHER_INFO("compiled kernels are not kept: '%s' is no folder of this user alone",
                 folder.c_str());
    return;
  }
  char name[64];
  std::snprintf(name, sizeof name, "/sycl-%016llx",
                static_cast<unsigned long long>(fnv(identity_)));
  path_ = folder + name;
}

kernel_store::~kernel_store() {
  if (lock_ >= 0) ::close(lock_);
}

void kernel_store::lock() noexcept {
  if (path_.empty() || lock_ >= 0) return;
  lock_ = ::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(3);
  while (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

bool kernel_store::load(std::vector<char>& content) const {
  if (path_.empty()) return false;
  const int file = ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  const bool good = read_file(file, identity_, content);
  ::close(file);
  if (!good)
    TELPHER_INFO("%s is not used: not whole, not ours, or of something else", path_.c_str());
  return good;
}

void kernel_store::save(const std::vector<char>& content) const {
  if (path_.empty() || content.size() + identity_.size() > largest_file / 2) return;
  const file_header h{magic, identity_.size(), content.size(),
                      fnv({content.data(), content.size()}, fnv(identity_))};
  std::string made = path_ + ".XXXXXX";
  const int file = ::mkostemp(made.data(), O_CLOEXEC);
  if (file < 0) return;
  const bool whole = write_all(file, reinterpret_cast<const char*>(&h), sizeof h) &&
                     write_all(file, identity_.data(), identity_.size()) &&
                     write_all(file, content.data(), content.size()) && ::fsync(file) == 0;
  ::close(file);
  if (!whole || ::rename(made.c_str(), path_.c_str()) != 0) {
    TELPHER_INFO("cannot keep compiled kernels in %s: %m", path_.c_str());
    ::unlink(made.c_str());
  }
}

}  // namespace telpher::device::sycl
