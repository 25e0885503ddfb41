// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace mpi_test {

/// What the process writes to its standard error while this lives.
class caught_log {
 public:
  caught_log() : before_(dup(2)), caught_(std::tmpfile()) { dup2(fileno(caught_), 2); }
  ~caught_log() {
    dup2(before_, 2);
    close(before_);
    std::fclose(caught_);
  }
  caught_log(const caught_log&) = delete;
  caught_log& operator=(const caught_log&) = delete;
  std::string text() const {
    std::string all(4096, '\0');
    std::rewind(caught_);
    all.resize(std::fread(all.data(), 1, all.size(), caught_));
    return all;
  }

 private:
  int before_;
  std::FILE* caught_;
};

}  // namespace mpi_test
