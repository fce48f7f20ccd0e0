#!/usr/bin/env python3
"""Recounts what became of every turn from the world's own books, never from ours.

judge.py EXPORT...: each EXPORT is what `phileas sandbox --headless --export` wrote. Exit 1 when a turn or a session
was lost, a session was doubled outside the one known window, a budget was exceeded, the history has a gap, a request by
label was lost, an issue has two status comments, or a pull request got a label for unwanted work twice or after a person
had acted on it.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone
from pathlib import Path

MARKER = re.compile(
    r"^phileas-turn: ([0-9a-z]{12})\.(\d+) repository=(\d+) track=(\S+) seq=(\d+) slot=(\S*) persona=(\S+)$"
)
INTENT = re.compile(r"intent (\S+)#(\d+)")
STATUS = "<!-- phileas:status -->"
# Who is asked for by labels in the sandbox.
PERSONAS = {"fixer"}
# The account of phileas' token, and what it puts on unwanted pull requests.
OURS = "phileas-runner"
UNWANTED = {"phileas:duplicate", "phileas:no-op"}
# What a person does on a pull request is read right before a label; a request that is repeated takes minutes.
RACE = timedelta(minutes=15)
GRACE = timedelta(minutes=15)
DAY = timedelta(days=1)


def instant(text):
    head, _, fraction = text.rstrip("Z").partition(".")
    micros = int((fraction + "000000")[:6]) if fraction else 0
    return datetime.fromisoformat(head).replace(microsecond=micros, tzinfo=timezone.utc)


def line_of(session):
    """What the last line of a session's prompt says, as it was sent."""
    return MARKER.match(session["prompt"].rstrip().rsplit("\n", 1)[-1])


