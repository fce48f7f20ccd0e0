#!/usr/bin/env python3
"""Every script of the repository refuses words that it does not know and words too many, before it does anything.

tests/parts/words.py runs each with such words: it must end with 2, say why, and start no program that builds, installs
or plays. `scripts/bench` must run every benchmark that it is given. A script that is not in the table is an error, and
so is one that removes a folder by other means than tests/parts/remove-tree.sh, which stops at a mount.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT = 120
"""Seconds for one script; a refusal takes none."""
# Programs that do the work of the scripts. In their place is one that writes down that it was started.
WORKERS = (
    *("cargo", "rustc", "npm", "npx", "node", "python3", "apt-get", "sudo", "unshare", "podman", "pip", "curl", "gh"),
    *("systemd-analyze", "wrk", "webhook"),
)
NOTHING, SURPLUS = [], ["surplus"]
# What each script must refuse, one list of words a call.
REFUSED = {
    ".ci/run": [SURPLUS, ["--surplus"]],
    "scripts/bench": [
        SURPLUS, [""], ["--surplus"], ["engine tick"], ["engine", "surplus"], ["surplus", "engine"], ["table", "surplus"],
        ["table", "engine"], ["all", "engine"], ["engine", "all"], ["--help", "engine"],
    ],
    "scripts/check-image": [
        SURPLUS, [""], ["--surplus"], ["binary", "surplus"], ["empty-root", "surplus"], ["all", "surplus"], ["binary image"], ["--help", "binary"],
    ],
    "scripts/check-words": [
        SURPLUS, [""], ["--surplus"], ["src", "surplus"], ["--count", "--figures"], ["--held", "src"], ["--root"], ["--root", "surplus"],
    ],
    "scripts/find-binary": [SURPLUS, [""], ["--help"]],
    "scripts/imports": [NOTHING, SURPLUS, ["--surplus"], ["crates/domain/src/engine", "surplus"]],
    "scripts/lines": [SURPLUS, [""], ["--surplus"], ["--root"], ["--root", "surplus"], ["--root", ".", "surplus"]],
    "scripts/mutants": [
        SURPLUS, [""], ["--surplus"], ["coverage", "surplus"], ["alone"], ["alone", ""], ["alone", "name", "surplus"],
        ["--each"], ["--each", "few"], ["--seed", "-1"], ["--only"], ["--only", "--all"], ["--all", "surplus"],
        ["--all", "--each", "5"], ["--each", "5", "--only", "x"], ["--again", "coverage"], ["--help", "surplus"],
    ],
    "scripts/pull-diffs": [
        NOTHING, SURPLUS, [".", "surplus"], ["nowhere", "acme/widget"], [".", "acme/widget", "few"], [".", "acme/widget", "--surplus"],
    ],
    "scripts/static": [["one", "two"], [""], ["--surplus"], ["--help", "surplus"]],
    "scripts/test": [
        SURPLUS, [""], ["--surplus"], ["fmt", "surplus"], ["fmt typos"], ["f.t"], ["fmt", "--fast"], ["--fast", "fmt"],
        ["--install", "fmt"], ["--list", "fmt"], ["--help", "fmt"],
    ],
    "tests/parts/action/action.mjs": [SURPLUS],
    "tests/parts/bench/ingest.mjs": [SURPLUS],
    "tests/parts/bench/probot.mjs": [SURPLUS],
    "tests/parts/bench/simulation.py": [NOTHING, ["README.md", "2", "3", "surplus"], ["README.md", "few", "3"]],
    "tests/parts/bench/table.py": [NOTHING, ["here", "README.md", "surplus"]],
    "tests/parts/bench/tick.py": [SURPLUS],
    "tests/parts/bench/wanted.py": [NOTHING, ["README.md", "surplus"], ["--surplus"]],
    "tests/parts/chaos.sh": [SURPLUS, [""], ["0"], ["-1"], ["1", "2", "3"], ["--help"]],
    "tests/parts/check-words.py": [SURPLUS, ["--surplus"]],
    "tests/parts/clone.sh": [SURPLUS],
    "tests/parts/dashboard.mjs": [["one", "two"], ["--surplus"], [""]],
    "tests/parts/docs.py": [SURPLUS, ["--help"]],
    "tests/parts/graphql-check.mjs": [NOTHING, SURPLUS, ["src/adapters/github/graphql", "surplus"]],
    "tests/parts/image/container.py": [NOTHING, ["image", "folder"]],
    "tests/parts/image/empty_root.py": [NOTHING, ["binary", "folder", "surplus"]],
    "tests/parts/image/static-rustc": [NOTHING, SURPLUS],
    "tests/parts/image/mounted.sh": [NOTHING, ["surplus"], ["src", "surplus"]],
    "tests/parts/intake/intake.mjs": [SURPLUS, ["payloads", "surplus"], [""]],
    "tests/parts/jinja.py": [],  # Its packages are not here; it wants two words and ends with 2.
    "tests/parts/judge.py": [NOTHING, SURPLUS],
    "tests/parts/jules-agent-sdk.py": [],  # Its words are those of unittest, which knows its own.
    "tests/parts/jules-sdk.mjs": [SURPLUS],
    "tests/parts/mcp/client.py": [],  # Its packages are not here; argparse reads its words.
    "tests/parts/mcp/clients.mjs": [SURPLUS],
    "tests/parts/mutants/coverage.py": [NOTHING, ["report", "surplus"]],
    "tests/parts/mutants/run.py": [],  # The same.
    "tests/parts/octokit-routes.mjs": [SURPLUS],
    "tests/parts/octokit.mjs": [SURPLUS],
    "tests/parts/payloads.mjs": [SURPLUS, ["--deliver"], ["--deliver", "nowhere"], ["--deliver", "http://x/", "surplus"]],
    "tests/parts/prism.mjs": [SURPLUS],
    "tests/parts/remove-tree.sh": [NOTHING, [""], ["--surplus"], ["--help", "surplus"]],
    "tests/parts/round.py": [SURPLUS, ["--personas"], ["--surplus"], ["--personas", "0"], ["--days=-1"]],
    "tests/parts/spec.mjs": [SURPLUS],
    "tests/parts/with-world.mjs": [NOTHING],
    "tests/parts/words.py": [SURPLUS],
}
FOLDERS = (".ci", "scripts", "tests/parts")
IMPORTED = re.compile(r"""from ['"](?:\./|\.\./)+([\w./-]+)['"]|^import ['"](?:\./|\.\./)+([\w./-]+)['"]|^(?:from|import) (\w+)""", re.M)
REMOVES = re.compile(r"\brm +-\w*[rR]|\brm +--recursive|rmtree|TemporaryDirectory|\brmSync\(|\brm\(|venv +--clear|\bfind\b.* -delete\b")


def sources():
    """What git knows of in the folders of scripts, and would know of after `git add`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *FOLDERS]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode()
    return sorted({name for name in listed.split("\0") if name and (ROOT / name).is_file()})


def scripts(names):
    """Those that are started: they have a first line that says with what, or nothing imports them."""
    code = [name for name in names if Path(name).suffix in (".py", ".mjs")]
    imported = {Path(next(filter(None, found))).stem for name in code for found in IMPORTED.findall((ROOT / name).read_text())}
    started = {name for name in code if Path(name).stem not in imported}
    return sorted(started | {name for name in names if (ROOT / name).read_bytes()[:2] == b"#!"})


def stand_ins(folder):
    started = folder / "started"
    folder.joinpath("bin").mkdir()
    for name in WORKERS:
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>"{started}"\necho "1 different states"\n')
        program.chmod(0o755)
    return started


def run(name, words, folder):
    """What a script says to words, and what it has started."""
    first = (ROOT / name).read_bytes().split(b"\n", 1)[0]
    if name.endswith(".mjs"):
        command = [shutil.which("node")]
    else:
        command = [sys.executable] if b"python" in first or name.endswith(".py") else [shutil.which("bash")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "WORLD_"))}
    environment |= {
        "CARGO_TARGET_DIR": str(folder / "target"),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PHILEAS_BIN": "/bin/true",
        "TMPDIR": str(folder),
    }
    for variable in ("GITHUB", "JULES", "TOKEN", "JULES_KEY", "REPOSITORY"):
        environment[f"WORLD_{variable}"] = "a/b"
    for variable in ("BENCH", "SCRATCH", "BIN", "DECORATED", "PYTHON", "MCP_PARTS", "ACTION_PATH", "GITHUB_OUTPUT"):
        environment[variable] = str(folder)
    if first == b"#!/usr/bin/env bash":
        command.append("--")
    try:
        ended = subprocess.run(
            [*command, ROOT / name, *words], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=LIMIT, check=False,
        )
    except subprocess.TimeoutExpired:
        return "nothing", f"it has not ended within {LIMIT} s", []
    started = folder / "started"
    seen = started.read_text().splitlines() if started.exists() else []
    started.unlink(missing_ok=True)
    return ended.returncode, ended.stdout.decode(), seen


def refusals(folder):
    for name, calls in ((name, calls) for name, calls in REFUSED.items() if (ROOT / name).is_file()):
        for words in calls:
            code, said, started = run(name, words, folder)
            if code != 2 or not said or started:
                yield f"{name} {' '.join(map(repr, words))}: ends with {code}, starts {started}, says: {said[-300:]}"


def benchmarks(folder):
    """All that are named run, in their order; none runs where one of the words is unknown."""
    chosen = ["tick", "engine", "simulation"]
    code, said, started = run("scripts/bench", chosen, folder)
    ran = re.findall(r"^==== (\w+) ====$", said, re.M)
    if code != 0 or ran != chosen:
        yield f"scripts/bench {' '.join(chosen)}: ends with {code}, runs {ran}, starts {started}, says: {said[-300:]}"


def removals(names):
    for name in names:
        path = ROOT / name
        if path.suffix not in (".py", ".mjs") and path.read_bytes()[:2] != b"#!":
            continue
        if name in ("tests/parts/remove-tree.sh", "tests/parts/words.py"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if REMOVES.search(line) and "-xdev" not in line:
                yield f"{name}:{number}: removes a folder by itself, and not by tests/parts/remove-tree.sh: {line.strip()}"


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    names = sources()
    folder = Path(tempfile.mkdtemp())
    try:
        stand_ins(folder)
        wrong = [f"{name} is not in the table of tests/parts/words.py" for name in scripts(names) if name not in REFUSED]
        wrong += [f"{name} is in the table of tests/parts/words.py and not there" for name in REFUSED if name not in names]
        wrong += [*refusals(folder), *benchmarks(folder), *removals(names)]
    finally:
        subprocess.run([ROOT / "tests/parts/remove-tree.sh", folder], check=True)
    for one in wrong:
        print(one)
    print(f"{len(REFUSED)} scripts, {sum(map(len, REFUSED.values()))} calls with wrong words, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
