"""Writes the documentation's tables of figures from what scripts/bench has measured.

    table.py FIGURES PAGE

FIGURES is the folder that scripts/bench keeps. A part that was not measured keeps the row that the page has.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys

BEGIN, END = "<!-- figures to reach, by scripts/bench -->", "<!-- end -->"
WANTED = "<!-- wanted work, by scripts/bench -->"
HEAD = "| what | to reach | measured | by |\n|---|---|---|---|"

words = argparse.ArgumentParser(description=__doc__)
words.add_argument("figures", type=pathlib.Path)
words.add_argument("readme", type=pathlib.Path)
paths = words.parse_args()
figures, readme = paths.figures, paths.readme


def said(part):
    """What a part said, or nothing where it was not measured."""
    path = figures / f"{part}.txt"
    return path.read_text() if path.exists() else ""


def found(pattern, text):
    """All places where a pattern stands; a part that was measured has at least one."""
    places = re.findall(pattern, text)
    if not places:
        sys.exit(f"the figures have no line like {pattern!r}: they are of another version, measure again")
    return places


def milliseconds(text, name):
    value, unit = found(rf"{re.escape(name)}\s+time:\s+\[\S+ \S+ (\S+) (\S+) ", text)[0]
    return float(value) * {"ns": 1e-6, "µs": 1e-3, "us": 1e-3, "ms": 1, "s": 1e3}[unit]


def engine(text):
    decide = milliseconds(text, "decide, 100 tracks, 10,000 history entries")
    save = milliseconds(text, "load + save of the hot state file")
    states = sum(int(count) for count in found(r"(\d+) different states", text))
    window = found(r"the window: (\S+) a turn by a late listing, (\S+) by a late request", text)[0]
    yield "`decide`, 100 tracks, 10,000 history entries", "1 ms", f"{decide:.2f} ms"
    yield "load and save of the state file, 500 entries", "5 ms", f"{save:.1f} ms"
    yield (
        "the dispatch protocol, three actors and two turns",
        "all its states, the one window named",
        f"{states:,} states in all models, no double but in the window of a late listing ({window[0]} a turn) "
        f"or a late request ({window[1]})",
    )


def tick(text):
    middle, most = found(r"median (\S+) ms, .* at most (\S+) MB", text)[0]
    yield "process of an idle tick, from start to exit", "60 ms, 40 MB", f"median {middle} ms, {most} MB"


def service(text):
    laps = found(r"median (\S+), p95 (\S+)", text)
    seconds = [[span(value) for value in lap] for lap in laps]
    middle = statistics.median(lap[0] for lap in seconds)
    worst = max(lap[1] for lap in seconds)
    quiet = [float(value) for value in found(r"none due: (\S+) %", text)]
    looks = [float(value) for value in found(r"hourly looks: (\S+) %", text)]
    memory = max(int(value) for value in found(r"(\d+) MiB at the most", text))
    yield (
        "outcome of a session posted, to the next session, service and models on loopback",
        "p95 a second beyond the poll interval",
        f"median {middle:.2f} s, worst p95 of {len(laps)} rounds {worst:.2f} s",
    )
    yield (
        "a service with 10,000 repositories at rest",
        "1 % of a core, 150 MB",
        f"{statistics.median(quiet):.2f} %, and {statistics.median(looks):.2f} % with the hourly look at each; {memory} MiB",
    )


def span(text):
    """Seconds of a time as Rust prints it."""
    value, unit = found(r"^([\d.]+)(ns|µs|ms|s)$", text.rstrip(","))[0]
    return float(value) * {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}[unit]


def soak(text):
    whole = found(r"soak: (\d+ deliveries to \d+ repositories), all .*, (\d+) a second; (\d+ sessions)", text)[0]
    looks = [tuple(map(int, look)) for look in found(r": (\d+) MiB, (\d+) handles", text)]
    memory, handles = zip(*looks[2:])
    yield (
        f"{whole[0]} under load, every one seen to by a tick; {whole[2]}, none doubled",
        "memory and handles flat",
        f"from three tenths on {min(memory)} to {max(memory)} MiB, {min(handles)} to {max(handles)} handles; "
        f"{whole[1]} deliveries a second with their ticks",
    )


def simulation(text):
    line = found(r"simulation: (\d+ seeds, .* violations)", text)[-1]
    seconds = int(found(r"simulation took (\d+) s of a core", text)[0])
    yield (
        "days of three replicas and a workflow on models of GitHub and Jules, all knobs",
        "1,000 seeds of 48 h, no violation, 60 s",
        f"{line}; {seconds:,} s of a core",
    )


def ingest(_):
    results = json.loads((figures / "ingest.json").read_text())

    def times(peer, connections):
        ratios = [cell["ratio"] for cell in results["ratios"] if cell["peer"] == peer and cell["connections"] == connections]
        return " and ".join(f"{ratio:.2f}" for ratio in ratios)

    sizes = " and ".join(dict.fromkeys(cell["size"] for cell in results["ratios"]))
    pace = results["offered"]
    yield (
        f"webhooks stored before they are answered, {sizes}, 16 connections",
        "2.5 times Probot, which stores nothing",
        f"{times('probot', 16)} times Probot",
    )
    yield (
        "the same, 64 connections",
        "4 times Probot, half of a handler that only checks signatures, 3 times one transaction a request",
        f"{times('probot', 64)} times Probot, {times('verify', 64)} of the handler, {times('single', 64)} times the transactions",
    )
    yield "an answer at 1,000 webhooks offered a second", "p99 5 ms", f"p50 {pace['p50']:.1f} ms, p99 {pace['p99']:.1f} ms"


def binary(text):
    size = int(found(r"(\d+) bytes", text)[0])
    yield "static release binary, stripped; the image holds nothing else", "20 MB", f"{size / 1e6:.1f} MB"


def first(text):
    seconds = found(r"(\d+) s$", text.strip())[0]
    yield "clone to the sandbox's first turn, everything fetched and built on the way", "to be measured", f"{seconds} s"


PARTS = [ingest, service, engine, tick, simulation, soak, binary, first]

page = readme.read_text()
before, rest = page.split(BEGIN, 1)
table, after = rest.split(END, 1)
old = {}
for row in table.strip().splitlines()[2:]:
    old.setdefault(row.rsplit("|", 2)[1].strip(), []).append(row)
rows = []
for part in PARTS:
    by = f"`scripts/bench {part.__name__}`"
    text = said(part.__name__)
    if not text:
        rows += old.get(by, [])
        continue
    rows += [f"| {what} | {wanted} | {measured} | {by} |" for what, wanted, measured in part(text)]
# What `wanted` said is the section as it stands on the page.
wanted = said("wanted")
if wanted and WANTED in after:
    introduction, section = after.split(WANTED, 1)
    after = introduction + WANTED + "\n" + wanted + END + section.split(END, 1)[1]
readme.write_text(before + BEGIN + "\n" + HEAD + "\n" + "\n".join(rows) + "\n" + END + after)
print("\n".join([HEAD, *rows]))
