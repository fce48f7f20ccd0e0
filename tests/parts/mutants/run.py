"""Which mutants of the domain's deciding rooms do its tests notice? See `scripts/mutants --help`."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import switch

PACKAGE = "phileas-domain"
# What is asked about a directory, in this order: a target, and what the names of its tests begin with. Unit tests of
# other rooms are left out, and what only plays by chance, for what only chance notices is not noticed for sure: tests
# of properties, and the targets `protocol` and `rubbish`.
ASKED = {
    "engine": (("lib", "engine::"), ("engine", "")),
    "state": (("lib", "state::"), ("engine", "")),
    "exchange": (("lib", "exchange::"), ("exchange", ""), ("pipeline", ""), ("engine", "")),
    "work": (("lib", "work::"), ("engine", "")),
}
CHANCE = ("property", "properties", "::any::")
# It takes longest by far, and is asked last.
SLOW = "approvals::an_issue_that_does_not_open_is_asked_for_less_and_less"
TARGETS = sorted({target for steps in ASKED.values() for target, _ in steps} - {"lib"})
# So many tests that have noticed mutants of a file are asked first about another of it.
NEAR = 12
# Seconds of a processor; a busy machine then ends no mutant that only waited for its turn.
LEAST, TIMES = 10, 5
FAILED = re.compile(rb"^test (.*) \.\.\. FAILED|^test result: FAILED", re.MULTILINE)


def say(*words):
    print(*words, flush=True)


def cargo(*words, cwd, **options):
    return subprocess.run(["cargo", *words], cwd=cwd, stdout=subprocess.PIPE, text=True, check=False, **options)


def messages(output):
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def copy(root, tree):
    subprocess.run([root / "tests/parts/remove-tree.sh", tree], check=True)
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                           stdout=subprocess.PIPE, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        source, target = root / name, tree / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def listed(root, tool, directories):
    globs = [word for name in directories for word in ("-f", f"crates/domain/src/{name}/**")]
    found = subprocess.run([tool, "mutants", "--no-config", "--list", "--json", "-p", PACKAGE, *globs], cwd=root,
                           stdout=subprocess.PIPE, check=True)
    return json.loads(found.stdout)


def viable(tree, root):
    """Compiles until no mutant is left that does not."""
    tree.write()
    for turn in range(1, 40):
        out = cargo("check", "--locked", "-p", PACKAGE, "--lib", "--message-format=json", cwd=root,
                    stderr=subprocess.DEVNULL)
        errors = collections.defaultdict(list)
        for message in messages(out.stdout):
            told = message.get("message") or {}
            if message.get("reason") == "compiler-message" and told.get("level") == "error":
                for span in told["spans"]:
                    if span["is_primary"]:
                        span = outermost(span)
                        errors[span["file_name"]].append((span["byte_start"], span["byte_end"]))
        if out.returncode == 0:
            return
        taken = tree.take_out({file: spans for file, spans in errors.items() if file in tree.by_file})
        say(f"  round {turn}: {sum(map(len, errors.values()))} errors, {taken} mutants taken out")
        if not taken:
            for message in messages(out.stdout):
                if (message.get("message") or {}).get("level") == "error":
                    say(message["message"]["rendered"])
            sys.exit("it does not compile, and no mutant is to blame")
    sys.exit("it does not come to compile")


def outermost(span):
    while span.get("expansion"):
        span = span["expansion"]["span"]
    return span


def built(root):
    names = ["--lib"] + [word for name in TARGETS for word in ("--test", name)]
    out = cargo("test", "--locked", "-p", PACKAGE, *names, "--no-run", "--message-format=json", cwd=root)
    if out.returncode:
        sys.exit("the tests do not build")
    found = {}
    for message in messages(out.stdout):
        if message.get("reason") == "compiler-artifact" and message.get("executable"):
            kind = message["target"]["kind"][0]
            found["lib" if kind == "lib" else message["target"]["name"]] = message["executable"]
    return found


def run(binary, asked, number, limit, folder):
    """`None` when all pass, else what failed; the first failure ends it."""
    environment = {**os.environ, "PHILEAS_MUTANT": str(number), "INSTA_UPDATE": "no", "INSTA_FORCE_PASS": "0",
                   "PROPTEST_FAILURE_PERSISTENCE": "off", "RUST_BACKTRACE": "0"}
    allowed = int(limit) + 1
    child = subprocess.Popen(
        [binary, *asked], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + 2)),
    )
    output = b""
    deadline = time.monotonic() + limit * 20
    os.set_blocking(child.stdout.fileno(), False)
    try:
        while True:
            piece = child.stdout.read()
            if piece:
                output += piece
                told = FAILED.search(output)
                if told:
                    return (told.group(1) or b"").decode() or "?"
            elif child.poll() is not None:
                break
            elif time.monotonic() > deadline:
                return "time"
            else:
                time.sleep(0.01)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
    if child.returncode == 0:
        return None
    return "time" if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else f"ended with {child.returncode}"


def steps(directory, near, file=None):
    """Targets with the tests that are asked of each: those that are likely to notice, then all."""
    skips = [word for name in (*CHANCE, SLOW) for word in ("--skip", name)]
    for target in dict.fromkeys(target for target, _ in ASKED[directory]):
        names = [name for of, name in near if of == target and name != SLOW]
        if names:
            yield target, ["--exact", *names[-NEAR:]]
    if file:
        # Stories bear the names of what they are about.
        yield ASKED[directory][1][0], [pathlib.PurePath(file).stem.rstrip("s"), *skips]
    for target, start in ASKED[directory]:
        yield target, [*([start] if start else []), *skips]
        if target == "engine":
            yield target, ["--exact", SLOW]


def asked_about(mutant, near, binaries, limits, folder):
    for target, asked in steps(mutant.directory, near, mutant.file):
        told = run(binaries[target], asked, mutant.number, limits[target], folder)
        if told:
            return target, told
    return None, None


def measured(binaries, folder):
    """The limit of each target: what it takes with no mutant alive, several times over."""
    limits = collections.defaultdict(float)
    for directory in ASKED:
        for target, asked in steps(directory, []):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            told = run(binaries[target], asked, 0, 600, folder)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if told:
                sys.exit(f"{target} fails with no mutant alive: {told}")
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            limits[target] = max(LEAST, limits[target], TIMES * spent)
            say(f"  {directory}: {target} takes {spent:.1f} s of a processor")
    return limits


def main():
    words = argparse.ArgumentParser()
    words.add_argument("root", type=pathlib.Path)
    words.add_argument("target", type=pathlib.Path)
    words.add_argument("tool")
    words.add_argument("--each", type=int)
    words.add_argument("--seed", type=int)
    words.add_argument("--seconds", type=float, default=float("inf"))
    words.add_argument("--only", default="")
    words.add_argument("--again", action="store_true")
    given = words.parse_args()
    folder = given.target / "mutants"
    copied = folder / "tree"
    # By itself: Cargo takes a member of the copy for that of the repository, and would run mutants in its place.
    os.environ["CARGO_TARGET_DIR"] = str(folder / "build")

    if given.again:
        kept = json.loads((folder / "built.json").read_text())
        binaries, limits = kept["binaries"], kept["limits"]
        mutants = [switch.Mutant(number, row) for number, row in enumerate(kept["rows"], 1)]
        for mutant, out in zip(mutants, kept["out"], strict=True):
            mutant.out = out
    else:
        say("copying the repository, listing the mutants and putting each behind a switch")
        copy(given.root, copied)
        rows = [row for row in listed(given.root, given.tool, ASKED) if given.only in row["name"]]
        tree = switch.Tree(copied, rows)
        viable(tree, copied)
        mutants = tree.mutants
        say("building the tests")
        binaries = built(copied)
        limits = measured(binaries, copied / "crates/domain")
        kept = {"rows": rows, "out": [m.out for m in mutants], "binaries": binaries, "limits": limits}
        (folder / "built.json").write_text(json.dumps(kept))

    drawn = []
    for directory in ASKED:
        there = [m for m in mutants if m.directory == directory and m.out is None and given.only in m.name]
        random.Random(f"{given.seed} {directory}").shuffle(there)
        drawn.append(there if given.each is None else there[: given.each])
    # In turn, so that a run that is ended early has as many of each.
    order = [mutant for turn in range(max(map(len, drawn))) for row in drawn for mutant in row[turn : turn + 1]]

    results = (folder / "results.jsonl").open("w")
    verdicts, near, start = {}, collections.defaultdict(list), time.monotonic()
    for mutant in order:
        if time.monotonic() - start > given.seconds:
            break
        target, told = asked_about(mutant, near[mutant.file], binaries, limits, copied / "crates/domain")
        verdicts[mutant] = {None: "survived", "time": "timeout"}.get(told, "killed")
        if "::" in (told or ""):
            # The newest last, and none twice.
            near[mutant.file] = [row for row in near[mutant.file] if row != (target, told)] + [(target, told)]
        row = {"name": mutant.name, "verdict": verdicts[mutant], "by": told and f"{target}: {told}"}
        results.write(json.dumps(row) + "\n")
        results.flush()
        if told is None:
            say(f"  survived: {mutant.name}")
    spent = time.monotonic() - start
    table(mutants, verdicts)
    say(f"\n{len(verdicts)} mutants in {spent:.0f} s, {spent / max(1, len(verdicts)):.1f} s each")


def table(mutants, verdicts):
    say("\n| directory | listed | do not compile | not switchable | run | killed | timed out | survived | noticed |")
    say("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for directory in [*ASKED, "all"]:
        there = [m for m in mutants if directory in (m.directory, "all")]
        told = collections.Counter(verdicts[m] for m in there if m in verdicts)
        unviable = sum(m.out == "unviable" for m in there)
        held = sum(m.out not in (None, "unviable") for m in there)
        run_, noticed = sum(told.values()), told["killed"] + told["timeout"]
        share = f"{100 * noticed / run_:.1f} %" if run_ else "-"
        say(f"| {directory} | {len(there)} | {unviable} | {held} | {run_} | {told['killed']} | {told['timeout']} "
            f"| {told['survived']} | {share} |")
    survivors = [m for m, verdict in verdicts.items() if verdict == "survived"]
    if survivors:
        say("\nsurvivors:")
        for mutant in sorted(survivors, key=lambda m: (m.file, m.span["start"]["line"])):
            say(f"  {mutant.name}")


if __name__ == "__main__":
    main()
