//! `phileas man`: prints the manual page of the program or of one command, in roff.

use std::io::Write;

use clap::CommandFactory as _;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::track::suggestion_text;
use crate::cli::arguments::Arguments;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;

/// The environment variables that phileas reads.
const VARIABLES: [(&str, &str); 14] = [
    (
        "GITHUB_TOKEN, GH_TOKEN",
        "A token with Contents, Issues and Pull requests: read and write; Checks and Commit statuses: read. The first counts. With _FILE: a file that holds it.",
    ),
    (
        "GITHUB_APP_ID, GITHUB_APP_PRIVATE_KEY",
        "A GitHub App's number or client id, and its key in PEM form, instead of a token. With _FILE: the key's file.",
    ),
    (
        "JULES_API_KEY",
        "The Jules key. JULES_API_TOKEN is its old name.",
    ),
    (
        "GITHUB_REPOSITORY",
        "The repository where --repo is not given.",
    ),
    (
        "GITHUB_EVENT_NAME, GITHUB_EVENT_PATH",
        "The event that woke a tick in a workflow.",
    ),
    (
        "GITHUB_ACTOR",
        "Who is named in the ledger for what is done by hand.",
    ),
    (
        "PHILEAS_PAUSED",
        "Anything but empty, 0, false, no and off: nothing starts.",
    ),
    (
        "PHILEAS_WEBHOOK_SECRET",
        "The secret of the webhooks that serve takes.",
    ),
    (
        "GITHUB_API_URL, GITHUB_GRAPHQL_URL, JULES_API_BASE",
        "Other addresses, for proxies and tests.",
    ),
    (
        "GITHUB_SERVER_URL",
        "Where people meet GitHub, if not at github.com; an origin there names the repository, too.",
    ),
    (
        "HTTPS_PROXY, ALL_PROXY, NO_PROXY",
        "A proxy, as other programs take it.",
    ),
    (
        "PHILEAS_LOG",
        "What is logged to standard error, such as phileas=debug.",
    ),
    (
        "NO_COLOR, TERM=dumb, CI",
        "No colours; under CI no show either.",
    ),
    (
        "COLUMNS",
        "The terminal's width, where it does not say so itself.",
    ),
];

/// Prints the page of the named command, or that of the program.
pub(crate) fn run(words: &[String], screen: &mut Screen<impl Write>) -> Result<Exit, CliError> {
    let mut program = Arguments::command();
    program.build();
    let mut command = &program;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            let known = command.get_subcommands().map(clap::Command::get_name);
            let name = command.get_bin_name().unwrap_or("phileas");
            CliError::usage(format!(
                "`{name}` has no command `{word}`{}",
                suggestion_text(word, known)
            ))
        })?;
    }
    let whole = words.is_empty();
    let mut page = Vec::new();
    Man::new(command.clone())
        // The library would use the command's own version, which is empty.
        .source(concat!("phileas ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)?;
    let mut more = Roff::new();
    let codes = Exit::ALL.map(|exit| (exit.code().to_string(), exit.meaning()));
    let codes: Vec<_> = codes
        .iter()
        .map(|(code, meaning)| (code.as_str(), *meaning))
        .collect();
    push_section(&mut more, "EXIT STATUS", &codes);
    push_section(&mut more, "ENVIRONMENT", &VARIABLES);
    if whole {
        more.control("SH", ["SEE ALSO"]);
        more.text([
            roman("The page of a command is printed by "),
            bold("phileas man COMMAND"),
            roman("."),
        ]);
    }
    more.to_writer(&mut page)?;
    screen.print_document(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Done)
}

fn push_section(page: &mut Roff, heading: &str, items: &[(&str, &str)]) {
    page.control("SH", [heading]);
    for (name, meaning) in items {
        page.control("TP", []);
        page.text([bold(*name)]);
        page.text([roman(*meaning)]);
    }
}
