#!/usr/bin/env python3
"""The plan that really ran, as it is, until its cycle of 24 has come round: months of the models' time.

PHILEAS_BIN=target/release/phileas tests/parts/round.py: 24 steps and 23 schedules share five sessions a day, with a
maintainer who merges everything. Exit 1 when the cycle leaves its order, a schedule's turn stands in another track
than its own, more than the budget runs, or the history (archive included) has a gap. A step may be left out only
where a decision says so (its persona ran by its schedule, and nothing has moved since).

With --personas 6 --days 14 it is a smaller plan: the first six steps of the cycle, and the schedules of their personas.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from datetime import timedelta
from pathlib import Path

from judge import DAY, git, instant, line_of

PLAN = Path(__file__).resolve().parent.parent / "fixtures" / "plan" / "schedules.toml"
BUDGET = 5


def smaller(plan, count):
    """The text of a plan with the first so many steps of the cycle, and the schedules of their personas."""
    cycle = plan["cycle"][:count]
    names = [path.split("/")[1] for path in cycle]
    schedules = [f"{name} = {json.dumps(plan['schedules'][name])}" for name in names if name in plan["schedules"]]
    return "\n".join([f"cycle = {json.dumps(cycle)}", "[schedules]", *schedules, ""])


def repository(folder, text, personas):
    jules = folder / ".jules"
    for persona in personas:
        home = jules / "personas" / persona
        home.mkdir(parents=True)
        (home / "prompt.md").write_text(
            f'---\nid: {persona}\nemoji: "⚙"\ndescription: The {persona}\n---\nDo the work of {persona}.\n'
        )
    (jules / "schedules.toml").write_text(text)


def entries(export):
    """All entries of the history by key, those in the archive included."""
    state = json.loads(git(export, "show", "jules:.jules/cycle_state.json"))
    found = dict(state["history"])
    for path in git(export, "ls-tree", "--name-only", "jules", ".jules/history/").split():
        found.update(json.loads(git(export, "show", f"jules:{path}"))["entries"])
    return {int(key): entry for key, entry in found.items()}


def skips(decisions):
    """When a step of the cycle was left out, and whose, as the decisions say."""
    for line in decisions.read_text().splitlines():
        said = json.loads(line)
        if said.get("track") == "default" and said.get("decision") == "skipped":
            yield instant(said["at"]), said["persona"]


def out_of_order(cycle, skipped, personas):
    """The first turn of the cycle that is not the next persona's and that no decision accounts for."""
    place, since = 0, None
    for at, persona in cycle:
        while personas[place % len(personas)] != persona:
            left_out = personas[place % len(personas)]
            if not any(name == left_out and (since is None or since <= when) and when <= at for when, name in skipped):
                return [f"{persona} ran at {at} where it was {left_out}'s turn"]
            place += 1
        place, since = place + 1, at
    return []


def check(export, decisions, plan, personas):
    books = json.loads((export / "world.json").read_text())
    made = [(instant(session["created_at"]), line_of(session)) for session in books["sessions"]]
    made.sort(key=lambda one: one[0])
    wrong = []
    cycle = [(at, line.group(7)) for at, line in made if line.group(4) == "default" and line.group(2) == "1"]
    skipped = list(skips(decisions))
    wrong += out_of_order(cycle, skipped, personas)
    if len(cycle) <= len(personas):
        wrong.append(f"the cycle has not come round: {len(cycle)} turns")
    scheduled = [(line.group(4), line.group(7)) for _, line in made if line.group(4) != "default"]
    wrong += [f"{persona} ran in the track {track}" for track, persona in scheduled if track != f"schedule:{persona}"]
    times = [at for at, _ in made]
    most = max(sum(1 for at in times[place:] if at - first < DAY) for place, first in enumerate(times))
    if most > BUDGET:
        wrong.append(f"{most} sessions within a day")
    history = entries(export)
    if sorted(history) != list(range(len(history))):
        wrong.append("the history has gaps")
    if len(history) != len(made):
        wrong.append(f"{len(made)} sessions, {len(history)} entries")
    git(export, "fsck", "--full", "--strict")
    span = max(times) - min(times)
    print(
        f"round: {len(made)} sessions in {span // timedelta(days=1)} days, {len(cycle)} of the cycle, in order; "
        f"{len({persona for _, persona in scheduled})} of {len(plan['schedules'])} schedules ran; at most {most} within a day; "
        f"{len(history)} entries without a gap"
    )
    return wrong


def play(place, text, days):
    """Plays a plan in the sandbox for so many days; what was wrong."""
    plan = tomllib.loads(text)
    personas = [path.split("/")[1] for path in plan["cycle"]]
    folder, export, decisions = place / "repository", place / "export", place / "decisions.jsonl"
    repository(folder, text, personas)
    command = [os.environ["PHILEAS_BIN"], "sandbox", "--headless", "--json", "--maintainer", "eager"]
    command += ["--repo", str(folder), "--until", f"{24 * days}h", "--export", str(export)]
    with decisions.open("w") as told:
        subprocess.run(command, check=True, stdout=told)
    return check(export, decisions, plan, personas)


def positive(word):
    if not word.isascii() or not word.isdecimal() or int(word) == 0:
        raise argparse.ArgumentTypeError(f"{word!r} is no number from 1 on")
    return int(word)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--personas", type=positive, help="only the first so many steps, and the schedules of their personas")
    words.add_argument("--days", type=positive, default=130)
    given = words.parse_args()
    text = PLAN.read_text()
    if given.personas is not None:
        text = smaller(tomllib.loads(text), given.personas)
    place = Path(tempfile.mkdtemp())
    try:
        wrong = play(place, text, given.days)
    finally:
        subprocess.run([Path(__file__).with_name("remove-tree.sh"), place], check=True)
    for one in wrong:
        print(f"round: {one}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
