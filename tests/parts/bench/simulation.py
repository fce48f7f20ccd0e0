"""Plays many seeds of the simulation in parts, and adds up what they said.

    simulation.py FOLDER SEEDS HOURS

Each part is 25 seeds on one core, as many parts at once as there are cores. What a part said is kept in FOLDER, so that a
measurement that was cut off goes on where it stood: name a folder of its own for each version of the code.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

PART = 25
TEST = "simulation::nothing_is_lost"
COMMAND = ["cargo", "test", "--quiet", "--locked", "--release", "--test", "it", "--", "--nocapture", TEST]
# What is counted over seeds is added up; the pairs of knobs are all seen in each part.
LINE = re.compile(r"^\.?simulation: (\d+ seeds, .*), (\d+ of \d+ settings of knob pairs), (\d+) violations(?:; .*at least (\d+) kills and (\d+) turns)?; (\d+) of")

words = argparse.ArgumentParser(description=__doc__)
words.add_argument("folder", type=pathlib.Path)
words.add_argument("seeds", type=int)
words.add_argument("hours", type=int)
given = words.parse_args()
folder, seeds, hours = given.folder, given.seeds, given.hours


def kept(first):
    return folder / f"{first}+{min(PART, seeds - first)}x{hours}h.txt"


def play(first):
    if kept(first).exists():
        return
    count = min(PART, seeds - first)
    numbers = {"SIMULATION_FIRST": first, "SIMULATION_SEEDS": count, "SIMULATION_HOURS": hours, "SIMULATION_WORKERS": 1}
    environment = os.environ | {name: str(value) for name, value in numbers.items()}
    ended = subprocess.run(COMMAND, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in ended.stdout.splitlines():
        if re.search("simulation:|shrunk|panicked", line):
            print(f"  from {first}: {line}", flush=True)
    # What was cut off, or went wrong, is played again the next time.
    if ended.returncode:
        sys.exit(f"the part from seed {first} failed ({ended.returncode}):\n{ended.stdout[-4000:]}")
    unfinished = kept(first).with_suffix(".new")
    unfinished.write_text(ended.stdout)
    unfinished.rename(kept(first))


def main():
    folder.mkdir(parents=True, exist_ok=True)
    parts = range(0, seeds, PART)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as cores:
        list(cores.map(play, parts))
    sums, words, pairs = [], [], set()
    violations = again = 0
    seconds, kills, turns = 0.0, [], []
    for first in parts:
        said = kept(first).read_text()
        line = re.search(LINE.pattern, said, re.MULTILINE)
        if not line:
            sys.exit(f"{kept(first)} does not say what it came to; remove it and measure again")
        counts = [int(count) for count in re.findall(r"\d+", line[1])]
        words = re.split(r"\d+", line[1])
        sums = [one + other for one, other in zip(sums or [0] * len(counts), counts, strict=True)]
        pairs.add(line[2])
        violations += int(line[3])
        if line[4]:
            kills.append(int(line[4]))
            turns.append(int(line[5]))
        again += int(line[6])
        seconds += float(re.search(r"finished in ([\d.]+)s", said)[1])
    # Each part plays the known cases, too, so their seeds are counted again and again.
    sums[0] = seeds
    added = "".join(word + str(count) for word, count in zip(words, sums)) + words[-1]
    least = f"; a case of {hours} h has at least {min(kills)} kills and {min(turns)} turns" if kills else ""
    print(
        f"simulation: {added}, {' and '.join(sorted(pairs))}, {violations} violations{least}; {again} times a case known "
        "from before was played, too"
    )
    print(f"simulation took {seconds:.0f} s of a core")


main()
