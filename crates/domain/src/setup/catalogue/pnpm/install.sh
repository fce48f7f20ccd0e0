want=${PNPM_VERSION:-}
have=$(pnpm --version 2>/dev/null) || have=
if [[ -n $have && (-z $want || $have == "$want") ]]; then
  exit 0
fi
npm install --global --no-audit --no-fund --prefix "$HOME/.local" "pnpm@${want:-latest}"
