"""Puts mutants behind a switch: one build holds them all, and PHILEAS_MUTANT says which one is alive.

Which mutants there are says `cargo mutants --list --json`; this only writes each beside what it replaces:

    a < b          (match crate::switched::on() { 7 => a <= b, 8 => a > b, _ => a < b })
    fn f() { … }   fn f() { if crate::switched::on() == 9 { return Default::default(); } … }

A mutant that does not compile is found by the compiler's own messages and taken out again, see `Tree.take_out`.
"""

import bisect
import collections
import pathlib
import re

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
ON = "crate::switched::on()"
MODULE = """
mod switched {
    static ALIVE: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    #[inline]
    pub fn on() -> usize {
        *ALIVE.get_or_init(|| std::env::var("PHILEAS_MUTANT").map_or(0, |number| number.parse().unwrap()))
    }
}
"""
# What a marker says: where a mutant's own text begins and ends, or where that of all mutants of a place does.
MARK = re.compile(rb"/\*([<>{}])(\d+)\*/")


class Mutant:
    """One line of the list, with a number that it is switched on by."""

    def __init__(self, number, row):
        self.number = number
        self.name = row["name"]
        self.file = row["file"]
        self.genre = row["genre"]
        self.replacement = row["replacement"]
        self.span = row["span"]
        self.returns = (row.get("function") or {}).get("return_type") or ""
        # None while it stands; "unviable" when it does not compile; else why it cannot be switched.
        self.out = None

    @property
    def directory(self):
        return self.file.removeprefix("crates/domain/src/").split("/")[0]

    def text(self, body):
        return b"/*<%d*/%s/*>%d*/" % (self.number, body, self.number)


class Source:
    """One file: its tree, and the mutants by the place that they change."""

    def __init__(self, text, mutants):
        self.text = text
        self.root = PARSER.parse(text).root_node
        lines = [0]
        for line in text.split(b"\n"):
            lines.append(lines[-1] + len(line) + 1)
        self.lines = lines
        self.places = collections.defaultdict(list)
        for mutant in mutants:
            if mutant.out is None:
                self.place(mutant)
        self.starts = sorted(start for start, _, _ in self.places)

    def offset(self, point):
        # The list counts characters; the tree counts bytes.
        start = self.lines[point["line"] - 1]
        line = self.text[start : self.lines[point["line"]]].decode()
        return start + len(line[: point["column"] - 1].encode())

    def place(self, mutant):
        start, end = self.offset(mutant.span["start"]), self.offset(mutant.span["end"])
        node = self.root.descendant_for_byte_range(start, max(start, end - 1))
        wanted = {
            "BinaryOperator": ("binary_expression", "compound_assignment_expr"),
            "UnaryOperator": ("unary_expression",),
            "FnValue": ("function_item",),
            "MatchArm": ("match_arm",),
            "MatchArmGuard": ("match_pattern",),
            "StructField": ("struct_expression",),
        }[mutant.genre]
        if mutant.genre == "StructField":
            node = node if node.start_byte <= start and node.end_byte >= end else node.parent
        while node and node.type not in wanted:
            if node.type == "let_chain" and mutant.genre == "BinaryOperator":
                mutant.out = "unviable"  # A chain with `let` takes no other operator.
                return
            node = node.parent
        if not node:
            mutant.out = "no place found"
            return
        mutant.at = (start, end)
        # The list changes a word of text, and another operator may bind otherwise: the whole of a chain is replaced.
        while mutant.genre == "BinaryOperator" and node.parent.type == "binary_expression":
            node = node.parent
        if mutant.genre == "FnValue":
            before = self.text[node.start_byte : node.child_by_field_name("body").start_byte]
            if re.search(rb"\bconst\s+fn\b", before):
                mutant.out = "const fn"
                return
            if re.search(r"\bimpl\b", mutant.returns):
                mutant.out = "returns an unnamed type"
                return
            node = node.child_by_field_name("body")
        if mutant.genre == "MatchArmGuard" and b"let " in self.text[start:end]:
            mutant.out = "guard with let"
            return
        self.places[(node.start_byte, node.end_byte, node.type)].append(mutant)

    def raw(self, start, end):
        return self.text[start:end]

    def written(self):
        return self.emit(self.root)

    def touched(self, node):
        first = bisect.bisect_left(self.starts, node.start_byte)
        return first < len(self.starts) and self.starts[first] < node.end_byte

    def emit(self, node):
        if not self.touched(node):
            return self.raw(node.start_byte, node.end_byte)
        mutants = self.places.get((node.start_byte, node.end_byte, node.type), [])
        if node.type == "match_pattern":
            return self.guarded(node, mutants)
        parts, position = [], node.start_byte
        for child in node.children:
            parts += [self.raw(position, child.start_byte), self.emit(child)]
            if node.type == "block" and child.type == "{":
                parts += [self.answer(mutant) for mutant in mutants]
            if node.type == "match_arm" and child.type == "match_pattern" and mutants:
                parts.append(self.left_out(child, mutants[0]))
            position = child.end_byte
        text = b"".join(parts) + self.raw(position, node.end_byte)
        if not mutants or node.type in ("block", "match_arm"):
            return text
        arms = b"".join(
            b"%d => %s,\n" % (mutant.number, mutant.text(b"{ " + self.changed(node, mutant) + b" }")) for mutant in mutants
        )
        return b"/*{%d*/(match %s {\n%s_ => { %s }\n})/*}%d*/" % (
            mutants[0].number, ON.encode(), arms, text, mutants[0].number,
        )

    def changed(self, node, mutant):
        """The place's own text with the one change, all other mutants left out."""
        start, end = mutant.at
        if mutant.genre == "StructField":
            comma = re.match(rb"\s*,", self.text[end : node.end_byte])
            end += comma.end() if comma else 0
        return self.raw(node.start_byte, start) + mutant.replacement.encode() + self.raw(end, node.end_byte)

    def answer(self, mutant):
        body = b"if %s == %d { return %s; }" % (ON.encode(), mutant.number, mutant.replacement.encode())
        return b"/*{%d*/%s/*}%d*/" % (mutant.number, mutant.text(body), mutant.number)

    def left_out(self, pattern, mutant):
        test = b"%s != %d" % (ON.encode(), mutant.number)
        guarded = pattern.child_by_field_name("condition") is not None
        return mutant.text(b" && " + test if guarded else b" if " + test)

    def guarded(self, pattern, mutants):
        condition = pattern.child_by_field_name("condition")
        if not condition:
            return self.raw(pattern.start_byte, pattern.end_byte)
        before, inner = self.raw(pattern.start_byte, condition.start_byte), self.emit(condition)
        if mutants:
            arms = b"".join(b"%d => %s,\n" % (m.number, m.text(m.replacement.encode())) for m in mutants)
            first = mutants[0].number
            inner = b"/*{%d*/(match %s {\n%s_ => { %s }\n})/*}%d*/" % (first, ON.encode(), arms, inner, first)
        elif condition.type not in ("let_chain", "let_condition"):
            inner = b"(" + inner + b")"
        return before + inner


