want=${GO_VERSION:-}
want=${want#v}
want=${want#go}
have=$(go version 2>/dev/null) || have=
if [[ -n $have && (-z $want || $have == *" go$want "*) ]]; then
  exit 0
fi
if [[ -z $want ]]; then
  newest=$(curl -fsSL --retry 3 'https://go.dev/VERSION?m=text')
  newest=${newest%%$'\n'*}
  want=${newest#go}
fi
case $(uname -m) in
  x86_64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) echo "there is no Go for $(uname -m)" >&2 && exit 1 ;;
esac
name=go$want.linux-$machine.tar.gz
mkdir -p "$HOME/.local"
work=$(mktemp -d -p "$HOME/.local")
trap 'rm -rf "$work"' EXIT
curl -fsSL --retry 3 -o "$work/$name" "https://dl.google.com/go/$name"
sum=$(curl -fsSL --retry 3 "https://dl.google.com/go/$name.sha256")
echo "$sum  $work/$name" | sha256sum --check --quiet
tar -xzf "$work/$name" -C "$work"
rm -rf "$HOME/.local/go"
mv "$work/go" "$HOME/.local/go"
