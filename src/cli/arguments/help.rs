//! The help: the commands of the program in groups, and the end of each command's help with an example and exit codes.

use clap::builder::Styles;

use crate::cli::exit::Exit;

/// The commands by what they are for, those of the first day first.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "First steps and every day",
        &[
            "sandbox", "init", "adopt", "validate", "simulate", "tick", "explain", "status",
            "doctor", "session", "pause", "resume", "serve",
        ],
    ),
    (
        "Plan, personas and prompts",
        &[
            "track", "persona", "prompt", "labels", "role", "setup", "schema",
        ],
    ),
    (
        "Files that personas, layers and agents exchange",
        &["exchange", "task", "sprint", "pipeline"],
    ),
    ("Your own agent", &["mcp", "agent"]),
    (
        "Operation and repair",
        &[
            "service",
            "state",
            "work",
            "bootstrap",
            "upgrade",
            "deinit",
            "completions",
        ],
    ),
];

/// The exit codes of a command that only prints.
pub(super) const PRINTS: &[Exit] = &[Exit::Done, Exit::Usage, Exit::Fault];
/// The exit codes of a command about a folder.
pub(super) const FOLDER: &[Exit] = &[Exit::Done, Exit::Findings, Exit::Usage, Exit::Fault];
/// The exit codes of a command that asks GitHub or Jules, without a ledger.
pub(super) const ONLINE: &[Exit] = &[
    Exit::Done,
    Exit::Findings,
    Exit::Usage,
    Exit::Credential,
    Exit::Unavailable,
    Exit::Fault,
];
/// The exit codes of a command about a repository with its ledger.
pub(super) const LEDGER: &[Exit] = &Exit::ALL;

/// The help of the program with these commands. clap knows no groups of commands, so the template has them.
pub(super) fn program_template(all: &clap::Command) -> String {
    let styles = Styles::default();
    let (heading, literal) = (styles.get_header(), styles.get_literal());
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        text.push_str(&format!("\n{heading}{title}:{heading:#}\n"));
        for name in names {
            let about = all.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let line = format!(
                "  {literal}{name}{literal:#}{:1$}{about}\n",
                "",
                13 - name.len()
            );
            text.push_str(&line);
        }
    }
    text + &format!("\n{heading}Options:{heading:#}\n{{options}}{{after-help}}")
}

/// The end of a command's help.
pub(super) fn command_end(example: &str, exits: &[Exit]) -> String {
    let exits = exits.iter();
    let meanings: Vec<String> = exits
        .map(|exit| format!("{} {}", exit.code(), exit.label()))
        .collect();
    format!(
        "Example:\n  {example}\n\nExit codes: {}",
        meanings.join(", ")
    )
}