def git(export, *arguments):
    command = ["git", "--git-dir", str(export / "git"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def daily_sessions(export):
    plan = export / "branches" / "main" / ".jules" / "schedules.toml"
    found = re.search(r"^daily_sessions\s*=\s*(\d+)", plan.read_text(), re.MULTILINE)
    return int(found.group(1)) if found else 5


def unwanted(writes, figures):
    """What is wrong with the labels of unwanted pull requests."""
    findings, marked, acted = [], Counter(), {}
    for write in writes:
        number, what, at = write["detail"].get("number"), write["what"], instant(write["at"])
        is_person = write["actor"] != OURS and not write["actor"].endswith("[bot]")
        if what in {"comment.created", "pull.reviewed", "pull.reopened"} and is_person:
            acted.setdefault(number, at)
        if what == "label.added" and write["actor"] == OURS and write["detail"]["label"] in UNWANTED:
            marked[number] += 1
            if number in acted and at - acted[number] > RACE:
                findings.append(f"#{number} was labelled at {at}, after a person had acted on it at {acted[number]}")
    findings += [f"#{number} was labelled as unwanted {count} times" for number, count in marked.items() if count > 1]
    figures["unwanted"] = len(marked)
    return findings


def judge(export):
    """The findings of one run, and its figures."""
    books = json.loads((export / "world.json").read_text())
    state = json.loads(git(export, "show", "jules:.jules/cycle_state.json"))
    findings, figures = [], Counter()
    end = max(instant(request["at"]) for request in books["requests"])

    ours = [(session, line_of(session)) for session in books["sessions"]]
    ours = [(session, line) for session, line in ours if line]
    figures["sessions"] = len(ours)

    # One session an attempt, and one live session a turn.
    attempts = Counter((line.group(1), line.group(2)) for _, line in ours)
    for (turn, attempt), count in attempts.items():
        if count > 1:
            findings.append(f"{count} sessions for attempt {attempt} of turn {turn}")
    turns = defaultdict(list)
    for session, line in ours:
        turns[line.group(1)].append((int(line.group(2)), session))
    figures["turns"] = len(turns)
    for turn, sessions in turns.items():
        sessions.sort(key=lambda one: one[0])
        for (_, before), (_, after) in zip(sessions, sessions[1:]):
            failed = any(name == "FAILED" for _, name in before["states"])
            if failed:
                figures["retried"] += 1
                continue
            # The known window: the session was there, and no listing showed it for longer than the grace.
            waited = instant(after["created_at"]) - instant(before["created_at"])
            if waited < GRACE:
                findings.append(f"turn {turn} was doubled after {waited}")
            figures["in_the_window"] += 1

    # Every session of ours is in the ledger, or young enough to be found yet.
    history = state["history"]
    known = {entry["session_id"] for entry in history.values()}
    known |= {one for entry in history.values() for one in entry.get("duplicates", [])}
    live = {turn["turn"]: turn for track in state["tracks"].values() for turn in track.get("turns", {}).values()}
    for session, line in ours:
        if session["id"] in known or any(session["id"] == turn.get("session_id") for turn in live.values()):
            continue
        if line.group(1) in live or end - instant(session["created_at"]) < 2 * GRACE:
            figures["not_yet_found"] += 1
            continue
        findings.append(f"session {session['id']} of turn {line.group(1)} is in no ledger")

    # Every announced turn has an entry, or is under way.
    announced = set()
    for subject in git(export, "log", "--format=%s", "jules").splitlines():
        announced |= {(track, int(seq)) for track, seq in INTENT.findall(subject)}
    figures["announced"] = len(announced)
    recorded = {(entry.get("track"), entry.get("seq")) for entry in history.values()}
    under_way = {(name, track["seq"]) for name, track in state["tracks"].items() if track.get("turns")}
    for track, seq in sorted(announced - recorded - under_way):
        findings.append(f"turn {seq} of track {track} was announced and is lost")
    for name, track in state["tracks"].items():
        expected = {(name, seq) for seq in range(1, track["seq"] + 1)}
        for _, seq in sorted(expected - recorded - under_way):
            findings.append(f"track {name} has no entry of turn {seq}")

    # History without gaps, and budgets as people set them.
    keys = sorted(int(key) for key in history)
    if keys != list(range(len(keys))):
        findings.append(f"the history's keys are {keys}")
    created = sorted(instant(session["created_at"]) for session, _ in ours)
    limit = daily_sessions(export)
    for index, first in enumerate(created):
        within = sum(1 for at in created[index:] if at - first < DAY)
        if within > limit:
            findings.append(f"{within} sessions within a day of {first}; the budget is {limit}")
            break
    # Requests by label: each is accepted, and reported in one comment.
    comments = Counter()
    labelled = 0
    for write in books["github_writes"]:
        detail = write["detail"]
        if write["what"] == "comment.created" and STATUS in detail["body"]:
            comments[detail["number"]] += 1
        persona = detail.get("label", "").removeprefix("phileas:") if write["what"] == "label.added" else ""
        if persona in PERSONAS and end - instant(write["at"]) > 4 * GRACE:
            labelled += 1
    for number, count in comments.items():
        if count > 1:
            findings.append(f"{count} status comments on #{number}")
    taken = sum(1 for request in state["requests"].values() if request["kind"] == "label")
    if taken < labelled:
        findings.append(f"{labelled} requests by label, and {taken} of them were accepted")
    figures["requests"] = taken
    figures["status_comments"] = sum(comments.values())
    findings += unwanted(books["github_writes"], figures)
    git(export, "fsck", "--full", "--strict")
    figures["hours"] = round((end - min(instant(request["at"]) for request in books["requests"])).total_seconds() / 3600)
    figures["requests"] = len(books["requests"])
    figures["cut_or_failed"] = sum(1 for one in books["requests"] if one["status"] is None or one["status"] >= 500)
    return findings, figures


def export(word):
    if not Path(word, "world.json").is_file():
        raise argparse.ArgumentTypeError(f"{word!r} is no folder of an export: it has no world.json")
    return Path(word)


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("exports", nargs="+", type=export, metavar="EXPORT")
    exports = words.parse_args().exports
    total, wrong = Counter(), 0
    for name in exports:
        findings, figures = judge(name)
        total += figures
        wrong += bool(findings)
        for finding in findings:
            print(f"{name}: {finding}")
    print(f"{len(exports)} runs, {wrong} with findings; " + ", ".join(f"{count} {what}" for what, count in sorted(total.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
