want=${JUST_VERSION:-}
want=${want#v}
have=$(just --version 2>/dev/null) || have=
if [[ -n $have && (-z $want || $have == "just $want") ]]; then
  exit 0
fi
options=(--force --to "$HOME/.local/bin")
if [[ -n $want ]]; then
  options+=(--tag "$want")
fi
mkdir -p "$HOME/.local/bin"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Into a file first: what is cut off on its way is never run.
curl -fsSL --retry 3 -o "$work/installer.sh" https://just.systems/install.sh
bash "$work/installer.sh" "${options[@]}"
