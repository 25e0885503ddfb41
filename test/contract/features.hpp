// SPDX-License-Identifier: BSD-3-Clause
// What the back end under test answers when it is asked what it can do, as JSON: the input of
// tools/backends_doc.py. Each answer names the contract case that tests it.
#pragma once

namespace contract {

/// Writes to `file` ("-": stdout); 0, or 1 where it cannot or where a feature names no case.
int write_features(const char* file);

}  // namespace contract
