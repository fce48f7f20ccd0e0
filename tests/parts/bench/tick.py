"""How long the process of an idle tick takes, and the most memory that it has. Run by scripts/bench tick."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

argparse.ArgumentParser(description=__doc__).parse_args()
RUNS = 50
# The first tick makes the ledger and starts a session; the second sees it at work.
WARM_UPS = 2

world = os.environ
environment = {
    "PATH": world["PATH"],
    "HOME": world.get("HOME", "/"),
    "GITHUB_API_URL": world["WORLD_GITHUB"],
    "GITHUB_TOKEN": world["WORLD_TOKEN"],
    "JULES_API_BASE": world["WORLD_JULES"],
    "JULES_API_KEY": world["WORLD_JULES_KEY"],
}
command = [world["PHILEAS_BIN"], "tick", "--repo", world["WORLD_REPOSITORY"], "--json"]


def run():
    """One process: its seconds, the most memory that was resident, and what it says it did."""
    begun = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begun
    if status != 0:
        sys.exit(f"a tick ended with {status}: {said.decode()}")
    summary = json.loads(said.splitlines()[-1])["summary"]
    return seconds, used.ru_maxrss * 1024, summary


for _ in range(WARM_UPS):
    run()
times, peaks = [], []
for _ in range(RUNS):
    seconds, peak, summary = run()
    if summary["commits"] or summary["dispatched"]:
        sys.exit(f"this tick was not idle: {summary}")
    times.append(seconds * 1000)
    peaks.append(peak / 1e6)
times.sort()
print(
    f"idle tick, {RUNS} processes: median {statistics.median(times):.1f} ms, "
    f"p95 {times[RUNS * 95 // 100]:.1f} ms, at most {max(peaks):.1f} MB resident"
)
