//! The help: the commands of the program in groups, and the end of each command's help with an example and exit codes.

use clap::builder::Styles;

/// The commands by what they are for, those of the first day first.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "First steps and every day",
        &[
            "sandbox", "init", "validate", "simulate", "tick", "explain", "status", "doctor",
            "session", "pause", "resume", "serve",
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
            "bootstrap",
            "upgrade",
            "deinit",
            "completions",
        ],
    ),
];

/// What each exit code means, in short and as a sentence.
pub(crate) const EXIT_CODES: [(u8, &str, &str); 7] = [
    (
        0,
        "done",
        "Done, or nothing to do; a turn that waits or is skipped counts as nothing to do.",
    ),
    (
        1,
        "findings or a refused request",
        "A checker found something, or a request of this call was refused.",
    ),
    (
        2,
        "usage or configuration",
        "The command line or the configuration is wrong.",
    ),
    (
        3,
        "credential",
        "A credential is missing, refused or too weak.",
    ),
    (
        4,
        "unavailable",
        "GitHub or Jules is unavailable, or the deadline passed.",
    ),
    (
        5,
        "corrupt state",
        "The state file cannot be read, or is behind what Jules shows.",
    ),
    (
        70,
        "internal fault",
        "An internal fault: a bug of phileas, or an error of the operating system, such as a full disk.",
    ),
];

/// The exit codes of a command that only prints.
pub(super) const PRINTS: &[u8] = &[0, 2, 70];
/// The exit codes of a command about a folder.
pub(super) const FOLDER: &[u8] = &[0, 1, 2, 70];
/// The exit codes of a command that asks GitHub or Jules, without a ledger.
pub(super) const ONLINE: &[u8] = &[0, 1, 2, 3, 4, 70];
/// The exit codes of a command about a repository with its ledger.
pub(super) const LEDGER: &[u8] = &[0, 1, 2, 3, 4, 5, 70];

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
pub(super) fn command_end(example: &str, codes: &[u8]) -> String {
    let meanings: Vec<String> = EXIT_CODES
        .iter()
        .filter(|(code, ..)| codes.contains(code))
        .map(|(code, meaning, _)| format!("{code} {meaning}"))
        .collect();
    format!(
        "Example:\n  {example}\n\nExit codes: {}",
        meanings.join(", ")
    )
}
