# SPDX-License-Identifier: BSD-3-Clause
"""`make check-install`: run.py BUILD [TEST...]: what a build installs, used as users do, in folders of its own.
Closes with 'N passed, N failed[, N left out]'."""

import sys
import unittest

import prefix
import wheels

if __name__ == "__main__":
    load = unittest.defaultTestLoader
    suite = unittest.TestSuite(load.loadTestsFromTestCase(case) for case in (prefix.Prefix, wheels.Wheels))
    if sys.argv[2:]:
        suite = load.loadTestsFromNames(sys.argv[2:])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    bad = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"{result.testsRun - bad - skipped} passed, {bad} failed" + f", {skipped} left out" * (skipped > 0))
    sys.exit(bad != 0)
