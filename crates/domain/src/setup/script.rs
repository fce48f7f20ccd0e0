//! `install.sh`: all parts in their order, each in a subshell of its own. None reads the standard input: bash may be
//! reading the script from there.

use super::Component;
use super::merge::Valued;

const TOP: &str = "\
#!/usr/bin/env bash
# `phileas setup gen` writes this file from TOOLS; change that, and run the command again.
# It is pasted into the set-up script of the repository's environment at Jules, and may run any number of times.
";

const BEGIN: &str = r#"
set -euo pipefail

installing=
ended() {
  local status=$?
  if ((status != 0)); then
    echo "install.sh: $installing could not be installed (exit code $status)" >&2
  fi
}
trap ended EXIT
"#;

const REMEMBER: &str = r#"
# Later shells find the programs, too.
for file in "$HOME/.profile" "$HOME/.bashrc"; do
  if ! grep -qsxF "$line" "$file"; then
    # A last line without its end would be glued to this one.
    if [[ -s $file && -n $(tail -c 1 "$file") ]]; then
      echo >>"$file"
    fi
    echo "$line" >>"$file"
  fi
done
"#;

/// The script of these tools. `tools` is the path of the file that names them.
pub(super) fn render_script<'v>(
    tools: &str,
    order: &[&Component],
    plain: impl Iterator<Item = &'v Valued>,
) -> String {
    let mut script = TOP.replace("TOOLS", tools);
    let names: Vec<&str> = order.iter().map(|one| one.name.as_str()).collect();
    script.push_str(&format!("#\n# Installs {}.\n", names.join(", ")));
    script.push_str(BEGIN);
    let mut first = true;
    for valued in plain.filter(|valued| !valued.value.is_empty()) {
        if first {
            script.push_str("\n# What the environment says goes before these values.\n");
        }
        first = false;
        let (name, value) = (&valued.variable.name, shell_quoted(&valued.value));
        script.push_str(&format!("export {name}\n: \"${{{name}:={value}}}\"\n"));
    }
    let paths = path_lines(order);
    if !paths.is_empty() {
        script.push_str(&format!("\nexport PATH=\"{paths}:$PATH\"\n"));
    }
    for component in order.iter().filter(|one| !one.fragment.is_empty()) {
        let name = &component.name;
        script.push_str(&format!(
            "\n# ---- {name} ----\ninstalling={name}\n(\n{}\n) </dev/null\n",
            component.fragment
        ));
    }
    if !paths.is_empty() {
        script.push_str("\ninstalling=PATH\n# shellcheck disable=SC2016 # It is later shells that know their PATH.\n");
        script.push_str(&format!("line='export PATH=\"{paths}:$PATH\"'\n"));
        script.push_str(REMEMBER.trim_start());
    }
    script
}

/// The folders of all tools, those of later ones first: they may replace what they depend on.
fn path_lines(order: &[&Component]) -> String {
    let mut paths: Vec<String> = Vec::new();
    for path in order.iter().rev().flat_map(|one| &one.paths) {
        let path = format!("$HOME/{path}");
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths.join(":")
}

/// A text inside `"${NAME:=…}"`, where bash takes a backslash before these characters away.
fn shell_quoted(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '\\' | '"' | '$' | '`' | '}') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}
