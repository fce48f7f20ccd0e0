//! `docs/reference/`: tables that the program itself makes.
//!
//! What stands between `<!-- generated: NAME -->` and `<!-- end -->` in a page is compared with what the program says.
//! `UPDATE_REFERENCE=1 cargo test --test it reference::` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use clap::CommandFactory as _;
use phileas::cli::arguments::Arguments;
use phileas::cli::exit::Exit;
use phileas_domain::engine::Reason;
use phileas_world::Knobs;
use serde_json::{Value, json};

use crate::support::child::PROGRAM;

const UPDATE: &str = "UPDATE_REFERENCE";

fn generate(name: &str) -> String {
    match name {
        "commands" => commands(),
        "option variables" => option_variables(),
        "plan keys" => schema_keys("schedules"),
        "layer keys" => schema_keys("config"),
        "action inputs" => action_inputs(),
        "reasons" => reasons(),
        "exit codes" => exit_codes(),
        "mcp tools" => mcp_tools(),
        "knobs" => knobs(),
        "protected paths" => protected_paths(),
        _ => panic!("nothing generates `{name}`"),
    }
}

#[test]
fn the_pages_show_what_the_program_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    let mut generated = 0;
    let mut stale = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let page = std::fs::read_to_string(&path).unwrap();
        let mut parts = page.split("<!-- generated: ");
        let mut current = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, rest) = part.split_once(" -->\n").unwrap();
            let (_, after) = rest.split_once("<!-- end -->").unwrap();
            let table = generate(name);
            write!(
                current,
                "<!-- generated: {name} -->\n\n{table}\n<!-- end -->{after}"
            )
            .unwrap();
            generated += 1;
        }
        if current == page {
            continue;
        }
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&path, current).unwrap();
        } else {
            stale.push(path);
        }
    }
    assert!(generated >= 10, "{generated}");
    assert!(
        stale.is_empty(),
        "{UPDATE}=1 cargo test --test it reference:: writes {stale:?}"
    );
}

/// A heading for each group of paths, and its paths in a list.
fn protected_paths() -> String {
    let file = include_str!("../../crates/domain/src/engine/lookup/protected_paths.txt");
    let mut text = String::new();
    for group in file.split("\n\n").skip(1) {
        let (heading, paths) = group.split_once('\n').unwrap();
        let heading = heading.strip_prefix("# ").unwrap();
        writeln!(text, "## {heading}\n").unwrap();
        for path in paths.lines() {
            assert!(!path.starts_with('#') && !path.is_empty(), "{path}");
            writeln!(text, "- `{path}`").unwrap();
        }
        text.push('\n');
    }
    text.pop();
    text
}

/// A user who meets a variable finds what it does.
#[test]
fn every_environment_variable_is_in_the_reference() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = String::new();
    for page in ["environment", "configuration", "action"] {
        let path = root.join(format!("docs/reference/{page}.md"));
        pages.push_str(&std::fs::read_to_string(path).unwrap());
    }
    let known: BTreeSet<&str> = pages
        .split(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_')
        .collect();
    let mut files = vec![root.join("src")];
    let mut missing = BTreeSet::new();
    let mut variables = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(
                std::fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        if path.extension().is_none_or(|kind| kind != "rs") {
            continue;
        }
        let code = std::fs::read_to_string(&path).unwrap();
        for text in code.split('"') {
            let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
            if VARIABLE_PREFIXES
                .iter()
                .any(|prefix| text.starts_with(prefix))
                && text.chars().all(is_name)
            {
                variables += 1;
                if !known.contains(text) {
                    missing.insert(text.to_owned());
                }
            }
        }
    }
    assert!(variables > 60, "{variables}");
    assert!(missing.is_empty(), "not in docs/reference: {missing:?}");
}

/// How the names of environment variables begin.
const VARIABLE_PREFIXES: [&str; 9] = [
    "PHILEAS_", "JULES_", "ZAI_", "GITHUB_", "GH_", "SSL_", "NO_", "HTTPS_", "ALL_",
];

/// The most options that a row of the table lists.
const MAX_OPTIONS: usize = 6;

