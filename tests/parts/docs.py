"""Checks what the documentation shows: each block of README.md and docs/ is what its language says, and our commands exist.

usage: docs.py (with PHILEAS_BIN set to the program)

- `sh` and `console`: bash parses it, and the program knows each `phileas` command with its options.
- `toml`: it parses, and it fits the JSON Schema of the file that its first line names.
- `json` and `yaml`: they parse.

The links of README.md lead to files that exist (those of docs/ are checked by mkdocs), and it has 6 KB at most.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tomllib

if len(sys.argv) > 1:
    print(f"docs.py: it takes no word: {sys.argv[1]}", file=sys.stderr)
    sys.exit(2)

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["PHILEAS_BIN"]
SCHEMAS = {
    ".jules/schedules.toml": "schedules",
    ".jlo/config.toml": "config",
    "phileas.toml": "phileas",
}
README_LIMIT_BYTES = 6 * 1024
# What stands where a reader puts something of their own.
PLACEHOLDERS = {"…": "x", "PORT": "8080", "CLONE": ".", "OWNER/NAME": "acme/widget"}


def blocks():
    """Each fenced block: file, line of its first line, language, text."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        language, start, text = None, 0, []
        for number, line in enumerate(path.read_text().split("\n"), 1):
            fence = re.match(r"```(\w*)", line)
            if fence and language is None:
                language, start, text = fence[1] or "text", number + 1, []
            elif fence:
                yield path.relative_to(ROOT), start, language, "\n".join(text) + "\n"
                language = None
            elif language is not None:
                text.append(line)


def commands(text):
    """The arguments of each call of phileas in a script."""
    text = re.sub(r"<<'EOF'.*?^EOF$", "", text, flags=re.S | re.M).replace("\\\n", " ")
    for line in text.split("\n"):
        line = line.removeprefix("$ ")
        for mark, value in PLACEHOLDERS.items():
            line = line.replace(mark, value)
        line = re.sub(r"\$\([^)]*rev-parse[^)]*\)", "0" * 40, line)
        line = re.sub(r"\$\([^)]*\)", "x", line)
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>")
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            continue
        call = []
        for word in [*words, ";"]:
            if re.fullmatch(r"[;&|]+", word):
                yield from arguments(call)
                call = []
            else:
                call.append(word)


def arguments(call):
    """What the program is given, where this is a call of it."""
    call = [word for word in call if not re.fullmatch(r"\w+=.*", word)]
    if call[:4] == ["cargo", "run", "--release", "--"]:
        call = ["phileas", *call[4:]]
    if call[:1] == ["phileas"]:
        end = next((at for at, word in enumerate(call) if re.fullmatch("[<>]+", word)), len(call))
        yield call[1:end]


def wrong(language, text):
    """What is wrong with a block."""
    if language in ("sh", "console"):
        if language == "sh":
            parsed = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
            if parsed.returncode:
                yield parsed.stderr.strip()
        for call in commands(text):
            asked = subprocess.run([PROGRAM, *call, "--help"], text=True, capture_output=True, stdin=subprocess.DEVNULL)
            if asked.returncode:
                yield f"phileas {shlex.join(call)}: {asked.stderr.strip()}"
    elif language == "toml":
        values = tomllib.loads(text)
        named = re.match(r"# ([\w./-]+\.toml)", text)
        schema = SCHEMAS.get(named[1]) if named else None
        if schema:
            described = json.loads((ROOT / f"schemas/{schema}.schema.json").read_text())
            for error in jsonschema.validators.validator_for(described)(described).iter_errors(values):
                yield f"{'.'.join(map(str, error.path))}: {error.message}"
    elif language == "json":
        json.loads(text)
    elif language == "yaml":
        yaml.safe_load(text)


def wrong_in_readme():
    """What is wrong with README.md beside its blocks."""
    text = (ROOT / "README.md").read_text()
    if len(text.encode()) > README_LIMIT_BYTES:
        yield f"it has {len(text.encode())} bytes; {README_LIMIT_BYTES} are the most"
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in link and not (ROOT / link).exists():
            yield f"{link} does not exist"


def main():
    found = seen = 0
    for reason in wrong_in_readme():
        found += 1
        print(f"README.md: {reason}")
    for path, line, language, text in blocks():
        seen += 1
        try:
            reasons = list(wrong(language, text))
        except (ValueError, yaml.YAMLError) as error:
            reasons = [str(error)]
        for reason in reasons:
            found += 1
            print(f"{path}:{line}: {reason}")
    print(f"{seen} blocks, {found} mistakes")
    sys.exit(found > 0)


main()
