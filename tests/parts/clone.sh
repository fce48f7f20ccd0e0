#!/usr/bin/env bash
# git itself against the GitHub model: clone, commit, push; a second writer is refused; the objects are sound.
#
#   node tests/parts/with-world.mjs tests/parts/clone.sh
set -euo pipefail
(($# == 0)) || { printf 'tests/parts/clone.sh takes no words, and there are: %s\n' "$*" >&2 && exit 2; }
: "${WORLD_GITHUB:?run this through tests/parts/with-world.mjs}"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap '"$here/remove-tree.sh" "$work"' EXIT
cd "$work"

# Nothing of the user's git, no prompt, and the token in a header instead of an argument.
basic=$(printf 'x-access-token:%s' "$WORLD_TOKEN" | base64 -w0)
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0 HOME=$work \
  GIT_AUTHOR_NAME=parts GIT_AUTHOR_EMAIL=parts@example.org GIT_COMMITTER_NAME=parts GIT_COMMITTER_EMAIL=parts@example.org \
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraHeader GIT_CONFIG_VALUE_0="Authorization: Basic $basic"
url=$WORLD_GITHUB/$WORLD_REPOSITORY.git

step() { printf -- '-- %s\n' "$*"; }
fail() {
  printf 'clone: %s\n' "$*" >&2
  exit 1
}
commit() { # FOLDER FILE TEXT
  printf '%s\n' "$3" >"$1/$2"
  git -C "$1" add "$2"
  git -C "$1" commit --quiet --message "notes: Add $2"
}
refused() { # WHY COMMAND…
  local why=$1
  shift
  if "$@" >"$work/refused" 2>&1; then fail "not refused: $*"; fi
  grep -qE "$why" "$work/refused" || fail "refused, but not with '$why': $(<"$work/refused")"
}

step 'clone'
git clone --quiet "$url" one
main=$(git -C one symbolic-ref --short HEAD)
git -C one fsck --full --strict
[[ -n $(git -C one ls-files) ]] || fail 'the clone is empty'
git clone --quiet "$url" two

step 'commit and push'
commit one first.txt 'from the first writer'
git -C one push --quiet origin "$main"
[[ $(git ls-remote "$url" "refs/heads/$main" | cut -f1) == $(git -C one rev-parse HEAD) ]] || fail 'the push did not move the branch'

step 'a second writer who has not seen it is refused'
commit two second.txt 'from the second writer'
refused 'fetch first|non-fast-forward' git -C two push origin "$main"
[[ $(git ls-remote "$url" "refs/heads/$main" | cut -f1) == $(git -C one rev-parse HEAD) ]] || fail 'a refused push moved the branch'

step 'a push with a lease on an older head is refused'
refused 'stale info|rejected' git -C two push --force-with-lease="$main:$(git -C two rev-parse HEAD~1)" origin "$main"

step 'after a rebase it is taken'
git -C two pull --quiet --rebase origin "$main"
git -C two push --quiet origin "$main"

step 'a new branch, and its end'
git -C two push --quiet origin "HEAD:refs/heads/parts/branch"
[[ $(git ls-remote "$url" refs/heads/parts/branch | wc -l) == 1 ]] || fail 'the new branch is not there'
git -C two push --quiet origin --delete parts/branch
[[ $(git ls-remote "$url" refs/heads/parts/branch | wc -l) == 0 ]] || fail 'the deleted branch is still there'

step 'a wrong token is refused'
refused '401|403|Authentication failed|could not read Username' \
  env GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'x-access-token:wrong' | base64 -w0)" git -C two push origin "HEAD:refs/heads/untrusted"

step 'a fresh mirror holds all of it, and every object is sound'
git clone --quiet --mirror "$url" mirror.git
git -C mirror.git fsck --full --strict
git -C mirror.git cat-file -e "$main:first.txt"
git -C mirror.git cat-file -e "$main:second.txt"
[[ $(git -C mirror.git rev-parse "$main") == $(git -C two rev-parse HEAD) ]] || fail 'the mirror is behind'
echo 'git understands the model'
