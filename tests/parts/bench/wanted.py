"""Adds up what `wanted` has counted, as tables in Markdown.

    wanted.py FILE

FILE has a JSON document a line for each run. Counts are means over seeds; the change against `mode = "off"` is beside them.
"""

import argparse
import collections
import json
import pathlib

MODES = ["off", "prompt", "label", "close"]
HEAD = (
    "| `mode` | `plan` | `count_merged` | p | seeds | sessions | repeats opened | repeats that cost a person time | merged per session | "
    "fresh ideas suppressed |\n|---|---|---|---|---|---|---|---|---|---|"
)
LINES = {"scattered": "A repeat writes a fifth of its lines in another way, anywhere:", "together": "The same, with these lines in one piece:"}

words = argparse.ArgumentParser(description=__doc__)
words.add_argument("file", type=pathlib.Path)
runs = [json.loads(line) for line in words.parse_args().file.read_text().splitlines()]

by_seed = collections.defaultdict(dict)
for run in runs:
    case = run["case"]
    key = (case["rewritten"], MODES.index(case["mode"]), case["plan"], case["count_merged"], case["heeds"])
    by_seed[key][case["seed"]] = run["counts"]
# A measurement that was cut off compares the seeds that each setting has.
seeds = set.intersection(*(set(counts) for counts in by_seed.values()))
groups = {key: [counts[seed] for seed in sorted(seeds)] for key, counts in by_seed.items()}


def mean(counts, name):
    return sum(count[name] for count in counts) / len(counts)


def merged(counts):
    return sum(count["merged"] for count in counts) / sum(count["sessions"] for count in counts)


def against(value, base):
    return f" ({100 * (value / base - 1):+.0f} %)".replace("-", "−") if base else ""


def row(key, counts, off):
    _, mode, plan, count_merged, heeds = key
    cells = [f"`{MODES[mode]}`"]
    is_off = mode == 0
    cells += ["", "", ""] if is_off else ["yes" if plan else "no", "30d" if count_merged else "0", f"{heeds:g}"]
    cells += [str(len(counts)), f"{mean(counts, 'sessions'):.0f}"]
    for name in ["repeats", "costly"]:
        value = mean(counts, name)
        cells.append(f"{value:.1f}" + ("" if is_off else against(value, mean(off, name))))
    value = merged(counts)
    cells.append(f"{value:.3f}" + ("" if is_off else f" (× {value / merged(off):.2f})"))
    fresh = sum(count["fresh"] for count in counts)
    suppressed = sum(count["fresh_suppressed"] for count in counts)
    cells.append(f"{100 * suppressed / fresh:.1f} %" if fresh else "")
    return "| " + " | ".join(cells) + " |"


days = sorted({run["case"]["days"] for run in runs})
print(f"Five personas, a session a day each, {' or '.join(map(str, days))} days; means over the seeds.")
for rewritten, said in LINES.items():
    keys = sorted(key for key in groups if key[0] == rewritten)
    if not keys:
        continue
    off = groups[(rewritten, 0, False, False, 0.0)]
    print(f"\n{said}\n\n{HEAD}")
    for key in keys:
        print(row(key, groups[key], off))
seen = {(mode, plan) for _, mode, plan, _, _ in groups}
judged = groups.get(("scattered", 2, True, False, 0.6))
if judged and mean(judged, "repeats"):
    share = 100 * mean(judged, "repeats_of_merged") / mean(judged, "repeats")
    print(f"\nOf the repeats at `label`, `plan = true`, `count_merged = \"0\"` and p = 0.6, {share:.0f} % came after a pull request with the same idea was merged.")
missing = [f"`{name}`" for index, name in enumerate(MODES) if (index, False) not in seen]
missing += [] if any(plan for _, plan in seen) else ["`plan = true`"]
if missing:
    print(f"\nNot measured, because this version does not have them: {', '.join(missing)}.")
