//! The help of each command: its group, its example, which runs here, its exit codes, and the meaning of its options.

use std::path::Path;
use std::process::Command;

use clap::CommandFactory as _;
use phileas::cli::arguments::Arguments;

use super::bench::{Bench, Ran, alone, bench, run};
use super::fresh::{repository, within};
use crate::support::Folder;

const PIN: &str = "phileas/phileas@0123456789abcdef0123456789abcdef01234567";
/// The session in the examples. The one that lives in the world takes its place.
const SESSION: &str = "15481661885092594092";
const PIPELINE_PLAN: &str = r#"{
  "affected_files": ["src/parse.rs"],
  "steps": [{ "order": 1, "action": "modify", "file": "src/parse.rs", "description": "Take an empty line." }],
  "acceptance_mapping": { "AC-1: an empty line is no error": "tests/parse.rs::empty_line" }
}"#;

/// Commands whose example needs more than this test has, such as a service that runs, a runner or another session. Their
/// command lines are right, and they end with one of the codes that their help names.
const NEED_MORE: [&str; 16] = [
    "phileas serve",
    "phileas service",
    "phileas service health",
    "phileas service deliveries",
    "phileas service replay",
    "phileas service suspended",
    "phileas service suspended list",
    "phileas service suspended resume",
    "phileas action",
    "phileas session approve",
    "phileas session retry",
    "phileas session import",
    "phileas track set",
    "phileas sprint advance",
    "phileas work show",
    "phileas work forget",
];

/// A command, and what the end of its help says.
struct Described {
    name: String,
    example: String,
    codes: Vec<i32>,
}

/// All commands, with those that help does not list.
fn all_commands() -> Vec<Described> {
    fn collect(command: &clap::Command, all: &mut Vec<Described>) {
        for one in command.get_subcommands() {
            if one.get_name() == "help" {
                continue;
            }
            let name = one.get_bin_name().unwrap().to_owned();
            let end = one.get_after_help().map(ToString::to_string);
            let end = end.unwrap_or_else(|| panic!("{name} has no example"));
            let (example, codes) = end.split_once("\n\nExit codes: ").unwrap();
            let example = example.strip_prefix("Example:\n  ").unwrap().to_owned();
            let code = |text: &str| text.split(' ').next().unwrap().parse().unwrap();
            let codes = codes.split(", ").map(code).collect();
            all.push(Described {
                name,
                example,
                codes,
            });
            collect(one, all);
        }
    }
    let mut program = Arguments::command();
    program.build();
    let mut all = Vec::new();
    collect(&program, &mut all);
    assert!(all.len() > 80, "{}", all.len());
    all
}

/// A repository with personas, layers, a task, tools and a run of a pipeline.
fn prepared_repository() -> Folder {
    let folder = repository();
    within(&folder, &["init", "--yes", "--action", PIN]).done();
    within(&folder, &["init", "--layers", "--yes", "--action", PIN]).done();
    folder.write(
        ".jules/tasks/todo/20260110-0900-index.md",
        "---\nid: 20260110-0900-index\nstatus: todo\ntitle: Index the examples\n---\nReaders do not find them.\n",
    );
    folder.write(".jlo/setup/tools.yml", "tools:\n- uv\n");
    folder.write("plan.json", PIPELINE_PLAN);
    folder.write(".pipeline/7/plan.json", PIPELINE_PLAN);
    folder
}

/// Runs an example in a shell, with the built program on the path.
fn run_example(bench: &Bench, example: &str, dir: &Path) -> Ran {
    let built = Path::new(env!("CARGO_BIN_EXE_phileas")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-ec", example]).current_dir(dir);
    for (name, value) in bench.program(&[]).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
        .env("PATH", format!("{}:{path}", built.display()))
        .stdin(std::process::Stdio::null());
    run(shell)
}

#[test]
fn the_example_of_each_command_runs() {
    let bench = bench();
    let state = bench.until(|state| !state.history.is_empty());
    let live = state.tracks["default"].turns[""].session_id.clone();
    let live = live.unwrap().as_str().to_owned();
    let (folder, branch) = (prepared_repository(), Folder::empty());
    within(&folder, &["bootstrap", "--output", branch.text()]).done();
    let mut wrong = Vec::new();
    for command in all_commands() {
        let Described {
            name,
            example,
            codes,
        } = command;
        assert!(
            example.starts_with(&name),
            "`{example}` is not an example of {name}"
        );
        let place = match name.starts_with("phileas exchange") {
            true => branch.path(),
            false => folder.path(),
        };
        let ran = run_example(&bench, &example.replace(SESSION, &live), place);
        let needs_more = NEED_MORE.contains(&name.as_str());
        let is_usage = ran.err.contains("--help") || ran.err.contains("Usage:");
        let fits = match needs_more {
            true => codes.contains(&ran.code) && !is_usage,
            false => ran.code == 0,
        };
        if !fits {
            wrong.push(format!("{example}: {} {}", ran.code, ran.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn help_lists_each_command_once_in_its_group() {
    let program = Arguments::command();
    let shown = program.get_subcommands().filter(|one| !one.is_hide_set());
    let shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
    let help = alone(&["--help"]).done().out;
    let (list, _) = help.split_once("\nOptions:\n").unwrap();
    let listed: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(listed, shown);
    assert!(
        list.lines().all(|line| line.chars().count() <= 100),
        "{list}"
    );
    let first = "First steps and every day:\n  sandbox ";
    assert!(list.contains(first), "{list}");
    let agent = alone(&["agent", "--help"]).done().out;
    assert!(agent.contains("Example:\n  phileas agent "), "{agent}");
    assert!(agent.contains("Exit codes: 0 done, 1 "), "{agent}");
}

#[test]
fn an_option_means_the_same_in_each_command() {
    fn check(command: &clap::Command, wrong: &mut Vec<String>) {
        let name = command.get_bin_name().unwrap_or_default();
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let values = argument.get_value_names().unwrap_or_default();
            let fits = match argument.get_long() {
                Some("json") => help.starts_with("Print JSON for programs, one document a line"),
                Some("repo") if argument.is_hide_set() => true,
                Some("repo") => values == ["OWNER/NAME"] && !argument.is_required_set(),
                Some("dir") => false,
                _ => true,
            };
            if !fits && name != "phileas action" {
                wrong.push(format!("{name}: {argument}: {help}"));
            }
        }
        for one in command.get_subcommands() {
            check(one, wrong);
        }
    }
    let mut program = Arguments::command();
    program.build();
    let mut wrong = Vec::new();
    check(&program, &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
