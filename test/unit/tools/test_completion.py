# SPDX-License-Identifier: BSD-3-Clause
"""What bash and zsh offer after `telpher`: every subcommand, every option, and every test of the bench, as parsers and
the programs' own usage have them. Bash is asked; of zsh's file the text is looked at."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from telpher import bench, compare, doctor, execute, info, main, matrix, report, run, trace, tune  # noqa: E402

BASH, ZSH = ROOT / "share/completion/telpher.bash", ROOT / "share/completion/_telpher"
PARSERS = {"run": run, "info": info, "doctor": doctor, "report": report, "tune": tune, "trace": trace}
OPTION = re.compile(r"--[a-z][a-z-]*")


def source(name: str) -> str:
    return (ROOT / name).read_text()


def options_of(parser) -> set:
    return {name for action in parser._actions for name in action.option_strings if name.startswith("--")}


def bench_tests() -> set:
    """By the tables that the bench itself looks its tests up in."""
    collectives = re.findall(r'^    \{"(\w+)", blocks::', source("bench/collective.cpp"), re.M)
    surface = re.search(r"surface_names\[\] = \{(.*?)\}", source("bench/surface.hpp"), re.S).group(1)
    of_all = ("collectives", "icollectives", "collectives_persistent")
    forms = {form for name in collectives for form in (name, f"i{name}", f"{name}_persistent")}
    pairs = re.search(r"^  (latency .*?)   ", source("bench/usage.cpp"), re.M).group(1).split()
    return {*forms, *of_all, *pairs, *re.findall(r"\w+", surface), "matrix", "host", "compare", *bench.ALONE}


def bench_options() -> set:
    """Those of the command, and of each program that it starts."""
    texts = [bench.USAGE, matrix.USAGE, source("bench/usage.cpp")]
    texts += [re.search(r"usage =\n(.*?);\n", source(f"bench/{name}.cpp"), re.S).group(1) for name in bench.ALONE]
    of_run = {name for name in bench.OWN if name.startswith("--")}
    return of_run | options_of(compare.parser()) | set(OPTION.findall(" ".join(texts)))


def wanted() -> dict:
    """The words that each subcommand takes."""
    found = {name: options_of(module.parser()) for name, module in PARSERS.items()}
    found["trace"] |= options_of(run.parser()) - {"--print"}  # it passes them on; to print starts nothing
    found["exec"] = {*execute.CHOICES, "--help"}
    usage = re.search(r"usage =\n(.*?);\n", source("tools/coll.cpp"), re.S).group(1)
    found["coll"] = {"list", "verify", "simulate", *OPTION.findall(usage)}
    found["bench"] = bench_tests() | bench_options()
    found["--version"] = {"--json"}
    return found


class Completion(unittest.TestCase):
    def offered_by_bash(self, *words: str) -> set:
        script = 'source "$0"; COMP_WORDS=(telpher "$@"); COMP_CWORD=$#; _telpher; printf "%s\\n" "${COMPREPLY[@]}"'
        command = ["bash", "-c", script, str(BASH), *words]
        with tempfile.TemporaryDirectory() as folder:  # where no file is to be offered
            answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True, cwd=folder)
        self.assertEqual(answer.stderr, "")
        return set(answer.stdout.split())

    def test_every_subcommand(self):
        offered = self.offered_by_bash("")
        self.assertLessEqual({*main.MODULES, "--version"}, offered)
        first = re.search(r"compadd (.*)", ZSH.read_text()).group(1).split()
        self.assertLessEqual({*main.MODULES, "--version"}, set(first))

    def test_bash_knows_the_words_of_each(self):
        self.assertLessEqual(set(main.MODULES), set(wanted()))
        for name, words in wanted().items():
            with self.subTest(name):
                self.assertEqual(words - self.offered_by_bash(name, ""), set())

    def test_bash_offers_no_test_that_is_not_there(self):
        self.assertEqual(self.offered_by_bash("bench", "") - wanted()["bench"], set())

    def test_bash_knows_values(self):
        self.assertEqual(self.offered_by_bash("bench", "allreduce", "--op", "s"), {"sum"})
        self.assertEqual(self.offered_by_bash("exec", "--visible", "f"), {"first"})

    def test_both_know_every_memory_and_mode_of_the_bench(self):
        text = source("bench/options.cpp")
        memories = re.search(r'for \(const char\* known : \{("telpher", .*?)\}', text, re.S).group(1)
        modes = text.partition("void take_mode(")[2].partition("void take_devices(")[0]
        told = {"--alloc": re.findall(r'"([\w-]+)"', memories), "--mode": re.findall(r'[=!]= "(\w+)"', modes)}
        for option, values in told.items():
            with self.subTest(option):
                self.assertEqual(self.offered_by_bash("bench", "latency", option, ""), set(values))
                offered = re.search(rf"'{option}:\w+:\((.*?)\)'", ZSH.read_text()).group(1)
                self.assertEqual(set(offered.split()), set(values))

    def test_zsh_knows_the_words_of_each(self):
        text = ZSH.read_text()
        self.assertIn("i${^collectives} ${^collectives}_persistent", text)
        for name, words in wanted().items():
            with self.subTest(name):
                section = re.search(rf"^  {re.escape(name)}\)(.*?);;", text, re.M | re.S).group(1)
                there = set(re.findall(r"(?:--)?\w[\w-]*", section))
                there |= {f"i{word}" for word in there} | {f"{word}_persistent" for word in there}
                self.assertEqual(words - there, set())

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh_can_read_it(self):
        subprocess.run(["zsh", "-n", str(ZSH)], check=True, timeout=20)


unittest.main()
