// SPDX-License-Identifier: BSD-3-Clause
// What the files of the test `pt2pt` share.
#pragma once

#include "forms.hpp"

namespace pt2pt_test {

using namespace mpi_test;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t sizes[] = {0,   1,    7,    8,     48,           479,         480,
                                 481, 1000, 4096, 65536, mebibyte + 3, 5 * mebibyte};

// pt2pt_combined.cpp
void combined_calls(suite& s);
void proc_null(suite& s);
void no_memory(suite& s);
void to_self(suite& s, const send_form& sf, receive_form rf);

}  // namespace pt2pt_test
