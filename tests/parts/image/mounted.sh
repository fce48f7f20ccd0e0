#!/usr/bin/env bash
# What removes folders for the scripts stops at a mount: of another file system, and of the same one.
#
#   unshare --mount --net --pid --mount-proc --fork --kill-child tests/parts/image/mounted.sh FOLDER
#
# FOLDER is empty at first. Nothing of it is lost to the caller: the mounts end with the name space.
set -euo pipefail

fail() {
  printf 'NOT SO: %s\n' "$*" >&2
  exit 1
}
if (($# != 1)) || [[ ! -d $1 ]]; then
  printf 'tests/parts/image/mounted.sh: it takes one FOLDER that is there, not: %s\n' "$*" >&2
  exit 2
fi
remove=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/remove-tree.sh
cd "$1"

mkdir -p kept 'tree/below it/same' 'tree/below it/other' tree/plain
touch kept/file 'tree/below it/file' tree/plain/file
ln -s ../kept tree/link
mount --bind kept 'tree/below it/same'
mount -t tmpfs none 'tree/below it/other'
touch 'tree/below it/other/file'
for mounted in 'tree/below it/same' 'tree/below it/other'; do
  for folder in tree 'tree/below it' "$mounted"; do
    if said=$("$remove" "$folder" 2>&1); then fail "$folder is removed, and $mounted is mounted in it"; fi
    [[ $said == *"$folder is left as it is"* ]] || fail "it does not say that $folder stays: $said"
  done
  [[ -e kept/file && -e $mounted/file && -e tree/plain/file && -e 'tree/below it/file' ]] || fail "$mounted or what is beside it is gone"
  # The last one is looked at by itself.
  [[ $mounted == *other ]] || umount "$mounted"
done
umount 'tree/below it/other'
"$remove" tree
[[ ! -e tree && -e kept/file ]] || fail 'the tree stays, or what its link led to is gone'
printf 'ok  a folder is removed with no mount in it, and only then\n'
