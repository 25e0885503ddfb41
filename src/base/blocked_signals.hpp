// SPDX-License-Identifier: BSD-3-Clause
// The program's signals are for the program's threads. A thread that is started while such an
// object lives gets none of them.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace telpher {

class blocked_signals {
 public:
  blocked_signals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~blocked_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace telpher
