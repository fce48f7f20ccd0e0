"""How much of each directory of the domain its tests reach, as a table, from the report of cargo-tarpaulin."""

import argparse
import collections
import json

DOMAIN = "crates/domain/src/"

words = argparse.ArgumentParser(description=__doc__)
words.add_argument("report", help="tarpaulin-report.json")
with open(words.parse_args().report, encoding="utf-8") as report:
    files = json.load(report)["files"]
reached = collections.defaultdict(collections.Counter)
for file in files:
    _, _, inside = "/".join(file["path"]).rpartition(DOMAIN)
    for name in (inside.split("/")[0] if "/" in inside else inside, "all"):
        reached[name].update(covered=file["covered"], coverable=file["coverable"])
print("| directory | lines | reached | share |\n|---|--:|--:|--:|")
for name, lines in sorted(reached.items(), key=lambda row: (row[0] == "all", row[0])):
    if lines["coverable"]:
        share = 100 * lines["covered"] / lines["coverable"]
        print(f"| {name} | {lines['coverable']} | {lines['covered']} | {share:.1f} % |")
