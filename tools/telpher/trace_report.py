# SPDX-License-Identifier: BSD-3-Clause
"""What a trace says in numbers: time in MPI, who waited for whom and why, bytes by path."""
import bisect
from collections import defaultdict


def covered(intervals: list, begin: int, end: int) -> int:
    """How much of [begin, end] lies in sorted intervals that do not overlap."""
    first = max(0, bisect.bisect_left(intervals, (begin,)) - 1)
    last = bisect.bisect_left(intervals, (end,), first)
    return sum(max(0, min(stop, end) - max(start, begin)) for start, stop in intervals[first:last])


def union(intervals: list) -> list:
    joined = []
    for start, stop in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], stop))
        else:
            joined.append((start, stop))
    return joined


def collectives(timeline) -> list:
    """The calls of each collective: the n-th on a group is the same on all its ranks."""
    found = defaultdict(list)
    for rank in timeline.ranks:
        for event in rank.events:
            if event["k"] == "call" and "number" in event:
                found[event["group"], event["number"], event["n"]].append((rank.number, event))
    return [calls for calls in found.values() if len(calls) == calls[0][1]["size"] > 1]


def waits_for(timeline) -> dict:
    """{(who, for whom, why): [times, ns]}"""
    waiting = {rank.number: union([(e["t"], e["e"]) for e in rank.events if e["k"] == "wait"])
               for rank in timeline.ranks}
    found = defaultdict(lambda: [0, 0])

    def add(who, whom, why, ns):
        if ns > 0:
            entry = found[who, whom, why]
            entry[0] += 1
            entry[1] += ns

    for link in timeline.links:
        posted, sent = link.receive["t"], link.send["t"]
        add(link.receiver, link.sender, "late sender", covered(waiting[link.receiver], posted, sent))
        until = min(posted, link.send.get("complete") or posted)
        add(link.sender, link.receiver, "late receiver", covered(waiting[link.sender], sent, until))
    for calls in collectives(timeline):
        last, late = max(calls, key=lambda call: call[1]["t"])
        for rank, event in calls:
            if rank != last:
                add(rank, last, event["n"], min(late["t"], event["e"]) - event["t"])
    return found


def summary(timeline) -> dict:
    ranks = []
    paths = defaultdict(lambda: [0, 0])
    for rank in timeline.ranks:
        calls = union([(e["t"], e["e"]) for e in rank.events if e["k"] == "call"])
        waits = union([(e["t"], e["e"]) for e in rank.events if e["k"] == "wait"])
        copies = [e for e in rank.events if e["k"] == "copy"]
        ranks.append({"rank": rank.number, "events": len(rank.events), "lost_lines": rank.lost,
                      "in_mpi_ms": sum(b - a for a, b in calls) / 1e6,
                      "waiting_ms": sum(b - a for a, b in waits) / 1e6,
                      "copies": len(copies), "copied_bytes": sum(e["bytes"] for e in copies)})
        for event in rank.events:
            if event["k"] == "receive":
                paths[event["path"]][0] += 1
                paths[event["path"]][1] += event["bytes"]
    waits = [{"rank": who, "for": whom, "why": why, "times": times, "ms": ns / 1e6}
             for (who, whom, why), (times, ns) in waits_for(timeline).items()]
    return {"ranks": ranks, "waits": sorted(waits, key=lambda w: -w["ms"]),
            "paths": {name: {"messages": n, "bytes": b} for name, (n, b) in sorted(paths.items())},
            "linked_messages": len(timeline.links), "clock_shift_ns": timeline.shifts}


def text(found: dict) -> str:
    lines = ["rank     events    in MPI ms   waiting ms   device copies        bytes"]
    lines += [f"{r['rank']:<5} {r['events']:9} {r['in_mpi_ms']:12.3f} {r['waiting_ms']:12.3f} {r['copies']:15} "
              f"{r['copied_bytes']:12}" for r in found["ranks"]]
    lines += ["", "path         messages        bytes"]
    lines += [f"{name:10} {p['messages']:10} {p['bytes']:12}" for name, p in found["paths"].items()]
    if found["waits"]:
        lines += ["", "rank  waited for       ms      times  why"]
        lines += [f"{w['rank']:<5} rank {w['for']:<5} {w['ms']:10.3f} {w['times']:8}  {w['why']}"
                  for w in found["waits"][:20]]
    return "\n".join(lines)
