# SPDX-License-Identifier: BSD-3-Clause
"""`make check-install`: run.py BUILD [TEST...]: what a build installs, used as users do, in folders of its own.
Closes with 'N passed, N failed'."""

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
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
