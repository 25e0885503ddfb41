// SPDX-License-Identifier: BSD-3-Clause
// Kernels kept on disk: what was saved is found again. Files that another user could have written
// or that are incomplete are never used.
#include "device/sycl/kernel_store.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "check.hpp"

using telpher::device::sycl::kernel_store;
namespace fs = std::filesystem;

namespace {

class scoped_folder {
 public:
  scoped_folder() {
    char name[] = "/tmp/telpher-store-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~scoped_folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

const std::vector<char> content(5000, 'k');

bool loads(const std::string& folder, const std::string& identity) {
  std::vector<char> found;
  return kernel_store(folder, identity).load(found) && found == content;
}

/// Saves one file and returns its path.
std::string saved(const std::string& folder) {
  kernel_store store(folder, "identity");
  store.save(content);
  return store.path();
}

}  // namespace

TEST_CASE(what_was_saved_is_found_again) {
  const scoped_folder top;
  const std::string folder = top / "a/b";  // both are made
  CHECK(!loads(folder, "identity"));
  saved(folder);
  CHECK(loads(folder, "identity"));
  CHECK(!loads(folder, "another identity"));
  saved(folder);  // again, over the first
  CHECK(loads(folder, "identity"));
}

TEST_CASE(off_keeps_nothing) {
  kernel_store store("off", "identity");
  store.lock();
  store.save(content);
  std::vector<char> found;
  CHECK(store.path().empty() && !store.load(found));
}

TEST_CASE(damage_is_seen) {
  const scoped_folder top;
  const std::string folder = top / "kernels", file = saved(folder);
  const auto bytes = fs::file_size(file);
  for (const auto at : {std::uintmax_t{0}, std::uintmax_t{20}, bytes / 2, bytes - 1}) {
    saved(folder);
    CHECK(loads(folder, "identity"));
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put('\x7f');
    stream.close();
    CHECK(!loads(folder, "identity"));
  }
  for (const auto size : {std::uintmax_t{0}, std::uintmax_t{31}, bytes - 1, bytes + 1}) {
    saved(folder);
    fs::resize_file(file, size);
    CHECK(!loads(folder, "identity"));
  }
}

TEST_CASE(what_others_may_write_is_not_used) {
  const scoped_folder top;
  const std::string folder = top / "kernels", file = saved(folder);
  ::chmod(file.c_str(), 0666);
  CHECK(!loads(folder, "identity"));
  ::chmod(file.c_str(), 0600);
  CHECK(loads(folder, "identity"));
  ::chmod(folder.c_str(), 0777);
  CHECK(!loads(folder, "identity"));
  CHECK(kernel_store(folder, "identity").path().empty());
}

TEST_CASE(links_are_not_followed) {
  const scoped_folder top;
  const std::string folder = top / "kernels", file = saved(folder);
  fs::rename(file, top / "elsewhere");
  fs::create_symlink(top / "elsewhere", file);
  CHECK(!loads(folder, "identity"));
  fs::create_directory_symlink(folder, top / "link");
  CHECK(kernel_store(top / "link", "identity").path().empty());
}
