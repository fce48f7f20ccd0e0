want=${GH_VERSION:-}
want=${want#v}
have=$(gh --version 2>/dev/null) || have=
if [[ -n $have && (-z $want || $have == *" $want "*) ]]; then
  exit 0
fi
if [[ -z $want ]]; then
  # The address of the newest release ends in its tag.
  address=$(curl -fsSL --retry 3 -o /dev/null -w '%{url_effective}' https://github.com/cli/cli/releases/latest)
  want=${address##*/v}
fi
case $(uname -m) in
  x86_64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) echo "there is no gh for $(uname -m)" >&2 && exit 1 ;;
esac
name=gh_${want}_linux_$machine
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
curl -fsSL --retry 3 -o "$name.tar.gz" "https://github.com/cli/cli/releases/download/v$want/$name.tar.gz"
curl -fsSL --retry 3 -o sums "https://github.com/cli/cli/releases/download/v$want/gh_${want}_checksums.txt"
grep -F " $name.tar.gz" sums | sha256sum --check --quiet
tar -xzf "$name.tar.gz"
install -D -m 755 "$name/bin/gh" "$HOME/.local/bin/gh"
