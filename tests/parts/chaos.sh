#!/usr/bin/env bash
# Fifty seeds of 48 hours in the sandbox with every open question answered in the worst way, judged from the world's own
# books. Prints the figures; fails on any finding.
#
#   PHILEAS_BIN=target/release/phileas tests/parts/chaos.sh [SEEDS] [FIRST]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

die() {
  printf 'tests/parts/chaos.sh: %s\n' "$*" >&2
  exit 2
}

(($# < 3)) || die "it takes [SEEDS] [FIRST], not $# words"
for word in "$@"; do [[ $word =~ ^[1-9][0-9]{0,8}$ ]] || die "'$word' is no number of seeds, and no first one"; done
[[ -x ${PHILEAS_BIN:-} ]] || die "PHILEAS_BIN names no program: '${PHILEAS_BIN:-}'"
readonly SEEDS=${1:-50} FIRST=${2:-1}
out=$(mktemp -d)
trap 'tests/parts/remove-tree.sh "$out"' EXIT
export out

run_seed() {
  # The run's own words are kept until it is judged, so that a failing seed can be looked at.
  "$PHILEAS_BIN" sandbox --headless --chaos --until 48h --seed "$1" --json --export "$out/seed-$1" \
    >"$out/seed-$1.jsonl" 2>"$out/seed-$1.log" || { tail -n 5 "$out/seed-$1.log"; echo "seed $1 did not end"; exit 255; }
}
export -f run_seed

seq "$FIRST" $((FIRST + SEEDS - 1)) | xargs -P 2 -I{} bash -c 'run_seed {}'
python3 tests/parts/judge.py "$out"/seed-*[0-9]
