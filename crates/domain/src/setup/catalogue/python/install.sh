want=${PYTHON_VERSION:-}
have=$(python3 --version 2>/dev/null) || have=
if [[ -n $have && (-z $want || $have == "Python $want" || $have == "Python $want".*) ]]; then
  exit 0
fi
uv python install ${want:+"$want"}
program=$(uv python find ${want:+"$want"})
mkdir -p "$HOME/.local/bin"
ln -sfn "$program" "$HOME/.local/bin/python3"
ln -sfn "$program" "$HOME/.local/bin/python"
