#!/usr/bin/env bash
# Removes folders with all that is in them, and never descends into a mount.
#
#   tests/parts/remove-tree.sh FOLDER…
#
# Where something is mounted on FOLDER or below it, nothing of FOLDER is removed: it names the mounts and ends with 1.
# `rm --one-file-system` alone would not do: what is mounted from the same file system by `mount --bind` has no other
# device number, so the list of mounts decides (proc_pid_mountinfo(5)). A symbolic link is removed, not what it leads to.
set -euo pipefail

readonly MOUNTS=/proc/self/mountinfo

die() {
  printf 'tests/parts/remove-tree.sh: %s\n' "$*" >&2
  exit 2
}

# The mounts on a folder and below it, in the kernel's own spelling, which has four characters as octal numbers.
mounts_in() {
  local spelled=$1
  spelled=${spelled//\\/\\134}
  spelled=${spelled// /\\040}
  spelled=${spelled//$'\t'/\\011}
  spelled=${spelled//$'\n'/\\012}
  FOLDER=$spelled awk '$5 == ENVIRON["FOLDER"] || index($5, ENVIRON["FOLDER"] "/") == 1 { print $5 }' "$MOUNTS"
}

remove() {
  local whole mounts=
  if [[ -L $1 || ! -d $1 ]]; then
    rm -f -- "$1"
    return
  fi
  whole=$(cd -P -- "$1" && pwd -P)
  [[ ! -r $MOUNTS ]] || mounts=$(mounts_in "$whole")
  if [[ -n $mounts ]]; then
    printf '%s is left as it is, because something is mounted in it; unmount it, then remove the folder:\n%s\n' "$1" "$mounts" >&2
    return 1
  fi
  # No other file system is entered even where the system has no such list.
  find "$whole" -xdev -depth -delete
}

(($#)) || die 'it takes one FOLDER or more'
for folder in "$@"; do
  case $folder in
    -h | --help) (($# == 1)) && sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}" && exit ;;&
    '' | -*) die "'$folder' is no FOLDER; put ./ before a name that begins with a dash" ;;
  esac
done
status=0
for folder in "$@"; do remove "$folder" || status=1; done
exit "$status"
