# SPDX-License-Identifier: BSD-3-Clause
"""What docs/coverage.md takes for a call: the function's own name in code, also where a macro puts it together."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "src" / "mpi"))
import coverage  # noqa: E402


class Calls(unittest.TestCase):
    def check(self, text: str, called: set[str]):
        self.assertEqual(coverage.called_in(text), called)

    def test_calls_and_addresses(self):
        self.check("MPI_Send(b, 1); use(MPI_Recv, {MPI_Bcast});", {"MPI_Send", "MPI_Recv", "MPI_Bcast"})

    def test_a_form_is_not_another_form(self):
        self.check("MPI_Send_init_c(b, 1); PMPI_Send(b, 1);", {"MPI_Send_init_c"})

    def test_comments_and_texts_do_not_call(self):
        self.check('// MPI_Send(\n/* MPI_Recv(\n */ say("\\"MPI_Bcast("); q = \'"\'; MPI_Wait(1);', {"MPI_Wait"})

    def test_names_that_a_macro_puts_together(self):
        macro = "#define FORMS(a_, b_, ...) \\\n  MPI_##a_##_init(__VA_ARGS__), \\\n  MPI_##b_(__VA_ARGS__)\n"
        self.check(macro, set())
        self.check(macro + "x = FORMS(Bcast, Ibcast, f(1, 2), 3);", {"MPI_Bcast_init", "MPI_Ibcast"})

    def test_every_function_has_a_test(self):
        page = (coverage.ROOT / "docs" / "coverage.md").read_text()
        self.assertIn("\nWithout a test that calls them: none.\n", page)


if __name__ == "__main__":
    unittest.main()