/// The variables that stand for options, with the options. One that means something else for other commands has a row
/// for each meaning.
fn option_variables() -> String {
    let mut all: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let mut commands = vec![(String::new(), Arguments::command())];
    while let Some((path, command)) = commands.pop() {
        for option in command.get_arguments() {
            let (Some(variable), Some(long)) = (option.get_env(), option.get_long()) else {
                continue;
            };
            let help = option
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let variable = variable.to_string_lossy().into_owned();
            let options = all.entry((variable, help)).or_default();
            options.insert(format!("`{path}--{long}`"));
        }
        for child in command
            .get_subcommands()
            .filter(|child| !child.is_hide_set())
        {
            commands.push((format!("{path}{} ", child.get_name()), child.clone()));
        }
    }
    let mut table = "| variable | option | meaning |\n|---|---|---|\n".to_owned();
    for ((variable, help), options) in all {
        let mut options: Vec<_> = options.into_iter().collect();
        let long = options[0].rsplit("--").next().unwrap().to_owned();
        if options.len() > MAX_OPTIONS {
            options = vec![format!("`--{long} of {} commands", options.len())];
        }
        writeln!(
            table,
            "| `{variable}` | {} | {} |",
            options.join(", "),
            cell(&help)
        )
        .unwrap();
    }
    table
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

fn reasons() -> String {
    let mut table = "| code | meaning |\n|---|---|\n".to_owned();
    for reason in Reason::ALL {
        writeln!(table, "| `{}` | {} |", reason.code(), reason.meaning()).unwrap();
    }
    table
}

fn exit_codes() -> String {
    let mut table = "| code | meaning |\n|---|---|\n".to_owned();
    for exit in Exit::ALL {
        writeln!(table, "| {} | {} |", exit.code(), exit.meaning()).unwrap();
    }
    table
}

fn knobs() -> String {
    let values = |knobs: &Knobs| serde_json::to_value(knobs).unwrap();
    let (documented, worst) = (values(&Knobs::documented()), values(&Knobs::worst()));
    let mut table = "| knob | meaning | documented | worst |\n|---|---|---|---|\n".to_owned();
    for name in Knobs::names() {
        let meaning = cell(&Knobs::describe_knob(&name).unwrap());
        writeln!(
            table,
            "| `{name}` | {meaning} | `{}` | `{}` |",
            documented[&name], worst[&name]
        )
        .unwrap();
    }
    table
}

fn action_inputs() -> String {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/action.yml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let manifest: serde_yaml::Value = serde_yaml::from_str(&manifest).unwrap();
    let mut table = "| input | meaning | default |\n|---|---|---|\n".to_owned();
    for (name, input) in manifest["inputs"].as_mapping().unwrap() {
        let default = match input["default"].as_str().unwrap_or_default() {
            "" => String::new(),
            value => format!("`{value}`"),
        };
        writeln!(
            table,
            "| `{}` | {} | {default} |",
            name.as_str().unwrap(),
            cell(input["description"].as_str().unwrap())
        )
        .unwrap();
    }
    table.push_str("\n| output | meaning |\n|---|---|\n");
    for (name, output) in manifest["outputs"].as_mapping().unwrap() {
        let meaning = cell(output["description"].as_str().unwrap());
        writeln!(table, "| `{}` | {meaning} |", name.as_str().unwrap()).unwrap();
    }
    table
}

fn schema_keys(name: &str) -> String {
    let schema = format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let mut table = "| key | values | meaning | default |\n|---|---|---|---|\n".to_owned();
    rows_of_keys(&schema, &schema, "", &mut table);
    table
}

/// One row for each key, tables before what stands in them.
fn rows_of_keys(schema: &Value, part: &Value, prefix: &str, table: &mut String) {
    let Some(keys) = part["properties"].as_object() else {
        return;
    };
    for (key, described) in keys {
        let path = format!("{prefix}{key}");
        let target = resolved(schema, described);
        let default = match described.get("default").or_else(|| target.get("default")) {
            None | Some(Value::Null) => String::new(),
            Some(value) => format!("`{value}`"),
        };
        let meaning = described["description"]
            .as_str()
            .or_else(|| target["description"].as_str())
            .filter(|meaning| !meaning.trim().is_empty());
        let meaning = meaning.unwrap_or_else(|| panic!("`{path}` has no description"));
        writeln!(
            table,
            "| `{path}` | {} | {} | {default} |",
            cell(&values(target)),
            cell(meaning)
        )
        .unwrap();
        rows_of_keys(schema, target, &format!("{path}."), table);
        if let Some(each) = target
            .get("additionalProperties")
            .filter(|each| each.is_object())
        {
            let each = resolved(schema, each);
            let each = each["anyOf"]
                .as_array()
                .into_iter()
                .flatten()
                .find_map(|one| {
                    Some(resolved(schema, one)).filter(|one| one["properties"].is_object())
                })
                .unwrap_or(each);
            rows_of_keys(schema, each, &format!("{path}.NAME."), table);
        }
    }
}

/// What a reference leads to.
fn resolved<'a>(schema: &'a Value, part: &'a Value) -> &'a Value {
    let reference = part["$ref"]
        .as_str()
        .or_else(|| part["allOf"][0]["$ref"].as_str());
    match reference.and_then(|reference| reference.strip_prefix('#')) {
        Some(pointer) => schema.pointer(pointer).unwrap_or(part),
        None => part,
    }
}

/// The values that a key takes.
fn values(part: &Value) -> String {
    if let Some(all) = part["enum"].as_array() {
        let all: Vec<String> = all.iter().map(|one| format!("`{one}`")).collect();
        return all.join(", ");
    }
    let kind = match part["type"].as_str().unwrap_or_default() {
        "string" => "text",
        "integer" => "whole number",
        "number" => "number",
        "boolean" => "`true`, `false`",
        "array" => "list",
        "object" => "table",
        other => other,
    };
    match (part["minimum"].as_f64(), part["maximum"].as_f64()) {
        (Some(least), Some(most)) => format!("{kind}, {least} to {most}"),
        (Some(least), None) => format!("{kind}, from {least}"),
        _ => kind.to_owned(),
    }
}

fn commands() -> String {
    let mut text = String::new();
    let mut all = Arguments::command();
    all.build();
    section_of_command(&all, &mut text);
    text
}

fn section_of_command(command: &clap::Command, text: &mut String) {
    for one in command.get_subcommands() {
        if one.is_hide_set() || one.get_name() == "help" {
            continue;
        }
        let name = one.get_bin_name().unwrap_or(one.get_name());
        let about = one.get_long_about().or(one.get_about());
        writeln!(text, "## {name}\n").unwrap();
        if let Some(about) = about {
            writeln!(text, "{}\n", about.to_string().trim()).unwrap();
        }
        let usage = one.clone().render_usage().to_string();
        let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
        writeln!(text, "```text\n{usage}\n```\n").unwrap();
        let end = one.get_after_help().map(ToString::to_string);
        let end = end.unwrap_or_default();
        let (example, codes) = end.split_once("\n\n").unwrap();
        let example = example.strip_prefix("Example:\n  ").unwrap();
        writeln!(text, "```sh\n{example}\n```\n").unwrap();
        let arguments: Vec<&clap::Arg> = one
            .get_arguments()
            .filter(|argument| !argument.is_hide_set() && !argument.is_global_set())
            .filter(|argument| argument.get_id() != "help")
            .collect();
        if !arguments.is_empty() {
            text.push_str("| argument | meaning |\n|---|---|\n");
            for argument in arguments {
                writeln!(text, "{}", row_of_argument(argument)).unwrap();
            }
            text.push('\n');
        }
        writeln!(text, "{codes}\n").unwrap();
        section_of_command(one, text);
    }
}

fn row_of_argument(argument: &clap::Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    // The first paragraph of a help text ends without a full stop.
    let mut meaning = cell(&help.replacen("\n\n", ". ", 1).replacen(".. ", ". ", 1));
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    let takes_value = argument
        .get_num_args()
        .is_some_and(|range| range.takes_values());
    if takes_value && !defaults.is_empty() {
        write!(meaning, " [default: {}]", defaults.join(", ")).unwrap();
    }
    if let Some(variable) = argument.get_env() {
        write!(meaning, " [variable: `{}`]", variable.to_string_lossy()).unwrap();
    }
    format!("| `{}` | {meaning} |", cell(&argument.to_string()))
}

/// The tools as a client lists them.
fn mcp_tools() -> String {
    let mut child = Command::new(PROGRAM)
        .args(["mcp"])
        .env("JULES_API_KEY", "a-key-for-the-list")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let said = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    for message in said {
        writeln!(input, "{message}").unwrap();
    }
    let listed = std::iter::from_fn(|| answers.next())
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|answer| answer["id"] == 2)
        .unwrap();
    drop(input);
    child.wait().unwrap();
    let mut table = "| tool | does | arguments |\n|---|---|---|\n".to_owned();
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let keys = tool["inputSchema"]["properties"].as_object();
        let keys: Vec<String> = keys
            .into_iter()
            .flatten()
            .map(|(key, _)| format!("`{key}`"))
            .collect();
        let name = tool["name"].as_str().unwrap();
        let does = cell(tool["description"].as_str().unwrap());
        writeln!(table, "| `{name}` | {does} | {} |", keys.join(", ")).unwrap();
    }
    table
}
