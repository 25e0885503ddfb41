// SPDX-License-Identifier: BSD-3-Clause
// The capabilities that the back end under test reports, as JSON: the input of
// tools/backends_doc.py. Each one names the contract case that tests it.
#pragma once

namespace contract {

/// Writes to `file` ("-": stdout). Returns 0, or 1 if that fails or if a feature names no existing
/// case.
int write_features(const char* file);

}  // namespace contract
