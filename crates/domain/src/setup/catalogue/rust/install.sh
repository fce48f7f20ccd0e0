want=${RUST_VERSION:-}
have=$(rustc --version 2>/dev/null) || have=
if [[ -n $have && (-z $want || $have == "rustc $want "*) ]]; then
  exit 0
fi
if command -v rustup >/dev/null; then
  rustup toolchain install "${want:-stable}" --profile default
  rustup default "${want:-stable}"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Into a file first: what is cut off on its way is never run.
curl -fsSL --retry 3 --proto '=https' --tlsv1.2 -o "$work/installer.sh" https://sh.rustup.rs
sh "$work/installer.sh" -y --no-modify-path --profile default --default-toolchain "${want:-stable}"
