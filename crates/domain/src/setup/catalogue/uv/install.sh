want=${UV_VERSION:-}
want=${want#v}
have=$(uv --version 2>/dev/null) || have=
if [[ -n $have && (-z $want || $have == "uv $want" || $have == "uv $want "*) ]]; then
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Into a file first: what is cut off on its way is never run.
curl -fsSL --retry 3 -o "$work/installer.sh" "https://astral.sh/uv/${want:+$want/}install.sh"
UV_INSTALL_DIR=$HOME/.local/bin UV_NO_MODIFY_PATH=1 sh "$work/installer.sh"
