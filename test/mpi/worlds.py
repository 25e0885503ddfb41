#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of processes with and without the library, and of ranks that have it set differently.

Runs worlds's program under a launcher; each case is parts of one mpirun line, with or without the
preload. Nothing may hang, all results are the program's own to check, and what Telpher has to say is
said once. Prints `ok <case>` or `FAILED <case>: why` and closes with the totals.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from run import LAUNCHER_ENV  # noqa: E402

BOUND_S = 100


class Driver:
    def __init__(self, options):
        self.options = options
        self.passed = self.failed = 0
        self.is_ompi = options.abi == "ompi"
        # How a rank learns how many of the job are on its node.
        self.local_size = "OMPI_COMM_WORLD_LOCAL_SIZE" if self.is_ompi else "MPI_LOCALNRANKS"

    def part(self, ranks, arguments, preload=True, settings=None, unset=()):
        line = ["-n", str(ranks), "env", *(word for name in unset for word in ("-u", name))]
        values = {**(settings or {})}
        if preload:
            values = {"LD_PRELOAD": self.options.preload, "TELPHER_BACKEND": "emu", **values}
        return line + [f"{k}={v}" for k, v in values.items()] + [self.options.program, *arguments]

    def run(self, *parts, launcher=None):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TELPHER_")}
        environment |= LAUNCHER_ENV | {"TELPHER_NAP": "on"} | (launcher or {})
        command = [self.options.mpirun]
        if self.is_ompi:
            command += ["--oversubscribe", "--bind-to", "none"]
        for i, part in enumerate(parts):
            command += [":", *part] if i else part
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace")
        try:
            text, _ = process.communicate(timeout=BOUND_S)
        except subprocess.TimeoutExpired:
            process.terminate()  # a launcher takes its ranks along
            try:
                text, _ = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                text, _ = process.communicate()
            return None, text
        return process.returncode, text

    def case(self, label, parts, *, ends_well=True, said=(), unsaid=(), launcher=None):
        """Each of `said` must be in the output once, none of `unsaid`."""
        code, text = self.run(*parts, launcher=launcher)
        counts = {words: text.count(words) for words in (*said, *unsaid)}
        good = (code == 0) == ends_well and code is not None
        good = good and all(counts[w] == 1 for w in said) and not any(counts[w] for w in unsaid)
        if good:
            self.passed += 1
            print(f"ok {label}", flush=True)
        else:
            self.failed += 1
            tail = " | ".join(text.strip().splitlines()[-8:])
            print(f"FAILED {label}: exit code {code}, {counts}: {tail}", flush=True)

    def one_world(self):
        one, part = ["one"], self.part
        alone, telpher = "do without Telpher", "[telpher"
        self.case("all with", [part(2, one)], said=["2 of them with device"], unsaid=[telpher])
        self.case("none with", [part(2, one, False)], said=[" 0 of them with device"])
        self.case("the first with", [part(1, one), part(1, one, False)],
                  said=[alone, " 1 of them with device"])
        self.case("the last with", [part(2, one, False), part(1, one)],
                  said=[alone, " 1 of them with device"])
        self.case("some with", [part(2, one), part(1, one, False)],
                  said=[alone, " 2 of them with device"])
        self.case("enabled at one", [part(1, one), part(1, one, settings={"TELPHER_ENABLE": "off"})],
                  said=[alone])
        self.case("not enabled, in a part", [part(1, one, settings={"TELPHER_ENABLE": "off"}),
                                             part(1, one, False)], unsaid=[telpher])

    def unknown_launcher(self):
        """Where the launcher does not say how many ranks of the job are here."""
        one, part = ["one"], self.part
        self.case("all with, launcher unknown", [part(2, one, unset=[self.local_size])],
                  unsaid=["[telpher"])
        short = {"TELPHER_JOIN_TIMEOUT": "2s"}
        self.case("some with, launcher unknown",
                  [part(1, one, settings=short, unset=[self.local_size]), part(1, one, False)],
                  ends_well=False, said=["TELPHER_JOIN_TIMEOUT"])
        several = {self.local_size: "2"}
        self.case("some with, several nodes",
                  [part(1, one, settings=several), part(2, one, False)],
                  ends_well=False, said=["not all ranks of this node carry Telpher"])

    def spawned(self):
        self.case("spawned, all with", [self.part(1, ["spawn", "with"])],
                  said=["2 ranks, 2 of them with device"], unsaid=["[telpher"])
        self.case("spawned by the other call, all with", [self.part(1, ["spawn_multiple", "with"])],
                  said=["2 ranks, 2 of them with device"], unsaid=["[telpher"])
        with tempfile.TemporaryDirectory() as folder:  # as by telpher.preload(): LD_PRELOAD does not name the library
            other = os.path.join(folder, "front.so")
            os.symlink(self.options.preload, other)
            loaded = {"LD_PRELOAD": other, "TELPHER_PRELOAD": self.options.preload,
                      "TELPHER_PLUGIN_PATH": os.path.dirname(self.options.preload)}
            self.case("spawned, all with, not by LD_PRELOAD", [self.part(1, ["spawn", "with"], settings=loaded)],
                      said=["2 ranks, 2 of them with device"], unsaid=["[telpher"])
            del loaded["TELPHER_PRELOAD"]
            self.case("spawned, by a program that is linked with it",
                      [self.part(1, ["spawn", "without"], settings=loaded)],
                      said=["2 ranks, 1 of them with device"], unsaid=["[telpher"])
        with tempfile.TemporaryDirectory() as folder:
            files = {name: f"{folder}/{name}-%r" for name in ("TELPHER_TRACE", "TELPHER_LOG_FILE")}
            self.case("spawned, where the launcher was told files",
                      [self.part(1, ["spawn", "with"], settings={"TELPHER_LOG": "info"}, unset=files)],
                      said=["2 ranks, 2 of them with device"], launcher=files)
            if left := os.listdir(folder):
                self.failed += 1
                print(f"FAILED children wrote the files of the job that spawned them: {left}", flush=True)
        self.case("spawned, children without",
                  [self.part(1, ["spawn", "without"], settings={"TELPHER_SPAWN": "off"})],
                  said=["2 ranks, 1 of them with device"], unsaid=["[telpher"])
        self.case("spawned, none with", [self.part(1, ["spawn", "without"], False)],
                  said=["2 ranks, 0 of them with device"])

    def connected(self):
        """Halves of a job that meet: the launchers let no two jobs do so without a server of theirs."""
        # Under its own launcher MPICH 5.0.2 opens no port ("no space for port_name tag"), without Telpher too.
        for call in ("connect", "join") if self.is_ompi else ("join",):
            for label, second, devices in (("all with", True, 2), ("one with", False, 1)):
                with tempfile.TemporaryDirectory() as folder:
                    words = [call, folder + "/word"]
                    devices *= 2 if call == "connect" else 1
                    self.case(f"{call}, {label}", [self.part(2, words), self.part(2, words, second)],
                              said=[f" {devices} of them with device memory, 0 failures"]
                              + ([] if second else ["do without Telpher"]),
                              unsaid=["[telpher"] if second else [])

    def settings(self):
        one, part = ["one"], self.part
        on_a_node = {"COLL": ("auto", "staged"), "TEST_SMALL_TICKETS": ("on", "off"), "SLOTS": ("64", "128"),
                     "CCL": ("off", "/nowhere/libccl.so"), "PATH": ("auto", "pipelined")}
        between_nodes = {"COLL_BLOCK": ("1m", "4k"), "PIPELINE_BLOCK": ("512k", "64k"),
                         "PIPELINE_THRESHOLD": ("64k", "4k"), "DIRECT": ("off", "on")}
        for nodes, which in ((1, on_a_node), (2, between_nodes)):
            for i in (0, 1):  # each of the two at rank 0
                values = [{f"TELPHER_{name}": pair[k] for name, pair in which.items()} for k in (i, 1 - i)]
                if i == 1 and "DIRECT" in which:  # handing device pointers on would be believed
                    continue
                for v in values:
                    v["TELPHER_TEST_PRETENDED_NODES"] = str(nodes)
                self.case(f"settings differ, {nodes} nodes, {i}",
                          [part(1, one, settings=values[0]), part(2, one, settings=values[1])],
                          said=["3 of them with", *(f"TELPHER_{name} is '" for name in which)])
        self.case("written differently", [part(1, one, settings={"TELPHER_COLL_INBOX": "1m"}),
                                          part(1, one, settings={"TELPHER_COLL_INBOX": "1024k"})],
                  unsaid=["[telpher"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--abi", required=True, help="mpich or ompi")
    parser.add_argument("--mpirun", required=True, help="the launcher of the program's MPI")
    parser.add_argument("--program", required=True, help="worlds built for that MPI")
    parser.add_argument("--preload", required=True, help="Telpher's library for that MPI")
    parser.add_argument("--only", default="one_world,unknown_launcher,spawned,connected,settings")
    options = parser.parse_args()
    driver = Driver(options)
    for group in options.only.split(","):
        getattr(driver, group)()
    print(f"{driver.passed} passed, {driver.failed} failed")
    return 1 if driver.failed else 0


if __name__ == "__main__":
    sys.exit(main())
