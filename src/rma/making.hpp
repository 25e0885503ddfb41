// SPDX-License-Identifier: BSD-3-Clause
// The steps in which windows with device memory are made, for all kinds of them.
#pragma once

#include "rma/rma.hpp"
#include "rma/window.hpp"

namespace telpher::rma {

/// Whether all its ranks are in the job and so take part in what follows.
bool ours(MPI_Comm comm) noexcept;
/// A call of the host MPI that may wait.
int call_host(const host_call& host) noexcept;

/// What this rank tells of its part: device memory, or none.
exposed describe(const void* base, MPI_Aint bytes, MPI_Aint unit) noexcept;
/// Collective: `ranks` of the window become what all tell.
int learn(MPI_Comm comm, const exposed& own, window& w) noexcept;

template <class Test>
bool any(const window& w, Test&& test) noexcept {
  for (const exposed& e : w.ranks)
    if (test(e)) return true;
  return false;
}

/// Collective: maps all device memory at all ranks. False, and why, at all alike.
bool make_direct(MPI_Comm comm, window& w) noexcept;
/// Collective: a window of the host MPI gives `c.win` its handle, under which `w` is kept.
int complete_window(const creation& c, std::unique_ptr<window> w) noexcept;
/// The program's window `handle` is served by `w` from here on.
int keep_as(MPI_Win handle, const char* call, MPI_Comm comm, std::unique_ptr<window> w) noexcept;
/// Where some rank is outside the job (alone.cpp).
int create_alone(const creation& c, const host_call& host) noexcept;
int allocate_alone(const creation& c, bool on_device, const host_call& host) noexcept;
int refuse_shared_alone(const creation& c, bool on_device, const host_call& host) noexcept;
/// What was allocated for this rank.
void give_back(window& w) noexcept;
/// Some rank's part cannot be made, or this one's.
int refuse_part(const creation& c, bool own) noexcept;

}  // namespace telpher::rma
