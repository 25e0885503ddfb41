# SPDX-License-Identifier: BSD-3-Clause
"""The ranks' trace files on one clock, messages linked from sender to receiver, as a Chrome trace.

Ranks of one boot read the same clock. Another node's clock is shifted so that MPI_Init ended everywhere at once,
and then as far as the messages demand: none arrives before it was sent."""
import json
from collections import defaultdict
from dataclasses import dataclass, field

from . import UserError

LANES = {"send": ("sends", 100), "receive": ("receives", 200), "copy": ("device copies", 300)}
SKIPPED = {"k", "n", "th", "t", "e", "id", "complete", "arrived", "group"}


@dataclass
class Rank:
    head: dict
    events: list
    lost: int = 0  # lines that are no event: of a rank that was killed

    @property
    def number(self) -> int:
        return self.head["rank"]


@dataclass
class Link:
    """A message as both sides saw it."""
    send: dict
    receive: dict
    sender: int
    receiver: int


@dataclass
class Timeline:
    ranks: list
    links: list
    origin: int = 0
    shifts: dict = field(default_factory=dict)  # by boot, ns

    def document(self) -> dict:
        return {"traceEvents": list(chrome_events(self)), "displayTimeUnit": "ns",
                "otherData": {"program": "telpher trace", "clock_shift_ns": self.shifts}}


def read_rank(path: str) -> Rank:
    events, lost = [], 0
    with open(path, errors="replace") as file:
        for line in file:
            try:
                events.append(json.loads(line))
            except ValueError:
                lost += 1
    if not events or events[0].get("k") != "head":
        raise UserError(f"{path} is no trace of a rank")
    if events[0].get("format") != 1:
        raise UserError(f"{path} was written by another version of Telpher")
    return Rank(events[0], sorted(events[1:], key=lambda e: e["t"]), lost)


# --- links -------------------------------------------------------------------------------------------


def link_messages(ranks: list) -> list:
    """By the number that the ticket carried. Numbers return in long runs: the n-th use of one matches the n-th."""
    sends = defaultdict(list)
    for rank in ranks:
        for event in rank.events:
            if event["k"] == "send":
                sends[rank.number, event["id"], event["to"]].append(event)
    links = []
    for rank in ranks:
        received = defaultdict(int)
        for event in sorted((e for e in rank.events if e["k"] == "receive" and "id" in e),
                            key=lambda e: e["arrived"]):
            key = event["from"], event["id"], rank.number
            n = received[key]
            received[key] += 1
            if n < len(sends[key]):
                links.append(Link(sends[key][n], event, event["from"], rank.number))
    return links


# --- clocks ------------------------------------------------------------------------------------------


def shift_between(links: list, boots: dict, known: dict, boot: str, guess: float) -> float:
    """What to add to the clock of `boot`, given the shifts of `known` boots."""
    low, high = float("-inf"), float("inf")
    for link in links:
        there, here = boots[link.receiver] == boot, boots[link.sender] == boot
        if there and boots[link.sender] in known:
            low = max(low, link.send["t"] + known[boots[link.sender]] - link.receive["arrived"])
        elif here and boots[link.receiver] in known:
            high = min(high, link.receive["arrived"] + known[boots[link.receiver]] - link.send["t"])
    if low > float("-inf") and high < float("inf"):
        return (low + high) / 2
    return min(max(guess, low), high)


def align(ranks: list, links: list) -> dict:
    boots = {rank.number: rank.head["boot"] for rank in ranks}
    starts = defaultdict(list)
    for rank in ranks:
        starts[rank.head["boot"]].append(rank.head["t"])
    mean = {boot: sum(times) / len(times) for boot, times in starts.items()}
    reference = min(ranks, key=lambda r: r.number).head["boot"]
    shifts = {reference: 0}
    for boot in starts:
        if boot not in shifts:
            shifts[boot] = round(shift_between(links, boots, shifts, boot, mean[reference] - mean[boot]))
    for rank in ranks:
        shift = shifts[rank.head["boot"]]
        for event in rank.events:
            for key in ("t", "e", "arrived", "complete"):
                if event.get(key):
                    event[key] += shift
    return shifts


def merge(ranks: list) -> Timeline:
    numbers = [rank.number for rank in ranks]
    if len(set(numbers)) != len(numbers):
        raise UserError("two files are of the same rank: they are of different runs")
    ranks = sorted(ranks, key=lambda r: r.number)
    links = link_messages(ranks)
    shifts = align(ranks, links)
    times = [event["t"] for rank in ranks for event in rank.events if event["t"]]
    return Timeline(ranks, links, min(times, default=0), shifts)


# --- Chrome's format ---------------------------------------------------------------------------------


class Lanes:
    """Rows for events that may overlap: each goes to the first row that is free."""

    def __init__(self, base: int):
        self.base = base
        self.ends = []

    def take(self, event: dict) -> int:
        for row, end in enumerate(self.ends):
            if end <= event["t"]:
                self.ends[row] = event["e"]
                return self.base + row
        self.ends.append(event["e"])
        return self.base + len(self.ends) - 1


def title(event: dict) -> str:
    if event["k"] == "send":
        return f"send {event['bytes']} B to {event['to']}"
    if event["k"] == "receive":
        return f"receive {event['bytes']} B from {event['from']} ({event['path']})"
    if event["k"] == "copy":
        return f"{event['n']} {event['bytes']} B"
    return "waiting" if event["k"] == "wait" else event["n"]


def chrome_events(timeline: Timeline):
    def us(ns):
        return (ns - timeline.origin) / 1000

    rows = {}
    for rank in timeline.ranks:
        pid = rank.number
        yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": f"rank {pid} on {rank.head['host']}"}}
        yield {"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}}
        lanes = {kind: Lanes(base) for kind, (_, base) in LANES.items()}
        named = {}
        for event in rank.events:
            if event["k"] in LANES:
                tid = lanes[event["k"]].take(event)
                named[tid] = LANES[event["k"]][0]
            else:
                tid = event["th"]
                named[tid] = f"calls of thread {tid}"
            rows[id(event)] = tid
            yield {"ph": "X", "name": title(event), "cat": event["k"], "pid": pid, "tid": tid, "ts": us(event["t"]),
                   "dur": max(0, event["e"] - event["t"]) / 1000,
                   "args": {key: value for key, value in event.items() if key not in SKIPPED}}
        for tid, name in named.items():
            yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
            yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": tid}}
    for number, link in enumerate(timeline.links):
        arrow = {"name": "message", "cat": "message", "id": number}
        yield {**arrow, "ph": "s", "pid": link.sender, "tid": rows[id(link.send)], "ts": us(link.send["t"])}
        yield {**arrow, "ph": "f", "bp": "e", "pid": link.receiver, "tid": rows[id(link.receive)],
               "ts": us(max(link.receive["e"] - 1, link.receive["t"]))}