def arms_of(text, start, end):
    """The mutants without which a `match` on this value would take everything: those of the arm for all the rest."""
    node = PARSER.parse(text).root_node.descendant_for_byte_range(start, end)
    while node and node.type != "match_expression":
        node = node.parent
    value = node and node.child_by_field_name("value")
    if not value or (value.start_byte, value.end_byte) != (start, end):
        return []
    patterns = [arm.child_by_field_name("pattern") for arm in node.child_by_field_name("body").named_children
                if arm.type == "match_arm"]
    found = [re.fullmatch(rb"(.*?)(?:/\*<\d+\*/)? if crate::switched::on\(\) != (\d+)(?:/\*>\d+\*/)?", pattern.text, re.S)
             for pattern in patterns]
    found = [match for match in found if match]
    rest = [match for match in found if re.fullmatch(rb"[a-z_]+", match.group(1).strip())]
    return [int(match.group(2)) for match in rest or found]


class Tree:
    """A copy of the repository whose files are rewritten with the mutants that still stand."""

    def __init__(self, root, rows):
        self.root = pathlib.Path(root)
        self.mutants = [Mutant(number, row) for number, row in enumerate(rows, 1)]
        self.by_file = collections.defaultdict(list)
        for mutant in self.mutants:
            self.by_file[mutant.file].append(mutant)
        self.own = {file: (self.root / file).read_bytes() for file in self.by_file}
        lib = self.root / "crates/domain/src/lib.rs"
        lib.write_text("#![allow(warnings, reason = \"mutants\")]\n" + lib.read_text() + MODULE)

    def write(self, files=None):
        for file in files or self.by_file:
            (self.root / file).write_bytes(Source(self.own[file], self.by_file[file]).written())

    def take_out(self, errors):
        """Takes out what the errors point at, and says how many that were.

        An error inside a mutant's own text is the mutant's: it is not viable. One beside it, where the place as a
        whole was made a choice, says nothing about the mutants: they cannot be switched.
        """
        taken, numbers = 0, {mutant.number: mutant for mutant in self.mutants}
        for file, spans in errors.items():
            text = (self.root / file).read_bytes()
            ranges, open_at = [], {}
            for mark in MARK.finditer(text):
                kind, number = mark.group(1), int(mark.group(2))
                if kind in b"<{":
                    open_at[(kind, number)] = mark.start()
                else:
                    opener = {b">": b"<", b"}": b"{"}[kind]
                    ranges.append((open_at.pop((opener, number)), mark.end(), opener, number))
            for start, end in spans:
                inside = [r for r in ranges if r[0] <= start and end <= r[1]]
                for number in arms_of(text, start, end):
                    taken += numbers[number].out is None
                    numbers[number].out = "unviable"
                if not inside or arms_of(text, start, end):
                    continue
                low, high, kind, number = min(inside, key=lambda r: r[1] - r[0])
                if kind == b"<":
                    taken += numbers[number].out is None
                    numbers[number].out = numbers[number].out or "unviable"
                    continue
                for first, last, inner, other in ranges:
                    if inner == b"<" and low <= first and last <= high and numbers[other].out is None:
                        if not any(r[2] == b"{" and low < r[0] <= first and last <= r[1] < high for r in ranges):
                            numbers[other].out = "no choice fits there"
                            taken += 1
        self.write(errors)
        return taken
