#!/usr/bin/env python3
"""scripts/check-words finds each word in a small repository where it stands, and nothing else."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = [sys.executable, ROOT / "scripts/check-words"]

CODE = '''\
//! What is heard by the clock.
struct OpenWish { pub heard_at: u64, name: String }
enum Kind { Seat { given: bool } }
pub(crate) fn told(wishes: &[OpenWish]) -> bool { indeed(wishes) && recast() && look_closely }
fn read_base() { let found = base as_ready; } // clippy::cast_possible_truncation
const MAX_WISHES: u32 = "a nobody's \\
    house";
#[test]
fn what_a_stranger_has_told_is_read() {}
mod tests { fn given() {} }
'''
# Line, column and the word of each finding.
EXPECTED = [
    (1, 19, "by the clock"),
    (2, 12, "Wish"),
    (2, 23, "field heard_at"),
    (3, 13, "Seat"),
    (3, 20, "field given"),
    (4, 15, "fn told"),
    (4, 20, "wishes"),
    (4, 34, "Wish"),
    (4, 58, "wishes"),
    (6, 11, "WISHES"),
    (6, 28, "nobody"),
    (9, 11, "stranger"),
    (10, 16, "fn given"),
]
PROSE = "Whoever asks is told anew, by the\nclock. A wishbone, a castle and /__world/deeds stay.\n"
IN_PROSE = [(1, 1, "Whoever"), (1, 22, "anew"), (1, 28, "by the clock")]


def git(folder, *words):
    subprocess.run(["git", "-C", folder, *words], check=True, stdout=subprocess.DEVNULL)


def findings(folder, name):
    ended = subprocess.run([*SCRIPT, "--root", folder, name], capture_output=True, text=True, check=False)
    found = []
    for line in ended.stdout.splitlines():
        if line.startswith(f"{name}:"):
            place, rest = line.split(": `", 1)
            number, column = place.split(":")[1:]
            found.append((int(number), int(column), rest.split("`")[0]))
    return ended.returncode, found


def checks(folder):
    """What is wrong with the script, by a repository in an empty folder."""
    git(folder, "init", "--quiet")
    (folder / "src").mkdir()
    (folder / "src/plan.rs").write_text(CODE)
    (folder / "notes.md").write_text(PROSE)
    (folder / "ignored.md").write_text("nobody")
    (folder / ".gitignore").write_text("ignored.md\n")
    for file, expected in (("src/plan.rs", EXPECTED), ("notes.md", IN_PROSE)):
        code, found = findings(folder, file)
        if (code, found) != (1, expected):
            yield f"{file}: ends with {code}\n  found {found}\n  not   {expected}"
    _, found = findings(folder, "ignored.md")
    if found:
        yield f"ignored.md is read: {found}"
    count, figures = (
        subprocess.run([*SCRIPT, "--root", folder, option], capture_output=True, text=True, check=True).stdout
        for option in ("--count", "--figures")
    )
    if "      5  wish\n" not in count or "everywhere: 12\n" not in count:
        yield f"--count says\n{count}"
    if figures.splitlines()[-1].split() != ["3", "2", "67", "%", "2", "67", "%", "0", "all"]:
        yield f"--figures says\n{figures}"


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        wrong = list(checks(folder))
    finally:
        subprocess.run([ROOT / "tests/parts/remove-tree.sh", folder], check=True)
    for one in wrong:
        print(one)
    print(f"{len(EXPECTED) + len(IN_PROSE)} words are to be found, {len(wrong)} findings are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
